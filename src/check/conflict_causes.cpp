// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/conflict_causes.hpp"

#include "base/text.hpp"
#include "check/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

namespace peerpath::check {
namespace {

/// What one suspect's source says: proof of it, that it wasn't that one (nothing), or an error
/// where the source can't tell.
using Verdict = Result<std::optional<Why>>;

const std::optional<Why> ruled_out = std::nullopt;

std::vector<const probe::PciDevice*> translated(const Facts& facts) {
  std::vector<const probe::PciDevice*> found;
  if (!facts.devices) return found;
  for (const auto& device : *facts.devices) {
    const auto translation = translation_of(device);
    if (translation == Translation::translated || translation == Translation::unusable) {
      found.push_back(&device);
    }
  }
  return found;
}

Verdict log_can_tell(const Facts& facts) {
  if (!facts.log) return fail(facts.log.error());
  if (facts.log->from_start) return ruled_out;
  return fail(Errc::not_found, "the kernel log doesn't reach back to the start of this boot");
}

/// The device's own port or one above it.
Result<bool> is_removable(const probe::PciTree& tree, const std::string& bdf) {
  std::optional<std::string> next = bdf;
  bool told = false;
  while (next) {
    const auto node = tree.nodes.find(*next);
    if (node == tree.nodes.end()) {
      return fail(Errc::not_found, fmt::format("{} wasn't looked at", *next));
    }
    if (node->second.removable.value_or(false)) return true;
    told = told || node->second.removable.has_value();
    next = node->second.parent;
  }
  if (told) return false;
  return fail(Errc::not_found,
              fmt::format("/sys/bus/pci/devices/{}/removable: this kernel doesn't say", bdf));
}

/// Facts: drivers/iommu/iommu.c iommu_get_default_domain_type (for every vendor since 5.11; Intel's
/// driver before), drivers/pci/probe.c set_pcie_untrusted and pci_set_removable: the same ports.
Verdict untrusted_port(const Facts& facts) {
  if (!facts.tree) return fail(facts.tree.error());
  Verdict verdict = ruled_out;
  for (const auto* device : translated(facts)) {
    const auto removable = is_removable(*facts.tree, device->bdf);
    if (!removable) {
      verdict = fail(removable.error());
      continue;
    }
    if (!*removable) continue;
    return Why{
        fmt::format("{} is untrusted, behind a port for external devices, which the kernel "
                    "always translates",
                    device->bdf),
        "put the device into a slot of its own machine, or have the firmware not mark the "
        "port as external",
        {{fmt::format("/sys/bus/pci/devices/{}/removable", device->bdf), "removable", "fixed"}}};
  }
  return verdict;
}

/// Whether that kernel passes through an IOMMU that can't, by tables of its own. Enterprise kernels
/// take such changes over without the number. Fact: gone from drivers/iommu/intel/iommu.c in 6.12.
bool emulates_pass_through(const Facts& facts) {
  if (!facts.kernel.release || facts.kernel.release->find(".el") != std::string::npos) return false;
  const auto version = cmdline::kernel_version(*facts.kernel.release);
  return version && *version < cmdline::KernelVersion{6, 12};
}

/// Fact: drivers/iommu/intel/iommu.c device_def_domain_type since 6.12.
Verdict no_pass_through(const Facts& facts) {
  if (vendor_of(facts.iommu) != cmdline::Vendor::intel || emulates_pass_through(facts)) {
    return ruled_out;
  }
  if (facts.iommu.ecap.empty()) return fail(Errc::not_found, "no register of a unit was read");
  Verdict verdict = ruled_out;
  std::vector<std::string> cannot;
  for (const auto& [unit, ecap] : facts.iommu.ecap) {
    if (!ecap) {
      verdict = fail(ecap.error());
    } else if (!probe::can_pass_through(*ecap)) {
      cannot.push_back(printable(unit));
    }
  }
  if (cannot.empty()) return verdict;
  // Which unit a device is behind isn't read: most machines' units are alike.
  const bool some = cannot.size() < facts.iommu.ecap.size();
  Why why{
      fmt::format("the Intel IOMMU {} can't pass through, which Linux 6.12 and later need{}",
                  join(cannot, ", "), some ? ", and the device may be behind it" : ""),
      "put 'intel_iommu=off' on the kernel command line in place of any other 'intel_iommu=' word, "
      "or boot a kernel before 6.12, then reboot; virtual machines that get devices by VFIO need "
      "the IOMMU, so on their host neither is a way"};
  for (const auto& unit : cannot) {
    why.evidence.push_back({fmt::format("/sys/class/iommu/{}/intel-iommu/ecap", unit),
                            fmt::format("{:x}: bit 6 (PT) is clear", *facts.iommu.ecap.at(unit)),
                            "bit 6 set"});
  }
  return why;
}

bool is_word_end(std::string_view text, std::size_t at) {
  return at >= text.size() || (std::isalnum(static_cast<unsigned char>(text[at])) == 0);
}

/// Whether the line is about this device or its group.
bool names(std::string_view line, const probe::PciDevice& device) {
  if (line.find(device.bdf) != std::string_view::npos) return true;
  if (line.find("group (null)") != std::string_view::npos) return true;
  if (!device.group) return false;
  const auto group = "group " + *device.group;
  const auto found = line.find(group);
  return found != std::string_view::npos && is_word_end(line, found + group.size());
}

/// Facts: drivers/iommu/iommu.c iommu_group_alloc_default_domain ("Failed to allocate default IOMMU
/// domain of type %u for group %s"; virtio-iommu before 5.17, AMD with SNP in 6.1 to 6.6) and
/// iommu_get_default_domain_type ("Device is not trusted, but driver is overriding group").
Verdict refused_domain(const Facts& facts) {
  if (facts.log) {
    for (const auto& line : facts.log->domain_lines) {
      for (const auto* device : translated(facts)) {
        if (!names(line.text, *device)) continue;
        return Why{fmt::format("the kernel could not give {} that domain", device->bdf),
                   "see what the kernel log says before that line ('journalctl -k -b')",
                   {{"kernel log", printable(line.text), ""}}};
      }
    }
  }
  return log_can_tell(facts);
}

/// Fact: drivers/iommu/amd: no identity domain while SNP is on (6.1 to 6.6); later ones keep
/// identity and lose SNP instead.
Verdict snp_host(const Facts& facts) {
  if (vendor_of(facts.iommu) != cmdline::Vendor::amd) return ruled_out;
  const auto& snp = facts.machine.snp_host;
  if (!snp) return fail(snp.error());
  if (!*snp) return ruled_out;
  return Why{"this host runs SEV-SNP guests, and this kernel has no passthrough beside SNP",
             "do without SNP ('kvm_amd.sev_snp=0') or without peer access between the GPUs",
             {{"/sys/module/kvm_amd/parameters/sev_snp", "Y", "N"}}};
}

/// Facts: drivers/iommu/intel/iommu.c platform_optin_force_iommu; it clears no_iommu, too.
Verdict platform_opt_in(const Facts& facts) {
  if (facts.log && facts.log->platform_opt_in) {
    return Why{"the firmware requires the IOMMU for its ports for external devices",
               "turn that off in the firmware (DMA protection), or ask for 'iommu=pt' instead of "
               "'iommu=off'",
               {{"kernel log", printable(facts.log->platform_opt_in->text), ""}}};
  }
  return log_can_tell(facts);
}

/// No file shows these.
Verdict traceless(const Facts& /*facts*/) {
  return fail(Errc::unsupported, "");
}

struct Suspect {
  std::string_view name;  ///< for the list, where nothing proves any
  Verdict (*look)(const Facts& facts);
};

constexpr std::array against_passthrough{
    Suspect{"the device is untrusted, behind a port for external devices", untrusted_port},
    Suspect{
        "the Intel IOMMU can't pass through (bit 6 of /sys/class/iommu/dmar*/intel-iommu/ecap), "
        "which Linux 6.12 and later require",
        no_pass_through},
    Suspect{"the kernel could not set up an identity domain", refused_domain},
    Suspect{"SEV-SNP stands against it", snp_host},
    Suspect{"the group's type was changed through sysfs", traceless},
    Suspect{"a driver or a firmware table asks for translation of this device", traceless},
};

constexpr std::array against_off{
    Suspect{"firmware may have required it for its ports for external devices", platform_opt_in},
    Suspect{"tboot may have required it", traceless},
};

std::string still_possible(const Suspect& suspect, const Error& error) {
  const auto why = error.message.empty() ? "" : " (can't be told: " + error.text() + ")";
  return std::string(suspect.name) + why;
}

Why investigate(const Facts& facts, std::span<const Suspect> suspects) {
  std::vector<std::string> causes;
  std::vector<std::string> remedies;
  std::vector<std::string> possible;
  Why why;
  for (const auto& suspect : suspects) {
    const auto verdict = suspect.look(facts);
    if (!verdict) {
      possible.push_back(still_possible(suspect, verdict.error()));
    } else if (*verdict) {
      causes.push_back((*verdict)->cause);
      remedies.push_back((*verdict)->remedy);
      for (const auto& evidence : (*verdict)->evidence)
        why.evidence.push_back(evidence);
    }
  }
  if (causes.empty()) {
    why.cause = "why can't be told from here, it's one of: " + join(possible, "; ");
    why.remedy =
        "look for the device's address and for 'iommu:', 'DMAR:' or 'AMD-Vi:' in the kernel log "
        "('journalctl -k -b')";
  } else {
    why.cause = join(causes, "; ");
    why.remedy = join(remedies, "; ");
  }
  return why;
}

}  // namespace

Why why_overruled(const Facts& facts, const cmdline::Judgement& judgement) {
  const bool off = judgement.mode == cmdline::Mode::off;
  auto why = off ? investigate(facts, against_off) : investigate(facts, against_passthrough);
  why.cause = fmt::format("'{}' is in force, but {}: {}", judgement.decided_by->text,
                          off ? "an IOMMU is in use" : "the kernel decided otherwise", why.cause);
  return why;
}

/// Fact: kexec hands over the command line that it's given, by `--reuse-cmdline` the running one
/// (kexec(8)); the boot loader has no part in it.
std::optional<Why> why_not_booted(const Facts& facts, const cmdline::Judgement& judgement) {
  if (cmdline::is_untranslated(judgement.mode) || !facts.configured ||
      !cmdline::is_untranslated(facts.configured->mode)) {
    return std::nullopt;
  }
  Why why{"the boot configuration asks for passthrough, but this boot began without it",
          "reboot",
          {{facts.configured->source, std::string(cmdline::name_of(facts.configured->mode)), ""}}};
  const auto& by_kexec = facts.machine.booted_by_kexec;
  if (by_kexec && *by_kexec) {
    why.cause =
        "the boot configuration asks for passthrough, but kexec started this kernel, with a "
        "command line of its own";
    why.remedy = "reboot through the firmware and the boot loader, not by kexec";
    why.evidence.push_back({"/proc/sys/kernel/bootloader_type", "13 (kexec)", "a boot loader"});
  }
  return why;
}

bool is_intel_off_by_default(const Facts& facts) {
  const auto& tables = facts.iommu.firmware_tables;
  const bool intel = std::find(tables.begin(), tables.end(), "DMAR") != tables.end();
  const bool driven = !facts.iommu.units || !facts.iommu.units->empty();
  return intel && !driven && facts.kernel.config && !facts.kernel.config->intel_default_on;
}

Evidence intel_default_evidence(const Facts& facts) {
  return {facts.kernel.config->source, "CONFIG_INTEL_IOMMU_DEFAULT_ON isn't set", ""};
}

std::optional<Evidence> why_idle(const Facts& facts) {
  if (!facts.iommu.units || !facts.iommu.units->empty()) return std::nullopt;
  if (facts.iommu.firmware_tables.empty()) {
    auto evidence = table_evidence(facts);
    evidence.observed += ": there is none, or the firmware has it off, so that nothing translates";
    return evidence;
  }
  if (!is_intel_off_by_default(facts)) return std::nullopt;
  auto evidence = intel_default_evidence(facts);
  evidence.observed +=
      ": without 'intel_iommu=on' this kernel leaves the IOMMU off, so that nothing translates";
  return evidence;
}

std::optional<Evidence> encryption_evidence(const Facts& facts) {
  if (facts.log && facts.log->memory_encryption) {
    return Evidence{"kernel log", printable(facts.log->memory_encryption->text), ""};
  }
  const auto& encrypted = facts.machine.memory_encryption;
  if (!encrypted || !*encrypted) return std::nullopt;
  return Evidence{"/proc/cpuinfo, /proc/cmdline and the build configuration",
                  "memory encryption is in use", ""};
}

}  // namespace peerpath::check

// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/machine.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace peerpath::probe {
namespace {

/// What /proc/cpuinfo says of the first processor, by the names that it uses.
using Processor = std::map<std::string, std::string, std::less<>>;

Result<Processor> read_processor(const System& system) {
  // One processor's lines are far shorter, and the kernel makes up those of hundreds when asked.
  const auto text = system.read_range("/proc/cpuinfo", 0, 16384);
  if (!text) return fail(text.error());
  Processor processor;
  for (const auto line : lines(*text)) {
    if (trim(line).empty() && !processor.empty()) break;
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    processor.emplace(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
  }
  if (processor.empty()) {
    return fail(Errc::malformed, fmt::format("'{}': no processor", system.shown("/proc/cpuinfo")));
  }
  return processor;
}

/// A file that not every machine has: nothing where it's missing from a tree that is there.
Result<std::optional<std::string>> read_optional(const System& system, const std::string& path) {
  const auto text = system.read(path, 4096);
  // The values of a device tree end in NUL, those of a list after each.
  if (text) return std::optional(std::string(trim(text->substr(0, text->find('\0')))));
  if (text.error().code != Errc::not_found) return fail(text.error());
  if (!system.exists(path.starts_with("/sys/") ? "/sys/class" : "/proc/sys")) {
    return fail(text.error());
  }
  return std::optional<std::string>{};
}

/// The same where it's only a hint.
std::string hint(const System& system, const std::string& path) {
  const auto text = read_optional(system, path);
  return text ? text->value_or("") : "";
}

bool has_word(std::string_view text, std::string_view word) {
  const auto all = words(text);
  return std::find(all.begin(), all.end(), word) != all.end();
}

/// How firmware names a virtual machine. Fact: the names are systemd-detect-virt(1)'s, the texts
/// those that its src/basic/virt.c looks for.
struct Firmware {
  std::string_view text;
  std::string_view name;
  /// The same vendor lets or sells whole machines, too.
  bool also_bare_metal = false;
};
constexpr std::array firmwares{
    Firmware{"KVM", "kvm"},
    Firmware{"OpenStack", "kvm", true},
    Firmware{"KubeVirt", "kvm"},
    Firmware{"Amazon EC2", "amazon", true},
    Firmware{"QEMU", "qemu"},
    Firmware{"VMware", "vmware"},
    Firmware{"VMW", "vmware"},
    Firmware{"innotek GmbH", "oracle"},
    Firmware{"VirtualBox", "oracle"},
    Firmware{"Xen", "xen"},
    Firmware{"Bochs", "bochs"},
    Firmware{"Parallels", "parallels"},
    Firmware{"BHYVE", "bhyve"},
    Firmware{"Virtual Machine", "microsoft"},
    Firmware{"Google Compute Engine", "google", true},
    Firmware{"Apple Virtualization", "apple"},
};

/// Nothing where none of the firmware's names is that of a virtual machine.
Result<std::optional<Firmware>> virtual_firmware(const System& system) {
  for (const auto* file : {"product_name", "sys_vendor", "board_vendor", "bios_vendor"}) {
    const auto path = fmt::format("/sys/class/dmi/id/{}", file);
    const auto read = system.read(path);
    // One that isn't there tells nothing; one that can't be read might have told.
    if (!read && read.error().code != Errc::not_found) return fail(read.error());
    const std::string text(read ? trim(*read) : "");
    const auto* const found =
        std::find_if(firmwares.begin(), firmwares.end(),
                     [&](const Firmware& firmware) { return text.starts_with(firmware.text); });
    if (found != firmwares.end()) return *found;
  }
  return std::nullopt;
}

/// x86: a hypervisor announces itself by a CPUID bit, which the kernel shows as a flag. One that
/// hides it, as is done for drivers that refuse to run in a virtual machine, seldom changes the
/// firmware's name as well.
Result<std::string> x86_hypervisor(const System& system, std::string_view flags) {
  const auto firmware = virtual_firmware(system);
  if (has_word(flags, "hypervisor")) {
    return std::string(firmware && *firmware ? (*firmware)->name : "vm-other");
  }
  if (!firmware) return fail(firmware.error());
  return std::string(*firmware && !(*firmware)->also_bare_metal ? (*firmware)->name : "none");
}

/// arm64 and others have no such flag: the device tree or the firmware tells.
/// Facts: Documentation/devicetree/bindings/arm/xen.txt; drivers/firmware/smccc/kvm_guest.c has no
/// file, "linux,dummy-virt" is what QEMU's and other virtual machines are compatible with.
Result<std::string> other_hypervisor(const System& system) {
  const auto announced = hint(system, "/proc/device-tree/hypervisor/compatible");
  if (announced.starts_with("xen")) return "xen";
  if (announced.find("kvm") != std::string::npos) return "kvm";
  if (announced.find("vmware") != std::string::npos) return "vmware";
  if (!announced.empty()) return "vm-other";
  if (hint(system, "/proc/device-tree/compatible").starts_with("linux,dummy-virt")) return "qemu";
  const auto named = virtual_firmware(system);
  if (!named) return fail(named.error());
  if (const auto& firmware = *named) {
    // Amazon's whole machines are named like m7g.metal.
    const auto product = hint(system, "/sys/class/dmi/id/product_name");
    const bool whole = firmware->also_bare_metal && product.find("metal") != std::string::npos;
    return std::string(whole ? "none" : firmware->name);
  }
  if (system.exists("/sys/class/dmi/id/sys_vendor") || system.exists("/proc/device-tree/model")) {
    return "none";
  }
  return fail(Errc::not_found,
              fmt::format("'{}' and '{}': neither is there to tell a virtual machine",
                          system.shown("/sys/class/dmi/id/sys_vendor"),
                          system.shown("/proc/device-tree/model")));
}

Result<std::string> read_hypervisor(const System& system, const Result<Processor>& processor) {
  const auto type = read_optional(system, "/sys/hypervisor/type");
  if (!type) return fail(type.error());
  if (*type == "xen") return "xen";
  if (!processor) return fail(processor.error());
  const auto flags = processor->find("flags");
  return flags != processor->end() ? x86_hypervisor(system, flags->second)
                                   : other_hypervisor(system);
}

/// Facts: drivers/xen/xenfs/super.c capabilities_read; XENFEAT_dom0, bit 11 of
/// /sys/hypervisor/properties/features (Xen's public/features.h), where xenfs isn't mounted.
Result<bool> read_xen_dom0(const System& system) {
  const auto type = read_optional(system, "/sys/hypervisor/type");
  if (!type) return fail(type.error());
  if (*type != "xen") return false;
  const auto capabilities = read_optional(system, "/proc/xen/capabilities");
  if (!capabilities) return fail(capabilities.error());
  if (*capabilities) return (*capabilities)->find("control_d") != std::string::npos;
  const auto features = parse_number(hint(system, "/sys/hypervisor/properties/features"), 16);
  if (!features) {
    return fail(Errc::not_found, fmt::format("'{}': no such file or directory",
                                             system.shown("/proc/xen/capabilities")));
  }
  return (*features >> 11 & 1) != 0;
}

/// The value of the last `mem_encrypt=` on the command line.
std::string_view encryption_asked(std::string_view command_line) {
  constexpr std::string_view name = "mem_encrypt=";
  std::string_view asked;
  for (const auto word : words(command_line)) {
    if (word.starts_with(name)) asked = word.substr(name.size());
  }
  return asked;
}

/// A processor with the flag can do it and its firmware lets it; no file says that it's done. On a
/// host the kernel does it as the command line says, or else as it was built: the option for that
/// is gone since Linux 6.9, and off then. What a guest's memory is, only some guests show.
/// Facts: arch/x86/mm/mem_encrypt_identity.c sme_enable, arch/x86/kernel/cpu/amd.c
/// early_detect_mem_encrypt (takes the flag away where firmware has it off), arch/x86/Kconfig
/// AMD_MEM_ENCRYPT_ACTIVE_BY_DEFAULT; Documentation/ABI/testing/sysfs-devices-system-cpu sev/vmpl.
/// Intel's TME is no matter here: the kernel needn't know of it (CC_ATTR_MEM_ENCRYPT isn't set).
Result<bool> read_memory_encryption(const System& system, const Result<Processor>& processor,
                                    const Kernel& kernel) {
  if (!processor) return fail(processor.error());
  const auto found = processor->find("flags");
  const std::string_view flags = found != processor->end() ? found->second : std::string_view{};
  if (has_word(flags, "tdx_guest") || system.exists("/sys/devices/system/cpu/sev/vmpl")) {
    return true;
  }
  if (!has_word(flags, "sme") && !has_word(flags, "sev")) return false;
  if (has_word(flags, "hypervisor")) {
    return fail(Errc::unsupported,
                "whether this virtual machine's memory is encrypted is in no file");
  }
  if (!has_word(flags, "sme")) return false;
  const auto command_line = system.read("/proc/cmdline");
  if (!command_line) return fail(command_line.error());
  const auto asked = encryption_asked(*command_line);
  if (asked == "on" || asked == "off") return asked == "on";
  if (!kernel.config) return fail(kernel.config.error());
  return kernel.config->memory_encryption_on;
}

/// Fact: arch/x86/kvm/svm/sev.c. Without the module there are no guests of this host.
Result<bool> read_snp_host(const System& system) {
  const auto parameter = read_optional(system, "/sys/module/kvm_amd/parameters/sev_snp");
  if (!parameter) return fail(parameter.error());
  return *parameter == "Y" || *parameter == "1";
}

/// Facts: arch/arm64/include/asm/cputype.h ARM_CPU_IMP_ARM, ARM_CPU_PART_NEOVERSE_V2.
Result<std::string> describe_processor(const Result<Processor>& processor) {
  if (!processor) return fail(processor.error());
  const auto of = [&](std::string_view name) {
    const auto found = processor->find(name);
    return found != processor->end() ? printable(found->second) : std::string();
  };
  if (of("CPU implementer") == "0x41" && of("CPU part") == "0xd4f") return "Arm Neoverse V2";
  if (!of("CPU implementer").empty()) {
    return fmt::format("implementer {} part {}", of("CPU implementer"), of("CPU part"));
  }
  return std::string(trim(of("vendor_id") + " " + of("model name")));
}

Result<std::string> read_product(const System& system) {
  for (const auto* path : {"/sys/class/dmi/id/product_name", "/proc/device-tree/model"}) {
    const auto product = read_optional(system, path);
    if (!product) return fail(product.error());
    if (*product && !(*product)->empty()) return printable(**product);
  }
  return std::string();
}

/// Fact: kernel/ksysfs.c kexec_loaded_show. The image for a crash has a file of its own.
Result<bool> read_kexec_loaded(const System& system) {
  const auto loaded = read_optional(system, "/sys/kernel/kexec_loaded");
  if (!loaded) return fail(loaded.error());
  return *loaded == "1";
}

/// Facts: Documentation/admin-guide/sysctl/kernel.rst bootloader_type, "the bootloader type number
/// shifted left by 4"; kexec's is 0xD: arch/x86/kernel/kexec-bzimage64.c and kexec-tools'
/// LOADER_TYPE_KEXEC.
Result<bool> read_booted_by_kexec(const System& system) {
  const std::string path = "/proc/sys/kernel/bootloader_type";
  const auto text = system.read(path, 4096);
  if (!text) return fail(text.error());
  const auto type = parse_number(trim(*text));
  if (!type) {
    return fail(Errc::malformed, fmt::format("'{}': not a number", system.shown(path)));
  }
  return *type >> 4 == 0xD;
}

}  // namespace

Machine read_machine(const System& system, const Kernel& kernel) {
  const auto processor = read_processor(system);
  return {.hypervisor = read_hypervisor(system, processor),
          .xen_dom0 = read_xen_dom0(system),
          .memory_encryption = read_memory_encryption(system, processor, kernel),
          .snp_host = read_snp_host(system),
          .cpu = describe_processor(processor),
          .product = read_product(system),
          .kexec_loaded = read_kexec_loaded(system),
          .booted_by_kexec = read_booted_by_kexec(system)};
}

}  // namespace peerpath::probe

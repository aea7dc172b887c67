// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the next boot will be as this one, as far as the IOMMU goes.
#include "check/checks.hpp"
#include "check/devices.hpp"
#include "check/next_boot.hpp"
#include "check/running.hpp"

#include <fmt/format.h>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "boot.pending-reboot",
    .title = "Boot configuration and running kernel agree",
    .message_id = "2a8c770ee0b54af2a2cc0a65d34c9cab",
    .meaning =
        "Compares what the boot loader's configuration gives the running kernel's version at its "
        "next boot with what this boot was given. It warns when they differ in whether devices are "
        "translated: either a reboot is still to come, or the next one will lose what is in force "
        "now. It warns, too, when an image is loaded that kexec would boot next, as nothing tells "
        "its command line; one for a crash is no matter. It doesn't apply where there is no boot "
        "configuration, as in a container, where the boot loader isn't supported, or without a "
        "device to be checked.",
    .causes =
        "'peerpath ensure' has run since the last boot; or the running kernel was booted "
        "with words that were typed at the boot menu or have been taken out of the boot "
        "configuration since; or 'kexec -l' was run, perhaps by a package or a reboot tool.",
    .remedy =
        "Reboot where passthrough is configured but not in force. Run 'peerpath ensure' "
        "where it's in force but not configured. Unload an image of kexec's with 'kexec -u'.",
    .since = "0.1.0",
};

bool is_untranslated(const Facts& facts, cmdline::Mode mode) {
  const bool by_default = mode == cmdline::Mode::kernel_default && default_is_passthrough(facts);
  return cmdline::is_untranslated(mode) || by_default;
}

/// No boot configuration to compare with.
Finding without_configuration(const Error& error) {
  const bool expected = error.code == Errc::not_found || error.code == Errc::unsupported;
  Finding finding{.id = std::string(record.id),
                  .status = expected ? Status::not_applicable : Status::unknown,
                  .evidence = {{"boot configuration", error.text(), "an entry of this kernel"}},
                  .cause = "the boot configuration can't be told: " + error.text()};
  if (!expected) finding.remedy = "run 'peerpath audit' and mend what it names";
  return finding;
}

/// What kexec boots has the command line that it was loaded with, whatever the boot configuration
/// says. An image for a crash is no matter.
void consider_kexec(const Facts& facts, Finding& finding) {
  const auto& loaded = facts.machine.kexec_loaded;
  const std::string source = "/sys/kernel/kexec_loaded";
  if (loaded && !*loaded) return;
  finding.evidence.push_back({source, loaded ? "1" : loaded.error().text(), "0"});
  if (finding.status != Status::ok && finding.status != Status::not_applicable) return;
  finding.status = loaded ? Status::warn : Status::unknown;
  finding.cause = loaded ? "an image is loaded that kexec would boot next; what command line it "
                           "has can't be told"
                         : "whether kexec would boot next can't be told: " + loaded.error().text();
  finding.remedy = loaded ? "unload it with 'kexec -u', or reboot through the boot loader"
                          : "mend what can't be read, then run 'peerpath verify' again";
}

/// The boot configuration is judged without knowing whose IOMMU it is, so this has to be, too:
/// otherwise `intel_iommu=off` on both sides would look like a difference.
Result<Running> judge_boot(const Facts& facts) {
  return judge_running(facts, cmdline::Vendor::unknown);
}

std::vector<Finding> compare(const Facts& facts) {
  if (overall(facts) == Overall::none) return {no_devices(std::string(record.id), facts)};
  const auto running = judge_boot(facts);
  if (!running) return {unjudged(std::string(record.id), running.error())};
  if (!facts.configured) return {without_configuration(facts.configured.error())};

  const auto& configured = *facts.configured;
  const auto boots = compare_boots(facts).value_or(Boots{});
  Finding finding{.id = std::string(record.id), .status = Status::ok};
  finding.evidence = {
      {"/proc/cmdline", describe(running->judgement), ""},
      {configured.source, std::string(cmdline::name_of(configured.mode)), "passthrough or off"}};
  if (boots.armed()) {
    finding.status = Status::warn;
    finding.cause = "armed, not booted: passthrough is configured, but this boot was without it";
    finding.remedy = "reboot";
  } else if (boots.now && !boots.next) {
    finding.status = Status::warn;
    finding.cause = "passthrough is in force, but the next boot loses it";
    finding.remedy = running->arch == cmdline::Arch::x86_64
                         ? "run 'peerpath ensure'"
                         : "put 'iommu.passthrough=1' into the boot configuration";
  }
  return {finding};
}

std::vector<Finding> run(const Facts& facts) {
  auto findings = compare(facts);
  if (overall(facts) != Overall::none) consider_kexec(facts, findings.front());
  return findings;
}

}  // namespace

const Check boot_pending_reboot{record, run};

std::optional<Boots> compare_boots(const Facts& facts) {
  const auto running = judge_boot(facts);
  if (!running || !facts.configured) return std::nullopt;
  return Boots{.now = is_untranslated(facts, running->judgement.mode),
               .next = is_untranslated(facts, facts.configured->mode)};
}

}  // namespace peerpath::check

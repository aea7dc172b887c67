// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/running.hpp"

#include "base/text.hpp"
#include "check/bootconfig.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace peerpath::check {
namespace {

/// Facts: the names of the units are dmarN (drivers/iommu/intel/dmar.c) and ivhdN
/// (drivers/iommu/amd/init.c); the tables are DMAR and IVRS.
bool any_starts_with(const std::vector<std::string>& names, std::string_view prefix) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.starts_with(prefix); });
}

/// Whoever writes the command line may put any bytes there, and the words go into reports.
void make_printable(cmdline::Judgement& judgement) {
  if (judgement.decided_by) judgement.decided_by->text = printable(judgement.decided_by->text);
  for (auto& ignored : judgement.ignored) {
    ignored.word.text = printable(ignored.word.text);
    ignored.reason = printable(ignored.reason);
  }
}

}  // namespace

cmdline::Vendor vendor_of(const probe::IommuUnits& iommu) {
  const bool driven = iommu.units && !iommu.units->empty();
  const auto& names = driven ? *iommu.units : iommu.firmware_tables;
  if (any_starts_with(names, driven ? "dmar" : "DMAR")) return cmdline::Vendor::intel;
  if (any_starts_with(names, driven ? "ivhd" : "IVRS")) return cmdline::Vendor::amd;
  return cmdline::Vendor::unknown;
}

Result<Running> judge_running(const Facts& facts) {
  return judge_running(facts, vendor_of(facts.iommu));
}

Result<Running> judge_running(const Facts& facts, cmdline::Vendor vendor) {
  if (!facts.command_line) return fail(facts.command_line.error());
  if (!facts.kernel.machine) return fail(facts.kernel.machine.error());
  if (!facts.kernel.bootconfig) return fail(facts.kernel.bootconfig.error());
  const auto early = without_late_words(*facts.command_line, *facts.kernel.bootconfig);
  if (!early) return fail(early.error());

  const auto arch = cmdline::arch_of(*facts.kernel.machine);
  const auto version =
      facts.kernel.release ? cmdline::kernel_version(*facts.kernel.release) : std::nullopt;
  Running running{cmdline::judge(early->text, arch, version, vendor), arch};
  for (const auto& text : early->ineffective) {
    const auto alone = cmdline::judge(text, arch, version, vendor);
    if (!alone.decided_by) continue;
    running.judgement.ignored.push_back(
        {{text, 0, alone.mode}, "it comes from the kernel's bootconfig, which is read too late"});
  }
  make_printable(running.judgement);
  return running;
}

Finding unjudged(std::string id, const Error& error) {
  return {.id = std::move(id),
          .status = Status::unknown,
          .evidence = {{"/proc/cmdline", error.text(), "a command line that can be judged"}},
          .cause = "the kernel command line can't be judged: " + error.text(),
          .remedy = "mend what can't be read, then run 'peerpath verify' again"};
}

std::vector<cmdline::Ignored> vain_requests(const cmdline::Judgement& judgement) {
  std::vector<cmdline::Ignored> requests;
  for (const auto& ignored : judgement.ignored) {
    if (cmdline::is_untranslated(ignored.word.asks_for)) requests.push_back(ignored);
  }
  return requests;
}

std::string describe(const cmdline::Judgement& judgement) {
  const auto mode = cmdline::name_of(judgement.mode);
  if (!judgement.decided_by) return fmt::format("no word decides: {}", mode);
  return fmt::format("'{}': {}", judgement.decided_by->text, mode);
}

std::string describe(const cmdline::Ignored& ignored) {
  return fmt::format("'{}' isn't in force: {}", ignored.word.text, ignored.reason);
}

std::string how_to_ask(cmdline::Arch arch) {
  if (arch == cmdline::Arch::x86_64) return "run 'peerpath ensure', then reboot";
  return fmt::format("put '{}' on the kernel command line{}, then reboot",
                     cmdline::passthrough_word(arch),
                     arch == cmdline::Arch::arm64 ? " of Linux 6.11 or later" : "");
}

bool default_is_passthrough(const Facts& facts) {
  const auto& config = facts.kernel.config;
  return config && config->default_domain == probe::KernelConfig::Default::passthrough;
}

Evidence default_evidence(const Facts& facts) {
  const auto& config = facts.kernel.config;
  if (!config) return {"build configuration of the kernel", config.error().text(), ""};
  return {config->source,
          fmt::format("CONFIG_IOMMU_DEFAULT_PASSTHROUGH {}",
                      default_is_passthrough(facts) ? "is set" : "isn't set"),
          ""};
}

std::string describe_default(const Facts& facts) {
  const auto evidence = default_evidence(facts);
  return fmt::format("{} in '{}'", evidence.observed, evidence.source);
}

}  // namespace peerpath::check

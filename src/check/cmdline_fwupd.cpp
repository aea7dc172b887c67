// SPDX-License-Identifier: GPL-2.0-or-later
// A word that says that another program, too, edits the boot configuration about the IOMMU.
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/devices.hpp"
#include "check/running.hpp"
#include "cmdline/tokenise.hpp"

#include <fmt/format.h>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "cmdline.fwupd",
    .title = "IOMMU words of fwupd's",
    .message_id = "2046b5840f6a4568a05d8df99da8d936",
    .meaning =
        "Looks for 'iommu=force' on the kernel command line. fwupd puts it there when it mends its "
        "security attribute org.fwupd.hsi.Iommu. The word itself changes nothing about "
        "passthrough, but it says that fwupd edits the same boot configuration, with the aim that "
        "every IOMMU translates. It warns when the word is there.",
    .causes =
        "'fwupdmgr security-fix', or a graphical program that asks fwupd for it, has been run; or "
        "a hardening guide was followed by hand.",
    .remedy =
        "Undo it with 'fwupdmgr security-undo org.fwupd.hsi.Iommu', or take the word out of the "
        "boot configuration where fwupd didn't put it there, then reboot.",
    .since = "0.1.0",
};

/// Fact: fwupd's plugins/iommu/fu-iommu-plugin.c fu_iommu_plugin_fix_host_security_attr adds
/// exactly this word.
bool is_fwupds(const cmdline::Token& token) {
  return !token.for_init && cmdline::same_name(token.name, "iommu") && token.value == "force";
}

std::vector<Finding> run(const Facts& facts) {
  if (overall(facts) == Overall::none) return {no_devices(std::string(record.id), facts)};
  if (!facts.command_line) {
    return {unjudged(std::string(record.id), facts.command_line.error())};
  }
  Finding finding{.id = std::string(record.id), .status = Status::ok};
  for (const auto& token : cmdline::tokenise(*facts.command_line)) {
    if (!is_fwupds(token)) continue;
    finding.status = Status::warn;
    finding.evidence = {{"/proc/cmdline", printable(token.text), "no such word"}};
    finding.cause =
        "'iommu=force' is what fwupd's fix for org.fwupd.hsi.Iommu adds: it may edit the boot "
        "configuration again";
    finding.remedy =
        "run 'fwupdmgr security-undo org.fwupd.hsi.Iommu', or take the word out of the boot "
        "configuration, then reboot";
    return {finding};
  }
  finding.evidence = {{"/proc/cmdline", "no 'iommu=force'", "no such word"}};
  return {finding};
}

}  // namespace

const Check cmdline_fwupd{record, run};

}  // namespace peerpath::check

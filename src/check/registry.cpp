// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/checks.hpp"

#include <array>

namespace peerpath::check {
namespace {

constexpr std::array<const Check*, 4> checks{
    &iommu_group_type,
    &cmdline_effective,
    &cmdline_conflict,
    &boot_pending_reboot,
};

constexpr Record selftest{
    .id = "p2p.selftest",
    .title = "CUDA peer-to-peer self-test",
    .message_id = "4a051c9c57db49279ded89573ddfbca8",
    .meaning =
        "Asks the CUDA driver how many GPUs there are. This version has no test of the pairs "
        "of GPUs yet, so it never says that data arrives intact: with two GPUs or more the "
        "result is unknown. Without an NVIDIA driver, or with fewer than two GPUs, there is "
        "nothing to test and it doesn't apply.",
    .causes =
        "Unknown because this version has no pair test, or because the driver is there but "
        "can't be asked: it doesn't match its kernel module, or the device files are missing.",
    .remedy =
        "Judge by the findings of 'peerpath verify', and copy data between the GPUs with a "
        "program that compares it afterwards. Where the driver can't be asked, see to it that "
        "'nvidia-smi' lists the GPUs.",
    .since = "0.1.0",
};

constexpr Record boot_check{
    .id = "peerpath.boot-check",
    .title = "Summary of the check at boot",
    .message_id = "2a7ef4d061074656be07032cb06f9c16",
    .meaning =
        "One entry at the end of each check at boot, with the verdict over all findings: the "
        "worst of them. 'peerpath status' shows the whole report.",
    .causes =
        "At least one finding failed, could not be told or warns. Each has an entry of its "
        "own, with its evidence and remedy.",
    .remedy = "Run 'peerpath status' and mend what it lists.",
    .since = "0.1.0",
};

}  // namespace

std::span<const Check* const> all_checks() {
  return checks;
}

std::vector<const Record*> all_records() {
  std::vector<const Record*> records;
  for (const auto* check : checks)
    records.push_back(&check->record);
  records.push_back(&selftest);
  records.push_back(&boot_check);
  return records;
}

}  // namespace peerpath::check

// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/checks.hpp"
#include "check/selftest_records.hpp"

#include <array>

namespace peerpath::check {
namespace {

constexpr std::array<const Check*, 18> checks{
    &iommu_group_type,
    &iommu_group_members,
    &cmdline_effective,
    &cmdline_conflict,
    &cmdline_fwupd,
    &iommu_default_domain,
    &iommu_memory_encryption,
    &boot_pending_reboot,
    &pcie_acs_redirect,
    &pcie_acs_override,
    &pcie_link,
    &pcie_bar_size,
    &platform_virtual_machine,
    &platform_direct_link,
    &gpu_peer_access,
    &gpu_driver_options,
    &gpu_partitioning,
    &kernel_dma_faults,
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
  for (const auto& record : selftest_records())
    records.push_back(&record);
  records.push_back(&boot_check);
  return records;
}

}  // namespace peerpath::check

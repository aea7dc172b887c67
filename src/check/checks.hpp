// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/record.hpp"

namespace peerpath::check {

// One file each; registry.cpp says in which order they run.
extern const Check iommu_group_type;
extern const Check iommu_group_members;
extern const Check cmdline_effective;
extern const Check cmdline_conflict;
extern const Check cmdline_fwupd;
extern const Check iommu_default_domain;
extern const Check iommu_memory_encryption;
extern const Check boot_pending_reboot;
extern const Check pcie_acs_redirect;
extern const Check pcie_acs_override;
extern const Check pcie_link;
extern const Check pcie_bar_size;
extern const Check platform_virtual_machine;
extern const Check platform_direct_link;
extern const Check gpu_peer_access;
extern const Check gpu_driver_options;
extern const Check gpu_partitioning;
extern const Check kernel_dma_faults;

}  // namespace peerpath::check

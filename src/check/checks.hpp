// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/record.hpp"

namespace peerpath::check {

// One file each; registry.cpp says in which order they run.
extern const Check iommu_group_type;
extern const Check cmdline_effective;
extern const Check cmdline_conflict;
extern const Check boot_pending_reboot;

}  // namespace peerpath::check

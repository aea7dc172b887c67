// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/proxmox.hpp"

#include "base/text.hpp"
#include "boot/apply.hpp"
#include "boot/grub_dropin.hpp"
#include "boot/kernel_cmdline.hpp"
#include "boot/ledger.hpp"
#include "boot/refresh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace peerpath::boot {
namespace {

Refresh refresh() {
  return {{"the entries on the ESPs", {"proxmox-boot-tool", "refresh"}, "proxmox-boot-tool"},
          "the entries on the ESPs aren't made anew now"};
}

/// Its plans' steps point to it: it lives on.
const GrubDropin& grub() {
  static const GrubDropin loader;
  return loader;
}

/// GRUB on an ESP reads that ESP's own file, which the tool generates: the one in /boot comes
/// last, so that a tool that fails leaves it alone.
std::vector<Step> split_generation(Plan& plan) {
  const auto later = std::stable_partition(
      plan.steps.begin(), plan.steps.end(),
      [](const Step& step) { return !std::holds_alternative<Regenerate>(step); });
  std::vector<Step> generation(std::make_move_iterator(later),
                               std::make_move_iterator(plan.steps.end()));
  plan.steps.erase(later, plan.steps.end());
  return generation;
}

}  // namespace

bool Proxmox::detect(const System& system) const {
  const auto esps = system.read(esps_path);
  if (!esps && esps.error().code == Errc::denied) {
    // Where the directory may not be read, that's said of the directory.
    return system.list(directory_of(esps_path)).has_value();
  }
  if (!esps) return esps.error().code != Errc::not_found;
  return !trim(*esps).empty();
}

Result<Inspection> Proxmox::inspect(const System& system) const {
  Inspection inspection;
  if (grub().detect(system)) {
    auto read = grub().inspect(system);
    if (!read) return read;
    inspection = std::move(*read);
  }
  inspection.unfollowed.push_back(
      fmt::format("{}: these ESPs aren't mounted: what their entries boot with could not be told",
                  system.shown(esps_path)));
  if (!system.exists(kernel_cmdline_path)) {
    inspection.unfollowed.push_back(
        fmt::format("there's no '{}': under systemd-boot the entries get the running kernel's "
                    "command line",
                    system.shown(kernel_cmdline_path)));
  }
  return inspection;
}

Result<Plan> Proxmox::plan(const System& system, const Request& request) const {
  Plan plan;
  if (grub().detect(system)) {
    auto settings = grub().plan(system, request);
    if (!settings || settings->conflict) return settings;
    plan = std::move(*settings);
  }
  if (auto added = add_kernel_cmdline(system, request, plan, CmdlineReader::proxmox); !added)
    return fail(added.error());
  if (plan.conflict) {
    plan.steps.clear();
    return plan;
  }
  auto generation = split_generation(plan);
  if (auto added = add_refresh(system, refresh(), std::nullopt, plan); !added) {
    return fail(added.error());
  }
  std::ranges::move(generation, std::back_inserter(plan.steps));
  return plan;
}

Result<Plan> Proxmox::plan_revert(const System& system) const {
  auto plan = grub().plan_revert(system);
  if (!plan) return plan;
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  if (*ledger) {
    if (auto taken = take_kernel_cmdline(system, **ledger, *plan); !taken) {
      return fail(taken.error());
    }
  }
  auto generation = split_generation(*plan);
  if (auto added = add_refresh_back(system, refresh(), *plan); !added) return fail(added.error());
  std::ranges::move(generation, std::back_inserter(plan->steps));
  return plan;
}

}  // namespace peerpath::boot

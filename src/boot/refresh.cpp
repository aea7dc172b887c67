// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/refresh.hpp"

#include "base/text.hpp"
#include "boot/ledger.hpp"

#include <fmt/format.h>

#include <array>

namespace peerpath::boot {
namespace {

constexpr std::array directories{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                 "/usr/bin",        "/sbin",          "/bin"};

/// Why the tool can't be run here and now, if it can't.
std::optional<std::string> cannot_run(const System& system, const Refresh& refresh) {
  const auto& program = refresh.tool.command.front();
  if (!find_program(system, program)) {
    return fmt::format("'{}': there's no '{}'", system.root(), program);
  }
  if (refresh.only_booted && !system.is_booted()) {
    return fmt::format("'{}' isn't the booted system", system.root());
  }
  return std::nullopt;
}

void defer(const Refresh& refresh, std::string why, std::string_view brings, Plan& plan) {
  plan.deferred.push_back({refresh.undone, std::move(why),
                           fmt::format("'{}'{} {}", join(refresh.tool.command, " "),
                                       refresh.only_booted ? " on the booted system" : "", brings) +
                               std::string(refresh.note)});
}

}  // namespace

std::optional<std::string> find_program(const System& system, std::string_view name) {
  for (const std::string_view directory : directories) {
    auto path = fmt::format("{}/{}", directory, name);
    if (system.exists(path)) return path;
  }
  return std::nullopt;
}

Result<> add_refresh(const System& system, const Refresh& refresh, std::optional<bool> good,
                     Plan& plan) {
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  const bool due = *ledger ? !(*ledger)->done(refresh.tool.remembered_as) : good.has_value();
  if (plan.steps.empty() && (good.value_or(false) || !due)) return {};
  if (auto why = cannot_run(system, refresh)) {
    defer(refresh, std::move(*why), "brings the word", plan);
  } else {
    plan.steps.emplace_back(refresh.tool);
  }
  return {};
}

Result<> add_refresh_back(const System& system, const Refresh& refresh, Plan& plan) {
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  const bool ran = *ledger && (*ledger)->asked(refresh.tool.remembered_as);
  if (plan.steps.empty() && !ran) return {};
  // Where the tool is gone, nobody will ever make those artefacts anew.
  if (!find_program(system, refresh.tool.command.front())) return {};
  if (auto why = cannot_run(system, refresh)) {
    if (ran) defer(refresh, std::move(*why), "takes the word away", plan);
  } else {
    plan.steps.emplace_back(refresh.tool);
  }
  return {};
}

}  // namespace peerpath::boot

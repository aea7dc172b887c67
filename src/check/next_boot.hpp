// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/facts.hpp"

#include <optional>

namespace peerpath::check {

/// Whether devices are untranslated by the command line that this boot had, and by the one that
/// the boot configuration gives the running kernel's version at the next boot.
struct Boots {
  bool now = false;
  bool next = false;

  /// Passthrough is configured, and a reboot is still to come.
  [[nodiscard]] bool armed() const { return next && !now; }
};

/// Nothing where one of both can't be told.
[[nodiscard]] std::optional<Boots> compare_boots(const Facts& facts);

}  // namespace peerpath::check

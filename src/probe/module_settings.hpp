// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sys/system.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace peerpath::probe {

/// A line of modprobe.d(5): `blacklist MODULE`, `options MODULE ...`, `install MODULE ...`,
/// `alias PATTERN MODULE`. `-` is `_` in the names of modules and in patterns, as for libkmod.
struct ModprobeLine {
  std::string command;
  std::string name;      ///< the module; the pattern of an alias
  std::string rest;      ///< what follows; the module of an alias
  std::string file;      ///< as seen from inside the root
  std::size_t line = 0;  ///< counted from 1; of a continued line the first
};

/// A line that has a module loaded at boot, whatever devices there are.
struct ModuleLoad {
  std::string module;   ///< with `_`
  std::string options;  ///< only initramfs-tools takes them
  std::string file;
  std::size_t line = 0;
};

/// What a root's configuration says of kernel modules.
struct ModuleSettings {
  std::vector<ModprobeLine> modprobe;  ///< in the order in which they count
  std::vector<ModuleLoad> loads;       ///< modules-load.d(5) and initramfs-tools' list
  std::vector<Error> unread;           ///< files that couldn't be read
};

[[nodiscard]] ModuleSettings read_module_settings(const System& system);

[[nodiscard]] std::vector<ModprobeLine> parse_modprobe(std::string_view text,
                                                       const std::string& file);

/// A module's name with `_` for each `-`: to libkmod and the kernel they're the same.
[[nodiscard]] std::string module_name(std::string_view name);

}  // namespace peerpath::probe

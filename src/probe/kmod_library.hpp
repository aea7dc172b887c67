// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <libkmod.h>
#include <string>

namespace peerpath::probe {

/// The functions of libkmod that we call.
struct KmodLibrary {
  decltype(&::kmod_new) create = nullptr;
  decltype(&::kmod_unref) unref = nullptr;
  decltype(&::kmod_set_log_fn) set_log_fn = nullptr;
  decltype(&::kmod_list_next) list_next = nullptr;
  decltype(&::kmod_module_new_from_lookup) module_new_from_lookup = nullptr;
  decltype(&::kmod_module_get_module) module_get_module = nullptr;
  decltype(&::kmod_module_get_name) module_get_name = nullptr;
  decltype(&::kmod_module_get_path) module_get_path = nullptr;
  decltype(&::kmod_module_unref) module_unref = nullptr;
  decltype(&::kmod_module_unref_list) module_unref_list = nullptr;
};

/// Loads libkmod, which on Debian 12 brings libcrypto along. Errors: unsupported where there's no
/// such library, or one without a function that we need.
[[nodiscard]] Result<KmodLibrary> load_kmod(const std::string& soname = "libkmod.so.2");

}  // namespace peerpath::probe

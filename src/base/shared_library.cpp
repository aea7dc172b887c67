// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/shared_library.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

namespace peerpath {

Result<SharedLibrary> SharedLibrary::load(const std::string& soname) {
  void* handle = ::dlopen(soname.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return SharedLibrary(soname, handle);
  const char* error = ::dlerror();
  return fail(Errc::unsupported, error == nullptr ? soname : error);
}

void* SharedLibrary::address_of(const char* name) {
  void* address = ::dlsym(handle_, name);
  if (address == nullptr && missing_.empty()) missing_ = name;
  return address;
}

Result<> SharedLibrary::has_all() const {
  if (missing_.empty()) return {};
  return fail(Errc::unsupported, fmt::format("'{}' has no function '{}'", soname_, missing_));
}

}  // namespace peerpath

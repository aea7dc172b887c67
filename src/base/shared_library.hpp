// SPDX-License-Identifier: GPL-2.0-or-later
// Libraries that are loaded where they're needed, not at the start of every command: linking them
// and what they bring along takes half of a short command's time.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace peerpath {

/// A library by its name for dlopen(3). Once loaded it stays.
class SharedLibrary {
 public:
  /// Errors: unsupported, with the loader's words, where it can't be loaded.
  [[nodiscard]] static Result<SharedLibrary> load(const std::string& soname);

  /// Sets the pointer to the function of that name; null where the library hasn't got it.
  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(address_of(name));
  }
  /// Errors: unsupported, with the name of the first function that `find` didn't find.
  [[nodiscard]] Result<> has_all() const;

 private:
  SharedLibrary(std::string soname, void* handle) : soname_(std::move(soname)), handle_(handle) {}
  void* address_of(const char* name);

  std::string soname_;
  void* handle_;
  std::string missing_;
};

/// Tells packagers of a library that no link names: a constant of this type, marked
/// `[[gnu::used, gnu::section(".note.dlopen")]] alignas(4)`, with the JSON text of the note.
/// Fact: the ELF dlopen metadata specification, uapi-group.org/specifications.
template <std::size_t size>
struct DlopenNote {
  std::uint32_t name_size = 4;
  std::uint32_t text_size = size;
  std::uint32_t type = 0x407c0c0a;
  char name[4] = "FDO";
  alignas(4) std::array<char, size> text;
};

}  // namespace peerpath

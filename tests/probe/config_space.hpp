// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace peerpath::test {

/// The bytes of a function's configuration space, made for one test: a power management
/// capability at 0x40, PCI Express behind it at 0x60, error reporting at 0x100 and ACS at 0x2a0.
class ConfigSpace {
 public:
  static constexpr std::size_t express_at = 0x60;
  static constexpr std::size_t acs_at = 0x2a0;

  explicit ConfigSpace(std::size_t size = 4096) : bytes_(size, '\0') {
    ids(0x10b5, 0x8747, 0x060400);
    if (size > 256) dword(0x100, 0x00010001U);
  }

  ConfigSpace& ids(std::uint16_t vendor, std::uint16_t device, std::uint32_t class_code) {
    return word(0, vendor).word(2, device).dword(8, class_code << 8U);
  }
  ConfigSpace& conventional(bool has_list) {
    word(6, has_list ? 0x10 : 0);
    bytes_[0x34] = 0x40;
    return word(0x40, 0x0001);
  }
  /// `type` is the code of the port's type.
  ConfigSpace& express(unsigned type) {
    conventional(true);
    word(0x40, express_at << 8U | 0x01U);
    word(express_at, 0x0010);
    return word(express_at + 2, static_cast<std::uint16_t>(type << 4U | 2U));
  }
  ConfigSpace& acs(std::uint16_t capability, std::uint16_t control) {
    dword(0x100, acs_at << 20U | 0x00010001U);
    dword(acs_at, 0x0001000dU);
    return word(acs_at + 4, capability).word(acs_at + 6, control);
  }
  ConfigSpace& no_extended() { return dword(0x100, 0); }
  /// Speeds by their code, 1 for 2.5 GT/s.
  ConfigSpace& link(unsigned max_speed, unsigned max_width, unsigned speed, unsigned width) {
    dword(express_at + 0x0c, max_speed | max_width << 4U);
    return word(express_at + 0x12, static_cast<std::uint16_t>(speed | width << 4U));
  }
  ConfigSpace& bridge(unsigned primary, unsigned secondary, unsigned subordinate) {
    bytes_[0x0e] = 1;
    return dword(0x18, primary | secondary << 8U | subordinate << 16U);
  }
  ConfigSpace& word(std::size_t offset, std::uint16_t value) {
    bytes_.at(offset) = static_cast<char>(value & 0xffU);
    bytes_.at(offset + 1) = static_cast<char>(value >> 8U);
    return *this;
  }
  ConfigSpace& dword(std::size_t offset, std::uint32_t value) {
    return word(offset, static_cast<std::uint16_t>(value & 0xffffU))
        .word(offset + 2, static_cast<std::uint16_t>(value >> 16U));
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace peerpath::test

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace peerpath::test {

struct PeWriterSection {
  std::string name;
  std::string data;
  /// Otherwise the data's own length.
  std::optional<std::uint32_t> virtual_size = std::nullopt;
};

/// Makes PE images as ukify does: the data of each section padded to the file's alignment.
struct PeWriter {
  std::vector<PeWriterSection> sections = {};
  std::uint16_t machine = 0x8664;
  bool is_signed = false;
  bool pe32 = false;

  PeWriter& section(std::string name, std::string data,
                    std::optional<std::uint32_t> virtual_size = std::nullopt) {
    sections.push_back({std::move(name), std::move(data), virtual_size});
    return *this;
  }
  PeWriter& sign() {
    is_signed = true;
    return *this;
  }

  static constexpr std::size_t pe_offset = 0x80;
  static constexpr std::size_t alignment = 512;
  [[nodiscard]] std::size_t optional_size() const { return (pe32 ? 96 : 112) + 16 * 8; }
  [[nodiscard]] std::size_t table_offset() const { return pe_offset + 24 + optional_size(); }

  [[nodiscard]] std::string image() const {
    std::string file(padded(table_offset() + sections.size() * 40), '\0');
    file.replace(0, 2, "MZ");
    put(file, 0x3c, pe_offset, 4);
    file.replace(pe_offset, 2, "PE");
    put(file, pe_offset + 4, machine, 2);
    put(file, pe_offset + 6, sections.size(), 2);
    put(file, pe_offset + 20, optional_size(), 2);
    const auto optional = pe_offset + 24;
    put(file, optional, pe32 ? 0x10b : 0x20b, 2);
    const auto directories = optional + (pe32 ? 96 : 112);
    put(file, directories - 4, 16, 4);
    std::size_t address = 0x1000;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const auto& [name, data, virtual_size] = sections[i];
      const auto header = table_offset() + i * 40;
      file.replace(header, name.size(), name);
      put(file, header + 8, virtual_size.value_or(data.size()), 4);
      put(file, header + 12, address, 4);
      put(file, header + 16, padded(data.size()), 4);
      put(file, header + 20, file.size(), 4);
      file += data;
      file.resize(padded(file.size()), '\0');
      address += (data.size() / 0x1000 + 1) * 0x1000;
    }
    if (is_signed) {
      put(file, directories + 4 * 8, file.size(), 4);
      put(file, directories + 4 * 8 + 4, 16, 4);
      file += "certificates....";
    }
    return file;
  }

  static void put(std::string& file, std::size_t at, std::uint64_t value, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i)
      file[at + i] = static_cast<char>(value >> (8 * i));
  }

 private:
  static std::size_t padded(std::size_t size) {
    return (size + alignment - 1) / alignment * alignment;
  }
};

}  // namespace peerpath::test

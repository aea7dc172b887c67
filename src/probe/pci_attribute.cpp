// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/pci_attribute.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace peerpath::probe {

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c); });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_pci_address(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 3) return false;
  const auto slot = parts[2];
  return parts[0].size() >= 4 && parts[0].size() <= 8 && is_hex(parts[0]) && parts[1].size() == 2 &&
         is_hex(parts[1]) && slot.size() == 4 && is_hex(slot.substr(0, 2)) && slot[2] == '.' &&
         slot[3] >= '0' && slot[3] <= '7';
}

Result<std::string> whole_pci_address(std::string_view text) {
  auto bdf = lower(text);
  if (std::count(bdf.begin(), bdf.end(), ':') == 1) bdf.insert(0, "0000:");
  if (is_pci_address(bdf)) return bdf;
  return fail(Errc::malformed,
              fmt::format("'{}': not a PCI address such as 0000:3b:00.0", printable(text)));
}

std::string pci_path(std::string_view bdf, std::string_view attribute) {
  return fmt::format("{}/{}/{}", pci_devices, bdf, attribute);
}

Result<std::uint32_t> read_pci_id(const System& system, const std::string& path,
                                  std::size_t digits) {
  const auto text = system.read(path, attribute_limit);
  if (!text) return fail(text.error());
  const auto value = trim(*text);
  if (value.starts_with("0x") && value.size() > 2 && value.size() <= digits + 2) {
    if (const auto number = parse_number(value.substr(2), 16)) {
      return static_cast<std::uint32_t>(*number);
    }
  }
  return fail(Errc::malformed, fmt::format("'{}': not a hexadecimal number", system.shown(path)));
}

Result<std::optional<std::string>> read_link_name(const System& system, const std::string& path) {
  const auto info = system.link_info(path);
  if (!info && info.error().code == Errc::not_found) return std::nullopt;
  if (!info) return fail(info.error());
  if (info->kind != FileKind::symlink) {
    return fail(Errc::malformed, fmt::format("'{}': not a symbolic link", system.shown(path)));
  }
  const auto target = system.read_link(path);
  if (!target) return fail(target.error());
  return target->substr(target->find_last_of('/') + 1);
}

}  // namespace peerpath::probe

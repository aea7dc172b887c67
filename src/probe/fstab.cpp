// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/fstab.hpp"

#include "base/text.hpp"

namespace peerpath::probe {
namespace {

/// With `LABEL="my disk"`, libmount takes the quotes off after the fields were split.
std::string without_quotes(std::string spec) {
  const auto equals = spec.find('=');
  if (equals == std::string::npos || spec.starts_with('/')) return spec;
  const auto value = spec.substr(equals + 1);
  const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                      value.back() == value.front();
  if (!quoted) return spec;
  return spec.substr(0, equals + 1) + value.substr(1, value.size() - 2);
}

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return path;
}

}  // namespace

std::string unescape_mount_field(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const auto digits = field.substr(i + 1, 3);
    const auto byte = field[i] == '\\' && digits.size() == 3 ? parse_number(digits, 8)
                                                             : std::optional<std::uint64_t>();
    if (byte && *byte != 0 && *byte < 256) {
      text += static_cast<char>(*byte);
      i += 3;
    } else {
      text += field[i];
    }
  }
  return text;
}

Fstab parse_fstab(std::string_view text) {
  Fstab fstab;
  std::size_t number = 0;
  for (const auto raw : lines(text)) {
    ++number;
    const auto line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    const auto fields = words(line);
    if (fields.size() < 3) {
      fstab.flaws.push_back({number, "has fewer than three fields"});
      continue;
    }
    FstabEntry entry;
    entry.spec = without_quotes(unescape_mount_field(fields[0]));
    entry.directory = without_trailing_slash(unescape_mount_field(fields[1]));
    entry.type = unescape_mount_field(fields[2]);
    if (fields.size() > 3) entry.options = unescape_mount_field(fields[3]);
    entry.line = number;
    const bool goes_nowhere = entry.directory == "none" || entry.directory == "swap";
    if (!entry.directory.starts_with('/') && !goes_nowhere) {
      fstab.flaws.push_back({number, "names no directory to mount on"});
      continue;
    }
    fstab.entries.push_back(std::move(entry));
  }
  return fstab;
}

Result<Fstab> read_fstab(const System& system) {
  const auto text = system.read("/etc/fstab");
  if (!text && text.error().code == Errc::not_found) return Fstab{};
  if (!text) return fail(text.error());
  return parse_fstab(*text);
}

}  // namespace peerpath::probe

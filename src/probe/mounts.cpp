// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/mounts.hpp"

#include "base/text.hpp"
#include "probe/fstab.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::probe {

Result<std::vector<Mount>> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  std::size_t number = 0;
  for (const auto line : lines(text)) {
    ++number;
    // ID PARENT MAJOR:MINOR ROOT DIRECTORY OPTIONS [TAG...] - TYPE SOURCE SUPER_OPTIONS
    const auto fields = words(line);
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 3) {
      return fail(Errc::malformed, fmt::format("line {}: not a mounted file system", number));
    }
    mounts.push_back({std::string(fields[2]), unescape_mount_field(dash[2]),
                      unescape_mount_field(fields[4]), unescape_mount_field(dash[1])});
  }
  return mounts;
}

Result<std::vector<Mount>> read_mounts(const System& system) {
  constexpr std::string_view path = "/proc/self/mountinfo";
  if (!system.is_booted()) {
    return fail(Errc::unsupported, fmt::format("'{}': not the booted system", system.root()));
  }
  const auto text = system.read(path);
  if (!text) return fail(text.error());
  auto mounts = parse_mountinfo(*text);
  if (!mounts) {
    return fail(std::move(mounts).error().while_doing(fmt::format("'{}'", system.shown(path))));
  }
  return mounts;
}

}  // namespace peerpath::probe

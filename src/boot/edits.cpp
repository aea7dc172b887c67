// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/edits.hpp"

#include "boot/added_word.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {

Result<Edited> edit_text(const System& system, const EditFile& edit) {
  auto old = edit.read ? Result<FileText>(*edit.read) : system.read_file(edit.path);
  if (!old) return fail(old.error());
  Edited result;
  result.place = edit.path;
  if (old->through_link) {
    auto place = system.resolve(edit.path);
    if (!place) return fail(place.error());
    result.place = std::move(*place);
  }
  auto text = edited(old->content, edit);
  if (!text) {
    return fail(Errc::conflict, fmt::format("'{}': changed by somebody else meanwhile, left alone",
                                            system.shown(edit.path)));
  }
  result.after = {edit.path, std::move(*text)};
  result.after.instead_of = old->info;
  if (edit.keep_mtime) result.after.mtime = old->info.mtime;
  result.before = {edit.path, std::move(old->content), 0644, old->info.mtime};
  return result;
}

Result<std::vector<timespec>> write_batch(const System& system,
                                          const std::vector<FileWrite>& files) {
  std::vector<timespec> times;
  constexpr std::size_t batch = 100;
  for (std::size_t from = 0; from < files.size(); from += batch) {
    const auto begin = files.begin() + static_cast<std::ptrdiff_t>(from);
    const auto size = std::min(batch, files.size() - from);
    auto written = system.write({begin, begin + static_cast<std::ptrdiff_t>(size)});
    if (!written) return written;
    times.insert(times.end(), written->begin(), written->end());
  }
  return times;
}

}  // namespace peerpath::boot

// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/edits.hpp"

#include "boot/added_word.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {

Result<Edited> edit_text(const System& system, const EditFile& edit) {
  auto old = system.read(edit.path);
  if (!old) return fail(old.error());
  Edited result;
  auto info = system.link_info(edit.path);
  result.place = edit.path;
  if (info && info->kind == FileKind::symlink) {
    info = system.info(edit.path);
    auto place = system.resolve(edit.path);
    if (!place) return fail(place.error());
    result.place = std::move(*place);
  }
  if (!info) return fail(info.error());
  auto text = edited(*old, edit);
  if (!text) {
    return fail(Errc::conflict, fmt::format("'{}': changed by somebody else meanwhile, left alone",
                                            system.shown(edit.path)));
  }
  result.after = {edit.path, std::move(*text)};
  if (edit.keep_mtime) result.after.mtime = info->mtime;
  result.before = {edit.path, std::move(*old), 0644, info->mtime};
  return result;
}

Result<> write_batch(const System& system, const std::vector<FileWrite>& files) {
  constexpr std::size_t batch = 100;
  for (std::size_t from = 0; from < files.size(); from += batch) {
    const auto begin = files.begin() + static_cast<std::ptrdiff_t>(from);
    const auto size = std::min(batch, files.size() - from);
    auto written = system.write({begin, begin + static_cast<std::ptrdiff_t>(size)});
    if (!written) return written;
  }
  return {};
}

}  // namespace peerpath::boot

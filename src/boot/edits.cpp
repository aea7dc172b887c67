// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/edits.hpp"

#include "boot/added_word.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {

Result<std::vector<FileWrite>> edited_files(const System& system,
                                            const std::vector<EditFile>& edits,
                                            std::vector<FileWrite>* before) {
  std::vector<FileWrite> files;
  for (const auto& edit : edits) {
    auto old = system.read(edit.path);
    if (!old) return fail(old.error());
    const auto info = system.info(edit.path);
    if (!info) return fail(info.error());
    auto text = edited(*old, edit);
    if (!text) {
      return fail(Errc::conflict,
                  fmt::format("'{}': changed by somebody else meanwhile, left alone",
                              system.shown(edit.path)));
    }
    FileWrite file{edit.path, std::move(*text)};
    if (edit.keep_mtime) file.mtime = info->mtime;
    files.push_back(std::move(file));
    if (before != nullptr) before->push_back({edit.path, std::move(*old), 0644, info->mtime});
  }
  return files;
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

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <algorithm>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::boot {

inline constexpr std::string_view state_directory = "/var/lib/peerpath";
inline constexpr std::string_view ledger_path = "/var/lib/peerpath/ledger.json";

/// What we added to a root, so that `revert` takes away that and no more. It's written before the
/// first change: a run that was killed leaves a ledger of what it may have done.
struct Ledger {
  struct File {
    std::string path;
    std::string content;  ///< as we wrote it
  };
  /// Somebody else's file, into which we put bytes.
  struct Edit {
    std::string path;
    std::size_t offset = 0;
    std::string inserted;
    std::uint64_t size = 0;              ///< of the file before
    std::uint64_t digest = 0;            ///< likewise
    timespec before = {};                ///< its time
    std::optional<timespec> after = {};  ///< nothing while a run is under way
  };
  /// A file that a generator rewrote; enough to know it again and give its time back.
  struct Artefact {
    std::string path;
    std::uint64_t size = 0;
    std::uint64_t digest = 0;  ///< see `digest_of`
    timespec mtime = {};
  };
  /// A directory in which we made or removed a file.
  struct Directory {
    std::string path;
    timespec before = {};
    std::optional<timespec> after = {};  ///< nothing while a run is under way
  };

  /// Something that a boot loader's own tool did for us, by the name that its step gave it.
  struct Tool {
    std::string name;
    bool done = false;  ///< false while a run is under way
  };

  std::vector<std::string> boot_loaders = {};
  std::vector<File> files = {};
  std::vector<Edit> edits = {};
  /// Others' files that held our word before we came: it stays there.
  std::vector<std::string> theirs = {};
  std::vector<Artefact> artefacts = {};
  std::vector<Directory> directories = {};
  std::vector<std::string> created = {};  ///< directories that weren't there
  std::vector<Tool> tools = {};

  /// Whether the tool was asked, though it may not have come to its end.
  [[nodiscard]] bool asked(std::string_view tool) const;
  /// Whether it was, and came to a good end.
  [[nodiscard]] bool done(std::string_view tool) const;
};

/// The one with that path among a ledger's items.
template <class Items>
[[nodiscard]] auto find_path(Items& items, std::string_view path) {
  return std::find_if(items.begin(), items.end(),
                      [&](const auto& item) { return item.path == path; });
}

/// Whether the run that wrote it last was cut off.
[[nodiscard]] bool is_open(const Ledger& ledger);

/// FNV-1a: tells an unchanged file from a changed one; it isn't there against forgery.
[[nodiscard]] std::uint64_t digest_of(std::string_view content);

/// Nothing where there's no ledger. Errors: malformed, with the position in the file.
[[nodiscard]] Result<std::optional<Ledger>> load_ledger(const System& system);

/// Writes the ledger; its directory must be there.
[[nodiscard]] Result<> save_ledger(const System& system, const Ledger& ledger);

}  // namespace peerpath::boot

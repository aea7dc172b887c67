// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/fd.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace peerpath {

/// A symbolic link and what it holds.
struct Link {
  std::string path;  ///< absolute inside the root, without symbolic links on the way
  std::string target;
};

/// Where a path ends inside a root.
struct Place {
  Fd parent;                     ///< the directory that holds it
  std::string name;              ///< its name there; empty where the path is the root itself
  std::string path;              ///< absolute inside the root, without symbolic links and `..`
  bool exists = false;           ///< false: only the last component is missing
  std::vector<Link> links = {};  ///< those that were followed, after a failure too
};

enum class LastLink { follow, keep };

/// Walks a path one component at a time with O_NOFOLLOW, so that neither `..` nor a symbolic
/// link, absolute or not, nor one that is swapped in meanwhile leads out of the root.
/// Returns 0 or an errno: ENOENT where a directory on the way or a link's target is missing
/// its parent, ELOOP after 40 links as in path_resolution(7). After a failure, `path` is as far as
/// the walk came, with the name that failed.
[[nodiscard]] int walk(int root, std::string_view path, LastLink last_link, Place& place);

/// Opens an existing file under the root with openat2(2) and RESOLVE_IN_ROOT, or by `walk` where
/// the kernel hasn't got that call (before 5.6, RHEL 8's 4.18 among them) or a sandbox forbids it.
/// Returns the descriptor or minus an errno.
[[nodiscard]] int open_under(int root, std::string_view path, int flags);

/// The two ways that `open_under` has, each with the same results.
[[nodiscard]] int open_by_kernel(int root, std::string_view path, int flags);
[[nodiscard]] int open_by_walk(int root, std::string_view path, int flags);

}  // namespace peerpath

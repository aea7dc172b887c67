// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/result.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstring>

namespace peerpath {

std::string Error::text() const {
  std::string line;
  for (auto step = context.rbegin(); step != context.rend(); ++step)
    line += *step + ": ";
  return line + message;
}

Errc errc_of(int sys_errno) {
  switch (sys_errno) {
    case ENOENT:
    case ENOTDIR:
      return Errc::not_found;
    case EACCES:
    case EPERM:
      return Errc::denied;
    case ELOOP:
    case ENAMETOOLONG:
      return Errc::malformed;
    case EFBIG:
      return Errc::too_large;
    case EBUSY:
    case EAGAIN:
      return Errc::busy;
    case ENOSPC:
    case EDQUOT:
      return Errc::no_space;
    case EROFS:
      return Errc::read_only;
    case EINVAL:
      return Errc::invalid;
    default:
      return Errc::internal;
  }
}

Error system_error(int sys_errno, std::string_view what) {
  std::string reason = std::strerror(sys_errno);
  if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(reason[0]));
  return Error{errc_of(sys_errno), fmt::format("{}: {}", what, reason)};
}

}  // namespace peerpath

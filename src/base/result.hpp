// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace peerpath {

/// What kind of failure it was. The command line maps these to exit statuses in one table.
enum class Errc {
  not_found,
  denied,
  malformed,
  too_large,
  command_failed,
  unsupported,
  conflict,
  busy,
  no_space,
  read_only,
  usage,
  invalid,  ///< EINVAL: it can't be asked for of this
  internal,
};

/// A failure: what happened, and the steps that it interrupted, innermost first.
struct Error {
  Errc code = Errc::internal;
  std::string message;
  std::vector<std::string> context = {};

  /// Adds the step that was being done, one level further out.
  Error&& while_doing(std::string step) && {
    context.push_back(std::move(step));
    return std::move(*this);
  }

  /// `outer: inner: message`, the form of every error line.
  [[nodiscard]] std::string text() const;
};

/// `Errc` for an errno value; `internal` where no other fits.
[[nodiscard]] Errc errc_of(int sys_errno);

/// An error from a failed system call: "'PATH': no such file or directory".
[[nodiscard]] Error system_error(int sys_errno, std::string_view what);

template <class T = void>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string message) {
  return tl::make_unexpected(Error{code, std::move(message)});
}

[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::make_unexpected(std::move(error));
}

}  // namespace peerpath

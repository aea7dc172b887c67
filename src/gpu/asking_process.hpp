// SPDX-License-Identifier: GPL-2.0-or-later
// How a library of the NVIDIA driver is asked: in a child process, for a sick GPU can make its
// functions hang, even where SIGKILL can't reach them, or crash.
#pragma once

#include "base/shared_library.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <type_traits>

namespace peerpath::gpu {

/// What came of asking the driver.
enum class DriverOutcome {
  answered,
  no_driver,    ///< there is no such library
  unusable,     ///< the library is there, but can't be loaded or lacks a function
  call_failed,  ///< a call failed with `code`
  timed_out,    ///< no answer within the limit
  crashed,      ///< the asking process ended without an answer
  not_asked,    ///< the asking process could not be started
};

/// A library to be asked, and how long that may take: at most `limit` and twice `grace`.
struct LibraryQuery {
  std::string soname;  ///< as dlopen(3) takes it
  std::chrono::milliseconds limit;
  std::chrono::milliseconds grace{2'000};  ///< how long a killed process may take to end
  /// Asks once, without waiting, whether the process has ended, and with which wait(2) status.
  /// Tests put a process here that can't be killed.
  std::function<std::optional<int>(pid_t)> has_ended = {};
};

/// How an answer begins that comes through a pipe.
struct Saying {
  DriverOutcome outcome = DriverOutcome::not_asked;
  unsigned code = 0;       ///< the library's own, where a call failed
  char detail[1024] = {};  ///< ends with a zero byte; longer texts are cut

  void say(DriverOutcome what, std::string_view text);
};

/// Loads the library into this very process. Nothing where that fails; `saying` has the reason.
[[nodiscard]] std::optional<SharedLibrary> load_to_ask(const std::string& soname, Saying& saying);

template <class Answer>
struct Asked {
  Answer answer;
  bool left_behind = false;  ///< the asking process didn't end on SIGKILL and is still there
};

/// Runs `fill` in a child process, which writes what is in `bytes` then into its pipe. Returns
/// whether the child is left behind. Where no answer came, `bytes` are untouched and `saying` says
/// why.
[[nodiscard]] bool ask_in_child(const LibraryQuery& query, const std::function<void()>& fill,
                                std::span<std::byte> bytes, Saying& saying);

/// What `ask`, run in a child process, says of the library.
template <class Answer>
[[nodiscard]] Asked<Answer> ask_in_child(const LibraryQuery& query,
                                         Answer (*ask)(const std::string& soname)) {
  static_assert(std::is_trivially_copyable_v<Answer> && std::is_base_of_v<Saying, Answer>);
  Asked<Answer> asked;
  auto& answer = asked.answer;
  asked.left_behind = ask_in_child(
      query, [&] { answer = ask(query.soname); },
      std::as_writable_bytes(std::span<Answer, 1>(&answer, 1)), answer);
  return asked;
}

}  // namespace peerpath::gpu

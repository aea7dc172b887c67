// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/operations.hpp"
#include "require.hpp"
#include "support/temp_root.hpp"
#include "sys/system.hpp"

#include <fcntl.h>
#include <functional>
#include <stdlib.h>
#include <string>
#include <string_view>

namespace peerpath::fuzz {

/// A small x86-64 root in memory, in which no program is run: each fails, but for those that the
/// target answers for.
class FuzzRoot {
 public:
  using Answer = std::function<CommandResult(const Command&)>;

  explicit FuzzRoot(Answer answer = {}) : system_(files_.path(), std::move(answer)) {
    std::string program(
        "\x7f"
        "ELF\x02\x01\x01");
    program.resize(20, '\0');
    program[18] = 62;
    files_.file("/etc/os-release", "ID=linux\n").file("/bin/sh", program, 0755);
    files_.directory("/var/lib");
  }

  FuzzRoot& file(std::string_view path, std::string_view content) {
    files_.file(path, content);
    return *this;
  }
  [[nodiscard]] const System& system() const { return system_; }
  /// Of a file that's there.
  [[nodiscard]] std::string bytes(std::string_view path) const {
    auto content = system_.read(path);
    require(content.has_value(), "a file is gone");
    return std::move(*content);
  }

  /// `ensure` twice and `revert`, of which the last leaves these bytes as they were, and the second
  /// nothing to do. An `ensure` that fails leaves them at once.
  void check_round_trip(std::string_view path, std::string_view content) {
    file(path, content);
    const auto first = boot::ensure(system_, {});
    if (first && first->changed) {
      const auto ensured = bytes(path);
      const auto second = boot::ensure(system_, {});
      require(second && !second->changed, "a second ensure has something to do");
      require(bytes(path) == ensured, "a second ensure changes the file");
      const auto reverted = boot::revert(system_, {});
      require(reverted.has_value(), "revert fails");
    }
    require(bytes(path) == content, "the file isn't as it was");
    require(!system_.exists("/var/lib/peerpath"), "the ledger stays");
  }

 private:
  class Quiet : public System {
   public:
    Quiet(const std::string& root, Answer answer)
        : System(root, Fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), false),
          answer_(std::move(answer)) {}

    [[nodiscard]] Result<CommandResult> run(const Command& command) const override {
      if (answer_) return answer_(command);
      return CommandResult{.status = 1, .timed_out = false, .out = "", .err = "no\n"};
    }
    [[nodiscard]] bool is_booted() const override { return false; }
    [[nodiscard]] std::optional<std::string> machine() const override { return std::nullopt; }
    [[nodiscard]] std::optional<std::string> kernel_release() const override {
      return std::nullopt;
    }

   private:
    Answer answer_;
  };

  // Ten thousands of roots a minute are for memory, where there's such a place.
  struct InMemory {
    InMemory() { ::setenv("TMPDIR", "/dev/shm", 0); }
  };

  InMemory in_memory_;
  test::TempRoot files_;
  Quiet system_;
};

}  // namespace peerpath::fuzz

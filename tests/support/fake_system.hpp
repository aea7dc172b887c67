// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "support/catch.hpp"
#include "sys/process.hpp"
#include "sys/system.hpp"

#include <fcntl.h>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace peerpath::test {

/// A System over a temporary root whose commands are the test's own functions. A command that
/// the test doesn't know fails it. `/bin/sh` is the real shell of the machine that runs the test,
/// with the root put before the files that it's given.
class FakeSystem : public System {
 public:
  using Handler = std::function<CommandResult(const Command&)>;

  explicit FakeSystem(const std::string& root)
      : System(root, Fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), false) {}

  FakeSystem& on(const std::string& program, Handler handler) {
    handlers_[program] = std::move(handler);
    return *this;
  }
  /// The same answer each time.
  FakeSystem& on(const std::string& program, const CommandResult& result) {
    return on(program, [result](const Command&) { return result; });
  }

  /// Changes what the shell gets.
  FakeSystem& on_shell(std::function<Command(Command)> change) {
    change_shell_ = std::move(change);
    return *this;
  }

  [[nodiscard]] Result<CommandResult> run(const Command& command) const override {
    ran_.push_back(command.argv);
    const auto& program = command.argv.at(0);
    if (program == "/bin/sh") return run_shell(command);
    const auto handler = handlers_.find(program);
    if (handler == handlers_.end()) FAIL("unexpected command: " << program);
    auto result = handler->second(command);
    if (command.on_output) command.on_output(std::exchange(result.out, ""));
    return result;
  }
  [[nodiscard]] bool is_booted() const override { return booted; }
  [[nodiscard]] std::optional<std::string> machine() const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::string> kernel_release() const override { return release; }

  [[nodiscard]] const std::vector<std::vector<std::string>>& ran() const { return ran_; }

  bool booted = false;
  std::optional<std::string> release;

 private:
  [[nodiscard]] Result<CommandResult> run_shell(Command command) const {
    for (std::size_t i = 3; i < command.argv.size(); ++i) {
      if (command.argv[i].starts_with('/')) command.argv[i] = root() + command.argv[i];
    }
    return run_process(change_shell_ ? change_shell_(std::move(command)) : command, -1);
  }

  std::function<Command(Command)> change_shell_;
  std::map<std::string, Handler> handlers_;
  mutable std::vector<std::vector<std::string>> ran_;
};

inline CommandResult succeeded(std::string out = "") {
  return {.status = 0, .timed_out = false, .out = std::move(out), .err = ""};
}

inline CommandResult failed(int status, std::string err) {
  return {.status = status, .timed_out = false, .out = "", .err = std::move(err)};
}

}  // namespace peerpath::test

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/grub_root.hpp"
#include "boot/operations.hpp"
#include "support/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::test {

/// A root with nothing but what every one has; a vendor's test adds its own.
struct VendorRoot {
  TempRoot root;
  FakeSystem system{root.path()};

  VendorRoot() {
    root.file("/etc/os-release", "ID=vendor\n").file("/bin/sh", elf_header(62), 0755);
    root.directory("/var/lib");
  }

  [[nodiscard]] std::string text(std::string_view path) { return system.read(path).value(); }

  /// A program that's only there to be found: what it does is a function of the test's.
  void program(const std::string& path, const std::string& content = "#!/bin/sh\n") {
    root.file(path, content, 0755);
  }
};

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline bool said(const boot::Outcome& outcome, std::string_view part) {
  return std::ranges::any_of(outcome.messages,
                             [&](const std::string& message) { return contains(message, part); });
}

/// How often a command was run.
inline long times_run(const FakeSystem& system, const std::vector<std::string>& command) {
  return std::ranges::count(system.ran(), command);
}

/// The snapshot without the times of what a boot loader's own tool rewrites.
inline std::map<std::string, std::string> content_of(std::map<std::string, std::string> all,
                                                     const std::vector<std::string>& rewritten) {
  for (auto& [path, description] : all) {
    const auto begins = [&path = path](const std::string& name) { return path.starts_with(name); };
    if (std::ranges::none_of(rewritten, begins)) continue;
    const auto line = description.find('\n');
    description = line == std::string::npos ? "" : description.substr(line);
  }
  return all;
}

/// That nothing at all is changed by what's done in between.
class NothingChanged {
 public:
  explicit NothingChanged(const TempRoot& root, std::vector<std::string> rewritten = {})
      : path_(root.path()), rewritten_(std::move(rewritten)), before_(now()) {}
  void check() const { CHECK(differences(before_, now()) == ""); }

 private:
  [[nodiscard]] std::map<std::string, std::string> now() const {
    return content_of(snapshot(path_), rewritten_);
  }

  std::string path_;
  std::vector<std::string> rewritten_;
  std::map<std::string, std::string> before_;
};

/// ensure works by one run of the boot loader's tool, changes nothing the second time, and revert
/// by another run leaves all as before, but for the times of what the tool rewrites. What the first
/// ensure came to is returned.
template <class Root>
boot::Outcome check_tool_round_trip(Root& machine, std::string_view boot_loader,
                                    const std::vector<std::string>& rewritten) {
  const NothingChanged state(machine.root, rewritten);
  auto outcome = boot::ensure(machine.system, {}).value();
  CHECK(outcome.boot_loader == boot_loader);
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.result == "changed");
  CHECK(machine.updates() == 1);
  const NothingChanged ensured(machine.root);
  CHECK(boot::ensure(machine.system, {}).value().result == "unchanged");
  CHECK(machine.updates() == 1);
  ensured.check();
  CHECK(boot::revert(machine.system, {}).value().status == ExitStatus::good);
  CHECK(machine.updates() == 2);
  state.check();
  CHECK(boot::revert(machine.system, {}).value().result == "unchanged");
  return outcome;
}

}  // namespace peerpath::test

// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/produce.hpp"

#include "base/text.hpp"
#include "boot/tool.hpp"
#include "boot/uki_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace peerpath::boot {
namespace {

/// What an addon can hold beside a command line. Fact: systemd-stub(7).
constexpr std::array<std::string_view, 4> other_contents{".initrd", ".ucode", ".dtb", ".dtbauto"};

/// Why what was made isn't what was asked for, if so.
std::optional<std::string> flaw_of(const std::string& content, const Produce& step) {
  const auto source = pe_bytes(content);
  const auto addon = read_uki_addon(source, step.path);
  if (!addon) return addon.error().message;
  if (!*addon || (*addon)->command_line != step.expect_cmdline) {
    return fmt::format("its command line is '{}'",
                       *addon ? printable((*addon)->command_line) : std::string());
  }
  if ((*addon)->release) return "it's for one kernel only";
  if (step.expect_signed && !(*addon)->is_signed) return "it isn't signed";
  const auto image = parse_pe_image(source);
  if (!image) return image.error().message;
  for (const auto& section : image->sections) {
    if (std::ranges::find(other_contents, section.name) != other_contents.end()) {
      return fmt::format("it has a section '{}'", section.name);
    }
  }
  return std::nullopt;
}

/// Beside the addon, by a name that systemd-stub doesn't look at.
std::string fresh_path(const std::string& path) {
  return path + ".peerpath-new";
}

}  // namespace

std::vector<std::string> half_produced(const std::string& path) {
  const auto slash = path.rfind('/') + 1;
  // The second is System::write's.
  return {fresh_path(path),
          fmt::format("{}.{}.peerpath-new", path.substr(0, slash), path.substr(slash))};
}

Result<> produce(const System& system, const Produce& step) {
  const auto fresh = fresh_path(step.path);
  const auto clear = [&] {
    if (system.link_info(fresh)) std::ignore = system.remove_file(fresh);
  };
  clear();
  const auto failed = [&](Errc code, const std::string& why) {
    clear();
    return fail(code, fmt::format("'{}' wasn't made: {}", system.shown(step.path), why));
  };
  RunTool tool{step.path, step.command};
  tool.command.push_back(fresh);
  if (const auto done = run_tool(system, tool); !done) {
    return failed(done.error().code, done.error().text());
  }
  const auto content = system.read(fresh);
  if (!content) return failed(Errc::command_failed, content.error().text());
  if (const auto flaw = flaw_of(*content, step)) {
    return failed(Errc::command_failed,
                  fmt::format("what '{}' made can't be used: {}", step.command.front(), *flaw));
  }
  auto written = system.write(step.path, *content);
  clear();
  return written;
}

}  // namespace peerpath::boot

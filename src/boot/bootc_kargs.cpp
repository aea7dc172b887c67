// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/bootc_kargs.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace peerpath::boot {
namespace {

/// A string of a list, with the line that it's on.
struct Text {
  std::string text;
  std::size_t line = 0;
};

/// The part of TOML that such a file may have: lists of strings. bootc refuses keys that it doesn't
/// know.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] bool at_end() {
    skip_blank();
    return at_ == text_.size();
  }

  std::string key() {
    skip_blank();
    std::string name;
    while (at_ < text_.size() && is_of_key(text_[at_]))
      name += text_[at_++];
    return name;
  }

  bool take(char wanted) {
    skip_blank();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  /// Nothing where it isn't a list of strings.
  std::optional<std::vector<Text>> list() {
    std::vector<Text> all;
    if (!take('[')) return std::nullopt;
    while (!take(']')) {
      auto text = string();
      if (!text) return std::nullopt;
      all.push_back(std::move(*text));
      if (take(',')) continue;
      if (!take(']')) return std::nullopt;
      break;
    }
    return all;
  }

 private:
  static bool is_of_key(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  }

  /// Blanks, line ends and comments.
  void skip_blank() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (text_.substr(at_, 1).find_first_of(" \t\r\n") != 0) return;
      if (text_[at_] == '\n') ++line_;
      ++at_;
    }
  }

  /// On one line. Of the escapes, those of a quote and of a backslash: no option has others.
  std::optional<Text> string() {
    skip_blank();
    if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return std::nullopt;
    const char quote = text_[at_++];
    Text found{"", line_};
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return found;
      }
      if (quote == '"' && text_[at_] == '\\') {
        ++at_;
        if (text_.substr(at_, 1).find_first_of("\"\\") != 0) return std::nullopt;
      }
      found.text += text_[at_];
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

/// What one file says.
struct File {
  std::vector<Text> kargs;
  std::optional<std::vector<Text>> arches;
};

Result<File> parse_file(std::string_view text) {
  File file;
  Scanner scanner(text);
  while (!scanner.at_end()) {
    const auto line = scanner.line();
    const auto name = scanner.key();
    if (name != "kargs" && name != "match-architectures") {
      return fail(Errc::malformed,
                  fmt::format("line {}: neither 'kargs' nor 'match-architectures'", line));
    }
    auto list = scanner.take('=') ? scanner.list() : std::nullopt;
    if (!list) {
      return fail(Errc::malformed,
                  fmt::format("line {}: '{}' isn't a list of strings, each on one line",
                              scanner.line(), name));
    }
    if (name == "kargs") file.kargs = std::move(*list);
    if (name != "kargs") file.arches = std::move(list);
  }
  return file;
}

}  // namespace

Result<std::vector<BootcKarg>> parse_bootc_kargs(const std::string& file, std::string_view text,
                                                 cmdline::Arch arch) {
  auto parsed = parse_file(text);
  if (!parsed) return fail(parsed.error());
  std::vector<BootcKarg> kargs;
  // Rust's names, and no others.
  const std::string_view own = arch == cmdline::Arch::x86_64 ? "x86_64" : "aarch64";
  const auto& arches = parsed->arches;
  if (arches && std::ranges::find(*arches, own, &Text::text) == arches->end()) return kargs;
  for (auto& karg : parsed->kargs)
    kargs.push_back({std::move(karg.text), file, karg.line});
  return kargs;
}

Result<std::vector<BootcKarg>> read_bootc_kargs(const System& system, cmdline::Arch arch) {
  std::vector<BootcKarg> all;
  const auto names = system.list(bootc_kargs_directory);
  if (!names && names.error().code == Errc::not_found) return all;
  if (!names) return fail(names.error());
  for (const auto& name : *names) {
    if (!name.ends_with(".toml")) continue;
    const auto path = fmt::format("{}/{}", bootc_kargs_directory, name);
    const auto text = system.read(path);
    if (!text) return fail(text.error());
    auto kargs = parse_bootc_kargs(path, *text, arch);
    if (!kargs) {
      return fail(kargs.error().code,
                  fmt::format("'{}': {}", system.shown(path), kargs.error().message));
    }
    std::ranges::move(*kargs, std::back_inserter(all));
  }
  return all;
}

}  // namespace peerpath::boot

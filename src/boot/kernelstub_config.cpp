// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/kernelstub_config.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace peerpath::boot {
namespace {

using Json = nlohmann::json;

/// Finds places in a text that's known to be JSON.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  /// The places of a list's elements, or of an object's keys and values by turns.
  std::vector<Slice> children() {
    std::vector<Slice> found;
    for (++at_; skip_filling() != ']' && text_[at_] != '}';)
      found.push_back(value());
    return found;
  }

 private:
  /// Passes over blanks and what stands between values; tells the byte that comes next.
  char skip_filling() {
    at_ = text_.find_first_not_of(" \t\r\n,:", at_);
    return text_[at_];
  }

  Slice value() {
    const auto begin = at_;
    std::size_t depth = 0;
    do {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
      } else if (c == '[' || c == '{') {
        ++depth;
        ++at_;
      } else if (c == ']' || c == '}') {
        --depth;
        ++at_;
      } else if (depth > 0) {
        ++at_;
      } else {
        at_ = text_.find_first_of(",]} \t\r\n", at_);
      }
    } while (depth > 0);
    return {begin, at_};
  }

  void skip_string() {
    for (++at_; text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_;
};

std::string string_at(std::string_view text, Slice place) {
  return Json::parse(place.of(text)).get<std::string>();
}

/// The value of an object's member: the last, where there are several of that name.
std::optional<Slice> member(std::string_view text, Slice object, std::string_view name) {
  std::optional<Slice> found;
  if (text[object.begin] != '{') return found;
  const auto parts = Scanner(text, object.begin).children();
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    if (string_at(text, parts[i]) == name) found = parts[i + 1];
  }
  return found;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  return static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
}

std::optional<Slice> find_options(std::string_view text) {
  const Slice root{text.find('{'), text.size()};
  auto section = member(text, root, "user");
  if (!section) section = member(text, root, "default");
  return section ? member(text, *section, "kernel_options") : std::nullopt;
}

Result<KernelstubOptions> options_at(std::string_view text, Slice place) {
  KernelstubOptions options;
  options.place = place;
  options.is_list = text[place.begin] == '[';
  const auto elements =
      options.is_list ? Scanner(text, place.begin).children() : std::vector{place};
  std::vector<std::string> all;
  for (const auto& element : elements) {
    if (text[element.begin] != '"') {
      return fail(Errc::malformed, fmt::format("line {}: 'kernel_options' has something else than "
                                               "strings",
                                               line_at(text, element.begin)));
    }
    options.elements.push_back({element, string_at(text, element)});
    all.push_back(options.elements.back().option);
  }
  options.command_line = join(all, " ");
  return options;
}

}  // namespace

Result<KernelstubOptions> parse_kernelstub(std::string_view text) {
  try {
    // A string may have brackets in it, too.
    const auto place = Json::parse(text).is_object() ? find_options(text) : std::nullopt;
    if (place) return options_at(text, *place);
    return fail(Errc::malformed, "line 1: there's no 'user' with 'kernel_options'");
  } catch (const Json::exception& error) {
    return fail(Errc::malformed, std::string(without_tag(error.what())));
  }
}

EditFile add_option(const std::string& path, std::string_view text,
                    const KernelstubOptions& options, std::string_view word) {
  EditFile edit{path, options.place.end - 1, "", std::string(word)};
  if (!options.is_list) {
    if (!trim(options.command_line).empty()) edit.inserted = " " + edit.inserted;
    return edit;
  }
  edit.inserted = fmt::format("\"{}\"", word);
  if (options.elements.empty()) {
    edit.offset = options.place.begin + 1;
    return edit;
  }
  // As the one before it: on a line of its own, or after a blank.
  const auto last = options.elements.back().place;
  const auto gap = text.substr(0, last.begin).find_last_not_of(" \t\r\n") + 1;
  const auto blanks = text.substr(gap, last.begin - gap);
  const bool alone_in_line = options.elements.size() == 1 && blanks.empty();
  edit.offset = last.end;
  edit.inserted = fmt::format(",{}{}", alone_in_line ? " " : blanks, edit.inserted);
  return edit;
}

std::optional<EditFile> take_option(const Ledger& ledger, const std::string& path,
                                    std::string_view text, const KernelstubOptions& options,
                                    std::string_view word) {
  if (!options.is_list) {
    return take_word(ledger, path, text, {options.place.begin + 1, options.place.end - 1}, word);
  }
  if (auto exact = take_slice(ledger, path, text)) return exact;
  const auto& all = options.elements;
  for (auto i = all.size(); i-- > 0;) {
    if (all[i].option != word) continue;
    Slice out = all[i].place;
    if (i > 0) {
      out.begin = all[i - 1].place.end;
    } else if (all.size() > 1) {
      out.end = all[1].place.begin;
    }
    return EditFile{path, out.begin, std::string(out.of(text)), ""};
  }
  return std::nullopt;
}

}  // namespace peerpath::boot

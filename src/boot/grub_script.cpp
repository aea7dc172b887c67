// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_script.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace peerpath::boot {
namespace {

constexpr std::size_t most_variants = 64;

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Cuts GRUB script into commands.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<GrubCommand>> parse() {
    while (position_ < text_.size()) {
      if (const auto read = read_one(); !read) return fail(read.error());
    }
    end_command();
    if (!blocks_.empty()) {
      return fail(Errc::malformed, fmt::format("line {}: '{{' without '}}'", blocks_.back().line));
    }
    if (!compounds_.empty()) {
      return fail(Errc::malformed,
                  fmt::format("line {}: '{}' without its end", compounds_.back().line,
                              compounds_.back().end == "fi" ? "if" : "for or while"));
    }
    if (bad_end_) {
      return fail(Errc::malformed, fmt::format("line {}: an end without its beginning", *bad_end_));
    }
    return std::move(commands_);
  }

 private:
  struct Block {
    std::size_t line;
    bool titled;
    bool menu_entry;
  };

  struct Compound {
    std::size_t line;
    std::string end;
  };

  [[nodiscard]] char here() const { return text_[position_]; }

  Result<> read_one() {
    switch (const char c = here()) {
      case '\0':
        return fail(Errc::malformed, fmt::format("line {}: binary data", line_));
      case '\n':
        end_command();
        ++line_;
        ++position_;
        return {};
      case ' ':
      case '\t':
      case '\r':
        end_word();
        ++position_;
        return {};
      case ';':
      case '&':
      case '|':
        end_command();
        ++position_;
        return {};
      case '#':
        if (in_word_) break;
        read_comment();
        return {};
      case '\'':
        return read_single_quoted();
      case '"':
        return read_double_quoted();
      case '\\':
        read_escape(false);
        return {};
      case '$':
        read_variable(false);
        return {};
      case '{':
      case '}':
        // Braces count only as words of their own.
        if (in_word_ || !brace_stands_alone()) break;
        return c == '{' ? open_block() : close_block();
      default:
        break;
    }
    literal(here());
    ++position_;
    return {};
  }

  [[nodiscard]] bool brace_stands_alone() const {
    if (position_ + 1 == text_.size()) return true;
    return std::string_view(" \t\r\n;").find(text_[position_ + 1]) != std::string_view::npos;
  }

  void read_comment() {
    const auto end = std::min(text_.find('\n', position_), text_.size());
    const auto comment = text_.substr(position_, end - position_);
    // grub-mkconfig names the generator of each part in comments of this form.
    constexpr std::string_view begin = "### BEGIN ";
    if (comment.starts_with(begin)) {
      section_ = words(comment.substr(begin.size())).empty()
                     ? ""
                     : std::string(words(comment.substr(begin.size()))[0]);
    }
    if (comment.starts_with("### END ")) section_.clear();
    position_ = end;
  }

  Result<> read_single_quoted() {
    const auto start_line = line_;
    in_word_ = true;
    const auto end = text_.find('\'', position_ + 1);
    if (end == std::string_view::npos) return unterminated(start_line, '\'');
    for (const char c : text_.substr(position_ + 1, end - position_ - 1)) {
      if (c == '\n') ++line_;
      literal(c);
    }
    position_ = end + 1;
    return {};
  }

  Result<> read_double_quoted() {
    const auto start_line = line_;
    in_word_ = true;
    ++position_;
    while (position_ < text_.size() && here() != '"') {
      if (here() == '\\') {
        read_escape(true);
      } else if (here() == '$') {
        read_variable(true);
      } else {
        if (here() == '\n') ++line_;
        literal(here());
        ++position_;
      }
    }
    if (position_ == text_.size()) return unterminated(start_line, '"');
    ++position_;
    return {};
  }

  void read_escape(bool in_quotes) {
    ++position_;
    if (position_ == text_.size()) {
      literal('\\');
      return;
    }
    const char c = here();
    ++position_;
    if (c == '\n') {
      ++line_;
      return;
    }
    // Between double quotes a backslash is itself, except before these.
    if (in_quotes && c != '$' && c != '"' && c != '\\') literal('\\');
    literal(c);
  }

  void read_variable(bool quoted) {
    std::size_t start = position_ + 1;
    const bool braced = start < text_.size() && text_[start] == '{';
    if (braced) ++start;
    std::size_t end = start;
    if (end < text_.size() && is_name_start(text_[end])) {
      while (end < text_.size() && (is_name_start(text_[end]) || is_digit(text_[end])))
        ++end;
    } else if (end < text_.size() &&
               (is_digit(text_[end]) || text_[end] == '?' || text_[end] == '@' ||
                text_[end] == '*' || text_[end] == '#')) {
      ++end;
    }
    if (end == start || (braced && (end == text_.size() || text_[end] != '}'))) {
      literal('$');
      ++position_;
      return;
    }
    in_word_ = true;
    word_.push_back({std::string(text_.substr(start, end - start)), true, quoted});
    position_ = end + (braced ? 1 : 0);
  }

  void literal(char c) {
    in_word_ = true;
    if (word_.empty() || word_.back().variable) word_.push_back({});
    word_.back().text += c;
  }

  void end_word() {
    if (!in_word_) return;
    if (command_.words.empty()) command_.line = line_;
    command_.words.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  void end_command() {
    end_word();
    // `then`, `else` and the like introduce a command on the same line.
    while (!command_.words.empty()) {
      const auto word = text_of(command_.words.front());
      follow_compound(word);
      if (!is_introduction(word)) break;
      command_.words.erase(command_.words.begin());
    }
    if (!command_.words.empty()) {
      command_.titles = titles_;
      command_.in_menu_entry =
          std::any_of(blocks_.begin(), blocks_.end(), [](const Block& b) { return b.menu_entry; });
      command_.section = section_;
      commands_.push_back(std::move(command_));
    }
    command_ = {};
  }

  void follow_compound(const std::string& word) {
    if (word == "if") compounds_.push_back({command_.line, "fi"});
    if (word == "for" || word == "while" || word == "until") {
      compounds_.push_back({command_.line, "done"});
    }
    if (word != "fi" && word != "done") return;
    if (compounds_.empty() || compounds_.back().end != word) {
      if (!bad_end_) bad_end_ = command_.line;
      return;
    }
    compounds_.pop_back();
  }

  static bool is_introduction(const std::string& word) {
    return word == "then" || word == "else" || word == "do" || word == "if" || word == "elif" ||
           word == "while" || word == "until" || word == "!";
  }

  Result<> open_block() {
    ++position_;
    const std::string verb = command_.words.empty() ? "" : text_of(command_.words.front());
    const bool titled = verb == "menuentry" || verb == "submenu";
    const std::string title = command_.words.size() > 1 ? text_of(command_.words[1]) : "";
    end_command();
    blocks_.push_back({line_, titled, verb == "menuentry"});
    if (titled) titles_.push_back(title);
    return {};
  }

  Result<> close_block() {
    ++position_;
    end_command();
    if (blocks_.empty()) {
      return fail(Errc::malformed, fmt::format("line {}: '}}' without '{{'", line_));
    }
    if (blocks_.back().titled) titles_.pop_back();
    blocks_.pop_back();
    return {};
  }

  static tl::unexpected<Error> unterminated(std::size_t line, char quote) {
    return fail(Errc::malformed, fmt::format("line {}: {} without its end", line, quote));
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
  bool in_word_ = false;
  GrubWord word_;
  GrubCommand command_;
  std::string section_;
  std::vector<std::string> titles_;
  std::vector<Block> blocks_;
  std::vector<Compound> compounds_;
  std::optional<std::size_t> bad_end_;
  std::vector<GrubCommand> commands_;
};

/// A value that a word may have: quoted parts marked, since only the others are split.
struct Expansion {
  std::string text;
  std::vector<bool> splittable;  ///< for each byte
};

void append(Expansion& expansion, std::string_view text, bool splittable) {
  expansion.text += text;
  expansion.splittable.insert(expansion.splittable.end(), text.size(), splittable);
}

void split_into(std::vector<std::string>& arguments, const Expansion& expansion, bool had_literal) {
  std::string argument;
  bool has = had_literal;
  for (std::size_t i = 0; i < expansion.text.size(); ++i) {
    const char c = expansion.text[i];
    if (expansion.splittable[i] && (c == ' ' || c == '\t' || c == '\n')) {
      if (!argument.empty()) arguments.push_back(std::move(argument));
      argument.clear();
      has = false;
    } else {
      argument += c;
      has = true;
    }
  }
  if (has) arguments.push_back(std::move(argument));
}

std::string join_for_kernel(const std::vector<std::string>& arguments) {
  std::string line;
  for (const auto& argument : arguments) {
    if (!line.empty()) line += ' ';
    const bool quote = argument.find(' ') != std::string::npos;
    if (quote) line += '"';
    for (const char c : argument) {
      if (c == '\\' || c == '\'' || c == '"') line += '\\';
      line += c;
    }
    if (quote) line += '"';
  }
  return line;
}

/// One value for each variable that the words use; counts like an odometer.
class Choice {
 public:
  Choice(const std::vector<GrubWord>& words, const GrubVariables& variables) {
    for (const auto& word : words) {
      for (const auto& piece : word) {
        if (piece.variable) add(piece.text, variables);
      }
    }
  }

  [[nodiscard]] bool usable() const { return known_ && combinations_ <= most_variants; }

  [[nodiscard]] std::string_view value(const std::string& name) const {
    const auto& wheel = wheels_.at(name);
    return wheel.values[wheel.at];
  }

  bool next() {
    for (auto& [name, wheel] : wheels_) {
      if (++wheel.at < wheel.values.size()) return true;
      wheel.at = 0;
    }
    return false;
  }

 private:
  struct Wheel {
    std::vector<std::string> values;
    std::size_t at = 0;
  };

  void add(const std::string& name, const GrubVariables& variables) {
    if (!is_name_start(name[0]) || variables.unknowable.contains(name) ||
        variables.environment_unread) {
      known_ = false;
    }
    if (wheels_.contains(name)) return;
    Wheel wheel;
    if (const auto found = variables.values.find(name); found != variables.values.end()) {
      wheel.values = found->second;
    }
    if (std::find(wheel.values.begin(), wheel.values.end(), "") == wheel.values.end()) {
      wheel.values.emplace_back();
    }
    combinations_ *= wheel.values.size();
    wheels_.emplace(name, std::move(wheel));
  }

  std::map<std::string, Wheel> wheels_;
  std::size_t combinations_ = 1;
  bool known_ = true;
};

void add_value(GrubVariables& variables, const std::string& name, const std::string& value) {
  auto& values = variables.values[name];
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

/// `name` of `name=value`, if the word starts as an assignment does.
std::optional<std::string> assigned_name(const GrubWord& word) {
  if (word.empty() || word.front().variable) return std::nullopt;
  const auto& text = word.front().text;
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || !is_name_start(text[0])) return std::nullopt;
  const auto is_name = [](char c) { return is_name_start(c) || is_digit(c); };
  if (!std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals), is_name)) {
    return std::nullopt;
  }
  return text.substr(0, equals);
}

}  // namespace

Result<std::vector<GrubCommand>> parse_grub_script(std::string_view text) {
  return Parser(text).parse();
}

std::string text_of(const GrubWord& word) {
  std::string text;
  for (const auto& piece : word)
    text += piece.variable ? "$" + piece.text : piece.text;
  return text;
}

GrubVariables variables_of(const std::vector<GrubCommand>& commands) {
  GrubVariables variables;
  for (const auto& command : commands) {
    const auto verb = text_of(command.words.front());
    const bool is_set = verb == "set" && command.words.size() > 1;
    const auto& word = command.words[is_set ? 1 : 0];
    if (const auto name = assigned_name(word)) {
      GrubWord value = word;
      value.front().text.erase(0, name->size() + 1);
      const bool literal =
          std::none_of(value.begin(), value.end(), [](const GrubPiece& p) { return p.variable; });
      if (literal) {
        add_value(variables, *name, text_of(value));
      } else {
        variables.unknowable.insert(*name);
      }
      continue;
    }
    // These take a name without giving it a value that isn't seen elsewhere.
    if (verb == "export" || verb == "unset" || verb == "save_env" || verb == "load_env") continue;
    for (auto argument = command.words.begin() + 1; argument != command.words.end(); ++argument) {
      auto name = text_of(*argument);
      if (name.starts_with("--set=")) name.erase(0, 6);
      if (const auto colon = name.find(':'); colon != std::string::npos) name.erase(0, colon + 1);
      variables.unknowable.insert(name);
    }
  }
  return variables;
}

std::vector<std::string> kernel_lines(const std::vector<GrubWord>& words,
                                      const GrubVariables& variables) {
  Choice choice(words, variables);
  if (!choice.usable()) return {};
  std::vector<std::string> found;
  do {
    std::vector<std::string> arguments;
    for (const auto& word : words) {
      Expansion expansion;
      bool had_literal = word.empty();
      for (const auto& piece : word) {
        if (!piece.variable || piece.quoted) had_literal = true;
        append(expansion, piece.variable ? choice.value(piece.text) : piece.text,
               piece.variable && !piece.quoted);
      }
      split_into(arguments, expansion, had_literal);
    }
    auto line = join_for_kernel(arguments);
    if (std::find(found.begin(), found.end(), line) == found.end())
      found.push_back(std::move(line));
  } while (choice.next());
  return found;
}

}  // namespace peerpath::boot

// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/bootconfig.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <optional>

namespace peerpath::check {
namespace {

struct Setting {
  std::string_view key;    ///< without `kernel.`
  std::string_view value;  ///< empty where it has none
};

/// Takes `"value"` or `'value'` from the front. A value may hold line ends.
std::optional<std::string_view> take_quoted(std::string_view& text) {
  if (text.empty() || (text[0] != '"' && text[0] != '\'')) return std::nullopt;
  const auto end = text.find(text[0], 1);
  if (end == std::string_view::npos) return std::nullopt;
  const auto value = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return value;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// The settings under `kernel.`, one for each value, in order. Nothing where the text isn't one of
/// /proc/bootconfig: lines `KEY = "VALUE"[, "VALUE"]…`, and comments.
std::optional<std::vector<Setting>> parse(std::string_view text) {
  std::vector<Setting> settings;
  while (!text.empty()) {
    if (text[0] == '\n' || text[0] == '\r') {
      text.remove_prefix(1);
      continue;
    }
    if (text[0] == '#') {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
      continue;
    }
    const auto equals = text.find(" = ");
    if (equals == std::string_view::npos) return std::nullopt;
    auto key = text.substr(0, equals);
    if (key.find('\n') != std::string_view::npos) return std::nullopt;
    text.remove_prefix(equals + 3);
    const bool wanted = take(key, "kernel.");
    do {
      const auto value = take_quoted(text);
      if (!value) return std::nullopt;
      if (wanted) settings.push_back({key, *value});
    } while (take(text, ", "));
    if (!text.empty() && text[0] != '\n' && text[0] != '\r') return std::nullopt;
  }
  return settings;
}

/// Takes one setting from the front of the command line as the kernel wrote it there.
/// An empty value may have been written in each of the ways.
std::optional<std::string_view> take_setting(std::string_view& line, const Setting& setting) {
  const auto key = std::string(setting.key);
  const auto value = std::string(setting.value);
  std::vector<std::string> forms{key + "=\"" + value + "\" ", key + "=" + value + " "};
  if (value.empty()) forms.push_back(key + " ");
  for (const auto& form : forms) {
    const auto written = line.substr(0, form.size() - 1);
    if (take(line, form)) return written;
  }
  return std::nullopt;
}

bool is_early(std::string_view key) {
  return key == "iommu" || key.starts_with("iommu.");
}

}  // namespace

Result<EarlyCommandLine> without_late_words(std::string_view command_line,
                                            std::string_view bootconfig) {
  const auto settings = parse(bootconfig);
  if (!settings) return fail(Errc::malformed, "'/proc/bootconfig': not a bootconfig");
  EarlyCommandLine result;
  for (const auto& setting : *settings) {
    const auto written = take_setting(command_line, setting);
    if (!written) {
      return fail(Errc::malformed,
                  "'/proc/bootconfig': its 'kernel' keys aren't those that '/proc/cmdline' "
                  "begins with");
    }
    if (is_early(setting.key)) {
      result.ineffective.emplace_back(*written);
    } else {
      result.text += std::string(*written) + " ";
    }
  }
  result.text += command_line;
  return result;
}

}  // namespace peerpath::check

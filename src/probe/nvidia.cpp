// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/nvidia.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace peerpath::probe {
namespace {

constexpr const char* version_path = "/proc/driver/nvidia/version";
constexpr const char* params_path = "/proc/driver/nvidia/params";

/// Its first line: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 …".
Result<std::optional<std::string>> read_version(const System& system) {
  const auto text = system.read(version_path);
  if (!text && text.error().code == Errc::not_found) return std::nullopt;
  if (!text) return fail(text.error());
  constexpr std::string_view name = "NVRM version:";
  const auto all = lines(*text);
  const auto first = all.empty() ? std::string_view() : trim(all.front());
  const auto version = first.starts_with(name) ? trim(first.substr(name.size())) : "";
  if (version.empty()) {
    return fail(Errc::malformed,
                fmt::format("'{}': line 1 isn't 'NVRM version: …'", system.shown(version_path)));
  }
  return std::string(version);
}

/// A string's value stands in quotes, nothing in it is escaped.
std::optional<std::string_view> unquoted(std::string_view value) {
  if (!value.starts_with('"')) return value;
  if (value.size() < 2 || !value.ends_with('"')) return std::nullopt;
  return value.substr(1, value.size() - 2);
}

Result<std::map<std::string, std::string>> read_parameters(const System& system) {
  std::map<std::string, std::string> parameters;
  const auto text = system.read(params_path);
  if (!text && text.error().code == Errc::not_found) return parameters;
  if (!text) return fail(text.error());
  std::size_t number = 0;
  for (const auto line : lines(*text)) {
    ++number;
    const auto colon = line.find(':');
    const auto name = trim(line.substr(0, colon));
    const auto value =
        colon == std::string_view::npos ? std::nullopt : unquoted(trim(line.substr(colon + 1)));
    if (name.empty() || words(name).size() != 1 || !value) {
      return fail(Errc::malformed, fmt::format("'{}' line {}: not 'NAME: VALUE'",
                                               system.shown(params_path), number));
    }
    parameters.emplace(name, *value);
  }
  return parameters;
}

}  // namespace

NvidiaModule read_nvidia_module(const System& system) {
  return {read_version(system), read_parameters(system)};
}

}  // namespace peerpath::probe

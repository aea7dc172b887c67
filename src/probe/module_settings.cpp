// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/module_settings.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace peerpath::probe {
namespace {

/// In the order in which a file hides others of the same name. Facts: modprobe.d(5),
/// modules-load.d(5). /lib is the same as /usr/lib, or it's older than the merge of the two.
constexpr std::array<std::string_view, 5> parents{"/etc", "/run", "/usr/local/lib", "/usr/lib",
                                                  "/lib"};

/// `*.conf` of a configuration directory in all its places, by name, hidden ones left out.
std::map<std::string, std::string> configuration_files(const System& system,
                                                       std::string_view directory,
                                                       std::vector<Error>& unread) {
  std::map<std::string, std::string> files;
  for (const auto parent : parents) {
    const auto place = std::string(parent) + "/" + std::string(directory);
    const auto names = system.list(place);
    if (!names && names.error().code != Errc::not_found) unread.push_back(names.error());
    if (!names) continue;
    for (const auto& name : *names) {
      if (!name.starts_with('.') && name.ends_with(".conf"))
        files.emplace(name, fmt::format("{}/{}", place, name));
    }
  }
  return files;
}

/// Empty where it's masked by a link to /dev/null, or is a link to nowhere.
std::string read_configuration(const System& system, const std::string& path,
                               std::vector<Error>& unread) {
  auto text = system.read(path);
  if (text) return std::move(*text);
  const auto target = system.read_link(path);
  const bool masked = target && *target == "/dev/null";
  if (!masked && text.error().code != Errc::not_found) unread.push_back(text.error());
  return "";
}

/// The first word of a text, which it loses with the white space after it.
std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const auto end = std::min(text.find_first_of(" \t"), text.size());
  const auto word = text.substr(0, end);
  text = trim(text.substr(end));
  return word;
}

void add_line(std::string_view line, const std::string& file, std::size_t number,
              std::vector<ModprobeLine>& all) {
  ModprobeLine parsed;
  parsed.command = take_word(line);
  parsed.name = module_name(take_word(line));
  parsed.rest = line;
  parsed.file = file;
  parsed.line = number;
  if (parsed.command.starts_with('#') || parsed.name.empty()) return;
  if (parsed.command == "alias") parsed.rest = module_name(take_word(line));
  all.push_back(std::move(parsed));
}

void add_loads(std::string_view text, const std::string& file, std::vector<ModuleLoad>& loads) {
  std::size_t number = 0;
  for (const auto raw : lines(text)) {
    ++number;
    auto line = trim(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    const auto module = module_name(take_word(line));
    loads.push_back({module, std::string(line), file, number});
  }
}

}  // namespace

std::string module_name(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::vector<ModprobeLine> parse_modprobe(std::string_view text, const std::string& file) {
  std::vector<ModprobeLine> all;
  std::string whole;
  std::size_t first = 0;
  std::size_t number = 0;
  for (const auto line : lines(text)) {
    ++number;
    if (whole.empty()) first = number;
    whole += line;
    if (whole.ends_with('\\')) {
      whole.pop_back();
      continue;
    }
    add_line(whole, file, first, all);
    whole.clear();
  }
  if (!whole.empty()) add_line(whole, file, first, all);
  return all;
}

ModuleSettings read_module_settings(const System& system) {
  ModuleSettings settings;
  for (const auto& [name, path] : configuration_files(system, "modprobe.d", settings.unread)) {
    const auto text = read_configuration(system, path, settings.unread);
    for (auto& line : parse_modprobe(text, path))
      settings.modprobe.push_back(std::move(line));
  }
  auto loads = configuration_files(system, "modules-load.d", settings.unread);
  loads.emplace("~initramfs-tools", "/etc/initramfs-tools/modules");
  for (const auto& [name, path] : loads)
    add_loads(read_configuration(system, path, settings.unread), path, settings.loads);
  return settings;
}

}  // namespace peerpath::probe

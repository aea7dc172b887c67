// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/settings.hpp"

#include "base/text.hpp"
#include "probe/pci.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <optional>
#include <sstream>

namespace peerpath::cli {
namespace {

namespace po = boost::program_options;
constexpr std::string_view main_file = "/etc/peerpath/peerpath.conf";
constexpr std::string_view directory = "/etc/peerpath/peerpath.conf.d";

Result<std::vector<std::string>> settings_files(const System& system) {
  std::vector<std::string> files;
  if (system.link_info(main_file)) files.emplace_back(main_file);
  const auto names = system.list(directory);
  if (!names && names.error().code == Errc::not_found) return files;
  if (!names) return fail(names.error());
  for (const auto& name : *names) {
    if (name.ends_with(".conf") && !name.starts_with('.')) {
      files.push_back(fmt::format("{}/{}", directory, name));
    }
  }
  return files;
}

/// What one file sets.
struct FileSettings {
  std::vector<std::string> match;
  std::optional<bool> arm64_passthrough;
  std::optional<bool> uki_addon;
  std::optional<std::string> secure_boot_key;
  std::optional<std::string> secure_boot_certificate;
};

template <class Value>
void take(const po::variables_map& values, const char* name, std::optional<Value>& found) {
  if (values.count(name) != 0) found = values[name].as<Value>();
}

/// Boost's parser doesn't say where it stopped, so it gets one line at a time.
Result<> read_line(std::string_view line, FileSettings& found) {
  if (line.find('\0') != std::string_view::npos) return fail(Errc::malformed, "binary data");
  // Boost would take it for the start of a section and put nothing in front of our names.
  if (trim(line).starts_with('[')) {
    return fail(Errc::malformed, "sections have no meaning here");
  }
  po::options_description known;
  known.add_options()("match", po::value<std::string>())("arm64-passthrough", po::value<bool>())(
      "uki-addon", po::value<bool>())("secure-boot-key", po::value<std::string>())(
      "secure-boot-certificate", po::value<std::string>());
  po::variables_map values;
  try {
    std::istringstream stream{std::string(line)};
    po::store(po::parse_config_file(stream, known), values);
  } catch (const po::error& error) {
    return fail(Errc::malformed, error.what());
  }
  if (values.count("match") != 0) {
    const auto pattern = values["match"].as<std::string>();
    if (const auto match = probe::parse_pci_match(pattern); !match) return fail(match.error());
    found.match.push_back(pattern);
  }
  take(values, "arm64-passthrough", found.arm64_passthrough);
  take(values, "uki-addon", found.uki_addon);
  take(values, "secure-boot-key", found.secure_boot_key);
  take(values, "secure-boot-certificate", found.secure_boot_certificate);
  return {};
}

Result<FileSettings> read_file(const System& system, const std::string& file) {
  const auto text = system.read(file);
  if (!text) return fail(text.error());
  FileSettings found;
  std::size_t number = 0;
  for (const auto line : lines(*text)) {
    ++number;
    if (const auto read = read_line(line, found); !read) {
      return fail(Errc::malformed, fmt::format("'{}': line {}: {}", system.shown(file), number,
                                               printable(read.error().message)));
    }
  }
  return found;
}

}  // namespace

Result<Settings> load_settings(const System& system) {
  Settings settings;
  std::string key_file;
  const auto files = settings_files(system);
  if (!files) return fail(files.error());
  for (const auto& file : *files) {
    auto found = read_file(system, file);
    if (!found) return fail(found.error());
    if (!found->match.empty()) settings.match = std::move(found->match);
    settings.arm64_passthrough = found->arm64_passthrough.value_or(settings.arm64_passthrough);
    settings.uki_addon = found->uki_addon.value_or(settings.uki_addon);
    if (found->secure_boot_key || found->secure_boot_certificate) key_file = file;
    settings.secure_boot_key = found->secure_boot_key.value_or(settings.secure_boot_key);
    settings.secure_boot_certificate =
        found->secure_boot_certificate.value_or(settings.secure_boot_certificate);
  }
  if (settings.secure_boot_key.empty() != settings.secure_boot_certificate.empty()) {
    return fail(Errc::malformed,
                fmt::format("'{}': 'secure-boot-key' and 'secure-boot-certificate' need each other",
                            system.shown(key_file)));
  }
  return settings;
}

}  // namespace peerpath::cli

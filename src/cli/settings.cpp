// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/settings.hpp"

#include "base/text.hpp"
#include "probe/pci.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

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

/// Boost's parser doesn't say where it stopped, so it gets one line at a time.
Result<> read_line(const std::string& line, const po::options_description& known,
                   std::vector<po::option>& found) {
  try {
    std::istringstream stream(line);
    for (auto& option : po::parse_config_file(stream, known).options) {
      found.push_back(std::move(option));
    }
    return {};
  } catch (const po::error& error) {
    return fail(Errc::malformed, error.what());
  }
}

}  // namespace

Result<Settings> load_settings(const System& system) {
  Settings settings;
  po::options_description known;
  known.add_options()("match", po::value<std::vector<std::string>>())("arm64-passthrough",
                                                                      po::value<bool>());
  const auto files = settings_files(system);
  if (!files) return fail(files.error());
  for (const auto& file : *files) {
    const auto text = system.read(file);
    if (!text) return fail(text.error());
    std::vector<std::string> matches;
    std::size_t number = 0;
    for (const auto line : lines(*text)) {
      ++number;
      const auto at_line = [&](std::string_view why) {
        return fail(Errc::malformed,
                    fmt::format("'{}': line {}: {}", system.shown(file), number, printable(why)));
      };
      if (line.find('\0') != std::string_view::npos) return at_line("binary data");
      // Boost would take it for the start of a section and put nothing in front of our names.
      if (trim(line).starts_with('[')) return at_line("sections have no meaning here");
      std::vector<po::option> options;
      if (const auto read = read_line(std::string(line), known, options); !read) {
        return at_line(read.error().message);
      }
      for (const auto& option : options) {
        po::variables_map values;
        try {
          po::parsed_options one(&known);
          one.options.push_back(option);
          po::store(one, values);
        } catch (const po::error& error) {
          return at_line(error.what());
        }
        if (option.string_key == "match") {
          const auto match = probe::parse_pci_match(option.value.at(0));
          if (!match) return at_line(match.error().message);
          matches.push_back(option.value.at(0));
        } else {
          settings.arm64_passthrough = values["arm64-passthrough"].as<bool>();
        }
      }
    }
    if (!matches.empty()) settings.match = std::move(matches);
  }
  return settings;
}

}  // namespace peerpath::cli

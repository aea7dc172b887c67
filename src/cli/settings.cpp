// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/settings.hpp"

#include "base/text.hpp"
#include "cli/selftest_options.hpp"
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
  std::optional<bool> rdma_nics;
  std::optional<bool> arm64_passthrough;
  std::optional<bool> uki_addon;
  std::optional<std::string> secure_boot_key;
  std::optional<std::string> secure_boot_certificate;
  std::optional<std::optional<gpu::Depth>> selftest;
  std::optional<std::chrono::seconds> selftest_budget;
  std::optional<std::string> prometheus_textfile;
};

/// How deep the check at boot tests; nothing where it's off. Errors: malformed.
Result<std::optional<gpu::Depth>> parse_selftest(const std::string& text) {
  if (text == "off") return std::nullopt;
  if (text == "quick") return gpu::Depth::quick;
  if (text == "normal") return gpu::Depth::normal;
  return fail(Errc::malformed, fmt::format("'{}': selftest is off, quick or normal", text));
}

/// Fact: node-exporter's textfile collector reads the files whose names end so, and no others.
Result<std::string> parse_textfile(const std::string& text) {
  if (!text.starts_with('/') || !text.ends_with(".prom")) {
    return fail(
        Errc::malformed,
        fmt::format("'{}': prometheus-textfile is a path from '/' that ends in '.prom'", text));
  }
  return text;
}

template <class Value>
void take(const po::variables_map& values, const char* name, std::optional<Value>& found) {
  if (values.count(name) != 0) found = values[name].as<Value>();
}

/// Those of the check at boot.
Result<> read_check_settings(const po::variables_map& values, FileSettings& found) {
  if (values.count("selftest") != 0) {
    const auto depth = parse_selftest(values["selftest"].as<std::string>());
    if (!depth) return fail(depth.error());
    found.selftest = *depth;
  }
  if (values.count("selftest-budget") != 0) {
    const auto budget = parse_budget(values["selftest-budget"].as<std::string>());
    if (!budget) return fail(budget.error());
    found.selftest_budget = *budget;
  }
  if (values.count("prometheus-textfile") != 0) {
    const auto path = parse_textfile(values["prometheus-textfile"].as<std::string>());
    if (!path) return fail(path.error());
    found.prometheus_textfile = *path;
  }
  return {};
}

/// Boost's parser doesn't say where it stopped, so it gets one line at a time.
Result<> read_line(std::string_view line, FileSettings& found) {
  if (line.find('\0') != std::string_view::npos) return fail(Errc::malformed, "binary data");
  // Boost would take it for the start of a section and put nothing in front of our names.
  if (trim(line).starts_with('[')) {
    return fail(Errc::malformed, "sections have no meaning here");
  }
  po::options_description known;
  known.add_options()("match", po::value<std::string>())("rdma-nics", po::value<bool>())(
      "arm64-passthrough", po::value<bool>())("uki-addon", po::value<bool>())(
      "secure-boot-key", po::value<std::string>())(
      "secure-boot-certificate", po::value<std::string>())("selftest", po::value<std::string>())(
      "selftest-budget", po::value<std::string>())("prometheus-textfile", po::value<std::string>());
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
  take(values, "rdma-nics", found.rdma_nics);
  take(values, "arm64-passthrough", found.arm64_passthrough);
  take(values, "uki-addon", found.uki_addon);
  take(values, "secure-boot-key", found.secure_boot_key);
  take(values, "secure-boot-certificate", found.secure_boot_certificate);
  return read_check_settings(values, found);
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
    settings.rdma_nics = found->rdma_nics.value_or(settings.rdma_nics);
    settings.arm64_passthrough = found->arm64_passthrough.value_or(settings.arm64_passthrough);
    settings.uki_addon = found->uki_addon.value_or(settings.uki_addon);
    if (found->secure_boot_key || found->secure_boot_certificate) key_file = file;
    settings.secure_boot_key = found->secure_boot_key.value_or(settings.secure_boot_key);
    settings.secure_boot_certificate =
        found->secure_boot_certificate.value_or(settings.secure_boot_certificate);
    settings.selftest = found->selftest.value_or(settings.selftest);
    settings.selftest_budget = found->selftest_budget.value_or(settings.selftest_budget);
    settings.prometheus_textfile =
        found->prometheus_textfile.value_or(settings.prometheus_textfile);
  }
  if (settings.secure_boot_key.empty() != settings.secure_boot_certificate.empty()) {
    return fail(Errc::malformed,
                fmt::format("'{}': 'secure-boot-key' and 'secure-boot-certificate' need each other",
                            system.shown(key_file)));
  }
  return settings;
}

}  // namespace peerpath::cli

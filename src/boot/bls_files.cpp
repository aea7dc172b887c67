// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/bls_files.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace peerpath::boot {
namespace {

constexpr std::array partitions{"/boot", "/efi", "/boot/efi"};

bool is_entry_name(const std::string& name) {
  return name.ends_with(".conf") && !name.starts_with('.');
}

bool has_systemd_boot(const System& system) {
  return std::ranges::any_of(boot_partitions(system), [&](const std::string& partition) {
    const auto names = system.list(partition + "/EFI/systemd");
    return names && std::ranges::any_of(*names, [](const std::string& name) {
             return matches_glob("systemd-boot*.efi", name);
           });
  });
}

}  // namespace

std::vector<std::string> boot_partitions(const System& system) {
  std::vector<std::string> found;
  for (const std::string partition : partitions) {
    const auto path = system.resolve(partition);
    if (path && std::ranges::find(found, *path) == found.end()) found.push_back(*path);
  }
  return found;
}

Result<std::vector<BlsFile>> read_bls_files(const System& system) {
  std::vector<BlsFile> files;
  std::vector<std::string> seen;
  for (const auto& partition : boot_partitions(system)) {
    const auto directory = system.resolve(partition + "/loader/entries");
    if (!directory || std::ranges::find(seen, *directory) != seen.end()) continue;
    seen.push_back(*directory);
    const auto names = system.list(*directory);
    if (!names) return fail(names.error());
    for (const auto& name : *names) {
      if (!is_entry_name(name)) continue;
      auto path = *directory + "/" + name;
      auto text = system.read(path);
      if (!text) return fail(text.error());
      files.push_back({std::move(path), partition, std::move(*text)});
    }
  }
  return files;
}

bool has_bls_files(const System& system) {
  return std::ranges::any_of(boot_partitions(system), [&](const std::string& partition) {
    const auto names = system.list(partition + "/loader/entries");
    if (!names) return names.error().code != Errc::not_found;
    return std::ranges::any_of(*names, is_entry_name);
  });
}

Result<BlsReaders> find_bls_readers(const System& system) {
  BlsReaders readers;
  for (const auto& path : find_grub_configs(system)) {
    auto config = read_grub_config(system, path);
    if (!config) return fail(config.error());
    if (!config->takes_bls_entries) continue;
    readers.grub = true;
    for (auto& [name, values] : config->variables.values) {
      auto& all = readers.variables.values[name];
      std::ranges::move(values, std::back_inserter(all));
    }
    readers.variables.unknowable.merge(config->variables.unknowable);
  }
  readers.systemd_boot = !readers.grub || has_systemd_boot(system);
  return readers;
}

}  // namespace peerpath::boot

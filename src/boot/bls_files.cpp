// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/bls_files.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace peerpath::boot {
namespace {

constexpr std::array partitions{"/boot", "/efi", "/boot/efi"};

/// systemd-boot takes capitals, too.
bool is_entry_name(const std::string& name) {
  return ends_with_no_case(name, ".conf") && !name.starts_with('.');
}

bool is_systemd_boot(const std::string& name) {
  return name.starts_with("systemd-boot") && ends_with_no_case(name, ".efi");
}

bool has_path(const std::vector<BlsFile>& files, const std::string& path) {
  return std::ranges::find(files, path, &BlsFile::path) != files.end();
}

/// Whether there's a GRUB that will get a menu with the entries in it: there are some, or the
/// script that makes the menu knows of them.
/// Fact: Fedora's and RHEL's util/grub.d/10_linux.in has `blscfg`, Debian's and upstream's hasn't.
bool has_grub_without_menu(const System& system) {
  const auto script = system.read("/etc/grub.d/10_linux");
  const bool makes_it = script && script->find("blscfg") != std::string::npos;
  if (!makes_it && !has_bls_files(system)) return false;
  const bool has_generator = system.exists("/etc/grub.d") ||
                             system.exists("/usr/sbin/grub2-mkconfig") ||
                             system.exists("/usr/sbin/grub-mkconfig");
  return has_generator && find_grub_configs(system).empty();
}

bool has_systemd_boot(const System& system) {
  return std::ranges::any_of(boot_partitions(system), [&](const std::string& partition) {
    const auto names = system.list(partition + "/EFI/systemd");
    return names && std::ranges::any_of(*names, is_systemd_boot);
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
  bool has_links = false;
  for (const auto& partition : boot_partitions(system)) {
    const auto directory = system.resolve(partition + "/loader/entries");
    if (!directory || std::ranges::find(seen, *directory) != seen.end()) continue;
    seen.push_back(*directory);
    const auto names = system.list(*directory);
    if (!names) return fail(names.error());
    for (const auto& name : *names) {
      if (!is_entry_name(name)) continue;
      auto path = *directory + "/" + name;
      auto file = system.read_file(path);
      if (!file) return fail(file.error());
      if (file->through_link) {
        auto place = system.resolve(path);
        if (!place) return fail(place.error());
        path = std::move(*place);
        has_links = true;
      }
      // A link to another entry: one file, one edit.
      if (has_links && has_path(files, path)) continue;
      files.push_back({std::move(path), partition, std::move(file->content), file->info});
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
    readers.variables.environment_unread |= config->variables.environment_unread;
  }
  const bool systemd_boot = has_systemd_boot(system);
  if (!readers.grub && !systemd_boot && has_grub_without_menu(system)) {
    readers.grub = readers.no_menu = true;
  }
  readers.systemd_boot = !readers.grub || systemd_boot;
  return readers;
}

}  // namespace peerpath::boot

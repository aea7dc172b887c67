// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/bls_inspect.hpp"

#include "base/text.hpp"
#include "boot/judge_entry.hpp"
#include "boot/kernel_image.hpp"
#include "boot/uki_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace peerpath::boot {
namespace {

/// What GRUB hands to the kernel: it knows the first `options` only, puts variables in, and reads
/// the result as words of its own language. Without any, `default_kernelopts` counts.
/// Fact: rhboot/grub2 grub-core/commands/blscfg.c.
std::vector<std::string> grub_lines(const BlsEntry& entry, const GrubVariables& variables) {
  // Without a kernel the entry isn't in its menu.
  if (!grub_value(entry.text, "linux")) return {};
  const std::string words(grub_value(entry.text, "options").value_or("$default_kernelopts"));
  const auto commands = parse_grub_script("linux /vmlinuz " + words);
  if (!commands || commands->size() != 1) return {};
  const auto& all = commands->front().words;
  return kernel_lines({all.begin() + 2, all.end()}, variables);
}

/// systemd-boot puts a blank between all `options`, and no variables in. Newer versions take single
/// quotes away as well, older ones don't.
std::vector<std::string> systemd_boot_lines(const BlsEntry& entry) {
  std::vector<std::string> older;
  std::vector<std::string> newer;
  for (const auto& field : entry.all("options")) {
    const auto words = unquoted(entry.text, field.value).of(entry.text);
    const bool single = words.size() > 1 && words.starts_with('\'') && words.ends_with('\'');
    older.emplace_back(words);
    newer.emplace_back(single ? words.substr(1, words.size() - 2) : words);
  }
  std::vector<std::string> all{join(older, " ")};
  if (newer != older) all.push_back(join(newer, " "));
  return all;
}

/// The firmware takes backslashes, and a path without one before it, too.
std::string path_on_partition(std::string path) {
  std::ranges::replace(path, '\\', '/');
  return path.starts_with('/') ? path : "/" + path;
}

}  // namespace

std::optional<std::string> left_alone(const BlsFile& file, const BlsEntry& entry) {
  if (entry.by_boom) return "boom's own entry";
  const auto version = entry.value("version");
  if (version.find("rescue") != std::string_view::npos ||
      base_name(file.path).find("-0-rescue") != std::string::npos) {
    return "a rescue entry";
  }
  return std::nullopt;
}

std::vector<std::string> bls_command_lines(const BlsEntry& entry, const BlsReaders& readers) {
  std::vector<std::string> all;
  if (readers.grub) {
    for (const auto& line : grub_lines(entry, readers.variables))
      all.push_back(fmt::format("BOOT_IMAGE={} {}", entry.value("linux"), line));
    if (all.empty()) return all;
  }
  if (readers.systemd_boot) std::ranges::move(systemd_boot_lines(entry), std::back_inserter(all));
  return all;
}

namespace {

Entry entry_of(const System& system, KernelFinder& kernels, const BlsFile& file,
               const BlsEntry& bls, const BlsReaders& readers) {
  Entry entry;
  entry.title = bls.value("title");
  entry.kernel = bls.value("linux");
  const auto found = kernels.find(path_on_partition(entry.kernel), file.partition);
  entry.version = bls.value("version");
  // sdbootutil puts the snapshot's number before it.
  if (const auto at = entry.version.find('@'); at != std::string::npos) {
    entry.version.erase(0, at + 1);
  }
  if (!cmdline::kernel_version(entry.version)) {
    entry.version = kernel_version_of(system, entry.kernel, found);
  }
  entry.file = file.path;
  const auto options = bls.all("options");
  entry.line = options.empty() ? 1 : options.front().line;
  entry.kernel_present = found.has_value() || entry.kernel.find('$') != std::string::npos;
  entry.has_initrd = !bls.value("initrd").empty();
  entry.command_lines = bls_command_lines(bls, readers);
  return entry;
}

}  // namespace

Result<BlsEntries> read_bls_entries(const System& system, cmdline::Arch arch) {
  BlsEntries all;
  auto readers = find_bls_readers(system);
  if (!readers) return fail(readers.error());
  all.readers = std::move(*readers);
  auto files = read_bls_files(system);
  if (!files) return fail(files.error());
  KernelFinder kernels(system);
  all.found.reserve(files->size());
  for (auto& file : *files) {
    const auto bls = parse_bls_entry(file.text);
    const auto kernel = bls.value("linux");
    if (const auto why = left_alone(file, bls)) {
      all.notes.push_back(fmt::format("{}: {}, left as it is", system.shown(file.path), *why));
    } else if (kernel.empty()) {
      all.unfollowed.push_back(fmt::format("{}: it has no 'linux' line: what it boots isn't known",
                                           system.shown(file.path)));
    } else if (const auto all_kernels = bls.all("linux"); all_kernels.size() > 1) {
      // GRUB takes the first, systemd-boot the last.
      all.unfollowed.push_back(
          fmt::format("{}:{}: a second 'linux' line: what it boots isn't known",
                      system.shown(file.path), all_kernels[1].line));
    } else if (is_other_program(kernel)) {
      all.notes.push_back(
          fmt::format("{}: '{}' is not Linux, left out", system.shown(file.path), kernel));
    } else {
      auto judged = judge_entries({entry_of(system, kernels, file, bls, all.readers)}, arch);
      all.found.push_back({std::move(file), std::move(judged.front())});
      continue;
    }
    all.others.push_back(std::move(file));
  }
  return all;
}

Result<Inspection> inspect_bls(const System& system) {
  auto all = read_bls_entries(system, cmdline::Arch::x86_64);
  if (!all) return fail(all.error());
  Inspection inspection;
  for (auto& found : all->found)
    inspection.entries.push_back(std::move(found.judged.entry));
  inspection.notes = std::move(all->notes);
  inspection.unfollowed = std::move(all->unfollowed);
  if (all->readers.no_menu) {
    inspection.unfollowed.push_back(
        fmt::format("'{}': GRUB is installed and has no grub.cfg yet: generate it, then audit "
                    "again",
                    system.root()));
  }
  // GRUB's menu has these entries, and may have others of its own.
  for (const auto& path : find_grub_configs(system)) {
    auto config = read_grub_config(system, path);
    if (!config) return fail(config.error());
    if (!config->takes_bls_entries) continue;
    std::ranges::move(config->entries, std::back_inserter(inspection.entries));
    std::ranges::move(config->notes, std::back_inserter(inspection.notes));
    std::ranges::move(config->unfollowed, std::back_inserter(inspection.unfollowed));
  }
  return inspection;
}

Result<Inspection> inspect_boot_partitions(const System& system) {
  auto inspection = inspect_bls(system);
  if (!inspection) return inspection;
  auto ukis = read_ukis(system);
  if (!ukis) return fail(ukis.error());
  auto images = inspection_of(std::move(*ukis));
  std::ranges::move(images.entries, std::back_inserter(inspection->entries));
  std::ranges::move(images.notes, std::back_inserter(inspection->notes));
  std::ranges::move(images.unfollowed, std::back_inserter(inspection->unfollowed));
  return inspection;
}

std::optional<bool> boots_untranslated(const Inspection& inspection, cmdline::Arch arch) {
  std::optional<bool> good;
  for (const auto& judged : judge_entries(inspection.entries, arch)) {
    if (judged.entry.kernel_present) good = good.value_or(true) && judged.untranslated();
  }
  return good;
}

std::optional<Conflict> conflict_in(const Inspection& inspection, cmdline::Arch arch) {
  for (const auto& entry : inspection.entries) {
    if (auto conflict = conflict_in(entry, arch)) return conflict;
  }
  return std::nullopt;
}

std::optional<Conflict> conflict_in(const Entry& entry, cmdline::Arch arch) {
  if (!entry.kernel_present) return std::nullopt;
  for (const auto& line : entry.command_lines) {
    const auto word = cmdline::contradicts_passthrough(
        cmdline::judge(line, arch, cmdline::kernel_version(entry.version)));
    if (word) return Conflict{word->text, entry.file, entry.line};
  }
  return std::nullopt;
}

}  // namespace peerpath::boot

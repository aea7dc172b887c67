// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/boot_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace peerpath::probe {
namespace {

constexpr std::string_view boot = "/boot";

/// By the names that distributions give kernels: vmlinuz, vmlinux, on arm64 Image, too.
Result<bool> holds_kernel(const System& system) {
  constexpr std::array<std::string_view, 3> prefixes{"vmlinuz", "vmlinux", "Image"};
  const auto names = system.list(boot);
  if (!names && names.error().code == Errc::not_found) return false;
  if (!names) return fail(names.error());
  return std::any_of(names->begin(), names->end(), [&](const std::string& name) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
  });
}

Result<bool> is_mounted(const System& system) {
  auto mounted = system.is_mount_point(boot);
  if (!mounted && mounted.error().code == Errc::not_found) return false;
  return mounted;
}

}  // namespace

BootDirectoryVerdict judge_boot_directory(const BootDirectory& directory, std::string_view fstab) {
  using Kind = BootDirectoryVerdict::Kind;
  if (!directory.entry || directory.mounted) return {};
  const auto place = fmt::format("{}:{}", fstab, directory.entry->line);
  const auto what =
      fmt::format("'{}' is a file system of its own ('{}')", boot, directory.entry->spec);
  if (!directory.has_kernel) {
    return {Kind::refusal, fmt::format("{}: {} that isn't mounted, and the directory holds no "
                                       "kernel: mount it first",
                                       place, what)};
  }
  if (directory.booted_root || directory.device_here) {
    return {Kind::refusal, fmt::format("{}: {} that isn't mounted, and the kernels in the "
                                       "directory aren't those that boot: mount it first",
                                       place, what)};
  }
  return {Kind::note, fmt::format("{}: {} that isn't on this machine; the directory is taken for "
                                  "what will be there",
                                  place, what)};
}

Result<BootDirectoryCheck> check_boot_directory(const System& system,
                                                const DeviceResolver& resolve) {
  const auto fstab = read_fstab(system);
  if (!fstab) return fail(fstab.error());
  const auto shown = system.shown("/etc/fstab");
  BootDirectoryCheck check;
  for (const auto& flaw : fstab->flaws)
    check.notes.push_back(fmt::format("{}:{}: {}, not heeded", shown, flaw.line, flaw.reason));

  const auto entry =
      std::find_if(fstab->entries.begin(), fstab->entries.end(),
                   [](const FstabEntry& candidate) { return candidate.directory == boot; });
  if (entry == fstab->entries.end()) return check;
  const auto mounted = is_mounted(system);
  if (!mounted) return fail(mounted.error());
  const auto kernel = holds_kernel(system);
  if (!kernel) return fail(kernel.error());
  BootDirectory directory{*entry, *mounted, *kernel, system.is_booted(), false};
  if (!*mounted) directory.device_here = resolve(entry->spec).has_value();
  check.verdict = judge_boot_directory(directory, shown);
  return check;
}

}  // namespace peerpath::probe

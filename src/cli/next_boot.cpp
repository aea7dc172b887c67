// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/next_boot.hpp"

#include "cmdline/tokenise.hpp"
#include "probe/boot_directory.hpp"
#include "probe/fstab.hpp"
#include "probe/kernel_modules.hpp"
#include "probe/mounts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::cli {
namespace {

/// The words that the kernel itself heeds, without their quotes.
std::vector<std::string> words_of(std::string_view command_line) {
  std::vector<std::string> words;
  for (const auto& token : cmdline::tokenise(command_line)) {
    if (token.for_init) continue;
    words.push_back(token.value ? fmt::format("{}={}", token.name, *token.value)
                                : std::string(token.name));
  }
  return words;
}

}  // namespace

Result<BeforeBootCommand> look_before(const System& system, std::string_view command,
                                      const boot::Options& options) {
  auto check = probe::check_boot_directory(system);
  if (!check) return fail(check.error());
  BeforeBootCommand before{std::nullopt, std::move(check->notes)};
  using Kind = probe::BootDirectoryVerdict::Kind;
  auto& verdict = check->verdict;
  if (verdict.kind != Kind::fine) before.notes.push_back(std::move(verdict.text));
  if (verdict.kind != Kind::refusal) return before;

  boot::Outcome outcome;
  outcome.command = command;
  outcome.root = system.root();
  outcome.dry_run = options.dry_run;
  outcome.messages = before.notes;
  outcome.result = command == "audit" ? "unknown" : "unsupported";
  outcome.status = command == "audit" ? ExitStatus::unknown : ExitStatus::unsupported;
  before.refusal = std::move(outcome);
  return before;
}

UnmountedBootPartitions find_unmounted(const System& system) {
  UnmountedBootPartitions unmounted;
  if (!system.is_booted()) return unmounted;
  const auto found = probe::find_boot_partitions(system);
  const auto mounts = probe::read_mounts(system);
  if (!found || !mounts) {
    const auto& error = found ? mounts.error() : found.error();
    unmounted.messages.push_back(fmt::format(
        "{}: whether there are boot partitions that aren't mounted isn't known", error.text()));
    return unmounted;
  }
  unmounted.partitions = probe::not_mounted(found->partitions, *mounts);
  for (const auto& partition : unmounted.partitions)
    unmounted.messages.push_back(probe::describe_not_mounted(partition));
  for (const auto& error : found->unread) {
    unmounted.messages.push_back(
        fmt::format("{}: boot partitions on it aren't known", error.text()));
  }
  return unmounted;
}

std::vector<std::string> unmounted_in_fstab(const System& system) {
  std::vector<std::string> messages;
  const auto fstab = probe::read_fstab(system);
  if (!fstab) return messages;
  for (const auto& entry : fstab->entries) {
    if (entry.directory != "/efi" && entry.directory != "/boot/efi") continue;
    if (system.is_mount_point(entry.directory).value_or(false)) continue;
    messages.push_back(fmt::format("{}:{}: '{}' isn't mounted: mount it first",
                                   system.shown("/etc/fstab"), entry.line, entry.directory));
  }
  return messages;
}

std::vector<std::string> driver_notes(const System& system, const boot::Outcome& outcome) {
  std::vector<probe::BootKernel> kernels;
  for (const auto& judged : outcome.entries) {
    const auto& entry = judged.entry;
    if (!entry.kernel_present || entry.version.empty()) continue;
    auto kernel = std::find_if(kernels.begin(), kernels.end(),
                               [&](const auto& known) { return known.version == entry.version; });
    if (kernel == kernels.end()) kernel = kernels.insert(kernel, {entry.version, {}});
    for (const auto& line : entry.command_lines)
      kernel->command_lines.push_back(words_of(line));
  }
  return probe::predict_gpu_drivers(system, kernels);
}

}  // namespace peerpath::cli

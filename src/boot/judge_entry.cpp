// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/judge_entry.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

JudgedEntry judge_entry(const Entry& entry, cmdline::Arch arch) {
  JudgedEntry judged{entry, std::nullopt, {}};
  const auto version = cmdline::kernel_version(entry.version);
  bool first = true;
  for (const auto& line : entry.command_lines) {
    auto judgement = cmdline::judge(line, arch, version);
    if (first) {
      judged.mode = judgement.mode;
      judged.judgement = std::move(judgement);
      first = false;
    } else if (judged.mode != judgement.mode) {
      judged.mode = std::nullopt;
      break;
    }
  }
  return judged;
}

/// The words that say where the root file system is.
std::vector<std::string> root_words(const Entry& entry) {
  std::vector<std::string> found;
  if (entry.command_lines.empty()) return found;
  for (const auto word : words(entry.command_lines.front())) {
    if (word.starts_with("root=")) found.emplace_back(word);
  }
  return found;
}

/// What a kernel's entry had and none of the new ones for that kernel has.
std::optional<std::string> lost_entry(const Entry& before, const std::vector<Entry>& after) {
  bool same_kernel = false;
  bool same_root = false;
  for (const auto& entry : after) {
    if (entry.kernel != before.kernel) continue;
    same_kernel = true;
    if (root_words(entry) != root_words(before)) continue;
    same_root = true;
    if (entry.has_initrd || !before.has_initrd) return std::nullopt;
  }
  if (!same_kernel) return fmt::format("'{}' has no entry any more", before.kernel);
  if (!same_root) {
    return fmt::format("'{}' would no longer get '{}'", before.kernel,
                       join(root_words(before), " "));
  }
  return fmt::format("'{}' would no longer get an initrd", before.kernel);
}

}  // namespace

std::vector<JudgedEntry> judge_entries(const std::vector<Entry>& entries, cmdline::Arch arch) {
  std::vector<JudgedEntry> judged;
  judged.reserve(entries.size());
  for (const auto& entry : entries)
    judged.push_back(judge_entry(entry, arch));
  return judged;
}

std::optional<std::string> lost_entries(const Inspection& before, const Inspection& after) {
  const auto bootable = [](const Entry& entry) { return entry.kernel_present; };
  const auto had = std::ranges::count_if(before.entries, bootable);
  const auto has = std::ranges::count_if(after.entries, bootable);
  if (has < had) return fmt::format("it has {} bootable entries, there were {}", has, had);
  if (has == 0) return "it has no bootable entry";
  for (const auto& entry : before.entries) {
    if (!entry.kernel_present) continue;
    if (auto lost = lost_entry(entry, after.entries)) return lost;
  }
  if (after.chain_loaded < before.chain_loaded) return "an entry for another boot loader is gone";
  if (before.has_password && !after.has_password) return "the menu's password is gone";
  return std::nullopt;
}

}  // namespace peerpath::boot

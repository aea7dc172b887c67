// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/judge_entry.hpp"

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

}  // namespace

std::vector<JudgedEntry> judge_entries(const std::vector<Entry>& entries, cmdline::Arch arch) {
  std::vector<JudgedEntry> judged;
  judged.reserve(entries.size());
  for (const auto& entry : entries)
    judged.push_back(judge_entry(entry, arch));
  return judged;
}

std::optional<std::string> lost_entries(const std::vector<Entry>& before,
                                        const std::vector<Entry>& after) {
  const auto bootable = [](const Entry& entry) { return entry.kernel_present; };
  const auto had = std::count_if(before.begin(), before.end(), bootable);
  const auto has = std::count_if(after.begin(), after.end(), bootable);
  if (has < had) return fmt::format("it has {} bootable entries, there were {}", has, had);
  if (has == 0) return "it has no bootable entry";
  for (const auto& entry : before) {
    const auto same = [&](const Entry& other) { return other.kernel == entry.kernel; };
    if (entry.kernel_present && std::none_of(after.begin(), after.end(), same)) {
      return fmt::format("'{}' has no entry any more", entry.kernel);
    }
  }
  return std::nullopt;
}

}  // namespace peerpath::boot

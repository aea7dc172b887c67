// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/operations.hpp"

#include "base/text.hpp"
#include "boot/grub_config.hpp"
#include "boot/judge_entry.hpp"
#include "boot/ledger.hpp"
#include "boot/loaders.hpp"
#include "boot/platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace peerpath::boot {
namespace {

constexpr std::chrono::seconds lock_wait{60};
/// Fact: with older kernels and arm-smmu-v3 no CUDA context could be created under passthrough
/// (NVIDIA/nodewright-packages#122).
constexpr cmdline::KernelVersion first_arm64{6, 11};

Outcome start(const System& system, std::string_view command, const Options& options) {
  Outcome outcome;
  outcome.command = command;
  outcome.root = system.root();
  outcome.dry_run = options.dry_run;
  return outcome;
}

Outcome& end(Outcome& outcome, std::string_view result, ExitStatus status) {
  outcome.result = result;
  outcome.status = status;
  return outcome;
}

Outcome& end(Outcome& outcome, std::string_view result, ExitStatus status, std::string message) {
  outcome.messages.push_back(std::move(message));
  return end(outcome, result, status);
}

using BootLoaders = std::vector<const BootLoader*>;

/// Leaves the entries of this kernel. Where there are none, says which there are.
void keep_kernel(const std::string& version, Outcome& outcome) {
  std::vector<std::string> others;
  for (const auto& [entry, mode, judgement] : outcome.entries) {
    if (entry.version.empty() || std::ranges::find(others, entry.version) != others.end()) continue;
    others.push_back(entry.version);
  }
  std::erase_if(outcome.entries,
                [&](const JudgedEntry& judged) { return judged.entry.version != version; });
  if (!outcome.entries.empty()) return;
  outcome.messages.push_back(
      fmt::format("no entry for kernel {}; there are: {}", version,
                  others.empty() ? "none of a known version" : join(others, ", ")));
}

/// Directories in which boot loaders look and in which we can't: what's there isn't known.
void name_unreadable_places(const System& system, std::vector<std::string>& unfollowed) {
  std::vector<std::string> places{"/etc/kernel"};
  for (const std::string partition : {"/boot", "/efi", "/boot/efi"}) {
    for (const auto* directory : {"", "/loader", "/loader/entries", "/loader/addons", "/EFI",
                                  "/EFI/Linux", "/EFI/systemd", "/grub", "/grub2"}) {
      places.push_back(partition + directory);
    }
  }
  // What's below such a directory goes without saying.
  std::string last;
  for (const auto& place : places) {
    if (!last.empty() && place.starts_with(last + "/")) continue;
    const auto names = system.list(place);
    if (names || names.error().code == Errc::not_found) continue;
    last = place;
    unfollowed.push_back(names.error().text() + ": what's in it isn't known");
  }
}

/// Menus of boot loaders that aren't read here. The firmware may start them all the same.
void name_other_menus(const System& system, std::vector<std::string>& unfollowed) {
  for (const std::string file : {"/boot/efi/EFI/refind/refind.conf", "/efi/EFI/refind/refind.conf",
                                 "/boot/EFI/refind/refind.conf", "/boot/syslinux/syslinux.cfg",
                                 "/boot/extlinux.conf", "/boot/extlinux/extlinux.conf"}) {
    if (!system.link_info(file)) continue;
    unfollowed.push_back(fmt::format(
        "'{}': another boot loader's menu, which this version doesn't read", system.shown(file)));
  }
}

/// GRUB's menus that none of the boot loaders looked at. Which of several the firmware starts isn't
/// known.
Result<> add_other_grub_menus(const System& system, Inspection& all) {
  for (const auto& path : find_grub_configs(system)) {
    auto config = read_grub_config(system, path);
    if (!config) return fail(config.error());
    std::ranges::move(config->entries, std::back_inserter(all.entries));
    for (auto& place : config->unfollowed) {
      if (std::ranges::find(all.unfollowed, place) == all.unfollowed.end()) {
        all.unfollowed.push_back(std::move(place));
      }
    }
  }
  return {};
}

/// Entries of one file that several have read. Only GRUB's menus are read so. A line may hold two
/// commands: those that differ in anything are both kept.
void drop_doubles(std::vector<JudgedEntry>& entries) {
  std::set<std::tuple<std::string, std::string, std::string, std::vector<std::string>>> known;
  std::erase_if(entries, [&](const JudgedEntry& judged) {
    const auto& entry = judged.entry;
    return entry.line > 0 &&
           !known.emplace(entry.place(), entry.title, entry.kernel, entry.command_lines).second;
  });
}

/// Reads the entries into the outcome.
Result<> inspect(const System& system, const BootLoaders& loaders, cmdline::Arch arch,
                 const Options& options, Outcome& outcome) {
  Inspection all;
  for (const auto* loader : loaders) {
    auto inspection = loader->inspect(system);
    if (!inspection) return fail(inspection.error());
    std::ranges::move(inspection->entries, std::back_inserter(all.entries));
    std::ranges::move(inspection->notes, std::back_inserter(outcome.messages));
    std::ranges::move(inspection->unfollowed, std::back_inserter(all.unfollowed));
    if (inspection->missing) {
      outcome.messages.push_back(
          fmt::format("there's no '{}'", system.shown(*inspection->missing)));
    }
  }
  if (auto added = add_other_grub_menus(system, all); !added) return added;
  outcome.entries = judge_entries(all.entries, arch);
  drop_doubles(outcome.entries);
  outcome.unfollowed = std::move(all.unfollowed);
  name_unreadable_places(system, outcome.unfollowed);
  name_other_menus(system, outcome.unfollowed);
  const bool matters = std::ranges::any_of(
      loaders, [&](const BootLoader* loader) { return loader->reads_esp(system); });
  auto& place = matters ? outcome.unfollowed : outcome.messages;
  place.insert(place.end(), options.unmounted.begin(), options.unmounted.end());
  if (options.kernel) keep_kernel(*options.kernel, outcome);
  return {};
}

/// Why the entry isn't as it should be: the word that's in force, and those that look as if they
/// asked for passthrough but aren't heeded.
std::string needs_word(const JudgedEntry& judged, cmdline::Arch arch) {
  const auto& [entry, mode, judgement] = judged;
  auto text = fmt::format("boots {}", cmdline::name_of(*mode));
  if (judgement.decided_by) text += fmt::format(" because of '{}'", judgement.decided_by->text);
  text += fmt::format(": it needs '{}'", cmdline::passthrough_word(arch));
  for (const auto& [word, reason] : judgement.ignored) {
    if (!cmdline::is_untranslated(word.asks_for)) continue;
    text += fmt::format("; '{}' isn't heeded: {}", word.text, reason);
  }
  return text;
}

/// What the entries that boot this system come to. Says which are not as they should be.
ExitStatus judge_outcome(const System& system, cmdline::Arch arch, const Options& options,
                         Outcome& outcome) {
  bool any = false;
  auto status = ExitStatus::good;
  for (const auto& judged : outcome.entries) {
    const auto& [entry, mode, judgement] = judged;
    const auto place = system.shown(entry.place());
    if (!entry.kernel_present) {
      outcome.messages.push_back(
          fmt::format("{}: '{}' isn't in this root, not counted", place, entry.kernel));
      continue;
    }
    any = true;
    if (!mode) {
      outcome.messages.push_back(
          fmt::format("{}: which command line it gets is known only at boot", place));
      if (status == ExitStatus::good) status = ExitStatus::unknown;
    } else if (!cmdline::is_untranslated(*mode)) {
      outcome.messages.push_back(fmt::format("{}: {}", place, needs_word(judged, arch)));
      status = ExitStatus::check_failed;
    }
  }
  for (const auto& place : outcome.unfollowed) {
    outcome.messages.push_back(place);
    if (status == ExitStatus::good) status = ExitStatus::unknown;
  }
  if (!any) {
    // Of a kernel that has no entry it was said already.
    if (!options.kernel || !outcome.entries.empty()) {
      outcome.messages.emplace_back("no entry boots a kernel of this root");
    }
    return ExitStatus::unknown;
  }
  return status;
}

/// arm64 only where it's asked for, and only if every kernel is new enough.
/// Returns whether to go on.
Result<bool> admit_arm64(const System& system, const BootLoaders& loaders, const Options& options,
                         Outcome& outcome) {
  if (!options.arm64_passthrough) {
    end(outcome, "not-applicable", ExitStatus::not_applicable,
        "arm64 is left as it is; 'arm64-passthrough=yes' in the settings asks for passthrough");
    return false;
  }
  for (const auto* loader : loaders) {
    const auto inspection = loader->inspect(system);
    if (!inspection) return fail(inspection.error());
    for (const auto& entry : inspection->entries) {
      const auto version = cmdline::kernel_version(entry.version);
      if (!entry.kernel_present || (version && *version >= first_arm64)) continue;
      end(outcome, "unsupported", ExitStatus::unsupported,
          fmt::format("'{}' is older than 6.11 or of unknown version: on arm64 CUDA may not start "
                      "under passthrough before 6.11",
                      entry.kernel));
      return false;
    }
  }
  return true;
}

std::vector<std::string> names_of(const BootLoaders& loaders) {
  std::vector<std::string> names;
  for (const auto* loader : loaders)
    names.emplace_back(loader->name());
  return names;
}

struct Target {
  cmdline::Arch arch = cmdline::Arch::other;
  BootLoaders loaders;
};

/// Finds what to work on. Nothing where the outcome is final already.
Result<std::optional<Target>> find_target(const System& system, Outcome& outcome) {
  if (const auto linux_root = check_linux_root(system); !linux_root) {
    return fail(Errc::not_found, linux_root.error().message);
  }
  const auto arch = root_arch(system);
  if (!arch) return fail(arch.error());
  if (*arch == cmdline::Arch::other) {
    end(outcome, "not-applicable", ExitStatus::not_applicable,
        fmt::format("'{}': neither x86-64 nor arm64", system.root()));
    return std::nullopt;
  }
  auto loaders = find_boot_loaders(system, *arch);
  if (!loaders) {
    end(outcome, "unsupported", ExitStatus::unsupported, loaders.error().message);
    name_unreadable_places(system, outcome.messages);
    return std::nullopt;
  }
  outcome.boot_loader = join(names_of(*loaders), ", ");
  return Target{*arch, std::move(*loaders)};
}

/// Whether the platform lets us go on; the outcome says why not.
Result<bool> admit(const System& system, const Target& target, const Options& options,
                   Outcome& outcome) {
  auto refused = refusal(system);
  if (!refused) return fail(refused.error());
  if (*refused) {
    end(outcome, "unsupported", ExitStatus::unsupported, std::move(**refused));
    return false;
  }
  if (target.arch != cmdline::Arch::arm64) return true;
  return admit_arm64(system, target.loaders, options, outcome);
}

std::string where(const System& system, const Conflict& conflict) {
  if (conflict.file.empty()) return "a computed setting";
  if (conflict.line == 0) return system.shown(conflict.file);
  return fmt::format("{}:{}", system.shown(conflict.file), conflict.line);
}

/// The plans of all the boot loaders as one: the first conflict stops them all.
Result<Plan> plan_all(const System& system, const BootLoaders& loaders, const Request& request) {
  Plan all;
  for (const auto* loader : loaders) {
    auto plan = loader->plan(system, request);
    if (!plan) return fail(plan.error());
    if (plan->conflict) return plan;
    add_plan(all, std::move(*plan));
  }
  return all;
}

/// What takes away our changes to the boot loaders that are there and to those that were when the
/// ledger was written.
Result<Plan> plan_revert_all(const System& system, const BootLoaders& there) {
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  Plan all;
  for (const auto* loader : all_boot_loaders()) {
    const bool was_there = *ledger && std::ranges::find((*ledger)->boot_loaders, loader->name()) !=
                                          (*ledger)->boot_loaders.end();
    if (!was_there && std::ranges::find(there, loader) == there.end()) continue;
    auto plan = loader->plan_revert(system);
    if (!plan) return fail(plan.error());
    add_plan(all, std::move(*plan));
  }
  return all;
}

std::vector<std::string> deferred_reasons(const Plan& plan) {
  std::vector<std::string> reasons;
  for (const auto& deferred : plan.deferred)
    reasons.push_back(deferred.why);
  return reasons;
}

/// Ends with what can't be done now, and when it will be.
Outcome& end_waiting(Outcome& outcome, const Plan& plan, std::string_view result) {
  for (const auto& deferred : plan.deferred)
    outcome.messages.push_back(deferred.text());
  return end(outcome, result, ExitStatus::good);
}

/// Whether the running kernel was booted in another mode than the next will be.
bool needs_reboot(const System& system, cmdline::Arch arch) {
  if (!system.is_booted()) return false;
  const auto running = system.read("/proc/cmdline");
  const auto release = system.kernel_release();
  if (!running || !release) return true;
  return !cmdline::is_untranslated(
      cmdline::judge(*running, arch, cmdline::kernel_version(*release)).mode);
}

}  // namespace

Result<Outcome> ensure(const System& system, const Options& options) {
  auto outcome = start(system, "ensure", options);
  const auto target = find_target(system, outcome);
  if (!target) return fail(target.error());
  if (!*target) return outcome;
  const auto& [arch, loaders] = **target;

  const auto admitted = admit(system, **target, options, outcome);
  if (!admitted) return fail(admitted.error());
  if (!*admitted) return outcome;

  Fd lock;
  if (!options.dry_run) {
    auto locked = system.lock(lock_wait);
    if (!locked) return fail(locked.error());
    lock = std::move(*locked);
  }
  const auto plan = plan_all(system, loaders,
                             {arch, options.force, options.uki_addon, options.secure_boot_key,
                              options.secure_boot_certificate});
  if (!plan) return fail(plan.error());
  if (plan->conflict) {
    outcome.conflict = plan->conflict;
    if (auto read = inspect(system, loaders, arch, options, outcome); !read) {
      return fail(read.error());
    }
    return end(outcome, "conflict", ExitStatus::conflict,
               fmt::format("{}: '{}' contradicts passthrough; nothing was changed (remove the "
                           "word, or use --force)",
                           where(system, *plan->conflict), plan->conflict->word));
  }
  if (!plan->deferred.empty()) outcome.deferred = join(deferred_reasons(*plan), "; ");

  Applied applied{changes_of(*plan), std::nullopt};
  if (!options.dry_run) {
    auto done = apply(system, *plan, names_of(loaders), options.force);
    if (!done) return fail(done.error());
    applied = std::move(*done);
    outcome.changed = !applied.changes.empty();
  }
  outcome.changes = std::move(applied.changes);
  if (auto read = inspect(system, loaders, arch, options, outcome); !read) {
    return fail(read.error());
  }
  if (applied.not_generated) {
    return end(outcome, "failed", ExitStatus::failed,
               fmt::format("{}; the settings stay, and take effect once it can be generated",
                           applied.not_generated->text()));
  }
  outcome.reboot_required = !options.dry_run && needs_reboot(system, arch);
  if (options.dry_run && !outcome.changes.empty()) {
    return end_waiting(outcome, *plan, "would-change");
  }
  if (outcome.deferred) return end_waiting(outcome, *plan, "deferred");
  const auto status = judge_outcome(system, arch, options, outcome);
  return end(outcome, outcome.changed ? "changed" : "unchanged", status);
}

Result<Outcome> revert(const System& system, const Options& options) {
  auto outcome = start(system, "revert", options);
  if (const auto linux_root = check_linux_root(system); !linux_root) {
    return fail(Errc::not_found, linux_root.error().message);
  }
  Fd lock;
  if (!options.dry_run) {
    auto locked = system.lock(lock_wait);
    if (!locked) return fail(locked.error());
    lock = std::move(*locked);
  }
  // The boot loader may be gone, or be another by now.
  const auto arch = root_arch(system).value_or(cmdline::Arch::x86_64);
  const auto loaders = find_boot_loaders(system, arch).value_or(BootLoaders{});
  outcome.boot_loader = join(names_of(loaders), ", ");
  const auto plan = plan_revert_all(system, loaders);
  if (!plan) return fail(plan.error());
  if (!plan->deferred.empty()) outcome.deferred = join(deferred_reasons(*plan), "; ");

  Applied applied{changes_of(*plan), std::nullopt};
  if (!options.dry_run) {
    auto done = apply_revert(system, *plan);
    if (!done) return fail(done.error());
    applied = std::move(*done);
    outcome.changed = !applied.changes.empty();
  }
  outcome.changes = std::move(applied.changes);
  if (auto read = inspect(system, loaders, arch, options, outcome); !read) {
    return fail(read.error());
  }
  if (applied.not_generated) {
    return end(outcome, "failed", ExitStatus::failed, applied.not_generated->text());
  }
  outcome.reboot_required = outcome.changed && system.is_booted();
  if (options.dry_run && !outcome.changes.empty()) {
    return end_waiting(outcome, *plan, "would-change");
  }
  if (outcome.deferred) return end_waiting(outcome, *plan, "deferred");
  return end(outcome, outcome.changed ? "changed" : "unchanged", ExitStatus::good);
}

Result<Outcome> audit(const System& system, const Options& options) {
  auto outcome = start(system, "audit", options);
  const auto target = find_target(system, outcome);
  if (!target) return fail(target.error());
  if (!*target) return outcome;
  const auto& [arch, loaders] = **target;
  if (auto read = inspect(system, loaders, arch, options, outcome); !read) {
    return fail(read.error());
  }
  const auto status = judge_outcome(system, arch, options, outcome);
  switch (status) {
    case ExitStatus::good:
      return end(outcome, "passthrough", status);
    case ExitStatus::unknown:
      return end(outcome, "unknown", status);
    default:
      return end(outcome, "not-passthrough", status,
                 "'peerpath ensure' sets it up, or says why it doesn't");
  }
}

}  // namespace peerpath::boot

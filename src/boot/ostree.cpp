// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/ostree.hpp"

#include "base/text.hpp"
#include "boot/added_word.hpp"
#include "boot/bls_inspect.hpp"
#include "boot/bootc_kargs.hpp"
#include "boot/ledger.hpp"
#include "boot/platform.hpp"
#include "boot/refresh.hpp"
#include "boot/tool.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

/// A deployment that gets its entry at shutdown.
/// Fact: ostree src/libostree/ostree-sysroot-private.h, _OSTREE_SYSROOT_RUNSTATE_STAGED.
constexpr std::string_view staged_path = "/run/ostree/staged-deployment";
constexpr std::string_view next_deployment = "the next deployment";
constexpr std::string_view by_bootc = "bootc loader-entries";
constexpr std::string_view by_rpm_ostree = "rpm-ostree kargs";

std::vector<std::string> bootc_command() {
  return {"bootc", "loader-entries", "set-options-for-source", "--source", "peerpath"};
}

bool is_staged(const System& system) {
  return system.is_booted() && system.exists(staged_path);
}

/// Fact: ostree puts `ostree=` into each of its entries (ostree-sysroot-deploy.c); one without is
/// another system's.
bool is_deployment(const BlsFile& file) {
  const auto bls = parse_bls_entry(file.text);
  return std::ranges::any_of(bls.all("options"), [&](const BlsField& field) {
    return std::ranges::any_of(words(field.value.of(bls.text)),
                               [](std::string_view word) { return word.starts_with("ostree="); });
  });
}

/// The number in an entry's `version`: ostree's order of the deployments, the highest first.
std::uint64_t rank_of(const BlsFile& file) {
  return parse_number(parse_bls_entry(file.text).value("version")).value_or(0);
}

/// Leaves the entry of the deployment that's booted by default. Those of earlier ones are what a
/// rollback gets: no tool changes them.
Result<void> keep_current(const System& system, Inspection& inspection) {
  const auto files = read_bls_files(system);
  if (!files) return fail(files.error());
  std::uint64_t highest = 0;
  for (const auto& file : *files) {
    if (is_deployment(file)) highest = std::max(highest, rank_of(file));
  }
  std::erase_if(inspection.entries, [&](const Entry& entry) {
    const auto file = std::ranges::find(*files, entry.file, &BlsFile::path);
    if (file == files->end() || !is_deployment(*file) || rank_of(*file) == highest) return false;
    inspection.notes.push_back(
        fmt::format("{}: an earlier deployment, kept for a rollback", system.shown(entry.file)));
    return true;
  });
  return {};
}

/// Whether this bootc keeps options by their source, which needs an ostree of 2026 or later.
Result<bool> bootc_keeps_sources(const System& system) {
  if (!find_program(system, "bootc")) return false;
  const auto help =
      system.run({.argv = {"bootc", "loader-entries", "set-options-for-source", "--help"}});
  if (!help) return fail(help.error());
  return help->status == 0;
}

/// The command line of the deployment that a change would be based on.
Result<std::string> rpm_ostree_kargs(const System& system) {
  const auto result = system.run({.argv = {"rpm-ostree", "kargs"}});
  if (!result) return fail(result.error());
  if (result->status != 0) {
    return fail(Errc::command_failed, fmt::format("'rpm-ostree kargs' ended with status {}: {}",
                                                  result->status, last_line(result->err)));
  }
  return std::string(trim(result->out));
}

Deferred not_before_shutdown() {
  return {"the entry isn't written yet", "ostree writes that of a staged deployment at shutdown",
          "the next reboot brings the word"};
}

/// What the image's own arguments come to at the next deployment.
struct ImageKargs {
  std::optional<Conflict> conflict;  ///< the administrator's word against ours
  bool untranslated = false;
};

/// Where ours doesn't come last, forcing it wouldn't help. Errors: those of reading them, and
/// unsupported then.
Result<ImageKargs> judge_image_kargs(const System& system, const Request& request) {
  const auto kargs = read_bootc_kargs(system, request.arch);
  if (!kargs) return fail(kargs.error());
  std::string line;
  for (const auto& karg : *kargs)
    line += karg.words + " ";
  const auto judgement = cmdline::judge(line, request.arch);
  ImageKargs image{std::nullopt, cmdline::is_untranslated(judgement.mode)};
  const auto contrary = cmdline::contradicts_passthrough(judgement);
  if (!contrary) return image;
  image.conflict = Conflict{contrary->text, "", 0};
  for (const auto& karg : *kargs) {
    if (!has_word(karg.words, contrary->text)) continue;
    image.conflict->file = karg.file;
    image.conflict->line = karg.line;
  }
  if (!request.force) return image;
  return fail(
      Errc::unsupported,
      fmt::format("'{}:{}': '{}' contradicts passthrough; bootc puts these files together "
                  "by their names, so no other file undoes it: remove the word",
                  system.shown(image.conflict->file), image.conflict->line, image.conflict->word));
}

/// What brings the word where none of the tools can be run.
Deferred elsewhere(const System& system, std::string_view word, bool in_image) {
  Deferred deferred{
      "no deployment is changed now", fmt::format("'{}' isn't the booted system", system.root()),
      fmt::format("'rpm-ostree kargs --append={}' on the booted host brings the word", word)};
  if (in_image && find_program(system, "bootc")) {
    deferred.until =
        fmt::format("'{}' takes effect with the next deployment", bootc_kargs_directory);
  }
  return deferred;
}

/// Asks the tool that's there, unless what it was asked for before is only waiting for the reboot.
Result<> ask(const System& system, const Request& request, Plan& plan) {
  const std::string word(cmdline::passthrough_word(request.arch));
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  const auto sources = bootc_keeps_sources(system);
  if (!sources) return fail(sources.error());
  plan.deferred.push_back(not_before_shutdown());
  if (*sources) {
    if (*ledger && (*ledger)->done(by_bootc) && is_staged(system)) return {};
    auto command = bootc_command();
    command.insert(command.end(), {"--options", word});
    plan.steps.emplace_back(
        RunTool{std::string(next_deployment), std::move(command), std::string(by_bootc)});
    return {};
  }
  if (!find_program(system, "rpm-ostree")) {
    return fail(Errc::unsupported,
                fmt::format("'{}': an ostree system with neither rpm-ostree nor a bootc that has "
                            "'loader-entries set-options-for-source'; add '{}' with its own tool",
                            system.root(), word));
  }
  const auto kargs = rpm_ostree_kargs(system);
  if (!kargs) return fail(kargs.error());
  const auto judgement = cmdline::judge(*kargs, request.arch);
  if (cmdline::is_untranslated(judgement.mode)) return {};
  if (const auto contrary = cmdline::contradicts_passthrough(judgement);
      contrary && !request.force) {
    plan.conflict = Conflict{contrary->text, "", 0};
    return {};
  }
  plan.steps.emplace_back(RunTool{std::string(next_deployment),
                                  {"rpm-ostree", "kargs", "--append=" + word},
                                  std::string(by_rpm_ostree)});
  return {};
}

/// The exact word, if the deployment has it: the tool itself compares names only
/// (coreos/rpm-ostree#4718).
Result<> take_from_kargs(const System& system, Plan& plan) {
  const auto kargs = rpm_ostree_kargs(system);
  if (!kargs) return fail(kargs.error());
  for (const auto arch : arches_of_words(system)) {
    const std::string word(cmdline::passthrough_word(arch));
    if (!has_word(*kargs, word)) continue;
    plan.steps.emplace_back(
        RunTool{std::string(next_deployment), {"rpm-ostree", "kargs", "--delete=" + word}});
    return {};
  }
  return {};
}

}  // namespace

bool Ostree::detect(const System& system) const {
  return system.exists("/ostree/repo") ||
         (system.is_booted() && system.exists("/run/ostree-booted"));
}

Result<Inspection> Ostree::inspect(const System& system) const {
  auto inspection = inspect_boot_partitions(system);
  if (!inspection) return inspection;
  if (auto kept = keep_current(system, *inspection); !kept) return fail(kept.error());
  if (is_staged(system)) {
    inspection->unfollowed.push_back(
        fmt::format("{}: a staged deployment: its entry is written at shutdown, and what it boots "
                    "with isn't known before",
                    system.shown(staged_path)));
  }
  return inspection;
}

Result<Plan> Ostree::plan(const System& system, const Request& request) const {
  Plan plan;
  const auto inspection = inspect(system);
  if (!inspection) return fail(inspection.error());
  if (boots_untranslated(*inspection, request.arch).value_or(false)) return plan;
  if (!request.force) plan.conflict = conflict_in(*inspection, request.arch);
  if (plan.conflict) return plan;
  if (!system.is_booted()) {
    auto image = judge_image_kargs(system, request);
    if (!image) return fail(image.error());
    plan.conflict = std::move(image->conflict);
    if (plan.conflict) return plan;
    plan.deferred.push_back(
        elsewhere(system, cmdline::passthrough_word(request.arch), image->untranslated));
    return plan;
  }
  if (auto asked = ask(system, request, plan); !asked) return fail(asked.error());
  return plan;
}

Result<Plan> Ostree::plan_revert(const System& system) const {
  Plan plan;
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return plan;
  const bool bootc = (*ledger)->asked(by_bootc);
  const bool rpm_ostree = (*ledger)->asked(by_rpm_ostree);
  if (!bootc && !rpm_ostree) return plan;
  if (!system.is_booted()) {
    plan.deferred.push_back({"no deployment is changed now",
                             fmt::format("'{}' isn't the booted system", system.root()),
                             "'peerpath revert' on the booted host takes the word away"});
    return plan;
  }
  // Without options the source and what it had are dropped.
  if (bootc) plan.steps.emplace_back(RunTool{std::string(next_deployment), bootc_command()});
  if (rpm_ostree) {
    if (auto taken = take_from_kargs(system, plan); !taken) return fail(taken.error());
  }
  return plan;
}

}  // namespace peerpath::boot

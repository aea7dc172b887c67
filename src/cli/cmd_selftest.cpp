// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/commands.hpp"
#include "cli/gather.hpp"
#include "cli/progress.hpp"
#include "cli/run_selftest.hpp"
#include "cli/selftest_options.hpp"
#include "cli/settings.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

namespace peerpath::cli {
namespace {

void add_options(po::options_description& options) {
  options.add_options()("quick", "without the large sizes: about two seconds a pair")(
      "deep", "with a quarter of the GPUs' memory, too")(
      "gpu", po::value<std::vector<std::string>>()->value_name("BDF|UUID"),
      "test these GPUs only (repeatable)")(
      "loopback", "test each GPU with itself: proves nothing of the ways between GPUs")(
      "budget", po::value<std::string>()->value_name("SECONDS"), "how long it may take in all")(
      "max-size", po::value<std::string>()->value_name("BYTES"),
      "leave larger buffers out; with K, M or G behind the number")(
      "no-concurrent", "don't test several pairs at once")(
      "force", "also test pairs that took the host down earlier");
  add_json_option(options);
}

Result<SelftestChoice> choice_of(const Invocation& invocation) {
  if (invocation.flag("quick") && invocation.flag("deep")) {
    return fail(Errc::usage, "selftest: --quick and --deep exclude each other");
  }
  SelftestChoice choice;
  if (invocation.flag("quick")) choice.depth = gpu::Depth::quick;
  if (invocation.flag("deep")) choice.depth = gpu::Depth::deep;
  choice.loopback = invocation.flag("loopback");
  choice.concurrent = !invocation.flag("no-concurrent");
  choice.force = invocation.flag("force");
  for (const auto& name : invocation.list("gpu")) {
    const auto gpu = parse_gpu_name(name);
    if (!gpu) return fail(gpu.error());
    choice.only.push_back(*gpu);
  }
  const std::set<std::string> named(choice.only.begin(), choice.only.end());
  if (named.size() == 1 && !choice.loopback) {
    return fail(Errc::usage, "selftest: --gpu: a pair needs two GPUs, or --loopback");
  }
  const auto text = [&](const char* name) { return invocation.options[name].as<std::string>(); };
  if (invocation.flag("budget")) {
    const auto budget = parse_budget(text("budget"));
    if (!budget) return fail(Error(budget.error()).while_doing("--budget"));
    choice.budget = *budget;
  }
  if (invocation.flag("max-size")) {
    const auto size = parse_size(text("max-size"));
    if (!size) return fail(Error(size.error()).while_doing("--max-size"));
    choice.max_bytes = *size;
  }
  return choice;
}

/// A GPU that the user named and that isn't there is the user's to know of.
Result<> confirm_named(const gpu::SelftestReport& run) {
  if (run.not_found.empty()) return {};
  return fail(Errc::usage,
              fmt::format("selftest: '{}': no such GPU", printable(run.not_found.front())));
}

/// The settings' devices, and NVIDIA's GPUs in any case.
DeviceChoice devices_of(const Settings& settings) {
  auto patterns = Settings{}.match;
  patterns.insert(patterns.end(), settings.match.begin(), settings.match.end());
  return {{}, std::move(patterns), false};
}

std::optional<std::string> known(const Result<std::string>& value) {
  return value ? std::optional(*value) : std::nullopt;
}

Result<Answer> run(const Invocation& invocation) {
  auto choice = choice_of(invocation);
  if (!choice) return fail(choice.error());
  const auto system = System::open("/");
  if (!system) return fail(system.error());
  const auto settings = load_settings(**system);
  if (!settings) return fail(settings.error());
  const auto facts = gather_facts(**system, devices_of(*settings));
  if (!facts) return fail(facts.error());

  report::SelftestDocument document;
  {
    ProgressBar bar;
    choice->progress = [&](const gpu::Progress& progress) { bar.show(progress); };
    document.selftest = run_selftest(**system, *facts, *choice);
  }
  const auto& run = document.selftest.run;
  if (const auto there = confirm_named(run); !there) return fail(there.error());
  const auto status = exit_status_of(run);
  document.version = version();
  document.time = (*system)->now().tv_sec;
  document.release = known(facts->kernel.release);
  document.boot_id = known(facts->kernel.boot_id);
  document.exit_status = static_cast<int>(status);
  return Answer{invocation.flag("json")
                    ? report::selftest_json(document)
                    : report::selftest_text(document.selftest, text_style(invocation)),
                status};
}

}  // namespace

const Command cmd_selftest{
    .name = "selftest",
    .arguments = "",
    .summary = "move data between each two GPUs and have its owner compare it",
    .details =
        "Tests peer-to-peer copies, loads and stores, atomics and flags between each two GPUs in "
        "both directions, alone and at once, and measures bandwidth and latency. A GPU that hangs "
        "doesn't hold it up. GPUs on which programs compute are left out. A pair that took the "
        "host down at an earlier run isn't tested again without --force.",
    .add_options = add_options,
    .run = run,
};

}  // namespace peerpath::cli

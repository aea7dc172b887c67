// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/selftest_member.hpp"

#include <limits>

namespace peerpath::report {
namespace {

constexpr int most = std::numeric_limits<int>::max();
constexpr std::size_t most_gpus = 64;  // the words of the tests have six bits for each

std::optional<gpu::Nearness> nearness_named(std::string_view name) {
  using gpu::Nearness;
  for (const auto nearness :
       {Nearness::self, Nearness::nvlink, Nearness::one_switch, Nearness::several_switches,
        Nearness::host_bridge, Nearness::across_sockets}) {
    if (name_of(nearness) == name) return nearness;
  }
  return std::nullopt;
}

gpu::Gpu read_gpu(const JsonNode& node) {
  gpu::Gpu gpu;
  gpu.ordinal = node.at("ordinal").number(most);
  gpu.uuid = node.at("uuid").string();
  gpu.bdf = node.at("bdf").string();
  gpu.name = node.at("name").string();
  gpu.memory = node.at("memory").large_number();
  gpu.compute_capability = node.at("compute_capability").number(most);
  return gpu;
}

gpu::StagedResult read_result(const JsonNode& node) {
  gpu::StagedResult staged;
  staged.stage = node.at("stage").named(gpu::stage_named);
  auto& result = staged.result;
  result.test = node.at("test").named(gpu::test_named);
  result.bytes = node.at("bytes").large_number();
  result.reused = node.at("reused").boolean();
  result.outcome = node.at("outcome").named(gpu::outcome_named);
  result.signature = node.at("signature").named(gpu::signature_named);
  result.bad_words = node.at("bad_words").large_number();
  result.first_bad = node.at("first_bad").large_number();
  result.last_bad = node.at("last_bad").large_number();
  result.bad_pages = node.at("bad_pages").large_number();
  result.code = static_cast<unsigned>(node.at("code").number(most));
  result.bytes_per_second = node.at("bytes_per_second").real();
  result.nanoseconds = node.at("nanoseconds").real();
  result.detail = node.at("detail").string();
  return staged;
}

gpu::PairReport read_pair(const JsonNode& node, std::size_t gpus) {
  const auto index = [&](const char* key) {
    const auto number = node.at(key).large_number();
    if (number >= gpus) flaw(node.inner(key), "is no GPU's number");
    return static_cast<std::size_t>(number);
  };
  gpu::PairReport pair;
  pair.source = index("source");
  pair.destination = index("destination");
  pair.nearness = node.at("nearness").named(nearness_named);
  pair.verdict = node.at("verdict").named(gpu::verdict_named);
  pair.signature = node.at("signature").named(gpu::signature_named);
  const auto failed = node.at("failed_test");
  if (!failed.json.is_null()) pair.failed_test = failed.named(gpu::test_named);
  pair.reason = node.at("reason").string();
  pair.bytes_per_second = node.at("bytes_per_second").real_or_null();
  pair.staged_bytes_per_second = node.at("staged_bytes_per_second").real_or_null();
  pair.ceiling = node.at("ceiling").real();
  pair.nanoseconds = node.at("nanoseconds").real_or_null();
  for (const auto& result : node.at("results").elements())
    pair.results.push_back(read_result(result));
  return pair;
}

}  // namespace

Selftest read_selftest(const JsonNode& node) {
  Selftest selftest;
  auto& run = selftest.run;
  run.outcome = node.at("outcome").named(run_outcome_named);
  run.detail = node.at("detail").string();
  run.code = static_cast<unsigned>(node.at("code").number(most));
  run.loopback = node.at("loopback").boolean();
  run.depth = node.at("depth").named(depth_named);
  run.driver_version = node.at("driver_version").number(most);
  run.has_kernels = node.at("has_kernels").boolean();
  run.took = std::chrono::milliseconds(node.at("took_ms").number(most));
  for (const auto& gpu : node.at("gpus").elements())
    run.gpus.push_back(read_gpu(gpu));
  if (run.gpus.size() > most_gpus) flaw(node.inner("gpus"), "has more GPUs than a self-test takes");
  for (const auto& pair : node.at("pairs").elements()) {
    if (auto faults = pair.at("faults").strings(); !faults.empty()) {
      selftest.faults[run.pairs.size()] = std::move(faults);
    }
    run.pairs.push_back(read_pair(pair, run.gpus.size()));
  }
  run.not_tested = node.at("not_tested").strings();
  for (const auto& pid : node.at("left_behind").elements())
    run.left_behind.push_back(pid.number(most));
  selftest.notes = node.at("notes").strings();
  return selftest;
}

}  // namespace peerpath::report

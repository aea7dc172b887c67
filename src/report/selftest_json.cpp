// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json.hpp"
#include "report/selftest_member.hpp"
#include "report/timestamp.hpp"

namespace peerpath::report {
namespace {

Json json_of(const gpu::Gpu& gpu) {
  return {{"ordinal", gpu.ordinal}, {"uuid", gpu.uuid},
          {"bdf", gpu.bdf},         {"name", gpu.name},
          {"memory", gpu.memory},   {"compute_capability", gpu.compute_capability}};
}

Json json_of(const gpu::StagedResult& staged) {
  const auto& result = staged.result;
  Json json;
  json["stage"] = name_of(staged.stage);
  json["test"] = name_of(result.test);
  json["bytes"] = result.bytes;
  json["reused"] = result.reused;
  json["outcome"] = name_of(result.outcome);
  json["signature"] = name_of(result.signature);
  json["bad_words"] = result.bad_words;
  json["first_bad"] = result.first_bad;
  json["last_bad"] = result.last_bad;
  json["bad_pages"] = result.bad_pages;
  json["code"] = result.code;
  json["bytes_per_second"] = result.bytes_per_second;
  json["nanoseconds"] = result.nanoseconds;
  json["detail"] = result.detail;
  return json;
}

Json results_of(const gpu::PairReport& pair, Results which) {
  auto json = Json::array();
  if (which == Results::all) {
    for (const auto& staged : pair.results)
      json.push_back(json_of(staged));
    return json;
  }
  constexpr std::size_t most = 4;
  const auto* const deciding = deciding_result(pair);
  if (deciding != nullptr) json.push_back(json_of(*deciding));
  for (const auto& staged : pair.results) {
    const bool is_bad = staged.result.outcome != gpu::Outcome::passed;
    if (is_bad && &staged != deciding && json.size() < most) json.push_back(json_of(staged));
  }
  return json;
}

Json json_of(const gpu::PairReport& pair, Results which) {
  Json json;
  json["source"] = pair.source;
  json["destination"] = pair.destination;
  json["nearness"] = name_of(pair.nearness);
  json["verdict"] = name_of(pair.verdict);
  json["signature"] = name_of(pair.signature);
  json["failed_test"] = pair.failed_test ? Json(name_of(*pair.failed_test)) : Json(nullptr);
  json["reason"] = pair.reason;
  json["remedy"] = remedy_of(pair.verdict, pair.signature);
  json["bytes_per_second"] = or_null(pair.bytes_per_second);
  json["staged_bytes_per_second"] = or_null(pair.staged_bytes_per_second);
  json["ceiling"] = pair.ceiling;
  json["nanoseconds"] = or_null(pair.nanoseconds);
  json["results"] = results_of(pair, which);
  return json;
}

}  // namespace

Json selftest_member(const Selftest& selftest, Results which) {
  const auto& run = selftest.run;
  Json json;
  json["outcome"] = name_of(run.outcome);
  json["verdict"] = name_of(run.verdict());
  json["detail"] = run.detail;
  json["code"] = run.code;
  json["loopback"] = run.loopback;
  json["depth"] = name_of(run.depth);
  json["driver_version"] = run.driver_version;
  json["has_kernels"] = run.has_kernels;
  json["took_ms"] = run.took.count();
  json["gpus"] = Json::array();
  for (const auto& gpu : run.gpus)
    json["gpus"].push_back(json_of(gpu));
  json["pairs"] = Json::array();
  for (std::size_t i = 0; i < run.pairs.size(); ++i) {
    auto pair = json_of(run.pairs[i], which);
    const auto faults = selftest.faults.find(i);
    pair["faults"] = faults == selftest.faults.end() ? std::vector<std::string>() : faults->second;
    json["pairs"].push_back(std::move(pair));
  }
  json["not_tested"] = run.not_tested;
  json["left_behind"] = run.left_behind;
  json["notes"] = selftest.notes;
  return json;
}

std::string selftest_json(const SelftestDocument& what) {
  auto json = document("peerpath.selftest", what.version);
  json["exit_status"] = what.exit_status;
  json["time"] = format_time(what.time);
  json["kernel"] = {{"release", or_null(what.release)}, {"boot_id", or_null(what.boot_id)}};
  json.update(selftest_member(what.selftest, Results::all));
  return dump(json);
}

}  // namespace peerpath::report

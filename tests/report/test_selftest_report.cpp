// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/explain.hpp"
#include "report/journal.hpp"
#include "report/sample_report.hpp"
#include "report/sample_selftest.hpp"
#include "support/catch.hpp"
#include "support/json_schema.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace peerpath;
using namespace peerpath::report;
using gpu::Signature;
using gpu::Verdict;
using nlohmann::json;

namespace {

constexpr std::array all_verdicts{Verdict::corruption, Verdict::host_died,    Verdict::hang,
                                  Verdict::error,      Verdict::asymmetric,   Verdict::unsupported,
                                  Verdict::degraded,   Verdict::inconclusive, Verdict::passed};

SelftestDocument document_of(Selftest selftest) {
  SelftestDocument document;
  document.version = "0.1.0";
  document.time = 1785585600;
  document.boot_id = "0f2c2d8e-0000-4000-8000-2d3c5d6e7f80";
  document.exit_status = 3;
  document.selftest = std::move(selftest);
  return document;
}

std::string value(const JournalEntry& entry, const std::string& name) {
  std::string found;
  for (const auto& field : entry) {
    if (field.name == name) found += (found.empty() ? "" : "|") + field.value;
  }
  return found;
}

}  // namespace

TEST_CASE("verdicts of pairs: each → a record and a remedy, but none for passed") {
  for (const auto verdict : all_verdicts) {
    INFO(name_of(verdict));
    const bool passed = verdict == Verdict::passed;
    CHECK((find_record(record_id_of(verdict)) == nullptr) == passed);
    CHECK(remedy_of(verdict, Signature::none).empty() == passed);
    CHECK((severity_of(verdict) == check::Status::ok) == passed);
  }
}

TEST_CASE("remedy_of: signatures of corruption → their own words, or those of all others") {
  const auto common = remedy_of(Verdict::corruption, Signature::none);
  for (const auto signature : {Signature::mirror, Signature::few_bits, Signature::overrun,
                               Signature::lost_atomic, Signature::lost_flag}) {
    CHECK(remedy_of(Verdict::corruption, signature) != common);
  }
  CHECK(remedy_of(Verdict::corruption, Signature::zeros) == common);
  CHECK(remedy_of(Verdict::corruption, Signature::stale) == common);
}

TEST_CASE("deciding_result: a pair that failed → the result with its test and signature") {
  auto selftest = corrupt_selftest();
  auto& pair = pair_of(selftest, 0, 1);
  auto other = pair.results.back();
  other.result.signature = Signature::stale;
  pair.results.insert(pair.results.begin(), other);
  const auto* deciding = deciding_result(pair);
  REQUIRE(deciding != nullptr);
  CHECK(deciding->result.signature == Signature::zeros);
  CHECK(deciding_result(pair_of(selftest, 1, 0)) == nullptr);
}

TEST_CASE("selftest_json: reports of all kinds → as the schema describes them") {
  const auto schema = JsonSchema::shipped("selftest");
  Selftest none;
  none.run.outcome = gpu::RunOutcome::no_driver;
  for (const auto& selftest : {corrupt_selftest(), mixed_selftest(), passed_selftest(2), none}) {
    const auto flaws = schema.flaws(json::parse(selftest_json(document_of(selftest))));
    for (const auto& flaw : flaws)
      CHECK(flaw.empty());
  }
}

TEST_CASE("schema of selftest: each name that a report can have → in its list, and no other") {
  const auto defs = JsonSchema::shipped("selftest").json().at("$defs");
  const auto names = [](auto last) {
    std::vector<std::string> found;
    for (int i = 0; i <= static_cast<int>(last); ++i)
      found.emplace_back(name_of(static_cast<decltype(last)>(i)));
    return found;
  };
  CHECK(defs["test"]["enum"] == names(gpu::Test::staged_with_access));
  CHECK(defs["signature"]["enum"] == names(Signature::other));
  CHECK(defs["pair_verdict"]["enum"] == names(Verdict::passed));
  CHECK(defs["result"]["properties"]["outcome"]["enum"] == names(gpu::Outcome::not_run));
  CHECK(defs["result"]["properties"]["stage"]["enum"] == names(gpu::Stage::fan_out));
  CHECK(defs["pair"]["properties"]["nearness"]["enum"] == names(gpu::Nearness::across_sockets));
}

TEST_CASE("selftest_json: every result → is in it; schema and version come first") {
  const auto text = selftest_json(document_of(corrupt_selftest()));
  CHECK(text.starts_with("{\n  \"schema\": \"peerpath.selftest\",\n  \"schema_version\": 1,"));
  const auto document = json::parse(text);
  CHECK(document["verdict"] == "corruption");
  CHECK(document["exit_status"] == 3);
  CHECK(document["kernel"]["release"].is_null());
  REQUIRE(document["pairs"].size() == 2);
  const auto& pair = document["pairs"][0];
  CHECK(pair["results"].size() == 2);
  CHECK(pair["results"][1]["first_bad"] == 8);
  CHECK(pair["failed_test"] == "ce-write");
  CHECK(pair["faults"].size() == 1);
  CHECK_FALSE(pair["remedy"].get<std::string>().empty());
  CHECK(document["pairs"][1]["failed_test"].is_null());
}

TEST_CASE("to_json: a report with a self-test → as its schema describes it, bad results alone") {
  auto report = sample_report();
  report.selftest = std::make_shared<Selftest>(mixed_selftest());
  const auto document = json::parse(to_json(report));
  for (const auto& flaw : JsonSchema::shipped("report").flaws(document))
    CHECK(flaw.empty());
  CHECK(document["selftest"]["pairs"][0]["results"].size() == 1);
  CHECK(document["selftest"]["pairs"][3]["results"].empty());
}

TEST_CASE("parse_report: what to_json wrote of a self-test → the same text") {
  for (const auto& selftest : {corrupt_selftest(), mixed_selftest(), passed_selftest(16)}) {
    auto report = sample_report();
    report.selftest = std::make_shared<Selftest>(selftest);
    const auto parsed = parse_report(to_json(report), "report.json");
    REQUIRE(parsed);
    CHECK(to_text(*parsed) == to_text(report));
  }
}

TEST_CASE("parse_report: a self-test that isn't whole → says what is wrong") {
  auto report = sample_report();
  report.selftest = std::make_shared<Selftest>(corrupt_selftest());
  const auto good = json::parse(to_json(report));
  const auto error_of = [](const json& document) {
    const auto parsed = parse_report(document.dump(), "f");
    return parsed ? std::string("parsed") : parsed.error().message;
  };
  auto bad = good;
  bad["selftest"]["pairs"][0]["verdict"] = "splendid";
  CHECK(error_of(bad) ==
        "'f': selftest.pairs[0].verdict is 'splendid', which this peerpath doesn't know");
  bad = good;
  bad["selftest"]["pairs"][0]["source"] = 2;
  CHECK(error_of(bad) == "'f': selftest.pairs[0].source is no GPU's number");
  bad = good;
  bad["selftest"]["gpus"] = json::array();
  for (int i = 0; i < 65; ++i)
    bad["selftest"]["gpus"].push_back(good["selftest"]["gpus"][0]);
  CHECK(error_of(bad) == "'f': selftest.gpus has more GPUs than a self-test takes");
  bad = good;
  bad["selftest"].erase("notes");
  CHECK(error_of(bad) == "'f': selftest.notes is missing");
}

TEST_CASE("pair_entries: pairs that didn't pass → an entry each with what is known in fields") {
  const auto entries = pair_entries(corrupt_selftest(), "0.1.0");
  REQUIRE(entries.size() == 1);
  const auto& entry = entries[0];
  CHECK(value(entry, "MESSAGE_ID") == find_record("p2p.corruption")->message_id);
  CHECK(value(entry, "PRIORITY") == "3");
  CHECK(value(entry, "MESSAGE") ==
        "corruption: 0000:1b:00.0 -> 0000:1c:00.0 in ce-write: zeros: zeros instead of data at the "
        "owner");
  CHECK(value(entry, "PEERPATH_CHECK") == "p2p.corruption");
  CHECK(value(entry, "PEERPATH_VERDICT") == "corruption");
  CHECK(value(entry, "PEERPATH_SRC") == "0000:1b:00.0");
  CHECK(value(entry, "PEERPATH_DST") == "0000:1c:00.0");
  CHECK(value(entry, "PEERPATH_SRC_UUID") == "GPU-00000000-0000-4000-8000-2d3c5d6e7f80");
  CHECK(value(entry, "PEERPATH_TEST") == "ce-write");
  CHECK(value(entry, "PEERPATH_SIGNATURE") == "zeros");
  CHECK(value(entry, "PEERPATH_SIZE") == "65536");
  CHECK(value(entry, "PEERPATH_OFFSET") == "8");
  CHECK(value(entry, "PEERPATH_REMEDY") == remedy_of(Verdict::corruption, Signature::zeros));
  CHECK(value(entry, "PEERPATH_KERNEL_LOG").find("DMAR") != std::string::npos);
  CHECK(value(entry, "PEERPATH_VERSION") == "0.1.0");
}

TEST_CASE("pair_entries: every verdict → the class' MESSAGE_ID, none for those that passed") {
  const auto selftest = mixed_selftest();
  const auto entries = pair_entries(selftest, "0.1.0");
  CHECK(entries.size() == 9);
  for (const auto& entry : entries) {
    INFO(value(entry, "MESSAGE"));
    CHECK(value(entry, "MESSAGE_ID") == find_record(value(entry, "PEERPATH_CHECK"))->message_id);
  }
  CHECK(pair_entries(passed_selftest(4), "0.1.0").empty());
}

TEST_CASE("journal_entries: a report with a self-test → pairs between findings and summary") {
  auto report = sample_report();
  report.selftest = std::make_shared<Selftest>(corrupt_selftest());
  const auto entries = journal_entries(report);
  REQUIRE(entries.size() == report.findings.size() + 2);
  CHECK(value(entries[entries.size() - 2], "PEERPATH_CHECK") == "p2p.corruption");
  CHECK(value(entries.back(), "PEERPATH_CHECK") == "peerpath.boot-check");
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/sample_report.hpp"
#include "report/verify_report.hpp"
#include "support/catch.hpp"
#include "support/json_schema.hpp"

#include <nlohmann/json.hpp>

#include <functional>

using namespace peerpath;
using namespace peerpath::report;
using nlohmann::json;

namespace {

/// The error of reading the sample after one change.
std::string error_after(const std::function<void(json&)>& change) {
  auto document = json::parse(to_json(sample_report()));
  change(document);
  const auto read = parse_report(document.dump(), "report.json");
  return read ? "no error" : read.error().text();
}

}  // namespace

TEST_CASE("to_json: a report → its document begins with schema and schema_version") {
  const auto text = to_json(sample_report());
  CHECK(text.rfind("{\n  \"schema\": \"peerpath.report\",\n  \"schema_version\": 1,\n", 0) == 0);
  CHECK(text.back() == '\n');
}

TEST_CASE("to_json: a report → every value in its place") {
  const auto document = json::parse(to_json(sample_report()));
  CHECK(document["version"] == "0.1.0");
  CHECK(document["verdict"] == "fail");
  CHECK(document["exit_status"] == 3);
  CHECK(document["time"] == "2026-08-01T12:00:00Z");
  CHECK(document["kernel"]["release"] == "6.1.0-35-amd64");
  CHECK(document["kernel"]["machine"] == "x86_64");
  CHECK(document["kernel"]["boot_id"] == "0f2c2d8e-0000-4000-8000-2d3c5d6e7f80");
  CHECK(document["kernel"]["command_line"] == "BOOT_IMAGE=/vmlinuz root=/dev/sda1 iommu=nopt");
  CHECK(document["note"] == "this version has no test of the pairs");
  REQUIRE(document["topology"].size() == 6);
  CHECK(document["topology"][0]["parent"].is_null());
  CHECK(document["topology"][0]["iommu"].is_null());
  CHECK(document["topology"][0]["acs"].is_null());
  CHECK(document["topology"][0]["link"].is_null());
  CHECK(document["topology"][0]["numa_node"].is_null());
  CHECK(document["topology"][4]["acs"] == json::parse(R"({"known": true,
      "redirects": ["ReqRedir", "CmpltRedir"], "detail": "ACSCtl"})"));
  CHECK(document["topology"][5] == json::parse(R"({"bdf": "0000:3e:00.0",
      "host_bridge": "pci0000:3a", "parent": "0000:3c:01.0", "kind": "endpoint",
      "name": "NVIDIA Corporation GH100 [H100 SXM5 80GB]", "numa_node": 0,
      "iommu": {"mode": "translated", "detail": "DMA-FQ"}, "acs": null,
      "link": {"speed": 2.5, "width": 8, "max_speed": 32.0, "max_width": 16}})"));
  REQUIRE(document["findings"].size() == 6);
  const auto& finding = document["findings"][2];
  CHECK(finding["id"] == "iommu.group-type");
  CHECK(finding["title"].get<std::string>() != "iommu.group-type");
  CHECK(finding["status"] == "fail");
  CHECK(finding["device"] == "0000:3b:00.0");
  CHECK(finding["evidence"] == json::parse(R"([{"source": "/sys/kernel/iommu_groups/15/type",
      "observed": "DMA-FQ", "expected": "identity"}])"));
  CHECK(finding["cause"] == "the kernel translates the device's DMA");
  CHECK(finding["remedy"] == "run 'peerpath ensure' and reboot");
  CHECK_FALSE(document["findings"][0].contains("device"));
  CHECK(document["findings"][1]["status"] == "not-applicable");
}

TEST_CASE("to_json: reports of both kinds, full and empty → as their schemas say") {
  VerifyReport empty;
  auto full = sample_report();
  CHECK(JsonSchema::shipped("report").flaws(json::parse(to_json(full))).empty());
  CHECK_FALSE(JsonSchema::shipped("verify").flaws(json::parse(to_json(full))).empty());
  full.kind = VerifyReport::Kind::verify;
  CHECK(JsonSchema::shipped("verify").flaws(json::parse(to_json(full))).empty());
  CHECK(JsonSchema::shipped("verify").flaws(json::parse(to_json(empty))).empty());
}

TEST_CASE("schemas of verify and report → differ in name, description and the self-test alone") {
  auto verify = JsonSchema::shipped("verify").json();
  auto report = JsonSchema::shipped("report").json();
  for (auto* schema : {&verify, &report}) {
    schema->erase("title");
    schema->erase("description");
    (*schema)["properties"].erase("schema");
  }
  report["properties"].erase("selftest");
  for (const char* part : {"gpu", "pair", "result", "test", "signature", "pair_verdict"})
    report["$defs"].erase(part);
  CHECK(verify == report);
}

TEST_CASE("schemas of selftest and report → describe the self-test alike but for the results") {
  const auto selftest = JsonSchema::shipped("selftest").json();
  const auto report = JsonSchema::shipped("report").json();
  for (auto [name, part] : report["properties"]["selftest"]["properties"].items()) {
    INFO(name);
    CHECK(selftest["properties"][name] == part);
  }
  for (auto [name, part] : selftest["$defs"].items()) {
    INFO(name);
    auto other = report["$defs"][name];
    if (name == "pair") other["properties"]["results"] = part["properties"]["results"];
    CHECK(other == part);
  }
}

TEST_CASE("to_json: bytes that are not UTF-8 → replaced, never an exception") {
  auto report = sample_report();
  report.command_line = "a=\xff\xfe b=\xc3";
  report.findings[0].evidence[0].observed = std::string("\0\x80", 2);
  const auto document = json::parse(to_json(report));
  CHECK(document["kernel"]["command_line"] == "a=\xef\xbf\xbd\xef\xbf\xbd b=\xef\xbf\xbd");
}

TEST_CASE("parse_report: what to_json wrote → the same report") {
  for (const auto& report : {sample_report(), VerifyReport{}}) {
    const auto text = to_json(report);
    const auto read = parse_report(text, "report.json");
    REQUIRE(read.has_value());
    CHECK(to_json(*read) == text);
    CHECK(read->findings.size() == report.findings.size());
    CHECK(read->topology.size() == report.topology.size());
    CHECK(read->release == report.release);
    CHECK(read->time == report.time);
  }
}

TEST_CASE("parse_report: a document cut short anywhere → an error that names the file") {
  const auto text = to_json(sample_report());
  // The last two bytes are the closing brace and the line end.
  for (std::size_t length = 0; length + 2 <= text.size() - 1; ++length) {
    const auto read = parse_report(text.substr(0, length), "/run/report.json");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == Errc::malformed);
    REQUIRE(read.error().message.rfind("'/run/report.json': ", 0) == 0);
  }
  CHECK(parse_report(text.substr(0, text.size() / 2), "f").error().message ==
        "'f': is cut short: the JSON ends too early");
}

TEST_CASE("parse_report: what is no JSON → says so") {
  const auto error = [](std::string_view text) { return parse_report(text, "f").error().message; };
  CHECK(error("") == "'f': is empty");
  CHECK(error(" \n") == "'f': is empty");
  CHECK(error(std::string_view("\x7f"
                               "ELF\0\1",
                               6)) == "'f': holds binary data, not JSON");
  CHECK(error("verdict: ok") == "'f': is not JSON, from byte 1 on");
  CHECK(error("{\"schema\": \"\xff\"}") == "'f': is not JSON, from byte 13 on");
  CHECK(error("{\"schema\": 1e999}") == "'f': holds a number that is out of range");
  CHECK(error(std::string(100'000, '[')) == "'f': is cut short: the JSON ends too early");
}

TEST_CASE("parse_report: another document → says what it is") {
  const auto error = [](std::string_view text) { return parse_report(text, "f").error().message; };
  CHECK(error("[]") == "'f': the document is not an object");
  CHECK(error("7") == "'f': the document is not an object");
  CHECK(error("{}") == "'f': schema is missing");
  CHECK(error(R"({"schema": "peerpath.boot"})") ==
        "'f': schema is 'peerpath.boot', which is no report of peerpath's");
}

TEST_CASE("parse_report: a newer schema version → unsupported") {
  auto document = json::parse(to_json(sample_report()));
  document["schema_version"] = 2;
  const auto read = parse_report(document.dump(), "f");
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == Errc::unsupported);
  CHECK(read.error().message == "'f': has schema_version 2, and this peerpath reads 1");
}

TEST_CASE("parse_report: a report without a topology, as 0.1.0 wrote it → an empty one") {
  auto document = json::parse(to_json(sample_report()));
  document.erase("topology");
  CHECK(JsonSchema::shipped("report").flaws(document).empty());
  const auto read = parse_report(document.dump(), "f");
  REQUIRE(read.has_value());
  CHECK(read->topology.empty());
  CHECK(read->findings.size() == 6);
}

TEST_CASE("parse_report: a wrong topology → an error with its place") {
  const auto error = [](const std::function<void(json&)>& change) {
    return error_after([&](json& document) { change(document["topology"]); });
  };
  CHECK(error([](json& t) { t = "x"; }) == "'report.json': topology is not an array");
  CHECK(error([](json& t) { t[0].erase("kind"); }) == "'report.json': topology[0].kind is missing");
  CHECK(error([](json& t) { t[2]["parent"] = "0000:ff:00.0"; }) ==
        "'report.json': topology[2].parent is no earlier node");
  CHECK(error([](json& t) { t[0]["parent"] = t[5]["bdf"]; }) ==
        "'report.json': topology[0].parent is no earlier node");
  CHECK(error([](json& t) { t[0]["parent"] = t[0]["bdf"]; }) ==
        "'report.json': topology[0].parent is no earlier node");
  CHECK(error([](json& t) { t[3]["bdf"] = t[0]["bdf"]; }) ==
        "'report.json': topology[3].bdf is there twice");
  CHECK(error([](json& t) { t[3]["iommu"]["mode"] = "good\033"; }) ==
        "'report.json': topology[3].iommu.mode is 'good\\x1b', which is no mode");
  CHECK(error([](json& t) { t[2]["acs"]["known"] = 1; }) ==
        "'report.json': topology[2].acs.known is not true or false");
  CHECK(error([](json& t) { t[3]["link"]["speed"] = "fast"; }) ==
        "'report.json': topology[3].link.speed is not a number from 0 up");
  CHECK(error([](json& t) { t[3]["link"]["speed"] = -1; }) ==
        "'report.json': topology[3].link.speed is not a number from 0 up");
  CHECK(error([](json& t) { t[3]["numa_node"] = -1; }) ==
        "'report.json': topology[3].numa_node is not an integer from 0 to 2147483647");
  CHECK(error([](json& t) {
          for (int i = 0; i < 300; ++i) {
            auto node = t[0];
            node["bdf"] = std::to_string(i);
            node["parent"] = t.back()["bdf"];
            t.push_back(node);
          }
        }) == "'report.json': topology[259] is deeper than PCI goes");
}

TEST_CASE("to_json: each IOMMU mode → a name that the schema knows and that's read back") {
  for (const auto& [mode, name] : iommu_modes) {
    auto report = sample_report();
    report.topology[3].iommu->mode = mode;
    const auto text = to_json(report);
    CHECK(json::parse(text)["topology"][3]["iommu"]["mode"] == name);
    CHECK(JsonSchema::shipped("report").flaws(json::parse(text)).empty());
    CHECK(parse_report(text, "f")->topology[3].iommu->mode == mode);
  }
}

TEST_CASE("parse_report: a wrong value → an error with its place") {
  CHECK(error_after([](json&) {}) == "no error");
  CHECK(error_after([](json& j) { j["verdict"] = "good"; }) ==
        "'report.json': verdict is 'good', which is no status");
  CHECK(error_after([](json& j) { j["verdict"] = "\033[2J"; }) ==
        "'report.json': verdict is '\\x1b[2J', which is no status");
  CHECK(error_after([](json& j) { j["exit_status"] = -1; }) ==
        "'report.json': exit_status is not an integer from 0 to 255");
  CHECK(error_after([](json& j) { j["exit_status"] = 256; }) ==
        "'report.json': exit_status is not an integer from 0 to 255");
  CHECK(error_after([](json& j) { j["exit_status"] = 0.5; }) ==
        "'report.json': exit_status is not an integer from 0 to 255");
  CHECK(error_after([](json& j) { j["time"] = "2026-02-31T12:00:00Z"; }) ==
        "'report.json': time is not a time like 2026-08-01T12:00:00Z");
  CHECK(error_after([](json& j) { j["kernel"] = json::array(); }) ==
        "'report.json': kernel is not an object");
  CHECK(error_after([](json& j) { j["kernel"].erase("release"); }) ==
        "'report.json': kernel.release is missing");
  CHECK(error_after([](json& j) { j["kernel"]["boot_id"] = 1; }) ==
        "'report.json': kernel.boot_id is not a string");
  CHECK(error_after([](json& j) { j["findings"] = json::object(); }) ==
        "'report.json': findings is not an array");
  CHECK(error_after([](json& j) { j["findings"][2]["status"] = 3; }) ==
        "'report.json': findings[2].status is not a string");
  CHECK(error_after([](json& j) { j["findings"][0] = "x"; }) ==
        "'report.json': findings[0] is not an object");
  CHECK(error_after([](json& j) { j["findings"][1]["device"] = nullptr; }) ==
        "'report.json': findings[1].device is not a string");
  CHECK(error_after([](json& j) { j["findings"][4]["evidence"][0].erase("source"); }) ==
        "'report.json': findings[4].evidence[0].source is missing");
}

TEST_CASE("parse_report: an object of very many members → read in reasonable time") {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i)
    text += "\"k" + std::to_string(i) + "\":0,";
  text += "\"schema\":\"x\"}";
  CHECK(parse_report(text, "f").error().message ==
        "'f': schema is 'x', which is no report of peerpath's");
}

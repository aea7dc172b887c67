// SPDX-License-Identifier: GPL-2.0-or-later
// `peerpath verify --lspci`: what a dump tells, and never more.
#include "check/record.hpp"
#include "cli/application.hpp"
#include "cli/gather_dump.hpp"
#include "probe/lspci_text.hpp"
#include "support/catch.hpp"
#include "support/json_schema.hpp"
#include "support/temp_root.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>

using namespace peerpath;
using check::Status;
using test::ConfigSpace;
using test::dumped_gpu;
using test::lspci_text;
using test::switch_dump;
using test::TempRoot;
using test::without;

namespace {

struct Ran {
  int status;
  std::string out;
  std::string err;

  [[nodiscard]] bool says(std::string_view text) const {
    return (out + err).find(text) != std::string::npos;
  }
};

Ran run(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = cli::run_application(arguments, out, err, false);
  return {status, out.str(), err.str()};
}

/// Runs `verify --lspci` on this text. The devices are named: this machine's settings don't count.
Ran verify(const std::string& text, std::vector<std::string> more = {}) {
  TempRoot root;
  root.file("/dump.txt", text);
  more.insert(more.begin(), {"verify", "--lspci", root.outside("dump.txt"), "--match", "10de:*"});
  return run(more);
}

nlohmann::json findings(const std::string& text, const std::string& id) {
  const auto ran = verify(text, {"--json"});
  INFO(ran.out << ran.err);
  const auto document = nlohmann::json::parse(ran.out);
  auto found = nlohmann::json::array();
  for (const auto& finding : document.at("findings")) {
    if (finding.at("id") == id) found.push_back(finding);
  }
  return found;
}

nlohmann::json acs_finding(const std::string& text) {
  const auto found = findings(text, "pcie.acs-redirect");
  REQUIRE(found.size() == 1);
  return found[0];
}

/// Each function's bytes beyond this size left out.
std::string cut(const std::string& dump, const std::string& first_line_left_out) {
  std::istringstream lines(dump);
  std::string text;
  std::string line;
  bool leave_out = false;
  while (std::getline(lines, line)) {
    if (line.starts_with(first_line_left_out + ":")) leave_out = true;
    if (line.empty()) leave_out = false;
    if (!leave_out) text += line + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("verify --lspci: a switch that redirects → fail naming its downstream ports") {
  const auto ran = verify(switch_dump(0x1d, 0x1d));
  INFO(ran.out << ran.err);
  CHECK(ran.status == 3);
  CHECK(ran.says("pci=disable_acs_redir=0000:02:08.0;0000:02:10.0"));
  CHECK(ran.says("only PCI Express was judged, from /"));
  // The tree, as for a running machine.
  CHECK(ran.says("0000:02:08.0  switch downstream port  ACS redirect: ReqRedir CmpltRedir"));
  CHECK(ran.says("IOMMU mode unknown"));
}

TEST_CASE("verify --lspci: a switch that doesn't redirect → ok, from the file, never from sysfs") {
  const auto ran = verify(switch_dump(0x01, 0x51), {"--verbose"});
  INFO(ran.out << ran.err);
  CHECK(ran.status == 0);
  CHECK(ran.says("dump.txt: 0000:03:00.0: 32 GT/s x16 now"));
  CHECK_FALSE(ran.says("/sys/"));
  CHECK_FALSE(ran.says("iommu.group-type"));
}

TEST_CASE("verify --lspci: the document → by the schema, with the note") {
  const auto document = nlohmann::json::parse(verify(switch_dump(0x1d, 0x01), {"--json"}).out);
  CHECK(JsonSchema::shipped("verify").flaws(document).empty());
  CHECK(document.at("note").get<std::string>().starts_with("only PCI Express was judged, from /"));
  CHECK(document.at("topology").size() == 6);
  CHECK(document.at("kernel").at("release").is_null());
}

TEST_CASE("verify --lspci: 256 or 64 bytes of each → unknown, and how to dump it") {
  const auto dump = switch_dump(0x01, 0x01);
  for (const auto* from : {"100", "40"}) {
    INFO(from);
    const auto finding = acs_finding(cut(dump, from));
    CHECK(finding.at("status") == "unknown");
    CHECK(finding.at("remedy").get<std::string>().find("lspci -xxxx") != std::string::npos);
    CHECK(verify(cut(dump, from)).status == 4);
  }
}

TEST_CASE("verify --lspci: any bridge of the path missing → unknown unless it's above the common") {
  const auto dump = switch_dump(0x01, 0x01);
  for (const auto* missing : {"01:00.0", "02:08.0", "02:10.0"}) {
    INFO(missing);
    const auto finding = acs_finding(without(dump, missing));
    CHECK(finding.at("status") == "unknown");
    CHECK(finding.dump().find("isn't in the dump") != std::string::npos);
  }
  CHECK(acs_finding(without(dump, "00:01.0")).at("status") == "ok");
  CHECK(acs_finding(without(switch_dump(0x01, 0x1d), "00:01.0")).at("status") == "fail");
}

TEST_CASE("verify --lspci: two root ports on bus 0 → ok by the root complex") {
  const auto port = [](unsigned bus) { return ConfigSpace().express(4).bridge(0, bus, bus); };
  const auto dump = lspci_text("00:01.0", port(3).acs(0x0f, 0x1d).bytes()) +
                    lspci_text("00:02.0", port(4).acs(0x0f, 0x1d).bytes()) +
                    lspci_text("03:00.0", dumped_gpu().bytes()) +
                    lspci_text("04:00.0", dumped_gpu().bytes());
  const auto finding = acs_finding(dump);
  CHECK(finding.at("status") == "ok");
  CHECK(finding.dump().find("root complex") != std::string::npos);
}

TEST_CASE("verify --lspci: fewer lanes than both ends have → warn; a GPU that's gone → unknown") {
  const auto narrow =
      switch_dump(0x01, 0x01) +
      lspci_text("00:02.0", ConfigSpace().express(4).link(5, 16, 5, 8).bridge(0, 5, 5).bytes()) +
      lspci_text("05:00.0", dumped_gpu().link(5, 16, 5, 8).bytes());
  CHECK(findings(narrow, "pcie.link")[2].at("status") == "warn");
  const auto gone = switch_dump(0x01, 0x01) + lspci_text("05:00.0", std::string(4096, '\xff'));
  CHECK(findings(gone, "pcie.link")[2].at("status") == "unknown");
  CHECK(verify(gone).status == 4);
}

TEST_CASE("verify --lspci: --device and --match → those of the dump; none → not applicable") {
  const auto dump = switch_dump(0x1d, 0x01);
  CHECK(verify(dump, {"--device", "03:00.0"}).status == 0);
  CHECK(verify(dump, {"--device", "03:00.0", "--device", "04:00.0"}).status == 3);
  const auto missing = verify(dump, {"--device", "09:00.0"});
  CHECK(missing.status == 1);
  CHECK(missing.says("dump.txt': '0000:09:00.0': no such PCI function in the dump"));
  CHECK(verify(dump, {"--device", "zz"}).status == 2);
  CHECK(verify(dump, {"--match", "zz"}).status == 2);
  TempRoot root;
  root.file("/dump.txt", dump);
  CHECK(run({"verify", "--lspci", root.outside("dump.txt"), "--match", "1234:*"}).status == 77);
}

TEST_CASE("verify --lspci: with --root or --rdma-nics → wrong usage") {
  CHECK(run({"verify", "--lspci", "x", "--root", "/"}).status == 2);
  CHECK(run({"verify", "--lspci", "x", "--rdma-nics"}).says("--rdma-nics"));
  CHECK(run({"verify", "--lspci"}).status == 2);
}

TEST_CASE("verify --lspci: a file that's none, empty or something else → an error with the line") {
  CHECK(run({"verify", "--lspci", "/nowhere/dump.txt"}).says("'/nowhere/dump.txt': no such file"));
  CHECK(verify("").status == 1);
  CHECK(verify("").says("dump.txt': no function's configuration space is in it"));
  CHECK(verify(switch_dump(0, 0) + "garbage\n").says("dump.txt': line 1549: neither"));
}

TEST_CASE("verify --lspci: a relative name → from the working directory") {
  TempRoot root;
  root.file("/dump.txt", switch_dump(0x01, 0x01));
  const auto relative = std::filesystem::relative(root.outside("dump.txt")).string();
  REQUIRE_FALSE(relative.starts_with('/'));
  CHECK(run({"verify", "--lspci", relative, "--match", "10de:*"}).status == 0);
}

TEST_CASE("gather_dump_facts: every check run on a dump → only those of PCI Express say ok") {
  TempRoot root;
  root.file("/dump.txt", switch_dump(0x01, 0x01));
  const auto facts =
      cli::gather_dump_facts(root.system(), "/dump.txt", {.addresses = {}, .patterns = {"10de:*"}});
  REQUIRE(facts.has_value());
  CHECK(facts->devices->size() == 2);
  for (const auto& finding : cli::run_checks(*facts)) {
    INFO(finding.id << ": " << finding.cause);
    const bool is_told = finding.id == "pcie.acs-redirect" || finding.id == "pcie.link";
    if (is_told) {
      CHECK(finding.status == Status::ok);
    } else {
      CHECK((finding.status == Status::unknown || finding.status == Status::not_applicable));
    }
  }
}

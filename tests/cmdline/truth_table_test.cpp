// SPDX-License-Identifier: GPL-2.0-or-later
// Reads truth_table.tsv and holds the judge and the predictor to it.
#include "base/text.hpp"
#include "cmdline/predict.hpp"
#include "support/catch.hpp"

#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace peerpath;
using namespace peerpath::cmdline;

namespace {

struct Row {
  int number = 0;
  Arch arch = Arch::x86_64;
  std::string iommu;
  std::string config;
  bool intel_default_on = false;
  std::optional<KernelVersion> version;
  std::string command_line;
  std::string mode;
  std::string log;
  std::string type;
  bool reaches_beyond = false;
};

Row parse_row(std::string_view line) {
  const auto fields = split(line, '\t');
  if (fields.size() != 13) throw std::runtime_error("not 13 fields: " + std::string(line));
  const auto text = [&](std::size_t field) { return std::string(fields[field]); };
  Row row;
  row.number = std::stoi(text(0));
  row.arch = arch_of(fields[2]);
  row.iommu = text(3);
  row.config = text(4);
  row.intel_default_on = fields[5] == "y";
  row.version = kernel_version(fields[6]);
  if (fields[7] != "(empty)") row.command_line = text(7);
  row.mode = text(8);
  row.log = text(9);
  row.type = text(10);
  if (fields[11] != "all" && fields[11] != "beyond") {
    throw std::runtime_error("no such scope: " + text(11));
  }
  row.reaches_beyond = fields[11] == "beyond";
  return row;
}

std::vector<Row> read_table() {
  std::ifstream file(PEERPATH_TESTS_DIR "/cmdline/truth_table.tsv");
  if (!file) throw std::runtime_error("can't read truth_table.tsv");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) rows.push_back(parse_row(line));
  }
  return rows;
}

Vendor vendor_of(const Row& row) {
  if (row.iommu == "intel") return Vendor::intel;
  return row.iommu == "amd" ? Vendor::amd : Vendor::unknown;
}

Platform platform_of(const Row& row) {
  Platform platform;
  if (row.iommu == "intel") platform.iommu = IommuKind::intel;
  if (row.iommu == "amd") platform.iommu = IommuKind::amd;
  if (row.iommu == "smmu") platform.iommu = IommuKind::smmu;
  if (row.config == "S") platform.default_domain = DefaultDomain::strict;
  if (row.config == "P") platform.default_domain = DefaultDomain::passthrough;
  platform.intel_default_on = row.intel_default_on;
  platform.version = row.version;
  return platform;
}

std::string text_of(const std::optional<DefaultLine>& line) {
  if (!line) return "none";
  const std::string type = line->passthrough ? "Passthrough" : "Translated";
  return line->by_command_line ? type + " c" : type;
}

Judgement judge_row(const Row& row) {
  return judge(row.command_line, row.arch, row.version, vendor_of(row));
}

}  // namespace

TEST_CASE("truth table: the file → has every row of the facts") {
  const std::set<int> expected = {1,  2,  3,  4,  5,  6,  7,  8,  10, 11, 12, 14, 15, 16, 18, 19,
                                  21, 23, 24, 26, 27, 28, 30, 31, 32, 34, 35, 38, 39, 40, 41, 43,
                                  44, 46, 47, 48, 50, 53, 54, 56, 58, 59, 60, 62, 64, 65, 66, 68};
  std::set<int> found;
  int lines = 0;
  int beyond = 0;
  for (const auto& row : read_table()) {
    found.insert(row.number);
    ++lines;
    if (row.reaches_beyond) ++beyond;
  }
  CHECK(found == expected);
  CHECK(found.size() == 48);
  CHECK(lines == 55);
  CHECK(beyond == 12);
}

TEST_CASE("truth table: each command line → the mode, and whether it was asked for") {
  for (const auto& row : read_table()) {
    CAPTURE(row.number, row.command_line);
    const auto judgement = judge_row(row);
    CHECK(name_of(judgement.mode) == row.mode);
    if (row.log != "none") {
      CHECK(judgement.switches.passthrough.has_value() == row.log.ends_with(" c"));
    }
  }
}

TEST_CASE("truth table: rows that command line, build and version decide → log line and type") {
  for (const auto& row : read_table()) {
    if (row.reaches_beyond) continue;
    CAPTURE(row.number, row.command_line);
    const auto prediction = predict(judge_row(row), platform_of(row));
    CHECK(text_of(prediction.line) == row.log);
    CHECK(name_of(prediction.type) == row.type);
  }
}

TEST_CASE("truth table: the same with 5.10 → DMA wherever it says DMA-FQ") {
  int seen = 0;
  for (auto row : read_table()) {
    if (row.reaches_beyond || row.version || row.type != "DMA-FQ") continue;
    CAPTURE(row.number, row.command_line);
    row.version = KernelVersion{5, 10};
    CHECK(predict(judge_row(row), platform_of(row)).type == GroupType::dma);
    ++seen;
  }
  CHECK(seen == 14);
}

TEST_CASE("truth table: with the vendor unknown → never untranslated where it translates") {
  for (const auto& row : read_table()) {
    CAPTURE(row.number, row.command_line);
    const auto known = judge_row(row).mode;
    const auto unknown = judge(row.command_line, row.arch, row.version).mode;
    if (is_untranslated(unknown)) CHECK(is_untranslated(known));
  }
}

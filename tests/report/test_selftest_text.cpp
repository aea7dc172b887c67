// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "report/layout.hpp"
#include "report/sample_selftest.hpp"
#include "support/catch.hpp"

#include <cstdlib>
#include <fstream>

using namespace peerpath;
using namespace peerpath::report;

namespace {

/// Compares with the file; PEERPATH_UPDATE_GOLDEN=1 writes it anew.
void check_golden(const std::string& name, const std::string& text) {
  const auto path = std::string(PEERPATH_TESTS_DIR) + "/report/golden/" + name;
  if (std::getenv("PEERPATH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  CHECK(text == expected);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("selftest_text: two GPUs, one way corrupt → matrices, the pair with all that is known") {
  check_golden("selftest-2-corrupt.txt", selftest_text(corrupt_selftest(), {}));
}

TEST_CASE("selftest_text: sixteen GPUs with every verdict → as the golden text, in 80 columns") {
  const auto text = selftest_text(mixed_selftest(), {});
  check_golden("selftest-16-mixed.txt", text);
  for (const auto line : lines(text)) {
    INFO(line);
    CHECK(columns(line) <= 80);
  }
}

TEST_CASE("selftest_text: sixteen GPUs that passed → nothing below but what wasn't tested") {
  const auto text = selftest_text(passed_selftest(16), {});
  CHECK(has(text, "Self-test: passed\n  240 passed\n"));
  CHECK_FALSE(has(text, "Remedy"));
  CHECK(has(text, "Not tested:\n  buffers of more than 2 MiB\n"));
}

TEST_CASE("selftest_text: colours are wanted → by verdict; and none where they aren't") {
  const auto selftest = corrupt_selftest();
  CHECK_FALSE(has(selftest_text(selftest, {}), "\033["));
  const auto text = selftest_text(selftest, {.colour = true});
  CHECK(has(text, "\033[1;31mBAD\033[0m"));
  CHECK(has(text, "\033[1;32mok\033[0m"));
  CHECK(has(text, "Self-test: \033[1;31mcorruption\033[0m"));
}

TEST_CASE("selftest_text: a loopback → the diagonal, and that it proves nothing") {
  auto selftest = passed_selftest(2);
  selftest.run.loopback = true;
  selftest.run.pairs.resize(1);
  selftest.run.pairs[0].destination = 0;
  const auto text = selftest_text(selftest, {});
  CHECK(has(text, "proves nothing of the ways between GPUs"));
  CHECK(has(text, "Verdict, row to column\n     0  1\n  0 ok  .\n  1  .  .\n"));
}

TEST_CASE("selftest_text: nothing could be tested → why") {
  Selftest selftest;
  selftest.run.outcome = gpu::RunOutcome::no_driver;
  selftest.run.detail = "libcuda.so.1: no such file";
  CHECK(selftest_text(selftest, {}) == "Self-test: no-driver\n  libcuda.so.1: no such file\n");
}

TEST_CASE("selftest_text: without device kernels → the heading says so") {
  auto selftest = passed_selftest(2);
  selftest.run.has_kernels = false;
  CHECK(has(selftest_text(selftest, {}), "without loads and stores"));
}

TEST_CASE("selftest_text: a fault in the log beside good data → said of that pair") {
  auto selftest = passed_selftest(2);
  selftest.faults[1] = {"NVRM: Xid"};
  CHECK(has(selftest_text(selftest, {}), "1 -> 0 passed, but in the kernel log: NVRM: Xid"));
}

TEST_CASE("to_text: a report with a self-test → its matrix below the findings") {
  VerifyReport report;
  CHECK_FALSE(has(to_text(report), "Self-test"));
  report.selftest = std::make_shared<Selftest>(passed_selftest(2));
  CHECK(has(to_text(report), "Self-test: passed\n  2 passed\n"));
}

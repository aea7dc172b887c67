// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/selftest/selftest.hpp"
#include "gpu/worker/protocol.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace peerpath;
using namespace peerpath::gpu;

namespace {

template <class Enum>
void check_names(unsigned count, std::optional<Enum> (*named)(std::string_view)) {
  for (unsigned i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    INFO(i << ": " << name_of(value));
    CHECK(named(name_of(value)) == value);
  }
  CHECK(name_of(static_cast<Enum>(count)) == "unknown");
  CHECK_FALSE(named("unknown"));
  CHECK_FALSE(named(""));
}

std::string again(const Message& message) {
  const auto line = encode(message);
  const auto read = decode_message(std::string_view(line).substr(0, line.size() - 1));
  return read ? encode(*read) : read.error().text();
}

}  // namespace

TEST_CASE("names: each value → its own name and back, nothing else") {
  check_names<Test>(tests, test_named);
  check_names<Outcome>(8, outcome_named);
  check_names<Signature>(13, signature_named);
  check_names<Verdict>(9, verdict_named);
  check_names<Stage>(4, stage_named);
}

TEST_CASE("worker protocol: each message → the same after a round trip") {
  TestResult result{.test = Test::sm_store,
                    .bytes = 4096,
                    .reused = true,
                    .outcome = Outcome::corrupt,
                    .signature = Signature::mirror,
                    .bad_words = 3,
                    .first_bad = 8,
                    .last_bad = 24,
                    .bad_pages = 1,
                    .code = 700,
                    .bytes_per_second = 12.5e9,
                    .nanoseconds = 1200.5,
                    .detail = "a\tb\nc"};
  const std::vector<Message> messages = {
      Begin{1, 2, Test::ce_read, 65536},
      Beat{},
      Finished{1, 2, result},
      Note{"no kernels"},
      Done{17},
      Failed{802, "cuInit", "not ready"},
      DriverVersion{12040},
      Gpu{1, "GPU-1", "0000:3b:00.0", "name", 5, 4, 90, true, false},
      PeerAttributes{0, 1, true, false, 2}};
  for (const auto& message : messages)
    CHECK(again(message) == encode(message));
  const auto text = encode(Message(Finished{1, 2, result}));
  CHECK(text.find("a b c\n") != std::string::npos);
}

TEST_CASE("worker protocol: lines of others' → malformed") {
  for (const auto* line :
       {"", "hello", "beat\t", "begin\t0\t1\tce-write", "begin\t64\t1\tce-write\t8",
        "begin\t0\t1\tno-test\t8", "driver\t-1", "gpu\t0", "result\t0\t1\tce-write\t8\t2"}) {
    INFO(line);
    CHECK_FALSE(decode_message(line));
  }
}

TEST_CASE("worker protocol: a job → the same after a round trip") {
  Job job;
  job.kind = Job::Kind::pair;
  job.nonce = 7;
  job.first.uuid = "GPU-0";
  job.second.ordinal = 1;
  job.second.uuid = "GPU-1";
  job.first_index = 3;
  job.second_index = 4;
  job.both_directions = false;
  job.loopback = true;
  job.tests = {Test::ce_write, Test::atomics};
  job.sizes = {8, 4096};
  job.measured_bytes = 5;
  job.measured_ms = 6;
  job.kernel_limit_ms = 7;
  job.not_ready_ms = 8;
  const auto text = encode(job);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  REQUIRE(lines.back() == "run");
  lines.pop_back();
  const auto read = decode_job(lines);
  REQUIRE(read);
  CHECK(encode(*read) == text);
  CHECK_FALSE(decode_job({"job\tother"}));
  CHECK_FALSE(decode_job({"first-index\t64"}));
}

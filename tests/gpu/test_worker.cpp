// SPDX-License-Identifier: GPL-2.0-or-later
// The worker itself, with the simulated driver: each fault turns the verdict of its own test and
// direction, and no other one.
#include "gpu/worker/protocol.hpp"
#include "support/catch.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace peerpath::gpu;

namespace {

constexpr const char* two_gpus =
    "driver 12040\n"
    "gpu gpu0 0000:01:00.0 memory=268435456\n"
    "gpu gpu1 0000:02:00.0 memory=268435456\n"
    "link gpu0 gpu1 25e9 300\n";

struct Spoken {
  std::vector<Message> messages;
  int status = -1;

  template <class Kind>
  [[nodiscard]] std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const auto& message : messages) {
      if (const auto* one = std::get_if<Kind>(&message)) found.push_back(*one);
    }
    return found;
  }
};

/// A worker that runs, with this configuration of the simulated driver.
class Worker {
 public:
  explicit Worker(const std::string& config) {
    char name[] = "/tmp/peerpath-worker-XXXXXX";
    ::close(::mkstemp(name));
    config_ = name;
    std::ofstream(config_) << config;
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    REQUIRE(::pipe2(in.data(), O_CLOEXEC) == 0);
    REQUIRE(::pipe2(out.data(), O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::setenv("LD_LIBRARY_PATH", PEERPATH_SIM_CUDA_DIR, 1);
      ::setenv("PEERPATH_SIM_CUDA", config_.c_str(), 1);
      ::execl(PEERPATH_WORKER, PEERPATH_WORKER, nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = ::fdopen(out[0], "r");
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    std::fclose(from_);
    ::close(to_);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    ::unlink(config_.c_str());
  }

  void tell(const std::string& text) const {
    REQUIRE(::write(to_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  /// All that it says to this job; each test may begin.
  Spoken do_job(const Job& job) {
    Spoken spoken;
    tell(encode(job));
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), line.size(), from_) != nullptr) {
      std::string text(line.data());
      text.pop_back();
      INFO(text);
      auto message = decode_message(text);
      REQUIRE(message);
      if (std::holds_alternative<Begin>(*message)) tell("go\n");
      spoken.messages.push_back(std::move(*message));
    }
    REQUIRE(::waitpid(std::exchange(pid_, -1), &spoken.status, 0) > 0);
    return spoken;
  }
  /// Its exit status once the parent is gone.
  int status_without_parent() {
    ::close(std::exchange(to_, ::open("/dev/null", O_WRONLY | O_CLOEXEC)));
    int status = 0;
    REQUIRE(::waitpid(std::exchange(pid_, -1), &status, 0) > 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  std::string config_;
  pid_t pid_ = -1;
  int to_ = -1;
  std::FILE* from_ = nullptr;
};

Spoken list(const std::string& config) {
  return Worker(config).do_job(Job{});
}

const std::vector<Test> all_tests{Test::staged_copy, Test::ce_write,          Test::ce_read,
                                  Test::sm_store,    Test::sm_load,           Test::ping_pong,
                                  Test::atomics,     Test::concurrent,        Test::bandwidth,
                                  Test::latency,     Test::staged_with_access};

Spoken pair(const std::string& config, bool loopback = false,
            const std::vector<Test>& tests = all_tests) {
  const auto gpus = list(two_gpus).all<Gpu>();
  REQUIRE(gpus.size() == 2);
  Job job;
  job.kind = Job::Kind::pair;
  job.nonce = 0x0123'4567'89ab'cdef;
  job.first = gpus[0];
  job.second = gpus[loopback ? 0 : 1];
  job.second_index = loopback ? 0 : 1;
  job.both_directions = job.second_index != 0;
  job.loopback = loopback;
  job.tests = tests;
  job.sizes = {8, 4096, 65536};
  job.measured_bytes = 65536;
  job.measured_ms = 10;
  job.kernel_limit_ms = 5000;
  return Worker(config).do_job(job);
}

/// A test in a direction, and what it came to.
struct Found {
  std::string direction;  ///< "01"
  Test test;
  Outcome outcome;
  Signature signature;
  auto operator<=>(const Found&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << found.direction << ' ' << name_of(found.test) << ' ' << name_of(found.outcome)
             << ' ' << name_of(found.signature);
}

std::set<Found> not_passed(const Spoken& spoken) {
  std::set<Found> found;
  for (const auto& [source, destination, result] : spoken.all<Finished>()) {
    if (result.outcome == Outcome::passed) continue;
    found.insert({std::to_string(source) + std::to_string(destination), result.test, result.outcome,
                  result.signature});
  }
  return found;
}

struct Row {
  const char* line;
  std::set<Found> turns;
};

/// `kind` hits writes of gpu0 to gpu1: what writes by copy engine.
std::set<Found> writes(Signature signature) {
  return {{"01", Test::ce_write, Outcome::corrupt, signature},
          {"01", Test::concurrent, Outcome::corrupt, signature},
          {"01", Test::bandwidth, Outcome::corrupt, signature}};
}
/// As above, by a kernel's stores.
std::set<Found> stores(Signature signature) {
  return {{"01", Test::sm_store, Outcome::corrupt, signature},
          {"01", Test::bandwidth, Outcome::corrupt, signature}};
}
/// gpu1's copy engine reads gpu0's memory.
std::set<Found> reads(Signature signature) {
  return {{"01", Test::ce_read, Outcome::corrupt, signature}};
}

}  // namespace

TEST_CASE("worker: no faults → every test passes, in both directions") {
  const auto spoken = pair(two_gpus);
  CHECK(spoken.status == 0);
  CHECK(not_passed(spoken).empty());
  std::set<std::pair<int, Test>> seen;
  for (const auto& one : spoken.all<Finished>())
    seen.insert({one.source, one.result.test});
  CHECK(seen.size() == 2 * all_tests.size());
  CHECK(spoken.all<Done>().size() == 1);
}

TEST_CASE("worker: loopback without faults → every test passes, and says what isn't proven") {
  const auto spoken = pair(two_gpus, true);
  CHECK(spoken.status == 0);
  CHECK(not_passed(spoken).empty());
  CHECK(spoken.all<Finished>().size() >= all_tests.size());
  const auto notes = spoken.all<Note>();
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].text.find("nothing is proven") != std::string::npos);
}

TEST_CASE("worker: a fault → exactly its own test, direction, outcome and signature") {
  const std::vector<Row> rows{
      {"mirror from=gpu0 to=gpu1 op=ce-write", writes(Signature::mirror)},
      {"zeros from=gpu0 to=gpu1 op=ce-write", writes(Signature::zeros)},
      {"never-written from=gpu0 to=gpu1 op=ce-write", writes(Signature::never_written)},
      {"all-ones from=gpu0 to=gpu1 op=ce-write", writes(Signature::all_ones)},
      {"few-bits from=gpu0 to=gpu1 op=ce-write", writes(Signature::few_bits)},
      {"overrun from=gpu0 to=gpu1 op=ce-write", writes(Signature::overrun)},
      {"mirror from=gpu0 to=gpu1 op=sm-store", stores(Signature::mirror)},
      {"zeros from=gpu0 to=gpu1 op=sm-store", stores(Signature::zeros)},
      {"never-written from=gpu0 to=gpu1 op=sm-store", stores(Signature::never_written)},
      {"overrun from=gpu0 to=gpu1 op=sm-store", stores(Signature::overrun)},
      {"zeros from=gpu1 to=gpu0 op=ce-read", reads(Signature::zeros)},
      {"all-ones from=gpu1 to=gpu0 op=ce-read", reads(Signature::all_ones)},
      {"lost-atomic from=gpu0 to=gpu1 op=atomics",
       {{"01", Test::atomics, Outcome::corrupt, Signature::lost_atomic}}},
      {"error from=gpu0 to=gpu1 op=ce-write code=205",
       {{"01", Test::ce_write, Outcome::error, Signature::none},
        {"01", Test::concurrent, Outcome::error, Signature::none},
        {"01", Test::bandwidth, Outcome::error, Signature::none}}},
  };
  for (const auto& row : rows) {
    INFO(row.line);
    const auto spoken = pair(std::string(two_gpus) + "knob " + row.line + '\n');
    CHECK(spoken.status == 0);
    CHECK(not_passed(spoken) == row.turns);
  }
}

TEST_CASE("worker: an error that spoils the process → said, with what was found before") {
  const auto spoken =
      pair(std::string(two_gpus) + "knob error from=gpu1 to=gpu0 op=ce-read code=700\n");
  CHECK(WEXITSTATUS(spoken.status) == 1);
  REQUIRE(spoken.all<Failed>().size() == 1);
  CHECK(spoken.all<Failed>()[0].code == 700);
  CHECK(not_passed(spoken) ==
        std::set<Found>{{"01", Test::ce_read, Outcome::error, Signature::none}});
  CHECK(spoken.all<Finished>().size() > 1);
}

TEST_CASE("worker: no access in one direction → what needs it is unsupported, never passed") {
  const auto spoken = pair(std::string(two_gpus) + "no-access gpu0 gpu1\n");
  CHECK(spoken.status == 0);
  const auto found = not_passed(spoken);
  for (const auto& one : found)
    CHECK(one.outcome == Outcome::unsupported);
  CHECK(found.contains({"01", Test::ce_write, Outcome::unsupported, Signature::none}));
  CHECK(found.contains({"10", Test::ce_read, Outcome::unsupported, Signature::none}));
  CHECK_FALSE(found.contains({"10", Test::ce_write, Outcome::unsupported, Signature::none}));
  CHECK_FALSE(found.contains({"01", Test::staged_copy, Outcome::unsupported, Signature::none}));
}

TEST_CASE("worker: no native atomics → that test alone is unsupported") {
  const auto spoken = pair(std::string(two_gpus) + "no-atomics gpu0 gpu1\nno-atomics gpu1 gpu0\n");
  CHECK(not_passed(spoken) ==
        std::set<Found>{{"01", Test::atomics, Outcome::unsupported, Signature::none},
                        {"10", Test::atomics, Outcome::unsupported, Signature::none}});
}

TEST_CASE("worker: kernels that do nothing → what others left isn't taken for their result") {
  const auto flags =
      pair(std::string(two_gpus) + "knob not-run op=flag after=2\n", false, {Test::ping_pong});
  CHECK(not_passed(flags) ==
        std::set<Found>{{"10", Test::ping_pong, Outcome::hang, Signature::lost_flag}});
  const auto loads = pair(std::string(two_gpus) + "knob not-run op=sm-load after=2\n", false,
                          {Test::latency, Test::latency});
  CHECK(not_passed(loads) ==
        std::set<Found>{{"01", Test::latency, Outcome::corrupt, Signature::other},
                        {"10", Test::latency, Outcome::corrupt, Signature::other}});
}

// A round writes so small a buffer 64 times.
TEST_CASE("worker: at the same time, only the first round is wrong → corruption all the same") {
  const auto spoken =
      pair(std::string(two_gpus) + "knob zeros op=ce-write from=gpu0 to=gpu1 times=64\n", false,
           {Test::concurrent});
  CHECK(not_passed(spoken) ==
        std::set<Found>{{"01", Test::concurrent, Outcome::corrupt, Signature::zeros}});
}

TEST_CASE("worker: GPUs in exclusive mode → tested all the same, with one context on each") {
  const std::string exclusive =
      "driver 12040\ngpu gpu0 0000:01:00.0 memory=268435456 mode=exclusive\n"
      "gpu gpu1 0000:02:00.0 memory=268435456 mode=exclusive\nlink gpu0 gpu1 25e9 300\n";
  for (const bool loopback : {false, true}) {
    const auto spoken = pair(exclusive, loopback);
    CHECK(not_passed(spoken).empty());
    CHECK(spoken.all<Done>().size() == 1);
  }
}

TEST_CASE("worker: cuInit fails → failed, with its code") {
  const auto spoken = list("init 100\n" + std::string(two_gpus));
  REQUIRE(spoken.all<Failed>().size() == 1);
  CHECK(spoken.all<Failed>()[0].code == 100);
  CHECK(WEXITSTATUS(spoken.status) == 1);
}

TEST_CASE("worker: the parent goes → it ends") {
  CHECK(Worker(two_gpus).status_without_parent() == 1);
}

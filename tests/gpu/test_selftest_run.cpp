// SPDX-License-Identifier: GPL-2.0-or-later
// The parent against workers that are shell scripts: what a driver may do to them, they do.
#include "gpu/selftest/selftest.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace peerpath;
using namespace peerpath::gpu;
using std::chrono::milliseconds;

namespace {

/// A worker that lists GPUs with peer access and passes all that it's asked. `before_test` is shell
/// that runs for each test, once it may begin; $a and $b are the numbers, $t is the test, $said how
/// many lines it will say that it said.
class FakeWorker {
 public:
  FakeWorker(int gpus, const std::string& before_test, const std::string& after_list = "") {
    char name[] = "/tmp/peerpath-selftest-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    directory_ = name;
    std::ofstream file(path());
    file
        << "#!/bin/bash\n"
           "said=0\n"
           "while IFS=$'\\t' read -r key a1 a2 a3 rest; do\n"
           "  case $key in\n"
           "    job) kind=$a1 ;; first-index) first=$a1 ;; second-index) second=$a1 ;;\n"
           "    both-directions) both=$a1 ;; tests) tests=${a1//,/ } ;; run) break ;;\n"
           "  esac\n"
           "done\n"
           "if [ \"$kind\" = list ]; then\n"
           "  printf 'driver\\t12040\\n'\n"
           "  for ((i = 0; i < "
        << gpus
        << "; i++)); do\n"
           "    printf "
           "'gpu\\t%d\\tGPU-%d\\t0000:%02x:00.0\\tFake\\t1000000\\t1000000\\t90\\t0\\t0\\n' "
           "$i $i $((i + 1))\n"
           "    for ((j = 0; j < "
        << gpus
        << "; j++)); do\n"
           "      [ $i = $j ] || printf 'peer\\t%d\\t%d\\t1\\t1\\t0\\n' $i $j\n"
           "    done\n"
           "  done\n"
           "  said="
        << gpus * gpus << "; " << after_list
        << "\n"
           "  printf 'done\\t%d\\n' $said; exit 0\n"
           "fi\n"
           "one() {\n"
           "  a=$1 b=$2\n"
           "  printf 'begin\\t%s\\t%s\\t%s\\t8\\n' $a $b $t\n"
           "  read -r answer || exit 1\n"
           "  outcome=passed\n"
           "  if [ \"$answer\" = skip ]; then outcome=not-run; else\n"
        << before_test
        << "\n  fi\n"
           "  printf 'result\\t%s\\t%s\\t%s\\t8\\t0\\t%s\\tnone\\t0\\t0\\t0\\t0\\t0\\t0\\t0\\t\\n' "
           "$a $b $t $outcome\n"
           "  said=$((said + 1))\n"
           "}\n"
           "for t in $tests; do\n"
           "  one $first $second\n"
           "  [ $both = 0 ] || one $second $first\n"
           "done\n"
           "printf 'done\\t%d\\n' $said\n";
    file.close();
    ::chmod(path().c_str(), 0755);
  }
  ~FakeWorker() {
    ::unlink(path().c_str());
    ::rmdir(directory_.c_str());
  }
  FakeWorker(const FakeWorker&) = delete;
  FakeWorker& operator=(const FakeWorker&) = delete;
  [[nodiscard]] std::string path() const { return directory_ + "/worker"; }
  [[nodiscard]] SelftestOptions options() const {
    SelftestOptions options;
    options.worker = path();
    options.budget = milliseconds(20'000);
    options.test_limit = milliseconds(400);
    options.grace = milliseconds(200);
    options.concurrent = false;
    return options;
  }

 private:
  std::string directory_;
};

}  // namespace

TEST_CASE("selftest: all pass → passed, each test noted before it begins") {
  const FakeWorker worker(3, ":");
  auto options = worker.options();
  options.concurrent = true;
  std::size_t noted = 0;
  SelftestHooks hooks;
  hooks.note_inflight = [&](const std::vector<Inflight>& all) -> Result<> {
    ++noted;
    CHECK_FALSE(all.empty());
    return {};
  };
  const auto report = run_selftest(options, hooks);
  CHECK(report.outcome == RunOutcome::tested);
  CHECK(report.verdict() == Verdict::passed);
  REQUIRE(report.pairs.size() == 6);
  std::size_t results = 0;
  for (const auto& pair : report.pairs) {
    INFO(pair.reason);
    CHECK(pair.verdict == Verdict::passed);
    results += pair.results.size();
  }
  CHECK(noted == results);
  CHECK_FALSE(report.not_tested.empty());
}

TEST_CASE("selftest: 8 GPUs, rounds at the same time → passed") {
  const FakeWorker worker(8, ":");
  auto options = worker.options();
  options.concurrent = true;
  options.test_limit = milliseconds(5'000);
  const auto report = run_selftest(options);
  CHECK(report.verdict() == Verdict::passed);
  for (const auto& pair : report.pairs) {
    std::set<Stage> stages;
    for (const auto& one : pair.results)
      stages.insert(one.stage);
    CHECK(stages == std::set{Stage::alone, Stage::measured, Stage::concurrent});
  }
}

TEST_CASE("selftest: one direction hangs → hang there, inconclusive back, the rest passes") {
  const FakeWorker worker(3, "[ $a$b$t = 01sm-store ] && sleep 60");
  const auto report = run_selftest(worker.options());
  for (const auto& pair : report.pairs) {
    INFO(pair.source << pair.destination << pair.reason);
    const auto is_of_two = pair.source + pair.destination == 1;
    const auto expected = !is_of_two         ? Verdict::passed
                          : pair.source == 0 ? Verdict::hang
                                             : Verdict::inconclusive;
    CHECK(pair.verdict == expected);
  }
  CHECK(report.left_behind.empty());
}

TEST_CASE("selftest: a result is lost → inconclusive there, never passed") {
  const FakeWorker worker(2, "[ $a$b$t = 01sm-store ] && return");
  const auto report = run_selftest(worker.options());
  REQUIRE(report.pairs.size() == 2);
  CHECK(report.pairs[0].verdict == Verdict::inconclusive);
  CHECK(report.pairs[0].failed_test == Test::sm_store);
  CHECK(report.pairs[1].verdict == Verdict::passed);
}

TEST_CASE("selftest: a worker crashes → error with the signal's name and its last words") {
  const FakeWorker worker(2, "[ $t = ce-read ] && { echo last words >&2; kill -SEGV $$; }");
  const auto report = run_selftest(worker.options());
  CHECK(report.verdict() == Verdict::error);
  CHECK(report.pairs[0].reason.find("SIGSEGV") != std::string::npos);
  CHECK(report.pairs[0].reason.find("last words") != std::string::npos);
  CHECK(report.pairs[0].failed_test == Test::ce_read);
}

TEST_CASE("selftest: garbage on standard output → ignored; for ever → a hang") {
  const FakeWorker some(2, "printf 'hello\\tworld\\n\\x00\\xff\\n'");
  CHECK(run_selftest(some.options()).verdict() == Verdict::passed);
  const FakeWorker endless(2, "while :; do echo noise; done");
  CHECK(run_selftest(endless.options()).verdict() == Verdict::hang);
}

TEST_CASE("selftest: a worker that can't be killed → left behind, its GPUs left alone, in time") {
  const FakeWorker worker(4, "[ $a$b = 01 ] && sleep 60");
  pid_t stuck = 0;
  SelftestHooks hooks;
  hooks.note_inflight = [](const std::vector<Inflight>&) -> Result<> { return {}; };
  std::set<pid_t> seen;
  hooks.has_ended = [&](pid_t pid) -> std::optional<int> {
    seen.insert(pid);
    int status = 0;
    // The second worker is that of the first pair.
    if (seen.size() == 2 && stuck == 0) stuck = pid;
    if (pid == stuck) return std::nullopt;
    return ::waitpid(pid, &status, WNOHANG) == pid ? std::optional(status) : std::nullopt;
  };
  const auto report = run_selftest(worker.options(), hooks);
  CHECK(report.left_behind == std::vector<pid_t>{stuck});
  CHECK(report.took < milliseconds(10'000));
  for (const auto& pair : report.pairs) {
    INFO(pair.source << pair.destination << pair.reason);
    if (pair.source >= 2 && pair.destination >= 2) {
      CHECK(pair.verdict == Verdict::passed);
    } else if (pair.source == 0 && pair.destination == 1) {
      CHECK(pair.verdict == Verdict::hang);
      CHECK(pair.reason.find("does not end on SIGKILL") != std::string::npos);
    } else {
      CHECK(pair.verdict == Verdict::inconclusive);
    }
  }
  ::waitpid(stuck, nullptr, 0);
}

TEST_CASE("selftest: the budget ends → in time, inconclusive, and said") {
  const FakeWorker worker(4, "sleep 0.3");
  auto options = worker.options();
  options.budget = milliseconds(1'000);
  const auto report = run_selftest(options);
  CHECK(report.took < milliseconds(1'500));
  CHECK(report.verdict() == Verdict::inconclusive);
  CHECK(std::any_of(report.not_tested.begin(), report.not_tested.end(), [](const auto& line) {
    return line.find("time allowed") != std::string::npos;
  }));
}

TEST_CASE("selftest: skipped pair and GPU → reported, not tested") {
  const FakeWorker worker(3, ":");
  auto options = worker.options();
  options.skipped_pairs.push_back({"GPU-1", "GPU-0", Verdict::host_died, "host died"});
  options.skipped_gpus.push_back({"0000:03:00.0", "2 processes compute on it"});
  const auto report = run_selftest(options);
  CHECK(report.verdict() == Verdict::host_died);
  for (const auto& pair : report.pairs) {
    CHECK(pair.results.empty());
    CHECK(pair.verdict != Verdict::passed);
  }
}

TEST_CASE("selftest: what may take the host down can't be noted → not run, inconclusive") {
  const FakeWorker worker(2, ":");
  SelftestHooks hooks;
  hooks.note_inflight = [](const std::vector<Inflight>&) -> Result<> {
    return fail(Errc::read_only, "read-only file system");
  };
  const auto report = run_selftest(worker.options(), hooks);
  CHECK(report.verdict() == Verdict::inconclusive);
  CHECK(report.pairs[0].reason.find("read-only") != std::string::npos);
}

TEST_CASE("selftest: loopback, one GPU → each with itself; without it, too few") {
  const FakeWorker worker(1, ":");
  auto options = worker.options();
  CHECK(run_selftest(options).outcome == RunOutcome::too_few_gpus);
  options.loopback = true;
  const auto report = run_selftest(options);
  REQUIRE(report.pairs.size() == 1);
  CHECK(report.verdict() == Verdict::passed);
}

TEST_CASE("selftest: no worker → not listed, with its path") {
  SelftestOptions options;
  options.worker = "/nonexistent/worker";
  const auto report = run_selftest(options);
  CHECK(report.outcome == RunOutcome::not_listed);
  CHECK(report.detail.find("/nonexistent/worker") != std::string::npos);
}

TEST_CASE("selftest: one of a test's results can't be read → inconclusive, never passed") {
  const FakeWorker worker(2, "[ $a$b$t = 01sm-store ] && { said=$((said + 1)); echo result; }");
  const auto report = run_selftest(worker.options());
  CHECK(report.verdict() == Verdict::inconclusive);
  CHECK(report.pairs[0].reason == "a part of what the worker said got lost");
}

TEST_CASE("selftest: a GPU of the list can't be read → not listed, rather than without it") {
  const FakeWorker worker(2, ":", "said=$((said + 1)); printf 'gpu\\t2\\tGPU-2\\n'");
  const auto report = run_selftest(worker.options());
  CHECK(report.outcome == RunOutcome::not_listed);
  CHECK(report.detail == "listing the GPUs: a part of the list got lost");
}

TEST_CASE("selftest: somebody else kills a worker → inconclusive, no fault of the GPUs'") {
  const FakeWorker worker(2, "[ $t = ce-read ] && kill -KILL $$");
  const auto report = run_selftest(worker.options());
  CHECK(report.verdict() == Verdict::inconclusive);
  CHECK(report.pairs[0].reason.find("SIGKILL") != std::string::npos);
}

TEST_CASE("selftest: settings of CUDA in our environment → the worker doesn't get them") {
  ::setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const FakeWorker worker(2,
                          "[ -z \"${CUDA_LAUNCH_BLOCKING+x}${CUDA_VISIBLE_DEVICES+x}\" ] && "
                          "[ \"$CUDA_DEVICE_ORDER\" = PCI_BUS_ID ] || outcome=error");
  const auto report = run_selftest(worker.options());
  ::unsetenv("CUDA_LAUNCH_BLOCKING");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  CHECK(report.verdict() == Verdict::passed);
}

TEST_CASE("selftest: few open files allowed → no worker, rather than one with our own files") {
  const FakeWorker worker(2, ":");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  // What the parent needs for a worker fits below the limit, what the worker needs doesn't.
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(next);
  for (const int more : {8, 9, 10, 11}) {
    const rlimit few{static_cast<rlim_t>(next + more), before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    const auto report = run_selftest(worker.options());
    ::setrlimit(RLIMIT_NOFILE, &before);
    INFO(more << report.detail);
    // Where more are open already, the worker's are above these.
    if (report.outcome == RunOutcome::tested && next > 3) continue;
    CHECK(report.outcome == RunOutcome::not_listed);
    CHECK(report.detail.find("could not be started") != std::string::npos);
  }
}

TEST_CASE("selftest: a named GPU isn't there → named, and nothing is tested") {
  const FakeWorker worker(2, ":");
  auto options = worker.options();
  options.only = {"0000:01:00.0", "GPU-1", "0000:99:00.0"};
  std::size_t noted = 0;
  SelftestHooks hooks;
  hooks.note_inflight = [&](const std::vector<Inflight>&) -> Result<> {
    ++noted;
    return {};
  };
  const auto report = run_selftest(options, hooks);
  CHECK(report.not_found == std::vector<std::string>{"0000:99:00.0"});
  CHECK(report.pairs.empty());
  CHECK(noted == 0);
  options.only.pop_back();
  CHECK(run_selftest(options, hooks).verdict() == Verdict::passed);
}

TEST_CASE("selftest: at the same time, two GPUs → both directions at once") {
  const FakeWorker worker(2, ":");
  auto options = worker.options();
  options.concurrent = true;
  std::size_t most = 0;
  SelftestHooks hooks;
  hooks.note_inflight = [&](const std::vector<Inflight>& all) -> Result<> {
    most = std::max(most, all.size());
    return {};
  };
  const auto report = run_selftest(options, hooks);
  CHECK(report.verdict() == Verdict::passed);
  CHECK(most == 2);
  for (const auto& line : report.not_tested)
    CHECK(line.find("pairs at the same time") != 0);
}

TEST_CASE("selftest: what the driver doesn't offer → said, for it wasn't tested") {
  const FakeWorker worker(2, "[ $t$a = atomics0 ] && outcome=unsupported");
  const auto report = run_selftest(worker.options());
  CHECK(report.verdict() == Verdict::passed);
  CHECK(std::count(report.not_tested.begin(), report.not_tested.end(),
                   "atomics: the driver offers none: 1 of 2 pairs") == 1);
}

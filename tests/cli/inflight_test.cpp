// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/inflight.hpp"

#include "report/sample_selftest.hpp"
#include "support/catch.hpp"
#include "support/temp_root.hpp"
#include "sys/process.hpp"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace peerpath;
using cli::InflightNote;
using gpu::Test;
using gpu::Verdict;
using test::TempRoot;

namespace {

constexpr auto first_boot = "11111111-0000-4000-8000-000000000001";
constexpr auto second_boot = "22222222-0000-4000-8000-000000000002";

report::Selftest selftest() {
  return passed_selftest(3);
}

std::vector<gpu::Inflight> testing(std::size_t from, std::size_t to, Test test = Test::ce_write) {
  const auto gpus = selftest().run.gpus;
  return {{gpus[from], gpus[to], test}};
}

/// A root as every system has it.
struct Root : TempRoot {
  Root() { directory("/var/lib"); }
};

/// A run that the host doesn't survive.
void die(const System& system, std::size_t from, std::size_t to) {
  InflightNote note(system, first_boot);
  note.begin(testing(from, to));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("InflightNote: a run that comes to its end → the note is there meanwhile, then gone") {
  Root root;
  const auto& system = root.system();
  InflightNote note(system, first_boot);
  CHECK_FALSE(system.exists(cli::inflight_path));
  note.begin(testing(0, 1));
  const auto text = system.read(cli::inflight_path);
  REQUIRE(text);
  CHECK(has(*text, first_boot));
  CHECK(has(*text, "ce-write GPU-00000000-0000-4000-8000-2d3c5d6e7f80 0000:1b:00.0 GPU-00000001"));
  note.begin(testing(1, 0, Test::sm_load));
  CHECK(has(system.read(cli::inflight_path).value(), "sm-load"));
  CHECK_FALSE(has(system.read(cli::inflight_path).value(), "ce-write"));
  note.end(selftest().run);
  CHECK_FALSE(system.exists(cli::inflight_path));
  CHECK_FALSE(system.exists(cli::host_died_path));
  CHECK(note.notes().empty());
}

TEST_CASE("InflightNote: left by another boot → the host died, remembered over further runs") {
  Root root;
  const auto& system = root.system();
  die(system, 0, 1);
  for (int run = 0; run < 2; ++run) {
    InflightNote note(system, second_boot);
    const auto skipped = note.skipped();
    REQUIRE(skipped.size() == 1);
    CHECK(skipped[0].first_uuid == selftest().run.gpus[0].uuid);
    CHECK(skipped[0].second_uuid == selftest().run.gpus[1].uuid);
    CHECK(skipped[0].verdict == Verdict::host_died);
    CHECK(skipped[0].reason ==
          "the host went down during ce-write from 0000:1b:00.0 to 0000:1c:00.0, in boot "
          "11111111-0000-4000-8000-000000000001");
    // The pair wasn't tested, as it was skipped.
    auto report = selftest();
    pair_of(report, 0, 1).results.clear();
    pair_of(report, 1, 0).results.clear();
    note.end(report.run);
  }
  CHECK(system.exists(cli::host_died_path));
  CHECK_FALSE(system.exists(cli::inflight_path));
}

TEST_CASE("InflightNote: several pairs at once → each is remembered, once") {
  Root root;
  const auto& system = root.system();
  {
    InflightNote note(system, first_boot);
    auto tests = testing(0, 1, Test::concurrent);
    tests.push_back(testing(2, 1, Test::concurrent).front());
    note.begin(tests);
  }
  CHECK(InflightNote(system, second_boot).skipped().size() == 2);
  die(system, 1, 0);
  CHECK(InflightNote(system, second_boot).skipped().size() == 2);
}

TEST_CASE("InflightNote: left by a run of this very boot that was killed → no death of the host") {
  Root root;
  die(root.system(), 0, 1);
  InflightNote note(root.system(), first_boot);
  CHECK(note.skipped().empty());
  note.end(selftest().run);
  CHECK_FALSE(root.system().exists(cli::inflight_path));
}

TEST_CASE("InflightNote: the deadly test runs again and the host survives → forgotten") {
  Root root;
  const auto& system = root.system();
  die(system, 0, 1);
  die(system, 1, 2);
  {
    InflightNote note(system, second_boot);
    REQUIRE(note.deadly().size() == 1);
    note.end(selftest().run);  // all pairs have a result of ce-write
  }
  CHECK_FALSE(system.exists(cli::host_died_path));
  CHECK(InflightNote(system, second_boot).skipped().empty());
}

TEST_CASE("InflightNote: only other tests of the pair ran → still remembered") {
  Root root;
  const auto& system = root.system();
  die(system, 0, 1);
  InflightNote note(system, second_boot);
  auto report = selftest();
  pair_of(report, 0, 1).results[0].result.test = Test::staged_copy;
  note.end(report.run);
  CHECK(InflightNote(system, second_boot).skipped().size() == 1);
}

TEST_CASE("InflightNote: a file that isn't ours, or is cut short → passed over") {
  Root root;
  root.file(cli::inflight_path, "nonsense\n\x01\xff 1 2 3 4\nboot test uuid\n1 2 3 4 5 6\n" +
                                    std::string(first_boot) + " ce-write A b C d\n");
  InflightNote note(root.system(), second_boot);
  CHECK(note.skipped().empty());
}

TEST_CASE("InflightNote: what was left can't be read → said") {
  Root root;
  root.directory(cli::inflight_path);
  InflightNote note(root.system(), second_boot);
  REQUIRE(note.notes().size() == 1);
  CHECK(has(note.notes()[0], "whether the host went down by the last run isn't known"));
}

TEST_CASE(
    "InflightNote: a test of a name that we don't have → forgotten once the pair was tested") {
  Root root;
  const auto gpus = selftest().run.gpus;
  root.file(cli::host_died_path, std::string(first_boot) + " sm-teleport " + gpus[0].uuid + " x " +
                                     gpus[1].uuid + " y\n");
  InflightNote note(root.system(), second_boot);
  REQUIRE(note.skipped().size() == 1);
  note.end(selftest().run);
  CHECK_FALSE(root.system().exists(cli::host_died_path));
}

TEST_CASE("InflightNote: the next test can't be noted → the note of the one before goes") {
  Root root;
  InflightNote note(root.system(), first_boot);
  note.begin(testing(0, 1));
  REQUIRE(root.system().exists(cli::inflight_path));
  root.directory("/var/lib/peerpath/.inflight.peerpath-new");
  note.begin(testing(1, 2));
  CHECK_FALSE(root.system().exists(cli::inflight_path));
  CHECK(has(note.notes().back(), "what is tested isn't noted"));
}

TEST_CASE("InflightNote: nothing can be written → said once, and the run goes on") {
  Root root;
  root.file("/var/lib/peerpath", "a file in the directory's place");
  InflightNote note(root.system(), first_boot);
  note.begin(testing(0, 1));
  note.begin(testing(1, 0));
  note.end(selftest().run);
  REQUIRE(note.notes().size() >= 1);
  CHECK(has(note.notes().back(), "what is tested isn't noted"));
}

TEST_CASE("InflightNote: this boot's id isn't known → no note, and an older one stays") {
  Root root;
  const auto& system = root.system();
  die(system, 0, 1);
  {
    InflightNote note(system, std::nullopt);
    CHECK(note.notes().size() == 1);
    note.begin(testing(1, 2));
    note.end(selftest().run);
  }
  CHECK(InflightNote(system, second_boot).skipped().size() == 1);
}

TEST_CASE("InflightNote: a signal ends the process → no note stays") {
  Root root;
  const auto& system = root.system();
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT}) {
    const pid_t child = ::fork();
    if (child == 0) {
      InflightNote note(system, first_boot);
      note.begin(testing(0, 1));
      if (!system.exists(cli::inflight_path)) ::_exit(1);
      ::raise(signal);
      ::_exit(2);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK_FALSE(system.exists(cli::inflight_path));
  }
}

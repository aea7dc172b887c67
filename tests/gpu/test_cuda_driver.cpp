// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/cuda_driver.hpp"
#include "support/catch.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace peerpath::gpu;
using std::chrono::milliseconds;

namespace {

DriverQuery query(const std::string& fake) {
  DriverQuery query;
  query.soname = PEERPATH_FAKE_CUDA_DIR "/fake_cuda_" + fake + ".so";
  query.limit = milliseconds(10'000);
  return query;
}

DriverReport ask(const std::string& fake) {
  return count_gpus(query(fake));
}

}  // namespace

TEST_CASE("count_gpus: a driver with two devices → two, and the driver's version") {
  const auto report = ask("two");
  CHECK(report.outcome == DriverOutcome::counted);
  CHECK(report.devices == 2);
  CHECK(report.version == 13000);
  CHECK(report.detail == "cuDeviceGetCount: 2");
  CHECK_FALSE(report.left_behind);
}

TEST_CASE("count_gpus: a driver without devices → zero") {
  const auto report = ask("zero");
  CHECK(report.outcome == DriverOutcome::counted);
  CHECK(report.devices == 0);
}

TEST_CASE("count_gpus: cuInit says no device → zero, with the error's name") {
  const auto report = ask("none");
  CHECK(report.outcome == DriverOutcome::counted);
  CHECK(report.devices == 0);
  CHECK(report.code == 100);
  CHECK(report.detail == "cuInit: CUDA_ERROR_NO_DEVICE (100)");
}

TEST_CASE("count_gpus: cuInit fails → name and code, version still known") {
  const auto report = ask("not_ready");
  CHECK(report.outcome == DriverOutcome::call_failed);
  CHECK(report.code == 802);
  CHECK(report.version == 13000);
  CHECK(report.detail == "cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802)");
}

TEST_CASE("count_gpus: an error that the driver can't name → its number") {
  CHECK(ask("unnamed").detail == "cuInit: unnamed error (4711)");
  CHECK(ask("nameless").detail == "cuInit: unnamed error (802)");
}

TEST_CASE("count_gpus: counting fails → that call's error, no count") {
  const auto report = ask("count_fails");
  CHECK(report.outcome == DriverOutcome::call_failed);
  CHECK(report.devices == 0);
  CHECK(report.detail == "cuDeviceGetCount: CUDA_ERROR_SYSTEM_NOT_READY (802)");
}

TEST_CASE("count_gpus: no such library → no driver, with the loader's words") {
  DriverQuery query;
  query.soname = "libcuda-that-is-not-there.so.1";
  const auto report = count_gpus(query);
  CHECK(report.outcome == DriverOutcome::no_driver);
  CHECK(report.detail ==
        "libcuda-that-is-not-there.so.1: cannot open shared object file: No such file or "
        "directory");
}

TEST_CASE("count_gpus: a library that isn't one → unusable, not absent") {
  char name[] = "/tmp/peerpath-test-XXXXXX";
  const int fd = ::mkstemp(name);
  REQUIRE(fd >= 0);
  REQUIRE(::write(fd, "not ELF", 7) == 7);
  ::close(fd);
  DriverQuery query;
  query.soname = name;
  const auto report = count_gpus(query);
  ::unlink(name);
  CHECK(report.outcome == DriverOutcome::unusable);
  CHECK(report.detail == std::string(name) + ": file too short");
}

TEST_CASE("count_gpus: a library without a function that we need → unusable, naming it") {
  const auto report = ask("old");
  CHECK(report.outcome == DriverOutcome::unusable);
  CHECK(report.detail.find("has no function 'cuDeviceGetCount'") != std::string::npos);
}

TEST_CASE("count_gpus: a driver that hangs → timed out at the limit, and no process stays") {
  auto hanging = query("hang");
  hanging.limit = milliseconds(200);
  const auto start = std::chrono::steady_clock::now();
  const auto report = count_gpus(hanging);
  const auto took = std::chrono::steady_clock::now() - start;
  CHECK(report.outcome == DriverOutcome::timed_out);
  CHECK(report.detail == "no answer from the driver within 200 ms");
  CHECK_FALSE(report.left_behind);
  CHECK(took >= milliseconds(200));
  CHECK(took < milliseconds(2'200));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("count_gpus: a process that SIGKILL doesn't end → given up after the grace time") {
  auto hanging = query("hang");
  hanging.limit = milliseconds(50);
  hanging.grace = milliseconds(100);
  pid_t asked = 0;
  hanging.has_ended = [&](pid_t child) -> std::optional<int> {
    asked = child;
    return std::nullopt;
  };
  const auto start = std::chrono::steady_clock::now();
  const auto report = count_gpus(hanging);
  CHECK(report.outcome == DriverOutcome::timed_out);
  CHECK(report.left_behind);
  CHECK(std::chrono::steady_clock::now() - start < milliseconds(2'000));
  int status = 0;
  REQUIRE(::waitpid(asked, &status, 0) == asked);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("count_gpus: an answer from a process that then doesn't end → the answer counts") {
  auto stuck = query("two");
  stuck.grace = milliseconds(50);
  pid_t asked = 0;
  stuck.has_ended = [&](pid_t child) -> std::optional<int> {
    asked = child;
    return std::nullopt;
  };
  const auto report = count_gpus(stuck);
  CHECK(report.outcome == DriverOutcome::counted);
  CHECK(report.devices == 2);
  CHECK(report.left_behind);
  CHECK(::waitpid(asked, nullptr, 0) == asked);
}

TEST_CASE("count_gpus: a driver that crashes → crashed, naming the signal") {
  const auto report = ask("abort");
  CHECK(report.outcome == DriverOutcome::crashed);
  CHECK(report.detail.find("signal 6") != std::string::npos);
}

TEST_CASE("count_gpus: a driver that ends the process → crashed, naming the status") {
  const auto report = ask("exit");
  CHECK(report.outcome == DriverOutcome::crashed);
  CHECK(report.detail == "the driver ended the asking process with exit status 7");
}

TEST_CASE("count_gpus: CUDA_VISIBLE_DEVICES of the caller → has no effect") {
  REQUIRE(::setenv("CUDA_VISIBLE_DEVICES", "0", 1) == 0);
  const auto report = ask("hides");
  CHECK(report.devices == 4);
  CHECK(::getenv("CUDA_VISIBLE_DEVICES") != nullptr);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_CASE("count_gpus: the library → never loaded into this process") {
  REQUIRE(ask("two").devices == 2);
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  REQUIRE_FALSE(text.empty());
  CHECK(text.find("fake_cuda") == std::string::npos);
}

TEST_CASE("count_gpus: a driver that prints → nothing of it on our standard output") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const int saved = ::dup(1);
  ::dup2(ends[1], 1);
  ::close(ends[1]);
  const auto report = ask("noisy");
  ::dup2(saved, 1);
  ::close(saved);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 0);
  ::close(ends[0]);
  CHECK(report.devices == 1);
}

TEST_CASE("count_gpus: standard streams closed → the answer still comes through") {
  int saved[3];
  for (int fd = 0; fd < 3; ++fd) {
    saved[fd] = ::fcntl(fd, F_DUPFD, 10);
    ::close(fd);
  }
  const auto report = ask("two");
  for (int fd = 0; fd < 3; ++fd) {
    ::dup2(saved[fd], fd);
    ::close(saved[fd]);
  }
  CHECK(report.devices == 2);
}

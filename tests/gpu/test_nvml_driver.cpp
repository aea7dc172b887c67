// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/nvml_driver.hpp"
#include "gpu/nvml_query.hpp"
#include "support/catch.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace peerpath::gpu;
using std::chrono::milliseconds;

namespace {

NvmlQuery query(const std::string& fake) {
  NvmlQuery query;
  query.soname = PEERPATH_FAKE_NVML_DIR "/fake_nvml_" + fake + ".so";
  return query;
}

NvmlReport ask(const std::string& fake) {
  return ask_nvml(query(fake));
}

const NvmlPeer& pair(const NvmlReport& report, const char* from, const char* to) {
  return report.peers.at({from, to});
}

constexpr auto first = "0000:3b:00.0";
constexpr auto second = "0000:3c:00.0";

}  // namespace

TEST_CASE("ask_nvml: a host with four GPUs → each with its address, memory and MIG mode") {
  const auto report = ask("four");
  INFO(report.detail);
  REQUIRE(report.outcome == DriverOutcome::answered);
  CHECK(report.detail == "nvmlDeviceGetCount_v2: 4");
  CHECK_FALSE(report.left_behind);
  REQUIRE(report.gpus.size() == 4);
  CHECK(report.gpus[0].bdf == first);
  CHECK(report.gpus[1].bdf == second);
  CHECK(report.gpus[3].bdf == "0001:3e:00.0");
  for (const auto& gpu : report.gpus) {
    CHECK(gpu.memory == 85899345920U);
    CHECK(gpu.mig == false);
  }
  CHECK(report.confidential_computing == false);
}

TEST_CASE("ask_nvml: a host with four GPUs → every ordered pair, none with itself") {
  const auto report = ask("four");
  CHECK(report.peers.size() == 12);
  for (const auto& [gpus, peer] : report.peers) {
    CHECK(gpus.first != gpus.second);
    CHECK(peer.read == "OK");
    CHECK(peer.write == "OK");
    CHECK(peer.nvlink == "NS");
    CHECK(peer.atomics == "OK");
  }
}

TEST_CASE("ask_nvml: each status of a pair → the letters of nvidia-smi") {
  const std::vector<std::string> letters{"CNS", "GNS", "TNS", "DR", "NS", "U", "U"};
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto report = ask("status_" + std::to_string(i + 1));
    CHECK(pair(report, second, first).read == letters[i]);
    CHECK(pair(report, second, first).write == letters[i]);
  }
}

TEST_CASE("ask_nvml: directions that differ → each as it is") {
  const auto report = ask("asymmetric");
  CHECK(pair(report, first, second).read == "TNS");
  CHECK(pair(report, second, first).read == "OK");
}

TEST_CASE("ask_nvml: a pair that can't be told → unknown, the others known") {
  const auto report = ask("pair_fails");
  CHECK(report.outcome == DriverOutcome::answered);
  CHECK(pair(report, first, second).read == "U");
  CHECK(pair(report, second, first).read == "OK");
}

TEST_CASE("ask_nvml: MIG on for one GPU → on for that one; what's pending doesn't count") {
  const auto report = ask("mig");
  REQUIRE(report.gpus.size() == 4);
  CHECK(report.gpus[0].mig == false);
  CHECK(report.gpus[1].mig == true);
}

TEST_CASE("ask_nvml: what the GPUs don't support → nothing, not a failure") {
  const auto report = ask("no_mig");
  REQUIRE(report.outcome == DriverOutcome::answered);
  REQUIRE(report.gpus.size() == 4);
  CHECK(report.gpus[0].mig == std::nullopt);
  CHECK(report.gpus[0].memory == std::nullopt);
  CHECK(report.confidential_computing == std::nullopt);
}

TEST_CASE("ask_nvml: an old library without MIG and confidential computing → nothing of them") {
  const auto report = ask("old");
  REQUIRE(report.outcome == DriverOutcome::answered);
  CHECK(report.gpus.at(0).mig == std::nullopt);
  CHECK(report.confidential_computing == std::nullopt);
  CHECK(report.peers.size() == 12);
}

TEST_CASE("ask_nvml: confidential computing on → on") {
  CHECK(ask("cc").confidential_computing == true);
}

TEST_CASE("ask_nvml: a call fails → that call's error, and nothing else is told") {
  struct Row {
    std::string fake;
    unsigned code;
    std::string detail;
  };
  const std::vector<Row> rows{
      {"mismatch", 18, "nvmlInit_v2: Driver/library version mismatch (18)"},
      {"no_permission", 4, "nvmlInit_v2: Insufficient Permissions (4)"},
      {"unnamed", 4711, "nvmlInit_v2: unnamed error (4711)"},
      {"lost", 15, "nvmlDeviceGetHandleByIndex_v2 of GPU 2: GPU is lost (15)"},
      {"mig_fails", 15, "nvmlDeviceGetMigMode of GPU 0: GPU is lost (15)"},
      {"cc_fails", 4, "nvmlSystemGetConfComputeState: Insufficient Permissions (4)"},
      {"odd_address", 0, "nvmlDeviceGetPciInfo_v3 of GPU 0: '0-3B' is no PCI address"},
      {"many", 0, "nvmlDeviceGetCount_v2: 65 GPUs, more than the 64 that can be told of"},
  };
  for (const auto& row : rows) {
    INFO(row.fake);
    const auto report = ask(row.fake);
    CHECK(report.outcome == DriverOutcome::call_failed);
    CHECK(report.code == row.code);
    CHECK(report.detail == row.detail);
    CHECK(report.gpus.empty());
    CHECK(report.peers.empty());
  }
}

TEST_CASE("ask_nvml: a driver without GPUs → none") {
  const auto report = ask("none");
  CHECK(report.outcome == DriverOutcome::answered);
  CHECK(report.gpus.empty());
}

TEST_CASE("ask_nvml: no such library → no driver") {
  NvmlQuery query;
  query.soname = "libnvidia-ml-that-is-not-there.so.1";
  CHECK(ask_nvml(query).outcome == DriverOutcome::no_driver);
}

TEST_CASE("ask_nvml: a library that isn't one → unusable, not absent") {
  char name[] = "/tmp/peerpath-test-XXXXXX";
  const int fd = ::mkstemp(name);
  REQUIRE(fd >= 0);
  REQUIRE(::write(fd, "not ELF", 7) == 7);
  ::close(fd);
  NvmlQuery query;
  query.soname = name;
  const auto report = ask_nvml(query);
  ::unlink(name);
  CHECK(report.outcome == DriverOutcome::unusable);
  CHECK(report.detail == std::string(name) + ": file too short");
}

TEST_CASE("ask_nvml: a library without a function that we need → unusable, naming it") {
  const auto report = ask("no_p2p");
  CHECK(report.outcome == DriverOutcome::unusable);
  CHECK(report.detail.find("has no function 'nvmlDeviceGetP2PStatus'") != std::string::npos);
}

TEST_CASE("ask_nvml: a driver that hangs → timed out at the limit, and no process stays") {
  auto hanging = query("hang");
  hanging.limit = milliseconds(200);
  const auto start = std::chrono::steady_clock::now();
  const auto report = ask_nvml(hanging);
  CHECK(report.outcome == DriverOutcome::timed_out);
  CHECK(report.detail == "no answer from the driver within 200 ms");
  CHECK_FALSE(report.left_behind);
  CHECK(std::chrono::steady_clock::now() - start < milliseconds(2'200));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("ask_nvml: a process that SIGKILL doesn't end → given up after the grace time") {
  auto hanging = query("hang");
  hanging.limit = milliseconds(50);
  hanging.grace = milliseconds(100);
  pid_t asked = 0;
  hanging.has_ended = [&](pid_t child) -> std::optional<int> {
    asked = child;
    return std::nullopt;
  };
  CHECK(ask_nvml(hanging).left_behind);
  CHECK(::waitpid(asked, nullptr, 0) == asked);
}

TEST_CASE("ask_nvml: a driver that crashes → crashed, naming the signal") {
  const auto report = ask("abort");
  CHECK(report.outcome == DriverOutcome::crashed);
  CHECK(report.detail.find("signal 6") != std::string::npos);
  CHECK(report.gpus.empty());
}

TEST_CASE("ask_nvml: a driver that ends the process → crashed, naming the status") {
  const auto report = ask("exit");
  CHECK(report.outcome == DriverOutcome::crashed);
  CHECK(report.detail == "the driver ended the asking process with exit status 7");
}

TEST_CASE("ask_nvml: an answer from a process that then doesn't end → the answer counts") {
  auto stuck = query("four");
  stuck.grace = milliseconds(50);
  pid_t asked = 0;
  stuck.has_ended = [&](pid_t child) -> std::optional<int> {
    asked = child;
    return std::nullopt;
  };
  const auto report = ask_nvml(stuck);
  CHECK(report.outcome == DriverOutcome::answered);
  CHECK(report.gpus.size() == 4);
  CHECK(report.left_behind);
  CHECK(::waitpid(asked, nullptr, 0) == asked);
}

TEST_CASE("ask_nvml: a driver that prints → nothing of it on our standard output") {
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
  CHECK(report.gpus.size() == 4);
}

TEST_CASE("ask_nvml: standard streams closed → the answer still comes through") {
  int saved[3];
  for (int fd = 0; fd < 3; ++fd) {
    saved[fd] = ::fcntl(fd, F_DUPFD, 10);
    ::close(fd);
  }
  const auto report = ask("four");
  for (int fd = 0; fd < 3; ++fd) {
    ::dup2(saved[fd], fd);
    ::close(saved[fd]);
  }
  CHECK(report.gpus.size() == 4);
}

TEST_CASE("ask_nvml: the library → never loaded into this process") {
  REQUIRE(ask("four").gpus.size() == 4);
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  REQUIRE_FALSE(text.empty());
  CHECK(text.find("fake_nvml") == std::string::npos);
}

TEST_CASE("kernel_address: what the library calls a bus id → as the kernel writes it, or nothing") {
  CHECK(kernel_address("00000000:3B:00.0") == "0000:3b:00.0");
  CHECK(kernel_address("00010000:E1:1F.7") == "10000:e1:1f.7");
  CHECK(kernel_address("0000:01:00.0") == "0000:01:00.0");
  for (const auto* text : {"", "3B:00.0", "00000000:3B:00", "00000000:3B:20.0", "00000000:3B:00.8",
                           "00000000:3BB:00.0", "0x0:3B:00.0", "100000000:3B:00.0"}) {
    INFO(text);
    CHECK_FALSE(kernel_address(text).has_value());
  }
}

TEST_CASE("ask_nvml: processes that compute on a GPU → counted, on the others none") {
  const auto report = ask("busy");
  INFO(report.detail);
  REQUIRE(report.gpus.size() == 4);
  CHECK(report.gpus[0].processes == 0U);
  CHECK(report.gpus[1].processes == 2U);
}

TEST_CASE("ask_nvml: the library can't tell of processes → not known, and the rest is") {
  for (const char* fake : {"busy_fails", "old"}) {
    INFO(fake);
    const auto report = ask(fake);
    REQUIRE(report.outcome == DriverOutcome::answered);
    CHECK_FALSE(report.gpus[1].processes);
  }
}

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

namespace peerpath::gpu {

/// What came of asking the CUDA driver how many GPUs it has.
enum class DriverOutcome {
  counted,      ///< `devices` holds; zero also where cuInit says that there is no device
  no_driver,    ///< there is no such library
  unusable,     ///< the library is there, but can't be loaded or lacks a function
  call_failed,  ///< a call failed with `code`
  timed_out,    ///< no answer within the limit
  crashed,      ///< the asking process ended without an answer
  not_asked,    ///< the asking process could not be started
};

struct DriverReport {
  DriverOutcome outcome = DriverOutcome::not_asked;
  int devices = 0;
  int version = 0;    ///< highest CUDA version of the driver, 1000 × major + 10 × minor; or 0
  unsigned code = 0;  ///< CUresult, where a call failed or there was no device
  std::string detail = {};   ///< "cuInit: CUDA_ERROR_NO_DEVICE (100)", the loader's error, …
  bool left_behind = false;  ///< the asking process didn't end on SIGKILL and is still there
};

struct DriverQuery {
  std::string soname = "libcuda.so.1";  ///< as dlopen(3) takes it
  std::chrono::milliseconds limit{60'000};
  std::chrono::milliseconds grace{2'000};  ///< how long a killed process may take to end
  /// Asks once, without waiting, whether the process has ended, and with which wait(2) status.
  /// Tests put a process here that can't be killed.
  std::function<std::optional<int>(pid_t)> has_ended = {};
};

/// Loads the CUDA driver in a child process and counts its GPUs. This process never loads it:
/// a sick GPU can make cuInit hang, even where SIGKILL can't reach it, or crash.
/// CUDA_VISIBLE_DEVICES is disregarded: the question is what the host has. Where MIG is on, CUDA
/// counts one device however many instances there are.
/// Takes at most `limit` and twice `grace`.
/// Fact: CUDA Driver API reference, cuInit, cuDeviceGetCount, cuDriverGetVersion, cuGetErrorName.
[[nodiscard]] DriverReport count_gpus(const DriverQuery& query = {});

}  // namespace peerpath::gpu

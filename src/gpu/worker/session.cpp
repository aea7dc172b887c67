// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/worker/session.hpp"

#include "gpu/driver/cuda.hpp"
#include "gpu/worker/pair_session.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace peerpath::gpu {
namespace {

using namespace std::chrono_literals;

std::optional<Job> read_job(const Parent& parent) {
  std::vector<std::string> lines;
  for (auto line = parent.line(); line != "run"; line = parent.line())
    lines.push_back(std::move(line));
  auto job = decode_job(lines);
  if (job) return *job;
  parent.say(Failed{0, "job", job.error().text()});
  return std::nullopt;
}

/// cuInit, again and again while the fabric manager isn't ready.
CudaResult<> init(const Cuda& cuda, const Job& job, const Parent& parent) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(job.not_ready_ms);
  for (;;) {
    auto done = cuda.init();
    if (done || done.error().code != cuda::system_not_ready ||
        std::chrono::steady_clock::now() >= end) {
      return done;
    }
    parent.say(Beat{});
    std::this_thread::sleep_for(200ms);
  }
}

/// What a context on the GPU says is free; zero where there can be none: the GPU is listed all the
/// same.
std::uint64_t free_memory(const Cuda& cuda, const Gpu& gpu) {
  if (gpu.prohibited) return 0;
  const auto context = Context::create(cuda, gpu.ordinal);
  return context ? context->free_memory().value_or(0) : 0;
}

CudaResult<> list(const Cuda& cuda, const Parent& parent) {
  parent.say(DriverVersion{cuda.version()});
  const auto count = cuda.device_count();
  if (!count) return tl::make_unexpected(count.error());
  for (int ordinal = 0; ordinal < *count; ++ordinal) {
    auto gpu = cuda.device(ordinal);
    if (!gpu) return tl::make_unexpected(gpu.error());
    gpu->free_memory = free_memory(cuda, *gpu);
    parent.say(*gpu);
  }
  for (int source = 0; source < *count; ++source) {
    for (int destination = 0; destination < *count; ++destination) {
      if (source == destination) continue;
      const auto peer = cuda.peer_attributes(source, destination);
      if (!peer) return tl::make_unexpected(peer.error());
      parent.say(*peer);
    }
  }
  return {};
}

}  // namespace

bool run_session(const Parent& to_parent) {
  std::uint64_t said = 0;
  const Parent parent{to_parent.line, [&](const Message& message) {
                        if (is_counted(message)) ++said;
                        to_parent.say(message);
                      }};
  const auto job = read_job(parent);
  if (!job) return false;
  const auto cuda = Cuda::load();
  if (!cuda) {
    parent.say(
        Failed{0, cuda.error().code == Errc::not_found ? "absent" : "dlopen", cuda.error().text()});
    return false;
  }
  auto done = init(*cuda, *job, parent);
  if (done) {
    done = job->kind == Job::Kind::list ? list(*cuda, parent) : run_pair(*cuda, *job, parent);
  }
  if (!done) {
    parent.say(Failed{done.error().code, done.error().call, done.error().text()});
    return false;
  }
  parent.say(Done{said});
  return true;
}

}  // namespace peerpath::gpu

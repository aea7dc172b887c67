// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/worker/pair_session.hpp"

#include "gpu/pair_tests/pair_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

namespace peerpath::gpu {
namespace {

/// One GPU with all that tests need of it. Members are taken down in the reverse order.
struct Engine {
  Context* context;
  CudaStream stream;
  std::optional<Kernels> kernels;
};

/// Why the driver's GPU isn't the one that's to be tested, or can't be; empty where it can.
CudaResult<std::string> objection(const Cuda& cuda, const Gpu& wanted) {
  const auto gpu = cuda.device(wanted.ordinal);
  if (!gpu) return tl::make_unexpected(gpu.error());
  if (gpu->uuid != wanted.uuid) {
    return fmt::format("GPU {} is {} now, not {}", wanted.ordinal, gpu->uuid, wanted.uuid);
  }
  if (gpu->prohibited) return fmt::format("{}: its compute mode is prohibited", gpu->bdf);
  // So are MIG instances named, which have no peer access by design.
  if (gpu->name.find(" MIG ") != std::string::npos) {
    return fmt::format("{}: it's a MIG instance", gpu->bdf);
  }
  return std::string();
}

CudaResult<Engine> engine(Context& context, const Parent& parent, bool& has_said) {
  auto stream = CudaStream::create(context);
  if (!stream) return tl::make_unexpected(stream.error());
  Engine made{&context, std::move(*stream), std::nullopt};
  auto kernels = Kernels::load(context);
  if (kernels) {
    made.kernels = std::move(*kernels);
  } else if (is_sticky(kernels.error().code)) {
    return tl::make_unexpected(kernels.error());
  } else if (!has_said) {
    has_said = true;
    parent.say(Note{fmt::format("tests with kernels aren't run: {}", kernels.error().text())});
  }
  return made;
}

class Session {
 public:
  Session(const Cuda& cuda, const Job& job, const Parent& parent)
      : cuda_(cuda), job_(job), parent_(parent) {
    extent_.measured_bytes = job.measured_bytes;
    extent_.measured = std::chrono::milliseconds(job.measured_ms);
    extent_.kernel_limit = std::chrono::milliseconds(job.kernel_limit_ms);
    extent_.loopback = job.loopback;
  }

  CudaResult<> run();

 private:
  struct Direction {
    Pair pair;
    PeerAttributes peer;     ///< of the source's access to the destination
    PeerAttributes reverse;  ///< of the destination's to the source
    CudaResult<> access;     ///< what came of enabling both
  };

  CudaResult<> run_tests(Engine& first, Engine& second);
  CudaResult<> run_test(Direction& direction, Test which);
  CudaResult<> run_size(Direction& direction, const PairTest& test, std::uint64_t bytes);
  /// Why a test can't be done in this direction; `passed` where it can.
  [[nodiscard]] static TestResult obstacle(const Direction& direction, const PairTest& test);
  [[nodiscard]] static bool has_access(const Direction& direction, Access needed);
  static void enable_access(Direction& direction);
  [[nodiscard]] Direction direction(const Side& source, const Side& destination,
                                    const PeerAttributes& peer,
                                    const PeerAttributes& reverse) const;
  [[nodiscard]] CudaResult<PeerAttributes> peer(const Gpu& source, const Gpu& destination) const;
  void say(const Direction& direction, TestResult result) const {
    parent_.say(
        Finished{direction.pair.source.index, direction.pair.destination.index, std::move(result)});
  }
  void refuse(const std::string& why) const;
  [[nodiscard]] bool may_begin(const Direction& direction, Test test, std::uint64_t bytes) const;

  const Cuda& cuda_;
  const Job& job_;
  const Parent& parent_;
  Extent extent_;
  bool has_said_no_kernels_ = false;
};

/// An error as a result. A lack of memory is no fault of the pair's.
TestResult failed(Test test, std::uint64_t bytes, const CudaError& error) {
  TestResult result;
  result.test = test;
  result.bytes = bytes;
  result.outcome = error.code == cuda::out_of_memory ? Outcome::inconclusive : Outcome::error;
  result.code = error.code;
  result.detail = error.text();
  return result;
}

/// Every test, in each direction: not possible to tell.
void Session::refuse(const std::string& why) const {
  for (const auto test : job_.tests) {
    TestResult result;
    result.test = test;
    result.outcome = Outcome::inconclusive;
    result.detail = why;
    parent_.say(Finished{job_.first_index, job_.second_index, result});
    if (job_.both_directions) parent_.say(Finished{job_.second_index, job_.first_index, result});
  }
}

bool Session::may_begin(const Direction& direction, Test test, std::uint64_t bytes) const {
  parent_.say(Begin{direction.pair.source.index, direction.pair.destination.index, test, bytes});
  return parent_.line() == "go";
}

CudaResult<PeerAttributes> Session::peer(const Gpu& source, const Gpu& destination) const {
  // A GPU has access to its own memory, and its atomics.
  if (job_.loopback) return PeerAttributes{source.ordinal, destination.ordinal, true, true, 0};
  return cuda_.peer_attributes(source.ordinal, destination.ordinal);
}

Session::Direction Session::direction(const Side& source, const Side& destination,
                                      const PeerAttributes& peer,
                                      const PeerAttributes& reverse) const {
  return {Pair(source, destination, job_.nonce, extent_, [this] { parent_.say(Beat{}); }),
          peer,
          reverse,
          {}};
}

void Session::enable_access(Direction& direction) {
  const auto& a = direction.pair.source.context;
  const auto& b = direction.pair.destination.context;
  if (&a == &b) return;
  if (direction.peer.access) direction.access = a.enable_peer_access(b);
  if (direction.access && direction.reverse.access) direction.access = b.enable_peer_access(a);
}

bool Session::has_access(const Direction& direction, Access needed) {
  const bool by_source = needed == Access::source || needed == Access::both;
  const bool by_destination = needed == Access::destination || needed == Access::both;
  return (!by_source || direction.peer.access) && (!by_destination || direction.reverse.access);
}

TestResult Session::obstacle(const Direction& direction, const PairTest& test) {
  TestResult result;
  result.test = test.test;
  result.outcome = Outcome::unsupported;
  const auto& pair = direction.pair;
  if (!has_access(direction, test.access)) {
    result.detail = "the driver offers no peer access";
  } else if (test.needs_kernels &&
             (pair.source.kernels == nullptr || pair.destination.kernels == nullptr)) {
    result.outcome = Outcome::not_run;
    result.detail = "no kernels for this driver and GPU";
  } else if (test.needs_atomics && !direction.peer.native_atomics) {
    result.detail = "the driver offers no native atomics";
  } else if (test.access != Access::none && !direction.access) {
    return failed(test.test, 0, direction.access.error());
  } else {
    result.outcome = Outcome::passed;
  }
  return result;
}

CudaResult<> Session::run_size(Direction& direction, const PairTest& test, std::uint64_t bytes) {
  if (!may_begin(direction, test.test, bytes)) {
    TestResult result;
    result.test = test.test;
    result.bytes = bytes;
    result.detail = "left out";
    say(direction, result);
    return {};
  }
  auto done = test.run(direction.pair, bytes,
                       [&](TestResult result) { say(direction, std::move(result)); });
  if (done) return {};
  say(direction, failed(test.test, bytes, done.error()));
  if (is_sticky(done.error().code)) return done;
  return {};
}

CudaResult<> Session::run_test(Direction& direction, Test which) {
  const auto& test = pair_test(which);
  if (const auto found = obstacle(direction, test); found.outcome != Outcome::passed) {
    say(direction, found);
    if (is_sticky(found.code)) return direction.access;
    return {};
  }
  if (!test.has_sizes) return run_size(direction, test, 0);
  for (const auto bytes : job_.sizes) {
    if (auto done = run_size(direction, test, bytes); !done) return done;
  }
  return {};
}

CudaResult<> Session::run_tests(Engine& first, Engine& second) {
  const auto side = [](const Engine& engine, std::uint8_t index) {
    return Side{*engine.context, engine.stream, engine.kernels ? &*engine.kernels : nullptr, index};
  };
  const auto a = side(first, job_.first_index);
  const auto b = side(second, job_.second_index);
  const auto there_peer = peer(job_.first, job_.second);
  if (!there_peer) return tl::make_unexpected(there_peer.error());
  const auto back_peer = peer(job_.second, job_.first);
  if (!back_peer) return tl::make_unexpected(back_peer.error());
  auto there = direction(a, b, *there_peer, *back_peer);
  auto back = direction(b, a, *back_peer, *there_peer);
  for (const auto test : job_.tests) {
    if (pair_test(test).access != Access::none) {
      enable_access(there);
      enable_access(back);
    }
    if (auto done = run_test(there, test); !done) return done;
    if (!job_.both_directions) continue;
    if (auto done = run_test(back, test); !done) return done;
  }
  return {};
}

CudaResult<> Session::run() {
  for (const auto* gpu : {&job_.first, &job_.second}) {
    const auto why = objection(cuda_, *gpu);
    if (!why) return tl::make_unexpected(why.error());
    if (why->empty()) continue;
    refuse(*why);
    return {};
  }
  auto first = Context::create(cuda_, job_.first.ordinal);
  if (!first) return tl::make_unexpected(first.error());
  auto second = Context::create(cuda_, job_.second.ordinal);
  if (!second && !job_.loopback) return tl::make_unexpected(second.error());
  const bool one_context = job_.loopback && (!second || !first->enable_peer_access(*second) ||
                                             !second->enable_peer_access(*first));
  if (job_.loopback) {
    parent_.say(Note{fmt::format(
        "loopback: the GPU is both source and destination, in {}: nothing is proven of any path "
        "between GPUs",
        one_context ? "one context" : "two contexts")});
  }
  auto engine_a = engine(*first, parent_, has_said_no_kernels_);
  if (!engine_a) return tl::make_unexpected(engine_a.error());
  auto engine_b = engine(one_context ? *first : *second, parent_, has_said_no_kernels_);
  if (!engine_b) return tl::make_unexpected(engine_b.error());
  return run_tests(*engine_a, *engine_b);
}

}  // namespace

bool is_sticky(cuda::Code code) {
  // 226 contained; 710 assert; 714 to 718 hardware stack, instruction, alignment, address space,
  // program counter.
  constexpr auto sticky = std::to_array<cuda::Code>(
      {cuda::ecc_uncorrectable, cuda::nvlink_uncorrectable, 226, cuda::illegal_address,
       cuda::launch_timeout, 710, 714, 715, 716, 717, 718, cuda::launch_failed, cuda::unknown});
  return std::find(sticky.begin(), sticky.end(), code) != sticky.end();
}

CudaResult<> run_pair(const Cuda& cuda, const Job& job, const Parent& parent) {
  return Session(cuda, job, parent).run();
}

}  // namespace peerpath::gpu

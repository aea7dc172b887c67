// SPDX-License-Identifier: GPL-2.0-or-later
// The device code. Plain loads and stores go where the address says: on memory of a peer, over its
// window. What has to be seen by the other GPU goes with system scope.
//
// Fact for release and acquire: PTX ISA, "Memory Consistency Model"; both need sm_70. %globaltimer:
// PTX ISA, "Special Registers"; in ns, with a resolution that depends on the GPU (up to 1 µs).
#include "gpu/kernels/parameters.hpp"

using namespace peerpath::gpu;
using namespace peerpath::gpu::kernel;

namespace {

using Word = unsigned long long;

__device__ Word* words_at(Address address) {
  return reinterpret_cast<Word*>(address);
}

__device__ Word thread_index() {
  return static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ Word thread_count() {
  return static_cast<Word>(gridDim.x) * blockDim.x;
}

__device__ Word now_ns() {
  Word time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
  return time;
}

__device__ void store_release(Word* to, Word value) {
  asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

__device__ Word load_acquire(const Word* from) {
  Word value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

// A load that no cache answers: of memory that a peer has just written.
__device__ Word load_fresh(const Word* from) {
  Word value;
  asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

// Whether it came before the limit.
__device__ bool wait_for(const Word* flag, Word value, Word deadline) {
  while (load_acquire(flag) != value) {
    if (now_ns() > deadline) return load_acquire(flag) == value;
  }
  return true;
}

}  // namespace

extern "C" {

__global__ void peerpath_fill(FillParameters p) {
  Word* const buffer = words_at(p.buffer);
  for (Word i = thread_index(); i < p.words; i += thread_count()) {
    buffer[i] = word_at(p.what.nonce, p.what.stream, p.what.first_index + i);
  }
  __threadfence_system();
}

__global__ void peerpath_poison(PoisonParameters p) {
  Word* const buffer = words_at(p.buffer);
  for (Word i = thread_index(); i < p.words; i += thread_count())
    buffer[i] = p.value;
  __threadfence_system();
}

// A block takes a page at a time, so that a bad page is counted once.
__global__ void peerpath_verify(VerifyParameters p) {
  const Word* const buffer = words_at(p.buffer);
  auto* const tally = reinterpret_cast<Tally*>(p.tally);
  const Word pages = (p.words + words_per_page - 1) / words_per_page;
  __shared__ unsigned int page_is_bad;
  Word right = 0;
  for (Word page = blockIdx.x; page < pages; page += gridDim.x) {
    if (threadIdx.x == 0) page_is_bad = 0;
    __syncthreads();
    const Word end = min(static_cast<Word>(p.words), (page + 1) * words_per_page);
    for (Word i = page * words_per_page + threadIdx.x; i < end; i += blockDim.x) {
      const auto index = static_cast<std::uint32_t>(p.expected.first_index + i);
      const Word word = load_fresh(buffer + i);
      if (word == word_at(p.expected.nonce, p.expected.stream, index)) {
        ++right;
        continue;
      }
      const auto kind = judge_word(word, index, p.expected);
      atomicAdd(&tally->counts[static_cast<unsigned>(kind)], 1ULL);
      atomicMin(&tally->first_bad, i);
      atomicMax(&tally->last_bad, i);
      page_is_bad = 1;
    }
    __syncthreads();
    if (threadIdx.x == 0 && page_is_bad != 0) atomicAdd(&tally->bad_pages, 1ULL);
  }
  if (right != 0) atomicAdd(&tally->counts[static_cast<unsigned>(WordKind::right)], right);
}

__global__ void peerpath_copy(CopyParameters p) {
  const Word* const from = words_at(p.from);
  Word* const to = words_at(p.to);
  for (Word i = thread_index(); i < p.words; i += thread_count())
    to[i] = load_fresh(from + i);
  __threadfence_system();
}

__global__ void peerpath_ping_pong(PingPongParameters p) {
  Word* const mine = words_at(p.mine);
  Word* const theirs = words_at(p.theirs);
  auto* const result = reinterpret_cast<PingPongResult*>(p.result);
  const Word began = now_ns();
  const Word deadline = began + p.limit_ns;
  Word round = 1;
  Word wrong = 0;
  bool in_time = true;
  for (; round <= p.rounds; ++round) {
    const Word word = word_at(p.nonce, p.stream, static_cast<std::uint32_t>(round));
    if (p.is_first != 0) {
      theirs[1] = word;
      store_release(theirs, round);
    }
    in_time = wait_for(mine, round, deadline);
    if (!in_time) break;
    if (load_fresh(mine + 1) != word) ++wrong;
    if (p.is_first == 0) {
      theirs[1] = word;
      store_release(theirs, round);
    }
  }
  result->rounds_done = round - 1;
  result->wrong_words = wrong;
  result->elapsed_ns = now_ns() - began;
  result->finished = in_time ? 1 : 0;
}

__global__ void peerpath_atomics(AtomicsParameters p) {
  Word* const counter = words_at(p.counter);
  const Word deadline = now_ns() + p.limit_ns;
  for (Word i = 0; i < p.times; ++i) {
    atomicAdd_system(counter, 1ULL);
    Word seen = load_fresh(counter + 1);
    while (now_ns() < deadline) {
      const Word before = atomicCAS_system(counter + 1, seen, seen + 1);
      if (before == seen) break;
      seen = before;
    }
  }
  atomicOr_system(counter + 2, 1ULL << p.side);
}

__global__ void peerpath_chase(ChaseParameters p) {
  const Word* const chain = words_at(p.chain);
  auto* const result = reinterpret_cast<ChaseResult*>(p.result);
  const Word began = now_ns();
  Word at = 0;
  for (Word hop = 0; hop < p.hops && at < p.words; ++hop)
    at = load_fresh(chain + at);
  result->last = at;
  result->elapsed_ns = now_ns() - began;
}

}  // extern "C"

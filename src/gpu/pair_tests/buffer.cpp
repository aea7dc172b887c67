// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/pair_tests/buffer.hpp"

#include "gpu/kernels/host_tally.hpp"
#include "gpu/kernels/parameters.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace peerpath::gpu {
namespace {

constexpr std::uint64_t guard_bytes = 4096;
/// The size that is tried off a page's start, and by how much.
constexpr std::uint64_t unaligned_size = 65536;
constexpr std::uint64_t unaligned_by = 8;
constexpr unsigned block = 256;

using Words = std::vector<std::uint64_t>;

/// Does it piece by piece: `act(first word, words)`.
CudaResult<> by_pieces(std::uint64_t words,
                       const std::function<CudaResult<>(std::uint64_t, std::uint64_t)>& act) {
  constexpr auto piece = piece_bytes / 8;
  for (std::uint64_t first = 0; first < words; first += piece) {
    if (auto done = act(first, std::min(piece, words - first)); !done) return done;
  }
  return {};
}

Expectation from_word(Expectation what, std::uint64_t first) {
  what.first_index += static_cast<std::uint32_t>(first);
  return what;
}

CudaResult<Tally> tally_by_copy(
    std::uint64_t words, const Expectation& expected, const Pair& pair,
    const std::function<CudaResult<>(std::span<std::byte>, std::uint64_t)>& to_host) {
  Tally tally = empty_tally();
  Words host;
  auto done = by_pieces(words, [&](std::uint64_t first, std::uint64_t count) {
    // What a copy that does nothing leaves is not what an earlier piece was.
    host.assign(count, expected.poison);
    auto copied = to_host(std::as_writable_bytes(std::span(host)), first * 8);
    if (copied) add_part(tally, tally_of(host, from_word(expected, first)), first);
    pair.beat();
    return copied;
  });
  if (!done) return tl::make_unexpected(done.error());
  return tally;
}

/// A kernel of `reader`'s reads at the address, wherever that memory is.
CudaResult<Tally> tally_by_kernel(const Side& reader, cuda::Address address, std::uint64_t words,
                                  const Expectation& expected) {
  Tally tally = empty_tally();
  auto memory = DeviceMemory::allocate(reader.context, sizeof(Tally));
  if (!memory) return tl::make_unexpected(memory.error());
  auto done = reader.context.to_device(memory->address(), std::as_bytes(std::span(&tally, 1)));
  if (done) {
    done = reader.kernels->launch(
        reader.stream, kernel::verify, reader.kernels->full_grid(), kernel::verify_block,
        kernel::VerifyParameters{address, words, expected, memory->address()});
  }
  if (done) done = reader.stream.synchronize();
  if (done) {
    done = reader.context.to_host(std::as_writable_bytes(std::span(&tally, 1)), memory->address());
  }
  if (!done) return tl::make_unexpected(done.error());
  return tally;
}

/// Through the window into the reader's own memory, and from there to the host.
CudaResult<Tally> tally_by_window_copy(const Side& reader, cuda::Address address,
                                       std::uint64_t words, const Expectation& expected,
                                       const Pair& pair) {
  auto own = DeviceMemory::allocate(reader.context, std::min(words * 8, piece_bytes));
  if (!own) return tl::make_unexpected(own.error());
  return tally_by_copy(words, expected, pair, [&](std::span<std::byte> host, std::uint64_t offset) {
    auto done = reader.context.device_to_device(own->address(), address + offset, host.size());
    return done ? reader.context.to_host(host, own->address()) : done;
  });
}

CudaResult<> store(const Side& owner, cuda::Address address, std::uint64_t words,
                   const std::function<void(std::span<std::uint64_t>, std::uint64_t)>& make) {
  Words host;
  return by_pieces(words, [&](std::uint64_t first, std::uint64_t count) {
    host.resize(count);
    make(host, first);
    return owner.context.to_device(address + first * 8, std::as_bytes(std::span(host)));
  });
}

}  // namespace

CudaResult<Buffer> Buffer::allocate(const Side& owner, std::uint64_t bytes) {
  const auto front = guard_bytes + (bytes == unaligned_size ? unaligned_by : 0);
  auto memory = DeviceMemory::allocate(owner.context, front + bytes + guard_bytes);
  if (!memory) return tl::make_unexpected(memory.error());
  return Buffer(owner, std::move(*memory), front, bytes);
}

CudaResult<> Buffer::poison(std::uint64_t value) const {
  const auto all = memory_.bytes() / 8;
  if (owner_->kernels != nullptr) {
    auto done =
        owner_->kernels->launch(owner_->stream, kernel::poison, owner_->kernels->full_grid(), block,
                                kernel::PoisonParameters{memory_.address(), all, value});
    return done ? owner_->stream.synchronize() : done;
  }
  return store(*owner_, memory_.address(), all, [&](std::span<std::uint64_t> words, std::uint64_t) {
    std::fill(words.begin(), words.end(), value);
  });
}

CudaResult<> Buffer::fill(const Expectation& what) const {
  if (owner_->kernels != nullptr) {
    auto done = owner_->kernels->launch(owner_->stream, kernel::fill, owner_->kernels->full_grid(),
                                        block, kernel::FillParameters{address(), words(), what});
    return done ? owner_->stream.synchronize() : done;
  }
  return store(*owner_, address(), words(),
               [&](std::span<std::uint64_t> words, std::uint64_t first) {
                 fill_words(words, from_word(what, first));
               });
}

CudaResult<GuardTally> Buffer::guards(std::uint64_t poison) const {
  GuardTally tally;
  const auto look = [&](std::uint64_t offset, std::uint64_t bytes) {
    Words host(bytes / 8);
    auto done = owner_->context.to_host(std::as_writable_bytes(std::span(host)),
                                        memory_.address() + offset);
    for (std::size_t i = 0; done && i < host.size(); ++i) {
      if (host[i] == poison) continue;
      if (tally.bad_words++ == 0) {
        tally.first_bad = static_cast<std::int64_t>(offset + i * 8 - front_);
      }
    }
    return done;
  };
  auto done = look(0, front_);
  if (done) done = look(front_ + bytes_, guard_bytes);
  if (!done) return tl::make_unexpected(done.error());
  return tally;
}

CudaResult<Tally> Buffer::tally_by_owner_copy(const Expectation& expected, const Pair& pair) const {
  return tally_by_copy(words(), expected, pair,
                       [&](std::span<std::byte> host, std::uint64_t offset) {
                         return owner_->context.to_host(host, address() + offset);
                       });
}

CudaResult<bool> Buffer::is_right(const Expectation& expected, const Pair& pair) const {
  const auto tally = owner_->kernels != nullptr
                         ? tally_by_kernel(*owner_, address(), words(), expected)
                         : tally_by_owner_copy(expected, pair);
  if (!tally) return tl::make_unexpected(tally.error());
  return tally->counts[static_cast<unsigned>(WordKind::right)] == words();
}

CudaResult<Reads> Buffer::read(const Expectation& expected, const Side* peer,
                               const Pair& pair) const {
  Reads reads;
  const auto put = [](auto& to, auto from) -> CudaResult<> {
    if (!from) return tl::make_unexpected(from.error());
    to = *from;
    return {};
  };
  CudaResult<> done;
  // The kernel first: a copy to the host may flush what a kernel would still see.
  if (owner_->kernels != nullptr) {
    done = put(reads.owner_kernel, tally_by_kernel(*owner_, address(), words(), expected));
  }
  if (done) {
    done = put(reads.owner_copy, tally_by_owner_copy(expected, pair));
  }
  if (done) done = put(reads.guards, guards(expected.poison));
  if (!done) return tl::make_unexpected(done.error());
  if (is_right_for_owner(reads) || peer == nullptr) return reads;
  if (auto copied = tally_by_window_copy(*peer, address(), words(), expected, pair)) {
    reads.window_copy = *copied;
  }
  if (peer->kernels != nullptr) {
    if (auto loaded = tally_by_kernel(*peer, address(), words(), expected)) {
      reads.window_kernel = *loaded;
    }
  }
  return reads;
}

CudaResult<> transfer_twice(Pair& pair, const Transfer& transfer, std::uint64_t bytes,
                            const Report& report, const Act& act) {
  auto from = Buffer::allocate(transfer.giver, bytes);
  if (!from) return tl::make_unexpected(from.error());
  auto to = Buffer::allocate(transfer.receiver, bytes);
  if (!to) return tl::make_unexpected(to.error());
  for (const bool reused : {false, true}) {
    const auto what = pair.next_fill(transfer.test);
    TestResult result;
    result.test = transfer.test;
    result.bytes = bytes;
    result.reused = reused;
    auto done = to->poison(what.poison);
    if (done) done = from->fill(what);
    if (done) done = act(*from, *to, what, result);
    pair.beat();
    if (!done) return done;
    auto reads = to->read(what, transfer.by_window ? &transfer.giver : nullptr, pair);
    if (!reads) return tl::make_unexpected(reads.error());
    judge(*reads, result);
    report(std::move(result));
  }
  return {};
}

}  // namespace peerpath::gpu

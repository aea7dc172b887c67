// SPDX-License-Identifier: GPL-2.0-or-later
// The driver's functions on simulated GPUs: README.md. Nothing is ever destroyed at the process's
// end, since a stream that hangs still uses it.
#include "config.hpp"
#include "gpu/cuda_abi.hpp"
#include "gpu/kernels/parameters.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

namespace gpu = peerpath::gpu;
namespace cuda = peerpath::gpu::cuda;
namespace kernel = peerpath::gpu::kernel;
using cuda::Address;
using cuda::Code;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// A private mirror: what one GPU wrote that never reached the owner.
struct Mirror {
  Bytes data, valid;
};
struct Allocation {
  int owner = 0;
  Bytes data;
  std::map<int, Mirror> mirrors;  ///< by accessing GPU
};
struct Context {
  int gpu = 0;
  std::set<int> peers;
  std::atomic<Code> error{0};  ///< sticky
};
struct Event {
  double ns = 0;
  bool is_recorded = false;
};
struct Stream {
  Context* context = nullptr;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<double()>> work;  ///< each returns its modelled nanoseconds
  bool is_busy = false, ends = false;
  double clock_ns = 0;
};
struct Function {
  std::string name;
};

struct Machine {
  sim::Config config = sim::read_config();
  std::recursive_mutex mutex;  ///< of all memory
  std::map<Address, std::shared_ptr<Allocation>> memory;
  std::map<int, Address> next;
  std::map<int, std::uint64_t> used;
  std::map<std::pair<int, std::size_t>, Bytes> freed;  ///< by owner and size: what stays there
  std::map<int, int> contexts;
  std::map<Context*, std::set<Stream*>> streams;
  std::map<std::tuple<int, Address, std::uint64_t>, Bytes> delivered;  ///< for stale
  std::map<const sim::Knob*, std::uint64_t> fired;                     ///< of those that count
  std::atomic<std::uint64_t> nonce{0};
  int lock = -1;
  std::atomic<int> users{0};
};
Machine& machine() {
  static auto* const made = new Machine;
  return *made;
}
thread_local Context* current = nullptr;

// ---- other processes: a read lock on the configuration file while something is under way

void lock_file(short kind) {
  struct flock lock {};
  lock.l_type = kind;
  fcntl(machine().lock, F_SETLK, &lock);
}
struct UnderWay {
  UnderWay() {
    Machine& m = machine();
    const std::lock_guard guard(m.mutex);
    if (m.lock < 0) m.lock = open(m.config.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (m.users++ == 0) lock_file(F_RDLCK);
  }
  ~UnderWay() {
    const std::lock_guard guard(machine().mutex);
    if (--machine().users == 0) lock_file(F_UNLCK);
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
};
bool others_are_busy() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  return fcntl(machine().lock, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

const sim::Knob* knob_for(const char* op, int from, int to, std::uint64_t bytes,
                          const std::set<std::string>& kinds) {
  for (const sim::Knob& knob : machine().config.knobs) {
    if (!kinds.contains(knob.kind) || (!knob.op.empty() && knob.op != op)) continue;
    if ((knob.from >= 0 && knob.from != from) || (knob.to >= 0 && knob.to != to)) continue;
    if (from == to && (knob.from < 0 || knob.to < 0)) continue;
    if (bytes < knob.min_bytes || bytes > knob.max_bytes) continue;
    if (knob.concurrent && !others_are_busy()) continue;
    if (knob.after != 0 || knob.times != ~0ULL) {
      const std::lock_guard guard(machine().mutex);
      const auto before = machine().fired[&knob]++;
      if (before < knob.after || before - knob.after >= knob.times) continue;
    }
    return &knob;
  }
  return nullptr;
}
[[noreturn]] void hang() {
  for (;;)
    pause();
}
Code calls_fault(const char* op, int from, int to, std::uint64_t bytes) {
  if (knob_for(op, from, to, bytes, {"abort"}) != nullptr) std::abort();
  const auto* knob = knob_for(op, from, to, bytes, {"error"});
  return knob != nullptr ? knob->code : 0;
}
double time_of(const char* op, int from, int to, std::uint64_t bytes) {
  const sim::Way way = machine().config.way(from, to);
  double ns = way.ns + static_cast<double>(bytes) / way.bytes_per_second * 1e9;
  if (const auto* slow = knob_for(op, from, to, bytes, {"slow"})) ns *= slow->factor;
  if (const auto* fast = knob_for(op, from, to, bytes, {"fast"})) ns /= fast->factor;
  return ns;
}

// ---- memory

struct Place {
  std::shared_ptr<Allocation> allocation;
  std::uint64_t offset = 0;
  [[nodiscard]] std::uint8_t* host() const { return allocation->data.data() + offset; }
};
Place find(Address address, std::uint64_t bytes) {
  Machine& m = machine();
  const std::lock_guard guard(m.mutex);
  auto next = m.memory.upper_bound(address);
  if (next == m.memory.begin()) return {};
  --next;
  const std::uint64_t offset = address - next->first;
  const std::uint64_t size = next->second->data.size();
  if (offset > size || bytes > size - offset) return {};
  return {next->second, offset};
}
bool may_access(const Context& context, const Place& place) {
  return place.allocation->owner == context.gpu || context.peers.contains(place.allocation->owner);
}

void write_plainly(const Place& place, const std::uint8_t* data, std::uint64_t bytes) {
  const std::lock_guard guard(machine().mutex);
  std::memcpy(place.host(), data, bytes);
  for (auto& [who, mirror] : place.allocation->mirrors)
    std::memset(mirror.valid.data() + place.offset, 0, bytes);
}
void write_mirror(int from, const Place& place, const std::uint8_t* data, std::uint64_t bytes) {
  const std::lock_guard guard(machine().mutex);
  Mirror& mirror = place.allocation->mirrors[from];
  mirror.data.resize(place.allocation->data.size());
  mirror.valid.resize(place.allocation->data.size());
  std::memcpy(mirror.data.data() + place.offset, data, bytes);
  std::memset(mirror.valid.data() + place.offset, 1, bytes);
}
void read_window(int from, const Place& place, std::uint8_t* to, std::uint64_t bytes) {
  const std::lock_guard guard(machine().mutex);
  std::memcpy(to, place.host(), bytes);
  const auto found = place.allocation->mirrors.find(from);
  if (found == place.allocation->mirrors.end()) return;
  for (std::uint64_t i = 0; i < bytes; ++i)
    if (found->second.valid[place.offset + i] != 0) to[i] = found->second.data[place.offset + i];
}

/// The word that another pair would have there, or the same pair at the next index.
std::uint64_t moved(std::uint64_t word, bool other_pair) {
  gpu::WordPlace place;
  const std::uint64_t nonce = machine().nonce;
  if (!gpu::decode(nonce, word, place)) return ~word;
  if (other_pair)
    place.stream.source = (place.stream.source + 1) & 63;
  else
    ++place.index;
  return gpu::word_at(nonce, place.stream.packed(), place.index);
}

const std::set<std::string> data_kinds{"zeros",         "all-ones", "stale",
                                       "other-pair",    "shifted",  "few-bits",
                                       "never-written", "overrun",  "mirror"};

/// Spoils `data` as the knob says. `key` names the place, for what is stale.
void spoil(const std::string& kind, int from, Address key, Bytes& data) {
  const auto words = data.size() / 8;
  auto* const word = reinterpret_cast<std::uint64_t*>(data.data());
  if (kind == "zeros") std::fill(data.begin(), data.end(), 0);
  if (kind == "all-ones") std::fill(data.begin(), data.end(), 0xFF);
  if (kind == "few-bits" && words > 0) word[words / 2] ^= 0x10;
  if (kind == "other-pair" || kind == "shifted")
    for (std::uint64_t i = 0; i < words; ++i)
      word[i] = moved(word[i], kind == "other-pair");
  if (kind == "stale") {
    const std::lock_guard guard(machine().mutex);
    Bytes& before = machine().delivered[{from, key, data.size()}];
    Bytes now = data;
    if (before.size() == data.size()) data = before;
    before = std::move(now);
  }
}

/// A write by `from` to memory of any GPU, as it arrives.
void write(const char* op, int from, const Place& place, Address key, Bytes data) {
  const auto* knob = knob_for(op, from, place.allocation->owner, data.size(), data_kinds);
  const std::string kind = knob != nullptr ? knob->kind : "";
  if (kind == "never-written") return;
  spoil(kind, from, key, data);
  if (kind == "mirror") return write_mirror(from, place, data.data(), data.size());
  write_plainly(place, data.data(), data.size());
  const std::uint64_t after = place.offset + data.size();
  if (kind == "overrun" && after + 8 <= place.allocation->data.size())
    write_plainly({place.allocation, after}, data.data(), std::min<std::uint64_t>(8, data.size()));
}
/// What `from` reads. `false`: nothing arrives.
bool read(const char* op, int from, const Place& place, Address key, Bytes& data) {
  const auto* knob = knob_for(op, from, place.allocation->owner, data.size(), data_kinds);
  read_window(from, place, data.data(), data.size());
  if (knob == nullptr) return true;
  if (knob->kind == "never-written") return false;
  if (knob->kind != "overrun" && knob->kind != "mirror") spoil(knob->kind, from, key, data);
  return true;
}

// ---- streams

void serve(Stream* stream) {
  std::unique_lock lock(stream->mutex);
  for (;;) {
    stream->changed.wait(lock, [&] { return !stream->work.empty() || stream->ends; });
    if (stream->work.empty()) break;
    auto work = std::move(stream->work.front());
    stream->work.pop_front();
    stream->is_busy = true;
    lock.unlock();
    const double ns = work();
    lock.lock();
    stream->clock_ns += ns;
    stream->is_busy = false;
    stream->changed.notify_all();
  }
  lock.unlock();
  delete stream;
}
void enqueue(Stream* stream, std::function<double()> work) {
  const std::lock_guard lock(stream->mutex);
  stream->work.push_back(std::move(work));
  stream->changed.notify_all();
}
Code wait_for(Stream* stream) {
  std::unique_lock lock(stream->mutex);
  stream->changed.wait(lock, [&] { return stream->work.empty() && !stream->is_busy; });
  return stream->context->error;
}
Stream* make_stream(Context* context) {
  auto* const stream = new Stream;
  stream->context = context;
  {
    const std::lock_guard guard(machine().mutex);
    machine().streams[context].insert(stream);
  }
  std::thread(serve, stream).detach();
  return stream;
}
Stream* stream_of(cuda::StreamHandle handle) {
  if (handle != nullptr) return reinterpret_cast<Stream*>(handle);
  const std::lock_guard guard(machine().mutex);
  static auto* const defaults = new std::map<Context*, Stream*>;
  Stream*& stream = (*defaults)[current];
  if (stream == nullptr) stream = make_stream(current);
  return stream;
}

// ---- kernels

template <class T>
T parameters_of(void** parameters) {
  T copy;
  std::memcpy(&copy, parameters[0], sizeof copy);
  return copy;
}

struct Bad {};  // an access without permission
Place reach(const Context& context, Address address, std::uint64_t bytes) {
  Place place = find(address, bytes);
  if (!place.allocation || !may_access(context, place)) throw Bad{};
  return place;
}
double store(const Context& context, Address to, Bytes data) {
  const Place place = reach(context, to, data.size());
  const int owner = place.allocation->owner;
  if (knob_for("sm-store", context.gpu, owner, data.size(), {"hang"}) != nullptr) hang();
  const double ns = time_of("sm-store", context.gpu, owner, data.size());
  write("sm-store", context.gpu, place, to, std::move(data));
  return ns;
}
std::optional<Bytes> load(const Context& context, Address from, std::uint64_t bytes, double& ns) {
  const Place place = reach(context, from, bytes);
  const int owner = place.allocation->owner;
  if (knob_for("sm-load", context.gpu, owner, bytes, {"hang"}) != nullptr) hang();
  ns = time_of("sm-load", context.gpu, owner, bytes);
  Bytes data(bytes);
  if (!read("sm-load", context.gpu, place, from, data)) return std::nullopt;
  return data;
}
std::uint64_t* words_of(Bytes& data) {
  return reinterpret_cast<std::uint64_t*>(data.data());
}

double run_fill(const Context& context, const kernel::FillParameters& p) {
  machine().nonce = p.what.nonce;
  Bytes data(p.words * 8);
  for (std::uint64_t i = 0; i < p.words; ++i)
    words_of(data)[i] = gpu::word_at(p.what.nonce, p.what.stream,
                                     p.what.first_index + static_cast<std::uint32_t>(i));
  return store(context, p.buffer, std::move(data));
}
double run_poison(const Context& context, const kernel::PoisonParameters& p) {
  Bytes data(p.words * 8);
  std::fill_n(words_of(data), p.words, p.value);
  return store(context, p.buffer, std::move(data));
}
double run_verify(const Context& context, const kernel::VerifyParameters& p) {
  machine().nonce = p.expected.nonce;
  double ns = 0;
  auto data = load(context, p.buffer, p.words * 8, ns);
  if (!data) data = Bytes(p.words * 8);
  const Place place = reach(context, p.tally, sizeof(gpu::Tally));
  gpu::Tally tally;
  std::memcpy(&tally, place.host(), sizeof tally);
  std::uint64_t last_page = ~0ULL;
  for (std::uint64_t i = 0; i < p.words; ++i) {
    const auto kind = gpu::judge_word(
        words_of(*data)[i], p.expected.first_index + static_cast<std::uint32_t>(i), p.expected);
    ++tally.counts[static_cast<unsigned>(kind)];
    if (kind == gpu::WordKind::right) continue;
    tally.first_bad = std::min<unsigned long long>(tally.first_bad, i);
    tally.last_bad = std::max<unsigned long long>(tally.last_bad, i);
    if (i / gpu::words_per_page != last_page) ++tally.bad_pages;
    last_page = i / gpu::words_per_page;
  }
  write_plainly(place, reinterpret_cast<const std::uint8_t*>(&tally), sizeof tally);
  return ns;
}
double run_copy(const Context& context, const kernel::CopyParameters& p) {
  double ns = 0;
  auto data = load(context, p.from, p.words * 8, ns);
  if (!data) return ns;
  return std::max(ns, store(context, p.to, std::move(*data)));
}
std::atomic_ref<std::uint64_t> word(const Place& place, std::uint64_t index) {
  return std::atomic_ref(reinterpret_cast<std::uint64_t*>(place.host())[index]);
}
double run_ping_pong(const Context& context, const kernel::PingPongParameters& p) {
  const Place mine = reach(context, p.mine, 16), theirs = reach(context, p.theirs, 16);
  const Place result = reach(context, p.result, sizeof(kernel::PingPongResult));
  const int peer = theirs.allocation->owner;
  if (knob_for("flag", context.gpu, peer, 16, {"not-run"}) != nullptr) return 0;
  const bool lost = knob_for("flag", context.gpu, peer, 16,
                             {"hang", "zeros", "never-written", "mirror"}) != nullptr;
  const bool bare = knob_for("flag", context.gpu, peer, 16, {"lost-flag"}) != nullptr;
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(p.limit_ns);
  kernel::PingPongResult r{0, 0, 0, 1};
  const auto send = [&](std::uint64_t round) {
    if (lost) return;
    if (!bare)
      word(theirs, 1).store(gpu::word_at(p.nonce, p.stream, static_cast<std::uint32_t>(round)));
    word(theirs, 0).store(round);
  };
  for (std::uint64_t round = 1; round <= p.rounds && r.finished != 0; ++round) {
    if (p.is_first != 0) send(round);
    // Asleep before long: on a busy machine the other side's thread needs the processor.
    for (unsigned looks = 0; word(mine, 0).load() != round && r.finished != 0; ++looks) {
      if (looks < 64)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (std::chrono::steady_clock::now() > end) r.finished = 0;
    }
    if (r.finished == 0) break;
    if (word(mine, 1).load() != gpu::word_at(p.nonce, p.stream, static_cast<std::uint32_t>(round)))
      ++r.wrong_words;
    if (p.is_first == 0) send(round);
    r.rounds_done = round;
  }
  const double ns = 2 * static_cast<double>(r.rounds_done) * time_of("flag", context.gpu, peer, 16);
  r.elapsed_ns = static_cast<unsigned long long>(ns);
  write_plainly(result, reinterpret_cast<const std::uint8_t*>(&r), sizeof r);
  return ns;
}
double run_atomics(const Context& context, const kernel::AtomicsParameters& p, unsigned threads) {
  const Place place = reach(context, p.counter, 24);
  const int owner = place.allocation->owner;
  if (knob_for("atomics", context.gpu, owner, 24, {"hang"}) != nullptr) hang();
  const bool loses = knob_for("atomics", context.gpu, owner, 24, {"lost-atomic"}) != nullptr;
  word(place, 0).fetch_add(threads * p.times - (loses ? 1 : 0));
  word(place, 1).fetch_add(threads * p.times);
  word(place, 2).fetch_or(1ULL << p.side);
  return time_of("atomics", context.gpu, owner, 24) * static_cast<double>(p.times);
}
double run_chase(const Context& context, const kernel::ChaseParameters& p) {
  const Place result = reach(context, p.result, sizeof(kernel::ChaseResult));
  const int owner = reach(context, p.chain, 8).allocation->owner;
  if (knob_for("sm-load", context.gpu, owner, 8, {"not-run"}) != nullptr) return 0;
  std::uint64_t at = 0;
  double ns = 0;
  for (std::uint64_t i = 0; i < p.hops && at < p.words; ++i)
    std::memcpy(&at, reach(context, p.chain + at * 8, 8).host(), 8);
  ns = static_cast<double>(p.hops) * time_of("sm-load", context.gpu, owner, 8);
  const kernel::ChaseResult r{at, static_cast<unsigned long long>(ns)};
  write_plainly(result, reinterpret_cast<const std::uint8_t*>(&r), sizeof r);
  return ns;
}

std::function<double(const Context&)> bind(const std::string& name, void** p, unsigned threads) {
  const auto as = [p]<class T>(double (*run)(const Context&, const T&)) {
    return [run, copy = parameters_of<T>(p)](const Context& c) { return run(c, copy); };
  };
  if (name == kernel::fill) return as(run_fill);
  if (name == kernel::poison) return as(run_poison);
  if (name == kernel::verify) return as(run_verify);
  if (name == kernel::copy) return as(run_copy);
  if (name == kernel::ping_pong) return as(run_ping_pong);
  if (name == kernel::chase) return as(run_chase);
  if (name == kernel::atomics)
    return [q = parameters_of<kernel::AtomicsParameters>(p), threads](const Context& c) {
      return run_atomics(c, q, threads);
    };
  return {};
}

/// Which GPU's memory a kernel is about, for the faults of the call itself.
struct About {
  const char* op;
  Address address;
  std::uint64_t bytes;
};
std::vector<About> about(const std::string& name, void** p) {
  if (name == kernel::fill) {
    const auto q = parameters_of<kernel::FillParameters>(p);
    return {{"sm-store", q.buffer, q.words * 8}};
  }
  if (name == kernel::copy) {
    const auto q = parameters_of<kernel::CopyParameters>(p);
    return {{"sm-load", q.from, q.words * 8}, {"sm-store", q.to, q.words * 8}};
  }
  if (name == kernel::ping_pong)
    return {{"flag", parameters_of<kernel::PingPongParameters>(p).theirs, 16}};
  if (name == kernel::atomics)
    return {{"atomics", parameters_of<kernel::AtomicsParameters>(p).counter, 24}};
  return {};
}

bool denied(const std::vector<std::pair<int, int>>& pairs, int a, int b) {
  return std::count(pairs.begin(), pairs.end(), std::pair{a, b}) != 0;
}
bool can_access(int a, int b) {
  const sim::Config& c = machine().config;
  return a != b && !denied(c.no_access, a, b) && c.way(a, b).exists;
}
bool is_gpu(int device) {
  return device >= 0 && static_cast<std::size_t>(device) < machine().config.gpus.size();
}
const sim::SimGpu& gpu_at(int device) {
  return machine().config.gpus[static_cast<std::size_t>(device)];
}
void host_fault(const char* op, int device, Bytes& data) {
  if (data.size() != 8 && data.size() < 4096) return;  // tallies and results stay right
  for (const sim::Knob& knob : machine().config.knobs)
    if (knob.kind == "host-fault" && (knob.to < 0 || knob.to == device) &&
        (knob.op.empty() || knob.op == op) && data.size() >= knob.min_bytes &&
        data.size() <= knob.max_bytes)
      data[data.size() / 16 * 8] ^= 0x10;
}

}  // namespace

#define SIM extern "C" __attribute__((visibility("default"))) Code

SIM cuInit(unsigned) {
  const sim::Config& c = machine().config;
  if (!c.error.empty()) {
    std::fprintf(stderr, "%s\n", c.error.c_str());
    return cuda::unknown;
  }
  const bool over =
      c.init_seconds >= 0 && static_cast<double>(std::time(nullptr) - c.modified) >= c.init_seconds;
  if (c.init_code != 0 && !over) return c.init_code;
  return c.gpus.empty() ? cuda::no_device : cuda::success;
}
SIM cuDriverGetVersion(int* v) {
  *v = machine().config.driver;
  return 0;
}
SIM cuDeviceGetCount(int* n) {
  *n = static_cast<int>(machine().config.gpus.size());
  return 0;
}
SIM cuGetErrorName(Code code, const char** name) {
  static const std::map<Code, const char*> names{{0, "CUDA_SUCCESS"},
                                                 {1, "CUDA_ERROR_INVALID_VALUE"},
                                                 {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                 {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
                                                 {100, "CUDA_ERROR_NO_DEVICE"},
                                                 {200, "CUDA_ERROR_INVALID_IMAGE"},
                                                 {205, "CUDA_ERROR_MAP_FAILED"},
                                                 {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
                                                 {500, "CUDA_ERROR_NOT_FOUND"},
                                                 {600, "CUDA_ERROR_NOT_READY"},
                                                 {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                 {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
                                                 {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
                                                 {719, "CUDA_ERROR_LAUNCH_FAILED"},
                                                 {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
                                                 {999, "CUDA_ERROR_UNKNOWN"}};
  const auto found = names.find(code);
  *name = found == names.end() ? nullptr : found->second;
  return *name == nullptr ? cuda::invalid_value : 0;
}
SIM cuDeviceGet(int* device, int n) {
  *device = n;
  return is_gpu(n) ? 0 : 101;
}
SIM cuDeviceGetName(char* name, int size, int d) {
  std::snprintf(name, static_cast<std::size_t>(size), "%s", gpu_at(d).name.c_str());
  return 0;
}
SIM cuDeviceGetUuid(cuda::Uuid* uuid, int d) {
  for (std::size_t i = 0; i < 16; ++i)
    uuid->bytes[i] = static_cast<char>(std::stoi(gpu_at(d).uuid.substr(i * 2, 2), nullptr, 16));
  return 0;
}
SIM cuDeviceGetUuid_v2(cuda::Uuid* uuid, int d) {
  return cuDeviceGetUuid(uuid, d);
}
SIM cuDeviceGetPCIBusId(char* id, int size, int d) {
  std::snprintf(id, static_cast<std::size_t>(size), "%s", gpu_at(d).bdf.c_str());
  return 0;
}
SIM cuDeviceGetAttribute(int* value, int which, int d) {
  if (!is_gpu(d)) return 101;
  *value = which == cuda::attribute_multiprocessors    ? 8
           : which == cuda::attribute_compute_mode     ? gpu_at(d).mode
           : which == cuda::attribute_capability_major ? gpu_at(d).capability / 10
           : which == cuda::attribute_capability_minor ? gpu_at(d).capability % 10
                                                       : 0;
  return 0;
}
SIM cuDeviceTotalMem_v2(std::size_t* bytes, int d) {
  *bytes = gpu_at(d).memory;
  return 0;
}
SIM cuDeviceCanAccessPeer(int* can, int a, int b) {
  *can = can_access(a, b);
  return 0;
}
SIM cuDeviceGetP2PAttribute(int* value, int which, int a, int b) {
  if (a == b) return cuda::invalid_value;
  *value = which == cuda::peer_performance_rank ? !machine().config.way(a, b).nvlink
           : which == cuda::peer_access_supported
               ? can_access(a, b)
               : can_access(a, b) && !denied(machine().config.no_atomics, a, b);
  return 0;
}
SIM cuCtxCreate_v2(cuda::ContextHandle* handle, unsigned, int d) {
  const std::lock_guard guard(machine().mutex);
  if (!is_gpu(d)) return 101;
  if (gpu_at(d).mode == cuda::compute_mode_prohibited) return cuda::device_unavailable;
  if (gpu_at(d).mode == cuda::compute_mode_exclusive_process && machine().contexts[d] > 0)
    return cuda::device_unavailable;
  ++machine().contexts[d];
  auto* const context = new Context;
  context->gpu = d;
  machine().streams[context];
  current = context;
  *handle = reinterpret_cast<cuda::ContextHandle>(context);
  return 0;
}
// A context stays in memory: streams that hang still use it.
SIM cuCtxDestroy_v2(cuda::ContextHandle handle) {
  {
    const std::lock_guard guard(machine().mutex);
    --machine().contexts[reinterpret_cast<Context*>(handle)->gpu];
  }
  if (current == reinterpret_cast<Context*>(handle)) current = nullptr;
  return 0;
}
SIM cuCtxSetCurrent(cuda::ContextHandle handle) {
  current = reinterpret_cast<Context*>(handle);
  return 0;
}
SIM cuCtxSynchronize() {
  if (current == nullptr) return 201;
  std::set<Stream*> streams;
  {
    const std::lock_guard guard(machine().mutex);
    streams = machine().streams[current];
  }
  for (Stream* stream : streams)
    wait_for(stream);
  return current->error;
}
SIM cuCtxEnablePeerAccess(cuda::ContextHandle handle, unsigned) {
  if (current == nullptr) return 201;
  const int peer = reinterpret_cast<Context*>(handle)->gpu;
  if (!can_access(current->gpu, peer)) return cuda::peer_access_unsupported;
  return current->peers.insert(peer).second ? 0 : cuda::peer_access_already_enabled;
}
SIM cuCtxDisablePeerAccess(cuda::ContextHandle handle) {
  if (current == nullptr) return 201;
  const int peer = reinterpret_cast<Context*>(handle)->gpu;
  return current->peers.erase(peer) != 0 ? 0 : cuda::peer_access_not_enabled;
}
SIM cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
  if (current == nullptr) return 201;
  const std::lock_guard guard(machine().mutex);
  *total = gpu_at(current->gpu).memory;
  *free_bytes = *total - machine().used[current->gpu];
  return 0;
}
SIM cuMemAlloc_v2(Address* address, std::size_t bytes) {
  if (current == nullptr) return 201;
  Machine& m = machine();
  const std::lock_guard guard(m.mutex);
  const int g = current->gpu;
  if (bytes == 0) return cuda::invalid_value;
  if (bytes > gpu_at(g).memory - m.used[g]) return cuda::out_of_memory;
  Address& next = m.next[g];
  if (next == 0) next = static_cast<Address>(g + 1) << 40;
  *address = next;
  next += (bytes + 0x1FFFFF) / 0x200000 * 0x200000 + 0x200000;
  m.used[g] += bytes;
  auto made = std::make_shared<Allocation>();
  made->owner = g;
  // Fresh memory holds what its last user left.
  if (const auto before = m.freed.find({g, bytes}); before != m.freed.end())
    made->data = before->second;
  made->data.resize(bytes);
  m.memory[*address] = std::move(made);
  return 0;
}
SIM cuMemFree_v2(Address address) {
  Machine& m = machine();
  const std::lock_guard guard(m.mutex);
  const auto found = m.memory.find(address);
  if (found == m.memory.end()) return cuda::invalid_value;
  auto& data = found->second->data;
  m.used[found->second->owner] -= data.size();
  if (data.size() <= 1U << 20) m.freed[{found->second->owner, data.size()}] = data;
  m.memory.erase(found);
  return 0;
}
SIM cuMemHostAlloc(void** host, std::size_t bytes, unsigned) {
  *host = std::malloc(bytes);
  return *host == nullptr ? cuda::out_of_memory : 0;
}
SIM cuMemFreeHost(void* host) {
  std::free(host);
  return 0;
}
SIM cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  if (current == nullptr) return 201;
  if (current->error != 0) return current->error;
  const Place place = find(to, bytes);
  if (!place.allocation) return cuda::invalid_value;
  const auto* const begin = static_cast<const std::uint8_t*>(from);
  Bytes data(begin, begin + bytes);
  host_fault("", place.allocation->owner, data);
  write_plainly(place, data.data(), bytes);
  return 0;
}
SIM cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  if (current == nullptr) return 201;
  if (current->error != 0) return current->error;
  const Place place = find(from, bytes);
  if (!place.allocation) return cuda::invalid_value;
  const std::lock_guard guard(machine().mutex);
  std::memcpy(to, place.host(), bytes);
  return 0;
}
SIM cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, cuda::StreamHandle handle) {
  if (current == nullptr) return 201;
  Stream* const stream = stream_of(handle);
  Context* const context = stream->context;
  if (context->error != 0) return context->error;
  const Place target = find(to, bytes), source = find(from, bytes);
  if (!target.allocation || !source.allocation) return cuda::invalid_value;
  const int g = context->gpu;
  const bool writes = target.allocation->owner != g;
  const int peer = writes ? target.allocation->owner : source.allocation->owner;
  const char* const op = writes ? "ce-write" : "ce-read";
  const bool direct = may_access(*context, target) && may_access(*context, source);
  if (direct)
    if (const Code code = calls_fault(op, g, peer, bytes)) return code;
  enqueue(stream, [=] {
    const UnderWay under_way;
    if (!direct) {  // through the host
      Bytes data(source.host(), source.host() + bytes);
      write_plainly(target, data.data(), bytes);
      return 2 * (5000 + static_cast<double>(bytes) / 12e9 * 1e9);
    }
    if (knob_for(op, g, peer, bytes, {"hang"}) != nullptr) hang();
    Bytes data(bytes);
    if (read("ce-read", g, source, from, data)) write("ce-write", g, target, to, std::move(data));
    return time_of(op, g, peer, bytes);
  });
  return 0;
}
SIM cuStreamCreate(cuda::StreamHandle* handle, unsigned) {
  if (current == nullptr) return 201;
  *handle = reinterpret_cast<cuda::StreamHandle>(make_stream(current));
  return 0;
}
SIM cuStreamDestroy_v2(cuda::StreamHandle handle) {
  auto* const stream = reinterpret_cast<Stream*>(handle);
  {
    const std::lock_guard guard(machine().mutex);
    machine().streams[stream->context].erase(stream);
  }
  const std::lock_guard lock(stream->mutex);
  stream->ends = true;
  stream->changed.notify_all();
  return 0;
}
SIM cuStreamQuery(cuda::StreamHandle handle) {
  Stream* const stream = stream_of(handle);
  const std::lock_guard lock(stream->mutex);
  if (stream->is_busy || !stream->work.empty()) return cuda::not_ready;
  return stream->context->error;
}
SIM cuStreamSynchronize(cuda::StreamHandle handle) {
  return wait_for(stream_of(handle));
}
SIM cuEventCreate(cuda::EventHandle* handle, unsigned) {
  *handle = reinterpret_cast<cuda::EventHandle>(new std::shared_ptr<Event>(new Event));
  return 0;
}
SIM cuEventDestroy_v2(cuda::EventHandle handle) {
  delete reinterpret_cast<std::shared_ptr<Event>*>(handle);
  return 0;
}
SIM cuEventRecord(cuda::EventHandle handle, cuda::StreamHandle stream_handle) {
  Stream* const stream = stream_of(stream_handle);
  const auto event = *reinterpret_cast<std::shared_ptr<Event>*>(handle);
  enqueue(stream, [stream, event] {
    const std::lock_guard lock(stream->mutex);
    event->ns = stream->clock_ns;
    event->is_recorded = true;
    return 0.0;
  });
  return 0;
}
SIM cuEventElapsedTime(float* ms, cuda::EventHandle first, cuda::EventHandle second) {
  const auto a = *reinterpret_cast<std::shared_ptr<Event>*>(first);
  const auto b = *reinterpret_cast<std::shared_ptr<Event>*>(second);
  if (!a->is_recorded || !b->is_recorded) return cuda::not_ready;
  *ms = static_cast<float>((b->ns - a->ns) / 1e6);
  return 0;
}
SIM cuModuleLoadDataEx(cuda::ModuleHandle* module, const void* image, unsigned, int*, void**) {
  if (image == nullptr) return cuda::invalid_image;
  *module = reinterpret_cast<cuda::ModuleHandle>(&machine());
  return 0;
}
SIM cuModuleUnload(cuda::ModuleHandle) {
  return 0;
}
SIM cuModuleGetFunction(cuda::FunctionHandle* function, cuda::ModuleHandle, const char* name) {
  static auto* const functions = new std::map<std::string, Function>;
  static const std::set<std::string> known{kernel::fill, kernel::poison,    kernel::verify,
                                           kernel::copy, kernel::ping_pong, kernel::atomics,
                                           kernel::chase};
  if (!known.contains(name)) return cuda::not_found;
  const std::lock_guard guard(machine().mutex);
  Function& made = (*functions)[name];
  made.name = name;
  *function = reinterpret_cast<cuda::FunctionHandle>(&made);
  return 0;
}
SIM cuLaunchKernel(cuda::FunctionHandle handle, unsigned grid_x, unsigned, unsigned,
                   unsigned block_x, unsigned, unsigned, unsigned, cuda::StreamHandle stream_handle,
                   void** parameters, void**) {
  if (current == nullptr) return 201;
  if (parameters == nullptr || grid_x == 0 || block_x == 0) return cuda::invalid_value;
  const std::string& name = reinterpret_cast<Function*>(handle)->name;
  Stream* const stream = stream_of(stream_handle);
  Context* const context = stream->context;
  if (context->error != 0) return context->error;
  for (const About& part : about(name, parameters)) {
    const Place place = find(part.address, part.bytes);
    if (!place.allocation) continue;  // the kernel itself faults
    if (const Code code = calls_fault(part.op, context->gpu, place.allocation->owner, part.bytes))
      return code;
  }
  enqueue(stream, [context, run = bind(name, parameters, grid_x * block_x)] {
    const UnderWay under_way;
    try {
      return run(*context);
    } catch (const Bad&) {
      context->error = cuda::illegal_address;
      return 0.0;
    }
  });
  return 0;
}

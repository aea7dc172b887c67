// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/selftest/selftest.hpp"

#include "gpu/selftest/crew.hpp"
#include "gpu/selftest/judge.hpp"
#include "gpu/selftest/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace peerpath::gpu {
namespace {

using Clock = Crew::Clock;
using std::chrono::milliseconds;

constexpr std::uint64_t mebibyte = 1ULL << 20;
constexpr std::size_t most_gpus = 64;  // a GPU's number in the words has six bits

// CUresult, as cuda.h has them.
constexpr unsigned out_of_memory = 2;
constexpr unsigned device_unavailable = 46;
constexpr unsigned no_device = 100;
constexpr unsigned system_not_ready = 802;

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch())
      .count();
}

/// What an ended worker means for the pair it had.
Verdict verdict_of(const WorkerEnd& end) {
  switch (end.kind) {
    case WorkerEnd::Kind::hang:
      return Verdict::hang;
    case WorkerEnd::Kind::crashed:
      return Verdict::error;
    case WorkerEnd::Kind::failed: {
      // These say that the GPU isn't to be had, not that anything is wrong with it.
      const auto code = end.failed.code;
      const bool is_busy =
          code == out_of_memory || code == device_unavailable || code == system_not_ready;
      return is_busy ? Verdict::inconclusive : Verdict::error;
    }
    case WorkerEnd::Kind::done:
      return Verdict::passed;
    case WorkerEnd::Kind::killed:
    case WorkerEnd::Kind::no_time:
    case WorkerEnd::Kind::not_started:
      break;
  }
  return Verdict::inconclusive;
}

/// A worker's job, and where its results belong.
struct Assignment {
  IndexPair pair;
  Stage stage = Stage::alone;
  Job job;
};

class Run {
 public:
  Run(const SelftestOptions& options, const SelftestHooks& hooks)
      : options_(options),
        hooks_(hooks),
        began_(Clock::now()),
        deadline_(began_ + options.budget),
        nonce_((static_cast<std::uint64_t>(std::random_device{}()) << 32) |
               std::random_device{}()) {
    report_.loopback = options.loopback;
    report_.depth = options.depth;
  }

  SelftestReport all() {
    if (list() && choose()) {
      make_pairs();
      run_alone();
      run_together();
      judge_all();
      say_not_tested();
    }
    report_.took = std::chrono::duration_cast<milliseconds>(Clock::now() - began_);
    return std::move(report_);
  }

 private:
  // What there is.
  bool list();
  bool choose();
  void make_pairs();
  [[nodiscard]] std::string why_left_out(std::size_t gpu) const;
  [[nodiscard]] bool has_access(const IndexPair& pair) const;

  // What is to be done.
  void run_alone();
  void run_together();
  void run_measured(const std::vector<IndexPair>& pairs);
  void run_round(const std::vector<IndexPair>& pairs, Stage stage);
  [[nodiscard]] Job job_of(const IndexPair& pair);
  [[nodiscard]] std::vector<std::uint64_t> sizes_of(std::uint64_t free_memory) const;

  // How it goes.
  void run_crew(std::vector<Assignment>& work, bool together,
                std::function<std::optional<std::size_t>()> next,
                const std::function<void(std::size_t)>& finished);
  [[nodiscard]] bool may_begin(const std::vector<Assignment>& work,
                               const std::vector<std::pair<Crew::Id, Begin>>& all, Crew::Id which);
  void heard(const Assignment& from, const Message& message);
  void ended(const Assignment& from, const WorkerEnd& end);
  void look_for_gaps(const Assignment& from);
  void add_event(const IndexPair& pair, Verdict verdict, std::optional<Test> test,
                 const std::string& reason);
  void tell(const Inflight& now);
  [[nodiscard]] bool is_blocked(const IndexPair& pair) const;
  [[nodiscard]] bool has_pair(const IndexPair& pair) const { return index_.count(pair) != 0; }

  // What came of it.
  void judge_all();
  void say_not_tested();

  const SelftestOptions& options_;
  const SelftestHooks& hooks_;
  Clock::time_point began_;
  Clock::time_point deadline_;
  std::uint64_t nonce_;
  Inventory inventory_;
  SelftestReport report_;
  std::map<IndexPair, std::size_t> index_;  // of ordered pairs, into report_.pairs
  std::vector<PairFacts> facts_;            // by that index
  std::vector<IndexPair> untested_yet_;     // unordered, nearest first
  std::set<std::size_t> blocked_;           // GPUs that a worker which can't be killed uses
  std::set<std::string> notes_;
  bool is_without_large_ = false;
  Progress progress_;
};

bool Run::list() {
  WorkerEnd how;
  Job job;
  job.not_ready_ms = static_cast<std::uint64_t>(
      std::max<long long>(0, std::min(options_.not_ready_limit, options_.budget).count()));
  bool started = false;
  Crew::Callbacks callbacks;
  callbacks.next = [&]() -> std::optional<std::pair<Crew::Id, Job>> {
    if (std::exchange(started, true)) return std::nullopt;
    return std::pair(Crew::Id{0}, job);
  };
  callbacks.heard = [&](Crew::Id, const Message& message) {
    if (const auto* version = std::get_if<DriverVersion>(&message)) {
      inventory_.driver_version = version->version;
    } else if (const auto* gpu = std::get_if<Gpu>(&message)) {
      inventory_.gpus.push_back(*gpu);
    } else if (const auto* peer = std::get_if<PeerAttributes>(&message)) {
      inventory_.peers.push_back(*peer);
    }
  };
  how.kind = WorkerEnd::Kind::no_time;
  how.reason = "there was no time left";
  callbacks.ended = [&](Crew::Id, const WorkerEnd& end) { how = end; };
  callbacks.may_begin = [](const auto&, Crew::Id) { return false; };
  callbacks.has_ended = hooks_.has_ended;
  Crew(options_.worker, {deadline_, options_.test_limit, options_.grace}, callbacks).run();

  report_.driver_version = inventory_.driver_version;
  for (const auto& gpu : inventory_.gpus)
    report_.listed.push_back(gpu.bdf);
  if (how.left_behind != 0) report_.left_behind.push_back(how.left_behind);
  if (how.kind == WorkerEnd::Kind::done && !how.has_lost) return true;
  if (how.has_lost) how.reason = "a part of the list got lost";
  report_.code = how.failed.code;
  report_.detail =
      how.kind == WorkerEnd::Kind::failed ? how.failed.text : "listing the GPUs: " + how.reason;
  if (how.kind == WorkerEnd::Kind::failed && how.failed.code == no_device) {
    report_.outcome = RunOutcome::too_few_gpus;
  } else if (how.kind == WorkerEnd::Kind::failed && how.failed.call == "absent") {
    report_.outcome = RunOutcome::no_driver;
  }
  return false;
}

bool Run::choose() {
  const auto& only = options_.only;
  const auto is_named = [](const Gpu& gpu, const std::string& name) {
    return name == gpu.bdf || name == gpu.uuid;
  };
  const auto is_chosen = [&](const Gpu& gpu) {
    return only.empty() || std::any_of(only.begin(), only.end(),
                                       [&](const auto& name) { return is_named(gpu, name); });
  };
  for (const auto& name : only) {
    const auto& gpus = inventory_.gpus;
    if (std::none_of(gpus.begin(), gpus.end(),
                     [&](const auto& gpu) { return is_named(gpu, name); })) {
      report_.not_found.push_back(name);
    }
  }
  if (!report_.not_found.empty()) {
    report_.detail = fmt::format("'{}': no such GPU", report_.not_found.front());
    return false;
  }
  for (const auto& gpu : inventory_.gpus) {
    if (!is_chosen(gpu)) continue;
    if (report_.gpus.size() < most_gpus) {
      report_.gpus.push_back(gpu);
    } else {
      notes_.insert(fmt::format("{}: more than {} GPUs aren't tested at once", gpu.bdf, most_gpus));
    }
  }
  const std::size_t least = options_.loopback ? 1 : 2;
  if (report_.gpus.size() < least) {
    report_.outcome = RunOutcome::too_few_gpus;
    report_.detail = fmt::format("{} of {} GPUs to be tested, {} are needed", report_.gpus.size(),
                                 inventory_.gpus.size(), least);
    return false;
  }
  report_.outcome = RunOutcome::tested;
  return true;
}

std::string Run::why_left_out(std::size_t gpu) const {
  const auto& one = report_.gpus[gpu];
  for (const auto& skipped : options_.skipped_gpus) {
    if (skipped.bdf == one.bdf) return one.bdf + ": " + skipped.reason;
  }
  return one.prohibited ? one.bdf + ": its compute mode lets nobody compute" : std::string();
}

bool Run::has_access(const IndexPair& pair) const {
  if (pair.first == pair.second) return true;
  return std::any_of(inventory_.peers.begin(), inventory_.peers.end(), [&](const auto& peer) {
    return peer.source == report_.gpus[pair.first].ordinal &&
           peer.destination == report_.gpus[pair.second].ordinal && peer.access;
  });
}

void Run::make_pairs() {
  const auto add = [this](std::size_t from, std::size_t to) {
    index_[{from, to}] = report_.pairs.size();
    PairReport pair;
    pair.source = from;
    pair.destination = to;
    report_.pairs.push_back(std::move(pair));
    PairFacts facts;
    facts.access = has_access({from, to});
    facts.reverse_access = has_access({to, from});
    facts.path = options_.links.path(report_.gpus[from].bdf, report_.gpus[to].bdf);
    if (from == to) facts.path.nearness = Nearness::self;
    facts_.push_back(std::move(facts));
  };
  for (std::size_t a = 0; a < report_.gpus.size(); ++a) {
    for (std::size_t b = 0; b < report_.gpus.size(); ++b) {
      if ((a == b) == options_.loopback) add(a, b);
    }
  }
  for (const auto& [pair, at] : index_) {
    if (pair.first > pair.second) continue;
    const auto& first = report_.gpus[pair.first];
    const auto& second = report_.gpus[pair.second];
    const auto skipped = std::find_if(options_.skipped_pairs.begin(), options_.skipped_pairs.end(),
                                      [&](const auto& one) {
                                        return std::minmax(one.first_uuid, one.second_uuid) ==
                                               std::minmax(first.uuid, second.uuid);
                                      });
    auto why = why_left_out(pair.first);
    if (why.empty()) why = why_left_out(pair.second);
    if (skipped != options_.skipped_pairs.end()) {
      add_event(pair, skipped->verdict, std::nullopt, skipped->reason);
    } else if (!why.empty()) {
      add_event(pair, Verdict::inconclusive, std::nullopt, why);
    } else {
      untested_yet_.push_back(pair);
    }
  }
  std::stable_sort(untested_yet_.begin(), untested_yet_.end(), [this](auto& a, auto& b) {
    return facts_[index_.at(a)].path.nearness < facts_[index_.at(b)].path.nearness;
  });
}

std::vector<std::uint64_t> Run::sizes_of(std::uint64_t free_memory) const {
  std::vector<std::uint64_t> sizes = {8, 4096, 65536, 2 * mebibyte};
  if (options_.depth != Depth::quick) sizes.push_back(64 * mebibyte);
  if (options_.depth == Depth::deep) {
    const auto big = std::min<std::uint64_t>(512 * mebibyte, free_memory / 4) / 8 * 8;
    if (big > sizes.back()) sizes.push_back(big);
  }
  std::erase_if(sizes,
                [this](auto size) { return options_.max_bytes != 0 && size > options_.max_bytes; });
  return sizes;
}

Job Run::job_of(const IndexPair& pair) {
  Job job;
  job.kind = Job::Kind::pair;
  // Another one for each worker: what one left behind doesn't pass for the next one's.
  job.nonce = nonce_++;
  job.first = report_.gpus[pair.first];
  job.second = report_.gpus[pair.second];
  job.first_index = static_cast<std::uint8_t>(pair.first);
  job.second_index = static_cast<std::uint8_t>(pair.second);
  job.loopback = options_.loopback;
  const auto free_memory = std::min(job.first.free_memory, job.second.free_memory);
  job.sizes = sizes_of(free_memory);
  if (options_.max_bytes == 0 && job.sizes.back() <= 64 * mebibyte) is_without_large_ = true;
  job.measured_bytes = 64 * mebibyte;
  if (options_.max_bytes != 0) {
    job.measured_bytes =
        std::max<std::uint64_t>(8, std::min(job.measured_bytes, options_.max_bytes / 8 * 8));
  }
  job.measured_ms = options_.depth == Depth::quick  ? 100
                    : options_.depth == Depth::deep ? 1000
                                                    : 200;
  // Below the limit of silence, so that a lost flag is the test's to tell.
  job.kernel_limit_ms =
      static_cast<std::uint64_t>(std::clamp<long long>(options_.test_limit.count() / 4, 1, 2000));
  return job;
}

void Run::run_alone() {
  std::vector<Assignment> work;
  for (const auto& pair : untested_yet_) {
    Assignment one{pair, Stage::alone, job_of(pair)};
    one.job.tests = {Test::staged_copy};
    if (has_access(pair) || has_access({pair.second, pair.first})) {
      one.job.tests = {Test::staged_copy, Test::ce_write,  Test::ce_read, Test::sm_store,
                       Test::sm_load,     Test::ping_pong, Test::atomics, Test::staged_with_access};
      if (!options_.concurrent || options_.loopback) {
        one.job.tests.push_back(Test::bandwidth);
        one.job.tests.push_back(Test::latency);
      }
    }
    one.job.both_directions = !options_.loopback;
    work.push_back(std::move(one));
  }
  progress_.all = work.size();
  std::size_t at = 0;
  bool is_running = false;
  run_crew(
      work, false,
      [&]() -> std::optional<std::size_t> {
        if (is_running || at == work.size()) return std::nullopt;
        is_running = true;
        return at++;
      },
      [&](std::size_t) { is_running = false; });
}

void Run::run_together() {
  if (!options_.concurrent || options_.loopback) return;
  judge_all();
  std::vector<IndexPair> good;  // ordered
  for (const auto& pair : report_.pairs) {
    if (pair.verdict <= Verdict::error) {
      notes_.insert(
          "bandwidth, latency and pairs at the same time: a pair failed alone, so that these were "
          "left out");
      return;
    }
    if (pair.verdict == Verdict::passed) good.emplace_back(pair.source, pair.destination);
  }
  run_measured(good);
  const auto is_good = [&](const IndexPair& pair) {
    return std::find(good.begin(), good.end(), pair) != good.end();
  };
  for (auto round : circle_rounds(report_.gpus.size())) {
    std::erase_if(round, [&](const IndexPair& pair) {
      return !is_good(pair) || !is_good({pair.second, pair.first});
    });
    // Both directions at once.
    const auto one_way = round.size();
    for (std::size_t i = 0; i < one_way; ++i)
      round.emplace_back(round[i].second, round[i].first);
    run_round(round, Stage::concurrent);
  }
  std::vector<std::string> bdfs;
  for (const auto& gpu : report_.gpus)
    bdfs.push_back(gpu.bdf);
  for (auto together : fan_outs(bdfs, options_.links)) {
    std::erase_if(together, [&](const IndexPair& pair) { return !is_good(pair); });
    run_round(together, Stage::fan_out);
  }
}

void Run::run_measured(const std::vector<IndexPair>& pairs) {
  std::vector<std::string> bdfs;
  for (const auto& gpu : report_.gpus)
    bdfs.push_back(gpu.bdf);
  auto planned = measurements(bdfs, pairs, options_.links);
  // In exclusive mode a GPU takes one process at a time, whatever the direction.
  const auto extra = options_.links.links.size() + 2 * bdfs.size();
  std::vector<Assignment> work;
  for (auto& one : planned) {
    for (const auto gpu : {one.pair.first, one.pair.second}) {
      if (report_.gpus[gpu].exclusive) one.links.push_back(extra + gpu);
    }
    Assignment assignment{one.pair, Stage::measured, job_of(one.pair)};
    assignment.job.tests = {Test::bandwidth, Test::latency};
    assignment.job.both_directions = false;
    work.push_back(std::move(assignment));
  }
  progress_.all += work.size();
  MeasureQueue queue(std::move(planned));
  run_crew(
      work, false, [&] { return queue.next(); }, [&](std::size_t index) { queue.finished(index); });
}

void Run::run_round(const std::vector<IndexPair>& pairs, Stage stage) {
  std::set<std::size_t> exclusive;
  std::vector<Assignment> work;
  for (const auto& pair : pairs) {
    Assignment one{pair, stage, job_of(pair)};
    one.job.tests = {Test::concurrent};
    one.job.both_directions = false;
    // GPUs may be in several pairs; one in exclusive mode only in the first.
    bool is_free = true;
    for (const auto gpu : {pair.first, pair.second}) {
      if (report_.gpus[gpu].exclusive) is_free = exclusive.insert(gpu).second && is_free;
    }
    if (is_free) work.push_back(std::move(one));
  }
  if (work.size() < 2) return;  // which isn't at the same time as any other
  progress_.all += work.size();
  std::size_t at = 0;
  run_crew(
      work, true,
      [&]() -> std::optional<std::size_t> {
        if (at == work.size()) return std::nullopt;
        return at++;
      },
      [](std::size_t) {});
}

bool Run::is_blocked(const IndexPair& pair) const {
  return blocked_.count(pair.first) != 0 || blocked_.count(pair.second) != 0;
}

void Run::run_crew(std::vector<Assignment>& work, bool together,
                   std::function<std::optional<std::size_t>()> next,
                   const std::function<void(std::size_t)>& finished) {
  std::vector<bool> has_begun(work.size());
  Crew::Callbacks callbacks;
  callbacks.next = [&]() -> std::optional<std::pair<Crew::Id, Job>> {
    while (const auto index = next()) {
      has_begun[*index] = true;
      if (!is_blocked(work[*index].pair)) return std::pair(*index, work[*index].job);
      add_event(work[*index].pair, Verdict::inconclusive, std::nullopt,
                "left alone: a worker that could not be killed uses one of the GPUs");
      finished(*index);
    }
    return std::nullopt;
  };
  callbacks.heard = [&](Crew::Id id, const Message& message) { heard(work[id], message); };
  callbacks.ended = [&](Crew::Id id, const WorkerEnd& end) {
    ended(work[id], end);
    ++progress_.done;
    finished(id);
  };
  callbacks.may_begin = [&](const auto& all, Crew::Id which) {
    return may_begin(work, all, which);
  };
  callbacks.has_ended = hooks_.has_ended;
  Crew(options_.worker, {deadline_, options_.test_limit, options_.grace}, callbacks).run(together);
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (has_begun[i]) continue;
    add_event(work[i].pair, Verdict::inconclusive, work[i].job.tests.front(),
              fmt::format("there was no time left for {} ({})", name_of(work[i].job.tests.front()),
                          name_of(work[i].stage)));
    notes_.insert("some pairs: the time allowed was over before all was tested");
  }
}

bool Run::may_begin(const std::vector<Assignment>& work,
                    const std::vector<std::pair<Crew::Id, Begin>>& all, Crew::Id which) {
  std::vector<Inflight> inflight;
  for (const auto& [id, begin] : all) {
    if (has_pair({begin.source, begin.destination})) {
      inflight.push_back({report_.gpus[begin.source], report_.gpus[begin.destination], begin.test});
    }
  }
  // A worker that speaks of others' GPUs isn't let loose on them.
  const auto& begin = all.back().second;
  const auto& pair = work[which].pair;
  if (inflight.size() != all.size() || std::minmax<std::size_t>(begin.source, begin.destination) !=
                                           std::minmax(pair.first, pair.second)) {
    return false;
  }
  if (hooks_.note_inflight) {
    if (const auto noted = hooks_.note_inflight(inflight); !noted) {
      add_event({begin.source, begin.destination}, Verdict::inconclusive, begin.test,
                "not run, for it could not be noted: " + noted.error().text());
      return false;
    }
  }
  auto& pair_report = report_.pairs[index_.at({begin.source, begin.destination})];
  if (pair_report.began_us == 0) pair_report.began_us = now_us();
  tell(inflight.back());
  return true;
}

void Run::heard(const Assignment& from, const Message& message) {
  if (const auto* note = std::get_if<Note>(&message)) {
    notes_.insert(note->text);
  } else if (const auto* finished = std::get_if<Finished>(&message)) {
    const IndexPair pair{finished->source, finished->destination};
    const IndexPair reverse{pair.second, pair.first};
    if (pair != from.pair && reverse != from.pair) return;
    if (!has_pair(pair)) return;
    auto& pair_report = report_.pairs[index_.at(pair)];
    pair_report.results.push_back({from.stage, finished->result});
    pair_report.ended_us = now_us();
    const auto& result = finished->result;
    if (result.test == Test::sm_store && result.outcome != Outcome::unsupported &&
        result.outcome != Outcome::not_run) {
      report_.has_kernels = true;
    }
  }
}

void Run::ended(const Assignment& from, const WorkerEnd& end) {
  if (end.left_behind != 0) {
    report_.left_behind.push_back(end.left_behind);
    blocked_.insert(from.pair.first);
    blocked_.insert(from.pair.second);
  }
  if (end.kind == WorkerEnd::Kind::done) {
    look_for_gaps(from);
    if (end.has_lost) {
      add_event(from.pair, Verdict::inconclusive, std::nullopt,
                "a part of what the worker said got lost");
    }
    return;
  }
  if (end.kind == WorkerEnd::Kind::no_time) {
    notes_.insert("some pairs: the time allowed was over before all was tested");
  }
  const auto verdict = verdict_of(end);
  const auto test = end.during ? std::optional(end.during->test) : std::nullopt;
  const auto reason = test ? fmt::format("{}: {}", name_of(*test), end.reason) : end.reason;
  if (!end.during) {
    add_event(from.pair, verdict, test, reason);
    return;
  }
  const IndexPair pair{end.during->source, end.during->destination};
  auto& facts = facts_[index_.at(pair)];
  facts.events.push_back({verdict, test, reason});
  report_.pairs[index_.at(pair)].ended_us = now_us();
  const IndexPair other{pair.second, pair.first};
  if (!from.job.both_directions || !has_pair(other)) return;
  facts_[index_.at(other)].events.push_back(
      {Verdict::inconclusive, std::nullopt, "the other direction ended its worker: " + reason});
}

/// A worker that ended well has said something of each test. What got lost on the way, as in a
/// driver's chatter, must not pass for a test that passed.
void Run::look_for_gaps(const Assignment& from) {
  std::set<IndexPair> directions = {from.pair};
  if (from.job.both_directions) directions.emplace(from.pair.second, from.pair.first);
  for (const auto& direction : directions) {
    const auto at = index_.at(direction);
    const auto& results = report_.pairs[at].results;
    for (const auto test : from.job.tests) {
      const bool is_there = std::any_of(results.begin(), results.end(), [&](const auto& one) {
        return one.stage == from.stage && one.result.test == test;
      });
      if (is_there) continue;
      facts_[at].events.push_back({Verdict::inconclusive, test,
                                   fmt::format("{}: its worker gave no result", name_of(test))});
    }
  }
}

/// Of both directions, where the pair has two.
void Run::add_event(const IndexPair& pair, Verdict verdict, std::optional<Test> test,
                    const std::string& reason) {
  std::set<IndexPair> both = {pair, {pair.second, pair.first}};
  for (const auto& one : both) {
    if (has_pair(one)) facts_[index_.at(one)].events.push_back({verdict, test, reason});
  }
}

void Run::tell(const Inflight& now) {
  if (!hooks_.progress) return;
  const auto time = Clock::now();
  const auto left = std::max(Clock::duration::zero(), deadline_ - time);
  auto estimate = left;
  if (progress_.done > 0) {
    const auto one = (time - began_) / static_cast<long>(progress_.done);
    estimate = std::min(left, one * static_cast<long>(progress_.all - progress_.done));
  }
  progress_.left = std::chrono::duration_cast<std::chrono::seconds>(estimate);
  progress_.now =
      fmt::format("{} -> {} {}", now.source.bdf, now.destination.bdf, name_of(now.test));
  hooks_.progress(progress_);
}

void Run::judge_all() {
  for (std::size_t i = 0; i < report_.pairs.size(); ++i)
    judge(report_.pairs[i], facts_[i], options_.limits);
}

void Run::say_not_tested() {
  auto& lines = report_.not_tested;
  lines.assign(notes_.begin(), notes_.end());
  if (options_.loopback) {
    lines.emplace_back("the paths between GPUs: in a loopback each GPU is its own peer");
  }
  if (!report_.has_kernels) {
    lines.emplace_back("loads and stores by kernels, flags, atomics: no kernel ran");
  }
  if (options_.depth == Depth::quick &&
      (options_.max_bytes == 0 || options_.max_bytes >= 64 * mebibyte)) {
    lines.emplace_back("sizes above 2 MiB: left out in a quick run");
  }
  if (options_.max_bytes != 0) {
    lines.push_back(fmt::format("sizes above {} bytes: left out", options_.max_bytes));
  }
  const auto without = [this](const auto& is_one) {
    return static_cast<std::size_t>(
        std::count_if(report_.pairs.begin(), report_.pairs.end(), [&](const auto& pair) {
          return std::none_of(pair.results.begin(), pair.results.end(), is_one);
        }));
  };
  const auto say_without = [&](const std::string& what, const auto& is_one) {
    const auto count = without(is_one);
    if (count == report_.pairs.size()) {
      lines.push_back(what);
    } else if (count != 0) {
      lines.push_back(fmt::format("{}: {} of {} pairs", what, count, report_.pairs.size()));
    }
  };
  say_without("pairs at the same time", [](const StagedResult& one) {
    return one.stage == Stage::concurrent && one.result.outcome != Outcome::not_run;
  });
  const auto is_fanned_out = [](const StagedResult& one) {
    return one.stage == Stage::fan_out && one.result.outcome != Outcome::not_run;
  };
  if (without(is_fanned_out) == report_.pairs.size()) {
    lines.emplace_back("one switch that writes to several roots at the same time");
  }
  if (report_.has_kernels) {
    say_without("atomics: the driver offers none", [](const StagedResult& one) {
      return one.result.test == Test::atomics && one.result.outcome != Outcome::unsupported;
    });
  }
  if (options_.depth == Depth::deep && is_without_large_) {
    lines.emplace_back("sizes above 64 MiB: some GPUs have too little free memory");
  }
  lines.emplace_back("bandwidth of pairs at the same time: it's reported, not judged");
  const bool has_nvlink = std::any_of(facts_.begin(), facts_.end(), [](const auto& facts) {
    return facts.path.nearness == Nearness::nvlink;
  });
  if (!has_nvlink) lines.emplace_back("NVLink: no path is known to have it");
  const bool has_unknown = std::any_of(facts_.begin(), facts_.end(), [](const auto& facts) {
    return facts.path.ceiling <= 0 && facts.path.nearness != Nearness::self;
  });
  if (has_unknown) lines.emplace_back("bandwidth against the links: some links' speed isn't known");
}

}  // namespace

SelftestReport run_selftest(const SelftestOptions& options, const SelftestHooks& hooks) {
  return Run(options, hooks).all();
}

}  // namespace peerpath::gpu

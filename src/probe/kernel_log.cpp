// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/kernel_log.hpp"

#include "probe/kernel_log_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace peerpath::probe {
namespace {

constexpr std::size_t most_lines = 64;
/// The kernel's own are a tenth of this; a longer one is cut.
constexpr std::size_t longest_line = 16384;

/// Cuts a text that comes in pieces into lines, of which none is longer than `longest_line`.
class LineSplitter {
 public:
  explicit LineSplitter(Sink line) : line_(std::move(line)) {}

  void add(std::string_view bytes) {
    for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
      if (rest_.empty()) {
        line_(bytes.substr(0, std::min(end, longest_line)));
      } else {
        keep(bytes.substr(0, end));
        line_(std::exchange(rest_, ""));
      }
      bytes.remove_prefix(end + 1);
    }
    keep(bytes);
  }
  void end() {
    if (!rest_.empty()) line_(std::exchange(rest_, ""));
  }

 private:
  void keep(std::string_view bytes) {
    rest_ += bytes.substr(0, longest_line - std::min(longest_line, rest_.size()));
  }

  Sink line_;
  std::string rest_;
};

/// Facility and level of a record: facility 0 is the kernel's, 1 that of programs.
constexpr int by_kernel = 6;
constexpr int by_program = 1 << 3 | 6;

std::string kmsg_record(int priority, std::uint64_t number, double time, std::string_view text) {
  return fmt::format("{},{},{:.0f},-;{}\n", priority, number, time * 1e6, text);
}

/// Counts and keeps what the lines tell.
class Collector {
 public:
  /// `extract` gets the records that tell something, in the form of /dev/kmsg.
  Collector(std::string source, std::string* extract) : extract_(extract) {
    log_.source = std::move(source);
  }

  void kmsg_line(std::string_view line) {
    const auto record = parse_kmsg_record(line);
    if (!record) return;
    // Numbers are given in sequence: one that's missing was overwritten, as those before the first.
    const auto sequence = record->sequence.value_or(0);
    if (!begun_) {
      log_.from_start = sequence == 0 && record->by_kernel;
      log_.first_time = record->time;
    } else if (sequence != next_sequence_) {
      log_.from_start = false;
      log_.first_time = record->time;
    }
    begun_ = true;
    next_sequence_ = sequence + 1;
    add(*record, true);
  }

  void journal_line(std::string_view line) {
    const auto record = parse_journal_record(line);
    if (!record) return;
    // What journald says of its own: it may come first, and tells of lines that it has missed.
    if (!record->by_kernel && !is_loss(record->text)) return;
    if (!begun_ || !record->by_kernel) {
      log_.from_start = record->by_kernel && record->text.starts_with("Linux version ");
      log_.first_time = record->time;
    }
    begun_ = true;
    add(*record, false);
  }

  [[nodiscard]] bool empty() const { return !begun_; }

  KernelLog finish() {
    settle_event();
    for (auto& [key, fault] : faults_)
      log_.faults.push_back(std::move(fault));
    // A log that isn't the kernel's from its first record on isn't whole.
    if (extract_ != nullptr) {
      extract_->insert(0, kmsg_record(log_.from_start ? by_kernel : by_program, 0, log_.first_time,
                                      "the log begins"));
    }
    return std::move(log_);
  }

 private:
  void add(const LogRecord& record, bool escaped) {
    if (!record.by_kernel) return;
    const auto fact = parse_log_line(record.text);
    if (!fact) return;
    if (extract_ != nullptr) {
      const auto number = ++extracted_;
      *extract_ += kmsg_record(by_kernel, number, record.time, record.text);
    }
    keep(*fact, {record.time, escaped ? unescape_kmsg(record.text) : std::string(record.text)});
  }

  void keep(const LogFact& fact, LogLine line) {
    using Kind = LogFact::Kind;
    switch (fact.kind) {
      case Kind::fault:
        count(fact.source, fact.bdf, std::move(line));
        break;
      case Kind::smmu_event:
        settle_event();
        event_ = std::move(line);
        break;
      case Kind::smmu_client:
        event_.reset();
        count(fact.source, fact.bdf, std::move(line));
        break;
      case Kind::suppressed:
        log_.suppressed += fact.count;
        break;
      case Kind::default_domain:
        keep_first(log_.default_domain, std::move(line));
        break;
      case Kind::invalidation:
        keep_first(log_.invalidation, std::move(line));
        break;
      case Kind::memory_encryption:
        keep_first(log_.memory_encryption, std::move(line));
        break;
      case Kind::encryption_active:
        keep_first(log_.encryption_active, std::move(line));
        break;
      case Kind::platform_opt_in:
        keep_first(log_.platform_opt_in, std::move(line));
        break;
      case Kind::snp_lost:
        keep_first(log_.snp_lost, std::move(line));
        break;
      case Kind::domain:
        if (log_.domain_lines.size() < most_lines) log_.domain_lines.push_back(std::move(line));
        break;
      case Kind::option:
        if (log_.option_lines.size() < most_lines) log_.option_lines.push_back(std::move(line));
        break;
    }
  }

  /// Fact: systemd's src/journal/journald-kmsg.c, server_driver_message.
  static bool is_loss(std::string_view text) {
    return text.starts_with("Missed ") && text.ends_with(" kernel messages");
  }

  static void keep_first(std::optional<LogLine>& kept, LogLine line) {
    if (!kept) kept = std::move(line);
  }

  void count(DmaFault::Source source, const std::optional<std::string>& bdf, LogLine line) {
    auto& fault = faults_[{bdf, source}];
    if (fault.count++ == 0) {
      fault.source = source;
      fault.bdf = bdf;
      fault.first = line;
    }
    fault.last = std::move(line);
  }

  /// No line named the last event's device.
  void settle_event() {
    if (event_) count(DmaFault::Source::smmu, std::nullopt, std::move(*event_));
    event_.reset();
  }

  std::string* extract_;
  std::uint64_t extracted_ = 0;
  KernelLog log_;
  std::map<std::pair<std::optional<std::string>, DmaFault::Source>, DmaFault> faults_;
  std::optional<LogLine> event_;
  bool begun_ = false;
  std::uint64_t next_sequence_ = 0;
};

/// A log, and its extract.
struct Read {
  KernelLog log;
  std::string extract;
};

Result<Read> read_kmsg(const System& system, bool extracts) {
  Read read;
  Collector collector("/dev/kmsg", extracts ? &read.extract : nullptr);
  LineSplitter lines([&](std::string_view line) { collector.kmsg_line(line); });
  const auto done = system.stream("/dev/kmsg", [&](std::string_view bytes) { lines.add(bytes); });
  if (!done) return fail(done.error());
  lines.end();
  if (collector.empty()) {
    return fail(Errc::not_found, "'" + system.shown("/dev/kmsg") + "': no record of a kernel log");
  }
  read.log = collector.finish();
  return read;
}

/// Nothing where there's no journal of this boot that we may read.
std::optional<Read> read_journal(const System& system, bool extracts) {
  Read read;
  Collector collector("the journal of this boot", extracts ? &read.extract : nullptr);
  LineSplitter lines([&](std::string_view line) { collector.journal_line(line); });
  const auto result =
      system.run({.argv = {"journalctl", "--boot", "--output=short-monotonic", "--quiet",
                           "--no-pager", "_TRANSPORT=kernel", "+", "_TRANSPORT=driver"},
                  .limit = std::chrono::seconds(10),
                  .on_output = [&](std::string_view bytes) { lines.add(bytes); }});
  if (!result || result->status != 0) return std::nullopt;
  lines.end();
  if (collector.empty()) return std::nullopt;
  read.log = collector.finish();
  return read;
}

/// The one of the two that reaches further back.
Result<Read> read_log(const System& system, bool extracts) {
  auto kmsg = read_kmsg(system, extracts);
  if (kmsg && kmsg->log.from_start) return kmsg;
  if (!system.is_booted()) return kmsg;
  auto journal = read_journal(system, extracts);
  if (!journal) return kmsg;
  const bool further =
      !kmsg || journal->log.from_start || journal->log.first_time < kmsg->log.first_time;
  return further ? Result<Read>(std::move(*journal)) : std::move(kmsg);
}

}  // namespace

std::string_view name_of(DmaFault::Source source) {
  switch (source) {
    case DmaFault::Source::intel:
      return "DMAR";
    case DmaFault::Source::amd:
      return "AMD-Vi";
    case DmaFault::Source::smmu:
      return "SMMU";
    case DmaFault::Source::xid:
      return "Xid";
    case DmaFault::Source::nvidia:
      break;
  }
  return "NVRM";
}

Result<KernelLog> read_kernel_log(const System& system) {
  auto read = read_log(system, false);
  if (!read) return fail(read.error());
  return std::move(read->log);
}

Result<std::vector<LogFault>> read_fault_lines(const System& system, double since) {
  constexpr std::size_t most = 4096;
  std::vector<LogFault> faults;
  LineSplitter lines([&](std::string_view line) {
    const auto record = parse_kmsg_record(line);
    if (!record || !record->by_kernel || record->time < since || faults.size() >= most) return;
    auto fact = parse_log_line(record->text);
    if (!fact) return;
    // The line before says the same, without the device.
    const bool names_last = fact->kind == LogFact::Kind::smmu_client;
    if (names_last && !faults.empty() && !faults.back().bdf) faults.pop_back();
    if (names_last || fact->kind == LogFact::Kind::fault ||
        fact->kind == LogFact::Kind::smmu_event) {
      faults.push_back(
          {fact->source, std::move(fact->bdf), {record->time, unescape_kmsg(record->text)}});
    }
  });
  const auto done = system.stream("/dev/kmsg", [&](std::string_view bytes) { lines.add(bytes); });
  if (!done) return fail(done.error());
  lines.end();
  return faults;
}

Result<std::string> extract_kernel_log(const System& system) {
  auto read = read_log(system, true);
  if (!read) return fail(read.error());
  return std::move(read->extract);
}

}  // namespace peerpath::probe

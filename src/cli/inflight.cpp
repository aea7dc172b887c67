// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/inflight.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <unistd.h>
#include <utility>

namespace peerpath::cli {
namespace {

constexpr std::string_view header =
    "# peerpath selftest: BOOT TEST FROM-UUID FROM-BDF TO-UUID TO-BDF\n";

std::string line_of(const DeadlyPair& pair) {
  return fmt::format("{} {} {} {} {} {}\n", pair.boot_id, pair.test, pair.source_uuid,
                     pair.source_bdf, pair.destination_uuid, pair.destination_bdf);
}

std::string file_of(const std::vector<DeadlyPair>& pairs) {
  std::string text(header);
  for (const auto& pair : pairs)
    text += line_of(pair);
  return text;
}

bool is_boot_id(std::string_view text) {
  return text.size() == 36 && text.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

/// Lines that aren't ours are passed over: the host may have gone down in any way, and leave
/// anything in the file.
std::vector<DeadlyPair> parse(std::string_view text) {
  std::vector<DeadlyPair> pairs;
  for (const auto line : lines(text)) {
    const auto fields = words(line);
    if (fields.size() != 6 || !is_boot_id(fields[0]) || !fields[2].starts_with("GPU-") ||
        !fields[4].starts_with("GPU-")) {
      continue;
    }
    const auto field = [&](std::size_t i) { return std::string(fields[i]); };
    pairs.push_back({.source_uuid = field(2),
                     .source_bdf = field(3),
                     .destination_uuid = field(4),
                     .destination_bdf = field(5),
                     .test = field(1),
                     .boot_id = field(0)});
  }
  return pairs;
}

/// Whether the test that the host went down by has come to an end this time.
bool was_tested(const gpu::SelftestReport& run, const DeadlyPair& pair) {
  // A name of another version's, or what the disk made of it: any test of the pair will do.
  const auto test = gpu::test_named(pair.test);
  const auto is_it = [&](const gpu::StagedResult& staged) {
    return staged.result.test == test.value_or(staged.result.test) &&
           staged.result.outcome != gpu::Outcome::not_run;
  };
  return std::any_of(run.pairs.begin(), run.pairs.end(), [&](const gpu::PairReport& report) {
    return run.gpus.at(report.source).uuid == pair.source_uuid &&
           run.gpus.at(report.destination).uuid == pair.destination_uuid &&
           std::any_of(report.results.begin(), report.results.end(), is_it);
  });
}

/// The file that a signal's handler removes; empty: none.
std::array<char, 256>& file_to_remove() {
  static std::array<char, 256> file{};
  return file;
}
constexpr std::array ending_signals{SIGTERM, SIGINT, SIGHUP, SIGQUIT};

extern "C" void remove_file_and_end(int signal) {
  if (file_to_remove()[0] != '\0') ::unlink(file_to_remove().data());
  ::raise(signal);  // SA_RESETHAND: now it ends the process
}

void remove_on_signal(const std::string& file) {
  if (file.size() >= file_to_remove().size()) return;
  file.copy(file_to_remove().data(), file.size());
  struct sigaction action = {};
  action.sa_handler = remove_file_and_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int signal : ending_signals) {
    struct sigaction before = {};
    // What our caller ignores, as nohup does, stays ignored.
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
      ::sigaction(signal, &action, nullptr);
    }
  }
}

void remove_on_signal_no_more() {
  if (file_to_remove()[0] == '\0') return;
  for (const int signal : ending_signals) {
    struct sigaction now = {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == remove_file_and_end) {
      ::signal(signal, SIG_DFL);
    }
  }
  file_to_remove().fill('\0');
}

}  // namespace

bool DeadlyPair::is_of(const std::string& first, const std::string& second) const {
  return (source_uuid == first && destination_uuid == second) ||
         (source_uuid == second && destination_uuid == first);
}

InflightNote::InflightNote(const System& system, std::optional<std::string> boot_id)
    : system_(system), boot_id_(std::move(boot_id)) {
  recover();
  if (!boot_id_) give_up("the id of this boot can't be read");
}

InflightNote::~InflightNote() {
  remove_on_signal_no_more();
}

void InflightNote::recover() {
  const auto known = system_.read(host_died_path);
  if (known) deadly_ = parse(*known);
  if (!known && known.error().code != Errc::not_found) {
    notes_.push_back("which pairs the host went down by earlier isn't known: " +
                     known.error().text());
  }
  const auto left = system_.read(inflight_path);
  if (!left && left.error().code != Errc::not_found) {
    notes_.push_back("whether the host went down by the last run isn't known: " +
                     left.error().text());
  }
  if (!left) return;
  keeps_older_ = !boot_id_;
  if (!boot_id_) return;
  written_ = *left;
  auto found = parse(*left);
  // A run of this very boot that was killed: the host is still up.
  std::erase_if(found, [&](const DeadlyPair& pair) {
    return pair.boot_id == *boot_id_ ||
           std::any_of(deadly_.begin(), deadly_.end(), [&](const DeadlyPair& other) {
             return other.is_of(pair.source_uuid, pair.destination_uuid);
           });
  });
  if (found.empty()) return;
  deadly_.insert(deadly_.end(), found.begin(), found.end());
  keeps_older_ = !write(host_died_path, file_of(deadly_));
}

std::vector<gpu::SkippedPair> InflightNote::skipped() const {
  std::vector<gpu::SkippedPair> pairs;
  for (const auto& pair : deadly_) {
    pairs.push_back({pair.source_uuid, pair.destination_uuid, gpu::Verdict::host_died,
                     fmt::format("the host went down during {} from {} to {}, in boot {}",
                                 printable(pair.test), printable(pair.source_bdf),
                                 printable(pair.destination_bdf), printable(pair.boot_id))});
  }
  return pairs;
}

void InflightNote::begin(const std::vector<gpu::Inflight>& tests) {
  if (is_off_) return;
  std::vector<DeadlyPair> pairs;
  for (const auto& test : tests) {
    pairs.push_back({.source_uuid = test.source.uuid,
                     .source_bdf = test.source.bdf,
                     .destination_uuid = test.destination.uuid,
                     .destination_bdf = test.destination.bdf,
                     .test = std::string(name_of(test.test)),
                     .boot_id = *boot_id_});
  }
  const auto text = file_of(pairs);
  remove_on_signal(system_.shown(inflight_path));
  // Another size of the same test: the note stands already.
  if (text == written_) return;
  if (write(inflight_path, text)) {
    written_ = text;
  } else if (!keeps_older_ && system_.exists(inflight_path)) {
    // A full disk: the note of the test before, should the host die now, would blame that one.
    (void)system_.remove_file(inflight_path);
  }
}

void InflightNote::end(const gpu::SelftestReport& run) {
  remove_on_signal_no_more();
  if (!keeps_older_ && system_.exists(inflight_path)) {
    if (const auto removed = system_.remove_file(inflight_path); !removed) {
      notes_.push_back("what was being tested stays noted: " + removed.error().text());
    }
  }
  auto rest = deadly_;
  std::erase_if(rest, [&](const DeadlyPair& pair) { return was_tested(run, pair); });
  if (rest.size() == deadly_.size()) return;
  deadly_ = std::move(rest);
  if (!deadly_.empty()) {
    write(host_died_path, file_of(deadly_));
  } else if (const auto removed = system_.remove_file(host_died_path); !removed) {
    notes_.push_back("the pairs that the host went down by stay noted: " + removed.error().text());
  }
}

bool InflightNote::write(std::string_view path, const std::string& content) {
  if (!system_.exists(state_directory)) {
    if (const auto made = system_.make_directory(state_directory); !made) {
      give_up(made.error().text());
      return false;
    }
  }
  const auto written = system_.write(path, content);
  if (!written) give_up(written.error().text());
  return written.has_value();
}

void InflightNote::give_up(const std::string& why) {
  if (std::exchange(is_off_, true)) return;
  notes_.push_back(
      "what is tested isn't noted, so that a host that goes down by it wouldn't be "
      "known at the next run: " +
      why);
}

}  // namespace peerpath::cli

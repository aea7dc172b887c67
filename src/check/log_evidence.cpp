// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/log_evidence.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace peerpath::check {

std::string describe(const probe::LogLine& line) {
  return fmt::format("[{:.6f}] {}", line.time, printable(trim(line.text)));
}

Evidence line_evidence(const Facts& facts, const probe::LogLine& line, std::string expected) {
  return {facts.log ? facts.log->source : "kernel log", describe(line), std::move(expected)};
}

bool log_is_whole(const Facts& facts) {
  return facts.log && facts.log->from_start;
}

Evidence log_evidence(const Facts& facts) {
  const std::string expected = "the kernel log from the start of this boot";
  if (!facts.log) return {"kernel log", facts.log.error().text(), expected};
  const auto& log = *facts.log;
  return {log.source,
          log.from_start ? "reaches back to the start of this boot"
                         : fmt::format("reaches back to {:.6f} s after the start", log.first_time),
          expected};
}

std::string why_not_whole(const Facts& facts) {
  if (!facts.log) return "the kernel log can't be read: " + facts.log.error().text();
  return fmt::format("the kernel log has lost what was before {:.6f} s", facts.log->first_time);
}

std::string how_to_get_whole(const Facts& facts) {
  if (facts.log) {
    return "put 'log_buf_len=16M' on the kernel command line, or keep a journal; then reboot";
  }
  if (facts.log.error().code == Errc::denied) return "run 'peerpath verify' as root";
  return "mend what can't be read, then run 'peerpath verify' again";
}

}  // namespace peerpath::check

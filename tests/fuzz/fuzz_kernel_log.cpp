// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a recorded kernel log, as a journal's line and as an address: addresses come out in
// one form, and nothing is counted that no line told.
#include "probe/kernel_log_line.hpp"
#include "require.hpp"
#include "support/temp_root.hpp"

#include <algorithm>
#include <cstdint>
#include <stdlib.h>

namespace {

using peerpath::fuzz::require;
using namespace peerpath::probe;

void check_address(const std::optional<std::string>& address) {
  if (!address) return;
  require(address->size() >= 12 && (*address)[address->size() - 2] == '.', "no address");
  require(parse_log_address(*address) == address, "an address isn't read back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_address(parse_log_address(text));
  if (const auto fact = parse_log_line(text)) check_address(fact->bdf);
  if (const auto record = parse_journal_record(text)) {
    require(record->text.size() <= size, "a text longer than its line");
  }
  require(unescape_kmsg(text).size() <= size, "a text that grows");

  ::setenv("TMPDIR", "/dev/shm", 0);
  static peerpath::test::TempRoot root;
  root.file("/dev/kmsg", text);
  const auto log = read_kernel_log(root.system());
  if (!log) {
    require(!log.error().message.empty(), "an error without a message");
    return 0;
  }
  const auto count = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  std::uint64_t faults = 0;
  for (const auto& fault : log->faults) {
    check_address(fault.bdf);
    require(fault.count > 0 && !fault.first.text.empty(), "a fault without a line");
    faults += fault.count;
  }
  require(faults + log->domain_lines.size() + log->option_lines.size() <= count,
          "more is told than there are lines");
  return 0;
}

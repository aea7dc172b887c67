// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as the ledger: it's refused with its name, or what's read from it reads back as the
// same.
#include "boot/ledger.hpp"
#include "fuzz_root.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace peerpath::boot;
  using peerpath::fuzz::require;
  static peerpath::fuzz::FuzzRoot root;
  root.file(ledger_path, {reinterpret_cast<const char*>(data), size});
  const auto& system = root.system();
  const auto ledger = load_ledger(system);
  if (!ledger) {
    require(ledger.error().code == peerpath::Errc::malformed, "an error that isn't about the text");
    require(ledger.error().text().find(ledger_path) != std::string::npos,
            "an error that doesn't name the file");
    return 0;
  }
  require(ledger->has_value(), "a file that's there and isn't");
  require(save_ledger(system, **ledger).has_value(), "it can't be written");
  const auto once = root.bytes(ledger_path);
  const auto again = load_ledger(system);
  require(again && again->has_value(), "what we wrote ourselves isn't a ledger");
  require(is_open(**again) == is_open(**ledger), "it's open or not");
  require(save_ledger(system, **again).has_value(), "it can't be written again");
  require(root.bytes(ledger_path) == once, "it doesn't read back as the same");
  return 0;
}

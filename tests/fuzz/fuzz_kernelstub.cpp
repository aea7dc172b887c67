// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as kernelstub's configuration: a word that's put in is read back, and goes without a
// trace.
#include "boot/kernelstub_config.hpp"
#include "require.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace peerpath::boot;
  using peerpath::fuzz::require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto options = parse_kernelstub(text);
  if (!options) {
    require(options.error().code == peerpath::Errc::malformed,
            "an error that isn't about the text");
    require(!options.error().message.empty(), "an error without a message");
    return 0;
  }
  require(options->place.begin < options->place.end && options->place.end <= size,
          "options outside of the text");
  for (const auto& element : options->elements)
    require(element.place.begin < element.place.end && element.place.end <= size,
            "an option outside of the text");

  const std::string path = "/etc/kernelstub/configuration";
  const auto edit = add_option(path, text, *options, "iommu=pt");
  const auto after = edited(text, edit);
  require(after.has_value(), "the word can't be put in");
  const auto read = parse_kernelstub(*after);
  require(read.has_value(), "with the word in it, it's no configuration any more");
  require(read->command_line.starts_with(options->command_line), "other options are lost");
  require(read->command_line.ends_with("iommu=pt"), "the word isn't there");

  Ledger ledger;
  ledger.edits.push_back({.path = path,
                          .offset = edit.offset,
                          .inserted = edit.inserted,
                          .size = size,
                          .digest = digest_of(text)});
  const auto taken = take_option(ledger, path, *after, *read, "iommu=pt");
  require(taken && edited(*after, *taken) == text, "it isn't as it was");
  return 0;
}

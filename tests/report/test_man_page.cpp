// SPDX-License-Identifier: GPL-2.0-or-later
// The manual page's table of findings has the records' titles. After a change of a record,
// PEERPATH_UPDATE_GOLDEN=1 writes them anew. That the ids are there is tests/lint/documented's.
#include "base/text.hpp"
#include "report/explain.hpp"
#include "support/catch.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

using namespace peerpath;
using namespace peerpath::report;

namespace {

const std::string page_path = PEERPATH_TESTS_DIR "/../man/peerpath.8";
constexpr std::string_view item = ".It Li ";

std::string read_page() {
  std::ifstream file(page_path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The page with the title of each finding below its id.
std::string with_titles(const std::string& page) {
  std::string text;
  bool is_below_id = false;
  for (const auto line : lines(page)) {
    const bool is_old_title = is_below_id && line.starts_with(".Em \"");
    is_below_id = false;
    if (!is_old_title) text += fmt::format("{}\n", line);
    if (!line.starts_with(item)) continue;
    const auto* record = find_record(line.substr(item.size()));
    if (record == nullptr) continue;
    text += fmt::format(".Em \"{}\" .\n", record->title);
    is_below_id = true;
  }
  return text;
}

}  // namespace

TEST_CASE("peerpath.8: each finding in its table → the record's title below the id") {
  const auto page = with_titles(read_page());
  if (std::getenv("PEERPATH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(page_path, std::ios::binary) << page;
  }
  CHECK(read_page() == page);
}

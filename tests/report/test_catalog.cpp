// SPDX-License-Identifier: GPL-2.0-or-later
// The journal's catalog says what the records say. After a change of a record,
// PEERPATH_UPDATE_GOLDEN=1 writes it anew.
#include "base/text.hpp"
#include "report/explain.hpp"
#include "report/layout.hpp"
#include "support/catch.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <set>

using namespace peerpath;
using namespace peerpath::report;

namespace {

const std::string catalog_path = PEERPATH_TESTS_DIR "/../hooks/peerpath.catalog";
constexpr std::size_t catalog_width = 76;  // as systemd's CATALOG.md asks for

std::string expected_catalog() {
  std::string text =
      "# SPDX-License-Identifier: GPL-2.0-or-later\n"
      "# The texts are those of 'peerpath explain'; a test compares them.\n";
  for (const auto* record : check::all_records()) {
    text +=
        fmt::format("\n-- {}\nSubject: {}\nDefined-By: peerpath\nDocumentation: man:peerpath(8)\n",
                    record->message_id, record->title);
    for (const auto paragraph : {record->meaning, record->causes, record->remedy})
      text += "\n" + wrapped(paragraph, catalog_width, "", "");
  }
  return text;
}

std::string read_catalog() {
  std::ifstream file(catalog_path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("peerpath.catalog: each record → an entry with its id, title and text") {
  if (std::getenv("PEERPATH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(catalog_path, std::ios::binary) << expected_catalog();
  }
  CHECK(read_catalog() == expected_catalog());
}

TEST_CASE("peerpath.catalog: its lines → none that the journal would take for something else") {
  std::set<std::string_view> ids;
  const auto text = read_catalog();
  for (const auto line : lines(text)) {
    INFO(line);
    CHECK(line.size() <= catalog_width);
    CHECK(line.find('@') == std::string_view::npos);  // would be replaced by a field
    if (line.rfind("--", 0) == 0) CHECK(ids.insert(line).second);
  }
  CHECK(ids.size() == check::all_records().size());
}

TEST_CASE("records: their message ids → 128 bits in lower-case hexadecimal") {
  for (const auto* record : check::all_records()) {
    INFO(record->id);
    CHECK(record->message_id.size() == 32);
    CHECK(record->message_id.find_first_not_of("0123456789abcdef") == std::string_view::npos);
  }
}

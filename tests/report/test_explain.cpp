// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/explain.hpp"
#include "support/catch.hpp"
#include "support/json_schema.hpp"

#include <nlohmann/json.hpp>

using namespace peerpath;
using namespace peerpath::report;

namespace {

constexpr check::Record record{
    .id = "area.subject",
    .title = "A title",
    .message_id = "0123456789abcdef0123456789abcdef",
    .meaning = "It looks at one thing and another, which matters a great deal.",
    .causes = "Something is wrong.",
    .remedy = "Make it right.",
    .since = "0.1.0",
};

}  // namespace

TEST_CASE("find_record: an id → its record, or none") {
  for (const auto* known : check::all_records())
    CHECK(find_record(known->id) == known);
  CHECK(find_record("no.such-id") == nullptr);
  CHECK(find_record("") == nullptr);
}

TEST_CASE("near_ids: what somebody mistyped → what was meant") {
  for (const auto* known : check::all_records()) {
    auto typed = std::string(known->id);
    typed.erase(2, 1);
    CHECK(near_ids(typed).front() == known->id);
    CHECK(near_ids(known->id.substr(known->id.find('.') + 1)).front() == known->id);
  }
  CHECK(near_ids("iommu.gruop-type").front() == "iommu.group-type");
  CHECK(near_ids(".").size() == 3);
  CHECK(near_ids("").empty());
  CHECK(near_ids("nonsense-altogether").empty());
  CHECK(near_ids(std::string(100'000, 'i')).empty());
}

TEST_CASE("title_of: an unknown id → the id") {
  CHECK(title_of("no.such-id") == "no.such-id");
  CHECK(title_of("p2p.selftest") == find_record("p2p.selftest")->title);
}

TEST_CASE("explain_text: a record → all of it, within the width") {
  CHECK(explain_text(record, 40) ==
        "area.subject: A title\n"
        "\n"
        "What it looks at\n"
        "  It looks at one thing and another,\n"
        "  which matters a great deal.\n"
        "\n"
        "What makes it fail\n"
        "  Something is wrong.\n"
        "\n"
        "How to mend it\n"
        "  Make it right.\n"
        "\n"
        "In the journal: journalctl -b MESSAGE_ID=0123456789abcdef0123456789abcdef\n"
        "Since version 0.1.0\n");
}

TEST_CASE("list_text: records → one a line, titles below each other") {
  auto other = record;
  other.id = "a.b";
  other.title = "Another";
  CHECK(list_text({&record, &other}) ==
        "area.subject  A title\n"
        "a.b           Another\n");
}

TEST_CASE("explain_json: every record → as the schema says, all of it") {
  const auto text = explain_json(check::all_records());
  const auto document = nlohmann::json::parse(text);
  CHECK(JsonSchema::shipped("explain").flaws(document).empty());
  REQUIRE(document["records"].size() == check::all_records().size());
  const auto one = nlohmann::json::parse(explain_json({&record}));
  CHECK(one["records"][0] == nlohmann::json{{"id", "area.subject"},
                                            {"title", "A title"},
                                            {"message_id", "0123456789abcdef0123456789abcdef"},
                                            {"meaning", record.meaning},
                                            {"causes", "Something is wrong."},
                                            {"remedy", "Make it right."},
                                            {"since", "0.1.0"}});
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "check/record.hpp"
#include "cli/commands.hpp"
#include "report/explain.hpp"

#include <fmt/format.h>

namespace peerpath::cli {
namespace {

tl::unexpected<Error> no_such_finding(const std::string& id) {
  const auto near = report::near_ids(id);
  const auto guess = near.empty() ? "" : fmt::format(" (near: {})", join(near, ", "));
  return fail(Errc::usage, fmt::format("'{}': no such finding{}; 'peerpath explain' lists them",
                                       printable(id), guess));
}

Result<Answer> run(const Invocation& invocation) {
  const bool json = invocation.flag("json");
  const auto arguments = invocation.list("argument");
  if (arguments.empty()) {
    const auto records = check::all_records();
    return Answer{json ? report::explain_json(records) : report::list_text(records)};
  }
  const auto* record = report::find_record(arguments[0]);
  if (record == nullptr) return no_such_finding(arguments[0]);
  return Answer{json ? report::explain_json({record}) : report::explain_text(*record)};
}

}  // namespace

const Command cmd_explain{
    .name = "explain",
    .arguments = "[ID]",
    .summary = "tell what a finding means and how to mend it",
    .details = "Explains one finding by its id, or lists all ids.",
    .add_options = add_json_option,
    .positional = 1,
    .run = run,
};

}  // namespace peerpath::cli

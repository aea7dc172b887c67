// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/error_report.hpp"

#include "base/version.hpp"

#include <nlohmann/json.hpp>

namespace peerpath::report {

std::string error_json(std::string_view command, const Error& error, ExitStatus status) {
  nlohmann::ordered_json json;
  json["schema"] = "peerpath.error";
  json["schema_version"] = 1;
  json["version"] = version();
  json["command"] = command;
  json["exit_status"] = static_cast<int>(status);
  json["error"] = error.text();
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace peerpath::report

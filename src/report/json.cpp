// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json.hpp"

namespace peerpath::report {

Json document(std::string_view schema, std::string_view version) {
  Json json;
  json["schema"] = schema;
  json["schema_version"] = 1;
  json["version"] = version;
  return json;
}

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace peerpath::report

// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/findings_by_cause.hpp"

#include "report/layout.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace peerpath::report {
namespace {

auto key(const check::Finding& finding) {
  return std::tie(finding.id, finding.status, finding.cause, finding.remedy);
}

}  // namespace

std::vector<FindingGroup> by_cause(const std::vector<check::Finding>& findings) {
  std::vector<FindingGroup> groups;
  std::map<decltype(key(findings.front())), std::size_t> places;
  for (const auto& finding : findings) {
    const auto [place, is_new] = places.emplace(key(finding), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(&finding);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const FindingGroup& a, const FindingGroup& b) {
    return rank(a.front()->status) < rank(b.front()->status);
  });
  return groups;
}

bool says_nothing_bad(const FindingGroup& group) {
  return rank(group.front()->status) >= rank(check::Status::ok);
}

}  // namespace peerpath::report

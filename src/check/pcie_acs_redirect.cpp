// SPDX-License-Identifier: GPL-2.0-or-later
// Does ACS send the transactions of two devices up to the root complex? The registers on their path
// tell; nothing else does.
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/devices.hpp"
#include "cmdline/pci_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "pcie.acs-redirect",
    .title = "ACS redirect between two devices",
    .message_id = "526150775e6d474395ca44ed79b60742",
    .meaning =
        "Reads the ACS control register of every function on the path between two devices, up to "
        "and including the lowest bridge that is above both. Where one of request redirect, "
        "completion redirect and egress control is set, the pair's transactions don't turn round "
        "in the switch: they go up to the root complex, which is slower, and wrong on some "
        "platforms. Source validation and upstream forwarding alone do no harm. Devices without a "
        "bridge in common go through the root complex whatever ACS says. The register is never "
        "written.",
    .causes =
        "The kernel sets these bits wherever it finds an IOMMU, in passthrough too; firmware may "
        "set them as well. Unknown: only root may read the registers, or they can't be reached.",
    .remedy =
        "Put the 'pci=disable_acs_redir=' word that the finding gives on the kernel command line, "
        "in quotes in GRUB's settings because of its ';', and reboot; or turn ACS off in the "
        "firmware's setup. Only the last word of this kind counts. Linux 6.11, 6.12.0 to 6.12.19, "
        "6.13 and 6.14 get it wrong: use another kernel. The price: IOMMU groups merge, and "
        "virtual machines that get such devices by VFIO aren't isolated from each other.",
    .since = "0.1.0",
};

using probe::Acs;
using probe::PciNode;
using probe::PciTree;

constexpr std::uint32_t network_class = 0x02;

bool is_network(const PciNode* node) {
  return node != nullptr && node->class_code >> 16U == network_class;
}

char sign(bool set) {
  return set ? '+' : '-';
}

std::string describe(const Acs& acs) {
  return fmt::format("ReqRedir{} CmpltRedir{} EgressCtrl{} ({:#06x})",
                     sign((acs.control & Acs::request_redirect) != 0),
                     sign((acs.control & Acs::completion_redirect) != 0),
                     sign((acs.control & Acs::egress_control) != 0), acs.control);
}

/// What the registers on one path say.
struct Pair {
  std::string from;
  std::string to;
  std::optional<std::string> common = {};
  std::vector<const PciNode*> redirecting = {};
  std::vector<const PciNode*> unread = {};
  std::vector<const PciNode*> cut_off = {};  ///< what's above these on the path isn't known
  bool missing = false;                      ///< one end isn't in the tree
};

Pair look_at(const PciTree& tree, const std::string& from, const std::string& to) {
  Pair pair{.from = from, .to = to};
  if (tree.find(from) == nullptr || tree.find(to) == nullptr) {
    pair.missing = true;
    return pair;
  }
  const auto path = tree.path(from, to);
  pair.common = path.common;
  auto functions = path.from;
  functions.insert(functions.end(), path.to.begin(), path.to.end());
  for (const auto& bdf : functions) {
    if (tree.find(bdf)->parent_error) pair.cut_off.push_back(tree.find(bdf));
  }
  if (!path.common) return pair;
  functions.push_back(*path.common);
  for (const auto& bdf : functions) {
    const auto* node = tree.find(bdf);
    if (!node->acs) {
      pair.unread.push_back(node);
    } else if (*node->acs && (*node->acs)->redirects()) {
      pair.redirecting.push_back(node);
    }
  }
  return pair;
}

std::vector<Pair> pairs_of(const PciTree& tree, const std::vector<std::string>& devices) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t k = i + 1; k < devices.size(); ++k) {
      if (is_network(tree.find(devices[i])) && is_network(tree.find(devices[k]))) continue;
      pairs.push_back(look_at(tree, devices[i], devices[k]));
    }
  }
  return pairs;
}

bool is_bad(const Pair& pair) {
  return !pair.redirecting.empty();
}

bool is_unknown(const Pair& pair) {
  return !is_bad(pair) && (pair.missing || !pair.unread.empty() || !pair.cut_off.empty());
}

Evidence evidence_of(const PciNode& node) {
  const auto source = fmt::format("{} of {}", (*node.acs)->where, node.bdf);
  const auto type = node.type ? fmt::format(", {}", probe::name_of(*node.type)) : "";
  return {source, describe(**node.acs) + type, "ReqRedir- CmpltRedir- EgressCtrl-"};
}

Finding about(const Pair& pair, Status status) {
  Finding finding{.id = std::string(record.id), .status = status, .device = pair.from};
  finding.peer = pair.to;
  return finding;
}

/// The word that turns redirect off on all of these, and on what the running one names already.
std::string disabling_word(const Facts& facts, const std::vector<Pair>& pairs) {
  std::vector<std::string> devices;
  const auto add = [&](const std::string& device) {
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
    }
  };
  if (facts.command_line) {
    for (const auto& device : cmdline::acs_redir_disabled(*facts.command_line))
      add(printable(device));
  }
  for (const auto& pair : pairs) {
    for (const auto* node : pair.redirecting)
      add(node->bdf);
  }
  return "pci=disable_acs_redir=" + join(devices, ";");
}

std::string how_to_disable(const Facts& facts, const std::vector<Pair>& pairs) {
  const auto price =
      "; the price: IOMMU groups merge, and VFIO no longer isolates these devices "
      "from each other";
  if (facts.kernel.release && cmdline::breaks_disable_acs_redir(*facts.kernel.release)) {
    return fmt::format(
        "turn ACS off in the firmware's setup, or boot another kernel than {} with '{}' on its "
        "command line: this kernel gets that word wrong, puts the firmware's bits back and sets "
        "others{}",
        printable(*facts.kernel.release), disabling_word(facts, pairs), price);
  }
  const bool merged =
      facts.command_line && !cmdline::acs_redir_disabled(*facts.command_line).empty();
  return fmt::format(
      "put '{}' on the kernel command line{}, in quotes in GRUB's settings because of the ';', and "
      "reboot; then run 'peerpath verify' again, or turn ACS off in the firmware's setup{}",
      disabling_word(facts, pairs),
      merged ? " in place of the one that's there (only the last one counts)"
             : " (only the last such word counts)",
      price);
}

Finding redirected(const Pair& pair, const std::string& remedy) {
  auto finding = about(pair, Status::fail);
  for (const auto* node : pair.redirecting)
    finding.evidence.push_back(evidence_of(*node));
  for (const auto* node : pair.unread)
    finding.evidence.push_back({"ACSCtl of " + node->bdf, node->acs.error().text(), ""});
  finding.cause =
      "ACS sends what these two send each other up to the root complex, instead of straight "
      "through the switch";
  finding.remedy = remedy;
  return finding;
}

Finding untold(const Pair& pair) {
  auto finding = about(pair, Status::unknown);
  bool denied = !pair.unread.empty();
  for (const auto* node : pair.unread) {
    finding.evidence.push_back(
        {"ACSCtl of " + node->bdf, node->acs.error().text(), "ReqRedir- CmpltRedir- EgressCtrl-"});
    denied = denied && node->acs.error().code == Errc::denied;
  }
  if (pair.missing) {
    finding.evidence.push_back({"/sys/bus/pci/devices", "a function was not found", ""});
  }
  for (const auto* node : pair.cut_off)
    finding.evidence.push_back({"bridge above " + node->bdf, node->parent_error->text(), ""});
  finding.cause = denied ? "only root may read the registers on the path of these two"
                         : "a register on the path of these two can't be read";
  if (!pair.cut_off.empty()) finding.cause = "the path of these two isn't known to its end";
  finding.remedy = denied ? "run 'peerpath verify' as root"
                          : "mend what can't be read, or look at the machine's manual";
  return finding;
}

/// "0000:3b:00.0 – 0000:5e:00.0", as many as are good to read.
std::string name_pairs(const std::vector<const Pair*>& pairs) {
  constexpr std::size_t most = 4;
  if (pairs.size() > most) return fmt::format("{} pairs", pairs.size());
  std::vector<std::string> names;
  for (const auto* pair : pairs)
    names.push_back(fmt::format("{} – {}", pair->from, pair->to));
  return join(names, ", ");
}

/// One finding for all that's well, with evidence for each bridge that such pairs have in common.
Finding straight(const std::vector<Pair>& pairs) {
  std::map<std::string, std::vector<const Pair*>> by_bridge;
  for (const auto& pair : pairs) {
    if (!is_bad(pair) && !is_unknown(pair)) by_bridge[pair.common.value_or("")].push_back(&pair);
  }
  Finding finding{.id = std::string(record.id), .status = Status::ok};
  for (const auto& [bridge, some] : by_bridge) {
    if (bridge.empty()) {
      finding.evidence.push_back({"/sys/bus/pci/devices",
                                  fmt::format("{}: no bridge in common, so they go through the "
                                              "root complex whatever ACS says",
                                              name_pairs(some)),
                                  ""});
    } else {
      finding.evidence.push_back({fmt::format("ACSCtl of {} and of the functions below it", bridge),
                                  fmt::format("{}: no redirect on the path", name_pairs(some)),
                                  "ReqRedir- CmpltRedir- EgressCtrl-"});
    }
  }
  return finding;
}

std::vector<Finding> judge(const Facts& facts, const std::vector<Pair>& pairs) {
  std::vector<Finding> findings;
  const auto remedy = how_to_disable(facts, pairs);
  for (const auto& pair : pairs) {
    if (is_bad(pair)) findings.push_back(redirected(pair, remedy));
    if (is_unknown(pair)) findings.push_back(untold(pair));
  }
  if (findings.size() < pairs.size()) findings.push_back(straight(pairs));
  return findings;
}

std::vector<std::string> addresses(const Facts& facts) {
  std::vector<std::string> devices;
  for (const auto& device : *facts.devices)
    devices.push_back(device.bdf);
  return devices;
}

std::vector<Finding> run(const Facts& facts) {
  const std::string id(record.id);
  if (!facts.devices) return {unlisted(id, facts.devices.error())};
  if (facts.devices->empty()) return {no_devices(id, facts)};
  const auto devices = addresses(facts);
  if (devices.size() > 1 && !facts.tree) return {unlisted(id, facts.tree.error())};
  const auto pairs = devices.size() > 1 ? pairs_of(*facts.tree, devices) : std::vector<Pair>{};
  if (!pairs.empty()) return judge(facts, pairs);
  return {{.id = id,
           .status = Status::not_applicable,
           .evidence = {{"/sys/bus/pci/devices", join(devices, ", "), "two devices or more"}},
           .cause = "there is no pair of devices to be checked"}};
}

}  // namespace

const Check pcie_acs_redirect{record, run};

}  // namespace peerpath::check

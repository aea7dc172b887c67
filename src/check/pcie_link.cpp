// SPDX-License-Identifier: GPL-2.0-or-later
// Did the link above each device come up with all its lanes? Its speed is no sign: it drops when
// the device idles.
#include "check/checks.hpp"
#include "check/devices.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "pcie.link",
    .title = "PCI Express link of each device",
    .message_id = "ef89685cd1dd4ae1b163b956c61a4f39",
    .meaning =
        "Compares the number of lanes that the link above a device uses with what both of its ends "
        "can use. Fewer lanes than that make every transfer slower. The speed is only shown: "
        "devices lower it when they idle. It doesn't apply to a device that tells nothing of a "
        "link, such as one on conventional PCI.",
    .causes =
        "The card isn't seated well, a riser or cable is bad, contacts are dirty, or the slot's "
        "lanes are shared with another slot.",
    .remedy =
        "Seat the card anew, try another riser, cable or slot, and look at the firmware's setup of "
        "the slot's lanes (bifurcation).",
    .since = "0.1.0",
};

using probe::PciLink;
using probe::PciNode;

std::string speed_text(double speed) {
  return speed > 0 ? fmt::format("{:g} GT/s", speed) : "unknown speed";
}
std::string width_text(unsigned width) {
  return width > 0 ? fmt::format("x{}", width) : "unknown width";
}

/// Nothing where the function above isn't in the tree or doesn't tell.
const PciLink* link_above(const probe::PciTree& tree, const PciNode& node) {
  const auto* port = node.parent ? tree.find(*node.parent) : nullptr;
  return port != nullptr && port->link ? &*port->link : nullptr;
}

Finding start(const PciNode& node, Status status) {
  return {.id = std::string(record.id), .status = status, .device = node.bdf};
}

std::string source_of(const std::string& bdf) {
  return fmt::format("/sys/bus/pci/devices/{}/*_link_*", bdf);
}

Finding untold(const PciNode& node, const std::string& why) {
  auto finding = start(node, Status::unknown);
  finding.evidence = {{source_of(node.bdf), why, "speed and width of its link"}};
  finding.cause = "its link can't be told: " + why;
  finding.remedy = "mend what can't be read, then run 'peerpath verify' again";
  return finding;
}

Finding without_link(const PciNode& node) {
  auto finding = start(node, Status::not_applicable);
  finding.evidence = {{source_of(node.bdf), "nothing of a link", "speed and width of its link"}};
  finding.cause = "the device tells nothing of a link";
  return finding;
}

Finding compare(const PciNode& node, const PciLink& link, const PciLink* above) {
  const auto possible = above != nullptr && above->max_width != 0
                            ? std::min(link.max_width, above->max_width)
                            : link.max_width;
  const bool narrow = link.width < possible;
  auto finding = start(node, narrow ? Status::warn : Status::ok);
  finding.evidence = {
      {source_of(node.bdf),
       fmt::format("{} {} now, {} {} at most", speed_text(link.speed), width_text(link.width),
                   speed_text(link.max_speed), width_text(link.max_width)),
       width_text(possible)}};
  if (above != nullptr) {
    finding.evidence.push_back(
        {source_of(*node.parent),
         fmt::format("{} {} at most", speed_text(above->max_speed), width_text(above->max_width)),
         ""});
  }
  if (link.speed > 0 && link.speed < link.max_speed) {
    finding.evidence.front().observed += "; the speed drops when a device idles";
  }
  if (!narrow) return finding;
  finding.cause = "the link uses fewer lanes than both of its ends have";
  finding.remedy = "seat the card anew; try another riser, cable or slot";
  return finding;
}

Finding judge(const probe::PciTree& tree, const probe::PciDevice& device) {
  const auto* node = tree.find(device.bdf);
  if (node == nullptr) {
    PciNode missing;
    missing.bdf = device.bdf;
    return untold(missing, "the function was not found");
  }
  if (node->parent_error) return untold(*node, node->parent_error->text());
  if (node->link_error) return untold(*node, node->link_error->text());
  if (!node->link) return without_link(*node);
  if (node->link->width == 0) return untold(*node, "the kernel doesn't know the width in use");
  return compare(*node, *node->link, link_above(tree, *node));
}

std::vector<Finding> run(const Facts& facts) {
  const std::string id(record.id);
  if (!facts.devices) return {unlisted(id, facts.devices.error())};
  if (facts.devices->empty()) return {no_devices(id, facts)};
  if (!facts.tree) return {unlisted(id, facts.tree.error())};
  std::vector<Finding> findings;
  for (const auto& device : *facts.devices)
    findings.push_back(judge(*facts.tree, device));
  return findings;
}

}  // namespace

const Check pcie_link{record, run};

}  // namespace peerpath::check

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/facts.hpp"
#include "gpu/selftest/links.hpp"

#include <string>
#include <vector>

namespace peerpath::cli {

/// Bytes per second that a PCI Express link of this speed (GT/s) and width carries in one
/// direction, before the headers of packets; zero where either is unknown.
/// Facts: PCIe Base Specification, 8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s, and 242 bytes of
/// packets in each FLIT of 256 from 64 GT/s on.
[[nodiscard]] double link_capacity(double speed, unsigned width);

/// Whether there's a link above the function: not above a root port, and not above the downstream
/// port of a switch, which the switch has inside. Where its type can't be read, as by others than
/// root, its place tells: ports that lead down and functions that have a link take turns.
[[nodiscard]] bool has_link_above(const probe::PciTree& tree, const probe::PciNode& node);

/// What both ends of the link above the function can do: the highest speed and width. Zero where
/// that isn't known.
[[nodiscard]] probe::PciLink best_link(const probe::PciTree& tree, const probe::PciNode& node);

/// The ways between these GPUs, each PCI Express link as one of data upstream and one downstream.
/// A link's speed is the highest that both its ends can do, for it's lower while the GPU idles; its
/// width is the one in use. GPUs that the driver says are linked by NVLink are nearer than any PCI
/// Express makes them, and of their links only the ends are known. Of GPUs that aren't in the tree
/// nothing is known.
[[nodiscard]] gpu::LinkGraph link_graph(const check::Facts& facts,
                                        const std::vector<std::string>& bdfs);

}  // namespace peerpath::cli

// SPDX-License-Identifier: GPL-2.0-or-later
// What the text of `lspci -xxxx`, as people put it into reports, tells of a machine. Pure.
#pragma once

#include "base/result.hpp"
#include "probe/pci.hpp"
#include "probe/pci_config.hpp"
#include "probe/pci_tree.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::probe {

/// The functions in a dump, by BDF with its domain, and as many of their bytes as it has: 4096 or
/// 256 by -xxxx, 256 by -xxx, 64 by -x or for somebody who isn't root, none where only their name
/// is there.
using LspciDump = std::map<std::string, PciConfig>;

/// Reads the text, with or without domains, of any -v and -n. Indented lines are descriptions.
/// Errors: malformed, with the number of the first line that is none of lspci's, comes twice or
/// isn't the continuation of the bytes before it; malformed without bytes of any function.
/// Fact: pciutils lspci.c show_hex_dump.
[[nodiscard]] Result<LspciDump> parse_lspci_dump(std::string_view text);

/// The functions that one of the patterns matches, by address. One whose ids the dump doesn't have
/// might be one of them, so it's in the list. What a dump can't tell of them, their IOMMU group, is
/// an error of code unsupported.
[[nodiscard]] std::vector<PciDevice> find_pci_devices(const LspciDump& dump,
                                                      const std::vector<PciMatch>& matches);
/// The same for functions named by their address. Errors: not_found naming it; malformed.
[[nodiscard]] Result<std::vector<PciDevice>> read_pci_devices(const LspciDump& dump,
                                                              const std::vector<std::string>& bdfs);

/// These functions, which must be in the dump, and the bridges above them, by the bridges' bus
/// numbers. Where the bridge above one may be missing from the dump, its node says so by
/// `parent_error`: only root ports, and on bus 0 what needs no port above it, are known to be on a
/// root bus. Sizes of BARs aren't in a dump.
[[nodiscard]] PciTree read_pci_tree(const LspciDump& dump, const std::vector<std::string>& bdfs);

}  // namespace peerpath::probe

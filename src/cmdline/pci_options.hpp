// SPDX-License-Identifier: GPL-2.0-or-later
// The options of `pci=` that concern ACS.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace peerpath::cmdline {

/// Every option of every `pci=` on the command line, in order: they stand between commas.
/// Fact: drivers/pci/pci.c pci_setup.
[[nodiscard]] std::vector<std::string> pci_options(std::string_view command_line);

/// The devices of the `disable_acs_redir=` that counts, the last one; `;` separates them.
/// Fact: drivers/pci/pci.c pci_setup and pci_dev_str_match.
[[nodiscard]] std::vector<std::string> acs_redir_disabled(std::string_view command_line);

/// Whether `disable_acs_redir` is known to do something else on this kernel: it puts the
/// firmware's bits back and sets others. Fact: drivers/pci/pci.c __pci_config_acs, from 6.11 on;
/// seen in 6.12.0, 6.12.19, 6.13.7 and 6.14, mended in 6.12.33 and 6.17. The releases between are
/// counted as mended, so look at the registers after a reboot.
[[nodiscard]] bool breaks_disable_acs_redir(std::string_view release);

}  // namespace peerpath::cmdline

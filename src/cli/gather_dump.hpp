// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "check/facts.hpp"
#include "check/finding.hpp"
#include "cli/gather.hpp"
#include "sys/system.hpp"

#include <string>
#include <vector>

namespace peerpath::cli {

/// What the text of `lspci -xxxx` in this file tells: the devices, by addresses or patterns, and
/// the bridges above them. Every other fact is an error of code unsupported. `choice.rdma_nics`
/// isn't heeded: a dump doesn't tell which adapters those are. Errors: those of reading the file;
/// malformed, with the line; usage for a pattern or an address that's none; not_found for an
/// address that isn't in it.
[[nodiscard]] Result<check::Facts> gather_dump_facts(const System& system, const std::string& file,
                                                     const DeviceChoice& choice);

/// Runs the checks that such facts are enough for: those of PCI Express. The file is named where
/// the findings would name sysfs.
[[nodiscard]] std::vector<check::Finding> run_dump_checks(const check::Facts& facts,
                                                          const std::string& file);

}  // namespace peerpath::cli

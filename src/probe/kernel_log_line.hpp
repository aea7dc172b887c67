// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "probe/kernel_log.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace peerpath::probe {

/// What one line of the kernel log tells.
struct LogFact {
  enum class Kind {
    fault,
    smmu_event,   ///< a fault whose device may be named by an smmu_client line right after it
    smmu_client,  ///< the same fault once more, with its device; since Linux 6.14
    suppressed,
    default_domain,
    invalidation,
    memory_encryption,
    encryption_active,
    platform_opt_in,
    snp_lost,
    domain,
    option,
  };
  Kind kind = Kind::fault;
  DmaFault::Source source = DmaFault::Source::intel;  ///< of a fault, event or client
  std::optional<std::string> bdf = {};                ///< of a fault or client
  std::uint64_t count = 1;                            ///< of what was suppressed
};

/// What a line, without its level and time, tells; nothing of the many that tell nothing. Escapes
/// of /dev/kmsg may be in it. Facts: the formats that Linux 4.18 to 6.19 and NVIDIA's driver print
/// (drivers/iommu/intel/dmar.c dmar_fault_do_one, drivers/iommu/amd/iommu.c iommu_print_event,
/// drivers/iommu/arm/, drivers/iommu/iommu.c, lib/ratelimit.c, init/main.c).
[[nodiscard]] std::optional<LogFact> parse_log_line(std::string_view text);

/// The address of a PCI function however the kernel or a driver writes it, `3b:00.0`,
/// `0x3b:0x00.0`, `0000:3b:00.0`, `0000:3b:00` (function 0), as 0000:3b:00.0. Nothing where it's
/// none.
[[nodiscard]] std::optional<std::string> parse_log_address(std::string_view text);

/// A record of the log: a line with what stands before it.
struct LogRecord {
  std::optional<std::uint64_t> sequence;  ///< of /dev/kmsg
  double time = 0;                        ///< seconds since boot
  bool by_kernel = false;                 ///< not by a program that wrote to /dev/kmsg
  std::string_view text;
};

/// `PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT`. Nothing of continuation lines, which begin with a
/// space. Fact: Documentation/ABI/testing/dev-kmsg.
[[nodiscard]] std::optional<LogRecord> parse_kmsg_record(std::string_view line);

/// `[    1.234567] HOST kernel: TEXT`, as journalctl's short-monotonic output has it.
[[nodiscard]] std::optional<LogRecord> parse_journal_record(std::string_view line);

/// `\xNN` of /dev/kmsg as the byte that it stands for.
[[nodiscard]] std::string unescape_kmsg(std::string_view text);

}  // namespace peerpath::probe

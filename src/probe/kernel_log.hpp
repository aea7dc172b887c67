// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::probe {

/// A line of the kernel log, without its level and time.
struct LogLine {
  double time = 0;  ///< seconds since boot
  std::string text;
};

/// Faults of one device in one format, counted, so that a flood takes no room.
struct DmaFault {
  enum class Source {
    intel,   ///< DMAR
    amd,     ///< AMD-Vi
    smmu,    ///< Arm
    xid,     ///< the NVIDIA driver's Xid
    nvidia,  ///< other lines of the NVIDIA driver that tell of lost peer mappings
  };
  Source source = Source::intel;
  std::optional<std::string> bdf;  ///< with its domain; nothing where the line names no device
  LogLine first;
  LogLine last;
  std::uint64_t count = 0;
};
[[nodiscard]] std::string_view name_of(DmaFault::Source source);

/// What this boot's kernel log says of IOMMUs, peers and GPUs.
struct KernelLog {
  std::string source;       ///< "/dev/kmsg", or "the journal of this boot"
  bool from_start = false;  ///< it reaches back to the start of this boot without a gap
  double first_time = 0;    ///< of the first line after the last gap, seconds since boot
  std::vector<DmaFault> faults;
  std::uint64_t suppressed = 0;  ///< callbacks that the kernel's rate limit kept out of it
  /// Lines that tell what was decided, each kind once, the first of it.
  std::optional<LogLine> default_domain;     ///< iommu: Default domain type: …
  std::optional<LogLine> invalidation;       ///< iommu: DMA domain TLB invalidation policy: …
  std::optional<LogLine> memory_encryption;  ///< … detected - Disabling default IOMMU Passthrough
  std::optional<LogLine> encryption_active;  ///< Memory Encryption Features active: AMD SME
  std::optional<LogLine> platform_opt_in;  ///< DMAR: Intel-IOMMU force enabled due to platform …
  std::optional<LogLine> snp_lost;         ///< AMD-Vi: SNP: IOMMU disabled or configured in …
  /// Lines on why a device or group got another domain than the default: failed allocation,
  /// untrusted, refused. At most 64.
  std::vector<LogLine> domain_lines;
  /// Options that the kernel didn't take: Malformed early option, Unknown option. At most 64.
  std::vector<LogLine> option_lines;
};

/// Reads the log of this boot: /dev/kmsg, or where that has lost its beginning or can't be read,
/// the journal of the booted system, if it reaches back further; in a recorded tree the file there,
/// of the same records one after the other. Programs' own words in it don't count. The text isn't
/// held, whatever its size. Errors: those of reading /dev/kmsg, denied where dmesg is restricted;
/// not_found where nothing is in it.
[[nodiscard]] Result<KernelLog> read_kernel_log(const System& system);

/// A fault's line.
struct LogFault {
  DmaFault::Source source = DmaFault::Source::intel;
  std::optional<std::string> bdf;  ///< as of DmaFault
  LogLine line;
};

/// The lines of /dev/kmsg that tell of faults from that time on (seconds since boot), one by one;
/// the first 4096 of them. Errors: those of reading it, denied where dmesg is restricted.
[[nodiscard]] Result<std::vector<LogFault>> read_fault_lines(const System& system, double since);

/// The records of the same log that tell something, and one that stands for its beginning, in the
/// form of /dev/kmsg: read again, it gives the same. For recordings. Errors: as above.
[[nodiscard]] Result<std::string> extract_kernel_log(const System& system);

}  // namespace peerpath::probe

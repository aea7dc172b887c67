// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "probe/mounts.hpp"
#include "sys/system.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace peerpath::probe {

/// An entry of a disk's partition table.
struct Partition {
  unsigned number = 0;    ///< as in the device's name, counted from 1
  std::string table;      ///< "gpt" or "dos", or another of libblkid's names
  std::string type;       ///< with GPT: a lower-case GUID
  std::uint8_t code = 0;  ///< with MBR: the type's byte
  std::string uuid;       ///< PARTUUID
};

/// What a boot loader that isn't GRUB reads its entries from. Facts: the Discoverable Partitions
/// Specification; the Boot Loader Specification for MBR.
enum class BootPartitionKind { esp, xbootldr };
[[nodiscard]] std::optional<BootPartitionKind> boot_partition_kind(const Partition& partition);

struct BootPartition {
  BootPartitionKind kind = BootPartitionKind::esp;
  std::string device;         ///< its node, /dev/nvme0n1p1
  std::string device_number;  ///< MAJOR:MINOR
  std::string uuid;           ///< PARTUUID
  /// Part of a RAID, multipath or device-mapper device, under whose name it's mounted if it is.
  bool held = false;
};

struct BootPartitions {
  std::vector<BootPartition> partitions;
  std::vector<Error> unread;  ///< disks whose table couldn't be read
};

/// The partition table of a disk or of a file that holds an image of one; empty where it has none.
/// `path` is the machine's own, not one under a root. Errors: not_found, denied; malformed where
/// libblkid can't make sense of the beginning.
[[nodiscard]] Result<std::vector<Partition>> read_partition_table(const std::string& path);

/// The EFI system partitions and extended boot loader partitions of the booted system's disks, by
/// partition type, mounted or not. Partitions inside device-mapper devices aren't looked for; those
/// that such devices are made of are. Errors: unsupported for any other root, those of reading
/// /sys/block.
[[nodiscard]] Result<BootPartitions> find_boot_partitions(const System& system);

/// Those that aren't mounted anywhere; what is `held` isn't counted.
[[nodiscard]] std::vector<BootPartition> not_mounted(const std::vector<BootPartition>& partitions,
                                                     const std::vector<Mount>& mounts);

/// "'/dev/sda1', an EFI system partition, isn't mounted: entries on it aren't judged".
[[nodiscard]] std::string describe_not_mounted(const BootPartition& partition);

/// The node of the device that fstab(5) names in its first field, where this machine has it: one
/// of UUID=, LABEL=, PARTUUID=, PARTLABEL= or a path. Of the machine itself, whatever the root:
/// nothing is read from a device but what tells its name. Neither reads nor writes blkid's cache.
[[nodiscard]] std::optional<std::string> resolve_device(const std::string& spec);

}  // namespace peerpath::probe

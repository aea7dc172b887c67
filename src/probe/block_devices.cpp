// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/block_devices.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <blkid/blkid.h>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <sys/stat.h>

namespace peerpath::probe {
namespace {

constexpr std::string_view sys_block = "/sys/block";
constexpr std::size_t attribute_limit = 4096;

std::string text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

/// A subdirectory of a disk's that is one of its partitions, with its number.
std::optional<unsigned> partition_number(const System& system, const std::string& directory) {
  const auto text = system.read(directory + "/partition", attribute_limit);
  if (!text) return std::nullopt;
  const auto number = parse_number(trim(*text));
  if (!number || *number == 0 || *number > 65536) return std::nullopt;
  return static_cast<unsigned>(*number);
}

bool has_holders(const System& system, const std::string& directory) {
  const auto holders = system.list(directory + "/holders");
  return holders && !holders->empty();
}

struct Node {
  unsigned number = 0;
  std::string name;  ///< below /sys/block/DISK
};

std::vector<Node> partition_nodes(const System& system, const std::string& disk) {
  std::vector<Node> nodes;
  const auto names = system.list(disk);
  if (!names) return nodes;
  for (const auto& name : *names) {
    if (const auto number = partition_number(system, fmt::format("{}/{}", disk, name))) {
      nodes.push_back({*number, name});
    }
  }
  return nodes;
}

/// A `/` in a device's name is a `!` in sysfs: cciss!c0d0.
std::string node_of(std::string name) {
  std::replace(name.begin(), name.end(), '!', '/');
  return "/dev/" + name;
}

void add_disk(const System& system, const std::string& name, BootPartitions& found) {
  const auto disk = fmt::format("{}/{}", sys_block, name);
  const auto nodes = partition_nodes(system, disk);
  // Also spares us drives without a medium, which take long to answer.
  if (nodes.empty()) return;
  const auto table = read_partition_table(node_of(name));
  if (!table) {
    found.unread.push_back(table.error());
    return;
  }
  const bool disk_held = has_holders(system, disk);
  for (const auto& partition : *table) {
    const auto kind = boot_partition_kind(partition);
    const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const Node& candidate) {
      return candidate.number == partition.number;
    });
    if (!kind || node == nodes.end()) continue;
    const auto directory = fmt::format("{}/{}", disk, node->name);
    const auto device_number = system.read(directory + "/dev", attribute_limit);
    if (!device_number) {
      found.unread.push_back(device_number.error());
      continue;
    }
    found.partitions.push_back({*kind, node_of(node->name), std::string(trim(*device_number)),
                                partition.uuid, disk_held || has_holders(system, directory)});
  }
}

}  // namespace

std::optional<BootPartitionKind> boot_partition_kind(const Partition& partition) {
  if (partition.table == "gpt") {
    if (partition.type == "c12a7328-f81f-11d2-ba4b-00a0c93ec93b") return BootPartitionKind::esp;
    if (partition.type == "bc13c2ff-59e6-4262-a352-b275fd6f7172") {
      return BootPartitionKind::xbootldr;
    }
  } else if (partition.table == "dos") {
    if (partition.code == 0xef) return BootPartitionKind::esp;
    if (partition.code == 0xea) return BootPartitionKind::xbootldr;
  }
  return std::nullopt;
}

Result<std::vector<Partition>> read_partition_table(const std::string& path) {
  errno = 0;
  const std::unique_ptr<blkid_struct_probe, void (*)(blkid_probe)> probe(
      blkid_new_probe_from_filename(path.c_str()), blkid_free_probe);
  if (!probe) return fail(system_error(errno, fmt::format("'{}'", path)));
  // The list belongs to the probe. Where there's no table, libblkid has no list either.
  blkid_probe_enable_superblocks(probe.get(), 0);
  blkid_probe_enable_partitions(probe.get(), 1);
  if (blkid_do_fullprobe(probe.get()) < 0) {
    return fail(Errc::malformed, fmt::format("'{}': its partition table can't be read", path));
  }
  std::vector<Partition> partitions;
  const auto list = blkid_probe_get_partitions(probe.get());
  const int count = list == nullptr ? 0 : blkid_partlist_numof_partitions(list);
  for (int i = 0; i < count; ++i) {
    const auto entry = blkid_partlist_get_partition(list, i);
    if (entry == nullptr) continue;
    Partition partition;
    partition.number = static_cast<unsigned>(blkid_partition_get_partno(entry));
    partition.table = text_or_empty(blkid_parttable_get_type(blkid_partition_get_table(entry)));
    partition.type = text_or_empty(blkid_partition_get_type_string(entry));
    partition.code = static_cast<std::uint8_t>(blkid_partition_get_type(entry));
    partition.uuid = text_or_empty(blkid_partition_get_uuid(entry));
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

Result<BootPartitions> find_boot_partitions(const System& system) {
  if (!system.is_booted()) {
    return fail(Errc::unsupported, fmt::format("'{}': not the booted system", system.root()));
  }
  const auto disks = system.list(sys_block);
  if (!disks) return fail(disks.error());
  BootPartitions found;
  for (const auto& disk : *disks)
    add_disk(system, disk, found);
  return found;
}

std::vector<BootPartition> not_mounted(const std::vector<BootPartition>& partitions,
                                       const std::vector<Mount>& mounts) {
  std::vector<BootPartition> rest;
  for (const auto& partition : partitions) {
    const bool mounted = std::any_of(mounts.begin(), mounts.end(), [&](const Mount& mount) {
      return mount.device_number == partition.device_number;
    });
    if (!mounted && !partition.held) rest.push_back(partition);
  }
  return rest;
}

std::string describe_not_mounted(const BootPartition& partition) {
  const bool esp = partition.kind == BootPartitionKind::esp;
  return fmt::format("'{}', {}{}, isn't mounted: entries on it aren't judged", partition.device,
                     esp ? "an EFI system partition" : "an extended boot loader partition",
                     partition.uuid.empty() ? "" : " (PARTUUID=" + partition.uuid + ")");
}

std::optional<std::string> resolve_device(const std::string& spec) {
  blkid_cache cache = nullptr;
  // Without a file of its own, libblkid would write what it found to /run/blkid.
  if (blkid_get_cache(&cache, "/dev/null") != 0) return std::nullopt;
  const std::unique_ptr<char, void (*)(void*)> name(blkid_evaluate_spec(spec.c_str(), &cache),
                                                    std::free);
  blkid_put_cache(cache);
  struct stat status {};
  // A path comes back as it is, whatever it names.
  if (!name || ::stat(name.get(), &status) != 0 || !S_ISBLK(status.st_mode)) return std::nullopt;
  return name.get();
}

}  // namespace peerpath::probe

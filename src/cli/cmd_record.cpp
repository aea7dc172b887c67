// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/commands.hpp"
#include "cli/gather.hpp"
#include "cli/scrub.hpp"
#include "cli/settings.hpp"
#include "report/record_report.hpp"
#include "sys/fd.hpp"
#include "sys/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <linux/fs.h>
#include <map>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace peerpath::cli {
namespace {

constexpr std::string_view tree_name = "peerpath-recording";
constexpr std::string_view about = "/peerpath-recording.json";

void add_options(po::options_description& options) {
  add_root_option(options);
  options.add_options()("force", "replace FILE if it's an archive that exists");
  add_json_option(options);
}

/// tar's option for a name's ending; nothing for one that's no archive's.
std::optional<std::string> compression_of(std::string_view file) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> endings{
      {{".tar", ""},
       {".tar.gz", "--gzip"},
       {".tgz", "--gzip"},
       {".tar.xz", "--xz"},
       {".tar.zst", "--zstd"}}};
  for (const auto& [ending, option] : endings) {
    if (file.ends_with(ending)) return std::string(option);
  }
  return std::nullopt;
}

Error error_at(const std::string& path) {
  return system_error(errno, fmt::format("'{}'", path));
}

/// A directory beside the file, which is gone at the end with what's in it.
class WorkPlace {
 public:
  static Result<std::unique_ptr<WorkPlace>> beside(const std::string& file) {
    std::string name = fmt::format("{}/.{}.XXXXXX", parent_of(file), base_name(file));
    if (::mkdtemp(name.data()) == nullptr) return fail(error_at(parent_of(file)));
    return std::unique_ptr<WorkPlace>(new WorkPlace(name));
  }
  ~WorkPlace() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  WorkPlace(const WorkPlace&) = delete;
  WorkPlace& operator=(const WorkPlace&) = delete;
  WorkPlace(WorkPlace&&) = delete;
  WorkPlace& operator=(WorkPlace&&) = delete;

  static std::string parent_of(const std::string& file) {
    return std::filesystem::path(file).parent_path().string();
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit WorkPlace(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Renames it where nothing is to be replaced. NFS and others know no RENAME_NOREPLACE: there an
/// archive gets its second name first, and a directory replaces no more than an empty one that
/// came meanwhile. False with errno.
bool rename_to_new(const std::string& from, const std::string& to) {
  if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) ==
      0) {
    return true;
  }
  if (errno != EINVAL && errno != ENOSYS) return false;
  struct stat status {};
  if (::lstat(from.c_str(), &status) != 0) return false;
  if (!S_ISDIR(status.st_mode)) {
    return ::link(from.c_str(), to.c_str()) == 0 && ::unlink(from.c_str()) == 0;
  }
  if (::lstat(to.c_str(), &status) == 0) {
    errno = EEXIST;
    return false;
  }
  return errno == ENOENT && ::rename(from.c_str(), to.c_str()) == 0;
}

/// Puts it into place, on the disk. Errors: conflict where there's something that's not to be
/// replaced.
Result<> put_into_place(const std::string& from, const std::string& to, bool replace) {
  const Fd content(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!content || ::fsync(content.get()) != 0) return fail(error_at(from));
  const bool placed = replace ? ::rename(from.c_str(), to.c_str()) == 0 : rename_to_new(from, to);
  if (!placed) {
    if (errno == EEXIST) return fail(Errc::conflict, fmt::format("'{}': exists already", to));
    return fail(error_at(to));
  }
  const auto parent = WorkPlace::parent_of(to);
  const Fd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.get()) != 0) return fail(error_at(parent));
  return {};
}

/// Packs a tree, as nobody's in particular.
Result<> pack(const std::string& directory, const std::string& archive,
              const std::string& compression) {
  const auto host = System::open("/");
  if (!host) return fail(host.error());
  peerpath::Command tar{.argv = {"tar", "--create", "--file=" + archive, "--force-local",
                                 "--sparse", "--owner=0", "--group=0", "--numeric-owner",
                                 "--sort=name", "--directory=" + directory}};
  if (!compression.empty()) tar.argv.push_back(compression);
  tar.argv.emplace_back(tree_name);
  const auto packed = (*host)->run(tar);
  if (!packed) return fail(packed.error());
  if (packed->status != 0) {
    return fail(Errc::command_failed, fmt::format("'tar' ended with status {}: {}", packed->status,
                                                  printable(trim(packed->err))));
  }
  return {};
}

/// What verify reads, and the facts that it gets from no file.
Result<check::Facts> gather(const System& system) {
  const auto settings = load_settings(system);
  if (!settings) return fail(settings.error());
  return gather_facts(system, {{}, settings->match, settings->rdma_nics});
}

/// What comes from no file, or from one that is read record by record.
void add_virtual_files(const System& system, const check::Facts& facts, Recording& recording) {
  const auto add_file = [&](const char* path, const Result<std::string>& content) {
    if (content) {
      recording.add_file(path, *content);
    } else if (content.error().code != Errc::not_found) {
      recording.add_unread(path, content.error().text());
    }
  };
  add_file("/proc/sys/kernel/osrelease", facts.kernel.release);
  add_file("/proc/sys/kernel/arch", facts.kernel.machine);
  // Only what tells something: the rest of a kernel log is full of serial numbers.
  add_file("/dev/kmsg", probe::extract_kernel_log(system));
}

/// What identifies the machine, from where verify doesn't look.
void learn_machine(const System& system, Scrubber& scrubber) {
  for (const auto* path : {"/proc/sys/kernel/hostname", "/etc/hostname"}) {
    if (const auto name = system.read(path)) scrubber.learn_host(*name);
  }
  for (const auto* name : {"product_serial", "board_serial", "chassis_serial", "board_asset_tag",
                           "chassis_asset_tag"}) {
    const auto path = fmt::format("/sys/class/dmi/id/{}", name);
    if (const auto serial = system.read(path)) scrubber.learn_from(path, *serial);
  }
}

Recording scrubbed(const System& system, const Recording& recording) {
  Scrubber scrubber;
  learn_machine(system, scrubber);
  for (const auto& [path, entry] : recording.entries()) {
    for (const auto& [offset, part] : entry.parts)
      scrubber.learn_from(path, part);
  }
  return recording.changed(
      [&](const std::string& text) { return scrubber.path(text); },
      [&](const std::string& path, std::size_t offset, const std::string& part) {
        return scrubber.content(path, offset, part);
      });
}

using Statuses = std::map<std::pair<std::string, std::string>, std::string>;

Statuses statuses_of(const check::Facts& facts) {
  Statuses statuses;
  for (const auto& finding : run_checks(facts)) {
    statuses[{finding.id, finding.device.value_or("")}] = check::name_of(finding.status);
  }
  return statuses;
}

Result<std::vector<report::ReplayDifference>> differences(const Statuses& recorded,
                                                          const std::string& tree) {
  const auto system = System::open(tree);
  if (!system) return fail(system.error());
  const auto facts = gather(**system);
  if (!facts) return fail(facts.error());
  auto replayed = statuses_of(*facts);
  std::vector<report::ReplayDifference> found;
  for (const auto& [finding, status] : recorded) {
    const auto other = replayed.contains(finding) ? replayed[finding] : "missing";
    if (other != status) found.push_back({finding.first, finding.second, status, other});
  }
  for (const auto& [finding, status] : replayed) {
    if (!recorded.contains(finding)) {
      found.push_back({finding.first, finding.second, "missing", status});
    }
  }
  return found;
}

void count(const Recording& recording, report::RecordReport& report) {
  for (const auto& [path, entry] : recording.entries()) {
    if (entry.kind == FileKind::regular) ++report.files;
    if (entry.kind == FileKind::directory) ++report.directories;
    if (entry.kind == FileKind::symlink) ++report.links;
  }
  report.unread = recording.unread();
  report.commands.assign(recording.commands().begin(), recording.commands().end());
}

/// Whether all was read, and is told again: a finding that a recording leaves unknown is lost.
bool is_complete(const report::RecordReport& report) {
  return report.unread.empty() && report.differences.empty();
}

/// Other devices may be asked for in the recording. Without their groups they'd pass there for
/// devices that no IOMMU translates.
Result<> look_at_every_function(const System& system) {
  const auto all = probe::find_pci_devices(system, {probe::PciMatch{}});
  if (!all && all.error().code != Errc::not_found) return fail(all.error());
  return {};
}

Result<report::RecordReport> record(System& system, const std::string& file, bool force) {
  Recording recording;
  system.record(&recording);
  const auto facts = gather(system);
  const auto seen = look_at_every_function(system);
  system.record(nullptr);
  if (!facts) return fail(facts.error());
  if (!seen) return fail(seen.error());
  add_virtual_files(system, *facts, recording);
  const auto clean = scrubbed(system, recording);

  const auto place = WorkPlace::beside(file);
  if (!place) return fail(place.error());
  const auto tree = fmt::format("{}/{}", (*place)->path(), tree_name);
  if (::mkdir(tree.c_str(), 0755) != 0) return fail(error_at(tree));
  if (auto written = write_tree(clean, tree); !written) return fail(written.error());

  report::RecordReport report;
  report.version = version();
  report.time = system.now().tv_sec;
  count(clean, report);
  auto other = differences(statuses_of(*facts), tree);
  if (!other) return fail(other.error());
  report.differences = std::move(*other);
  report.exit_status =
      static_cast<int>(is_complete(report) ? ExitStatus::good : ExitStatus::unknown);
  Recording description;
  description.add_file(std::string(about), report::record_json(report));
  if (auto written = write_tree(description, tree); !written) return fail(written.error());

  report.file = file;
  if (const auto compression = compression_of(file)) {
    const auto archive = (*place)->path() + "/archive";
    if (auto packed = pack((*place)->path(), archive, *compression); !packed) {
      return fail(packed.error());
    }
    if (auto put = put_into_place(archive, file, force); !put) return fail(put.error());
  } else if (auto put = put_into_place(tree, file, false); !put) {
    return fail(put.error());
  }
  return report;
}

Result<Answer> run(const Invocation& invocation) {
  const auto arguments = invocation.list("argument");
  if (arguments.empty() || base_name(arguments[0]).empty()) {
    return fail(Errc::usage, "record: the name of a file is missing");
  }
  const auto file = std::filesystem::absolute(arguments[0]).string();
  struct stat status {};
  const bool replaces = invocation.flag("force") && compression_of(file).has_value();
  if (::lstat(file.c_str(), &status) == 0 && !replaces) {
    return fail(Errc::conflict, fmt::format("'{}': exists already", file));
  }
  const auto system = System::open(invocation.root());
  if (!system) return fail(system.error());
  const auto report = record(**system, file, replaces);
  if (!report) return fail(report.error());
  return Answer{
      invocation.flag("json") ? report::record_json(*report) : report::record_text(*report),
      static_cast<ExitStatus>(report->exit_status)};
}

}  // namespace

const Command cmd_record{
    .name = "record",
    .arguments = "FILE",
    .summary = "record what verify reads, without what identifies the machine",
    .details =
        "Writes what 'peerpath verify' reads to FILE, an archive (.tar, .tar.gz, .tgz, .tar.xz, "
        ".tar.zst) or a directory that doesn't exist yet, with serial numbers, names and addresses "
        "replaced. 'peerpath verify --root' on it comes to the same findings. Ends with status 4 "
        "where something couldn't be read, or a finding differs.",
    .add_options = add_options,
    .positional = 1,
    .run = run,
};

}  // namespace peerpath::cli

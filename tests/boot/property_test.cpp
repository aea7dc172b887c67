// SPDX-License-Identifier: GPL-2.0-or-later
// Properties that hold on any root. The roots are made up by a generator with fixed seeds: a
// failure names its seed, and happens again.
#include "boot/bls_root.hpp"
#include "boot/operations.hpp"
#include "support/catch.hpp"
#include "support/snapshot.hpp"

#include <algorithm>
#include <random>
#include <sstream>
#include <sys/xattr.h>

using namespace peerpath;
using namespace peerpath::boot;
using peerpath::test::BlsRoot;
using peerpath::test::differences;
using peerpath::test::GrubRoot;
using peerpath::test::snapshot;
using peerpath::test::TempRoot;

namespace {

/// Choices that depend on the seed alone: the standard's distributions may differ from library to
/// library, its generators don't.
class Dice {
 public:
  explicit Dice(unsigned seed) : generator_(seed) {}

  std::size_t below(std::size_t limit) { return generator_() % limit; }
  bool one_in(std::size_t times) { return below(times) == 0; }
  template <class Items>
  const auto& of(const Items& items) {
    return items[below(items.size())];
  }

 private:
  std::mt19937 generator_;
};

/// What anybody has on a command line.
const std::vector<std::string> plain_words{
    "root=UUID=11-22", "ro",       "quiet",     "console=ttyS0,115200", "crashkernel=256M",
    "intel_iommu=on",  "iommu=pt", "splash",    "rd.lvm.lv=root/root",  "iommu.strict=0",
    "systemd.unit=x",  "IOMMU=pt", "iommux=pt", "iommu=soft",           "iommu=memaper=3"};

/// What a command line may have besides: all of it harmless to a shell that reads it.
const std::vector<std::string> odd_words{"iommu=nopt",
                                         "iommu=off",
                                         "iommu=pt,usedac",
                                         "iommu=usedac,pt",
                                         "iommu=force,pt",
                                         "iommu=nopt,pt",
                                         "iommu=",
                                         "iommu",
                                         "iommu=ptx",
                                         "iommu.passthrough=1",
                                         "iommu.passthrough=0",
                                         "iommu.passthrough=n",
                                         "iommu.passthrough",
                                         "intel_iommu=off",
                                         "amd_iommu=off",
                                         "--",
                                         "-- single",
                                         "-",
                                         "\"a b\"",
                                         "x=\"y iommu=nopt\"",
                                         "'iommu=pt'",
                                         "\"iommu=pt\"",
                                         "'a  b'",
                                         "$kernelopts",
                                         "${kernelopts}",
                                         "$unset",
                                         "$tuned_params",
                                         "a\\ b",
                                         "\"",
                                         "'",
                                         "\\",
                                         "dyndbg=\"file x +p\"",
                                         "#",
                                         "{",
                                         "}",
                                         "\xc3\xa9",
                                         "iommu=pt\t",
                                         "iommu=pt iommu=nopt"};

std::string command_line(Dice& dice, bool odd) {
  std::string line;
  for (auto count = dice.below(7); count > 0; --count) {
    if (!line.empty()) line += dice.of(std::vector<std::string>{" ", " ", "  ", "\t"});
    line += odd && dice.one_in(3) ? dice.of(odd_words) : dice.of(plain_words);
  }
  return line + (dice.one_in(8) ? "  " : "");
}

std::string entry_text(Dice& dice, const std::string& version, bool odd) {
  const std::string end = odd && dice.one_in(4) ? "\r\n" : "\n";
  const std::string blank = dice.one_in(4) ? "\t" : " ";
  std::string text = "title" + blank + "Linux" + end + "version " + version + end;
  auto options = odd ? dice.below(4) : 1;
  const bool first = dice.one_in(4);
  const auto add_options = [&] {
    for (; options > 0; --options)
      text += "options" + blank + command_line(dice, odd) + end;
  };
  if (first) add_options();
  text += "linux" + blank + "/vmlinuz-" + version + end + "initrd /initramfs" + end;
  if (odd && dice.one_in(6)) text += "# options iommu=nopt" + end;
  if (odd && dice.one_in(6)) text += "architecture x64" + end + end;
  add_options();
  if (odd && dice.one_in(5)) text.resize(text.size() - end.size());
  return text;
}

void set_attribute(const TempRoot& root, const std::string& path) {
  const auto target = root.outside(path);
  if (::setxattr(target.c_str(), "user.peerpath", "kept", 4, 0) != 0)
    WARN("no extended attributes in " << root.path());
}

/// One of the two layouts, or both boot loaders on the same entries.
void choose_reader(Dice& dice, BlsRoot& machine) {
  const auto reader = dice.below(3);
  if (reader != 0) machine.root.file("/boot/EFI/systemd/systemd-bootx64.efi", "program");
  if (reader == 1) machine.root.remove("/boot/grub2").remove("/etc/grub.d");
}

void make_up(Dice& dice, BlsRoot& machine) {
  const bool odd = !dice.one_in(3);
  const std::vector<mode_t> modes{0644, 0600, 0755, 0440};
  choose_reader(dice, machine);
  for (const std::string version : {BlsRoot::first, BlsRoot::second}) {
    const auto path = BlsRoot::path_of(version);
    const bool linked = odd && dice.one_in(6);
    const auto target = linked ? "/boot/loader/" + version : path;
    machine.root.file(target, entry_text(dice, version, odd), dice.of(modes));
    if (linked) machine.root.remove(path).link(path, "../" + version);
    if (dice.one_in(3)) set_attribute(machine.root, target);
    if (odd && dice.one_in(8)) machine.root.remove("/boot/vmlinuz-" + version);
  }
  if (dice.one_in(2)) {
    const std::string end = dice.one_in(3) ? "" : "\n";
    machine.root.file("/etc/kernel/cmdline", command_line(dice, odd) + end, dice.of(modes));
  }
}

void make_up(Dice& dice, GrubRoot& machine) {
  const bool odd = !dice.one_in(3);
  const auto setting = [&](const std::string& name) {
    const std::string quote = dice.one_in(3) ? "'" : "\"";
    return name + "=" + quote + command_line(dice, odd) + quote + (dice.one_in(8) ? "\r\n" : "\n");
  };
  machine.root.file("/etc/default/grub",
                    setting("GRUB_CMDLINE_LINUX") + setting("GRUB_CMDLINE_LINUX_DEFAULT"),
                    dice.one_in(2) ? 0644 : 0600);
  if (dice.one_in(3)) {
    machine.root.file("/etc/default/grub.d/50-cloud.cfg", setting("GRUB_CMDLINE_LINUX_DEFAULT"));
  }
  if (dice.one_in(3)) set_attribute(machine.root, "/etc/default/grub");
  // Settings that can't be sourced leave the file that's there.
  machine.generate({.argv = {"grub-mkconfig", "/boot/grub/grub.cfg"}});
}

/// Whether GRUB takes these words as they are: no quotes, no variables, no signs of its language.
bool is_verbatim(const std::string& line) {
  return line.find_first_of("\"'\\$#{}\r") == std::string::npos;
}

/// What GRUB hands over for an entry of grub.cfg, or of an entry file, where that's plain to see;
/// what systemd-boot does. Read here anew, by other means than the program's.
std::vector<std::string> lines_of(const std::string& text, bool grub, bool systemd_boot) {
  std::vector<std::string> options;
  std::string line;
  std::istringstream stream(text);
  while (std::getline(stream, line, '\n')) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.starts_with("options ") || line.starts_with("options\t"))
      options.push_back(line.substr(8));
  }
  std::vector<std::string> result;
  if (grub && !options.empty() && is_verbatim(options.front())) result.push_back(options.front());
  std::string all;
  for (const auto& one : options)
    all += one + " ";
  if (systemd_boot) result.push_back(all);
  return result;
}

bool boots_untranslated(const std::string& line, const std::string& version) {
  return cmdline::is_untranslated(
      cmdline::judge(line, cmdline::Arch::x86_64, cmdline::kernel_version(version)).mode);
}

/// Each counted entry, judged by its text.
void check_entries(BlsRoot& machine, const Outcome& outcome) {
  const bool systemd_boot = machine.system.exists("/boot/EFI/systemd");
  const bool grub = machine.system.exists("/boot/grub2");
  for (const auto& [entry, mode, judgement] : outcome.entries) {
    if (!entry.kernel_present) continue;
    const auto text = machine.system.read(entry.file).value();
    INFO(text);
    for (const auto& line : lines_of(text, grub, systemd_boot))
      CHECK(boots_untranslated(line, entry.version));
  }
}

void check_entries(GrubRoot& machine, const Outcome& outcome) {
  CHECK_FALSE(outcome.entries.empty());
  std::istringstream config(machine.config());
  for (std::string line; std::getline(config, line);) {
    if (!line.starts_with("\tlinux\t") || !is_verbatim(line)) continue;
    INFO(line);
    CHECK(boots_untranslated(line.substr(7), machine.kernels.front()));
  }
}

struct Tally {
  int good = 0;
  int refused = 0;
};

template <class Machine>
void check_properties(Machine& machine, Tally& tally) {
  const auto before = snapshot(machine.root.path());
  const auto first = ensure(machine.system, {});
  const bool refused = !first || first->status == ExitStatus::conflict ||
                       first->status == ExitStatus::unsupported ||
                       first->status == ExitStatus::failed;
  if (refused) {
    ++tally.refused;
    CHECK(differences(before, snapshot(machine.root.path())) == "");
    return;
  }
  const auto after = snapshot(machine.root.path());
  const auto second = ensure(machine.system, {}).value();
  CHECK(second.result == "unchanged");
  CHECK(second.status == first->status);
  CHECK(differences(after, snapshot(machine.root.path())) == "");
  CHECK(audit(machine.system, {}).value().status == first->status);
  if (first->status == ExitStatus::good) {
    ++tally.good;
    check_entries(machine, *first);
  }
  CHECK(revert(machine.system, {}).value().status == ExitStatus::good);
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

template <class Machine>
Tally check_seeds(unsigned from, unsigned to) {
  Tally tally;
  for (auto seed = from; seed < to; ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    Machine machine;
    make_up(dice, machine);
    check_properties(machine, tally);
  }
  return tally;
}

}  // namespace

TEST_CASE("properties: any boot loader entries → twice is once, revert undoes, good is good") {
  const auto tally = check_seeds<BlsRoot>(1, 121);
  // The generator makes enough of either.
  CHECK(tally.good > 25);
  CHECK(tally.refused > 10);
}

TEST_CASE("properties: any settings of Debian's GRUB → twice is once, revert undoes") {
  const auto tally = check_seeds<GrubRoot>(1001, 1041);
  CHECK(tally.good > 8);
  CHECK(tally.refused > 4);
}

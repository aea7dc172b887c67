// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/application.hpp"
#include "cli/scrub.hpp"
#include "support/catch.hpp"
#include "support/json_schema.hpp"
#include "support/snapshot.hpp"
#include "support/temp_root.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace peerpath;
using peerpath::test::TempRoot;

namespace {

struct Ran {
  int status;
  std::string out;
  std::string err;
};

Ran run(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = cli::run_application(arguments, out, err, false);
  return {status, out.str(), err.str()};
}

nlohmann::json findings_of(const std::string& root) {
  const auto text = run({"verify", "--json", "--root", root}).out;
  auto all = nlohmann::json::parse(text);
  // Evidence names files as they're seen from outside the root.
  auto plain = all.dump();
  for (auto at = plain.find(root); at != std::string::npos; at = plain.find(root))
    plain.erase(at, root.size());
  all = nlohmann::json::parse(plain);
  return all.at("findings");
}

const std::string uuid = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";

}  // namespace

TEST_CASE("record: each recorded machine → its recording gives the same findings") {
  for (const auto& machine :
       std::filesystem::directory_iterator(PEERPATH_TESTS_DIR "/fixtures/verify")) {
    INFO(machine.path().string());
    TempRoot target;
    const auto file = target.path() + "/recording";
    const auto ran = run({"record", file, "--root", machine.path().string()});
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    CHECK(findings_of(file) == findings_of(machine.path().string()));
  }
}

TEST_CASE("record: other devices than those that count → the same groups in the recording") {
  const std::string machine = PEERPATH_TESTS_DIR "/fixtures/verify/intel-translated";
  TempRoot target;
  const auto file = target.path() + "/recording";
  CHECK(run({"record", file, "--root", machine}).status == 0);
  const auto groups = [](const std::string& root) {
    const auto ran = run({"verify", "--json", "--match", "8086:*", "--root", root});
    const auto report = nlohmann::json::parse(ran.out);
    std::vector<std::string> statuses;
    for (const auto& finding : report.at("findings")) {
      if (finding.at("id") == "iommu.group-type") statuses.push_back(finding.at("status"));
    }
    return statuses;
  };
  CHECK(groups(machine).size() > 1);
  CHECK(groups(file) == groups(machine));
}

TEST_CASE("record: what identifies the machine → nowhere in the recording, names neither") {
  TempRoot root;
  std::string config(4096, '\0');
  config.replace(0x100, 12, std::string("\x03\x00\x01\x00SECRETNO", 12));
  const std::vector<std::string> secrets{
      uuid,        "gpuhost17", "52:54:00:ab:cd:ef", "10.11.12.13",
      "ABCD-1234", "hunter2",   "anna@example.com",  "0123456789abcdeffedcba9876543210"};
  root.file("/etc/hostname", "gpuhost17\n")
      .file("/etc/os-release", "ID=debian\n")
      .file("/proc/sys/kernel/osrelease", "6.1.0-35-amd64\n")
      .file("/proc/sys/kernel/arch", "x86_64\n")
      .file("/proc/cmdline",
            "root=UUID=" + uuid +
                " iommu=nopt pci=resource_alignment=20@0000:3b:00.0 "
                "ip=10.11.12.13::10.0.0.1:255.255.255.0:gpuhost17:eth0:off resume=UUID=ABCD-1234 "
                "BOOTIF=01-52-54-00-ab-cd-ef mac=52:54:00:ab:cd:ef x.password=hunter2 "
                "mail=anna@example.com id=0123456789abcdeffedcba9876543210\n")
      .file("/sys/devices/pci0000:00/0000:3b:00.0/class", "0x030200\n")
      .file("/sys/devices/pci0000:00/0000:3b:00.0/vendor", "0x10de\n")
      .file("/sys/devices/pci0000:00/0000:3b:00.0/device", "0x2330\n")
      .file("/sys/devices/pci0000:00/0000:3b:00.0/config", config)
      .link("/sys/bus/pci/devices/0000:3b:00.0", "../../../devices/pci0000:00/0000:3b:00.0")
      .file("/sys/kernel/iommu_groups/7/type", "DMA-FQ\n")
      .link("/sys/devices/pci0000:00/0000:3b:00.0/iommu_group", "../../../kernel/iommu_groups/7")
      .file("/sys/kernel/" + uuid, "")
      .link("/sys/kernel/link", "/dev/disk/by-uuid/" + uuid)
      .directory("/sys/class/iommu/dmar0");
  TempRoot target;
  const auto file = target.path() + "/recording";
  const auto ran = run({"record", "--json", file, "--root", root.path()});
  INFO(ran.out << ran.err);
  REQUIRE(ran.status == 0);
  CHECK(JsonSchema::shipped("record").flaws(nlohmann::json::parse(ran.out)).empty());
  std::string everything;
  for (const auto& [path, text] : test::snapshot(file))
    everything += path + "\n" + text + "\n";
  for (const auto& secret : secrets) {
    INFO(secret);
    CHECK(everything.find(secret) == std::string::npos);
  }
  CHECK(everything.find("SECRETNO") == std::string::npos);
  CHECK(everything.find("iommu=nopt pci=resource_alignment=20@0000:3b:00.0 ") != std::string::npos);
  CHECK(everything.find("6.1.0-35-amd64") != std::string::npos);
  CHECK(everything.find(root.path()) == std::string::npos);
  CHECK(run({"verify", "--root", file}).status == 3);
}

TEST_CASE("record: an archive → whole, and not over another without --force") {
  TempRoot target;
  const std::string machine = PEERPATH_TESTS_DIR "/fixtures/verify/intel-identity";
  const auto file = target.path() + "/recording.tar.gz";
  REQUIRE(run({"record", file, "--root", machine}).status == 0);
  CHECK(run({"record", file, "--root", machine}).status != 0);
  CHECK(run({"record", "--force", file, "--root", machine}).status == 0);
  REQUIRE(std::system(("tar -xzf " + file + " -C " + target.path()).c_str()) == 0);
  CHECK(findings_of(target.path() + "/peerpath-recording") == findings_of(machine));
  // Nothing half-made is left beside it.
  std::filesystem::remove_all(target.path() + "/peerpath-recording");
  std::filesystem::remove(file);
  CHECK(std::filesystem::is_empty(target.path()));
}

TEST_CASE("record: no name, a directory that exists, nowhere to write → errors") {
  TempRoot target;
  const std::string machine = PEERPATH_TESTS_DIR "/fixtures/verify/intel-identity";
  CHECK(run({"record"}).status == 2);
  CHECK(run({"record", target.path(), "--root", machine}).status != 0);
  CHECK(run({"record", "--force", target.path(), "--root", machine}).status != 0);
  CHECK(run({"record", target.path() + "/no/where", "--root", machine}).status == 1);
}

TEST_CASE("scrubber: the same value → the same other one, in each form, of the same length") {
  cli::Scrubber scrubber;
  const auto other = scrubber.text("a " + uuid + " b").substr(2, 36);
  CHECK(other != uuid);
  CHECK(scrubber.text("UUID=" + uuid) == "UUID=" + other);
  CHECK(scrubber.text("/dev/disk/by-uuid/" + uuid) == "/dev/disk/by-uuid/" + other);
  const auto mac = scrubber.text("52:54:00:ab:cd:ef");
  auto dashes = scrubber.text("52-54-00-ab-cd-ef");
  std::replace(dashes.begin(), dashes.end(), '-', ':');
  CHECK(dashes == mac);
  CHECK(cli::Scrubber().text(uuid) != other);
}

TEST_CASE("scrubber: a path → its directory is the same whatever is in it") {
  cli::Scrubber scrubber;
  const auto directory = scrubber.path("/boot/1234-ABCD");
  CHECK(scrubber.path("/boot/1234-ABCD/uuid").starts_with(directory + "/"));
  CHECK(scrubber.path("/dev/by-uuid/1234-ABCD") != "/dev/by-uuid/1234-ABCD");
  CHECK(scrubber.path("relative/../x/") == "relative/../x/");
}

TEST_CASE("scrubber: what peerpath judges → as it was") {
  cli::Scrubber scrubber;
  scrubber.learn_host("debian");
  for (const std::string text :
       {"iommu=pt intel_iommu=on,sm_off iommu.passthrough=1 amd_iommu=force_isolation",
        "pci=disable_acs_redir=0000:3b:00.0;0000:00:01.0 pci=config_acs=1xx1@0000:01:00.0",
        "vfio-pci.ids=10de:2330:10de:16c1,10de:1aeb", "/boot/vmlinuz-6.12.30+deb13-amd64",
        "linux /vmlinuz-5.15.0.1 root=/dev/sda2", "DMAR: DRHD base: 0x000000fed90000 flags: 0x0",
        "0000:3b:00.0 0000:3b:00.1", "pci 0000:3b:00.0: [10de:2330] type 00 class 0x030200",
        "/sys/devices/pci0000:00/0000:00:01.0/0000:3b:00.0/iommu_group", "BIOS 1.2.3.4 01/01/2024",
        "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "EFI/debian/grub.cfg",
        "0x0000005000000000 0x00000050ffffffff 0x000000000014220c", "console=ttyS0,115200n8"}) {
    CHECK(scrubber.text(text) == text);
  }
}

TEST_CASE("scrubber: ids of other forms → replaced") {
  cli::Scrubber scrubber;
  scrubber.learn_host("node7.cluster.example.org");
  scrubber.learn_from("/sys/class/dmi/id/product_serial", "S64HNE0R12\n");
  for (const auto* secret : {"0x5000c500a1b2c3d4",
                             "naa.5000c500a1b2c3d4",
                             "eui.0025385b71b00001",
                             "iqn.2004-10.com.example:disk1",
                             "fe80::5054:ff:feab:cdef",
                             "ip=192.168.7.9",
                             "S64HNE0R12",
                             "nvme-Model_S64HNE0R12",
                             "NODE7",
                             "node7-vg",
                             "PARTUUID=9f8e7d6c-02",
                             "SerialNumber: 4C530001",
                             "https://files.example.net/x",
                             "nfsroot=filer:/x",
                             "password_pbkdf2 root grub.pbkdf2.sha512.10000.AB12",
                             "/home/anna/key",
                             "GPU-3f2504e0-4f89-41d3-9a0c-0305e82c3301",
                             "search --fs-uuid --set=root ABCD-1234",
                             "/dev/disk/by-id/ata-Samsung_SSD_S5GX-part1",
                             "aBcDeF-1234-5678-9abc-Zdef-0123-456789"}) {
    INFO(secret);
    const auto other = scrubber.text(secret);
    CHECK(other != secret);
    CHECK(other.size() == std::string(secret).size());
  }
}

TEST_CASE("scrubber: secrets of other forms → none of them left") {
  cli::Scrubber scrubber;
  const std::vector<std::pair<std::string, std::string>> cases{
      {"netroot=iscsi:jane:Ch4pS3cret@49.4.8.2::3260::disk", "Ch4pS3cret"},
      {"ifname=enx00e04c680123", "00e04c680123"},
      {"mac=00e04c680123", "00e04c680123"},
      {"wifi.psk=Pre5hared", "Pre5hared"},
      {"API_KEY=sk-12ab", "sk-12ab"},
      {"rd.iscsi.username=jane", "jane"},
      {"user=\"jane doe\"", "doe"},
      {"systemd.hostname=box4", "box4"},
      {"ds=nocloud;h=box4;i=i-77ab", "box4"},
      {"ds=nocloud;h=box4;i=i-77ab", "i-77ab"},
      {"nbdroot=box4", "box4"},
      {"dns=ns7", "ns7"},
      {"root=//smbserver4/share", "smbserver4"},
      {"http://jane:P_ss!w0rd@box4/x", "w0rd"},
      {"http://jane:P_ss!w0rd@box4/x", "box4"},
      {"root=LABEL=janes_disk", "janes_disk"},
      {"PARTLABEL=\"janes\"", "janes"},
      {"NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, name=janes-app, Ch 1", "janes-app"},
      {"NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, name=janes-app, Ch 1", "4711"},
      {"serial 1650522000123", "1650522000123"}};
  for (const auto& [text, secret] : cases) {
    INFO(text);
    const auto other = scrubber.text(text);
    CHECK(other.find(secret) == std::string::npos);
    CHECK(other.size() == text.size());
  }
  CHECK(scrubber.text("iommu.passthrough=1 arm-smmu.disable_bypass=0") ==
        "iommu.passthrough=1 arm-smmu.disable_bypass=0");
}

TEST_CASE("scrubber: GRUB's users and comments → unreadable, its marks stay") {
  cli::Scrubber scrubber;
  const std::string config =
      "### BEGIN /etc/grub.d/10_linux ###\n# by jane at 3\nset superusers=\"jane\"\n"
      "password_pbkdf2 jane grub.pbkdf2.sha512.10000.AB12\n### END /etc/grub.d/10_linux ###\n";
  scrubber.learn_from("/boot/grub/grub.cfg", config);
  const auto other = scrubber.content("/boot/grub/grub.cfg", 0, config);
  CHECK(other.size() == config.size());
  CHECK(other.find("jane") == std::string::npos);
  CHECK(other.find("AB12") == std::string::npos);
  CHECK(other.find("\n# xx xxxx xx x\n") != std::string::npos);
  CHECK(other.starts_with("### BEGIN /etc/grub.d/10_linux ###\n"));
  CHECK(other.ends_with("### END /etc/grub.d/10_linux ###\n"));
  const std::string block =
      "# BEGIN peerpath (peerpath revert removes this block)\n# END peerpath\n";
  CHECK(scrubber.content("/etc/default/grub", 0, block) == block);
}

TEST_CASE("record: a host named like a word of the kernel's → the same findings") {
  for (const auto* name : {"kernel", "class", "config", "devices", "flags", "identity",
                           "passthrough", "sys", "nvrm", "x86", "pci0000:00"}) {
    INFO(name);
    TempRoot target;
    const auto machine = target.path() + "/machine";
    std::filesystem::copy(
        PEERPATH_TESTS_DIR "/fixtures/verify/intel-identity", machine,
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
    std::filesystem::create_directories(machine + "/etc");
    std::ofstream(machine + "/etc/hostname") << name << "\n";
    const auto file = target.path() + "/recording";
    CHECK(run({"record", file, "--root", machine}).status == 0);
    CHECK(findings_of(file) == findings_of(machine));
  }
}

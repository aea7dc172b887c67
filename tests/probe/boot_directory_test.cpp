// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/boot_directory.hpp"

#include "support/fake_system.hpp"
#include "support/temp_root.hpp"

namespace peerpath::probe {
namespace {

using test::FakeSystem;
using test::TempRoot;
using Kind = BootDirectoryVerdict::Kind;

const FstabEntry separate{"UUID=11-22", "/boot", "ext4", "defaults", 7};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::optional<std::string> nowhere(const std::string& /*spec*/) {
  return std::nullopt;
}
std::optional<std::string> here(const std::string& spec) {
  return spec == "LABEL=boot" ? std::optional<std::string>("/dev/sda1") : std::nullopt;
}

/// An image with a kernel in /boot and a separate file system for it in fstab.
struct Image {
  TempRoot root;
  FakeSystem system{root.path()};

  Image() {
    root.file("/etc/fstab", "LABEL=root / ext4\nLABEL=boot /boot ext4 noauto 0 2\n")
        .file("/boot/vmlinuz-6.1.0-35-amd64", "kernel");
  }
  [[nodiscard]] BootDirectoryVerdict verdict(const DeviceResolver& resolve = nowhere) const {
    return check_boot_directory(system, resolve).value().verdict;
  }
};

}  // namespace

TEST_CASE("judge_boot_directory: not in fstab, or mounted → fine") {
  for (const bool kernel : {false, true}) {
    CHECK(judge_boot_directory({std::nullopt, false, kernel, true, true}, "f").kind == Kind::fine);
    CHECK(judge_boot_directory({separate, true, kernel, true, true}, "f").kind == Kind::fine);
  }
}

TEST_CASE("judge_boot_directory: not mounted and without a kernel → refused, whatever the root") {
  for (const bool booted : {false, true}) {
    for (const bool device : {false, true}) {
      const auto verdict =
          judge_boot_directory({separate, false, false, booted, device}, "/mnt/etc/fstab");
      CHECK(verdict.kind == Kind::refusal);
      CHECK(verdict.text ==
            "/mnt/etc/fstab:7: '/boot' is a file system of its own ('UUID=11-22') that isn't "
            "mounted, and the directory holds no kernel: mount it first");
    }
  }
}

TEST_CASE("judge_boot_directory: a kernel in the directory → refused where the real one is near") {
  for (const auto& [booted, device] : {std::pair(true, false), {false, true}, {true, true}}) {
    const auto verdict = judge_boot_directory({separate, false, true, booted, device}, "f");
    CHECK(verdict.kind == Kind::refusal);
    CHECK(verdict.text ==
          "f:7: '/boot' is a file system of its own ('UUID=11-22') that isn't mounted, and the "
          "kernels in the directory aren't those that boot: mount it first");
  }
}

TEST_CASE("judge_boot_directory: a kernel in an image whose disk isn't here → on, with a note") {
  const auto verdict = judge_boot_directory({separate, false, true, false, false}, "f");
  CHECK(verdict.kind == Kind::note);
  CHECK(verdict.text ==
        "f:7: '/boot' is a file system of its own ('UUID=11-22') that isn't on this machine; the "
        "directory is taken for what will be there");
}

TEST_CASE("check_boot_directory: an image, its disk absent → a note; present → refused") {
  Image image;
  CHECK(image.verdict().kind == Kind::note);
  CHECK(has(image.verdict().text, image.root.path() + "/etc/fstab:2: "));
  const auto refused = image.verdict(here);
  CHECK(refused.kind == Kind::refusal);
  CHECK(has(refused.text, "aren't those that boot"));
}

TEST_CASE("check_boot_directory: the booted system → refused, noauto or not") {
  Image image;
  image.system.booted = true;
  CHECK(image.verdict().kind == Kind::refusal);
  image.root.file("/etc/fstab", "LABEL=boot /boot/ ext4\n");
  CHECK(image.verdict().kind == Kind::refusal);
}

TEST_CASE("check_boot_directory: kernels by their names; an initrd alone is none") {
  Image image;
  image.root.remove("/boot").file("/boot/initrd.img-6.1.0-35-amd64", "x");
  CHECK(image.verdict().kind == Kind::refusal);
  for (const auto* name : {"vmlinuz", "vmlinux-6.4", "Image-6.12.0-default"}) {
    INFO(name);
    image.root.remove("/boot").file("/boot/" + std::string(name), "kernel");
    CHECK(image.verdict().kind == Kind::note);
  }
  image.root.remove("/boot");
  CHECK(image.verdict().kind == Kind::refusal);
}

TEST_CASE("check_boot_directory: no separate /boot, or no fstab → fine, nothing is resolved") {
  Image image;
  const DeviceResolver unexpected = [](const std::string&) -> std::optional<std::string> {
    FAIL("asked for a device");
    return std::nullopt;
  };
  image.root.file("/etc/fstab", "LABEL=root / ext4\nLABEL=efi /boot/efi vfat\n#LABEL=b /boot x\n");
  CHECK(image.verdict(unexpected).kind == Kind::fine);
  image.root.remove("/etc/fstab");
  CHECK(image.verdict(unexpected).kind == Kind::fine);
}

TEST_CASE("check_boot_directory: bad lines of fstab → notes with file and line") {
  Image image;
  image.root.file("/etc/fstab", "LABEL=root / ext4\nLABEL=boot /boot\n");
  const auto check = check_boot_directory(image.system, nowhere);
  REQUIRE(check.has_value());
  CHECK(check->verdict.kind == Kind::fine);
  REQUIRE(check->notes.size() == 1);
  CHECK(check->notes[0] ==
        image.root.path() + "/etc/fstab:2: has fewer than three fields, not heeded");
}

TEST_CASE("check_boot_directory: an fstab that can't be read → an error, never fine") {
  Image image;
  image.root.remove("/etc/fstab").directory("/etc/fstab");
  CHECK_FALSE(check_boot_directory(image.system, nowhere).has_value());
}

TEST_CASE("check_boot_directory: a file in place of /boot → refused") {
  Image image;
  image.root.remove("/boot").file("/boot", "a file");
  CHECK(image.verdict().kind == Kind::refusal);
}

}  // namespace peerpath::probe

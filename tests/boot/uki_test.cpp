// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/uki.hpp"

#include "boot/apply.hpp"
#include "boot/grub_root.hpp"
#include "boot/judge_entry.hpp"
#include "boot/operations.hpp"
#include "support/catch.hpp"
#include "support/fake_system.hpp"
#include "support/pe_writer.hpp"
#include "support/snapshot.hpp"
#include "support/temp_root.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace peerpath;
using namespace peerpath::boot;
using peerpath::test::differences;
using peerpath::test::failed;
using peerpath::test::FakeSystem;
using peerpath::test::PeWriter;
using peerpath::test::snapshot;
using peerpath::test::succeeded;
using peerpath::test::TempRoot;

namespace {

/// An image's sections up to its kernel, with a stub of that version of systemd.
PeWriter kernel_image(int stub = 257) {
  PeWriter writer;
  writer.section(".sdmagic", fmt::format("#### LoaderInfo: systemd-stub {}.1-1 ####", stub));
  writer.section(".osrel", "ID=debian\n").section(".initrd", "initrd");
  writer.section(".linux", "kernel");
  return writer;
}

std::string uki(const std::string& command_line, const std::string& release = "6.12.43-amd64") {
  return kernel_image().section(".uname", release).section(".cmdline", command_line).image();
}

PeWriter addon(const std::string& command_line) {
  PeWriter writer;
  writer.section(".sdmagic", "#### LoaderInfo: systemd-addon 257.1-1 ####");
  writer.section(".cmdline", command_line);
  return writer;
}

/// A root with its EFI system partition on /boot/efi.
struct UkiRoot {
  TempRoot root;
  FakeSystem system{root.path()};
  Uki loader;
  Request request;

  UkiRoot& image(const std::string& name, const std::string& content) {
    root.file("/boot/efi/EFI/Linux/" + name, content);
    return *this;
  }
  UkiRoot& global_addon(const std::string& name, const PeWriter& writer) {
    root.file("/boot/efi/loader/addons/" + name, writer.image());
    return *this;
  }
  UkiRoot& secure_boot(bool on) {
    system.booted = true;
    root.file("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
              std::string("\x06\0\0\0", 4) + (on ? '\1' : '\0'));
    return *this;
  }
  UkiRoot& tools() {
    root.file("/usr/bin/ukify", "", 0755);
    root.file("/usr/lib/systemd/boot/efi/addonx64.efi.stub", "");
    root.directory("/var/lib");
    request.uki_addon = true;
    return makes(addon("iommu=pt").image());
  }
  /// What ukify writes.
  UkiRoot& makes(const std::string& content) {
    system.on("/usr/bin/ukify", [this, content](const Command& command) {
      root.file(command.argv.back(), content);
      return succeeded();
    });
    return *this;
  }
  [[nodiscard]] Result<Applied> apply_plan() const { return apply(system, plan(), {"uki"}, false); }

  [[nodiscard]] Inspection inspect() const { return loader.inspect(system).value(); }
  [[nodiscard]] std::vector<std::string> lines(std::size_t entry = 0) const {
    return inspect().entries.at(entry).command_lines;
  }
  [[nodiscard]] std::optional<cmdline::Mode> mode() const {
    return judge_entries(inspect().entries, cmdline::Arch::x86_64).at(0).mode;
  }
  [[nodiscard]] Plan plan() const { return loader.plan(system, request).value(); }
  [[nodiscard]] std::string refused() const {
    const auto made = loader.plan(system, request);
    REQUIRE_FALSE(made);
    CHECK(made.error().code == Errc::unsupported);
    return made.error().message;
  }
};

using Lines = std::vector<std::string>;

bool has(const std::vector<std::string>& texts, std::string_view part) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr std::string_view our_addon = "/boot/efi/loader/addons/peerpath.addon.efi";

}  // namespace

TEST_CASE("uki inspect: an image → version, command line, file") {
  UkiRoot machine;
  machine.image("debian-6.12.43-amd64.efi", uki("root=/dev/vda ro iommu=pt"));
  CHECK(machine.loader.detect(machine.system));
  const auto inspection = machine.inspect();
  REQUIRE(inspection.entries.size() == 1);
  const auto& entry = inspection.entries[0];
  CHECK(entry.title == "debian-6.12.43-amd64.efi");
  CHECK(entry.version == "6.12.43-amd64");
  CHECK(entry.file == "/boot/efi/EFI/Linux/debian-6.12.43-amd64.efi");
  CHECK(entry.kernel == entry.file);
  CHECK(entry.line == 0);
  CHECK(entry.kernel_present);
  CHECK(entry.has_initrd);
  CHECK(entry.command_lines == Lines{"root=/dev/vda ro iommu=pt"});
  CHECK(inspection.notes.empty());
  CHECK(inspection.unfollowed.empty());
}

TEST_CASE("uki inspect: no .uname → the version is in the file's name, before a boot counter") {
  UkiRoot machine;
  const auto image = kernel_image().section(".cmdline", "ro").image();
  machine.image("0123456789abcdef0123456789abcdef-6.12.43+deb13-amd64+3-1.efi", image);
  machine.image("arch-linux.efi", image);
  machine.image("linux-6.1.0+2.EFI", image);
  const auto entries = machine.inspect().entries;
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].version == "6.12.43+deb13-amd64");
  CHECK(entries[1].version.empty());
  CHECK(entries[2].version == "6.1.0");
}

TEST_CASE("uki inspect: the command line ends at a NUL, and no blanks are around it") {
  UkiRoot machine;
  machine.image("a.efi", uki(std::string("ro iommu=pt\0 iommu=nopt", 23)));
  machine.image("b.efi", uki("  ro quiet \n"));
  machine.image("c.efi", kernel_image().section(".cmdline", "ro iommu=pt", 2).image());
  machine.image("d.efi", kernel_image().section(".cmdline", "ro", 4096).image());
  CHECK(machine.lines(0) == Lines{"ro iommu=pt"});
  CHECK(machine.lines(1) == Lines{"ro quiet"});
  CHECK(machine.lines(2) == Lines{"ro"});
  CHECK(machine.lines(3) == Lines{"ro"});
}

TEST_CASE("uki inspect: no .cmdline → the command line can't be told, whatever the addons say") {
  UkiRoot machine;
  machine.image("a.efi", kernel_image().image());
  machine.global_addon("pt.addon.efi", addon("iommu=pt"));
  CHECK(machine.lines().empty());
  CHECK_FALSE(machine.mode());
}

TEST_CASE("uki inspect: addons → appended, the partition's first, each sorted") {
  UkiRoot machine;
  machine.image("a+3.efi", uki("ro"));
  machine.image("b.efi", uki("ro"));
  machine.global_addon("2.addon.efi", addon("two "));
  machine.global_addon("1.ADDON.EFI", addon("one"));
  machine.global_addon("unrelated.efi", addon("not-an-addon"));
  machine.global_addon(".hidden.addon.efi", addon("hidden"));
  machine.root.directory("/boot/efi/loader/addons/directory.addon.efi");
  machine.root.file("/boot/efi/EFI/Linux/a.efi.extra.d/0.addon.efi", addon("own").image());
  CHECK(machine.lines(0) == Lines{"ro one two own"});
  CHECK(machine.lines(1) == Lines{"ro one two"});
}

TEST_CASE("uki inspect: an addon for another kernel or another machine → left out, said") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro", "6.12.43-amd64"));
  SECTION("another release") {
    auto other = addon("iommu=pt");
    other.section(".uname", std::string("6.12.44-amd64"), 64);
    machine.global_addon("other.addon.efi", other);
    CHECK(machine.lines() == Lines{"ro"});
    CHECK(has(machine.inspect().notes, "other.addon.efi': isn't for"));
  }
  SECTION("the same release") {
    machine.global_addon("a.addon.efi", addon("iommu=pt").section(".uname", "6.12.43-amd64", 64));
    machine.global_addon("b.addon.efi", addon("quiet").section(".uname", "6.12.43-amd64"));
    CHECK(machine.lines() == Lines{"ro iommu=pt quiet"});
  }
  SECTION("the start of a release: it counts without a NUL byte after it only") {
    machine.global_addon("a.addon.efi", addon("one").section(".uname", "6.12.4", 64));
    machine.global_addon("b.addon.efi", addon("two").section(".uname", "6.12.4"));
    machine.global_addon("c.addon.efi", addon("three").section(".uname", "6.13"));
    CHECK(machine.lines() == Lines{"ro two"});
  }
  SECTION("another machine") {
    auto other = addon("iommu=pt");
    other.machine = 0xaa64;
    machine.global_addon("arm.addon.efi", other);
    CHECK(machine.lines() == Lines{"ro"});
    CHECK(has(machine.inspect().notes, "arm.addon.efi': isn't for"));
  }
}

TEST_CASE("uki inspect: a stub that may not read addons → both command lines") {
  UkiRoot machine;
  machine.image("old.efi", kernel_image(252).section(".cmdline", "ro").image());
  CHECK(machine.lines() == Lines{"ro"});
  machine.global_addon("pt.addon.efi", addon("iommu=pt"));
  CHECK(machine.lines() == Lines{"ro iommu=pt", "ro"});
  CHECK_FALSE(machine.mode());
}

TEST_CASE("uki inspect: profiles → an entry each, with its own command line or the common one") {
  UkiRoot machine;
  auto image = kernel_image().section(".uname", "6.12.43").section(".cmdline", "ro");
  image.section(".profile", "ID=main\n");
  image.section(".profile", "ID=pt\nTITLE=\"For GPUs\"\n").section(".cmdline", "ro iommu=pt");
  image.section(".profile", "").section(".cmdline", "ro single").section(".uname", "6.13.0");
  machine.image("a.efi", image.image());
  const auto entries = machine.inspect().entries;
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].title == "a.efi > main");
  CHECK(entries[0].command_lines == Lines{"ro"});
  CHECK(entries[1].title == "a.efi > For GPUs");
  CHECK(entries[1].command_lines == Lines{"ro iommu=pt"});
  CHECK(entries[1].version == "6.12.43");
  CHECK(entries[2].title == "a.efi > @2");
  CHECK(entries[2].command_lines == Lines{"ro single"});
  CHECK(entries[2].version == "6.13.0");
}

TEST_CASE("uki inspect: one partition under two names → its images once") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro"));
  machine.root.link("/efi", "/boot/efi");
  machine.root.file("/boot/EFI/Linux/b.efi", uki("ro"));
  const auto entries = machine.inspect().entries;
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].file == "/boot/EFI/Linux/b.efi");
  CHECK(entries[1].file == "/boot/efi/EFI/Linux/a.efi");
}

TEST_CASE("uki inspect: what isn't an image → noted; what can't be read → nothing is proven") {
  UkiRoot machine;
  machine.image("memtest.efi", PeWriter{}.section(".text", "code").image());
  CHECK_FALSE(machine.loader.detect(machine.system));
  machine.image("good.efi", uki("ro iommu=pt"));
  CHECK(machine.loader.detect(machine.system));
  CHECK(machine.inspect().entries.size() == 1);
  CHECK(has(machine.inspect().notes, "memtest.efi': there's no kernel in it, left out"));
  CHECK(machine.inspect().unfollowed.empty());

  machine.image("cut.efi", uki("ro iommu=pt").substr(0, 1000));
  machine.image("empty.efi", "");
  machine.root.link("/boot/efi/EFI/Linux/gone.efi", "/nowhere");
  machine.global_addon("bad.addon.efi", kernel_image());
  const auto inspection = machine.inspect();
  CHECK(inspection.entries.size() == 1);
  REQUIRE(inspection.unfollowed.size() == 4);
  CHECK(
      contains(inspection.unfollowed[0], "bad.addon.efi': isn't a readable PE image: there's a "));
  CHECK(contains(inspection.unfollowed[1], "cut.efi': isn't a readable PE image: its section '"));
  CHECK(
      contains(inspection.unfollowed[2], "empty.efi': isn't a readable PE image: it ends within"));
  CHECK(contains(inspection.unfollowed[3], "gone.efi': no such file"));
}

TEST_CASE("uki inspect: two command lines in one image or addon → nothing is proven") {
  UkiRoot machine;
  machine.image("a.efi", kernel_image().section(".cmdline", "x").section(".cmdline", "y").image());
  CHECK(has(machine.inspect().unfollowed, "a.efi': it has two command lines"));
  machine.image("a.efi", uki("ro"));
  CHECK(machine.inspect().unfollowed.empty());
  machine.global_addon("b.addon.efi", addon("x").section(".cmdline", "y"));
  CHECK(has(machine.inspect().unfollowed, "two command lines"));
}

TEST_CASE("uki inspect: an addon that isn't signed → counts unless Secure Boot is on") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro"));
  machine.global_addon("pt.addon.efi", addon("iommu=pt"));
  SECTION("an image root") {
    CHECK(machine.mode() == cmdline::Mode::passthrough);
    CHECK(has(machine.inspect().notes, "isn't signed: it works with Secure Boot off only"));
  }
  SECTION("booted with Secure Boot") {
    machine.secure_boot(true);
    CHECK(machine.lines() == Lines{"ro"});
    CHECK(has(machine.inspect().notes, "isn't signed and Secure Boot is on: left out"));
  }
  SECTION("booted without Secure Boot") {
    machine.secure_boot(false);
    CHECK(machine.mode() == cmdline::Mode::passthrough);
    CHECK(machine.inspect().notes.empty());
  }
  SECTION("booted without UEFI's variables") {
    machine.system.booted = true;
    CHECK(machine.mode() == cmdline::Mode::passthrough);
    CHECK(machine.inspect().notes.empty());
  }
}

TEST_CASE("uki inspect: a signed addon → counts under Secure Boot, too") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro")).secure_boot(true);
  machine.global_addon("pt.addon.efi", addon("iommu=pt").sign());
  CHECK(machine.mode() == cmdline::Mode::passthrough);
  CHECK(has(machine.inspect().notes, "whether the firmware trusts its signature isn't known"));
}

TEST_CASE("uki inspect_artefact: an image that isn't there yet → with the addons beside it") {
  UkiRoot machine;
  machine.global_addon("pt.addon.efi", addon("iommu=pt"));
  const auto inspection =
      machine.loader.inspect_artefact(machine.system, "/boot/efi/EFI/Linux/new.efi", uki("ro"))
          .value();
  REQUIRE(inspection.entries.size() == 1);
  CHECK(inspection.entries[0].command_lines == Lines{"ro iommu=pt"});
}

TEST_CASE("uki plan: built here and stale → the command that builds each anew") {
  UkiRoot machine;
  machine.root.file("/etc/kernel/cmdline", "root=/dev/vda ro iommu=pt\n");
  machine.image("a.efi", uki("ro", "6.12.43-amd64")).image("b.efi", uki("ro", "6.11.2"));
  machine.image("c.efi", uki("ro iommu=pt", "6.10.1"));
  machine.root.file("/usr/sbin/dpkg-reconfigure", "", 0755).file("/boot/vmlinuz-6.12.43-amd64", "");
  const auto plan = machine.plan();
  CHECK(plan.steps.empty());
  CHECK_FALSE(plan.conflict);
  REQUIRE(plan.deferred.size() == 1);
  CHECK(plan.deferred[0].text() ==
        "the unified kernel images must be built anew: their command line is a part of them; run "
        "'dpkg-reconfigure linux-image-6.12.43-amd64'; run 'kernel-install add 6.11.2 "
        "/usr/lib/modules/6.11.2/vmlinuz'");
}

TEST_CASE("uki plan: every image good → nothing to do, built here or elsewhere") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro iommu=pt"));
  if (GENERATE(false, true)) machine.root.file("/etc/kernel/cmdline", "ro iommu=pt\n");
  const auto plan = machine.plan();
  CHECK(plan.steps.empty());
  CHECK(plan.deferred.empty());
}

TEST_CASE("uki plan: built here without a cmdline file → unsupported, and none is made") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro"));
  const auto* setting = GENERATE("layout=uki\n", "# x\n uki_generator = ukify\n");
  machine.root.file("/usr/lib/kernel/install.conf", setting);
  CHECK(contains(machine.refused(), "put their whole command line and 'iommu=pt' into it"));
  CHECK_FALSE(machine.system.exists("/etc/kernel/cmdline"));
}

TEST_CASE("uki plan: built elsewhere, addon not asked for → unsupported, with the setting") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro"));
  machine.root.file("/etc/kernel/install.conf", "layout=bls\nuki_generator=none\n");
  CHECK(contains(machine.refused(), "'uki-addon=yes' in '/etc/peerpath/peerpath.conf'"));
}

TEST_CASE("uki plan: built elsewhere, addon asked for → one for each partition") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro", "6.12.43")).image("b.efi", uki("ro", "6.12.44")).tools();
  machine.root.file("/efi/EFI/Linux/c.efi", uki("ro"));
  const auto plan = machine.plan();
  CHECK(plan.deferred.empty());
  REQUIRE(plan.steps.size() == 2);
  const auto step = std::get<Produce>(plan.steps[1]);
  CHECK(std::get<Produce>(plan.steps[0]).path == "/efi/loader/addons/peerpath.addon.efi");
  CHECK(step.path == our_addon);
  CHECK(step.expect_cmdline == "iommu=pt");
  CHECK(step.command == std::vector<std::string>{
                            "/usr/bin/ukify", "build", "--config=/dev/null", "--cmdline=iommu=pt",
                            "--stub=/usr/lib/systemd/boot/efi/addonx64.efi.stub", "--output"});
  CHECK(machine.system.ran().empty());
}

TEST_CASE("uki plan: our addon is there → nothing to do") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro")).tools();
  machine.global_addon("peerpath.addon.efi", addon("iommu=pt"));
  CHECK(machine.plan().steps.empty());
}

TEST_CASE("uki plan: somebody else's file by our addon's name → conflict, left alone") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro")).tools();
  machine.global_addon("peerpath.addon.efi", addon("quiet iommu.strict=1"));
  const auto made = machine.loader.plan(machine.system, machine.request);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == Errc::conflict);
  CHECK(machine.loader.plan_revert(machine.system).error().code == Errc::conflict);
}

TEST_CASE("uki plan: Secure Boot without a key → unsupported; with one → a signed addon") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro")).secure_boot(true).tools();
  CHECK(contains(machine.refused(), "'secure-boot-key'"));
  machine.request.secure_boot_key = "/etc/keys/db.key";
  machine.request.secure_boot_certificate = "/etc/keys/db.pem";
  CHECK(machine.loader.plan(machine.system, machine.request).error().code == Errc::not_found);
  machine.root.file("/etc/keys/db.key", "").file("/etc/keys/db.pem", "");
  const auto command = std::get<Produce>(machine.plan().steps.at(0)).command;
  CHECK(has(command, "--secureboot-private-key=/etc/keys/db.key"));
  CHECK(has(command, "--secureboot-certificate=/etc/keys/db.pem"));
  // One of ours from before there was a key doesn't count and is made anew.
  machine.global_addon("peerpath.addon.efi", addon("iommu=pt"));
  CHECK(machine.plan().steps.size() == 1);
  machine.global_addon("peerpath.addon.efi", addon("iommu=pt").sign());
  CHECK(machine.plan().steps.empty());
}

TEST_CASE("uki plan: what the addon is made with is missing → unsupported, with the package") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro")).tools();
  SECTION("ukify") {
    machine.root.remove("/usr/bin/ukify");
    CHECK(contains(machine.refused(), "install the package systemd-ukify"));
    machine.root.file("/usr/lib/systemd/ukify", "");
    CHECK(std::get<Produce>(machine.plan().steps.at(0)).command.at(0) == "/usr/lib/systemd/ukify");
  }
  SECTION("the stub") {
    machine.root.remove("/usr/lib/systemd/boot/efi/addonx64.efi.stub");
    CHECK(contains(machine.refused(), "systemd-boot-efi"));
  }
}

TEST_CASE("uki plan: a stub that may not read addons → unsupported, no addon in vain") {
  UkiRoot machine;
  machine.tools();
  machine.image("a.efi", kernel_image(252).section(".cmdline", "ro").image());
  CHECK(contains(machine.refused(), "its stub is systemd-stub 252"));
  machine.image("a.efi", PeWriter{}.section(".linux", "k").section(".cmdline", "ro").image());
  CHECK(contains(machine.refused(), "another than systemd-stub"));
}

TEST_CASE("uki plan: a contrary word in an image or addon → conflict with its file") {
  UkiRoot machine;
  machine.tools();
  SECTION("image") {
    machine.image("a.efi", uki("ro iommu=nopt"));
    const auto conflict = machine.plan().conflict.value();
    CHECK(conflict.word == "iommu=nopt");
    CHECK(conflict.file == "/boot/efi/EFI/Linux/a.efi");
    CHECK(conflict.line == 0);
    CHECK(machine.plan().steps.empty());
    machine.request.force = true;
    CHECK(machine.plan().steps.size() == 1);
    // Ours comes after it and wins.
    machine.global_addon("peerpath.addon.efi", addon("iommu=pt"));
    machine.request.force = false;
    CHECK_FALSE(machine.plan().conflict);
  }
  SECTION("addon") {
    machine.image("a.efi", uki("ro iommu=pt"));
    machine.global_addon("admin.addon.efi", addon("iommu.passthrough=0"));
    const auto conflict = machine.plan().conflict.value();
    CHECK(conflict.word == "iommu.passthrough=0");
    CHECK(conflict.file == "/boot/efi/loader/addons/admin.addon.efi");
  }
  SECTION("built here: the settings decide, the image may be out of date") {
    machine.image("a.efi", uki("ro iommu=nopt"));
    machine.root.file("/etc/kernel/cmdline", "ro iommu=nopt\n");
    CHECK(machine.plan().conflict.value().file == "/etc/kernel/cmdline");
    CHECK(machine.plan().deferred.empty());
    machine.root.file("/etc/kernel/cmdline", "ro iommu=pt\n");
    CHECK_FALSE(machine.plan().conflict);
    CHECK(machine.plan().deferred.size() == 1);
  }
}

TEST_CASE("uki revert: our addon goes, others' stay") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro"));
  CHECK(machine.loader.plan_revert(machine.system).value().steps.empty());
  machine.global_addon("admin.addon.efi", addon("iommu=pt"));
  machine.global_addon("peerpath.addon.efi", addon("iommu=pt").sign());
  machine.root.link("/efi", "/boot/efi");
  const auto plan = machine.loader.plan_revert(machine.system).value();
  REQUIRE(plan.steps.size() == 1);
  CHECK(std::get<RemoveFile>(plan.steps[0]).path == our_addon);
}

TEST_CASE("uki apply: the addon is put in place, and taken away without a trace") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro")).tools();
  const auto before = snapshot(machine.root.path());
  const auto applied = machine.apply_plan().value();
  REQUIRE(applied.changes.size() == 1);
  CHECK(applied.changes[0].path == our_addon);
  CHECK(machine.mode() == cmdline::Mode::passthrough);
  CHECK(machine.system.list("/boot/efi/loader/addons").value() ==
        std::vector<std::string>{"peerpath.addon.efi"});
  CHECK(machine.plan().steps.empty());
  REQUIRE(apply_revert(machine.system, machine.loader.plan_revert(machine.system).value()));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("uki apply: ukify fails, or makes something else → an error, and nothing is changed") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro")).tools();
  const auto before = snapshot(machine.root.path());
  const auto error = [&] {
    const auto applied = machine.apply_plan();
    REQUIRE_FALSE(applied);
    CHECK(applied.error().code == Errc::command_failed);
    CHECK(differences(before, snapshot(machine.root.path())) == "");
    return applied.error().message;
  };
  machine.system.on("/usr/bin/ukify", failed(1, "usage\nno stub\n"));
  CHECK(contains(error(), "wasn't made: '/usr/bin/ukify build"));
  machine.system.on("/usr/bin/ukify", succeeded());
  CHECK(contains(error(), "wasn't made"));
  const auto made = [&](const std::string& content) { return machine.makes(content), error(); };
  CHECK(contains(made("text"), "can't be used: it ends within"));
  CHECK(contains(made(uki("iommu=pt")), "can't be used: there's a kernel in it"));
  CHECK(contains(made(addon("iommu=pt quiet").image()), "its command line is 'iommu=pt quiet'"));
  CHECK(contains(made(PeWriter{}.section(".text", "x").image()), "its command line is ''"));
  CHECK(contains(made(addon("iommu=pt").section(".initrd", "x").image()), "section '.initrd'"));
  CHECK(contains(made(addon("iommu=pt").section(".uname", "6.1").image()), "one kernel only"));
  machine.root.file("/key", "").file("/certificate", "");
  machine.request.secure_boot_key = "/key";
  machine.request.secure_boot_certificate = "/certificate";
  const auto applied = machine.makes(addon("iommu=pt").image()).apply_plan();
  CHECK(contains(applied.error().message, "can't be used: it isn't signed"));
  CHECK_FALSE(machine.system.exists("/boot/efi/loader"));
  REQUIRE(machine.makes(addon("iommu=pt").sign().image()).apply_plan());
}

TEST_CASE("uki revert: what a killed run left half-made goes, too") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro")).tools();
  machine.root.file("/boot/efi/loader/addons/peerpath.addon.efi.peerpath-new", "half");
  machine.root.file("/boot/efi/loader/addons/.peerpath.addon.efi.peerpath-new", "half");
  CHECK(machine.lines() == Lines{"ro"});
  SECTION("after the next run") {
    REQUIRE(machine.apply_plan());
    CHECK(machine.mode() == cmdline::Mode::passthrough);
    REQUIRE(apply_revert(machine.system, machine.loader.plan_revert(machine.system).value()));
  }
  SECTION("at once") {
    REQUIRE(apply_revert(machine.system, machine.loader.plan_revert(machine.system).value()));
  }
  CHECK(machine.system.list("/boot/efi/loader/addons").value().empty());
}

TEST_CASE("uki plan: half an addon beside the whole one → the next run clears it") {
  UkiRoot machine;
  machine.image("a.efi", uki("ro")).tools();
  REQUIRE(machine.apply_plan());
  machine.root.file("/boot/efi/loader/addons/peerpath.addon.efi.peerpath-new", "half");
  REQUIRE(machine.apply_plan());
  CHECK(machine.system.list("/boot/efi/loader/addons").value() ==
        std::vector<std::string>{"peerpath.addon.efi"});
  CHECK(machine.plan().steps.empty());
}

TEST_CASE("uki: built here → the word comes with the next build, and goes with one after revert") {
  UkiRoot machine;
  machine.root.directory("/var/lib").file("/etc/kernel/cmdline", "root=/dev/vda ro\n");
  machine.image("a.efi", uki("root=/dev/vda ro", "6.12.43"));
  const auto cmdline = [&] { return machine.system.read("/etc/kernel/cmdline").value(); };
  CHECK(machine.plan().deferred.size() == 1);
  REQUIRE(machine.apply_plan());
  CHECK(cmdline() == "root=/dev/vda ro iommu=pt\n");
  CHECK(machine.plan().steps.empty());
  CHECK(machine.plan().deferred.size() == 1);
  machine.image("a.efi", uki(cmdline(), "6.12.43"));
  CHECK(machine.plan().deferred.empty());

  const auto plan = machine.loader.plan_revert(machine.system).value();
  REQUIRE(plan.deferred.size() == 1);
  CHECK(plan.deferred[0].until ==
        "run 'kernel-install add 6.12.43 /usr/lib/modules/6.12.43/vmlinuz'");
  REQUIRE(apply_revert(machine.system, plan));
  CHECK(cmdline() == "root=/dev/vda ro\n");
  const auto rest = machine.loader.plan_revert(machine.system).value();
  CHECK(rest.steps.empty());
  CHECK(rest.deferred.empty());
}

TEST_CASE("plans: two boot loaders edit the same file → one edit") {
  Plan all;
  Plan one;
  one.steps.emplace_back(EditFile{"/etc/kernel/cmdline", 0, "", " iommu=pt"});
  add_plan(all, one);
  add_plan(all, one);
  CHECK(all.steps.size() == 1);
}

TEST_CASE("ensure and audit: a root with unified kernel images") {
  UkiRoot machine;
  machine.root.file("/etc/os-release", "ID=debian\n");
  machine.root.file("/bin/sh", peerpath::test::elf_header(62), 0755).directory("/var/lib");
  machine.image("a.efi", uki("root=/dev/vda ro"));
  SECTION("built elsewhere → nothing is changed") {
    const auto before = snapshot(machine.root.path());
    const auto made = ensure(machine.system, {});
    REQUIRE_FALSE(made);
    CHECK(made.error().code == Errc::unsupported);
    CHECK(differences(before, snapshot(machine.root.path())) == "");
    CHECK(audit(machine.system, {}).value().status == ExitStatus::check_failed);
  }
  SECTION("built here → the settings have the word, the build is left to do") {
    machine.root.file("/etc/kernel/cmdline", "root=/dev/vda ro\n");
    const auto before = snapshot(machine.root.path());
    const auto outcome = ensure(machine.system, {}).value();
    CHECK(outcome.result == "deferred");
    CHECK(outcome.boot_loader == "uki");
    CHECK(outcome.changed);
    CHECK(machine.system.read("/etc/kernel/cmdline").value() == "root=/dev/vda ro iommu=pt\n");
    REQUIRE(revert(machine.system, {}));
    CHECK(differences(before, snapshot(machine.root.path())) == "");
  }
  SECTION("one that can't be read → nothing is proven") {
    machine.image("a.efi", uki("root=/dev/vda ro iommu=pt"));
    CHECK(audit(machine.system, {}).value().status == ExitStatus::good);
    CHECK(ensure(machine.system, {}).value().result == "unchanged");
    machine.image("b.efi", "MZ");
    CHECK(audit(machine.system, {}).value().status == ExitStatus::unknown);
  }
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/kernelstub.hpp"

#include "boot/kernelstub_config.hpp"
#include "boot/vendor_root.hpp"
#include "support/catch.hpp"

using namespace peerpath;
using namespace peerpath::boot;
using namespace peerpath::test;

namespace {

constexpr const char* entry_path = "/boot/efi/loader/entries/Pop_OS-current.conf";

/// As kernelstub itself writes it: the user's section, then the default one.
std::string configuration(const std::string& options) {
  return "{\n  \"user\": {\n    \"kernel_options\": " + options +
         ",\n    \"esp_path\": \"/boot/efi\",\n    \"config_rev\": 4\n  },\n"
         "  \"default\": {\n    \"kernel_options\": [\"quiet\"],\n    \"config_rev\": 4\n  }\n}";
}
const std::string as_installed = configuration("[\n      \"quiet\",\n      \"splash\"\n    ]");

/// A booted Pop!_OS whose kernelstub writes the entry on the ESP.
struct PopRoot : VendorRoot {
  explicit PopRoot(const std::string& content = as_installed) {
    root.file(Kernelstub::settings_path, content, 0600);
    root.file("/boot/efi/EFI/Pop_OS-11/vmlinuz.efi", "kernel");
    root.file("/boot/efi/EFI/Recovery-22/vmlinuz.efi", "kernel");
    root.file("/boot/efi/loader/entries/Recovery-22.conf",
              "title Recovery\nlinux /EFI/Recovery-22/vmlinuz.efi\noptions quiet\n");
    root.file("/proc/cmdline", "quiet\n");
    program("/usr/bin/kernelstub");
    system.booted = true;
    system.release = "6.12.0-generic";
    update();
    system.on("kernelstub", [this](const Command&) {
      update();
      return succeeded();
    });
  }

  void update() {
    const auto options = parse_kernelstub(text(Kernelstub::settings_path));
    if (!options) return;
    root.file(entry_path, fmt::format("title Pop!_OS\nlinux /EFI/Pop_OS-11/vmlinuz.efi\n"
                                      "options root=UUID=11 ro {}\n",
                                      options->command_line));
  }
  [[nodiscard]] std::string settings() { return text(Kernelstub::settings_path); }
  [[nodiscard]] long updates() const { return times_run(system, {"kernelstub"}); }
};

const std::vector<std::string> rewritten{"boot/efi/loader"};

void check_round_trip(PopRoot& machine) {
  check_tool_round_trip(machine, "kernelstub", rewritten);
}

}  // namespace

TEST_CASE("kernelstub: the list gets an element as the others are written, and loses it again") {
  std::string before = "[\n      \"quiet\",\n      \"splash\"\n    ]";
  std::string after = "[\n      \"quiet\",\n      \"splash\",\n      \"iommu=pt\"\n    ]";
  SECTION("as it writes it itself") {}
  SECTION("on one line") {
    before = R"(["quiet", "splash"])";
    after = R"(["quiet", "splash", "iommu=pt"])";
  }
  SECTION("one element") {
    before = R"(["quiet"])";
    after = R"(["quiet", "iommu=pt"])";
  }
  SECTION("none") {
    before = "[ ]";
    after = "[\"iommu=pt\" ]";
  }
  SECTION("brackets, commas, quotes and escapes in the strings") {
    before = R"(["a=]}\"x\"", "\\", "b=\"c,  d\"" ])";
    after = R"(["a=]}\"x\"", "\\", "b=\"c,  d\"", "iommu=pt" ])";
  }
  SECTION("a string, as older versions wrote it") {
    before = R"("quiet splash")";
    after = R"("quiet splash iommu=pt")";
  }
  SECTION("an empty string") {
    before = R"("")";
    after = R"("iommu=pt")";
  }
  PopRoot machine(configuration(before));
  check_round_trip(machine);
  REQUIRE(ensure(machine.system, {}));
  CHECK(machine.settings() == configuration(after));
}

TEST_CASE("kernelstub: without a section of the user's, the default one counts, as for the tool") {
  PopRoot machine(R"({"default": {"kernel_options": ["quiet"], "config_rev": 4}})");
  check_round_trip(machine);
}

TEST_CASE("kernelstub: it wrote its file anew → revert takes out our element and its comma") {
  std::string after;
  PopRoot machine;
  REQUIRE(ensure(machine.system, {}));
  SECTION("another format") {
    machine.root.file(Kernelstub::settings_path, configuration(R"(["quiet","splash","iommu=pt"])"));
    after = R"(["quiet","splash"])";
  }
  SECTION("another order") {
    machine.root.file(Kernelstub::settings_path, configuration(R"(["iommu=pt", "quiet"])"));
    after = R"(["quiet"])";
  }
  SECTION("nothing else is left") {
    machine.root.file(Kernelstub::settings_path, configuration(R"(["iommu=pt"])"));
    after = "[]";
  }
  SECTION("somebody took it away") {
    machine.root.file(Kernelstub::settings_path, configuration(R"(["quiet"])"));
    after = R"(["quiet"])";
  }
  REQUIRE(revert(machine.system, {}));
  CHECK(machine.settings() == configuration(after));
}

TEST_CASE(
    "kernelstub: run without any option, which may be renamed, and nothing is hooked in "
    "(isantop/kernelstub#4, pop-os/kernelstub#1)") {
  PopRoot machine;
  machine.root.directory("/etc/kernel/postinst.d").directory("/etc/initramfs/post-update.d");
  REQUIRE(ensure(machine.system, {}));
  CHECK(machine.system.ran() == std::vector<std::vector<std::string>>{{"kernelstub"}});
  CHECK(machine.system.list("/etc/kernel/postinst.d").value().empty());
  CHECK(machine.system.list("/etc/initramfs/post-update.d").value().empty());
}

TEST_CASE(
    "kernelstub: its configuration is edited, so that the next kernel keeps the word "
    "(pop-os/pop#680)") {
  PopRoot machine;
  REQUIRE(ensure(machine.system, {}));
  // What a new kernel's hook does.
  machine.root.remove(entry_path);
  machine.update();
  CHECK(contains(machine.text(entry_path), "iommu=pt"));
  CHECK(audit(machine.system, {}).value().status == ExitStatus::good);
}

TEST_CASE("kernelstub: an entry that was edited by hand, with nothing behind it → set up anyway") {
  PopRoot machine;
  machine.root.file(entry_path,
                    "linux /EFI/Pop_OS-11/vmlinuz.efi\noptions root=UUID=11 ro iommu=pt\n");
  CHECK(ensure(machine.system, {}).value().changed);
  CHECK(contains(machine.settings(), "\"iommu=pt\""));
}

TEST_CASE("kernelstub: a file that isn't as it should be → named with the position, unchanged") {
  std::string content;
  std::string position = "line 1";
  SECTION("cut off") {
    content = "{\n  \"user\": {\n    \"kernel_options\": [\"quiet\",\n";
    position = "line 4";
  }
  SECTION("a comma too many") {
    content = "{\"user\": {\"kernel_options\": [\"quiet\",]}}";
    position = "column 38";
  }
  SECTION("empty") {}
  SECTION("not an object") {
    content = "[\"kernel_options\"]";
  }
  SECTION("a number") {
    content = "7";
  }
  SECTION("a string with brackets") {
    content = "\"{[\"";
  }
  SECTION("no options") {
    content = "{\"user\": {}}";
  }
  SECTION("the user is a list") {
    content = "{\"user\": [[]]}";
  }
  SECTION("options that aren't strings") {
    content = "{\"user\": {\"kernel_options\":\n[1]}}";
    position = "line 2";
  }
  SECTION("options that are a number") {
    content = "{\"user\": {\"kernel_options\": 1}}";
  }
  PopRoot machine(content);
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  INFO(outcome.error().text());
  CHECK(exit_status_of(outcome.error().code) == ExitStatus::failed);
  CHECK(contains(outcome.error().text(),
                 "'" + machine.root.path() + "/etc/kernelstub/configuration'"));
  CHECK(contains(outcome.error().text(), position));
  CHECK(machine.system.ran().empty());
  state.check();
}

TEST_CASE("kernelstub: a contrary word → conflict with its line, nothing is changed or run") {
  PopRoot machine(configuration("[\n      \"quiet\",\n      \"iommu=nopt\"\n    ]"));
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::conflict);
  REQUIRE(outcome.conflict);
  CHECK(outcome.conflict->file == Kernelstub::settings_path);
  CHECK(outcome.conflict->line == 5);
  CHECK(machine.updates() == 0);
  state.check();
  CHECK(ensure(machine.system, {.force = true}).value().status == ExitStatus::good);
}

TEST_CASE(
    "kernelstub: a configuration that's no JSON → its file and line, without a library's tag") {
  PopRoot machine("{\n  \"user\": [\n");
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  INFO(outcome.error().text());
  CHECK(outcome.error().code == Errc::malformed);
  CHECK(
      contains(outcome.error().text(), std::string(Kernelstub::settings_path) + "': parse error"));
  CHECK(contains(outcome.error().text(), "line 3"));
}

TEST_CASE("kernelstub: a place where the word wouldn't work → unsupported, nothing is changed") {
  PopRoot machine(configuration(R"(["quiet", "foo=\"bar"])"));
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(exit_status_of(outcome.error().code) == ExitStatus::unsupported);
  CHECK(contains(outcome.error().text(), "wouldn't work: an open quote takes it in"));
  state.check();
}

TEST_CASE("kernelstub: an image → in place, deferred; without a trace after revert") {
  PopRoot machine;
  machine.system.booted = false;
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.result == "deferred");
  CHECK(said(outcome, "'kernelstub' on the booted system brings the word"));
  CHECK(machine.system.ran().empty());
  REQUIRE(revert(machine.system, {}));
  state.check();
}

TEST_CASE("kernelstub: no entry in reach → could not tell; the recovery system isn't counted") {
  PopRoot machine;
  CHECK(said(audit(machine.system, {}).value(), "Recovery-22.conf: the recovery system"));
  machine.root.remove("/boot/efi/loader").remove("/boot/efi/EFI");
  machine.system.on("kernelstub", succeeded());
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.changed);
  CHECK(outcome.status == ExitStatus::unknown);
  CHECK(said(outcome, "what it gets could not be told"));
}

TEST_CASE("kernelstub: words that were there before us stay after us") {
  PopRoot machine(configuration(R"(["iommu=pt", "quiet"])"));
  const NothingChanged state(machine.root);
  CHECK(ensure(machine.system, {}).value().result == "unchanged");
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  state.check();
  SECTION("though the entry had to be made anew") {
    machine.root.file(entry_path, "linux /EFI/Pop_OS-11/vmlinuz.efi\noptions quiet\n");
    CHECK(ensure(machine.system, {}).value().status == ExitStatus::good);
    CHECK(machine.updates() == 1);
    REQUIRE(revert(machine.system, {}));
    CHECK(machine.settings() == configuration(R"(["iommu=pt", "quiet"])"));
  }
}

TEST_CASE("kernelstub: the tool fails → all is undone") {
  PopRoot machine;
  machine.system.on("kernelstub", failed(169, "Malformed configuration!\n"));
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(contains(outcome.error().text(), "'kernelstub' ended with status 169"));
  state.check();
}

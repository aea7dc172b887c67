// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/recording.hpp"

#include "support/catch.hpp"
#include "support/temp_root.hpp"
#include "sys/process.hpp"

#include <filesystem>
#include <functional>
#include <sys/stat.h>

using namespace peerpath;
using peerpath::test::TempRoot;

namespace {

/// What was looked at, written out as a tree.
struct Recorded {
  TempRoot root;
  Recording recording;

  Recorded(TempRoot& original, const std::function<void(const System&)>& look) {
    original.system().record(&recording);
    look(original.system());
    original.system().record(nullptr);
    REQUIRE(write_tree(recording, root.path()));
  }
  System& system() { return root.system(); }
  [[nodiscard]] bool has(const std::string& path) const {
    return std::filesystem::symlink_status(root.outside(path)).type() !=
           std::filesystem::file_type::not_found;
  }
};

}  // namespace

TEST_CASE("recording: a file read through links → the links and the file, nothing else") {
  TempRoot root;
  root.file("/real/dir/file", "text", 0755).file("/real/other", "secret").file("/away", "x");
  root.link("/etc/absolute", "/real/dir").link("/etc/relative", "absolute/../dir/file");
  Recorded recorded(root, [](const System& system) {
    REQUIRE(system.read("/etc/relative"));
    REQUIRE_FALSE(system.read("/etc/missing"));
  });
  CHECK(recorded.system().read("/etc/relative").value() == "text");
  CHECK(recorded.system().resolve("/etc/relative").value() == "/real/dir/file");
  CHECK(recorded.system().info("/etc/relative")->mode == 0755);
  CHECK(recorded.system().read_link("/etc/absolute").value() == "/real/dir");
  CHECK(recorded.system().read("/etc/missing").error().code == Errc::not_found);
  CHECK_FALSE(recorded.has("/real/other"));
  CHECK_FALSE(recorded.has("/away"));
  CHECK(recorded.recording.unread().empty());
}

TEST_CASE("recording: read_file of a link → it's a link there, too") {
  TempRoot root;
  root.file("/file", "text").link("/link", "file").link("/dangling", "nowhere");
  const auto look = [](const System& system) {
    CHECK(system.read_file("/link")->through_link);
    CHECK_FALSE(system.read_file("/file")->through_link);
    CHECK(system.read("/dangling").error().code == Errc::not_found);
    CHECK(system.link_info("/dangling")->kind == FileKind::symlink);
  };
  Recorded recorded(root, look);
  look(recorded.system());
  CHECK(recorded.recording.unread().empty());
}

TEST_CASE("recording: a directory listed → all names, of their kinds, without their content") {
  TempRoot root;
  root.file("/d/file", "secret").link("/d/link", "/nowhere").file("/d/sub/below", "x");
  REQUIRE(::mkfifo(root.outside("/d/fifo").c_str(), 0600) == 0);
  const auto look = [](const System& system) {
    CHECK(system.list("/d").value() == std::vector<std::string>{"fifo", "file", "link", "sub"});
    CHECK(system.list_files("/d").value() == std::vector<std::string>{"file"});
    CHECK(system.read_link("/d/link").value() == "/nowhere");
    CHECK(system.exists("/d/fifo"));
    CHECK_FALSE(system.read("/d/fifo"));
    CHECK(system.info("/d/sub")->kind == FileKind::directory);
  };
  Recorded recorded(root, look);
  look(recorded.system());
  CHECK(recorded.system().read("/d/file").value().empty());
  CHECK_FALSE(recorded.has("/d/sub/below"));
}

TEST_CASE("recording: ranges of a large file → those and its size, without the rest") {
  TempRoot root;
  std::string image(5U << 20U, 'x');
  image.replace(4U << 20U, 4, "deep");
  root.file("/boot/vmlinuz", image);
  const auto look = [&](const System& system) {
    CHECK(system.read_range("/boot/vmlinuz", 0, 8).value() == "xxxxxxxx");
    CHECK(system.read_range("/boot/vmlinuz", 4, 8).value() == "xxxxxxxx");
    CHECK(system.read_range("/boot/vmlinuz", 4U << 20U, 4).value() == "deep");
    CHECK(system.read_range("/boot/vmlinuz", image.size() - 2, 8).value() == "xx");
    CHECK(system.read_range("/boot/vmlinuz", image.size() + 5, 8).value().empty());
    CHECK(system.info("/boot/vmlinuz")->size == image.size());
  };
  Recorded recorded(root, look);
  look(recorded.system());
  CHECK(recorded.system().read_range("/boot/vmlinuz", 100, 1).value() == std::string(1, '\0'));
  struct stat status {};
  REQUIRE(::stat(recorded.root.outside("/boot/vmlinuz").c_str(), &status) == 0);
  CHECK(status.st_blocks * 512 < 100'000);
}

TEST_CASE("recording: a file that ends before the size that it says → so does the recorded one") {
  Recording recording;
  // As an ordinary user gets the configuration space of a PCI function.
  recording.add_part("/config", 0, 4096, std::string(64, 'c'), 4096);
  recording.add_part("/config", 256, 4, "", 4096);
  recording.add_part("/config", 0, 4, "cccc", 4096);
  TempRoot root;
  REQUIRE(write_tree(recording, root.path()));
  CHECK(root.system().read_range("/config", 0, 4096).value() == std::string(64, 'c'));
  CHECK(root.system().read("/config").value() == std::string(64, 'c'));
}

TEST_CASE("recording: what couldn't be read → can't be read there, and isn't missing") {
  if (is_superuser()) {
    // Root may read everything, so only the outcome is shown.
    Recording recording;
    recording.add("/file", {.kind = FileKind::regular, .mode = 0600});
    recording.add_unread("/file", "permission denied");
    recording.add("/closed", {.kind = FileKind::directory, .mode = 0700});
    recording.add_unread("/closed", "permission denied");
    recording.add("/closed/file", {.kind = FileKind::regular, .mode = 0600});
    TempRoot root;
    REQUIRE(write_tree(recording, root.path()));
    CHECK(root.system().exists("/file"));
    CHECK(root.system().read("/file").error().code != Errc::not_found);
    CHECK(root.system().list("/closed").error().code != Errc::not_found);
    CHECK(root.system().read("/closed/file").error().code != Errc::not_found);
    return;
  }
  TempRoot root;
  root.file("/file", "secret", 0).file("/closed/file", "x").file("/listed/file", "x");
  root.mode("/closed", 0).mode("/listed", 0300);
  const auto look = [](const System& system) {
    for (const auto* path : {"/file", "/closed/file"})
      CHECK(system.read(path).error().code != Errc::not_found);
    for (const auto* path : {"/closed", "/listed"})
      CHECK(system.list(path).error().code != Errc::not_found);
  };
  Recorded recorded(root, look);
  look(recorded.system());
  CHECK(recorded.recording.unread().size() == 3);
}

TEST_CASE("recording: too large to be read → that it couldn't be, without the root's own path") {
  TempRoot root;
  root.file("/file", std::string(100, 'x')).directory("/directory");
  const Recorded recorded(root, [](const System& system) {
    CHECK_FALSE(system.read("/file", 10));
    CHECK_FALSE(system.read("/directory"));
  });
  REQUIRE(recorded.recording.unread().size() == 1);
  CHECK(recorded.recording.unread().at("/file") == "larger than 10 bytes");
}

TEST_CASE("recording: a file given → instead of what was there; commands are listed") {
  TempRoot root;
  root.file("/dev/kmsg", "x", 0600);
  Recorded recorded(root, [](const System& system) {
    std::ignore = system.exists("/dev/kmsg");
    std::ignore = system.run({.argv = {"no-such-program", "word"}});
  });
  CHECK(recorded.recording.commands() ==
        std::set<std::vector<std::string>>{{"no-such-program", "word"}});
  recorded.recording.add_unread("/dev/kmsg", "permission denied");
  recorded.recording.add_file("/dev/kmsg", "6,1,0,-;Linux\n");
  TempRoot again;
  REQUIRE(write_tree(recorded.recording, again.path()));
  CHECK(again.system().read("/dev/kmsg").value() == "6,1,0,-;Linux\n");
}

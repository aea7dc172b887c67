// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/system.hpp"

#include "support/catch.hpp"
#include "support/snapshot.hpp"
#include "support/temp_root.hpp"
#include "sys/path.hpp"
#include "sys/process.hpp"

#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <thread>

using namespace peerpath;
using peerpath::test::snapshot;
using peerpath::test::TempRoot;

namespace {

Fd open_root(const TempRoot& root) {
  return Fd(::open(root.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::string first_bytes(int fd) {
  std::string text(64, '\0');
  const auto length = ::read(fd, text.data(), text.size());
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return text;
}

}  // namespace

TEST_CASE("paths: however a path tries, it stays inside the root", "[path]") {
  TempRoot outside;
  outside.file("/secret", "outside");
  TempRoot root;
  root.file("/secret", "inside").directory("/a/b");
  root.link("/absolute", "/secret");
  root.link("/up", "../../../../../../../../secret");
  root.link("/a/b/deep", "../../../../secret");
  root.link("/to-outside", outside.path() + "/secret");
  root.link("/chain", "/a/b/deep");
  root.link("/a/dir", "/a/b");
  const auto fd = open_root(root);

  const auto open =
      GENERATE(as<int (*)(int, std::string_view, int)>{}, open_by_kernel, open_by_walk, open_under);
  for (const auto* path :
       {"/secret", "secret", "/absolute", "/up", "/a/b/deep", "/chain", "/../../secret",
        "/a/../secret", "/a/dir/deep", "//secret", "/./secret"}) {
    INFO(path);
    const Fd file(open(fd.get(), path, O_RDONLY | O_CLOEXEC));
    REQUIRE(file);
    CHECK(first_bytes(file.get()) == "inside");
  }
  CHECK(open(fd.get(), "/to-outside", O_RDONLY | O_CLOEXEC) == -ENOENT);
}

TEST_CASE("paths: what can't be opened has the same errno both ways", "[path]") {
  TempRoot root;
  root.file("/file", "x").link("/dangling", "nowhere").link("/loop", "loop");
  root.link("/cycle/a", "b").link("/cycle/b", "/cycle/a");
  const auto fd = open_root(root);
  const auto open =
      GENERATE(as<int (*)(int, std::string_view, int)>{}, open_by_kernel, open_by_walk);
  CHECK(open(fd.get(), "/missing", O_RDONLY | O_CLOEXEC) == -ENOENT);
  CHECK(open(fd.get(), "/missing/below", O_RDONLY | O_CLOEXEC) == -ENOENT);
  CHECK(open(fd.get(), "/dangling", O_RDONLY | O_CLOEXEC) == -ENOENT);
  CHECK(open(fd.get(), "/file/below", O_RDONLY | O_CLOEXEC) == -ENOTDIR);
  CHECK(open(fd.get(), "/loop", O_RDONLY | O_CLOEXEC) == -ELOOP);
  CHECK(open(fd.get(), "/cycle/a", O_RDONLY | O_CLOEXEC) == -ELOOP);
}

TEST_CASE("resolve: the path without links, as seen from inside") {
  TempRoot root;
  root.file("/real/file", "x").link("/etc/link", "/real").link("/real/up", "../etc/link/file");
  CHECK(root.system().resolve("/etc/link/file").value() == "/real/file");
  CHECK(root.system().resolve("/real/up").value() == "/real/file");
  CHECK(root.system().resolve("/real/missing").error().code == Errc::not_found);
}

TEST_CASE("list_files: regular files alone, sorted; no directory is an error that names it") {
  TempRoot root;
  root.file("/etc/b", "x").file("/etc/a", "x").file("/etc/d/c", "x").link("/etc/link", "a");
  CHECK(root.system().list_files("/etc").value() == std::vector<std::string>{"a", "b"});
  const auto none = root.system().list_files("/no");
  REQUIRE_FALSE(none);
  CHECK(none.error().text().find(root.path() + "/no") != std::string::npos);
}

TEST_CASE("read: bad files are errors that name the file from outside") {
  TempRoot root;
  root.directory("/directory").file("/big", std::string(100, 'x')).link("/loop", "loop");
  root.link("/dangling", "/nowhere");
  REQUIRE(::mkfifo((root.path() + "/fifo").c_str(), 0644) == 0);
  const auto& system = root.system();
  const auto named = [&](const Error& error, const std::string& name) {
    return error.text().find("'" + root.path() + name + "'") != std::string::npos;
  };
  CHECK(named(system.read("/missing").error(), "/missing"));
  CHECK(system.read("/missing").error().code == Errc::not_found);
  CHECK(named(system.read("/directory").error(), "/directory"));
  CHECK(system.read("/fifo").error().code == Errc::malformed);
  CHECK(system.read("/loop").error().code == Errc::malformed);
  CHECK(system.read("/dangling").error().code == Errc::not_found);
  CHECK(system.read("/big", 99).error().code == Errc::too_large);
  CHECK(system.read("/big", 100).value().size() == 100);
}

TEST_CASE("read_range: a part of a file, as far as there is one") {
  TempRoot root;
  root.file("/file", "0123456789").directory("/directory");
  const auto& system = root.system();
  CHECK(system.read_range("/file", 2, 3).value() == "234");
  CHECK(system.read_range("/file", 8, 5).value() == "89");
  CHECK(system.read_range("/file", 10, 5).value().empty());
  CHECK(system.read_range("/file", 1ULL << 40U, 5).value().empty());
  CHECK(system.read_range("/file", 0, 0).value().empty());
  CHECK(system.read_range("/missing", 0, 1).error().code == Errc::not_found);
  CHECK_FALSE(system.read_range("/directory", 0, 1));
  CHECK(system.read_range("/file", 0, System::read_limit + 1).error().code == Errc::too_large);
  CHECK(system.read_range("/file", ~0ULL, 1).error().code == Errc::too_large);
}

TEST_CASE("write: an existing file keeps mode, owner, attributes, and links keep pointing") {
  TempRoot root;
  root.file("/etc/real", "old", 0640).link("/etc/link", "/etc/real");
  const auto real = root.path() + "/etc/real";
  const bool has_attribute = ::setxattr(real.c_str(), "user.note", "kept", 4, 0) == 0;
  REQUIRE(root.system().write("/etc/link", "new"));
  CHECK(root.system().read("/etc/real").value() == "new");
  CHECK(root.system().read_link("/etc/link").value() == "/etc/real");
  CHECK(root.system().info("/etc/real").value().mode == 0640);
  if (has_attribute) {
    char value[8] = {};
    CHECK(::getxattr(real.c_str(), "user.note", value, sizeof value) == 4);
  }
  CHECK(std::filesystem::directory_iterator(root.path() + "/etc") !=
        std::filesystem::directory_iterator());
  CHECK(root.system().list("/etc").value() == std::vector<std::string>{"link", "real"});
}

TEST_CASE("write: a new file gets the mode asked for, whatever the umask") {
  TempRoot root;
  root.directory("/etc");
  const auto old = ::umask(0077);
  REQUIRE(root.system().write("/etc/new", "x", 0644));
  ::umask(old);
  CHECK(root.system().info("/etc/new").value().mode == 0644);
}

TEST_CASE("write: what a killed run left behind is cleared") {
  TempRoot root;
  root.file("/etc/.a.peerpath-new", "half").file("/etc/a", "old");
  REQUIRE(root.system().write("/etc/a", "new"));
  CHECK(root.system().list("/etc").value() == std::vector<std::string>{"a"});
}

TEST_CASE("write: a failure leaves everything as it was") {
  TempRoot root;
  root.directory("/etc/target/full").link("/etc/dangling", "/missing/file");
  const auto before = snapshot(root.path());
  // A directory can't be replaced by a file; a link's missing target has no directory to be in.
  CHECK_FALSE(root.system().write("/etc/target", "x"));
  CHECK_FALSE(root.system().write("/etc/dangling", "x"));
  CHECK_FALSE(root.system().write("/missing/file", "x"));
  auto after = snapshot(root.path());
  // The attempt touched the directory's time, nothing else.
  after["etc"] = before.at("etc");
  CHECK(after == before);
}

TEST_CASE("write: instead of a file that was changed meanwhile → conflict, both stay") {
  TempRoot root;
  root.file("/etc/a", "one").file("/etc/b", "two");
  const auto& system = root.system();
  const auto before = system.info("/etc/b").value();
  SECTION("it's the same") {
    REQUIRE(system.write({{"/etc/a", "new"}, {"/etc/b", "new", 0644, {}, before}}));
    CHECK(system.read("/etc/b").value() == "new");
  }
  SECTION("it's gone") {
    root.remove("/etc/b");
    const auto written = system.write({{"/etc/a", "new"}, {"/etc/b", "new", 0644, {}, before}});
    REQUIRE_FALSE(written);
    CHECK(written.error().code == Errc::conflict);
    CHECK(system.read("/etc/a").value() == "one");
    CHECK(system.list("/etc").value() == std::vector<std::string>{"a"});
  }
  SECTION("another size, another time") {
    if (GENERATE(true, false)) {
      root.file("/etc/b", "three");
      REQUIRE(system.set_mtime("/etc/b", before.mtime));
    } else {
      REQUIRE(system.set_mtime("/etc/b", {before.mtime.tv_sec, before.mtime.tv_nsec ^ 1}));
    }
    const auto now = system.read("/etc/b").value();
    const auto written = system.write({{"/etc/a", "new"}, {"/etc/b", "new", 0644, {}, before}});
    REQUIRE_FALSE(written);
    CHECK(written.error().code == Errc::conflict);
    CHECK(written.error().text().find(root.path() + "/etc/b") != std::string::npos);
    CHECK(system.read("/etc/a").value() == "one");
    CHECK(system.read("/etc/b").value() == now);
    CHECK(system.list("/etc").value() == std::vector<std::string>{"a", "b"});
  }
}

TEST_CASE("lock: a second holder waits, then is told; the lock goes with its descriptor") {
  TempRoot root;
  auto first = root.system().lock(std::chrono::seconds(0));
  REQUIRE(first);
  CHECK(root.system().lock(std::chrono::seconds(0)).error().code == Errc::busy);
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    first->reset();
  });
  CHECK(root.system().lock(std::chrono::seconds(10)));
  release.join();
}

TEST_CASE("run_process: status, output, and what starts nothing") {
  const auto run = [](std::vector<std::string> argv, std::chrono::seconds limit) {
    return run_process({.argv = std::move(argv), .limit = limit}, -1);
  };
  constexpr std::chrono::seconds minute{60};
  const auto result = run({"sh", "-c", "echo out; echo err >&2; exit 3"}, minute);
  REQUIRE(result);
  CHECK(result->status == 3);
  CHECK(result->out == "out\n");
  CHECK(result->err == "err\n");
  CHECK(run({"sh", "-c", "kill -TERM $$"}, minute)->status == 128 + 15);
  CHECK(run({"/missing/program"}, minute).error().code == Errc::not_found);
  CHECK(run({"no-such-program-anywhere"}, minute).error().code == Errc::not_found);
  CHECK(run({"/etc/passwd"}, minute).error().code == Errc::denied);
}

TEST_CASE("run_process: nothing of our environment, and no input") {
  ::setenv("PEERPATH_LEAK", "yes", 1);
  const auto result =
      run_process({.argv = {"sh", "-c", "echo \"${PEERPATH_LEAK-unset} $OURS $LC_ALL\"; cat"},
                   .environment = {"OURS=1"}},
                  -1);
  ::unsetenv("PEERPATH_LEAK");
  REQUIRE(result);
  CHECK(result->out == "unset 1 C\n");
}

TEST_CASE("run_process: past its limit a program is killed with its children") {
  const auto result = run_process(
      {.argv = {"sh", "-c", "sleep 1000 & sleep 1000"}, .limit = std::chrono::seconds(1)}, -1);
  REQUIRE(result);
  CHECK(result->timed_out);
}

TEST_CASE("open: a root that's missing or no directory is an error that names it") {
  TempRoot root;
  root.file("/file", "x");
  CHECK(System::open(root.path() + "/missing").error().code == Errc::not_found);
  CHECK(System::open(root.path() + "/file").error().text().find("/file") != std::string::npos);
}

TEST_CASE("a root that isn't our own tells nothing of this machine") {
  TempRoot root;
  CHECK_FALSE(root.system().is_own_root());
  CHECK_FALSE(root.system().is_booted());
  CHECK_FALSE(root.system().machine());
  CHECK_FALSE(root.system().kernel_release());
  CHECK(System::open("/").value()->is_own_root());
}

TEST_CASE("is_mount_point: a mounted file system, a plain directory, a link to either") {
  const auto host = System::open("/");
  REQUIRE(host.has_value());
  CHECK((*host)->is_mount_point("/proc").value());
  CHECK_FALSE((*host)->is_mount_point("/proc/self").value());

  TempRoot root;
  root.directory("/boot").link("/link", "/boot").file("/file", "");
  CHECK_FALSE(root.system().is_mount_point("/boot").value());
  CHECK_FALSE(root.system().is_mount_point("/link").value());
  CHECK(root.system().is_mount_point("/none").error().code == Errc::not_found);
  CHECK_FALSE(root.system().is_mount_point("/file").has_value());
}

TEST_CASE("stream: a file of any size → all of its bytes, in their order") {
  TempRoot root;
  std::string content(200000, 'a');
  content += "end";
  root.file("/file", content).directory("/directory");
  std::string got;
  const auto take = [&](std::string_view bytes) { got += bytes; };
  REQUIRE(root.system().stream("/file", take));
  CHECK(got == content);
  CHECK(root.system().stream("/missing", take).error().code == Errc::not_found);
  CHECK_FALSE(root.system().stream("/directory", take));
}

TEST_CASE("stream: a FIFO or a device in another root → an error, at once") {
  TempRoot root;
  REQUIRE(::mkfifo((root.path() + "/fifo").c_str(), 0600) == 0);
  std::string got;
  const auto take = [&](std::string_view bytes) { got += bytes; };
  CHECK(root.system().stream("/fifo", take).error().code == Errc::malformed);
  if (::mknod((root.path() + "/zero").c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0) {
    const auto read = root.system().stream("/zero", take);
    // A file system may be mounted without devices.
    REQUIRE_FALSE(read.has_value());
  }
  CHECK(got.empty());
}

TEST_CASE("stream: a device of our own root → what's there now, without waiting") {
  const auto system = System::open("/").value();
  std::string got;
  CHECK(system->stream("/dev/null", [&](std::string_view bytes) { got += bytes; }));
  CHECK(got.empty());
}

TEST_CASE("run_process: on_output → gets all of it, past what is kept otherwise") {
  std::size_t length = 0;
  const auto result =
      run_process({.argv = {"head", "-c", "6000000", "/dev/zero"},
                   .on_output = [&](std::string_view bytes) { length += bytes.size(); }},
                  -1);
  REQUIRE(result.has_value());
  CHECK(result->status == 0);
  CHECK(result->out.empty());
  CHECK(length == 6000000);
}

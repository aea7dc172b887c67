// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/kernel_modules.hpp"

#include "probe/kmod_library.hpp"
#include "probe/module_trees.hpp"
#include "support/catch.hpp"
#include "support/temp_root.hpp"

#include <filesystem>

namespace peerpath::probe {
namespace {

using test::add_modules;
using test::TempRoot;
using Notes = std::vector<std::string>;
using Words = std::vector<std::string>;

std::vector<std::string> names_of(const std::vector<DisplayModule>& modules) {
  std::vector<std::string> names;
  for (const auto& module : modules)
    names.push_back(module.name + (module.built_in ? " (built in)" : ""));
  std::sort(names.begin(), names.end());
  return names;
}

KernelModules read(TempRoot& root, const std::string& version) {
  add_modules(root, version);
  const auto modules = read_kernel_modules(root.system(), version);
  INFO((modules ? "" : modules.error().text()));
  REQUIRE(modules.has_value());
  return *modules;
}

/// The notes of one kernel that has NVIDIA's driver, nouveau and vfio-pci.
Notes notes_with(TempRoot& root, const std::vector<Words>& command_lines = {{"quiet"}}) {
  const std::string version = "6.1.0-35-amd64";
  if (!root.system().exists("/lib/modules/" + version)) add_modules(root, version);
  return predict_gpu_drivers(root.system(), {{version, command_lines}});
}

const std::string nouveau_claims =
    "6.1.0-35-amd64: 'nouveau' would claim the GPUs: nothing blacklists it";

}  // namespace

TEST_CASE("read_kernel_modules: NVIDIA's driver, compressed or not, under Debian's name too") {
  TempRoot root;
  const auto dkms = read(root, "6.1.0-35-amd64");
  CHECK(dkms.version == "6.1.0-35-amd64");
  CHECK(dkms.nvidia);
  CHECK(dkms.vfio_pci);
  CHECK(names_of(dkms.display) == Words{"nouveau", "nvidia"});
  const auto debian = read(root, "6.12.0-debian");
  CHECK(debian.nvidia);
  CHECK_FALSE(debian.vfio_pci);
  CHECK(names_of(debian.display) == Words{"nouveau", "nvidia_current"});
  const auto fedora = read(root, "6.17.0-fedora");
  CHECK(fedora.nvidia);
  CHECK(names_of(fedora.display) == Words{"nouveau", "nova_core", "nvidia"});
}

TEST_CASE("read_kernel_modules: without NVIDIA's driver; nvidiafb isn't it") {
  TempRoot root;
  const auto none = read(root, "6.1.0-31-amd64");
  CHECK_FALSE(none.nvidia);
  CHECK(none.vfio_pci);
  CHECK(names_of(none.display) == Words{"nouveau"});
  const auto cloud = read(root, "6.1.0-cloud");
  CHECK_FALSE(cloud.nvidia);
  CHECK_FALSE(cloud.vfio_pci);
  CHECK(names_of(cloud.display) == Words{"nvidiafb"});
}

TEST_CASE("read_kernel_modules: what is built into the kernel") {
  TempRoot root;
  const auto modules = read(root, "6.6.0-builtin");
  CHECK(modules.nvidia);
  CHECK(modules.vfio_pci);
  CHECK(names_of(modules.display) == Words{"nouveau (built in)", "nvidia"});
}

TEST_CASE("read_kernel_modules: built in and no other module has the alias → once") {
  TempRoot root;
  add_modules(root, "6.6.0-builtin");
  add_modules(root, "6.1.0-cloud");
  // An index without an entry.
  const auto empty = root.system().read("/lib/modules/6.1.0-cloud/modules.builtin.bin").value();
  root.file("/lib/modules/6.6.0-builtin/modules.alias.bin", empty);
  CHECK(names_of(read_kernel_modules(root.system(), "6.6.0-builtin").value().display) ==
        Words{"nouveau (built in)"});
}

TEST_CASE("read_kernel_modules: an index that is cut off → malformed, libkmod never sees it") {
  TempRoot root;
  add_modules(root, "6.1.0-35-amd64");
  const std::string directory = "/lib/modules/6.1.0-35-amd64/";
  for (const std::string name : {"modules.dep.bin", "modules.alias.bin"}) {
    INFO(name);
    const auto whole = root.system().read(directory + name).value();
    root.file(directory + name, whole.substr(0, whole.size() / 2));
    const auto modules = read_kernel_modules(root.system(), "6.1.0-35-amd64");
    REQUIRE_FALSE(modules.has_value());
    CHECK(modules.error().code == Errc::malformed);
    CHECK(modules.error().text().find(name) != std::string::npos);
    root.file(directory + name, whole);
  }
  CHECK(read_kernel_modules(root.system(), "6.1.0-35-amd64").value().display.size() == 2);
}

TEST_CASE("read_kernel_modules: /lib as a link to usr/lib, and a version's directory that is one") {
  TempRoot root;
  root.link("/lib", "usr/lib").directory("/usr/lib/modules");
  add_modules(root, "6.1.0-35-amd64");
  root.link("/usr/lib/modules/other", "/usr/lib/modules/6.1.0-35-amd64");
  CHECK(read_kernel_modules(root.system(), "6.1.0-35-amd64").value().nvidia);
  CHECK(read_kernel_modules(root.system(), "other").value().nvidia);
}

TEST_CASE("read_kernel_modules: an index that leads out of the root → refused") {
  TempRoot outside;
  add_modules(outside, "6.1.0-35-amd64");
  TempRoot root;
  add_modules(root, "6.1.0-31-amd64");
  for (const std::string name : {"modules.dep.bin", "modules.alias.bin", "modules.builtin.bin"}) {
    INFO(name);
    const auto path = "/lib/modules/6.1.0-31-amd64/" + name;
    const auto kept = root.system().read(path).value();
    root.remove(path).link(path, outside.path() + "/lib/modules/6.1.0-35-amd64/" + name);
    const auto modules = read_kernel_modules(root.system(), "6.1.0-31-amd64");
    REQUIRE_FALSE(modules.has_value());
    CHECK(modules.error().code == Errc::unsupported);
    CHECK(modules.error().text().find(name) != std::string::npos);
    root.remove(path).file(path, kept);
  }
  root.link("/lib/modules/away", outside.path() + "/lib/modules/6.1.0-35-amd64");
  CHECK_FALSE(read_kernel_modules(root.system(), "away").has_value());
}

TEST_CASE("read_kernel_modules: no index, none at all, not an index, not a version → an error") {
  TempRoot root;
  CHECK(read_kernel_modules(root.system(), "6.1").error().code == Errc::not_found);
  root.directory("/lib/modules/6.1");
  const auto none = read_kernel_modules(root.system(), "6.1");
  CHECK(none.error().code == Errc::not_found);
  CHECK(none.error().text().find("modules.dep.bin'") != std::string::npos);
  root.file("/lib/modules/6.1/modules.dep.bin", "");
  CHECK(read_kernel_modules(root.system(), "6.1").error().code == Errc::malformed);
  root.file("/lib/modules/6.1/modules.dep.bin", "kernel/a.ko:\n");
  CHECK(read_kernel_modules(root.system(), "6.1").error().code == Errc::malformed);
  for (const auto* version : {"", "..", "../modules/6.1", "a/b"}) {
    INFO(version);
    CHECK(read_kernel_modules(root.system(), version).error().code == Errc::malformed);
  }
}

TEST_CASE("nouveau: nothing blacklists it → a note; each way to keep it away → none") {
  TempRoot root;
  CHECK(notes_with(root) == Notes{nouveau_claims});
  SECTION("blacklist") {
    root.file("/etc/modprobe.d/n.conf", "blacklist nouveau\n");
    CHECK(notes_with(root).empty());
  }
  SECTION("blacklist by the distribution") {
    root.file("/lib/modprobe.d/n.conf", "blacklist nouveau\n");
    CHECK(notes_with(root).empty());
  }
  SECTION("an install command that does nothing") {
    root.file("/etc/modprobe.d/n.conf", "install nouveau /bin/false\n");
    CHECK(notes_with(root).empty());
  }
  SECTION("an install command that loads it") {
    root.file("/etc/modprobe.d/n.conf", "install nouveau /sbin/modprobe -i nouveau\n");
    CHECK(notes_with(root) == Notes{nouveau_claims});
  }
  SECTION("without modesetting") {
    root.file("/etc/modprobe.d/n.conf", "options nouveau modeset=0\n");
    CHECK(notes_with(root).empty());
    CHECK(notes_with(root, {{"nouveau.modeset=1"}}) == Notes{nouveau_claims});
  }
  SECTION("another module's blacklist, a comment, a file of another name") {
    root.file("/etc/modprobe.d/n.conf", "# blacklist nouveau\nblacklist nouveau2\n")
        .file("/etc/modprobe.d/n.conf.dpkg-old", "blacklist nouveau\n");
    CHECK(notes_with(root) == Notes{nouveau_claims});
  }
  SECTION("an alias that hides the index") {
    root.file("/etc/modprobe.d/n.conf", "alias pci:v000010DEd* nvidia\n");
    CHECK(notes_with(root).empty());
  }
}

TEST_CASE("nouveau: words of the kernel command line") {
  TempRoot root;
  for (const auto* word : {"modprobe.blacklist=nouveau", "module_blacklist=a,nouveau",
                           "modprobe.blacklist=x,nouveau", "nouveau.modeset=0", "nomodeset"}) {
    INFO(word);
    CHECK(notes_with(root, {{"quiet", word}}).empty());
  }
  for (const auto* word : {"modprobe.blacklist=nouveau2", "blacklist=nouveau", "nouveau.modeset=1",
                           "modprobe.blacklist", "xmodprobe.blacklist=nouveau"}) {
    INFO(word);
    CHECK(notes_with(root, {{word}}) == Notes{nouveau_claims});
  }
  CHECK(notes_with(root, {{"rd.driver.blacklist=nouveau"}}) ==
        Notes{"6.1.0-35-amd64: 'nouveau' would claim the GPUs: 'rd.driver.blacklist' keeps only "
              "the initrd from loading it"});
  CHECK(notes_with(root, {{"rd.driver.blacklist=nouveau", "modprobe.blacklist=nouveau"}}).empty());
  CHECK(notes_with(root, {{"modprobe.blacklist=nouveau"}, {"single"}}) ==
        Notes{"6.1.0-35-amd64: 'nouveau' would claim the GPUs with some of its entries: nothing "
              "blacklists it"});
  CHECK(notes_with(root, {{"nomodeset", "nouveau.modeset=1"}}) == Notes{nouveau_claims});
}

TEST_CASE("nova_core: named like nouveau, each by itself") {
  TempRoot root;
  add_modules(root, "6.17.0-fedora");
  root.file("/etc/modprobe.d/n.conf", "blacklist nouveau\noptions nova-core modeset=0\n");
  const std::vector<BootKernel> kernels{{"6.17.0-fedora", {{"nomodeset"}}}};
  CHECK(predict_gpu_drivers(root.system(), kernels) ==
        Notes{"6.17.0-fedora: 'nova_core' would claim the GPUs: nothing blacklists it"});
  root.file("/etc/modprobe.d/m.conf", "blacklist nova-core\n");
  CHECK(predict_gpu_drivers(root.system(), kernels).empty());
}

TEST_CASE("a built-in rival: no blacklist keeps it away, its option on the command line does") {
  TempRoot root;
  root.file("/etc/modprobe.d/n.conf", "blacklist nouveau\noptions nouveau modeset=0\n");
  const KernelModules modules{"6.6", {{"nouveau", true}, {"nvidia", false}}, true, false};
  const auto settings = read_module_settings(root.system());
  const auto judge = [&](const Words& words) {
    return judge_gpu_drivers(root.system(), settings, modules, {"6.6", {words}});
  };
  CHECK(judge({"modprobe.blacklist=nouveau"}) ==
        Notes{"6.6: 'nouveau' would claim the GPUs: it's built into the kernel"});
  CHECK(judge({"nouveau.modeset=0"}).empty());
}

TEST_CASE("vfio-pci: ids of NVIDIA's in modprobe.d → a note with file and line") {
  TempRoot root;
  root.file("/etc/modprobe.d/n.conf", "blacklist nouveau\n");
  SECTION("not loaded at boot by name") {
    root.file("/etc/modprobe.d/vfio.conf", "# GPUs\noptions vfio-pci ids=8086:1,10DE:2330\n");
    CHECK(notes_with(root) == Notes{"6.1.0-35-amd64: 'vfio-pci' would claim GPUs: " + root.path() +
                                    "/etc/modprobe.d/vfio.conf:2 gives it NVIDIA's ids"});
  }
  SECTION("loaded at boot by name") {
    root.file("/etc/modprobe.d/vfio.conf", "options vfio_pci disable_vga=1 ids=10de:2330\n")
        .file("/etc/modules-load.d/vfio.conf", "\nvfio-pci\n");
    CHECK(notes_with(root) == Notes{"6.1.0-35-amd64: 'vfio-pci' would claim GPUs: " + root.path() +
                                    "/etc/modprobe.d/vfio.conf:1 gives it NVIDIA's ids, " +
                                    root.path() + "/etc/modules-load.d/vfio.conf:2 loads it"});
  }
  SECTION("in the initramfs") {
    root.file("/etc/initramfs-tools/modules", "vfio_pci ids=10de:2330\n");
    CHECK(notes_with(root) == Notes{"6.1.0-35-amd64: 'vfio-pci' would claim GPUs: " + root.path() +
                                    "/etc/initramfs-tools/modules:1 gives it NVIDIA's ids, " +
                                    root.path() + "/etc/initramfs-tools/modules:1 loads it"});
  }
  SECTION("on the command line, spelt either way") {
    for (const auto* word : {"vfio-pci.ids=10de:2330", "vfio_pci.ids=1:2,10de:22a3"}) {
      CHECK(notes_with(root, {{word}}) ==
            Notes{"6.1.0-35-amd64: 'vfio-pci' would claim GPUs: its command line gives it "
                  "NVIDIA's ids"});
    }
  }
}

TEST_CASE("vfio-pci: other ids, no ids, or kept from loading, or not there → nothing") {
  TempRoot root;
  root.file("/etc/modprobe.d/n.conf", "blacklist nouveau\n");
  const std::string file = "/etc/modprobe.d/vfio.conf";
  for (const auto* text : {"options vfio-pci ids=8086:10de\n", "options vfio-pci disable_vga=1\n",
                           "options vfio ids=10de:2330\n", "#options vfio-pci ids=10de:2330\n",
                           "options vfio-pci ids=\n",
                           "options vfio-pci ids=10de:1\n"
                           "install vfio-pci /bin/true\n"}) {
    INFO(text);
    root.file(file, text).file("/etc/modules-load.d/v.conf", "vfio-pci\n");
    CHECK(notes_with(root).empty());
  }
  root.file(file, "options vfio-pci ids=10de:2330\n");
  CHECK(notes_with(root).size() == 1);
  add_modules(root, "6.12.0-debian");
  CHECK(predict_gpu_drivers(root.system(), {{"6.12.0-debian", {{}}}}).empty());
}

TEST_CASE("predict_gpu_drivers: a kernel for which the driver isn't built is named") {
  TempRoot root;
  root.file("/etc/modprobe.d/n.conf", "blacklist nouveau\n");
  add_modules(root, "6.1.0-35-amd64");
  add_modules(root, "6.1.0-31-amd64");
  CHECK(predict_gpu_drivers(root.system(), {{"6.1.0-35-amd64", {{}}}, {"6.1.0-31-amd64", {{}}}}) ==
        Notes{"6.1.0-31-amd64: no 'nvidia' module is built for it"});
}

TEST_CASE("predict_gpu_drivers: no driver at all → said once; any trace of it → for each kernel") {
  TempRoot root;
  root.file("/etc/modprobe.d/n.conf", "blacklist nouveau\n");
  add_modules(root, "6.1.0-31-amd64");
  add_modules(root, "6.1.0-cloud");
  const std::vector<BootKernel> kernels{{"6.1.0-31-amd64", {{}}}, {"6.1.0-cloud", {{}}}};
  CHECK(predict_gpu_drivers(root.system(), kernels) ==
        Notes{"no NVIDIA driver is in this root: none of its kernels has an 'nvidia' module"});
  const Notes each{"6.1.0-31-amd64: no 'nvidia' module is built for it",
                   "6.1.0-cloud: no 'nvidia' module is built for it"};
  SECTION("a module for a kernel that isn't asked for") {
    add_modules(root, "6.1.0-35-amd64");
  }
  SECTION("sources for DKMS") {
    root.directory("/usr/src/nvidia-550.163.01");
  }
  SECTION("CUDA's library, in the distributions' places") {
    const std::string path = GENERATE(as<std::string>{}, "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                      "/usr/lib64/libcuda.so.1",
                                      "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1");
    root.link(path, "libcuda.so.550.163.01");
  }
  CHECK(predict_gpu_drivers(root.system(), kernels) == each);
}

TEST_CASE("predict_gpu_drivers: a kernel without an index → not known, never 'no driver'") {
  TempRoot root;
  root.file("/etc/modprobe.d/n.conf", "blacklist nouveau\n").directory("/lib/modules/6.1.0-x");
  add_modules(root, "6.1.0-31-amd64");
  const auto notes =
      predict_gpu_drivers(root.system(), {{"6.1.0-x", {{}}}, {"6.1.0-31-amd64", {{}}}});
  CHECK(notes == Notes{"6.1.0-x: '" + root.path() +
                           "/lib/modules/6.1.0-x/modules.dep.bin': no such file or directory: "
                           "which drivers would get the GPUs isn't known",
                       "6.1.0-31-amd64: no 'nvidia' module is built for it"});
  CHECK(predict_gpu_drivers(root.system(), {}).empty());
}

TEST_CASE("predict_gpu_drivers: a configuration that can't be read is said") {
  TempRoot root;
  root.directory("/etc/modprobe.d/a.conf");
  const auto notes = notes_with(root);
  REQUIRE(notes.size() == 2);
  CHECK(notes[0] == "'" + root.path() + "/etc/modprobe.d/a.conf': is a directory: not heeded");
}

TEST_CASE("load_kmod: found with all its functions; no such library, one that isn't libkmod") {
  const auto kmod = load_kmod();
  REQUIRE(kmod.has_value());
  CHECK(kmod->module_unref_list != nullptr);
  const auto none = load_kmod("libkmod.so.0");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == Errc::unsupported);
  CHECK(none.error().text().find("libkmod.so.0") != std::string::npos);
  const auto other = load_kmod("libc.so.6");
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().text().find("has no function 'kmod_") != std::string::npos);
}

}  // namespace peerpath::probe

// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/kernel.hpp"

#include "probe/machines.hpp"

#include <sys/utsname.h>

namespace peerpath::probe {

using test::machine;
using test::TempRoot;
using Default = KernelConfig::Default;

TEST_CASE("read_kernel: recorded machine → what was recorded of it") {
  const auto kernel = read_kernel(*machine("intel-translated"));
  CHECK(kernel.release.value() == "6.8.0-60-generic");
  CHECK(kernel.machine.value() == "x86_64");
  CHECK(kernel.boot_id.value() == "1b5f0d3c-9a36-4a60-8a8e-3f6d0f0b5a02");
  REQUIRE(kernel.config.has_value());
  CHECK(kernel.config->default_domain == Default::lazy);
  CHECK(kernel.config->intel_default_on);
  CHECK(kernel.config->source == "/boot/config-6.8.0-60-generic");
  CHECK(kernel.bootconfig.value().empty());
}

TEST_CASE("read_kernel: own root → uname") {
  const auto system = System::open("/");
  REQUIRE(system.has_value());
  const auto kernel = read_kernel(**system);
  utsname name{};
  REQUIRE(::uname(&name) == 0);
  CHECK(kernel.release.value() == name.release);
  CHECK(kernel.machine.value() == name.machine);
}

TEST_CASE("read_kernel: boot configuration → its text") {
  const auto kernel = read_kernel(*machine("bootconfig"));
  CHECK(kernel.bootconfig.value().starts_with("kernel.iommu = \"pt\"\n"));
}

TEST_CASE("read_kernel: nothing recorded → errors that name the files, no boot configuration") {
  TempRoot root;
  const auto kernel = read_kernel(root.system());
  REQUIRE_FALSE(kernel.release.has_value());
  CHECK(kernel.release.error().text().find("/proc/sys/kernel/osrelease'") != std::string::npos);
  REQUIRE_FALSE(kernel.machine.has_value());
  CHECK(kernel.machine.error().text().find("/proc/sys/kernel/arch'") != std::string::npos);
  CHECK_FALSE(kernel.boot_id.has_value());
  CHECK_FALSE(kernel.config.has_value());
  CHECK(kernel.bootconfig.value().empty());
}

TEST_CASE("read_kernel: a release that isn't one word → an error that names the file") {
  TempRoot root;
  const std::string text = GENERATE(std::string(), std::string("6.1 0\n"), std::string("6.1\0x", 5),
                                    std::string("6.1\x1b[31m\n"), std::string(100000, '6'));
  root.file("/proc/sys/kernel/osrelease", text);
  const auto kernel = read_kernel(root.system());
  REQUIRE_FALSE(kernel.release.has_value());
  CHECK(kernel.release.error().text().find("/proc/sys/kernel/osrelease'") != std::string::npos);
}

TEST_CASE("read_kernel: a release with a slash → no file outside /boot is read for it") {
  TempRoot root;
  root.file("/proc/sys/kernel/osrelease", "/../../etc/passwd\n");
  const auto kernel = read_kernel(root.system());
  REQUIRE_FALSE(kernel.config.has_value());
  CHECK(kernel.config.error().code == Errc::malformed);
}

TEST_CASE("read_kernel: configuration beside the modules only → read from there") {
  TempRoot root;
  root.file("/proc/sys/kernel/osrelease", "6.12.0\r\n");
  root.file("/lib/modules/6.12.0/config", "CONFIG_IOMMU_DEFAULT_PASSTHROUGH=y\r\n");
  const auto kernel = read_kernel(root.system());
  REQUIRE(kernel.config.has_value());
  CHECK(kernel.config->default_domain == Default::passthrough);
  CHECK(kernel.config->source == "/lib/modules/6.12.0/config");
}

TEST_CASE("read_kernel: a configuration that can't be read → an error that names it") {
  TempRoot root;
  root.file("/proc/sys/kernel/osrelease", "6.12.0\n");
  const std::string config = "/boot/config-6.12.0";
  SECTION("missing") {}
  SECTION("a directory") {
    root.directory(config);
  }
  SECTION("a cyclic link") {
    root.link(config, "config-6.12.0");
  }
  SECTION("a dangling link") {
    root.link(config, "elsewhere");
  }
  SECTION("empty") {
    root.file(config, "");
  }
  SECTION("binary") {
    root.file(config, std::string(5000, '\0'));
  }
  SECTION("huge") {
    root.file(config, std::string(System::read_limit + 1, '\n'));
  }
  const auto kernel = read_kernel(root.system());
  REQUIRE_FALSE(kernel.config.has_value());
  CHECK(kernel.config.error().text().find(config + "'") != std::string::npos);
}

TEST_CASE("parse_kernel_config: the choices of kernels since 5.15 → each") {
  const auto choice = [](const std::string& text) {
    return parse_kernel_config(text).value().default_domain;
  };
  CHECK(choice("CONFIG_IOMMU_DEFAULT_DMA_LAZY=y\n") == Default::lazy);
  CHECK(choice("CONFIG_IOMMU_DEFAULT_DMA_STRICT=y\n") == Default::strict);
  CHECK(choice("# CONFIG_IOMMU_DEFAULT_DMA_LAZY is not set\n"
               "CONFIG_IOMMU_DEFAULT_PASSTHROUGH=y") == Default::passthrough);
}

TEST_CASE("parse_kernel_config: a kernel before 5.15 without passthrough → lazy") {
  const auto config = parse_kernel_config(
      "# CONFIG_IOMMU_DEFAULT_PASSTHROUGH is not set\n# CONFIG_INTEL_IOMMU_DEFAULT_ON is not "
      "set\n");
  REQUIRE(config.has_value());
  CHECK(config->default_domain == Default::lazy);
  CHECK_FALSE(config->intel_default_on);
}

TEST_CASE("parse_kernel_config: names that only begin alike → nothing is set") {
  CHECK_FALSE(parse_kernel_config("CONFIG_IOMMU_DEFAULT_PASSTHROUGH_X=y\n"
                                  "#CONFIG_IOMMU_DEFAULT_PASSTHROUGH=y\n"
                                  "CONFIG_IOMMU_DEFAULT_PASSTHROUGH=yes\n")
                  .has_value());
}

}  // namespace peerpath::probe

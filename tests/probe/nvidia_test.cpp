// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/nvidia.hpp"

#include "probe/machines.hpp"

namespace peerpath::probe {

using test::TempRoot;
using Parameters = std::map<std::string, std::string>;

namespace {

/// As the open module of 550.90.07 writes them, shortened.
constexpr auto version =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.90.07  Release Build\n"
    "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n";
constexpr auto params =
    "ResmanDebugLevel: 4294967295\n"
    "DmaRemapPeerMmio: 1\n"
    "RegistryDwords: \"ForceP2P=0x11;RMForceP2PType=1\"\n"
    "RegistryDwordsPerDevice: \"\"\n"
    "TemporaryFilePath: \"/var/tmp\"\n";

void add_module(TempRoot& root, std::string_view parameters) {
  root.file("/proc/driver/nvidia/version", version);
  root.file("/proc/driver/nvidia/params", parameters);
}

std::string parameter_error(std::string_view parameters) {
  TempRoot root;
  add_module(root, parameters);
  const auto module = read_nvidia_module(root.system());
  REQUIRE_FALSE(module.parameters.has_value());
  CHECK(module.parameters.error().code == Errc::malformed);
  return module.parameters.error().text();
}

}  // namespace

TEST_CASE("read_nvidia_module: a loaded module → its version and parameters, without quotes") {
  TempRoot root;
  add_module(root, params);
  const auto module = read_nvidia_module(root.system());
  CHECK(module.version.value() ==
        "NVIDIA UNIX Open Kernel Module for x86_64  550.90.07  Release Build");
  CHECK(module.parameters.value() ==
        Parameters{{"ResmanDebugLevel", "4294967295"},
                   {"DmaRemapPeerMmio", "1"},
                   {"RegistryDwords", "ForceP2P=0x11;RMForceP2PType=1"},
                   {"RegistryDwordsPerDevice", ""},
                   {"TemporaryFilePath", "/var/tmp"}});
}

TEST_CASE("read_nvidia_module: no module → no version and no parameters") {
  TempRoot root;
  root.directory("/proc");
  const auto module = read_nvidia_module(root.system());
  CHECK(module.version.value() == std::nullopt);
  CHECK(module.parameters.value().empty());
}

TEST_CASE("read_nvidia_module: directories in place of the files → errors that name them") {
  TempRoot root;
  root.directory("/proc/driver/nvidia/version");
  root.directory("/proc/driver/nvidia/params");
  const auto module = read_nvidia_module(root.system());
  REQUIRE_FALSE(module.version.has_value());
  CHECK(module.version.error().text().find("/proc/driver/nvidia/version'") != std::string::npos);
  REQUIRE_FALSE(module.parameters.has_value());
  CHECK(module.parameters.error().text().find("/proc/driver/nvidia/params'") != std::string::npos);
}

TEST_CASE("read_nvidia_module: a line that's none → malformed, naming file and line") {
  const auto error = parameter_error("DmaRemapPeerMmio: 1\nRegistryDwords\n");
  CHECK(error.find("/proc/driver/nvidia/params' line 2: ") != std::string::npos);
  CHECK(parameter_error(": 1\n").find("line 1") != std::string::npos);
  CHECK(parameter_error("two words: 1\n").find("line 1") != std::string::npos);
  CHECK(parameter_error("\n").find("line 1") != std::string::npos);
}

TEST_CASE("read_nvidia_module: quotes that don't close → malformed") {
  CHECK(parameter_error("RegistryDwords: \"ForceP2P=0x11\n").find("line 1") != std::string::npos);
  CHECK(parameter_error("RegistryDwords: \"\n").find("line 1") != std::string::npos);
}

TEST_CASE("read_nvidia_module: a version file without a version → malformed") {
  for (const auto* text : {"", "\n", "NVRM version:\n", "GCC version: 12\n"}) {
    TempRoot root;
    root.file("/proc/driver/nvidia/version", text);
    const auto module = read_nvidia_module(root.system());
    REQUIRE_FALSE(module.version.has_value());
    CHECK(module.version.error().text().find("version': line 1") != std::string::npos);
  }
}

}  // namespace peerpath::probe

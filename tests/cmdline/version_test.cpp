// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/version.hpp"

#include "cmdline/arch.hpp"
#include "support/catch.hpp"

using namespace peerpath::cmdline;

TEST_CASE("kernel_version: releases of distributions → major and minor") {
  CHECK(kernel_version("6.1.0-35-amd64") == KernelVersion{6, 1});
  CHECK(kernel_version("5.17-rc5") == KernelVersion{5, 17});
  CHECK(kernel_version("4.18.0-553.el8_10.x86_64") == KernelVersion{4, 18});
  CHECK(kernel_version("6.12") == KernelVersion{6, 12});
  CHECK(kernel_version("10.0+") == KernelVersion{10, 0});
}

TEST_CASE("kernel_version: no MAJOR.MINOR at the start → nothing") {
  const auto* const text = GENERATE("", "linux", "6", "6.", ".6", "6.x", "-6.1", "6.-1", "v6.1",
                                    " 6.1", "6.99999999999", "99999999999.1", "linux-6.1");
  CAPTURE(text);
  CHECK_FALSE(kernel_version(text).has_value());
}

TEST_CASE("KernelVersion: compares as numbers, not as text") {
  CHECK(KernelVersion{6, 2} < KernelVersion{6, 12});
  CHECK(KernelVersion{5, 19} < KernelVersion{6, 0});
}

TEST_CASE("arch_of: names of machines and of packages → architecture") {
  CHECK(arch_of("x86_64") == Arch::x86_64);
  CHECK(arch_of("amd64") == Arch::x86_64);
  CHECK(arch_of("aarch64") == Arch::arm64);
  CHECK(arch_of("arm64") == Arch::arm64);
  CHECK(arch_of("riscv64") == Arch::other);
  CHECK(arch_of("i686") == Arch::other);
  CHECK(arch_of("") == Arch::other);
}

TEST_CASE("name_of: architecture → its name") {
  CHECK(name_of(Arch::x86_64) == "x86_64");
  CHECK(name_of(Arch::arm64) == "arm64");
  CHECK(name_of(Arch::other) == "other");
}

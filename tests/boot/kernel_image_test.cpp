// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/kernel_image.hpp"

#include "support/catch.hpp"
#include "support/temp_root.hpp"

using namespace peerpath::boot;
using peerpath::test::TempRoot;

TEST_CASE("KernelFinder: files, links, and what an entry's path begins at → where they are") {
  TempRoot root;
  root.file("/boot/vmlinuz-6.1", "kernel")
      .file("/boot/vmlinuz-6.2", "kernel")
      .link("/boot/vmlinuz", "vmlinuz-6.2")
      .link("/boot/gone", "vmlinuz-5.0")
      .link("/boot/inner", "sub")
      .file("/boot/sub/Image", "kernel")
      .file("/efi/loader/linux", "kernel");
  KernelFinder kernels(root.system());
  // Asked twice: the second time out of what was listed.
  for (int i = 0; i < 2; ++i) {
    CHECK(kernels.find("/vmlinuz-6.1") == "/boot/vmlinuz-6.1");
    CHECK(kernels.find("/boot/vmlinuz-6.2") == "/boot/vmlinuz-6.2");
    CHECK(kernels.find("/vmlinuz") == "/boot/vmlinuz");
    CHECK(kernels.find("/inner/Image") == "/boot/inner/Image");
    CHECK(kernels.find("/@/boot/vmlinuz-6.1") == "/boot/vmlinuz-6.1");
    CHECK(kernels.find("/loader/linux", "/efi") == "/efi/loader/linux");
    CHECK(kernels.find("/gone") == std::nullopt);
    CHECK(kernels.find("/vmlinuz-6.3") == std::nullopt);
  }
}

TEST_CASE("KernelFinder: an empty root → nothing is found") {
  TempRoot root;
  KernelFinder kernels(root.system());
  CHECK(kernels.find("/vmlinuz-6.1") == std::nullopt);
  CHECK(kernels.find("vmlinuz-6.1") == std::nullopt);
}

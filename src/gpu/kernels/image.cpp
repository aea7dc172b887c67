// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/kernels/image.hpp"

namespace peerpath::gpu {

#ifdef PEERPATH_KERNEL_IMAGE
namespace {
// Written by the build (cuda_toolkit.cmake): the bytes of the PTX, with commas between.
constexpr char image[] = {
#include PEERPATH_KERNEL_IMAGE
    '\0'};
}  // namespace

std::string_view kernel_image() {
  return {image, sizeof(image) - 1};
}
#else
std::string_view kernel_image() {
  return {};
}
#endif

}  // namespace peerpath::gpu

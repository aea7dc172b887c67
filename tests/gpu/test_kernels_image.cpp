// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/driver/cuda.hpp"
#include "gpu/kernels/image.hpp"
#include "gpu/kernels/parameters.hpp"
#include "support/catch.hpp"

#include <string>

using namespace peerpath::gpu;

namespace {

bool image_has(const std::string& text) {
  return kernel_image().find(text) != std::string_view::npos;
}

}  // namespace

TEST_CASE("kernels' image: built in or not → the two who say so agree") {
  CHECK(Kernels::are_built_in() == !kernel_image().empty());
}

TEST_CASE("kernels' image: where built in → for the oldest driver, with every kernel by its name") {
  if (kernel_image().empty()) return;
  CHECK(*(kernel_image().data() + kernel_image().size()) == '\0');  // the driver reads up to it
  CHECK(image_has("\n.version 6.3\n"));
  CHECK(image_has("\n.target sm_70"));
  for (const std::string name : {kernel::fill, kernel::poison, kernel::verify, kernel::copy,
                                 kernel::ping_pong, kernel::atomics, kernel::chase}) {
    INFO(name);
    CHECK(image_has(".entry " + name + "("));
  }
}

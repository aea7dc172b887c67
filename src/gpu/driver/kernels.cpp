// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/driver/cuda.hpp"
#include "gpu/driver/functions.hpp"
#include "gpu/kernels/image.hpp"

#include <array>
#include <cstdint>

namespace peerpath::gpu {

bool Kernels::are_built_in() {
  return !kernel_image().empty();
}

CudaResult<Kernels> Kernels::load(const Context& context) {
  const auto& cuda = context.cuda();
  if (!are_built_in()) {
    return tl::make_unexpected(
        CudaError{cuda::not_found, "cuModuleLoadDataEx", "this build has no device code"});
  }
  if (auto current = context.make_current(); !current) {
    return tl::make_unexpected(current.error());
  }
  std::array<char, 1024> log{};
  std::array<int, 2> options{cuda::jit_error_log_buffer, cuda::jit_error_log_size};
  // An option's value is an integer in the place of a pointer.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(std::uintptr_t{log.size() - 1})};
  Kernels kernels(context, nullptr, 0);
  auto done = cuda.check(
      cuda.functions().module_load_data_ex(&kernels.module_, kernel_image().data(), options.size(),
                                           options.data(), values.data()),
      "cuModuleLoadDataEx");
  if (!done) {
    auto error = done.error();
    if (log[0] != '\0') error.name += std::string(": ") + log.data();
    return tl::make_unexpected(std::move(error));
  }
  auto grid = context.multiprocessors();
  if (!grid) return tl::make_unexpected(grid.error());
  // Eight blocks of 256 threads are as many as a multiprocessor of any generation holds.
  kernels.full_grid_ = static_cast<unsigned>(*grid) * 8;
  return kernels;
}

Kernels::Kernels(Kernels&& other) noexcept
    : context_(other.context_),
      module_(std::exchange(other.module_, nullptr)),
      full_grid_(other.full_grid_) {}

Kernels& Kernels::operator=(Kernels&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(module_, other.module_);
  std::swap(full_grid_, other.full_grid_);
  return *this;
}

Kernels::~Kernels() {
  if (module_ == nullptr || !context_->make_current()) return;
  context_->cuda().functions().module_unload(module_);
}

CudaResult<> Kernels::launch_raw(const CudaStream& stream, const char* name, unsigned grid,
                                 unsigned block, void* parameters) const {
  const auto& cuda = context_->cuda();
  cuda::FunctionHandle function = nullptr;
  auto done = context_->make_current();
  if (done) {
    done = cuda.check(cuda.functions().module_get_function(&function, module_, name),
                      std::string("cuModuleGetFunction ") + name);
  }
  if (!done) return done;
  return cuda.check(cuda.functions().launch_kernel(function, grid, 1, 1, block, 1, 1, 0,
                                                   stream.handle(), &parameters, nullptr),
                    std::string("cuLaunchKernel ") + name);
}

}  // namespace peerpath::gpu

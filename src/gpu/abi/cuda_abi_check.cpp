// SPDX-License-Identifier: GPL-2.0-or-later
// Fails to compile where our declarations differ from the CUDA Toolkit's. Adds no code.
#include "gpu/cuda_abi.hpp"

#include <cuda.h>
#include <type_traits>

namespace {

using namespace peerpath::gpu;

template <class T>
using Ours = std::conditional_t<std::is_same_v<T, CUresult>, cuda::Code, T>;

template <class Function>
struct AsOurs;
template <class Return, class... Arguments>
struct AsOurs<Return(Arguments...)> {
  using Type = Ours<Return> (*)(Ours<Arguments>...);
};

static_assert(sizeof(CUresult) == sizeof(cuda::Code));
static_assert(std::is_same_v<std::underlying_type_t<CUresult>, cuda::Code>);

static_assert(cuda::success == CUDA_SUCCESS);
static_assert(cuda::stub_library == CUDA_ERROR_STUB_LIBRARY);
static_assert(cuda::no_device == CUDA_ERROR_NO_DEVICE);
static_assert(cuda::system_not_ready == CUDA_ERROR_SYSTEM_NOT_READY);
static_assert(cuda::system_driver_mismatch == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);

static_assert(std::is_same_v<AsOurs<decltype(cuInit)>::Type, cuda::Init>);
static_assert(std::is_same_v<AsOurs<decltype(cuDriverGetVersion)>::Type, cuda::DriverGetVersion>);
static_assert(std::is_same_v<AsOurs<decltype(cuDeviceGetCount)>::Type, cuda::DeviceGetCount>);
static_assert(std::is_same_v<AsOurs<decltype(cuGetErrorName)>::Type, cuda::GetErrorName>);

}  // namespace

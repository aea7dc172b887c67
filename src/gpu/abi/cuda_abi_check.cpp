// SPDX-License-Identifier: GPL-2.0-or-later
// Fails to compile where our declarations differ from the CUDA Toolkit's. Adds no code.
#include "gpu/cuda_abi.hpp"

#include <cuda.h>
#include <type_traits>

namespace {

using namespace peerpath::gpu;

/// The type that we have in the place of the toolkit's. Enumerations are integers to us.
template <class T>
struct OurType {
  using Type = T;
};
template <class T>
struct OurType<T*> {
  using Type = typename OurType<T>::Type*;
};
template <class T>
struct OurType<const T*> {
  using Type = const typename OurType<T>::Type*;
};
template <>
struct OurType<CUresult> {
  using Type = cuda::Code;
};
template <>
struct OurType<CUdevice_attribute> {
  using Type = int;
};
template <>
struct OurType<CUdevice_P2PAttribute> {
  using Type = int;
};
template <>
struct OurType<CUjit_option> {
  using Type = int;
};
template <>
struct OurType<CUuuid> {
  using Type = cuda::Uuid;
};
template <>
struct OurType<CUcontext> {
  using Type = cuda::ContextHandle;
};
template <>
struct OurType<CUstream> {
  using Type = cuda::StreamHandle;
};
template <>
struct OurType<CUevent> {
  using Type = cuda::EventHandle;
};
template <>
struct OurType<CUmodule> {
  using Type = cuda::ModuleHandle;
};
template <>
struct OurType<CUfunction> {
  using Type = cuda::FunctionHandle;
};
template <class T>
using Ours = typename OurType<T>::Type;

template <class Function>
struct AsOurs;
template <class Return, class... Arguments>
struct AsOurs<Return(Arguments...)> {
  using Type = Ours<Return> (*)(Ours<Arguments>...);
};

static_assert(sizeof(CUresult) == sizeof(cuda::Code));
static_assert(std::is_same_v<std::underlying_type_t<CUresult>, cuda::Code>);

static_assert(cuda::success == CUDA_SUCCESS);
static_assert(cuda::invalid_value == CUDA_ERROR_INVALID_VALUE);
static_assert(cuda::out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(cuda::stub_library == CUDA_ERROR_STUB_LIBRARY);
static_assert(cuda::device_unavailable == CUDA_ERROR_DEVICE_UNAVAILABLE);
static_assert(cuda::no_device == CUDA_ERROR_NO_DEVICE);
static_assert(cuda::invalid_image == CUDA_ERROR_INVALID_IMAGE);
static_assert(cuda::map_failed == CUDA_ERROR_MAP_FAILED);
static_assert(cuda::no_binary_for_gpu == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(cuda::ecc_uncorrectable == CUDA_ERROR_ECC_UNCORRECTABLE);
static_assert(cuda::peer_access_unsupported == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
static_assert(cuda::invalid_ptx == CUDA_ERROR_INVALID_PTX);
static_assert(cuda::nvlink_uncorrectable == CUDA_ERROR_NVLINK_UNCORRECTABLE);
static_assert(cuda::jit_compiler_not_found == CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
static_assert(cuda::unsupported_ptx_version == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
static_assert(cuda::not_found == CUDA_ERROR_NOT_FOUND);
static_assert(cuda::not_ready == CUDA_ERROR_NOT_READY);
static_assert(cuda::illegal_address == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(cuda::launch_timeout == CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(cuda::peer_access_already_enabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(cuda::peer_access_not_enabled == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
static_assert(cuda::too_many_peers == CUDA_ERROR_TOO_MANY_PEERS);
static_assert(cuda::launch_failed == CUDA_ERROR_LAUNCH_FAILED);
static_assert(cuda::system_not_ready == CUDA_ERROR_SYSTEM_NOT_READY);
static_assert(cuda::system_driver_mismatch == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
static_assert(cuda::unknown == CUDA_ERROR_UNKNOWN);
static_assert(cuda::attribute_multiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(cuda::attribute_compute_mode == CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
static_assert(cuda::attribute_capability_major == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(cuda::attribute_capability_minor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(cuda::peer_performance_rank == CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK);
static_assert(cuda::peer_access_supported == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED);
static_assert(cuda::peer_native_atomics == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED);
static_assert(cuda::compute_mode_default == CU_COMPUTEMODE_DEFAULT);
static_assert(cuda::compute_mode_prohibited == CU_COMPUTEMODE_PROHIBITED);
static_assert(cuda::compute_mode_exclusive_process == CU_COMPUTEMODE_EXCLUSIVE_PROCESS);
static_assert(cuda::stream_non_blocking == CU_STREAM_NON_BLOCKING);
static_assert(cuda::context_schedule_blocking == CU_CTX_SCHED_BLOCKING_SYNC);
static_assert(cuda::jit_error_log_buffer == CU_JIT_ERROR_LOG_BUFFER);
static_assert(cuda::jit_error_log_size == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);

static_assert(sizeof(CUdeviceptr) == sizeof(cuda::Address));
static_assert(sizeof(CUuuid) == sizeof(cuda::Uuid));
static_assert(std::is_same_v<CUdevice, cuda::Device>);

static_assert(std::is_same_v<AsOurs<decltype(cuInit)>::Type, cuda::Init>);
static_assert(std::is_same_v<AsOurs<decltype(cuDriverGetVersion)>::Type, cuda::DriverGetVersion>);
static_assert(std::is_same_v<AsOurs<decltype(cuDeviceGetCount)>::Type, cuda::DeviceGetCount>);
static_assert(std::is_same_v<AsOurs<decltype(cuGetErrorName)>::Type, cuda::GetErrorName>);
static_assert(std::is_same_v<AsOurs<decltype(cuDeviceGet)>::Type, cuda::DeviceGet>);
static_assert(std::is_same_v<AsOurs<decltype(cuDeviceGetName)>::Type, cuda::DeviceGetName>);
static_assert(std::is_same_v<AsOurs<decltype(cuDeviceGetUuid)>::Type, cuda::DeviceGetUuid>);
static_assert(std::is_same_v<AsOurs<decltype(cuDeviceGetPCIBusId)>::Type, cuda::DeviceGetPciBusId>);
static_assert(
    std::is_same_v<AsOurs<decltype(cuDeviceGetAttribute)>::Type, cuda::DeviceGetAttribute>);
static_assert(std::is_same_v<AsOurs<decltype(cuDeviceTotalMem)>::Type, cuda::DeviceTotalMem>);
static_assert(
    std::is_same_v<AsOurs<decltype(cuDeviceCanAccessPeer)>::Type, cuda::DeviceCanAccessPeer>);
static_assert(
    std::is_same_v<AsOurs<decltype(cuDeviceGetP2PAttribute)>::Type, cuda::DeviceGetP2PAttribute>);
static_assert(std::is_same_v<AsOurs<decltype(cuCtxDestroy)>::Type, cuda::CtxDestroy>);
static_assert(std::is_same_v<AsOurs<decltype(cuCtxSetCurrent)>::Type, cuda::CtxSetCurrent>);
static_assert(std::is_same_v<AsOurs<decltype(cuCtxSynchronize)>::Type, cuda::CtxSynchronize>);
static_assert(
    std::is_same_v<AsOurs<decltype(cuCtxEnablePeerAccess)>::Type, cuda::CtxEnablePeerAccess>);
static_assert(std::is_same_v<AsOurs<decltype(cuMemGetInfo)>::Type, cuda::MemGetInfo>);
static_assert(std::is_same_v<AsOurs<decltype(cuMemAlloc)>::Type, cuda::MemAlloc>);
static_assert(std::is_same_v<AsOurs<decltype(cuMemFree)>::Type, cuda::MemFree>);
static_assert(std::is_same_v<AsOurs<decltype(cuMemcpyHtoD)>::Type, cuda::MemcpyHtoD>);
static_assert(std::is_same_v<AsOurs<decltype(cuMemcpyDtoH)>::Type, cuda::MemcpyDtoH>);
static_assert(std::is_same_v<AsOurs<decltype(cuMemcpyDtoDAsync)>::Type, cuda::MemcpyDtoDAsync>);
static_assert(std::is_same_v<AsOurs<decltype(cuStreamCreate)>::Type, cuda::StreamCreate>);
static_assert(std::is_same_v<AsOurs<decltype(cuStreamDestroy)>::Type, cuda::StreamDestroy>);
static_assert(std::is_same_v<AsOurs<decltype(cuStreamQuery)>::Type, cuda::StreamQuery>);
static_assert(std::is_same_v<AsOurs<decltype(cuStreamSynchronize)>::Type, cuda::StreamSynchronize>);
static_assert(std::is_same_v<AsOurs<decltype(cuEventCreate)>::Type, cuda::EventCreate>);
static_assert(std::is_same_v<AsOurs<decltype(cuEventDestroy)>::Type, cuda::EventDestroy>);
static_assert(std::is_same_v<AsOurs<decltype(cuEventRecord)>::Type, cuda::EventRecord>);
static_assert(std::is_same_v<AsOurs<decltype(cuEventElapsedTime)>::Type, cuda::EventElapsedTime>);
static_assert(std::is_same_v<AsOurs<decltype(cuModuleLoadDataEx)>::Type, cuda::ModuleLoadDataEx>);
static_assert(std::is_same_v<AsOurs<decltype(cuModuleUnload)>::Type, cuda::ModuleUnload>);
static_assert(std::is_same_v<AsOurs<decltype(cuModuleGetFunction)>::Type, cuda::ModuleGetFunction>);
static_assert(std::is_same_v<AsOurs<decltype(cuLaunchKernel)>::Type, cuda::LaunchKernel>);
// Of cuCtxCreate, CUDA 13 declares only a version with other parameters than cuCtxCreate_v2's.

}  // namespace

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>

/// The few types and numbers of CUDA's driver interface that we use, declared here so that the
/// package builds and runs where there's no CUDA. With PEERPATH_SM_KERNELS=ON the build compares
/// them with the toolkit's cuda.h (abi/cuda_abi_check.cpp).
namespace peerpath::gpu::cuda {

/// CUresult.
using Code = unsigned int;

inline constexpr Code success = 0;
inline constexpr Code invalid_value = 1;
inline constexpr Code out_of_memory = 2;
inline constexpr Code stub_library = 34;  ///< the toolkit's stub was loaded, not a driver
inline constexpr Code device_unavailable = 46;
inline constexpr Code no_device = 100;
inline constexpr Code invalid_image = 200;
inline constexpr Code map_failed = 205;
inline constexpr Code no_binary_for_gpu = 209;
inline constexpr Code ecc_uncorrectable = 214;
inline constexpr Code peer_access_unsupported = 217;
inline constexpr Code invalid_ptx = 218;
inline constexpr Code nvlink_uncorrectable = 220;
inline constexpr Code jit_compiler_not_found = 221;
inline constexpr Code unsupported_ptx_version = 222;
inline constexpr Code not_found = 500;
inline constexpr Code not_ready = 600;
inline constexpr Code illegal_address = 700;
inline constexpr Code launch_timeout = 702;
inline constexpr Code peer_access_already_enabled = 704;
inline constexpr Code peer_access_not_enabled = 705;
inline constexpr Code too_many_peers = 711;
inline constexpr Code launch_failed = 719;
inline constexpr Code system_not_ready = 802;        ///< the fabric manager hasn't finished
inline constexpr Code system_driver_mismatch = 803;  ///< kernel module and library differ
inline constexpr Code unknown = 999;

using Device = int;
using Address = unsigned long long;  ///< CUdeviceptr
struct ContextTag;
struct StreamTag;
struct EventTag;
struct ModuleTag;
struct FunctionTag;
using ContextHandle = ContextTag*;
using StreamHandle = StreamTag*;
using EventHandle = EventTag*;
using ModuleHandle = ModuleTag*;
using FunctionHandle = FunctionTag*;
struct Uuid {
  char bytes[16];
};

// CUdevice_attribute
inline constexpr int attribute_multiprocessors = 16;
inline constexpr int attribute_compute_mode = 20;
inline constexpr int attribute_capability_major = 75;
inline constexpr int attribute_capability_minor = 76;
// CUdevice_P2PAttribute
inline constexpr int peer_performance_rank = 1;
inline constexpr int peer_access_supported = 2;
inline constexpr int peer_native_atomics = 3;
// CUcomputemode
inline constexpr int compute_mode_default = 0;
inline constexpr int compute_mode_prohibited = 2;
inline constexpr int compute_mode_exclusive_process = 3;
// CUstream_flags, CUctx_flags, CUjit_option
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned context_schedule_blocking = 4;
inline constexpr int jit_error_log_buffer = 5;
inline constexpr int jit_error_log_size = 6;

using Init = Code (*)(unsigned int flags);
using DriverGetVersion = Code (*)(int* version);
using DeviceGetCount = Code (*)(int* count);
using GetErrorName = Code (*)(Code error, const char** name);

using DeviceGet = Code (*)(Device* device, int ordinal);
using DeviceGetName = Code (*)(char* name, int size, Device device);
using DeviceGetUuid = Code (*)(Uuid* uuid, Device device);
using DeviceGetPciBusId = Code (*)(char* id, int size, Device device);
using DeviceGetAttribute = Code (*)(int* value, int attribute, Device device);
using DeviceTotalMem = Code (*)(std::size_t* bytes, Device device);
using DeviceCanAccessPeer = Code (*)(int* can, Device device, Device peer);
using DeviceGetP2PAttribute = Code (*)(int* value, int attribute, Device source,
                                       Device destination);
using CtxCreate = Code (*)(ContextHandle* context, unsigned int flags, Device device);
using CtxDestroy = Code (*)(ContextHandle context);
using CtxSetCurrent = Code (*)(ContextHandle context);
using CtxSynchronize = Code (*)();
using CtxEnablePeerAccess = Code (*)(ContextHandle peer, unsigned int flags);
using MemGetInfo = Code (*)(std::size_t* free, std::size_t* total);
using MemAlloc = Code (*)(Address* address, std::size_t bytes);
using MemFree = Code (*)(Address address);
using MemcpyHtoD = Code (*)(Address to, const void* from, std::size_t bytes);
using MemcpyDtoH = Code (*)(void* to, Address from, std::size_t bytes);
using MemcpyDtoDAsync = Code (*)(Address to, Address from, std::size_t bytes, StreamHandle stream);
using StreamCreate = Code (*)(StreamHandle* stream, unsigned int flags);
using StreamDestroy = Code (*)(StreamHandle stream);
using StreamQuery = Code (*)(StreamHandle stream);
using StreamSynchronize = Code (*)(StreamHandle stream);
using EventCreate = Code (*)(EventHandle* event, unsigned int flags);
using EventDestroy = Code (*)(EventHandle event);
using EventRecord = Code (*)(EventHandle event, StreamHandle stream);
using EventElapsedTime = Code (*)(float* milliseconds, EventHandle start, EventHandle end);
using ModuleLoadDataEx = Code (*)(ModuleHandle* module, const void* image, unsigned int count,
                                  int* options, void** values);
using ModuleUnload = Code (*)(ModuleHandle module);
using ModuleGetFunction = Code (*)(FunctionHandle* function, ModuleHandle module, const char* name);
using LaunchKernel = Code (*)(FunctionHandle function, unsigned int grid_x, unsigned int grid_y,
                              unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                              unsigned int block_z, unsigned int shared_bytes, StreamHandle stream,
                              void** parameters, void** extra);

}  // namespace peerpath::gpu::cuda

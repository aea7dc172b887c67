// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

/// The few types and numbers of CUDA's driver interface that we use, declared here so that the
/// package builds and runs where there's no CUDA. With PEERPATH_SM_KERNELS=ON the build compares
/// them with the toolkit's cuda.h (abi/cuda_abi_check.cpp).
namespace peerpath::gpu::cuda {

/// CUresult.
using Code = unsigned int;

inline constexpr Code success = 0;
inline constexpr Code stub_library = 34;  ///< the toolkit's stub was loaded, not a driver
inline constexpr Code no_device = 100;
inline constexpr Code system_not_ready = 802;        ///< the fabric manager hasn't finished
inline constexpr Code system_driver_mismatch = 803;  ///< kernel module and library differ

using Init = Code (*)(unsigned int flags);
using DriverGetVersion = Code (*)(int* version);
using DeviceGetCount = Code (*)(int* count);
using GetErrorName = Code (*)(Code error, const char** name);

}  // namespace peerpath::gpu::cuda

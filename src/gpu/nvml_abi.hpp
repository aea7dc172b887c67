// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

/// The few types and numbers of NVIDIA's management library that we use, declared here so that the
/// package builds and runs where there's no CUDA. Fact: nvml.h of the CUDA Toolkit, as public
/// copies of it have it, and NCCL's src/include/nvmlwrap.h. Not yet tried with a real driver.
namespace peerpath::gpu::nvml {

/// nvmlReturn_t.
using Code = unsigned int;

inline constexpr Code success = 0;
inline constexpr Code not_supported = 3;
inline constexpr Code no_permission = 4;
inline constexpr Code insufficient_size = 7;
inline constexpr Code driver_not_loaded = 9;
inline constexpr Code function_not_found = 13;        ///< the kernel module doesn't know the call
inline constexpr Code library_version_mismatch = 18;  ///< kernel module and library differ

/// nvmlDevice_t, a handle.
using Device = struct DeviceHandle*;

/// nvmlPciInfo_t as of the _v3 calls. The device's address is in `bus_id`, with eight digits of
/// domain: "00000000:3B:00.0".
struct PciInfo {
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

/// nvmlMemory_t, in bytes.
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

/// nvmlConfComputeSystemState_t.
struct ConfComputeState {
  unsigned int environment;
  unsigned int feature;  ///< NVML_CC_SYSTEM_FEATURE_ENABLED is 1
  unsigned int dev_tools_mode;
};

/// nvmlGpuP2PCapsIndex_t.
enum class Capability : unsigned int { read = 0, write = 1, nvlink = 2, atomics = 3 };
inline constexpr unsigned int capabilities = 4;

/// nvmlGpuP2PStatus_t.
enum class PeerStatus : unsigned int {
  ok = 0,
  chipset_not_supported = 1,
  gpu_not_supported = 2,
  topology_not_supported = 3,
  disabled_by_regkey = 4,
  not_supported = 5,
  unknown = 6,
};

using Init = Code (*)();
using ErrorString = const char* (*)(Code);
using DeviceGetCount = Code (*)(unsigned int* count);
using DeviceGetHandleByIndex = Code (*)(unsigned int index, Device* device);
using DeviceGetPciInfo = Code (*)(Device device, PciInfo* info);
using DeviceGetMemoryInfo = Code (*)(Device device, Memory* memory);
using DeviceGetMigMode = Code (*)(Device device, unsigned int* current, unsigned int* pending);
/// With no room for any, `count` is set to how many there are, and `insufficient_size` says so. The
/// form of one differs between _v1, _v2 and _v3, and isn't needed for that.
using DeviceGetComputeRunningProcesses = Code (*)(Device device, unsigned int* count, void* infos);
using DeviceGetP2PStatus = Code (*)(Device from, Device to, Capability index, PeerStatus* status);
using SystemGetConfComputeState = Code (*)(ConfComputeState* state);

}  // namespace peerpath::gpu::nvml

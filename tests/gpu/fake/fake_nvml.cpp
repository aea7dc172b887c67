// SPDX-License-Identifier: GPL-2.0-or-later
// Stands in for libnvidia-ml.so.1 on a host with four GPUs, the last one in another PCI domain.
// How it behaves is decided when it's compiled: FAKE_INIT (nvmlInit_v2's result), FAKE_HANDLE
// (nvmlDeviceGetHandleByIndex_v2's result for GPU 2), FAKE_COUNT, FAKE_BUS_ID, FAKE_MIG (GPU 1),
// FAKE_MIG_CODE, FAKE_MEMORY_CODE, FAKE_CC, FAKE_CC_CODE, FAKE_STATUS (of every pair),
// FAKE_ASYMMETRIC (from GPU 0 to GPU 1: TNS), FAKE_PAIR_CODE (the same pair's result), FAKE_OLD
// (without the functions of newer drivers), FAKE_NO_P2P, FAKE_HANG, FAKE_ABORT, FAKE_EXIT,
// FAKE_NOISY, FAKE_PROCESSES (that compute on GPU 1), FAKE_PROCESSES_CODE.
#include "gpu/nvml_abi.hpp"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#ifndef FAKE_INIT
#define FAKE_INIT 0
#endif
#ifndef FAKE_HANDLE
#define FAKE_HANDLE 0
#endif
#ifndef FAKE_COUNT
#define FAKE_COUNT 4
#endif
#ifndef FAKE_BUS_ID
#define FAKE_BUS_ID "%08X:%02X:00.0"
#endif
#ifndef FAKE_MIG
#define FAKE_MIG 0
#endif
#ifndef FAKE_MIG_CODE
#define FAKE_MIG_CODE 0
#endif
#ifndef FAKE_MEMORY_CODE
#define FAKE_MEMORY_CODE 0
#endif
#ifndef FAKE_CC
#define FAKE_CC 0
#endif
#ifndef FAKE_CC_CODE
#define FAKE_CC_CODE 0
#endif
#ifndef FAKE_STATUS
#define FAKE_STATUS 0
#endif
#ifndef FAKE_PROCESSES
#define FAKE_PROCESSES 0
#endif
#ifndef FAKE_PROCESSES_CODE
#define FAKE_PROCESSES_CODE 0
#endif
#ifndef FAKE_PAIR_CODE
#define FAKE_PAIR_CODE 0
#endif

using namespace peerpath::gpu::nvml;

namespace peerpath::gpu::nvml {
struct DeviceHandle {
  unsigned index;
};
}  // namespace peerpath::gpu::nvml

namespace {
DeviceHandle devices[4] = {{0}, {1}, {2}, {3}};
}

extern "C" {

Code nvmlInit_v2() {
#ifdef FAKE_HANG
  for (;;)
    ::pause();
#endif
#ifdef FAKE_ABORT
  std::abort();
#endif
#ifdef FAKE_EXIT
  ::_exit(7);
#endif
#ifdef FAKE_NOISY
  std::puts("the driver talks");
  std::fflush(stdout);
#endif
  return FAKE_INIT;
}

const char* nvmlErrorString(Code code) {
  switch (code) {
    case no_permission:
      return "Insufficient Permissions";
    case driver_not_loaded:
      return "Driver Not Loaded";
    case 15:
      return "GPU is lost";
    case library_version_mismatch:
      return "Driver/library version mismatch";
    default:
      return nullptr;
  }
}

Code nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = FAKE_COUNT;
  return success;
}

Code nvmlDeviceGetHandleByIndex_v2(unsigned int index, Device* device) {
  *device = &devices[index];
  return index == 2 ? FAKE_HANDLE : success;
}

Code nvmlDeviceGetPciInfo_v3(Device device, PciInfo* info) {
  std::snprintf(info->bus_id, sizeof info->bus_id, FAKE_BUS_ID, device->index == 3 ? 1U : 0U,
                0x3bU + device->index);
  return success;
}

Code nvmlDeviceGetMemoryInfo(Device, Memory* memory) {
  memory->total = 85899345920ULL;
  return FAKE_MEMORY_CODE;
}

#ifndef FAKE_NO_P2P
Code nvmlDeviceGetP2PStatus(Device from, Device to, Capability index, PeerStatus* status) {
  const bool pair = from->index == 0 && to->index == 1;
  *status = static_cast<PeerStatus>(FAKE_STATUS);
#ifdef FAKE_ASYMMETRIC
  if (pair) *status = PeerStatus::topology_not_supported;
#endif
  if (index == Capability::nvlink) *status = PeerStatus::not_supported;
  return pair ? FAKE_PAIR_CODE : success;
}
#endif

#ifndef FAKE_OLD
Code nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned int* count, void*) {
  if (FAKE_PROCESSES_CODE != 0) return FAKE_PROCESSES_CODE;
  const unsigned there = device->index == 1 ? FAKE_PROCESSES : 0;
  const bool has_room = *count >= there;
  *count = there;
  return has_room ? success : insufficient_size;
}

Code nvmlDeviceGetMigMode(Device device, unsigned int* current, unsigned int* pending) {
  *current = device->index == 1 ? FAKE_MIG : 0;
  *pending = 1;
  return FAKE_MIG_CODE;
}

Code nvmlSystemGetConfComputeState(ConfComputeState* state) {
  state->environment = 2;
  state->feature = FAKE_CC;
  return FAKE_CC_CODE;
}
#endif
}

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "gpu/cuda_abi.hpp"

namespace peerpath::gpu {

/// The driver's functions that we use.
struct CudaFunctions {
  cuda::Init init = nullptr;
  cuda::DriverGetVersion driver_get_version = nullptr;
  cuda::GetErrorName get_error_name = nullptr;
  cuda::DeviceGetCount device_get_count = nullptr;
  cuda::DeviceGet device_get = nullptr;
  cuda::DeviceGetName device_get_name = nullptr;
  cuda::DeviceGetUuid device_get_uuid = nullptr;
  cuda::DeviceGetPciBusId device_get_pci_bus_id = nullptr;
  cuda::DeviceGetAttribute device_get_attribute = nullptr;
  cuda::DeviceTotalMem device_total_mem = nullptr;
  cuda::DeviceCanAccessPeer device_can_access_peer = nullptr;
  cuda::DeviceGetP2PAttribute device_get_p2p_attribute = nullptr;
  cuda::CtxCreate ctx_create = nullptr;
  cuda::CtxDestroy ctx_destroy = nullptr;
  cuda::CtxSetCurrent ctx_set_current = nullptr;
  cuda::CtxSynchronize ctx_synchronize = nullptr;
  cuda::CtxEnablePeerAccess ctx_enable_peer_access = nullptr;
  cuda::MemGetInfo mem_get_info = nullptr;
  cuda::MemAlloc mem_alloc = nullptr;
  cuda::MemFree mem_free = nullptr;
  cuda::MemcpyHtoD memcpy_htod = nullptr;
  cuda::MemcpyDtoH memcpy_dtoh = nullptr;
  cuda::MemcpyDtoDAsync memcpy_dtod_async = nullptr;
  cuda::StreamCreate stream_create = nullptr;
  cuda::StreamDestroy stream_destroy = nullptr;
  cuda::StreamQuery stream_query = nullptr;
  cuda::StreamSynchronize stream_synchronize = nullptr;
  cuda::EventCreate event_create = nullptr;
  cuda::EventDestroy event_destroy = nullptr;
  cuda::EventRecord event_record = nullptr;
  cuda::EventElapsedTime event_elapsed_time = nullptr;
  cuda::ModuleLoadDataEx module_load_data_ex = nullptr;
  cuda::ModuleUnload module_unload = nullptr;
  cuda::ModuleGetFunction module_get_function = nullptr;
  cuda::LaunchKernel launch_kernel = nullptr;
};

}  // namespace peerpath::gpu

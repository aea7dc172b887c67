// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/driver/cuda.hpp"

#include "base/shared_library.hpp"
#include "gpu/driver/functions.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstring>

namespace peerpath::gpu {
namespace {

constexpr auto note_text =
    std::to_array(R"([{"feature":"cuda","description":"Tests peer-to-peer copies between GPUs",)"
                  R"("priority":"suggested","soname":["libcuda.so.1"]}])");
[[gnu::used,
  gnu::section(".note.dlopen")]] alignas(4) constexpr DlopenNote<note_text.size()> dlopen_note{
    .text = note_text};

/// The names under which the library has the functions: the versions that it has had since R410.
Result<CudaFunctions> find_functions(SharedLibrary& library) {
  CudaFunctions found;
  library.find("cuInit", found.init);
  library.find("cuDriverGetVersion", found.driver_get_version);
  library.find("cuGetErrorName", found.get_error_name);
  library.find("cuDeviceGetCount", found.device_get_count);
  library.find("cuDeviceGet", found.device_get);
  library.find("cuDeviceGetName", found.device_get_name);
  library.find("cuDeviceGetUuid", found.device_get_uuid);
  library.find("cuDeviceGetPCIBusId", found.device_get_pci_bus_id);
  library.find("cuDeviceGetAttribute", found.device_get_attribute);
  library.find("cuDeviceTotalMem_v2", found.device_total_mem);
  library.find("cuDeviceCanAccessPeer", found.device_can_access_peer);
  library.find("cuDeviceGetP2PAttribute", found.device_get_p2p_attribute);
  library.find("cuCtxCreate_v2", found.ctx_create);
  library.find("cuCtxDestroy_v2", found.ctx_destroy);
  library.find("cuCtxSetCurrent", found.ctx_set_current);
  library.find("cuCtxSynchronize", found.ctx_synchronize);
  library.find("cuCtxEnablePeerAccess", found.ctx_enable_peer_access);
  library.find("cuMemGetInfo_v2", found.mem_get_info);
  library.find("cuMemAlloc_v2", found.mem_alloc);
  library.find("cuMemFree_v2", found.mem_free);
  library.find("cuMemcpyHtoD_v2", found.memcpy_htod);
  library.find("cuMemcpyDtoH_v2", found.memcpy_dtoh);
  library.find("cuMemcpyDtoDAsync_v2", found.memcpy_dtod_async);
  library.find("cuStreamCreate", found.stream_create);
  library.find("cuStreamDestroy_v2", found.stream_destroy);
  library.find("cuStreamQuery", found.stream_query);
  library.find("cuStreamSynchronize", found.stream_synchronize);
  library.find("cuEventCreate", found.event_create);
  library.find("cuEventDestroy_v2", found.event_destroy);
  library.find("cuEventRecord", found.event_record);
  library.find("cuEventElapsedTime", found.event_elapsed_time);
  library.find("cuModuleLoadDataEx", found.module_load_data_ex);
  library.find("cuModuleUnload", found.module_unload);
  library.find("cuModuleGetFunction", found.module_get_function);
  library.find("cuLaunchKernel", found.launch_kernel);
  if (const auto whole = library.has_all(); !whole) return fail(whole.error());
  return found;
}

std::string uuid_text(const cuda::Uuid& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

/// As the kernel writes it: the driver has capitals, and eight digits for the domain in some
/// versions.
std::string bdf_text(std::string_view id) {
  std::string text;
  for (const char c : id)
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto colon = text.find(':');
  if (colon == 8 && text.starts_with("0000")) text.erase(0, 4);
  return text;
}

/// Loaders say it in these words where the library itself is absent.
bool says_absent(std::string_view error, std::string_view soname) {
  return error ==
         fmt::format("{}: cannot open shared object file: No such file or directory", soname);
}

}  // namespace

std::string CudaError::text() const {
  return fmt::format("{}: {} ({})", call, name, code);
}

Result<Cuda> Cuda::load(const std::string& soname) {
  auto library = SharedLibrary::load(soname);
  if (!library) {
    auto error = library.error();
    if (says_absent(error.message, soname)) error.code = Errc::not_found;
    return fail(std::move(error));
  }
  auto functions = find_functions(*library);
  if (!functions) return fail(functions.error());
  return Cuda(std::make_shared<const CudaFunctions>(*functions));
}

CudaResult<> Cuda::check(cuda::Code code, std::string_view call) const {
  if (code == cuda::success) return {};
  const char* name = nullptr;
  if (functions_->get_error_name(code, &name) != cuda::success || name == nullptr) {
    name = "unnamed error";
  }
  return tl::make_unexpected(CudaError{code, std::string(call), name});
}

CudaResult<> Cuda::init() const {
  return check(functions_->init(0), "cuInit");
}

int Cuda::version() const {
  int version = 0;
  return functions_->driver_get_version(&version) == cuda::success ? version : 0;
}

CudaResult<int> Cuda::device_count() const {
  int count = 0;
  if (auto done = check(functions_->device_get_count(&count), "cuDeviceGetCount"); !done) {
    return tl::make_unexpected(done.error());
  }
  return count;
}

CudaResult<Gpu> Cuda::device(int ordinal) const {
  const auto& f = *functions_;
  cuda::Device device = 0;
  cuda::Uuid uuid{};
  std::array<char, 64> bus_id{};
  std::array<char, 256> name{};
  std::size_t memory = 0;
  int major = 0;
  int minor = 0;
  int mode = 0;
  auto attribute = [&](int* value, int which) {
    return check(f.device_get_attribute(value, which, device), "cuDeviceGetAttribute");
  };
  auto done = check(f.device_get(&device, ordinal), "cuDeviceGet");
  if (done) done = check(f.device_get_uuid(&uuid, device), "cuDeviceGetUuid");
  if (done) {
    done =
        check(f.device_get_pci_bus_id(bus_id.data(), bus_id.size(), device), "cuDeviceGetPCIBusId");
  }
  if (done) done = check(f.device_get_name(name.data(), name.size(), device), "cuDeviceGetName");
  if (done) done = check(f.device_total_mem(&memory, device), "cuDeviceTotalMem");
  if (done) done = attribute(&major, cuda::attribute_capability_major);
  if (done) done = attribute(&minor, cuda::attribute_capability_minor);
  if (done) done = attribute(&mode, cuda::attribute_compute_mode);
  if (!done) return tl::make_unexpected(done.error());
  Gpu gpu;
  gpu.ordinal = ordinal;
  gpu.uuid = uuid_text(uuid);
  gpu.bdf = bdf_text(std::string_view(bus_id.data(), ::strnlen(bus_id.data(), bus_id.size())));
  gpu.name = std::string(name.data(), ::strnlen(name.data(), name.size()));
  gpu.memory = memory;
  gpu.compute_capability = major * 10 + minor;
  gpu.exclusive = mode == cuda::compute_mode_exclusive_process;
  gpu.prohibited = mode == cuda::compute_mode_prohibited;
  return gpu;
}

CudaResult<PeerAttributes> Cuda::peer_attributes(int source, int destination) const {
  const auto& f = *functions_;
  cuda::Device from = 0;
  cuda::Device to = 0;
  int can = 0;
  int supported = 0;
  int atomics = 0;
  int rank = 0;
  auto attribute = [&](int* value, int which) {
    return check(f.device_get_p2p_attribute(value, which, from, to), "cuDeviceGetP2PAttribute");
  };
  auto done = check(f.device_get(&from, source), "cuDeviceGet");
  if (done) done = check(f.device_get(&to, destination), "cuDeviceGet");
  if (done) done = check(f.device_can_access_peer(&can, from, to), "cuDeviceCanAccessPeer");
  if (done) done = attribute(&supported, cuda::peer_access_supported);
  if (done) done = attribute(&atomics, cuda::peer_native_atomics);
  if (done) done = attribute(&rank, cuda::peer_performance_rank);
  if (!done) return tl::make_unexpected(done.error());
  return PeerAttributes{source, destination, can != 0 && supported != 0, atomics != 0, rank};
}

CudaResult<Context> Context::create(const Cuda& cuda, int ordinal) {
  cuda::Device device = 0;
  cuda::ContextHandle handle = nullptr;
  auto done = cuda.check(cuda.functions().device_get(&device, ordinal), "cuDeviceGet");
  if (done) {
    // A waiting thread must not take a processor that another pair's needs.
    done = cuda.check(cuda.functions().ctx_create(&handle, cuda::context_schedule_blocking, device),
                      "cuCtxCreate");
  }
  if (!done) return tl::make_unexpected(done.error());
  return Context(cuda, device, handle);
}

Context::Context(Context&& other) noexcept
    : cuda_(std::move(other.cuda_)),
      device_(other.device_),
      handle_(std::exchange(other.handle_, nullptr)) {}

Context& Context::operator=(Context&& other) noexcept {
  std::swap(cuda_, other.cuda_);
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

Context::~Context() {
  if (handle_ != nullptr) cuda_.functions().ctx_destroy(handle_);
}

CudaResult<> Context::make_current() const {
  return cuda_.check(cuda_.functions().ctx_set_current(handle_), "cuCtxSetCurrent");
}

CudaResult<> Context::enable_peer_access(const Context& peer) const {
  if (auto done = make_current(); !done) return done;
  const auto code = cuda_.functions().ctx_enable_peer_access(peer.handle_, 0);
  if (code == cuda::peer_access_already_enabled) return {};
  return cuda_.check(code, "cuCtxEnablePeerAccess");
}

CudaResult<std::uint64_t> Context::free_memory() const {
  std::size_t free = 0;
  std::size_t total = 0;
  auto done = make_current();
  if (done) done = cuda_.check(cuda_.functions().mem_get_info(&free, &total), "cuMemGetInfo");
  if (!done) return tl::make_unexpected(done.error());
  return free;
}

CudaResult<int> Context::multiprocessors() const {
  int count = 0;
  auto done = cuda_.check(
      cuda_.functions().device_get_attribute(&count, cuda::attribute_multiprocessors, device_),
      "cuDeviceGetAttribute");
  if (!done) return tl::make_unexpected(done.error());
  return count;
}

CudaResult<> Context::synchronize() const {
  if (auto done = make_current(); !done) return done;
  return cuda_.check(cuda_.functions().ctx_synchronize(), "cuCtxSynchronize");
}

CudaResult<> Context::to_device(cuda::Address to, std::span<const std::byte> from) const {
  if (auto done = make_current(); !done) return done;
  auto done =
      cuda_.check(cuda_.functions().memcpy_htod(to, from.data(), from.size()), "cuMemcpyHtoD");
  // For pageable memory the call may return before the last piece has arrived.
  return done ? cuda_.check(cuda_.functions().ctx_synchronize(), "cuCtxSynchronize") : done;
}

CudaResult<> Context::to_host(std::span<std::byte> to, cuda::Address from) const {
  if (auto done = make_current(); !done) return done;
  return cuda_.check(cuda_.functions().memcpy_dtoh(to.data(), from, to.size()), "cuMemcpyDtoH");
}

CudaResult<> Context::device_to_device(cuda::Address to, cuda::Address from,
                                       std::uint64_t bytes) const {
  if (auto done = make_current(); !done) return done;
  auto done = cuda_.check(cuda_.functions().memcpy_dtod_async(to, from, bytes, nullptr),
                          "cuMemcpyDtoDAsync");
  return done ? cuda_.check(cuda_.functions().ctx_synchronize(), "cuCtxSynchronize") : done;
}

CudaResult<DeviceMemory> DeviceMemory::allocate(const Context& owner, std::uint64_t bytes) {
  cuda::Address address = 0;
  auto done = owner.make_current();
  if (done) {
    done = owner.cuda().check(owner.cuda().functions().mem_alloc(&address, bytes), "cuMemAlloc");
  }
  if (!done) return tl::make_unexpected(done.error());
  return DeviceMemory(owner, address, bytes);
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : owner_(other.owner_),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (address_ == 0 || !owner_->make_current()) return;
  owner_->cuda().functions().mem_free(address_);
}

CudaResult<CudaStream> CudaStream::create(const Context& context) {
  const auto& f = context.cuda().functions();
  CudaStream stream(context, nullptr, nullptr, nullptr);
  auto done = context.make_current();
  if (done) {
    done = context.cuda().check(f.stream_create(&stream.handle_, cuda::stream_non_blocking),
                                "cuStreamCreate");
  }
  for (auto* event : {&stream.first_, &stream.second_}) {
    if (done) done = context.cuda().check(f.event_create(event, 0), "cuEventCreate");
  }
  if (!done) return tl::make_unexpected(done.error());
  return stream;
}

CudaStream::CudaStream(CudaStream&& other) noexcept
    : context_(other.context_),
      handle_(std::exchange(other.handle_, nullptr)),
      first_(std::exchange(other.first_, nullptr)),
      second_(std::exchange(other.second_, nullptr)) {}

CudaStream& CudaStream::operator=(CudaStream&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  std::swap(first_, other.first_);
  std::swap(second_, other.second_);
  return *this;
}

CudaStream::~CudaStream() {
  if ((handle_ == nullptr && first_ == nullptr && second_ == nullptr) ||
      !context_->make_current()) {
    return;
  }
  const auto& f = context_->cuda().functions();
  for (auto* event : {first_, second_}) {
    if (event != nullptr) f.event_destroy(event);
  }
  if (handle_ != nullptr) f.stream_destroy(handle_);
}

CudaResult<> CudaStream::copy(cuda::Address to, cuda::Address from, std::uint64_t bytes) const {
  if (auto done = context_->make_current(); !done) return done;
  return context_->cuda().check(
      context_->cuda().functions().memcpy_dtod_async(to, from, bytes, handle_),
      "cuMemcpyDtoDAsync");
}

CudaResult<> CudaStream::begin_timing() const {
  if (auto done = context_->make_current(); !done) return done;
  return context_->cuda().check(context_->cuda().functions().event_record(first_, handle_),
                                "cuEventRecord");
}

CudaResult<> CudaStream::end_timing() const {
  if (auto done = context_->make_current(); !done) return done;
  return context_->cuda().check(context_->cuda().functions().event_record(second_, handle_),
                                "cuEventRecord");
}

CudaResult<double> CudaStream::elapsed() const {
  float milliseconds = 0;
  auto done = synchronize();
  if (done) {
    done = context_->cuda().check(
        context_->cuda().functions().event_elapsed_time(&milliseconds, first_, second_),
        "cuEventElapsedTime");
  }
  if (!done) return tl::make_unexpected(done.error());
  return static_cast<double>(milliseconds) / 1000;
}

CudaResult<> CudaStream::synchronize() const {
  if (auto done = context_->make_current(); !done) return done;
  return context_->cuda().check(context_->cuda().functions().stream_synchronize(handle_),
                                "cuStreamSynchronize");
}

CudaResult<bool> CudaStream::is_done() const {
  if (auto done = context_->make_current(); !done) return tl::make_unexpected(done.error());
  const auto code = context_->cuda().functions().stream_query(handle_);
  if (code == cuda::not_ready) return false;
  if (auto done = context_->cuda().check(code, "cuStreamQuery"); !done) {
    return tl::make_unexpected(done.error());
  }
  return true;
}

}  // namespace peerpath::gpu

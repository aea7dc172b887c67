// SPDX-License-Identifier: GPL-2.0-or-later
// The CUDA driver, loaded by name into this very process: only for peerpath-p2p-worker. Each error
// names the call.
#pragma once

#include "base/result.hpp"
#include "gpu/cuda_abi.hpp"
#include "gpu/selftest/result.hpp"

#include <tl/expected.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace peerpath::gpu {

/// A call of the driver that failed.
struct CudaError {
  cuda::Code code = cuda::unknown;
  std::string call;  ///< "cuMemAlloc"
  std::string name;  ///< "CUDA_ERROR_OUT_OF_MEMORY"

  /// "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)"
  [[nodiscard]] std::string text() const;
};
template <class T = void>
using CudaResult = tl::expected<T, CudaError>;

/// The functions, by the names without suffix.
struct CudaFunctions;

/// The driver. Cheap to copy: all copies are the same library.
class Cuda {
 public:
  /// Errors: not_found where there's no such library; unsupported where it can't be loaded or lacks
  /// a function.
  [[nodiscard]] static Result<Cuda> load(const std::string& soname = "libcuda.so.1");

  [[nodiscard]] CudaResult<> init() const;
  [[nodiscard]] int version() const;  ///< 1000 × major + 10 × minor; 0 where it doesn't say
  [[nodiscard]] CudaResult<int> device_count() const;
  [[nodiscard]] CudaResult<Gpu> device(int ordinal) const;  ///< but for its free memory
  [[nodiscard]] CudaResult<PeerAttributes> peer_attributes(int source, int destination) const;

  /// For the classes below.
  [[nodiscard]] const CudaFunctions& functions() const { return *functions_; }
  [[nodiscard]] CudaResult<> check(cuda::Code code, std::string_view call) const;

 private:
  explicit Cuda(std::shared_ptr<const CudaFunctions> functions)
      : functions_(std::move(functions)) {}
  std::shared_ptr<const CudaFunctions> functions_;
};

/// A context of one GPU. Every function makes it current first: which context is current decides
/// whose copy engine works and through whose window is read.
class Context {
 public:
  [[nodiscard]] static CudaResult<Context> create(const Cuda& cuda, int ordinal);
  Context(Context&& other) noexcept;
  Context& operator=(Context&& other) noexcept;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  [[nodiscard]] const Cuda& cuda() const { return cuda_; }
  [[nodiscard]] cuda::ContextHandle handle() const { return handle_; }
  [[nodiscard]] CudaResult<> make_current() const;
  /// Enabled already counts as success.
  [[nodiscard]] CudaResult<> enable_peer_access(const Context& peer) const;
  [[nodiscard]] CudaResult<std::uint64_t> free_memory() const;
  [[nodiscard]] CudaResult<int> multiprocessors() const;
  /// Waits for all that was launched in this context.
  [[nodiscard]] CudaResult<> synchronize() const;

  // Copies are made in this context and have been carried out when these return.
  [[nodiscard]] CudaResult<> to_device(cuda::Address to, std::span<const std::byte> from) const;
  [[nodiscard]] CudaResult<> to_host(std::span<std::byte> to, cuda::Address from) const;
  [[nodiscard]] CudaResult<> device_to_device(cuda::Address to, cuda::Address from,
                                              std::uint64_t bytes) const;

 private:
  Context(Cuda cuda, cuda::Device device, cuda::ContextHandle handle)
      : cuda_(std::move(cuda)), device_(device), handle_(handle) {}
  Cuda cuda_;
  cuda::Device device_ = 0;
  cuda::ContextHandle handle_ = nullptr;
};

/// Memory of a context's GPU. The context must outlive it.
class DeviceMemory {
 public:
  [[nodiscard]] static CudaResult<DeviceMemory> allocate(const Context& owner, std::uint64_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  [[nodiscard]] cuda::Address address() const { return address_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  DeviceMemory(const Context& owner, cuda::Address address, std::uint64_t bytes)
      : owner_(&owner), address_(address), bytes_(bytes) {}
  const Context* owner_ = nullptr;
  cuda::Address address_ = 0;
  std::uint64_t bytes_ = 0;
};

/// A stream of a context, non-blocking, with two events to time by. The context must outlive it.
class CudaStream {
 public:
  [[nodiscard]] static CudaResult<CudaStream> create(const Context& context);
  CudaStream(CudaStream&& other) noexcept;
  CudaStream& operator=(CudaStream&& other) noexcept;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream();

  [[nodiscard]] cuda::StreamHandle handle() const { return handle_; }
  [[nodiscard]] const Context& context() const { return *context_; }
  [[nodiscard]] CudaResult<> copy(cuda::Address to, cuda::Address from, std::uint64_t bytes) const;
  [[nodiscard]] CudaResult<> begin_timing() const;
  [[nodiscard]] CudaResult<> end_timing() const;
  /// Seconds between the two, once all is carried out.
  [[nodiscard]] CudaResult<double> elapsed() const;
  [[nodiscard]] CudaResult<> synchronize() const;
  [[nodiscard]] CudaResult<bool> is_done() const;

 private:
  CudaStream(const Context& context, cuda::StreamHandle handle, cuda::EventHandle first,
             cuda::EventHandle second)
      : context_(&context), handle_(handle), first_(first), second_(second) {}
  const Context* context_ = nullptr;
  cuda::StreamHandle handle_ = nullptr;
  cuda::EventHandle first_ = nullptr;
  cuda::EventHandle second_ = nullptr;
};

/// The device code (kernels/parameters.hpp), loaded into a context. The context must outlive it.
class Kernels {
 public:
  /// Whether this build has device code.
  [[nodiscard]] static bool are_built_in();
  /// Errors: the driver's, for one that is too old for the code, or a GPU that is. The text has the
  /// driver's own log where it gives one.
  [[nodiscard]] static CudaResult<Kernels> load(const Context& context);
  Kernels(Kernels&& other) noexcept;
  Kernels& operator=(Kernels&& other) noexcept;
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;
  ~Kernels();

  /// Launches by the kernel's name (kernels/parameters.hpp); `parameters` is its structure. Returns
  /// without waiting for its end.
  template <class Parameters>
  [[nodiscard]] CudaResult<> launch(const CudaStream& stream, const char* name, unsigned grid,
                                    unsigned block, Parameters parameters) const {
    return launch_raw(stream, name, grid, block, &parameters);
  }
  /// A grid that fills this GPU, for blocks of 256 threads.
  [[nodiscard]] unsigned full_grid() const { return full_grid_; }

 private:
  Kernels(const Context& context, cuda::ModuleHandle module, unsigned full_grid)
      : context_(&context), module_(module), full_grid_(full_grid) {}
  [[nodiscard]] CudaResult<> launch_raw(const CudaStream& stream, const char* name, unsigned grid,
                                        unsigned block, void* parameters) const;
  const Context* context_ = nullptr;
  cuda::ModuleHandle module_ = nullptr;
  unsigned full_grid_ = 0;
};

}  // namespace peerpath::gpu

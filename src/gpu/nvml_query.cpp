// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/nvml_query.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace peerpath::gpu {
namespace {

constexpr auto note_text = std::to_array(
    R"([{"feature":"nvml","description":"Asks which GPUs may reach each other's memory",)"
    R"("priority":"suggested","soname":["libnvidia-ml.so.1"]}])");
[[gnu::used,
  gnu::section(".note.dlopen")]] alignas(4) constexpr DlopenNote<note_text.size()> dlopen_note{
    .text = note_text};

using Switch = NvmlAnswer::Switch;

/// The library's functions, and the answer that's being put together. Each step returns whether
/// the next one makes sense; where it doesn't, the answer says why.
class Asking {
 public:
  explicit Asking(NvmlAnswer& answer) : answer_(answer) {}

  bool find_functions(SharedLibrary& library) {
    library.find("nvmlInit_v2", init_);
    library.find("nvmlErrorString", error_string_);
    library.find("nvmlDeviceGetCount_v2", get_count_);
    library.find("nvmlDeviceGetHandleByIndex_v2", get_handle_);
    library.find("nvmlDeviceGetPciInfo_v3", get_pci_info_);
    library.find("nvmlDeviceGetMemoryInfo", get_memory_info_);
    library.find("nvmlDeviceGetP2PStatus", get_p2p_status_);
    if (const auto whole = library.has_all(); !whole) {
      answer_.say(DriverOutcome::unusable, whole.error().message);
      return false;
    }
    for (const char* name :
         {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
          "nvmlDeviceGetComputeRunningProcesses"}) {
      if (get_processes_ == nullptr) library.find(name, get_processes_);
    }
    // Came with the drivers 450 and 525: without them there is no such thing.
    library.find("nvmlDeviceGetMigMode", get_mig_mode_);
    library.find("nvmlSystemGetConfComputeState", get_cc_state_);
    return true;
  }

  bool count() {
    if (!good("nvmlInit_v2", init_())) return false;
    if (!good("nvmlDeviceGetCount_v2", get_count_(&answer_.count))) return false;
    if (answer_.count <= NvmlAnswer::most) return true;
    answer_.say(DriverOutcome::call_failed,
                fmt::format("nvmlDeviceGetCount_v2: {} GPUs, more than the {} that can be told of",
                            answer_.count, NvmlAnswer::most));
    return false;
  }

  bool ask_gpu(unsigned index) {
    auto& gpu = answer_.gpus[index];
    auto& handle = handles_[index];
    const auto of_gpu = [&](const char* call) { return fmt::format("{} of GPU {}", call, index); };
    nvml::PciInfo pci{};
    if (!good(of_gpu("nvmlDeviceGetHandleByIndex_v2"), get_handle_(index, &handle)) ||
        !good(of_gpu("nvmlDeviceGetPciInfo_v3"), get_pci_info_(handle, &pci))) {
      return false;
    }
    const std::string_view bus_id(pci.bus_id, ::strnlen(pci.bus_id, sizeof pci.bus_id));
    const auto bdf = kernel_address(bus_id);
    if (!bdf) {
      answer_.say(DriverOutcome::call_failed,
                  fmt::format("{}: '{}' is no PCI address", of_gpu("nvmlDeviceGetPciInfo_v3"),
                              printable(bus_id)));
      return false;
    }
    bdf->copy(gpu.bdf, sizeof gpu.bdf - 1);
    nvml::Memory memory{};
    bool known = false;
    if (!asks(of_gpu("nvmlDeviceGetMemoryInfo"), get_memory_info_(handle, &memory), known)) {
      return false;
    }
    gpu.memory = known ? memory.total : 0;
    ask_processes(handle, gpu);
    return ask_mig(handle, of_gpu("nvmlDeviceGetMigMode"), gpu.mig);
  }

  /// A pair that the library can't tell of is unknown by itself; the others stay known.
  void ask_pair(unsigned from, unsigned to) {
    auto& peer = answer_.peers[from][to];
    for (unsigned i = 0; i < nvml::capabilities; ++i) {
      auto& status = peer.status[i];
      const auto code =
          get_p2p_status_(handles_[from], handles_[to], static_cast<nvml::Capability>(i), &status);
      if (code != nvml::success) status = nvml::PeerStatus::unknown;
    }
  }

  bool ask_confidential_computing() {
    if (get_cc_state_ == nullptr) return true;
    nvml::ConfComputeState state{};
    bool known = false;
    if (!asks("nvmlSystemGetConfComputeState", get_cc_state_(&state), known)) return false;
    if (known) answer_.confidential_computing = state.feature != 0 ? Switch::on : Switch::off;
    return true;
  }

 private:
  /// A library that can't tell is no failure.
  void ask_processes(nvml::Device handle, NvmlAnswer::Gpu& gpu) {
    if (get_processes_ == nullptr) return;
    const auto code = get_processes_(handle, &gpu.processes, nullptr);
    gpu.processes_known = code == nvml::success || code == nvml::insufficient_size;
  }

  bool ask_mig(nvml::Device handle, const std::string& call, Switch& mig) {
    if (get_mig_mode_ == nullptr) return true;
    unsigned int current = 0;
    unsigned int pending = 0;
    bool known = false;
    if (!asks(call, get_mig_mode_(handle, &current, &pending), known)) return false;
    if (known) mig = current != 0 ? Switch::on : Switch::off;
    return true;
  }

  /// The same for a call that a GPU or driver may not support: that's no failure.
  bool asks(const std::string& call, nvml::Code code, bool& known) {
    known = code == nvml::success;
    return code == nvml::not_supported || code == nvml::function_not_found || good(call, code);
  }

  bool good(const std::string& call, nvml::Code code) {
    if (code == nvml::success) return true;
    const char* text = error_string_(code);
    answer_.code = code;
    answer_.say(DriverOutcome::call_failed,
                fmt::format("{}: {} ({})", call, text == nullptr ? "unnamed error" : text, code));
    return false;
  }

  NvmlAnswer& answer_;
  std::array<nvml::Device, NvmlAnswer::most> handles_{};
  nvml::Init init_ = nullptr;
  nvml::ErrorString error_string_ = nullptr;
  nvml::DeviceGetCount get_count_ = nullptr;
  nvml::DeviceGetHandleByIndex get_handle_ = nullptr;
  nvml::DeviceGetPciInfo get_pci_info_ = nullptr;
  nvml::DeviceGetMemoryInfo get_memory_info_ = nullptr;
  nvml::DeviceGetMigMode get_mig_mode_ = nullptr;
  nvml::DeviceGetComputeRunningProcesses get_processes_ = nullptr;
  nvml::DeviceGetP2PStatus get_p2p_status_ = nullptr;
  nvml::SystemGetConfComputeState get_cc_state_ = nullptr;
};

void ask(SharedLibrary& library, NvmlAnswer& answer) {
  Asking asking(answer);
  if (!asking.find_functions(library) || !asking.count()) return;
  for (unsigned i = 0; i < answer.count; ++i) {
    if (!asking.ask_gpu(i)) return;
  }
  for (unsigned from = 0; from < answer.count; ++from) {
    for (unsigned to = 0; to < answer.count; ++to) {
      if (from != to) asking.ask_pair(from, to);
    }
  }
  if (!asking.ask_confidential_computing()) return;
  answer.say(DriverOutcome::answered, fmt::format("nvmlDeviceGetCount_v2: {}", answer.count));
}

}  // namespace

std::optional<std::string> kernel_address(std::string_view bus_id) {
  const auto parts = split(bus_id, ':');
  if (parts.size() != 3) return std::nullopt;
  const auto slot = split(parts[2], '.');
  if (slot.size() != 2) return std::nullopt;
  const auto domain = parse_number(parts[0], 16);
  const auto bus = parse_number(parts[1], 16);
  const auto device = parse_number(slot[0], 16);
  const auto function = parse_number(slot[1], 16);
  if (!domain || !bus || !device || !function) return std::nullopt;
  if (*domain > 0xffffffff || *bus > 0xff || *device > 0x1f || *function > 7) return std::nullopt;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *domain, *bus, *device, *function);
}

NvmlAnswer ask_management_library(const std::string& soname) {
  NvmlAnswer answer;
  if (auto library = load_to_ask(soname, answer)) ask(*library, answer);
  return answer;
}

}  // namespace peerpath::gpu

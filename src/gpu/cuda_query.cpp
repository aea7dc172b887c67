// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/cuda_query.hpp"

#include "base/shared_library.hpp"
#include "gpu/cuda_abi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace peerpath::gpu {
namespace {

constexpr auto note_text = std::to_array(
    R"([{"feature":"cuda","description":"Counts GPUs for the peer-to-peer self-test",)"
    R"("priority":"suggested","soname":["libcuda.so.1"]}])");
[[gnu::used,
  gnu::section(".note.dlopen")]] alignas(4) constexpr DlopenNote<note_text.size()> dlopen_note{
    .text = note_text};

struct Driver {
  cuda::Init init = nullptr;
  cuda::DriverGetVersion driver_get_version = nullptr;
  cuda::DeviceGetCount device_get_count = nullptr;
  cuda::GetErrorName get_error_name = nullptr;
};

/// Errors: unsupported where the library lacks one that we need.
Result<Driver> find_functions(SharedLibrary& library) {
  Driver driver;
  library.find("cuInit", driver.init);
  library.find("cuDriverGetVersion", driver.driver_get_version);
  library.find("cuDeviceGetCount", driver.device_get_count);
  if (const auto whole = library.has_all(); !whole) return fail(whole.error());
  // Came with CUDA 6.0: without it errors have numbers only.
  library.find("cuGetErrorName", driver.get_error_name);
  return driver;
}

Answer failed(Answer answer, DriverOutcome outcome, std::string_view detail) {
  answer.outcome = outcome;
  set_detail(answer, detail);
  return answer;
}

Answer failed_call(Answer answer, const Driver& driver, std::string_view call, cuda::Code code) {
  const char* name = nullptr;
  if (driver.get_error_name == nullptr || driver.get_error_name(code, &name) != cuda::success ||
      name == nullptr) {
    name = "unnamed error";
  }
  answer.code = code;
  return failed(answer, DriverOutcome::call_failed, fmt::format("{}: {} ({})", call, name, code));
}

/// The loader says this of the library itself where it's absent; of another file where the
/// library is there and needs one that is absent.
bool says_absent(std::string_view error, const std::string& library) {
  return error == library + ": cannot open shared object file: No such file or directory";
}

}  // namespace

void set_detail(Answer& answer, std::string_view text) {
  const auto length = std::min(text.size(), sizeof(answer.detail) - 1);
  std::copy_n(text.data(), length, answer.detail);
  answer.detail[length] = '\0';
}

Answer ask_driver(const std::string& library) {
  Answer answer;
  auto loaded = SharedLibrary::load(library);
  if (!loaded) {
    const auto& text = loaded.error().message;
    return failed(answer,
                  says_absent(text, library) ? DriverOutcome::no_driver : DriverOutcome::unusable,
                  text);
  }
  const auto functions = find_functions(*loaded);
  if (!functions) return failed(answer, DriverOutcome::unusable, functions.error().message);
  const auto& driver = *functions;

  // Needs no cuInit, so that the version is known also where that fails.
  if (driver.driver_get_version(&answer.version) != cuda::success) answer.version = 0;
  if (const auto code = driver.init(0); code != cuda::success) {
    answer = failed_call(answer, driver, "cuInit", code);
    if (code == cuda::no_device) answer.outcome = DriverOutcome::counted;
    return answer;
  }
  if (const auto code = driver.device_get_count(&answer.devices); code != cuda::success) {
    answer.devices = 0;
    return failed_call(answer, driver, "cuDeviceGetCount", code);
  }
  return failed(answer, DriverOutcome::counted,
                fmt::format("cuDeviceGetCount: {}", answer.devices));
}

}  // namespace peerpath::gpu

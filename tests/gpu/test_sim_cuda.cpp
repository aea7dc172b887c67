// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/cuda_abi.hpp"
#include "support/catch.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace peerpath::gpu;

namespace {

constexpr std::size_t size = 4096;

/// In a child: GPU 0 copies D to GPU 1, whose memory holds P. 16 × what the owner has in hex-like
/// codes (0 zeros, 1 P, 2 D, 3 other) plus what GPU 0 sees through its window; 64: a call failed.
int copied(const std::string& knob) {
  const std::string build =
      std::string(PEERPATH_BINARY).substr(0, std::string(PEERPATH_BINARY).rfind('/'));
  std::string path = "/tmp/sim-cuda-XXXXXX";
  close(mkstemp(path.data()));
  std::ifstream two(std::string(PEERPATH_TESTS_DIR) + "/sim-cuda/topologies/two.conf");
  std::ofstream(path) << two.rdbuf() << knob << '\n';
  const pid_t child = fork();
  if (child == 0) {
    // Catch would report an abort that is asked for.
    signal(SIGABRT, SIG_DFL);
    setenv("PEERPATH_SIM_CUDA", path.c_str(), 1);
    void* const library = dlopen((build + "/tests/sim-cuda/libcuda.so.1").c_str(), RTLD_NOW);
    if (library == nullptr) _exit(65);
    const auto call = [library]<class F>(F, const char* name, auto... arguments) {
      if (reinterpret_cast<F>(dlsym(library, name))(arguments...) != 0) _exit(64);
    };
    call(cuda::Init{}, "cuInit", 0U);
    std::array<cuda::ContextHandle, 2> context{};
    std::array<cuda::Address, 2> memory{};
    std::array<char, size> data{};
    for (int i = 0; i < 2; ++i) {
      call(cuda::CtxCreate{}, "cuCtxCreate_v2", &context[i], 0U, i);
      call(cuda::MemAlloc{}, "cuMemAlloc_v2", &memory[i], size);
      data.fill(i == 0 ? 'D' : 'P');
      call(cuda::MemcpyHtoD{}, "cuMemcpyHtoD_v2", memory[i], static_cast<const void*>(data.data()),
           size);
    }
    const auto look = [&](int i) {
      call(cuda::CtxSetCurrent{}, "cuCtxSetCurrent", context[i]);
      call(cuda::MemcpyDtoH{}, "cuMemcpyDtoH_v2", static_cast<void*>(data.data()), memory[i], size);
      return data[8] == 0 ? 0 : data[8] == 'P' ? 1 : data[8] == 'D' ? 2 : 3;
    };
    call(cuda::CtxSetCurrent{}, "cuCtxSetCurrent", context[0]);
    call(cuda::CtxEnablePeerAccess{}, "cuCtxEnablePeerAccess", context[1], 0U);
    const cuda::StreamHandle none = nullptr;
    call(cuda::MemcpyDtoDAsync{}, "cuMemcpyDtoDAsync_v2", memory[1], memory[0], size, none);
    call(cuda::CtxSynchronize{}, "cuCtxSynchronize");
    const int owner = look(1);
    call(cuda::CtxSetCurrent{}, "cuCtxSetCurrent", context[0]);
    call(cuda::MemcpyDtoDAsync{}, "cuMemcpyDtoDAsync_v2", memory[0], memory[1], size, none);
    call(cuda::CtxSynchronize{}, "cuCtxSynchronize");
    _exit(16 * owner + look(0));
  }
  int status = 0;
  waitpid(child, &status, 0);
  unlink(path.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("simulated driver: a copy to a peer under each knob → what owner and window hold") {
  CHECK(copied("") == 0x22);
  CHECK(copied("knob mirror from=gpu0 to=gpu1") == 0x12);
  CHECK(copied("knob zeros op=ce-write") == 0x00);
  CHECK(copied("knob never-written op=ce-write") == 0x11);
  CHECK(copied("knob all-ones op=ce-write") == 0x33);
  CHECK(copied("knob zeros op=ce-read") == 0x20);
  CHECK(copied("knob zeros min-bytes=8192") == 0x22);
  CHECK(copied("knob error code=719") == 64);
  CHECK(copied("knob abort") == -SIGABRT);
  CHECK(copied("nonsense") == 64);
}

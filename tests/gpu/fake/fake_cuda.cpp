// SPDX-License-Identifier: GPL-2.0-or-later
// Stands in for libcuda.so.1. How it behaves is decided when it's compiled:
// FAKE_DEVICES, FAKE_INIT (cuInit's result), FAKE_COUNT (cuDeviceGetCount's result), FAKE_HANG,
// FAKE_ABORT, FAKE_EXIT, FAKE_NO_COUNT, FAKE_NO_NAMES, FAKE_NOISY, FAKE_HIDES.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#ifndef FAKE_DEVICES
#define FAKE_DEVICES 0
#endif
#ifndef FAKE_INIT
#define FAKE_INIT 0
#endif
#ifndef FAKE_COUNT
#define FAKE_COUNT 0
#endif

extern "C" {

unsigned cuInit(unsigned) {
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

unsigned cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}

#ifndef FAKE_NO_COUNT
unsigned cuDeviceGetCount(int* count) {
#ifdef FAKE_HIDES
  *count = std::getenv("CUDA_VISIBLE_DEVICES") == nullptr ? FAKE_DEVICES : 0;
#else
  *count = FAKE_DEVICES;
#endif
  return FAKE_COUNT;
}
#endif

#ifndef FAKE_NO_NAMES
unsigned cuGetErrorName(unsigned error, const char** name) {
  switch (error) {
    case 100:
      *name = "CUDA_ERROR_NO_DEVICE";
      return 0;
    case 802:
      *name = "CUDA_ERROR_SYSTEM_NOT_READY";
      return 0;
    default:
      *name = nullptr;
      return 1;
  }
}
#endif
}

# SPDX-License-Identifier: GPL-2.0-or-later
# Included where PEERPATH_SM_KERNELS is ON. Finds nvcc in the order CMAKE_CUDA_COMPILER,
# CUDAToolkit_ROOT, PATH, CUDA_PATH, /usr/local/cuda, and checks our declarations of the
# driver interface against the toolkit's.
set(peerpath_no_toolkit "PEERPATH_SM_KERNELS=ON needs nvcc and cuda.h of the CUDA Toolkit, which were \
not found. Install the CUDA Toolkit (on Debian the package nvidia-cuda-toolkit of the non-free \
section), name its compiler with -DCMAKE_CUDA_COMPILER=/path/to/nvcc, or configure with \
-DPEERPATH_SM_KERNELS=OFF.")

if(CMAKE_CUDA_COMPILER AND NOT CUDAToolkit_ROOT)
  find_program(peerpath_named_nvcc NAMES ${CMAKE_CUDA_COMPILER} NO_CACHE)
  if(NOT peerpath_named_nvcc)
    message(FATAL_ERROR "CMAKE_CUDA_COMPILER is '${CMAKE_CUDA_COMPILER}', which isn't there. "
                        "${peerpath_no_toolkit}")
  endif()
  get_filename_component(peerpath_nvcc_real ${peerpath_named_nvcc} REALPATH)
  get_filename_component(peerpath_nvcc_dir ${peerpath_nvcc_real} DIRECTORY)
  get_filename_component(CUDAToolkit_ROOT ${peerpath_nvcc_dir} DIRECTORY)
endif()
find_package(CUDAToolkit QUIET)
if(NOT CUDAToolkit_FOUND OR NOT EXISTS "${CUDAToolkit_NVCC_EXECUTABLE}")
  message(FATAL_ERROR "${peerpath_no_toolkit}")
endif()
find_file(PEERPATH_CUDA_H cuda.h PATHS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
mark_as_advanced(PEERPATH_CUDA_H)
if(NOT PEERPATH_CUDA_H)
  message(FATAL_ERROR "${peerpath_no_toolkit}")
endif()
message(STATUS "CUDA Toolkit ${CUDAToolkit_VERSION}: ${CUDAToolkit_NVCC_EXECUTABLE}")

target_sources(peerpath_gpu PRIVATE ${CMAKE_CURRENT_LIST_DIR}/abi/cuda_abi_check.cpp)
get_filename_component(peerpath_cuda_include ${PEERPATH_CUDA_H} DIRECTORY)
# Only for that file: nothing else may come to depend on cuda.h.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/abi/cuda_abi_check.cpp PROPERTIES
  COMPILE_OPTIONS "-isystem;${peerpath_cuda_include}")

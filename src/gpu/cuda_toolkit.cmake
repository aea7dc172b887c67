# SPDX-License-Identifier: GPL-2.0-or-later
# Included where PEERPATH_SM_KERNELS is ON. Finds nvcc in the order CMAKE_CUDA_COMPILER,
# CUDAToolkit_ROOT, PATH, CUDA_PATH, /usr/local/cuda, builds the device code in, and checks our
# declarations of the driver interface against the toolkit's.
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

# The device code. Old toolkits still know GPUs that lack acquire and release.
execute_process(COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} --list-gpu-arch
  OUTPUT_VARIABLE peerpath_architectures RESULT_VARIABLE peerpath_failed)
string(REGEX MATCHALL "compute_[0-9]+" peerpath_architectures "${peerpath_architectures}")
list(TRANSFORM peerpath_architectures REPLACE "compute_" "")
list(SORT peerpath_architectures COMPARE NATURAL)
list(FILTER peerpath_architectures EXCLUDE REGEX "^[1-6][0-9]$")
find_program(PEERPATH_PTXAS ptxas HINTS ${CUDAToolkit_BIN_DIR})
mark_as_advanced(PEERPATH_PTXAS)
if(peerpath_failed OR NOT peerpath_architectures OR NOT PEERPATH_PTXAS)
  message(FATAL_ERROR "${CUDAToolkit_NVCC_EXECUTABLE} lists no architecture from compute_70 on, or "
                      "ptxas is missing. ${peerpath_no_toolkit}")
endif()
list(GET peerpath_architectures 0 peerpath_lowest)
message(STATUS "Device code for every GPU from sm_70 on, tried for ${peerpath_architectures}")
set(peerpath_kernels ${CMAKE_CURRENT_BINARY_DIR}/kernels)
set(peerpath_assemble)
foreach(architecture ${peerpath_architectures})
  list(APPEND peerpath_assemble COMMAND ${PEERPATH_PTXAS} -arch=sm_${architecture}
    ${peerpath_kernels}.ptx -o ${peerpath_kernels}.cubin)
endforeach()
file(GLOB peerpath_kernel_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/kernels/*.hpp)
add_custom_command(OUTPUT ${peerpath_kernels}.inc
  COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++17 -ptx -arch=compute_${peerpath_lowest}
    -I${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_LIST_DIR}/kernels/kernels.cu
    -o ${peerpath_kernels}.nvcc.ptx
  COMMAND ${CMAKE_COMMAND} -DINPUT=${peerpath_kernels}.nvcc.ptx -DPTX=${peerpath_kernels}.ptx
    -DOUTPUT=${peerpath_kernels}.new -P ${CMAKE_CURRENT_LIST_DIR}/embed_ptx.cmake
  ${peerpath_assemble}
  # Last, so that what ptxas refuses is never taken for done.
  COMMAND ${CMAKE_COMMAND} -E rename ${peerpath_kernels}.new ${peerpath_kernels}.inc
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/kernels/kernels.cu ${peerpath_kernel_headers}
    ${CMAKE_CURRENT_LIST_DIR}/embed_ptx.cmake
  COMMENT "Device code: kernels.cu" VERBATIM)
target_sources(peerpath_gpu PRIVATE ${peerpath_kernels}.inc)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/kernels/image.cpp PROPERTIES
  COMPILE_DEFINITIONS PEERPATH_KERNEL_IMAGE="${peerpath_kernels}.inc"
  OBJECT_DEPENDS ${peerpath_kernels}.inc)

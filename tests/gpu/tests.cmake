# SPDX-License-Identifier: GPL-2.0-or-later
# Fakes of the management library, one library for each behaviour.
function(peerpath_fake_nvml name)
  set(target fake_nvml_${name})
  add_library(${target} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/gpu/fake/fake_nvml.cpp)
  set_target_properties(${target} PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_nvml)
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/include/gpu)
  target_compile_definitions(${target} PRIVATE ${ARGN})
  add_dependencies(test_gpu ${target})
endfunction()

peerpath_fake_nvml(four)
peerpath_fake_nvml(none FAKE_COUNT=0)
peerpath_fake_nvml(many FAKE_COUNT=65)
peerpath_fake_nvml(mig FAKE_MIG=1)
peerpath_fake_nvml(no_mig FAKE_MIG_CODE=3 FAKE_CC_CODE=3 FAKE_MEMORY_CODE=3)
peerpath_fake_nvml(mig_fails FAKE_MIG_CODE=15)
peerpath_fake_nvml(busy FAKE_PROCESSES=2)
peerpath_fake_nvml(busy_fails FAKE_PROCESSES_CODE=4)
peerpath_fake_nvml(cc FAKE_CC=1)
peerpath_fake_nvml(cc_fails FAKE_CC_CODE=4)
peerpath_fake_nvml(asymmetric FAKE_ASYMMETRIC)
peerpath_fake_nvml(pair_fails FAKE_PAIR_CODE=15)
foreach(status 1 2 3 4 5 6 7)
  peerpath_fake_nvml(status_${status} FAKE_STATUS=${status})
endforeach()
peerpath_fake_nvml(mismatch FAKE_INIT=18)
peerpath_fake_nvml(no_permission FAKE_INIT=4)
peerpath_fake_nvml(unnamed FAKE_INIT=4711)
peerpath_fake_nvml(lost FAKE_HANDLE=15)
peerpath_fake_nvml(odd_address FAKE_BUS_ID="%X-%X")
peerpath_fake_nvml(old FAKE_OLD)
peerpath_fake_nvml(no_p2p FAKE_NO_P2P)
peerpath_fake_nvml(hang FAKE_HANG)
peerpath_fake_nvml(abort FAKE_ABORT)
peerpath_fake_nvml(exit FAKE_EXIT)
peerpath_fake_nvml(noisy FAKE_NOISY)

# The notes are read from the programs that are installed.
add_dependencies(test_gpu peerpath peerpath-p2p-worker)
target_compile_definitions(test_gpu PRIVATE
  PEERPATH_FAKE_NVML_DIR="${CMAKE_CURRENT_BINARY_DIR}/fake_nvml")

# tests/bench/schedule runs it.
add_executable(bench_schedule ${CMAKE_CURRENT_SOURCE_DIR}/gpu/bench/schedule.cpp)
target_include_directories(bench_schedule PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(bench_schedule PRIVATE peerpath_gpu)
# The worker, with the simulated driver.
target_compile_definitions(test_gpu PRIVATE
  PEERPATH_WORKER="$<TARGET_FILE:peerpath-p2p-worker>"
  PEERPATH_SIM_CUDA_DIR="${CMAKE_CURRENT_BINARY_DIR}/sim-cuda")
# Without device code each pair is inconclusive, whatever the driver does: these prove nothing then,
# and tests/run says that they were skipped. Not compiled, that is.
if(NOT PEERPATH_SM_KERNELS)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/gpu/test_worker.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/gpu/test_selftest_simulated.cpp PROPERTIES HEADER_FILE_ONLY ON)
endif()

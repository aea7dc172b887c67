# SPDX-License-Identifier: GPL-2.0-or-later
# The fake drivers, one library for each behaviour.
function(peerpath_fake_cuda name)
  add_library(fake_cuda_${name} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/gpu/fake/fake_cuda.cpp)
  set_target_properties(fake_cuda_${name} PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_cuda)
  target_compile_definitions(fake_cuda_${name} PRIVATE ${ARGN})
  add_dependencies(test_gpu fake_cuda_${name})
endfunction()

peerpath_fake_cuda(none FAKE_INIT=100)
peerpath_fake_cuda(zero FAKE_DEVICES=0)
peerpath_fake_cuda(two FAKE_DEVICES=2)
peerpath_fake_cuda(not_ready FAKE_INIT=802)
peerpath_fake_cuda(unnamed FAKE_INIT=4711)
peerpath_fake_cuda(nameless FAKE_INIT=802 FAKE_NO_NAMES)
peerpath_fake_cuda(count_fails FAKE_COUNT=802 FAKE_DEVICES=9)
peerpath_fake_cuda(hang FAKE_HANG)
peerpath_fake_cuda(abort FAKE_ABORT)
peerpath_fake_cuda(exit FAKE_EXIT)
peerpath_fake_cuda(old FAKE_NO_COUNT)
peerpath_fake_cuda(noisy FAKE_NOISY FAKE_DEVICES=1)
peerpath_fake_cuda(hides FAKE_HIDES FAKE_DEVICES=4)

# The note is read from the program that is installed.
add_dependencies(test_gpu peerpath)
target_compile_definitions(test_gpu PRIVATE
  PEERPATH_FAKE_CUDA_DIR="${CMAKE_CURRENT_BINARY_DIR}/fake_cuda")

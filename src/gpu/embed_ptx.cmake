# SPDX-License-Identifier: GPL-2.0-or-later
# cmake -DINPUT=… -DPTX=… -DOUTPUT=… -P embed_ptx.cmake
# Writes INPUT, what nvcc made, for the oldest drivers and GPUs as PTX, and its bytes as OUTPUT, a
# list for a C++ array.
#
# A driver takes PTX up to the version that its CUDA has, and nvcc writes its own newest. Our code
# needs nothing that came after 6.3 (CUDA 10.0, driver 410) and sm_70, whose memory model has
# acquire and release. ptxas, which runs on the result, refuses what the declared version or target
# hasn't got.
# Fact: PTX ISA, ".version", ".target" and the release notes.
file(READ ${INPUT} text)
string(REGEX REPLACE "\n\\.version [0-9.]+" "\n.version 6.3" text "${text}")
string(REGEX REPLACE "\n\\.target sm_[0-9]+" "\n.target sm_70" text "${text}")
file(WRITE ${PTX} "${text}")
file(READ ${PTX} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}\n")

#===- without-gpu.cmake - what a program says where there is no GPU -------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#

execute_process(COMMAND "${PROGRAM}" --synthetic --steps 1
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL 1)
  message(FATAL_ERROR "exit code: found ${code}, expected 1\n${output}${errors}")
endif()
if(NOT errors MATCHES "^[^\n]*error: found no NVIDIA GPU[^\n]*\n$")
  message(FATAL_ERROR "errors: found '${errors}', expected one sentence that "
    "there is no GPU")
endif()

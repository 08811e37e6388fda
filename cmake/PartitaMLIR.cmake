#===- PartitaMLIR.cmake - finds MLIR 19 and how it was built ------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Defines the interface target PartitaCompilerFlags: what a library of the
# compiler is compiled with. Debian's version file refuses the request for
# version "19", so the major version is compared afterwards.
#
#===----------------------------------------------------------------------===#

find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-19/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 19)
  message(FATAL_ERROR
    "MLIR in ${MLIR_DIR}: found LLVM ${LLVM_PACKAGE_VERSION}, expected 19; "
    "install libmlir-19-dev and mlir-19-tools, or point MLIR_DIR at "
    "lib/cmake/mlir of an LLVM 19 installation")
endif()
foreach(library IN ITEMS MLIR LLVM)
  if(NOT TARGET ${library})
    message(FATAL_ERROR
      "the shared lib${library} is missing in ${MLIR_DIR}; Partita links "
      "against the shared libraries of LLVM 19")
  endif()
endforeach()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# mlir-tblgen searches the folders of the directory property; the libraries
# get them from the target below.
include_directories(SYSTEM "${PROJECT_SOURCE_DIR}/cmake/abi"
  ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
include_directories("${PROJECT_SOURCE_DIR}")
# Generated code is not ours to warn about.
include_directories(SYSTEM "${PROJECT_BINARY_DIR}")

add_library(PartitaCompilerFlags INTERFACE)
separate_arguments(llvmDefinitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(PartitaCompilerFlags INTERFACE ${llvmDefinitions})
# The compiler's own speed does not matter enough to wait for -O3.
target_compile_options(PartitaCompilerFlags INTERFACE
  $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O2>)
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(PartitaCompilerFlags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()
if(NOT LLVM_ENABLE_EH)
  target_compile_options(PartitaCompilerFlags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
endif()
# GCC 12 reports false positives inside inlined LLVM containers.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(PartitaCompilerFlags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
endif()

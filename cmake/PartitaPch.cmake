#===- PartitaPch.cmake - the precompiled header of the compiler ---------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The headers nearly every source of the compiler includes, compiled once.
# Targets that need other flags than PartitaCompilerFlags cannot share them.
#
#===----------------------------------------------------------------------===#

if(NOT PARTITA_PCH)
  return()
endif()

file(WRITE "${PROJECT_BINARY_DIR}/PartitaPch.cpp" "")
add_library(PartitaPch OBJECT "${PROJECT_BINARY_DIR}/PartitaPch.cpp")
target_link_libraries(PartitaPch PRIVATE PartitaCompilerFlags)
target_precompile_headers(PartitaPch PRIVATE
  <map> <memory> <optional> <string> <vector>
  <llvm/ADT/STLExtras.h>
  <llvm/ADT/SmallVector.h>
  <llvm/ADT/StringRef.h>
  <llvm/ADT/TypeSwitch.h>
  <llvm/Support/raw_ostream.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinAttributes.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/BuiltinTypes.h>
  <mlir/IR/Diagnostics.h>
  <mlir/IR/DialectImplementation.h>
  <mlir/IR/MLIRContext.h>
  <mlir/IR/OpImplementation.h>
  <mlir/IR/OperationSupport.h>
  <mlir/IR/PatternMatch.h>
  <mlir/Interfaces/InferTypeOpInterface.h>
  <mlir/Interfaces/SideEffectInterfaces.h>)
# What lets ccache keep objects compiled with the header.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(PartitaCompilerFlags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
else()
  # From a precompiled header, Clang reports what libstdc++ deprecates for its
  # own use as if it were ours.
  target_compile_options(PartitaCompilerFlags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>"
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()

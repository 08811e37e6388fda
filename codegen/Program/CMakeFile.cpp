//===- CMakeFile.cpp - The CMake file of an emitted program ---------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file finds the runtime as a CMake package, built or installed.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program/CMakeFile.h"
#include "codegen/Emit/Text.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace partita::codegen {

ArrayRef<const char *> cpuFlags() {
  static const char *const flags[] = {"-O3",
                                      "-march=native",
                                      "-ffp-contract=fast",
                                      "-fno-math-errno",
                                      "-fno-trapping-math",
                                      "-fopenmp-simd"};
  return flags;
}

std::string cmakeFile(StringRef name, bool isCuda,
                      ArrayRef<std::string> archs) {
  std::string text =
      "# Builds the program in this folder, which trains " + commentText(name) +
      ":\n"
      "#   cmake -S . -B build -DPARTITA_RUNTIME=FOLDER && cmake --build "
      "build\n"
      "# FOLDER is where the runtime of Partita was installed or built.\n\n"
      "cmake_minimum_required(VERSION 3.25)\n"
      "project(train LANGUAGES C CXX";
  text += isCuda ? " CUDA)\n" : ")\n";
  text += R"(
set(PARTITA_RUNTIME "" CACHE PATH "Where the runtime is installed or built")
if(PARTITA_RUNTIME)
  list(PREPEND CMAKE_PREFIX_PATH "${PARTITA_RUNTIME}")
endif()
find_package(PartitaRuntime CONFIG REQUIRED)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
)";
  text += isCuda ? "add_executable(train train.cu)\n"
                   "target_link_libraries(train PRIVATE PartitaRuntimeCuda)\n"
                 : "add_executable(train train.cpp)\n"
                   "target_link_libraries(train PRIVATE PartitaRuntimeCpu)\n";
  text += "target_compile_features(train PRIVATE cxx_std_17)\n";
  if (isCuda) {
    text += "set_target_properties(train PROPERTIES CUDA_ARCHITECTURES \"";
    for (auto [i, arch] : enumerate(archs)) {
      StringRef number = arch;
      number.consume_front("sm_");
      text += (i ? ";" : "") + number.str();
    }
    text += "\")\n";
    return text;
  }
  text += "# NaN and infinity keep their meaning: no -ffast-math.\n"
          "target_compile_options(train PRIVATE";
  for (const char *flag : cpuFlags())
    text += std::string("\n  ") + flag;
  text += ")\nfind_package(OpenMP COMPONENTS CXX)\n"
          "if(OpenMP_CXX_FOUND)\n"
          "  target_link_libraries(train PRIVATE OpenMP::OpenMP_CXX)\n"
          "endif()\n";
  return text;
}

} // namespace partita::codegen

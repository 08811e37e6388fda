#===- PartitaCuda.cmake - finds CUDA, cuDNN and NCCL --------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sets PARTITA_CUDA_FOUND where the cuda rooms of the runtime can be built, and
# says what is missing elsewhere. No GPU and no driver is needed.
#
#===----------------------------------------------------------------------===#

option(PARTITA_CUDA "Build the runtime for GPUs, if CUDA is there" ON)
set(PARTITA_CUDA_FOUND OFF)

# The sanitizers do not know nvcc.
if(NOT PARTITA_CUDA OR PARTITA_SANITIZE)
  return()
endif()

# Often not in the path.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(PARTITA_NVCC nvcc
    PATHS "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin)
  if(PARTITA_NVCC)
    set(ENV{CUDACXX} "${PARTITA_NVCC}")
  endif()
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "nvcc not found: no programs for GPUs; install CUDA 12.4 or "
    "newer, or set CUDACXX to its nvcc")
  return()
endif()

# Machine code for two generations, and code that newer ones translate.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES "80-real;90" CACHE STRING
    "GPU generations the runtime is compiled for")
endif()
if(PARTITA_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${PARTITA_CCACHE}")
endif()
enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
find_package(CUDAToolkit 12.4)
if(NOT CUDAToolkit_FOUND)
  message(STATUS "CUDA 12.4 or newer not found: no programs for GPUs")
  return()
endif()

# partita_find_cuda_library(NAME header MAJOR MINOR version-header)
# Finds lib<name> and its header, at least of version MAJOR.MINOR as the macros
# <NAME>_MAJOR and <NAME>_MINOR of version-header say.
function(partita_find_cuda_library name header major minor versionHeader)
  string(TOLOWER "${name}" library)
  find_path(PARTITA_${name}_INCLUDE_DIR ${header}
    HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(PARTITA_${name}_LIBRARY ${library}
    HINTS "${CUDAToolkit_LIBRARY_DIR}")
  set(PARTITA_${name}_FOUND OFF PARENT_SCOPE)
  set(folder "${PARTITA_${name}_INCLUDE_DIR}")
  if(NOT folder OR NOT PARTITA_${name}_LIBRARY)
    message(STATUS "${name} not found (${header} and lib${library}): no "
      "programs for GPUs; set PARTITA_${name}_INCLUDE_DIR and "
      "PARTITA_${name}_LIBRARY")
    return()
  endif()
  file(STRINGS "${folder}/${versionHeader}" lines
    REGEX "^#define ${name}_(MAJOR|MINOR) +[0-9]+")
  string(REGEX MATCH "_MAJOR +([0-9]+)" ignored "${lines}")
  set(version "${CMAKE_MATCH_1}")
  string(REGEX MATCH "_MINOR +([0-9]+)" ignored "${lines}")
  set(version "${version}.${CMAKE_MATCH_1}")
  if(version VERSION_LESS "${major}.${minor}")
    message(STATUS "${name} in ${folder}: found ${version}, expected "
      "${major}.${minor} or newer: no programs for GPUs")
    return()
  endif()
  message(STATUS "${name} ${version} in ${folder}")
  set(PARTITA_${name}_FOUND ON PARENT_SCOPE)
endfunction()

partita_find_cuda_library(CUDNN cudnn.h 9 0 cudnn_version.h)
partita_find_cuda_library(NCCL nccl.h 2 18 nccl.h)
if(PARTITA_CUDNN_FOUND AND PARTITA_NCCL_FOUND)
  set(PARTITA_CUDA_FOUND ON)
endif()

# nvcc hands these to the compiler for the host.
list(JOIN PARTITA_WARNING_FLAGS "," hostWarnings)
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${hostWarnings}>")
if(PARTITA_WERROR)
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>")
endif()

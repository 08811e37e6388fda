#===- PartitaSettings.cmake - language, warnings, sanitizers ------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Settings that hold for every room, the runtime included.
#
#===----------------------------------------------------------------------===#

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# A second build after a clean costs little when ccache is at hand. The
# sloppiness lets it keep objects that use a precompiled header.
find_program(PARTITA_CCACHE ccache)
if(PARTITA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${PARTITA_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;\
CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,\
include_file_ctime;${PARTITA_CCACHE}")
endif()

# One setting for libraries and programs, so that they can share a precompiled
# header.
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fPIC>")

set(PARTITA_WARNING_FLAGS -Wall -Wextra)
if(PARTITA_WERROR)
  list(APPEND PARTITA_WARNING_FLAGS -Werror)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${PARTITA_WARNING_FLAGS}>")

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Whether a loop marked for the vectoriser is vectorised depends on the
  # optimisation level; that is no fault of the source.
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:C,CXX>:-fcolor-diagnostics;-Wno-pass-failed>")
endif()

if(PARTITA_SANITIZE STREQUAL "address")
  set(sanitizeFlags -fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
elseif(PARTITA_SANITIZE STREQUAL "thread")
  set(sanitizeFlags -fsanitize=thread -fno-omit-frame-pointer)
elseif(PARTITA_SANITIZE)
  message(FATAL_ERROR
    "PARTITA_SANITIZE: found '${PARTITA_SANITIZE}', expected '', 'address' "
    "or 'thread'")
endif()
if(sanitizeFlags)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${sanitizeFlags}>")
  add_link_options("$<$<LINK_LANGUAGE:C,CXX>:${sanitizeFlags}>")
endif()

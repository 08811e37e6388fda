#===- PartitaTargets.cmake - functions that declare our targets ---------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# partita_add_library, partita_add_tool and partita_add_unit_test keep the
# rooms' CMake files down to a list of sources and a list of what they use.
#
#===----------------------------------------------------------------------===#

# partita_add_room(NAME): adds a folder that has a CMakeLists.txt.
function(partita_add_room room)
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${room}/CMakeLists.txt")
    add_subdirectory(${room})
  endif()
endfunction()

# What libraries and programs of the compiler have in common.
function(partita_set_up_compiler_target name exceptions)
  target_link_libraries(${name} PRIVATE PartitaCompilerFlags)
  if(exceptions)
    target_compile_options(${name} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fexceptions>)
  elseif(PARTITA_PCH)
    target_precompile_headers(${name} REUSE_FROM PartitaPch)
  endif()
endfunction()

# partita_add_library(NAME source... [EXCEPTIONS] [LINK library...]
#                     [DEPENDS target...])
# A static library of the compiler. LINK names the other libraries of ours
# (and third ones) it uses; the shared MLIR and LLVM are always there. DEPENDS
# names the tablegen targets whose headers its sources include. EXCEPTIONS is
# for sources that must catch what a third library throws.
function(partita_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EXCEPTIONS" "" "LINK;DEPENDS")
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${arg_LINK} MLIR LLVM)
  partita_set_up_compiler_target(${name} "${arg_EXCEPTIONS}")
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
endfunction()

# partita_add_tool(NAME source... [EXCEPTIONS] [LINK library...]
#                  [DEPENDS target...])
# A program of the compiler, written to bin/ of the build folder.
function(partita_add_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EXCEPTIONS" "" "LINK;DEPENDS")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LINK} MLIR LLVM)
  partita_set_up_compiler_target(${name} "${arg_EXCEPTIONS}")
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
endfunction()

# partita_add_unit_test(NAME source... [RUNTIME] [EXCEPTIONS]
#                       [LINK library...] [TIMEOUT seconds])
# A GoogleTest program whose cases are tests of ctest, named NAME.Suite.Case.
# RUNTIME says that it tests the runtime and is compiled without MLIR; the
# others exist only in builds of the compiler.
function(partita_add_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RUNTIME;EXCEPTIONS" "TIMEOUT"
    "LINK")
  if(NOT TARGET GTest::gtest_main OR
     NOT (arg_RUNTIME OR PARTITA_BUILD_COMPILER))
    return()
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest_main)
  if(NOT arg_RUNTIME)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
    partita_set_up_compiler_target(${name} "${arg_EXCEPTIONS}")
  endif()
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test/bin")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  # The cases are listed when ctest starts, so that building runs nothing.
  gtest_discover_tests(${name}
    TEST_PREFIX "${name}."
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES
      LABELS unit
      TIMEOUT ${arg_TIMEOUT})
  # A property that is a list would fall apart on its way through
  # gtest_discover_tests, so it is set when ctest has listed the cases.
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${name}-environment.cmake")
  file(WRITE "${script}"
    "foreach(case IN LISTS ${name}_TESTS)\n"
    "  set_tests_properties(\"\${case}\" PROPERTIES\n"
    "    ENVIRONMENT \"${PARTITA_TEST_ENVIRONMENT}\")\n"
    "endforeach()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script}")
endfunction()

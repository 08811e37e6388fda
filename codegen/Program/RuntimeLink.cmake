#===- RuntimeLink.cmake - what emitted programs are linked with ---------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The compiler builds emitted programs without CMake: it would take longer than
# compiling them. This writes down, beside the runtime's libraries, what CMake
# knows about linking them. One argument per line:
#
#   include FOLDER    relative to the file, or absolute
#   compile FLAG      for compiling
#   library FILE      of the runtime, relative to the file
#   link ARGUMENT     any other argument of the linker
#
#===----------------------------------------------------------------------===#

# Adds what `item` and what it links bring to the lists `libraries`, `links`
# and `compiles` of the caller, dependencies after those that use them.
function(partita_walk_link item)
  string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" item "${item}")
  if(item STREQUAL "" OR item IN_LIST walked)
    return()
  endif()
  list(APPEND walked "${item}")
  if(TARGET "${item}")
    get_target_property(target "${item}" ALIASED_TARGET)
    if(NOT target)
      set(target "${item}")
    endif()
    get_target_property(type "${target}" TYPE)
    get_target_property(isImported "${target}" IMPORTED)
    get_target_property(options "${target}" INTERFACE_LINK_OPTIONS)
    get_target_property(flags "${target}" INTERFACE_COMPILE_OPTIONS)
    get_target_property(items "${target}" INTERFACE_LINK_LIBRARIES)
    if(type STREQUAL "STATIC_LIBRARY" AND NOT isImported)
      list(APPEND libraries "${target}")
    elseif(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND links "$<TARGET_FILE:${target}>")
    endif()
    if(options)
      list(APPEND links ${options})
    endif()
    if(flags)
      foreach(flag IN LISTS flags)
        # Flags for one language are those of C++.
        string(REGEX REPLACE "^\\$<\\$<COMPILE_LANGUAGE:CXX>:(.*)>$" "\\1"
          flag "${flag}")
        if(NOT flag MATCHES "^\\$<")
          list(APPEND compiles "${flag}")
        endif()
      endforeach()
    endif()
    foreach(each IN LISTS items)
      if(each)
        partita_walk_link("${each}")
      endif()
    endforeach()
  elseif(item MATCHES "^-" OR item MATCHES "/")
    list(APPEND links "${item}")
  elseif(item MATCHES "::")
    message(WARNING
      "emitted programs will not link: ${item}, which the runtime uses, is not "
      "known in ${CMAKE_CURRENT_SOURCE_DIR}")
  elseif(NOT item MATCHES "^\\$<")
    list(APPEND links "-l${item}")
  endif()
  foreach(result IN ITEMS walked libraries links compiles)
    set(${result} "${${result}}" PARENT_SCOPE)
  endforeach()
endfunction()

# partita_write_link_file(TARGET): TARGET.link beside the libraries, and its
# installed form. Sets `libraries` to the runtime's own.
function(partita_write_link_file target)
  set(walked "")
  set(libraries "")
  set(links "")
  set(compiles "")
  partita_walk_link("${target}")
  list(REMOVE_DUPLICATES compiles)
  set(text "")
  foreach(flag IN LISTS compiles sanitizeFlags)
    string(APPEND text "compile ${flag}\n")
  endforeach()
  # The libraries use each other in circles: the core calls the back ends.
  string(APPEND text "link -Wl,--start-group\n")
  foreach(library IN LISTS libraries)
    string(APPEND text "library $<TARGET_FILE_NAME:${library}>\n")
  endforeach()
  string(APPEND text "link -Wl,--end-group\n")
  foreach(link IN LISTS links compiles sanitizeFlags)
    string(APPEND text "link ${link}\n")
    get_filename_component(folder "${link}" DIRECTORY)
    if(link MATCHES "^/.*\\.so" AND
       NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      string(APPEND text "link -Wl,-rpath,${folder}\n")
    endif()
  endforeach()
  set(built "${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/${target}.link")
  set(installed "${CMAKE_CURRENT_BINARY_DIR}/installed/${target}.link")
  file(GENERATE OUTPUT "${built}" CONTENT
    "include ${PROJECT_SOURCE_DIR}/runtime/include\n${text}")
  file(RELATIVE_PATH toInclude "/${CMAKE_INSTALL_LIBDIR}"
    "/${CMAKE_INSTALL_INCLUDEDIR}")
  file(GENERATE OUTPUT "${installed}" CONTENT "include ${toInclude}\n${text}")
  install(FILES "${installed}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  set(libraries "${libraries}" PARENT_SCOPE)
endfunction()

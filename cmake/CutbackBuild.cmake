# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How every library, tool and test of the project is compiled: flags, the
# precompiled header, lld and ccache where they are found.

# LLVM_DEFINITIONS is one string; passed unsplit, it redefines macros in every
# translation unit.
separate_arguments(CUTBACK_LLVM_DEFINITIONS NATIVE_COMMAND
                   "${LLVM_DEFINITIONS}")
add_definitions(${CUTBACK_LLVM_DEFINITIONS})
# Debian's libMLIR is built with NDEBUG; some headers have another layout
# without it, so every configuration defines it. Our own checks do not use
# assert().
add_compile_definitions(NDEBUG)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS}
                    ${Boost_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
add_compile_options(-Wall -Wextra -Wno-unused-parameter
                    $<$<BOOL:${CUTBACK_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # libstdc++ 12 marks what std::stable_sort uses as deprecated.
  add_compile_options(-Wno-deprecated-declarations -fcolor-diagnostics)
endif()
# Without it g++ 12 may drop a store and the call that it is in: see
# lib/Target/CUDA/Toolchain.cpp.
set(CUTBACK_KEEP_STORES)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CUTBACK_KEEP_STORES -fno-ivopts)
  add_compile_options(${CUTBACK_KEEP_STORES})
endif()

# Sets of vectors that calls of a CPU are compiled for beside none, the largest
# one first, and the extensions of each.
set(CUTBACK_VECTORS)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(CUTBACK_VECTORS avx512bf16 avx512 avx2)
endif()
set(CUTBACK_FEATURES_avx2 sse3 ssse3 sse4.1 sse4.2 popcnt lzcnt bmi bmi2 avx
                          f16c fma avx2)
set(CUTBACK_FEATURES_avx512 ${CUTBACK_FEATURES_avx2} avx512f avx512cd avx512dq
                            avx512bw avx512vl)
set(CUTBACK_FEATURES_avx512bf16 ${CUTBACK_FEATURES_avx512} avx512bf16)

if(CUTBACK_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer
                      -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Counts what the fuzzers of test/fuzz reach.
    add_compile_options(-fsanitize=fuzzer-no-link)
    add_link_options(-fsanitize=fuzzer-no-link)
  endif()
endif()

find_program(CUTBACK_CCACHE ccache)
if(CUTBACK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness lets a precompiled header be cached.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CUTBACK_CCACHE})
endif()
find_program(CUTBACK_LLD ld.lld PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
if(CUTBACK_LLD)
  add_link_options(-B${LLVM_TOOLS_BINARY_DIR} -fuse-ld=lld)
  # Vtables of a position-independent program as a bitmap of relocations, and
  # functions of equal code as one: an eighth of the driver. (MLIR and LLVM tell
  # things apart by addresses of data, which stay apart.)
  set(CUTBACK_SMALLER -Wl,-z,pack-relative-relocs -Wl,--icf=all)
endif()

# cutback_add_folders(FOLDERS...): add_subdirectory of those that have a
# CMakeLists.txt, in the order given (a library before its users).
function(cutback_add_folders)
  foreach(folder ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()

# Tests are run once and their own part is short: at -O0 they compile in half the
# time.
set(CUTBACK_TEST_OPTIONS -O0)

# cutback_use_pch(TARGET [OWNER]): one precompiled header for all MLIR
# translation units; without it parsing MLIR's headers is most of the build.
# OWNER carries it: CutbackPCH, or CutbackTestPCH for tests.
function(cutback_use_pch target)
  set(owner CutbackPCH)
  if(ARGC GREATER 1)
    set(owner ${ARGV1})
  endif()
  if(TARGET ${owner} AND NOT CUTBACK_NO_PCH)
    target_precompile_headers(${target} REUSE_FROM ${owner})
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp)
    endif()
    # The header is compiled with -fPIC; a program with -fPIE could not use it.
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
  endif()
endfunction()

# cutback_add_pch(OWNER SOURCE HEADER [LINK_LIBS libs...]
#                 [DEPENDS tblgen-targets...] [OPTIONS flags...])
# HEADER is in angle brackets: its text names no folder then, so checkouts can
# share a ccache.
function(cutback_add_pch owner source header)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;DEPENDS;OPTIONS" ${ARGN})
  add_library(${owner} OBJECT ${source})
  if(ARG_DEPENDS)
    add_dependencies(${owner} ${ARG_DEPENDS})
  endif()
  target_compile_options(${owner} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${owner} PRIVATE ${header})
  target_link_libraries(${owner} PRIVATE ${ARG_LINK_LIBS})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${owner} PRIVATE -Xclang -fno-pch-timestamp)
  endif()
endfunction()

# cutback_tablegen(OUTPUT ARGUMENTS...): as mlir_tablegen, by our own generator.
set(CUTBACK_TABLEGEN_EXE $<TARGET_FILE:cutback-tblgen>)
set(CUTBACK_TABLEGEN_TARGET cutback-tblgen)
function(cutback_tablegen output)
  tablegen(CUTBACK ${output} ${ARGN})
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} ${CMAKE_CURRENT_BINARY_DIR}/${output}
      PARENT_SCOPE)
endfunction()

# cutback_add_library(NAME SOURCES... [NO_MLIR] [DEPENDS tblgen-targets...]
#                     [LINK_LIBS libs...])
# NO_MLIR: standard library and Boost only; neither links nor precompiles MLIR.
function(cutback_add_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:include>)
  if(NOT ARG_NO_MLIR)
    cutback_use_pch(${name})
    target_link_libraries(${name} PUBLIC CutbackMLIR)
  endif()
  set_property(GLOBAL APPEND PROPERTY CUTBACK_LIBRARIES ${name})
endfunction()

# cutback_add_tool(NAME SOURCES... [LINK_LIBS libs...])
# With CUTBACK_STATIC_TOOLS a program that starts in a millisecond or two.
function(cutback_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} CutbackMLIR)
  if(CUTBACK_STATIC_TOOLS)
    set_target_properties(${name} PROPERTIES CUTBACK_STATIC_MLIR ON)
    target_link_options(${name} PRIVATE -static-libstdc++
                        -Wl,--gc-sections ${CUTBACK_SMALLER})
  endif()
  cutback_use_pch(${name})
endfunction()

# cutback_add_unit_test(NAME SOURCES... [NO_MLIR] [LINK_LIBS libs...])
# One GoogleTest program a library, called NAME, in build/<preset>/bin.
function(cutback_add_unit_test name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${CUTBACK_TEST_OPTIONS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest_main)
  if(NOT ARG_NO_MLIR)
    cutback_use_pch(${name} CutbackTestPCH)
    target_link_libraries(${name} PRIVATE CutbackMLIR)
  endif()
  target_compile_definitions(${name} PRIVATE
      CUTBACK_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit)
  set_property(GLOBAL APPEND PROPERTY CUTBACK_UNIT_TESTS ${name})
endfunction()

# cutback_add_benchmark(NAME SOURCES... [LINK_LIBS libs...])
function(cutback_add_benchmark name)
  cutback_add_tool(${name} ${ARGN})
endfunction()

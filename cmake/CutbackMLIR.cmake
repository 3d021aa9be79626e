# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Which MLIR and LLVM a program is linked with. The shared libraries have 345,000
# relocations, which the loader works off before main: 25 ms of every start. The
# tools of a release therefore take the objects that they need from the static
# archives (target CutbackStaticMLIR). Tests, and whatever is loaded into or
# linked beside another MLIR, take the shared libraries: two copies of MLIR in
# one process do not know each other's types.

# The archives that `roots` need, by file name and each once: MLIR's exported
# targets all name the shared libLLVM as well, which must not come along.
function(cutback_collect_archives out)
  set(todo ${ARGN})
  set(seen Polly) # which lld's optimizer names and we do not have
  set(files)
  while(todo)
    list(POP_FRONT todo target)
    if(target IN_LIST seen OR NOT TARGET ${target})
      continue()
    endif()
    list(APPEND seen ${target})
    get_target_property(type ${target} TYPE)
    get_target_property(needs ${target} INTERFACE_LINK_LIBRARIES)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND files $<TARGET_FILE:${target}>)
    elseif(NOT type STREQUAL "INTERFACE_LIBRARY")
      continue() # libMLIR.so, libLLVM.so
    endif()
    if(needs)
      list(APPEND todo ${needs})
    endif()
  endwhile()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# lld as a library, which links machine code of steps.
foreach(part ELF Common)
  string(TOUPPER ${part} name)
  find_library(CUTBACK_LLD_${name} lld${part} PATHS ${LLVM_LIBRARY_DIRS}
               NO_DEFAULT_PATH)
  if(NOT CUTBACK_LLD_${name})
    message(FATAL_ERROR "lld ${CUTBACK_MLIR_VERSION} is not there as a library "
                        "(liblld-22-dev): run tools/dev/bootstrap")
  endif()
endforeach()

# Code for the machine that cutback runs on.
set(CUTBACK_NATIVE_ARCHIVES)
foreach(part CodeGen AsmParser Desc Info)
  if(TARGET LLVM${LLVM_NATIVE_ARCH}${part})
    list(APPEND CUTBACK_NATIVE_ARCHIVES LLVM${LLVM_NATIVE_ARCH}${part})
  endif()
endforeach()

cutback_collect_archives(CUTBACK_ARCHIVES
  MLIRArithDialect MLIRBytecodeReader MLIRBytecodeWriter MLIRFuncDialect
  MLIRGPUDialect MLIRLinalgDialect MLIRMathDialect MLIRMemRefDialect MLIROptLib MLIRParser MLIRPass
  MLIRTensorDialect MLIRTosaDialect MLIRTransforms
  MLIRArithToLLVM MLIRControlFlowToLLVM MLIRFuncToLLVM MLIRMathToLLVM
  MLIRMemRefToLLVM MLIRSCFToControlFlow MLIRVectorToLLVM MLIRTargetLLVMIRExport
  MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation
  LLVMBinaryFormat LLVMBitstreamReader LLVMCore LLVMDTLTO LLVMDebugInfoDWARF LLVMLTO
  LLVMOption LLVMOrcJIT LLVMPasses LLVMRemarks LLVMSupport LLVMTargetParser ${CUTBACK_NATIVE_ARCHIVES})
# LLVM's writer of objects and lld compress sections when asked to. The library
# that libLLVM.so itself has needs no package for development.
find_library(CUTBACK_ZSTD NAMES zstd libzstd.so.1 REQUIRED)
add_library(CutbackStaticMLIR INTERFACE)
# A group, for linkers that look at an archive only once.
target_link_libraries(CutbackStaticMLIR INTERFACE
  -Wl,--start-group ${CUTBACK_ARCHIVES} -Wl,--end-group
  ZLIB::ZLIB ${CUTBACK_ZSTD} ${CMAKE_DL_LIBS} rt m)

# What our libraries link: the program that takes them decides by its property
# CUTBACK_STATIC_MLIR. Whoever takes the installed ones has the shared MLIR.
add_library(CutbackMLIR INTERFACE)
target_link_libraries(CutbackMLIR INTERFACE
  "$<BUILD_INTERFACE:$<IF:$<BOOL:$<TARGET_PROPERTY:CUTBACK_STATIC_MLIR>>,CutbackStaticMLIR,MLIR;LLVM>>"
  "$<INSTALL_INTERFACE:MLIR;LLVM>")

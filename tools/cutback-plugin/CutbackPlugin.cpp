// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The project as a plugin of any `mlir-opt` of the same MLIR version:
//
//   mlir-opt --load-dialect-plugin=CutbackPlugin.so
//            --load-pass-plugin=CutbackPlugin.so
//            --pass-pipeline='builtin.module(cutback-pipeline)' graph.mlir
//
// It holds our libraries and none of MLIR's: their symbols are those of the
// program that loads it. Flags of passes (`--cutback-plan`) do not exist there,
// because the program has read its command line by then; a pipeline as text
// does.

#include "cutback/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Cutback", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            cutback::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Cutback", LLVM_VERSION_STRING,
          cutback::registerAllPasses};
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The precompiled header of all translation units that speak MLIR: what most of
// them include and no change of an op touches. Joint.h and JSON.h, parsed in
// each of 400 and 120 files, took a quarter of the time of a library. Nothing
// may rely on it: the gcc preset builds without.
#ifndef CUTBACK_SUPPORT_MLIR_PRECOMPILED_H
#define CUTBACK_SUPPORT_MLIR_PRECOMPILED_H

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#endif // CUTBACK_SUPPORT_MLIR_PRECOMPILED_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls, and what the rules of the list of core ops make of them.
#ifndef CUTBACK_TEST_UNIT_DECOMPOSE_COREFIXTURE_H
#define CUTBACK_TEST_UNIT_DECOMPOSE_COREFIXTURE_H

#include "../Interpreter/TorchCalls.h"

#include "cutback/Decompose/Composites.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Interpreter/Interpreter.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

namespace cutback::test {

class CoreFixture {
protected:
  CoreFixture() {
    mlir::DialectRegistry registry;
    registry.insert<aten::AtenDialect, joint::JointDialect,
                    mlir::func::FuncDialect>();
    registerAtenDecompositions(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Of a target that has none of the ops that are taken apart.
  static bool staysNothing(mlir::Operation *) { return false; }

  mlir::MLIRContext context;
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_DECOMPOSE_COREFIXTURE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of results in what is printed. Readers keep what a text calls the
// results of ops in an attribute, `names`, which passes carry along. Ops of our
// dialects print it; an op of MLIR's dialects does so by this model of MLIR's
// own interface for names, unless it implements that itself, as
// `arith.constant` and `linalg.generic` do. So `%y = math.exp %a` is `%y` in
// every tool that has our dialects, behind every pass.

#include "Models.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Upstream/ExternalModels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::upstream;

namespace {

struct Names : OpAsmOpInterface::FallbackModel<Names> {
  void getAsmResultNames(Operation *op, OpAsmSetValueNameFn setName) const {
    joint::setResultNames(op, op->getDiscardableAttr("names"), setName);
  }
  void getAsmBlockArgumentNames(Operation *, Region &,
                                OpAsmSetValueNameFn) const {}
  void getAsmBlockNames(Operation *, OpAsmSetBlockNameFn) const {}
  static StringRef getDefaultDialect() { return ""; }
};

} // namespace

template <typename DialectT> static void addNames(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DialectT *) {
    for (RegisteredOperationName name :
         opsOf(*context, DialectT::getDialectNamespace()))
      if (!name.hasInterface<OpAsmOpInterface>())
        name.attachInterface<Names>();
  });
}

void cutback::registerResultNames(DialectRegistry &registry) {
  addNames<arith::ArithDialect>(registry);
  addNames<linalg::LinalgDialect>(registry);
  addNames<math::MathDialect>(registry);
  addNames<tensor::TensorDialect>(registry);
  addNames<tosa::TosaDialect>(registry);
}

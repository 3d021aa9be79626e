// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of this folder. Each is a thin shell around a library function of
// the same name; what it does and costs is said there and in Passes.td. None
// keeps state: the graphs of a module may go in parallel.
//
// They depend on dialect `aten`, as they build its ops; the rules come with it.

#include "cutback/Decompose/Passes.h"

#include "cutback/Decompose/Composites.h"
#include "cutback/Decompose/Functionalize.h"
#include "cutback/Decompose/FunctionalizeRng.h"
#include "cutback/Dialect/Aten/Aten.h"

namespace cutback {
#define GEN_PASS_DEF_FUNCTIONALIZE
#define GEN_PASS_DEF_DECOMPOSECOMPOSITES
#define GEN_PASS_DEF_FUNCTIONALIZERNG
#define GEN_PASS_DEF_DECOMPOSETOCORE
#include "cutback/Decompose/Passes.h.inc"
} // namespace cutback

using namespace mlir;
using namespace cutback;

namespace {

struct Functionalize : cutback::impl::FunctionalizeBase<Functionalize> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<aten::AtenDialect>();
    registerAtenDecompositions(registry);
  }
  void runOnOperation() override {
    if (failed(functionalize(getOperation())))
      signalPassFailure();
  }
};

struct DecomposeComposites
    : cutback::impl::DecomposeCompositesBase<DecomposeComposites> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<aten::AtenDialect>();
    registerAtenDecompositions(registry);
  }
  void runOnOperation() override {
    if (failed(decomposeComposites(getOperation())))
      signalPassFailure();
  }
};

struct FunctionalizeRng
    : cutback::impl::FunctionalizeRngBase<FunctionalizeRng> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<aten::AtenDialect>();
  }
  void runOnOperation() override {
    if (failed(functionalizeRng(getOperation())))
      signalPassFailure();
  }
};

struct DecomposeToCore : cutback::impl::DecomposeToCoreBase<DecomposeToCore> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<aten::AtenDialect>();
    registerAtenDecompositions(registry);
  }
  void runOnOperation() override {
    if (failed(decomposeToCore(getOperation())))
      signalPassFailure();
  }
};

} // namespace

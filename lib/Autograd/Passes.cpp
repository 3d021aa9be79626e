// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback-differentiate`: a thin shell around the function `differentiate`.
// What it does and costs is said there and in Passes.td. The rules are those
// that the dialects have: for `aten`, register them with `registerAtenVjps`.
// Texts of options are read here; names in them are looked up there.

#include "cutback/Autograd/Passes.h"

#include "cutback/Autograd/Differentiate.h"
#include "cutback/Autograd/SecondDerivatives.h"

namespace cutback {
#define GEN_PASS_DEF_DIFFERENTIATEGRAPH
#include "cutback/Autograd/Passes.h.inc"
} // namespace cutback

using namespace mlir;
using namespace cutback;

namespace {

struct DifferentiateGraph
    : cutback::impl::DifferentiateGraphBase<DifferentiateGraph> {
  using DifferentiateGraphBase::DifferentiateGraphBase;

  void runOnOperation() override {
    DifferentiateOptions options;
    options.gradOf.assign(gradOf.begin(), gradOf.end());
    options.lossOutputs.assign(lossOutputs.begin(), lossOutputs.end());
    options.collectivesFirst = collectivesFirst;
    std::string error;
    for (const std::string &text : sequence)
      if (!addSequence(text, options, error)) {
        getOperation().emitError() << error;
        return signalPassFailure();
      }
    for (StringRef text : hooks) {
      auto [kind, name] = text.split(':');
      auto known = hookKindNamed(std::string_view(kind.data(), kind.size()));
      if (!known || name.empty()) {
        getOperation().emitError("hooks are given as KIND:NAME "
                                 "(tensor_pre:fc.weight), not '")
            << text << "'";
        return signalPassFailure();
      }
      options.hooks.push_back({*known, name.str()});
    }
    SecondDerivativeOptions second{{of.begin(), of.end()}, {}};
    if (second.isAsked() &&
        failed(openGradients(getOperation(), second, options)))
      return signalPassFailure();
    if (failed(differentiate(getOperation(), options)))
      signalPassFailure();
  }
};

} // namespace

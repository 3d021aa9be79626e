// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All tables of VJP rules, and how they reach the dialect: an extension runs
// when `aten` is loaded and writes each rule into the registration of its op.
// So the dialect depends on no rule, and asking for one is one load. Tables
// have no op in common (DifferentiateTest.cpp).

#include "cutback/Autograd/AtenVjps.h"

#include "Aten/Rules.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace cutback;

std::vector<aten::VjpRule> cutback::allAtenVjps() {
  std::vector<aten::VjpRule> rules;
  for (autograd::VjpTable table : {
           autograd::pointwiseVjps(),     autograd::unaryVjps(),
           autograd::activationVjps(),    autograd::reductionVjps(),
           autograd::selectionVjps(),     autograd::viewVjps(),
           autograd::dataVjps(),          autograd::primsVjps(),
           autograd::matmulVjps(),        autograd::convolutionVjps(),
           autograd::normalizationVjps(), autograd::attentionVjps(),
           autograd::softmaxVjps(),       autograd::lossVjps(),
           autograd::poolVjps(),          autograd::upsampleVjps(),
           autograd::embeddingVjps(),     autograd::indexVjps(),
           autograd::scatterVjps(),       autograd::scatterReduceVjps(),
           autograd::sortVjps(),          autograd::scanVjps(),
           autograd::distanceVjps(),      autograd::fftVjps(),
           autograd::padVjps(),           autograd::secondOrderVjps(),
           autograd::linalgVjps(),        autograd::attentionBackwardVjps(),
       })
    rules.insert(rules.end(), table.begin(), table.end());
  return rules;
}

void cutback::registerAtenVjps(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, aten::AtenDialect *dialect) {
    aten::addVjpRules(*dialect, allAtenVjps());
  });
}

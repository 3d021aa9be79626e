// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of VJP rules, made from the ODS files, and how it reaches the
// dialect: an extension runs when `aten` is loaded and writes each rule into
// the registration of its op. So the dialect depends on no rule, and asking for
// one is one load.

#include "cutback/Autograd/AtenVjps.h"

#include "Aten/Rules.h"
#include "NestedVjps.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace cutback;

std::vector<aten::VjpRule> cutback::allAtenVjps() {
  return {
#define ATEN_RULE_OF(op, rule) {op, autograd::vjps::rule},
#include "cutback/Dialect/Aten/AtenVjps.inc"
  };
}

void cutback::registerAtenVjps(DialectRegistry &registry) {
  registerNestedVjps(registry);
  registry.addExtension(+[](MLIRContext *, aten::AtenDialect *dialect) {
    aten::addVjpRules(*dialect, allAtenVjps());
  });
}

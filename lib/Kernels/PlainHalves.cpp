// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step without a plan: what of the forward its backward could want to have
// again, and what of it is a result anyway. NetworkTerms prices it, LowerTerms
// bounds it; both must speak of the same ops, or the bound is none of the
// price. Both are linear.

#include "PlainHalves.h"

#include "llvm/ADT/STLExtras.h"

using namespace cutback;

std::vector<uint8_t> cutback::findWantedOps(const KernelProblem &problem,
                                            const GraphView &view,
                                            const GraphSets &sets) {
  std::vector<uint8_t> isWanted(view.numOps(), 0);
  std::vector<uint8_t> isGradient(view.numValues(), 0);
  for (uint32_t value : view.gradients())
    isGradient[problem.root[value]] = 1;
  auto isRead = [&](uint32_t read) {
    uint32_t reader = problem.reads[read].op;
    return sets.ops[reader] != GraphSet::Forward || isWanted[reader];
  };
  for (uint32_t op = view.numOps(); op-- > 0;)
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      isWanted[op] |=
          isGradient[r] || llvm::any_of(problem.readersOf(r), isRead);
  return isWanted;
}

std::vector<uint8_t> cutback::findForwardResults(const KernelProblem &problem,
                                                 const GraphView &view) {
  std::vector<uint8_t> isResult(view.numValues(), 0);
  for (uint32_t value : view.forwardResults())
    isResult[problem.root[value]] = 1;
  return isResult;
}

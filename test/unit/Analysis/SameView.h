// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A view that has followed its graph is the one that is built from it.
#ifndef CUTBACK_TEST_UNIT_ANALYSIS_SAMEVIEW_H
#define CUTBACK_TEST_UNIT_ANALYSIS_SAMEVIEW_H

#include "cutback/Analysis/GraphView.h"

#include "gtest/gtest.h"

#include <tuple>

namespace cutback::test {

inline auto fieldsOf(const OpTraits &traits) {
  return std::make_tuple(
      traits.fusion, bool(traits.recomputable), bool(traits.random),
      bool(traits.computeIntensive), bool(traits.ordered), bool(traits.view),
      bool(traits.hasModel), bool(traits.readsOldValue), bool(traits.literal),
      bool(traits.annotated), bool(traits.hasRegions), bool(traits.copy));
}

inline void expectSameView(const GraphView &view, const GraphView &again) {
  EXPECT_EQ(view.graph, again.graph);
  EXPECT_EQ(view.output, again.output);
  EXPECT_EQ(view.terminator, again.terminator);
  EXPECT_EQ(view.numArgs, again.numArgs);
  EXPECT_EQ(view.ops, again.ops);
  EXPECT_TRUE(view.values == again.values);
  EXPECT_EQ(view.types, again.types);
  EXPECT_EQ(view.aliasOf, again.aliasOf);
  EXPECT_EQ(view.definer, again.definer);
  EXPECT_EQ(view.resultBegin, again.resultBegin);
  EXPECT_EQ(view.operandBegin, again.operandBegin);
  EXPECT_EQ(view.operandList, again.operandList);
  EXPECT_EQ(view.userBegin, again.userBegin);
  EXPECT_EQ(view.userList, again.userList);
  ASSERT_EQ(view.traits.size(), again.traits.size());
  for (uint32_t op = 0; op < view.numOps(); ++op)
    EXPECT_EQ(fieldsOf(view.traits[op]), fieldsOf(again.traits[op])) << op;
}

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_ANALYSIS_SAMEVIEW_H

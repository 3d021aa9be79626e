// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans of random graphs, one a seed.
#ifndef CUTBACK_TEST_UNIT_REPORT_RANDOMPLAN_H
#define CUTBACK_TEST_UNIT_REPORT_RANDOMPLAN_H

#include "../Transforms/RandomGraph.h"

#include "cutback/Report/Report.h"

#include "gtest/gtest.h"

namespace cutback::test {

class RandomPlan : public ::testing::TestWithParam<uint64_t> {
protected:
  RandomPlan() { loadDialects(context); }

  /// Plans the graph of this seed with `ops` ops, as one chain or not; with
  /// `memory`, its arena too.
  void makePlan(unsigned ops, bool isChain, bool memory) {
    RandomGraphOptions shape;
    shape.numForward = ops;
    shape.isChain = isChain;
    // What runs only once may leave no plan.
    shape.percentRandom = 0;
    module = parse(context, RandomGraph(GetParam(), shape).text());
    PartitionOptions options;
    if (memory)
      options.memory.emplace();
    auto made = partitionGraph(graphOf(*module), options);
    ASSERT_TRUE(mlir::succeeded(made));
    result = std::move(*made);
    EXPECT_EQ(result->memory.has_value(), memory) << result->memoryProblem;
    extras = collectExtras(*result);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<PartitionResult> result;
  ReportExtras extras;
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_REPORT_RANDOMPLAN_H

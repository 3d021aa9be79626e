// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No plan is refused by a check: random graphs with symbols, and numbers that
// are made with sizes of tensors, under every objective, strategy, price of a
// byte and cost model, with kernels, arena, proofs and figures. What the saved
// values leave to the backward then is a size without the tensor that it was
// asked of, a view by such a size, a number of both.
//
// CUTBACK_RANDOM_GRAPHS sets how many graphs (100), CUTBACK_RANDOM_SEED the
// first seed (1). A failure prints its seed.

#include "RandomProgram.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Planner/PlanRecord.h"
#include "cutback/Planner/Planner.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct PlanKind {
  const char *name;
  Minimize minimize = Minimize::Time;
  Strategy strategy = Strategy::MinCut;
  CostModel costModel = CostModel::Roofline;
  double bytePrice = 0;
};
const PlanKind kPlanKinds[] = {
    {"default"},
    {"peak", Minimize::Peak},
    {"dear bytes", Minimize::Time, Strategy::MinCut, CostModel::Roofline, 1e9},
    {"cheap bytes", Minimize::Time, Strategy::MinCut, CostModel::Roofline, 1},
    {"pytorch", Minimize::Time, Strategy::MinCut, CostModel::PyTorch},
    {"eager", Minimize::Time, Strategy::Eager},
    {"precompute", Minimize::Time, Strategy::Precompute},
    {"recompute-all", Minimize::Time, Strategy::RecomputeAll},
};

class RandomPlansTest : public testing::Test {
protected:
  RandomPlansTest() {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
  }
  OwningOpRef<ModuleOp> program(uint64_t seed) {
    RandomProgramOptions options;
    options.numForward = 10 + seed % 8;
    options.numBackward = 12 + seed % 8;
    // With writes and draws some plans are refused rightly.
    options.percentWrite = options.percentRandom = 0;
    options.percentSizes = 25;
    options.size = 2 + int64_t(seed % 4);
    return RandomProgram(seed, options, context).build();
  }
  static PartitionOptions optionsOf(const PlanKind &kind, uint64_t seed) {
    PartitionOptions options;
    options.minimize = kind.minimize;
    options.strategy = kind.strategy;
    options.costModel = kind.costModel;
    if (kind.bytePrice != 0)
      options.bytePrice = kind.bytePrice;
    options.device = seed % 2 ? "cpu" : "h100";
    options.memory.emplace();
    return options;
  }

  MLIRContext context;
};

TEST_F(RandomPlansTest, NoCheckRefusesAPlan) {
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 100);
  std::string error;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { error = diagnostic.str(); });
  for (uint64_t seed = first; seed < first + count; ++seed) {
    OwningOpRef<ModuleOp> module = program(seed);
    ASSERT_TRUE(module) << "seed " << seed << ": " << error;
    for (const PlanKind &kind : kPlanKinds) {
      // Search takes longest.
      if (kind.minimize == Minimize::Peak && seed % 8 != 0)
        continue;
      auto plan = planCopy(*module->getOps<joint::GraphOp>().begin(),
                           optionsOf(kind, seed));
      ASSERT_TRUE(succeeded(plan))
          << "seed " << seed << ", " << kind.name << ": " << error;
      ASSERT_TRUE(plan->result->refused.empty())
          << "seed " << seed << ", " << kind.name << ": "
          << plan->result->refused.front();
    }
  }
}

/// The arena of a step is within its limit, or there is an error that says so.
TEST_F(RandomPlansTest, ALimitIsKept) {
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 100) / 10;
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      error = diagnostic.str();
  });
  uint64_t kept = 0, refused = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    OwningOpRef<ModuleOp> module = program(seed);
    ASSERT_TRUE(module) << "seed " << seed << ": " << error;
    for (double share : {1.0, 0.8, 0.6, 0.4}) {
      PartitionOptions options = optionsOf({"limit"}, seed);
      options.memoryLimit = MemoryLimit{0, share};
      error.clear();
      auto plan = planCopy(*module->getOps<joint::GraphOp>().begin(), options);
      if (failed(plan)) {
        EXPECT_TRUE(error.find("no plan was found within") == 0 ||
                    error.find("no plan fits within") == 0)
            << "seed " << seed << ": " << error;
        ++refused;
        continue;
      }
      const PartitionResult &result = *plan->result;
      ASSERT_TRUE(result.memory && result.search && result.search->limitBytes)
          << "seed " << seed;
      EXPECT_LE(result.memory->arenaBytes(), *result.search->limitBytes)
          << "seed " << seed << ", " << share;
      EXPECT_TRUE(result.verified) << "seed " << seed;
      ++kept;
    }
  }
  // A limit that saving everything keeps is not refused.
  EXPECT_GE(kept, count);
  EXPECT_GT(refused, 0u);
}

/// F.normalize over a batch of any size: the backward is given the size of
/// `mul`, and computes `mul` again, for another reader.
TEST_F(RandomPlansTest, ASizeThatIsHandedOverDoesNotWaitForItsTensor) {
  auto module = parseSourceString<ModuleOp>(R"(
    joint.graph @g(
        %p_w: tensor<1xf32> {joint.role = #joint.role<param>},
        %x: tensor<?x1xf32> {joint.role = #joint.role<input>,
                             joint.dims = ["s0", "1"]},
        %tangents_1: tensor<f32> {joint.role = #joint.role<grad_seed of 0>})
        -> (tensor<f32>) gradients (tensor<1xf32>)
        attributes {symbols = {s0 = #joint.symbol<hint = 5, min = 2>}} {
      %mul = aten.mul.Tensor(%x, %p_w) : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
      %linalg_vector_norm = aten.linalg_vector_norm(%mul, 2.000000e+00) : (tensor<?x1xf32>) -> tensor<f32>
      %sym_size = aten.sym_size.int(%mul, 0) : (tensor<?x1xf32>) -> index
      %expand_as = aten.expand(%linalg_vector_norm, [%sym_size, 1]) : (tensor<f32>, index) -> tensor<?x1xf32>
      %div = aten.div.Tensor(%mul, %expand_as) : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %sum_1 = aten.sum(%div) : (tensor<?x1xf32>) -> tensor<f32>
      %sym_size_1 = aten.sym_size.int(%div, 0) : (tensor<?x1xf32>) -> index
      %expand = aten.expand(%tangents_1, [%sym_size_1, 1]) : (tensor<f32>, index) -> tensor<?x1xf32>
      %div_1 = aten.div.Tensor(%expand, %expand_as) : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %div_2 = aten.div.Tensor(%div, %expand_as) : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %neg = aten.neg(%expand) : (tensor<?x1xf32>) -> tensor<?x1xf32>
      %mul_1 = aten.mul.Tensor(%neg, %div_2) : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %sum = aten.sum.dim_IntList(%mul_1, [0, 1]) : (tensor<?x1xf32>) -> tensor<f32>
      %div_3 = aten.div.Tensor(%mul, %linalg_vector_norm) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
      %eq = aten.eq.Scalar(%linalg_vector_norm, 0) : (tensor<f32>) -> tensor<i1>
      %masked_fill = aten.masked_fill.Scalar(%div_3, %eq, 0.000000e+00) : (tensor<?x1xf32>, tensor<i1>) -> tensor<?x1xf32>
      %mul_2 = aten.mul.Tensor(%sum, %masked_fill) : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %add = aten.add.Tensor(%div_1, %mul_2) : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %mul_3 = aten.mul.Tensor(%add, %x) : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %sum_2 = aten.sum.dim_IntList(%mul_3, [0]) : (tensor<?x1xf32>) -> tensor<1xf32>
      joint.output %sum_1 gradients(%sum_2 of 0) : tensor<f32>, tensor<1xf32>
    })",
                                            &context);
  ASSERT_TRUE(module);
  for (const PlanKind &kind : kPlanKinds)
    for (uint64_t seed : {0, 1}) {
      auto plan = planCopy(*module->getOps<joint::GraphOp>().begin(),
                           optionsOf(kind, seed));
      ASSERT_TRUE(succeeded(plan)) << kind.name;
      EXPECT_TRUE(plan->result->refused.empty()) << kind.name;
    }
}

/// A byte has a price where no size is known, too; and what a write gives is of
/// the size of its argument.
TEST_F(RandomPlansTest, SizesThatAreNotKnownHaveAPrice) {
  auto text = [](const std::string &symbol) {
    return R"(
    joint.graph @g(
        %x: tensor<?x8xf32> {joint.role = #joint.role<input>,
                             joint.dims = ["s0", "8"]},
        %b: tensor<?x8xf32> {joint.role = #joint.role<buffer>,
                             joint.dims = ["s0", "8"]},
        %t: tensor<?x8xf32> {joint.role = #joint.role<tangent of 0>,
                             joint.dims = ["s0", "8"]})
        -> (tensor<?x8xf32>) gradients (tensor<?x8xf32>)
        attributes {symbols = {s0 = #joint.symbol<)" +
           symbol + R"(>}} {
      %w = joint.write %b, %x : tensor<?x8xf32>, tensor<?x8xf32>
      %y = aten.exp(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
      %g = aten.mul.Tensor(%t, %y) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
      joint.output %y gradients(%g of 0) : tensor<?x8xf32>, tensor<?x8xf32>
    })";
  };
  for (bool isKnown : {false, true}) {
    auto module = parseSourceString<ModuleOp>(
        text(isKnown ? "hint = 64, min = 2" : "min = 2"), &context);
    ASSERT_TRUE(module);
    auto plan = planCopy(*module->getOps<joint::GraphOp>().begin(),
                         optionsOf(kPlanKinds[0], 1));
    ASSERT_TRUE(succeeded(plan));
    EXPECT_EQ(plan->result->memory.has_value(), isKnown);
    EXPECT_GT(plan->result->bytePricePs, 0) << isKnown;
  }
}

/// The next one is taken, and says so; if all are refused, the first says why.
TEST_F(RandomPlansTest, APlanThatIsRefusedIsNotTheEnd) {
  std::string error;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { error = diagnostic.str(); });
  OwningOpRef<ModuleOp> module = program(1);
  ASSERT_TRUE(module) << error;
  joint::GraphOp graph = *module->getOps<joint::GraphOp>().begin();
  for (const PlanKind &kind : ArrayRef(kPlanKinds).take_front(3)) {
    PartitionOptions options = optionsOf(kind, 1);
    options.alsoCheck =
        [](const PartitionResult &result) -> std::optional<std::string> {
      if (result.choice.strategy == Strategy::RecomputeAll)
        return std::nullopt;
      return "no plan of this kind";
    };
    auto plan = planCopy(graph, options);
    ASSERT_TRUE(succeeded(plan)) << kind.name << ": " << error;
    EXPECT_EQ(plan->result->choice.strategy, Strategy::RecomputeAll);
    EXPECT_EQ(plan->result->options.strategy, Strategy::MinCut);
    EXPECT_EQ(plan->result->refused,
              std::vector<std::string>(2, "no plan of this kind"));
    EXPECT_TRUE(plan->result->verified);
    EXPECT_EQ(std::distance(plan->module->getOps<func::FuncOp>().begin(),
                            plan->module->getOps<func::FuncOp>().end()),
              2);
    OwningOpRef<ModuleOp> stored = ModuleOp::create(graph.getLoc());
    stored->push_back(plan->result->view.graph->clone());
    joint::GraphOp recorded = *stored->getOps<joint::GraphOp>().begin();
    recordPlan(recorded, *plan->result);
    auto again = planAsRecorded(recorded);
    ASSERT_TRUE(succeeded(again)) << kind.name << ": " << error;
    EXPECT_EQ((*again)->refused, plan->result->refused);
    EXPECT_EQ(error, "");
  }
  PartitionOptions options = optionsOf(kPlanKinds[0], 1);
  unsigned asked = 0;
  options.alsoCheck = [&](const PartitionResult &) {
    return std::optional("fault " + std::to_string(++asked));
  };
  EXPECT_TRUE(failed(planCopy(graph, options)));
  EXPECT_EQ(error, "fault 1");
  EXPECT_EQ(asked, 4u);
}

} // namespace

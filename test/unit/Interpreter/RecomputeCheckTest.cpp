// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halves in which the backward computes values again, and faults that a test
// puts into one of the two.

#include "cutback/Interpreter/RecomputeCheck.h"

#include "RunHarness.h"

#include "cutback/Dialect/Joint/CallArgs.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// The backward computes %s again, a view of it, and %c in a second run; its
/// %only is another op than that of the forward.
constexpr const char *kHalves = R"(
joint.graph @g(%w: tensor<2xf32> {joint.name = "w", joint.role = #joint.role<param "w">},
               %t: tensor<2xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>})
    -> (tensor<2xf32>) gradients (tensor<2xf32>) {
  %s = aten.sin(%w) : (tensor<2xf32>) -> tensor<2xf32>
  %g = aten.mul.Tensor(%t, %s) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  joint.output %s gradients(%g of 0) : tensor<2xf32>, tensor<2xf32>
}
func.func @g_forward(%w: tensor<2xf32> {joint.name = "w"})
    -> (tensor<2xf32>, tensor<2xf32>) {
  %s = aten.sin(%w) : (tensor<2xf32>) -> tensor<2xf32>
  %v = aten.view(%s, [2]) : (tensor<2xf32>) -> tensor<2xf32>
  %c = aten.cos(%v) : (tensor<2xf32>) -> tensor<2xf32>
  %only = aten.exp(%c) : (tensor<2xf32>) -> tensor<2xf32>
  return %only, %w : tensor<2xf32>, tensor<2xf32>
}
func.func @g_backward(%w: tensor<2xf32> {joint.name = "w"},
                      %t: tensor<2xf32> {joint.name = "t"}) -> tensor<2xf32> {
  %s_recompute = aten.sin(%w) {joint.recompute = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  %v_recompute = aten.view(%s_recompute, [2]) {joint.recompute = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  %c_SUFFIX = aten.cos(%v_recompute) {joint.policy = #joint.policy<must_recompute, region = 0, run = 1>} : (tensor<2xf32>) -> tensor<2xf32>
  %only = aten.tan(%c_SUFFIX) : (tensor<2xf32>) -> tensor<2xf32>
  %g = aten.mul.Tensor(%t, %only) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %g : tensor<2xf32>
}
joint.partition @g_partition of @g forward @g_forward backward @g_backward saved ["w"]
    {num_saved_sizes = 0, num_forward_results = 1, gradient_of = array<i32: 0>}
)";

class RecomputeCheckTest : public RunTest {
protected:
  /// Runs the halves with a fault in the result called `name`.
  bool runWithFault(StringRef name, function_ref<void(RuntimeValue &)> damage,
                    StringRef suffix = "run1", unsigned times = 1) {
    std::string text = kHalves;
    for (size_t at; (at = text.find("SUFFIX")) != std::string::npos;)
      text.replace(at, 6, suffix.str());
    message.clear();
    parse(text);
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str() + "\n";
      for (Diagnostic &note : diagnostic.getNotes())
        message += "note: " + note.str() + "\n";
      return success();
    });
    OpCallback fault([&](Operation *op, MutableArrayRef<RuntimeValue> results) {
      if (joint::getValueName(op->getResult(0)) == name)
        damage(results[0]);
    });
    check = RecomputeCheck();
    InterpreterOptions options;
    options.observers = {&fault, &check};
    bool isRight = true;
    for (unsigned i = 0; i < times; ++i)
      isRight &= succeeded(
          runPartition(*module->getOps<joint::PartitionOp>().begin(),
                       *module->getOps<joint::GraphOp>().begin(),
                       {floats({2}, {1, 2}), floats({2}, {3, 4})}, options));
    return isRight;
  }
  static void nothing(RuntimeValue &) {}

  RecomputeCheck check;
};

TEST_F(RecomputeCheckTest, EqualBitsPassAndAreCounted) {
  EXPECT_TRUE(runWithFault("none", nothing)) << message;
  EXPECT_FALSE(check.hasDiffered());
  EXPECT_EQ(check.numCompared(), 3u);
  EXPECT_EQ(check.numUnseen(), 0u);
  // Of the view nothing is kept, of what runs once neither.
  EXPECT_EQ(check.keptBytes(), 2 * 2 * 4);
}

TEST_F(RecomputeCheckTest, TheFirstValueThatDiffersIsNamedWithBothPlaces) {
  EXPECT_FALSE(runWithFault("s_recompute", [](RuntimeValue &value) {
    std::get<Tensor>(value).set(1, 0.5);
  }));
  EXPECT_TRUE(check.hasDiffered());
  EXPECT_EQ(check.numCompared(), 1u);
  expectMessage("recomputed 's_recompute' = sin is not what the forward has "
                "computed: 0.5 at [1], the forward had 0.909297407; 1 of 2 "
                "elements differ");
  expectMessage("note: the forward has computed 's' = sin here");
  expectMessage("note: an op that gives other bits when it runs again must be "
                "saved: --policy=s=must-save");
}

TEST_F(RecomputeCheckTest, ZerosOfAnotherSignDiffer) {
  auto setZero = [](double zero) {
    return
        [zero](RuntimeValue &value) { std::get<Tensor>(value).set(0, zero); };
  };
  EXPECT_FALSE(runWithFault("c_run1", setZero(-0.0)));
  expectMessage("recomputed 'c_run1' = cos");
}

TEST_F(RecomputeCheckTest, TypesAndSizesAreCompared) {
  EXPECT_FALSE(runWithFault("s_recompute", [](RuntimeValue &value) {
    value = floats({3}, {1, 2, 3});
  }));
  expectMessage("recomputed 's_recompute' = sin is not what the forward has "
                "computed: a tensor<3xf32>, the forward had a tensor<2xf32>");
  EXPECT_FALSE(runWithFault("v_recompute", [](RuntimeValue &value) {
    value = tensorOf(DType::F64, {2}, {1, 2});
  }));
  expectMessage("recomputed 'v_recompute' = view is not what the forward has "
                "computed: a tensor<2xf64>, the forward had a tensor<2xf32>");
}

TEST_F(RecomputeCheckTest, ARunThatDrawsAnewSaysSo) {
  EXPECT_FALSE(runWithFault(
      "c_fresh1_run1",
      [](RuntimeValue &value) { std::get<Tensor>(value).set(0, 7); },
      "fresh1_run1"));
  expectMessage("note: it is in a region with preserve_rng = false, whose "
                "random ops draw other numbers when they run again; without "
                "that they draw the same");
}

TEST_F(RecomputeCheckTest, EachStepIsComparedWithItself) {
  EXPECT_TRUE(runWithFault("none", nothing, "run1", /*times=*/2)) << message;
  EXPECT_EQ(check.numCompared(), 3u);
}

} // namespace

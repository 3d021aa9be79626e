// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws in graphs that ops run: branches, loops, and graphs in these. No two
// rounds draw the same, and one seed gives the same bits again.

#include "cutback/Decompose/FunctionalizeRng.h"

#include "../Interpreter/RunHarness.h"

#include "mlir/IR/Verifier.h"

#include <set>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class FunctionalizeRng : public RunTest {
protected:
  /// A graph of `%x: tensor<4xf32>` and `%n: tensor<3x4xf32>` that gives
  /// tensors of type `type`.
  std::vector<double> draw(const std::string &body, const std::string &type,
                           int64_t seed) {
    auto graph = cast<joint::GraphOp>(
        parse("joint.graph @g(%x: tensor<4xf32> {joint.role = "
              "#joint.role<input>}, %n: tensor<3x4xf32> {joint.role = "
              "#joint.role<input>}, %p: tensor<i1> {joint.role = "
              "#joint.role<input>}) -> (" +
              type + ") gradients () {\n" + body +
              "\njoint.output %r : " + type + "\n}"));
    EXPECT_TRUE(succeeded(functionalizeRng(graph)));
    EXPECT_TRUE(succeeded(verify(*module)));
    Tensor number = Tensor::zeros(DType::I64, {}),
           yes = Tensor::zeros(DType::Bool, {});
    number.setInt(0, seed);
    yes.set(0, 1);
    auto results = runOn(graph, {counting({4}), counting({3, 4}), yes, number});
    EXPECT_EQ(results.size(), 1u) << message;
    return results.size() == 1 ? std::get<Tensor>(results[0]).doubles()
                               : std::vector<double>();
  }

  /// All numbers differ, a second run repeats them, another seed does not.
  void expectDistinct(const std::string &body, const std::string &type,
                      size_t count) {
    std::vector<double> first = draw(body, type, 5);
    ASSERT_EQ(first.size(), count);
    EXPECT_EQ(std::set<double>(first.begin(), first.end()).size(), count);
    EXPECT_EQ(draw(body, type, 5), first);
    std::vector<double> other = draw(body, type, 6);
    for (size_t i = 0; i < count; ++i)
      EXPECT_NE(first[i], other[i]) << i;
  }
};

const char *const kDraw =
    "%u = aten.rand_like(%a) : (tensor<4xf32>) -> tensor<4xf32>\n";

TEST_F(FunctionalizeRng, ABranchDraws) {
  std::string draw = kDraw;
  expectDistinct(
      R"(%r = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      )" + draw +
          R"(
      joint.return %u : tensor<4xf32>
    }, {
    ^bb0(%a: tensor<4xf32>):
      joint.return %a : tensor<4xf32>
    })",
      "tensor<4xf32>", 4);
}

TEST_F(FunctionalizeRng, RoundsOfAScanDiffer) {
  std::string draw = kDraw;
  expectDistinct(
      R"(%h, %r = joint.nested "higher_order.scan"(@body, [%x], [%n], []) {tuple} : (tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
    ^bb0(%c: tensor<4xf32>, %a: tensor<4xf32>):
      )" + draw +
          R"(
      joint.return %c, %u : tensor<4xf32>, tensor<4xf32>
    })",
      "tensor<3x4xf32>", 12);
}

/// Three rounds, each of which adds a draw to the sum and appends nothing.
const char *const kLoop =
    R"(%zero = aten.full([], 0, dtype = i64) : () -> tensor<i64>
    %k, %r = joint.nested "higher_order.while_loop"(@goes_on, @body, [%zero, %n], []) {tuple} : (tensor<i64>, tensor<3x4xf32>) -> (tensor<i64>, tensor<3x4xf32>) {
    ^bb0(%i: tensor<i64>, %s: tensor<3x4xf32>):
      %less = aten.lt.Scalar(%i, 3) : (tensor<i64>) -> tensor<i1>
      joint.return %less : tensor<i1>
    }, {
    ^bb0(%i: tensor<i64>, %s: tensor<3x4xf32>):
      %a = aten.select.int(%s, 0, 0) : (tensor<3x4xf32>) -> tensor<4xf32>
      %u = aten.rand_like(%a) : (tensor<4xf32>) -> tensor<4xf32>
      %row = aten.unsqueeze(%u, 0) : (tensor<4xf32>) -> tensor<1x4xf32>
      %rest = aten.slice.Tensor(%s, 0, 0, 2) : (tensor<3x4xf32>) -> tensor<2x4xf32>
      %next = aten.cat([%row, %rest], 0) : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
      %j = aten.add.Scalar(%i, 1) : (tensor<i64>) -> tensor<i64>
      joint.return %j, %next : tensor<i64>, tensor<3x4xf32>
    })";

TEST_F(FunctionalizeRng, RoundsOfAWhileLoopDiffer) {
  expectDistinct(kLoop, "tensor<3x4xf32>", 12);
}

// A draw in a branch in a round.
TEST_F(FunctionalizeRng, GraphsInARoundDraw) {
  std::string draw = kDraw;
  expectDistinct(
      R"(%h, %r = joint.nested "higher_order.scan"(@body, [%x], [%n], [%p]) {tuple} : (tensor<4xf32>, tensor<3x4xf32>, tensor<i1>) -> (tensor<4xf32>, tensor<3x4xf32>) {
    ^bb0(%c: tensor<4xf32>, %b: tensor<4xf32>, %q: tensor<i1>):
      %v = joint.nested "higher_order.cond"(%q, @yes, @no, [%b]) {tuple} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%a: tensor<4xf32>):
        )" +
          draw + R"(
        joint.return %u : tensor<4xf32>
      }, {
      ^bb0(%a: tensor<4xf32>):
        joint.return %a : tensor<4xf32>
      }
      joint.return %c, %v : tensor<4xf32>, tensor<4xf32>
    })",
      "tensor<3x4xf32>", 12);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that run graphs: which branch, how many rounds, what is stacked, and
// what is refused.

#include "RunHarness.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

using Doubles = std::vector<double>;

class NestedCallsTest : public RunTest {
protected:
  /// The results of a body that ends with `%r:N = CALL`.
  std::vector<Doubles> results(const std::string &arguments,
                               const std::string &types, unsigned count,
                               const std::string &call,
                               ArrayRef<RuntimeValue> values) {
    std::string end = "return %r#0";
    for (unsigned i = 1; i < count; ++i)
      end += ", %r#" + std::to_string(i);
    std::vector<Doubles> given;
    for (const RuntimeValue &value :
         run(arguments,
             "-> (" + types + ") {\n%r:" + std::to_string(count) + " = " +
                 call + "\n" + end + " : " + types + "\n}",
             values))
      given.push_back(std::get<Tensor>(value).doubles());
    return given;
  }
};

const char *const kCond =
    R"(joint.nested "higher_order.cond"(%p, @yes, @no, [%x, 3]) {tuple} : (tensor<i1>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    ^bb0(%a: tensor<2xf32>):
      %0 = aten.mul.Tensor(%a, 3) : (tensor<2xf32>) -> tensor<2xf32>
      joint.return %0, %a : tensor<2xf32>, tensor<2xf32>
    }, {
    ^bb0(%a: tensor<2xf32>):
      %0 = aten.neg(%a) : (tensor<2xf32>) -> tensor<2xf32>
      joint.return %a, %0 : tensor<2xf32>, tensor<2xf32>
    })";

Tensor truth(bool value) { return tensorOf(DType::Bool, {}, {double(value)}); }

} // namespace

TEST_F(NestedCallsTest, OneBranchOfACondRuns) {
  auto given = [&](bool which) {
    return results("%p: tensor<i1>, %x: tensor<2xf32>",
                   "tensor<2xf32>, tensor<2xf32>", 2, kCond,
                   {truth(which), floats({2}, {1, 2})});
  };
  EXPECT_EQ(given(true), (std::vector<Doubles>{{3, 6}, {1, 2}}));
  EXPECT_EQ(given(false), (std::vector<Doubles>{{1, 2}, {-1, -2}}));
  EXPECT_EQ(message, "");
}

TEST_F(NestedCallsTest, ACondMayHaveAConstantForItsCondition) {
  std::string call = kCond;
  call.replace(call.find("%p,"), 3, "false,");
  call.replace(call.find("tensor<i1>, "), 12, "");
  EXPECT_EQ(results("%x: tensor<2xf32>", "tensor<2xf32>, tensor<2xf32>", 2,
                    call, {floats({2}, {1, 2})}),
            (std::vector<Doubles>{{1, 2}, {-1, -2}}));
}

TEST_F(NestedCallsTest, AConditionIsOneValue) {
  std::string call = kCond;
  call.replace(call.find("tensor<i1>"), 10, "tensor<2xi1>");
  results("%p: tensor<2xi1>, %x: tensor<2xf32>", "tensor<2xf32>, tensor<2xf32>",
          2, call, {tensorOf(DType::Bool, {2}, {1, 0}), floats({2}, {1, 2})});
  expectMessage("the condition of 'higher_order.cond' is not one value");
}

TEST_F(NestedCallsTest, AResultThatIsNotTheDeclaredOneIsAnError) {
  results(
      "%p: tensor<i1>, %x: tensor<?xf32>", "tensor<2xf32>", 1,
      R"(joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<?xf32>) -> tensor<2xf32> {
    ^bb0(%a: tensor<?xf32>):
      joint.return %a : tensor<?xf32>
    }, {
    ^bb0(%a: tensor<?xf32>):
      joint.return %a : tensor<?xf32>
    })",
      {truth(true), floats({3}, {1, 2, 3})});
  expectMessage("'higher_order.cond' gives another result number 0 than a "
                "'tensor<2xf32>'");
}

static std::string loop(const std::string &name, const std::string &types) {
  return "joint.nested \"higher_order." + name +
         R"("(@goes_on, @body, [%n, %x], [%y]) {tuple} : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> ()" +
         types + R"() {
    ^bb0(%i: tensor<i64>, %a: tensor<2xf32>, %b: tensor<2xf32>):
      %0 = aten.lt.Scalar(%i, 3) : (tensor<i64>) -> tensor<i1>
      joint.return %0 : tensor<i1>
    }, {
    ^bb0(%i: tensor<i64>, %a: tensor<2xf32>, %b: tensor<2xf32>):
      %0 = aten.add.Tensor(%i, 1) : (tensor<i64>) -> tensor<i64>
      %1 = aten.mul.Tensor(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      joint.return %0, %1 : tensor<i64>, tensor<2xf32>
    })";
}

TEST_F(NestedCallsTest, ALoopRunsWhileItsConditionHolds) {
  const char *arguments =
      "%n: tensor<i64>, %x: tensor<2xf32>, %y: tensor<2xf32>";
  Tensor x = floats({2}, {1, 5}), y = floats({2}, {2, 10});
  std::string types = "tensor<i64>, tensor<2xf32>";
  auto from = [&](double first) {
    return results(arguments, types, 2, loop("while_loop", types),
                   {tensorOf(DType::I64, {}, {first}), x, y});
  };
  EXPECT_EQ(from(1), (std::vector<Doubles>{{3}, {4, 500}}));
  EXPECT_EQ(from(7), (std::vector<Doubles>{{7}, {1, 5}}));
  std::string stacks = "tensor<?xi64>, tensor<?x2xf32>";
  EXPECT_EQ(results(arguments, stacks, 2,
                    loop("while_loop_stack_output", stacks),
                    {tensorOf(DType::I64, {}, {0}), x, y}),
            (std::vector<Doubles>{{1, 2, 3}, {2, 50, 4, 500, 8, 5000}}));
  EXPECT_EQ(message, "");
  results(arguments, stacks, 2, loop("while_loop_stack_output", stacks),
          {tensorOf(DType::I64, {}, {3}), x, y});
  expectMessage("'higher_order.while_loop_stack_output' gives stacks of no "
                "rounds");
}

static const char *const kScan =
    R"(joint.nested "higher_order.scan"(@body, [%h], [%x, %z], [%y]) {tuple} : (tensor<2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>) {
    ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>, %d: tensor<2xf32>):
      %0 = aten.mul.Tensor(%a, %d) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %1 = aten.add.Tensor(%0, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %2 = aten.sub.Tensor(%a, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      joint.return %1, %2 : tensor<2xf32>, tensor<2xf32>
    })";

TEST_F(NestedCallsTest, AScanGoesOverSlices) {
  const char *arguments = "%h: tensor<2xf32>, %x: tensor<?x2xf32>, "
                          "%z: tensor<?x2xf32>, %y: tensor<2xf32>";
  Tensor h = floats({2}, {1, 1}), y = floats({2}, {2, 3});
  Tensor x = counting({2, 2}), z = floats({2, 2}, {1, 0, 0, 1});
  EXPECT_EQ(results(arguments, "tensor<2xf32>, tensor<?x2xf32>", 2, kScan,
                    {h, x, z, y}),
            (std::vector<Doubles>{{6, 15}, {0, 1, 2, 3}}));
  EXPECT_EQ(message, "");
  for (const Tensor &other : {counting({3, 2}), counting({0, 2})}) {
    results(arguments, "tensor<2xf32>, tensor<?x2xf32>", 2, kScan,
            {h, x, other, y});
    expectMessage("'higher_order.scan' goes over tensors of different or no "
                  "lengths");
  }
}

TEST_F(NestedCallsTest, AGraphThatDrawsIsRefused) {
  std::string call = kCond;
  call.replace(call.find("aten.neg"), 8, "aten.bernoulli");
  results("%p: tensor<i1>, %x: tensor<2xf32>", "tensor<2xf32>, tensor<2xf32>",
          2, call, {truth(true), floats({2}, {1, 2})});
  expectMessage("'higher_order.cond' cannot be executed: a graph of it draws "
                "random numbers");
  expectMessage("note: draw them in front of the call, and hand them over");
}

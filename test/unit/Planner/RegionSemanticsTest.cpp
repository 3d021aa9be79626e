// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoint regions, sentence by sentence (docs/Semantics.md): what is saved,
// how often ops run, and the bits of gradients against those of the program
// without regions.

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Planner/TrainingGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

std::string tensorType() { return "tensor<4x4xf32>"; }

/// `%to = aten.op(%from) : ...`
std::string unary(const std::string &to, const std::string &op,
                  const std::string &from) {
  return to + " = aten." + op + "(" + from + ") : (" + tensorType() + ") -> " +
         tensorType() + "\n";
}
std::string binary(const std::string &to, const std::string &op,
                   const std::string &a, const std::string &b) {
  return to + " = aten." + op + "(" + a + ", " + b + ") : (" + tensorType() +
         ", " + tensorType() + ") -> " + tensorType() + "\n";
}

/// Once more the same value, by an op whose gradient reads none.
std::string rename(const std::string &to, const std::string &from) {
  return to + " = aten.mul.Scalar(" + from + ", 1.0) : (" + tensorType() +
         ") -> " + tensorType() + "\n";
}

class RegionSemantics : public testing::Test {
protected:
  RegionSemantics() {
    context.disableMultithreading();
    registerTrainingGraph(context);
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
  }

  /// A region, or with `withRegions` off what is in it: the results are called
  /// `to`, the values that they are `from`.
  std::string region(const std::string &to, const std::string &body,
                     const std::string &from,
                     const std::string &attributes = "") {
    if (!withRegions)
      return body + rename(to, from);
    return to + " = joint.checkpoint " +
           (attributes.empty() ? "" : "attributes {" + attributes + "} ") +
           "{\n" + body + rename(from + "_", from) + "joint.yield " + from +
           "_ : " + tensorType() + "\n} : " + tensorType() + "\n";
  }

  /// The joint graph of a program from parameter %w, input %x and a seed %s
  /// that gives `loss`, a tensor.
  joint::GraphOp program(const std::string &body, const std::string &loss) {
    std::string text =
        "joint.graph @g(%w: " + tensorType() +
        " {joint.role = #joint.role<param \"w\">}, %x: " + tensorType() +
        " {joint.role = #joint.role<input>}, %s: tensor<i64> {joint.role = "
        "#joint.role<rng_seed>}) -> (tensor<f32>) gradients () {\n" +
        body + "%sum = aten.sum(" + loss + ") : (" + tensorType() +
        ") -> tensor<f32>\njoint.output %sum : tensor<f32>\n}";
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back()) << text;
    if (!modules.back())
      return {};
    auto graph = *modules.back()->getOps<joint::GraphOp>().begin();
    EXPECT_TRUE(succeeded(makeTrainingGraph(graph)));
    return graph;
  }

  struct Step {
    std::vector<RuntimeValue> results;
    std::unique_ptr<PartitionResult> plan;
    /// By name of an op, how often the forward and the backward run it.
    std::map<std::string, unsigned> forward, backward;
    std::vector<std::string> saved; ///< tensors that are no arguments
  };

  std::vector<RuntimeValue> arguments(joint::GraphOp graph) {
    llvm::StringMap<int64_t> symbols;
    auto find = [](StringRef) -> std::optional<Tensor> {
      Tensor tensor = Tensor::zeros(DType::F32, {4, 4});
      for (int i = 0; i < 16; ++i)
        tensor.set(i, std::sin(7.0 * i));
      return tensor;
    };
    auto bound = bindArguments(graph, nameStep(graph), find, symbols);
    EXPECT_TRUE(succeeded(bound));
    return *bound;
  }

  static void count(func::FuncOp half, std::map<std::string, unsigned> &by) {
    for (Operation &op : half.getBody().front().without_terminator())
      ++by[op.getName().stripDialect().str()];
  }

  Step plan(joint::GraphOp graph, Strategy strategy = Strategy::MinCut,
            CostModel costModel = CostModel::Roofline) {
    Step step;
    PartitionOptions options;
    options.strategy = strategy;
    options.costModel = costModel;
    auto result = planStep(graph, options);
    EXPECT_TRUE(succeeded(result));
    if (failed(result))
      return step;
    step.plan = std::move(*result);
    EXPECT_TRUE(step.plan->verified);
    joint::GraphOp planned = step.plan->view.graph;
    auto results =
        runPartition(step.plan->partition.link, planned, arguments(planned));
    EXPECT_TRUE(succeeded(results));
    if (succeeded(results))
      step.results = *results;
    count(step.plan->partition.forward, step.forward);
    count(step.plan->partition.backward, step.backward);
    for (const SavedValue &saved : step.plan->saved)
      if (!saved.argument && saved.kind == SavedValue::Tensor)
        step.saved.push_back(saved.name);
    return step;
  }

  static void expectEqual(const Step &a, const Step &b) {
    ASSERT_EQ(a.results.size(), b.results.size());
    for (size_t i = 0; i < a.results.size(); ++i)
      EXPECT_TRUE(equalBits(a.results[i], b.results[i])) << "result " << i;
  }

  /// The step with regions, whose results are those of `build` without them,
  /// everything saved, whatever the strategy.
  Step check(llvm::function_ref<joint::GraphOp()> build) {
    withRegions = false;
    Step whole = plan(build(), Strategy::Precompute);
    withRegions = true;
    for (Strategy strategy :
         {Strategy::Eager, Strategy::Precompute, Strategy::RecomputeAll})
      expectEqual(whole, plan(build(), strategy));
    expectEqual(whole, plan(build(), Strategy::MinCut, CostModel::PyTorch));
    Step step = plan(build());
    expectEqual(whole, step);
    return step;
  }

  MLIRContext context;
  std::vector<OwningOpRef<ModuleOp>> modules;
  bool withRegions = true;
};

TEST_F(RegionSemantics, SavedFromARegionAreItsInputsOnly) {
  Step step = check([&] {
    return program(region("%y",
                          binary("%a", "mm", "%w", "%w") +
                              unary("%b", "sin", "%a") +
                              binary("%c", "mm", "%b", "%w"),
                          "%c"),
                   "%y");
  });
  EXPECT_TRUE(step.saved.empty());
  EXPECT_EQ(step.backward["sin"], 1u) << "runs again";
}

TEST_F(RegionSemantics, InputsOfAnInnerRegionAreSavedByTheOuterRun) {
  // Two inner regions: the outer run gives the first one's result, for the
  // second one's run; the first one runs by itself behind it.
  Step step = check([&] {
    std::string first =
        region("%p",
               binary("%a", "mm", "%w", "%w") + unary("%b", "sin", "%a") +
                   unary("%c", "sigmoid", "%b"),
               "%c");
    std::string second = region(
        "%q", binary("%d", "mm", "%p", "%w") + unary("%e", "cos", "%d"), "%e");
    return program(region("%y", first + second, "%q"), "%y");
  });
  EXPECT_TRUE(step.saved.empty());
  EXPECT_EQ(step.forward["sin"], 1u);
  EXPECT_EQ(step.backward["sigmoid"], 2u) << "in the outer and the inner run";
}

TEST_F(RegionSemantics, NestingMayHaveAnyDepth) {
  for (unsigned depth : {3u, 6u, 20u}) {
    Step step = check([&] {
      std::string body = binary("%a", "mm", "%w", "%w") +
                         unary("%b0", "sin", "%a") + unary("%c0", "cos", "%b0");
      std::string from = "%c0";
      for (unsigned i = 0; i < depth; ++i) {
        std::string n = std::to_string(i);
        body = region("%r" + n, body, from) + unary("%t" + n, "sin", "%r" + n);
        from = "%t" + n;
      }
      return program(body, from);
    });
    EXPECT_EQ(step.forward["cos"], 1u);
    EXPECT_GT(step.backward["cos"], 1u);
  }
}

TEST_F(RegionSemantics, AValueOnABoundaryIsSavedOnce) {
  Step step = check([&] {
    std::string first = region("%p", binary("%a", "mm", "%w", "%w"), "%a");
    std::string second = region(
        "%q", binary("%d", "mm", "%p", "%w") + unary("%e", "sin", "%d"), "%e");
    return program(first + second, "%q");
  });
  EXPECT_EQ(step.saved.size(), 1u);
}

TEST_F(RegionSemantics, RecomputationEndsWithTheLastValueThatIsNeeded) {
  auto build = [&](const std::string &attributes) {
    return check([&] {
      return program(region("%y",
                            unary("%a", "sin", "%w") +
                                binary("%b", "mm", "%a", "%x") +
                                unary("%c", "neg", "%b"),
                            "%c", attributes),
                     "%y");
    });
  };
  // The gradient of sin reads %w; neg, and the product with an input that has
  // no gradient, read nothing.
  Step early = build("");
  EXPECT_EQ(early.backward["neg"], 1u) << "of the gradient";
  EXPECT_EQ(early.backward["rerun"], 0u);
  Step whole = build("early_stop = false");
  EXPECT_EQ(whole.backward["rerun"], 1u);
  EXPECT_EQ(whole.backward["neg"], 2u);
  EXPECT_EQ(whole.backward["mm"], early.backward["mm"] + 1);
}

TEST_F(RegionSemantics, ARegionWithoutGradientsDoesNotRunAgain) {
  Step step = check([&] {
    return program(
        region("%y", unary("%a", "sin", "%x"), "%a", "early_stop = false") +
            binary("%z", "mul.Tensor", "%y", "%w"),
        "%z");
  });
  EXPECT_EQ(step.forward["sin"], 1u);
}

TEST_F(RegionSemantics, ASecondBackwardRecomputesAgain) {
  joint::GraphOp graph = program(
      region("%y",
             region("%p",
                    binary("%a", "mm", "%w", "%w") + unary("%b", "sin", "%a"),
                    "%b") +
                 binary("%c", "mm", "%p", "%w"),
             "%c"),
      "%y");
  Step step = plan(graph);
  joint::GraphOp planned = step.plan->view.graph;
  func::FuncOp forward = step.plan->partition.forward;
  func::FuncOp backward = step.plan->partition.backward;
  std::vector<RuntimeValue> all = arguments(planned);
  std::vector<RuntimeValue> given(all.begin(),
                                  all.begin() + forward.getNumArguments());
  auto first = run(forward, given);
  ASSERT_TRUE(succeeded(first));
  // Saved values, then the gradient of the loss.
  std::vector<RuntimeValue> taken(first->begin() + 1, first->end());
  taken.insert(taken.end(), all.begin() + forward.getNumArguments(), all.end());
  ASSERT_EQ(taken.size(), backward.getNumArguments());
  unsigned runs[2] = {0, 0};
  std::vector<RuntimeValue> gradients[2];
  for (int i : {0, 1}) {
    InterpreterOptions options;
    OpCallback observer([&](Operation *op, ArrayRef<RuntimeValue>) {
      runs[i] += op->getName().getStringRef() == "aten.sin";
    });
    options.observers = {&observer};
    auto results = run(backward, taken, options);
    ASSERT_TRUE(succeeded(results));
    gradients[i] = *results;
  }
  EXPECT_GT(runs[0], 0u);
  EXPECT_EQ(runs[0], runs[1]) << "nothing is kept between the two";
  for (size_t i = 0; i < gradients[0].size(); ++i)
    EXPECT_TRUE(equalBits(gradients[0][i], gradients[1][i]));
}

/// The gradient of cos(sin(x)) in the region that computes it.
std::string gradientInside() {
  return unary("%y0", "sin", "%w") + unary("%z0", "cos", "%y0") +
         unary("%s0", "sin", "%y0") + unary("%n0", "neg", "%s0") +
         unary("%c0", "cos", "%w") + binary("%g0", "mul.Tensor", "%n0", "%c0");
}

TEST_F(RegionSemantics, AGradientInsideARegionMayBeAResult) {
  // retain_graph: the region gives the gradient and the value.
  Step step = check([&] {
    return program(
        region("%r",
               gradientInside() + binary("%o", "add.Tensor", "%g0", "%z0"),
               "%o"),
        "%r");
  });
  EXPECT_TRUE(step.saved.empty());
}

TEST_F(RegionSemantics, WhatAGradientInsideHasFreedIsNotRecomputed) {
  // x.cos() * gx, where gx has no history: z is read by nobody any more.
  Step step = check([&] {
    return program(region("%r",
                          gradientInside() + unary("%d0", "detach", "%g0") +
                              unary("%k0", "cos", "%w") +
                              binary("%o", "mul.Tensor", "%k0", "%d0"),
                          "%o"),
                   "%r");
  });
  EXPECT_TRUE(step.saved.empty());
  EXPECT_EQ(step.backward["cos"], 1u) << "of w alone: y's is not needed";
}

std::string draw(const std::string &to, unsigned stream) {
  return to + " = joint.random <uniform> %s stream " + std::to_string(stream) +
         " : (tensor<i64>) -> " + tensorType() + "\n";
}

TEST_F(RegionSemantics, RandomOpsSeeTheSameBits) {
  Step step = check([&] {
    std::string inner =
        region("%p",
               draw("%r", 0) + binary("%a", "mul.Tensor", "%w", "%r") +
                   unary("%b", "sin", "%a"),
               "%b");
    return program(region("%y",
                          inner + draw("%q", 1) +
                              binary("%c", "mul.Tensor", "%p", "%q") +
                              unary("%d", "sin", "%c"),
                          "%d"),
                   "%y");
  });
  EXPECT_TRUE(step.saved.empty());
}

TEST_F(RegionSemantics, WithoutPreservedStatesTheyDrawAnew) {
  unsigned warnings = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &) { ++warnings; });
  auto build = [&](const std::string &attributes) {
    return program(
        region("%y",
               region("%p",
                      draw("%r", 0) + binary("%a", "mul.Tensor", "%w", "%r") +
                          unary("%b", "sin", "%a"),
                      "%b") +
                   unary("%c", "sin", "%p"),
               "%c", attributes),
        "%y");
  };
  Step same = plan(build(""));
  EXPECT_EQ(warnings, 0u);
  Step fresh = plan(build("preserve_rng = false"));
  EXPECT_EQ(warnings, 1u) << "said once";
  EXPECT_TRUE(equalBits(same.results[0], fresh.results[0])) << "the loss";
  EXPECT_FALSE(equalBits(same.results[1], fresh.results[1])) << "a gradient";
  // What is drawn anew is a part of the program: all strategies draw it.
  for (Strategy strategy :
       {Strategy::Eager, Strategy::Precompute, Strategy::RecomputeAll})
    expectEqual(fresh, plan(build("preserve_rng = false"), strategy));
  expectEqual(fresh, plan(build("preserve_rng = false")));
}

TEST_F(RegionSemantics, MustSaveWinsOverTheRegion) {
  Step step = check([&] {
    std::string inner =
        region("%p",
               binary("%a", "mm", "%w", "%w") + unary("%b", "sin", "%a") +
                   binary("%c", "mm", "%b", "%w") + unary("%e", "sin", "%c"),
               "%e", "policies = {aten.mm = #joint.policy<must_recompute>}");
    return program(region("%y", inner + unary("%d", "sin", "%p"), "%d",
                          "policies = {aten.mm = #joint.policy<must_save>}"),
                   "%y");
  });
  EXPECT_EQ(step.saved.size(), 2u) << "the results of both products";
}

TEST_F(RegionSemantics, ARegionThatAdvisesBindsNobody) {
  auto build = [&](const std::string &attributes) {
    return check([&] {
      std::string body;
      std::string from = "%w";
      for (unsigned i = 0; i < 6; ++i) {
        std::string n = std::to_string(i);
        body += binary("%m" + n, "mm", from, "%w") +
                unary("%t" + n, "sin", "%m" + n);
        from = "%t" + n;
      }
      return program(region("%y", body, from, attributes), "%y");
    });
  };
  EXPECT_TRUE(build("").saved.empty());
  EXPECT_FALSE(build("advise = true").saved.empty());
}

TEST_F(RegionSemantics, RecomputationHasTheTypesOfTheForward) {
  Step step = check([&] {
    std::string half = "tensor<4x4xbf16>";
    std::string body =
        "%h = aten._to_copy(%w, dtype = bf16) : (" + tensorType() + ") -> " +
        half + "\n%m = aten.mm(%h, %h) : (" + half + ", " + half + ") -> " +
        half + "\n%n = aten.sin(%m) : (" + half + ") -> " + half +
        "\n%o = aten._to_copy(%n, dtype = f32) : (" + half + ") -> " +
        tensorType() + "\n";
    return program(
        region("%y", region("%p", body, "%o") + unary("%q", "sin", "%p"), "%q"),
        "%y");
  });
  EXPECT_TRUE(step.saved.empty());
}

TEST_F(RegionSemantics, AReentrantRegionRunsWhole) {
  Step step = check([&] {
    return program(unary("%v", "sin", "%w") +
                       region("%y",
                              unary("%a", "sin", "%v") +
                                  binary("%b", "mm", "%a", "%x") +
                                  unary("%c", "neg", "%b"),
                              "%c", "reentrant = true"),
                   "%y");
  });
  EXPECT_EQ(step.backward["rerun"], 1u);
}

} // namespace

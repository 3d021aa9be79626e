// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stages on which PyTorch's own split of the backward counts a gradient twice,
// sums edges that are apart, or fails; tied weights, a parameter that no input
// meets, the first stage, buffers that the backward writes. And phases that
// were damaged, which the certificate refuses.

#include "RandomProgram.h"
#include "RunPhases.h"

#include "cutback/Analysis/ParameterGroups.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Planner/ThreeWay.h"
#include "cutback/Planner/TrainingGraph.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;
using namespace cutback::test;

namespace {

constexpr const char *kMatrix = "tensor<4x4xf32>";

/// A forward program: parameters as named, an input that takes a gradient if
/// asked for, and a body whose result is %y. `M` is the type.
std::string stage(ArrayRef<StringRef> parameters, StringRef body,
                  bool takesGradient = true) {
  std::string text = "joint.graph @g(";
  for (StringRef name : parameters)
    text += ("%" + name + ": M {joint.role = #joint.role<param \"" + name +
             "\">, joint.requires_grad}, ")
                .str();
  text += "%x: M {joint.role = #joint.role<input>";
  text += takesGradient ? ", joint.requires_grad" : "";
  text += "}) -> (M) gradients () {\n" + body.str() +
          "\n  joint.output %y : M\n}\n";
  for (size_t at = 0; (at = text.find('M', at)) != std::string::npos;)
    if (std::isalnum(text[at + 1]) || (at && std::isalnum(text[at - 1])))
      ++at;
    else
      text.replace(at, 1, kMatrix);
  return text;
}

std::string call(StringRef result, StringRef op, ArrayRef<StringRef> operands) {
  std::string text = ("  %" + result + " = aten." + op + "(").str(), types;
  for (StringRef operand : operands) {
    text += (types.empty() ? "%" : ", %") + operand.str();
    types += types.empty() ? "M" : ", M";
  }
  return text + ") : (" + types + ") -> M\n";
}

struct Expected {
  std::string text;
  unsigned inputs, weights;
  std::vector<std::vector<std::string>> groups; ///< parameters of each
};

class ThreeWayGraphs : public testing::Test {
protected:
  ThreeWayGraphs() {
    registerTrainingGraph(context);
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
  }
  OwningOpRef<ModuleOp> parse(const std::string &text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    if (module && graphOf(*module).getOutput().getGradientOf().empty())
      EXPECT_TRUE(succeeded(makeTrainingGraph(graphOf(*module)))) << text;
    return module;
  }
  static joint::GraphOp graphOf(ModuleOp module) {
    return *module.getOps<joint::GraphOp>().begin();
  }
  void check(const Expected &expected);
  void checkRule(ModuleOp original, const ThreeWayOptions &options,
                 const Expected &expected);
  /// Errors of `run`, joined.
  template <typename Run> std::string errorsOf(Run run) {
    std::string errors;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      for (Diagnostic &note : diagnostic.getNotes())
        errors += note.str() + "\n";
    });
    run();
    return errors;
  }

  MLIRContext context;
};

void ThreeWayGraphs::checkRule(ModuleOp original,
                               const ThreeWayOptions &options,
                               const Expected &expected) {
  OwningOpRef<ModuleOp> module(original.clone());
  joint::GraphOp graph = graphOf(*module);
  auto made = partitionThreeWay(graph, options);
  ASSERT_TRUE(succeeded(made)) << expected.text;
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(made->functions.inputGradientOf.size(), expected.inputs);
  EXPECT_EQ(made->functions.weightGradientOf.size(), expected.weights);
  if (!expected.inputs)
    EXPECT_EQ(made->figures.inputOps, 0u) << expected.text;
  StepNames names = nameStep(graph);
  auto given = randomArguments(graph, names, 3, 7);
  auto again = randomArguments(graph, names, 3, 7);
  ASSERT_TRUE(succeeded(given) && succeeded(again));
  auto whole = run(graph, *given);
  auto phases = runPhases(graph, made->functions, *again);
  ASSERT_TRUE(succeeded(whole) && succeeded(phases));
  ASSERT_EQ(whole->size(), phases->size());
  for (size_t i = 0; i < whole->size(); ++i)
    EXPECT_TRUE(equalBits((*whole)[i], (*phases)[i]))
        << expected.text << "result " << i;
}

void ThreeWayGraphs::check(const Expected &expected) {
  OwningOpRef<ModuleOp> module = parse(expected.text);
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  FailureOr<GraphSets> sets = GraphSets::compute(view);
  ASSERT_TRUE(succeeded(sets));
  std::vector<std::vector<std::string>> groups;
  for (const ParameterGroup &group : findParameterGroups(view, *sets)) {
    groups.emplace_back();
    for (uint32_t value : group.parameters)
      groups.back().push_back(view.name(value));
    EXPECT_EQ(group.intermediates.empty(), expected.inputs == 0);
  }
  EXPECT_EQ(groups, expected.groups) << expected.text;
  for (ThreeWayRule rule : {ThreeWayRule::Closure, ThreeWayRule::Cuts})
    for (double price : {0.0, 1e6}) {
      ThreeWayOptions options;
      options.rule = rule;
      options.toInputPrice = options.toWeightPrice = price;
      checkRule(*module, options, expected);
    }
}

/// x @ w @ w: PyTorch 2.3's split counts a part of the gradient of w twice.
TEST_F(ThreeWayGraphs, AWeightThatIsUsedTwiceInARow) {
  check(
      {stage({"w"}, call("a", "mm", {"x", "w"}) + call("y", "mm", {"a", "w"})),
       1,
       1,
       {{"w"}}});
}

TEST_F(ThreeWayGraphs, AWeightThatIsUsedTwiceWithAnOpBetween) {
  check({stage({"w"}, call("a", "mm", {"x", "w"}) + call("b", "relu", {"a"}) +
                          call("y", "mm", {"b", "w"})),
         1,
         1,
         {{"w"}}});
}

/// An intermediate with several outputs: each has a gradient of its own.
TEST_F(ThreeWayGraphs, AnOpWithSeveralResultsBetween) {
  check({stage({"w"},
               call("a", "mm", {"x", "w"}) +
                   "  %p, %q, %r, %s = aten.unbind.int(%a) : (M) -> "
                   "(tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, "
                   "tensor<4xf32>)\n"
                   "  %u = aten.mul.Tensor(%p, %r) : (tensor<4xf32>, "
                   "tensor<4xf32>) -> tensor<4xf32>\n"
                   "  %v = aten.sin(%q) : (tensor<4xf32>) -> tensor<4xf32>\n"
                   "  %y = aten.stack([%u, %v, %u, %s]) : (tensor<4xf32>, "
                   "tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> M\n"),
         1,
         1,
         {{"w"}}});
}

/// relu(x @ w) @ v @ w: groups meet.
TEST_F(ThreeWayGraphs, AWeightAroundAnotherOne) {
  check({stage({"w", "v"},
               call("a", "mm", {"x", "w"}) + call("b", "relu", {"a"}) +
                   call("c", "mm", {"b", "v"}) + call("y", "mm", {"c", "w"})),
         1,
         2,
         {{"w"}, {"v"}}});
}

/// x @ (w * v) + x @ (v * u): PyTorch goes through a subgraph twice.
TEST_F(ThreeWayGraphs, ParametersThatMeetBeforeTheInputDoes) {
  check({stage({"w", "v", "u"}, call("a", "mul.Tensor", {"w", "v"}) +
                                    call("b", "mul.Tensor", {"v", "u"}) +
                                    call("c", "mm", {"x", "a"}) +
                                    call("d", "mm", {"x", "b"}) +
                                    call("y", "add.Tensor", {"c", "d"})),
         1,
         3,
         {{"w", "v", "u"}}});
}

/// linear(x, w, b).tanh() * b.
TEST_F(ThreeWayGraphs, ABiasThatIsUsedAgain) {
  check({stage({"w", "b"}, call("a", "addmm", {"b", "x", "w"}) +
                               call("c", "tanh", {"a"}) +
                               call("y", "mul.Tensor", {"c", "b"})),
         1,
         2,
         {{"w", "b"}}});
}

TEST_F(ThreeWayGraphs, TheFirstStageHasOneBackward) {
  check({stage({"w", "v"},
               call("a", "mm", {"x", "w"}) + call("b", "tanh", {"a"}) +
                   call("y", "mm", {"b", "v"}),
               /*takesGradient=*/false),
         0,
         2,
         {{"w"}, {"v"}}});
}

/// A parameter whose gradient no input's gradient has a part in.
TEST_F(ThreeWayGraphs, AParameterThatMeetsTheInputLast) {
  check(
      {stage({"w", "v"}, call("a", "exp", {"v"}) + call("b", "mm", {"a", "v"}) +
                             call("c", "mm", {"x", "w"}) +
                             call("y", "add.Tensor", {"b", "c"})),
       1,
       2,
       {{"w"}, {"v"}}});
}

/// One tensor with two names, before and after: each has the whole sum.
TEST_F(ThreeWayGraphs, TiedWeights) {
  std::string text = stage(
      {"w", "v", "u"}, call("a", "mm", {"x", "w"}) + call("b", "relu", {"a"}) +
                           call("c", "mm", {"b", "v"}) +
                           "  %ut = aten.t(%u) : (M) -> M\n" +
                           call("y", "mm", {"c", "ut"}));
  std::string tied = "#joint.role<param \"u\">";
  text.replace(text.find(tied), tied.size(), tied + ", joint.tied = \"w\"");
  size_t at;
  while ((at = text.find("(M) -> M")) != std::string::npos)
    text.replace(at, 8, "(tensor<4x4xf32>) -> tensor<4x4xf32>");
  check({text, 1, 3, {{"w"}, {"v"}, {"u"}}});
}

/// The weight phase needs nothing that is computed in the input phase, and the
/// other way round.
TEST_F(ThreeWayGraphs, NoParametersAndNoWeightPhase) {
  check({stage({}, call("a", "exp", {"x"}) + call("y", "tanh", {"a"})),
         1,
         0,
         {}});
}

/// A buffer that the backward writes, from what only weight gradients need.
constexpr const char *kWrites = R"(
joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %b: tensor<4xf32> {joint.role = #joint.role<buffer "b">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>, tensor<4xf32>) {
  %y = aten.mul.Tensor(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %old = aten.mul.Tensor(%b, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %new = joint.write %b, %t {side = #joint.side<backward>} : tensor<4xf32>, tensor<4xf32>
  %sum = aten.add.Tensor(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dw = aten.mul.Tensor(%old, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dx = aten.mul.Tensor(%sum, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%dw of 0, %dx of 2) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
})";

TEST_F(ThreeWayGraphs, AWriteStaysBetweenItsReaders) {
  OwningOpRef<ModuleOp> module = parse(kWrites);
  ASSERT_TRUE(module);
  for (ThreeWayRule rule : {ThreeWayRule::Closure, ThreeWayRule::Cuts}) {
    ThreeWayOptions options;
    options.rule = rule;
    options.severalInFlight = false;
    checkRule(*module, options, {kWrites, 1, 1, {}});
  }
}

/// Running statistics: the forward alone reads and writes them, and what it
/// computed from them is handed over. What reads them in the backward would see
/// those of another micro-batch.
TEST_F(ThreeWayGraphs, AWrittenBufferIsForOnePhase) {
  std::string head = R"(
joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %b: tensor<4xf32> {joint.role = #joint.role<buffer "b">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>, tensor<4xf32>) {
  %mean = aten.add.Tensor(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %new = joint.write %b, %mean : tensor<4xf32>, tensor<4xf32>
  %scale = aten.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %a = aten.mul.Tensor(%x, %scale) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = aten.mul.Tensor(%a, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dw = aten.mul.Tensor(%t, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dx = aten.mul.Tensor(%t, )";
  std::string tail =
      R"() : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%dw of 0, %dx of 2) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
})";
  for (ThreeWayRule rule : {ThreeWayRule::Closure, ThreeWayRule::Cuts})
    for (double price : {0.0, 1e6}) {
      ThreeWayOptions options;
      options.rule = rule;
      options.toInputPrice = options.toWeightPrice = price;
      std::string good = head + "%scale" + tail, bad = head + "%b" + tail;
      checkRule(*parse(good), options, {good, 1, 1, {}});
      OwningOpRef<ModuleOp> mixes = parse(bad);
      std::string errors = errorsOf([&] {
        EXPECT_TRUE(failed(partitionThreeWay(graphOf(*mixes), options)));
      });
      EXPECT_NE(
          errors.find("writes 'b' in the forward, and the input phase reads or "
                      "writes it too: with several micro-batches in flight one "
                      "would see what another one has written"),
          std::string::npos)
          << errors;
      EXPECT_NE(errors.find("let one phase alone read and write it: copy the "
                            "value that the others read"),
                std::string::npos);
      EXPECT_TRUE(mixes->getOps<func::FuncOp>().empty());
      options.severalInFlight = false;
      checkRule(*parse(bad), options, {bad, 1, 1, {}});
    }
  // Two halves have the same limit.
  OwningOpRef<ModuleOp> mixes = parse(head + "%b" + tail);
  PartitionOptions halves;
  halves.figures = false;
  auto planned = partitionGraph(graphOf(*mixes), halves);
  ASSERT_TRUE(succeeded(planned));
  std::string errors = errorsOf([&] {
    EXPECT_TRUE(failed(verifyInFlight((*planned)->view, (*planned)->halves)));
  });
  EXPECT_NE(errors.find("in the forward, and the backward reads or writes"),
            std::string::npos)
      << errors;
}

TEST_F(ThreeWayGraphs, DamagedPhasesAreRefused) {
  OwningOpRef<ModuleOp> module = parse(
      stage({"w", "v"}, call("a", "mm", {"x", "w"}) + call("b", "tanh", {"a"}) +
                            call("y", "mm", {"b", "v"})));
  joint::GraphOp graph = graphOf(*module);
  auto made = partitionThreeWay(graph);
  ASSERT_TRUE(succeeded(made));
  PhaseFunctions phases = made->functions;
  auto refusal = [&] {
    return errorsOf([&] { EXPECT_TRUE(failed(verifyPhases(graph, phases))); });
  };
  // Two results of the weight phase change places.
  Operation *end = phases.weight.getBody().front().getTerminator();
  SmallVector<Value> results(end->getOperands());
  ASSERT_EQ(results.size(), 2u);
  end->setOperands({results[1], results[0]});
  EXPECT_NE(refusal().find("is not what the joint graph computes"),
            std::string::npos);
  end->setOperands(results);
  // A handed value is missing.
  HandedValue last = phases.toWeight.back();
  phases.toWeight.pop_back();
  EXPECT_NE(refusal().find(" are handed over; '"), std::string::npos);
  phases.toWeight.push_back(last);
  EXPECT_TRUE(succeeded(verifyPhases(graph, phases)));
  // The weight phase takes it as another type.
  unsigned arg = phases.weight.getNumArguments() - 1;
  Type type = phases.weight.getArgumentTypes()[arg];
  phases.weight.setType(FunctionType::get(
      &context,
      SmallVector<Type>(arg + 1,
                        RankedTensorType::get({2}, Float32Type::get(&context))),
      phases.weight.getResultTypes()));
  EXPECT_NE(type, phases.weight.getArgumentTypes()[arg]);
  std::string errors = refusal();
  EXPECT_NE(errors.find("'g_input' returns 'tensor<4x4xf32>'"),
            std::string::npos)
      << errors;
}

/// A view of a buffer crosses the border, and the input phase writes the buffer
/// after it.
TEST_F(ThreeWayGraphs, AViewOfWhatIsWrittenDoesNotCross) {
  OwningOpRef<ModuleOp> module = parse(R"(
joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}, %b: tensor<4xf32> {joint.role = #joint.role<buffer "b">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>, tensor<4xf32>) {
  %y = aten.mul.Tensor(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %old = aten.view(%b, [2, 2]) : (tensor<4xf32>) -> tensor<2x2xf32>
  %new = joint.write %b, %t {side = #joint.side<backward>} : tensor<4xf32>, tensor<4xf32>
  %dx = aten.add.Tensor(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %flat = aten.view(%old, [4]) : (tensor<2x2xf32>) -> tensor<4xf32>
  %dw = aten.mul.Tensor(%flat, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%dw of 0, %dx of 2) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
})");
  // What is prepared copies the view; here it is not.
  GraphView view = GraphView::build(graphOf(*module));
  FailureOr<GraphSets> sets = GraphSets::compute(view);
  ASSERT_TRUE(succeeded(sets));
  PhaseKinds kinds = PhaseKinds::compute(view, *sets);
  PhasePlan plan;
  plan.toInput.assign(view.numValues(), 0);
  plan.toWeight.assign(view.numValues(), 0);
  PhaseFunctions phases =
      emitPhases(view, splitPhases(view, *sets, kinds, plan), kinds);
  std::string errors = errorsOf(
      [&] { EXPECT_TRUE(failed(verifyPhases(graphOf(*module), phases))); });
  EXPECT_NE(errors.find("' shows, which the weight gradients are given"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("copy the value before the write"), std::string::npos);
  erasePhases(phases);
  EXPECT_TRUE(module->getOps<func::FuncOp>().empty());
}

} // namespace

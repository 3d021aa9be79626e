// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that hold the gradient of a norm, differentiated: in double, against
// finite differences of the program itself. The statistics that the gradient
// reads come from the norm, and change with the input.

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Planner/TrainingGraph.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

struct NormCase {
  const char *name, *norm, *gradient, *sizes, *weight, *statistics;
  std::vector<int64_t> shape;
  int64_t channels;
  bool hasMean = true;
};

void PrintTo(const NormCase &c, std::ostream *os) { *os << c.name; }

/// sum(sin(dx)) + sum(cos(dw)) of a norm's gradient for output gradient g.
std::string programOf(const NormCase &c) {
  std::string x = "tensor<" + std::string(c.sizes) + "xf64>";
  std::string w = "tensor<" + std::string(c.weight) + "xf64>";
  std::string s = "tensor<" + std::string(c.statistics) + "xf64>";
  std::string three = c.hasMean ? x + ", " + s + ", " + s : x + ", " + s;
  std::string given = c.hasMean ? s + ", " + s : s;
  std::string gradients = c.hasMean ? x + ", " + w + ", " + w : x + ", " + w;
  bool batch = StringRef(c.name) == "batch";
  // Batch norm has its weight before the statistics, the others behind them.
  std::string operands = batch ? x + ", " + x + ", " + w + ", " + given
                               : x + ", " + x + ", " + given + ", " + w;
  if (StringRef(c.name) == "layer")
    operands += ", " + w; // the bias, for its shape
  return "joint.graph @step(%x: " + x +
         " {joint.role = #joint.role<param \"x\">}, %w: " + w +
         " {joint.role = #joint.role<param \"w\">}, %g: " + x +
         " {joint.role = #joint.role<param \"g\">}) -> (tensor<f64>) "
         "gradients () {\n  %y" +
         (c.hasMean ? ":3" : ":2") + " = aten." + c.norm + " : (" + x + ", " +
         w + ") -> (" + three + ")\n  %d" + (c.hasMean ? ":3" : ":2") +
         " = aten." + c.gradient + " : (" + operands + ") -> (" + gradients +
         ")\n  %a = aten.sin(%d#0) : (" + x + ") -> " + x +
         "\n  %b = aten.cos(%d#1) : (" + w + ") -> " + w +
         "\n  %p = aten.sum(%a) : (" + x +
         ") -> tensor<f64>\n  %q = aten.sum(%b) : (" + w +
         ") -> tensor<f64>\n  %l = aten.add.Tensor(%p, %q) : (tensor<f64>, "
         "tensor<f64>) -> tensor<f64>\n  joint.output %l : tensor<f64>\n}\n";
}

std::vector<NormCase> allCases() {
  return {
      {"layer",
       "native_layer_norm(%x, [4], %w, none, 1.0e-01)",
       "native_layer_norm_backward(%g, %x, [4], %y#1, %y#2, %w, %w, [true, "
       "true, true])",
       "3x4",
       "4",
       "3x1",
       {3, 4},
       4},
      {"rms",
       "_fused_rms_norm(%x, [4], %w, 1.0e-01)",
       "_fused_rms_norm_backward(%g, %x, [4], %y#1, %w, [true, true])",
       "3x4",
       "4",
       "3x1",
       {3, 4},
       4,
       false},
      {"group",
       "native_group_norm(%x, %w, none, 2, 4, 3, 2, 1.0e-01)",
       "native_group_norm_backward(%g, %x, %y#1, %y#2, %w, 2, 4, 3, 2, [true, "
       "true, true])",
       "2x4x3",
       "4",
       "2x2",
       {2, 4, 3},
       4},
      {"batch",
       "native_batch_norm(%x, %w, none, none, none, true, 1.0e-01, 1.0e-01)",
       "native_batch_norm_backward(%g, %x, %w, none, none, %y#1, %y#2, true, "
       "1.0e-01, [true, true, true])",
       "5x3",
       "3",
       "3",
       {5, 3},
       3},
  };
}

class NormGradientTest : public testing::TestWithParam<NormCase> {
protected:
  NormGradientTest() {
    registerTrainingGraph(context);
    context.loadDialect<aten::AtenDialect, joint::JointDialect>();
  }
  OwningOpRef<ModuleOp> parse() {
    return parseSourceString<ModuleOp>(programOf(GetParam()), &context);
  }
  static Tensor values(ArrayRef<int64_t> sizes, double phase) {
    Tensor tensor = Tensor::zeros(DType::F64, sizes);
    for (int64_t i = 0, e = tensor.numel(); i < e; ++i)
      tensor.set(i, std::sin(3.7 * static_cast<double>(i) + phase));
    return tensor;
  }
  MLIRContext context;
};

TEST_P(NormGradientTest, OfTheGradientIsThatOfFiniteDifferences) {
  const NormCase &c = GetParam();
  auto forward = parse(), joint = parse();
  ASSERT_TRUE(forward && joint);
  joint::GraphOp program = *forward->getOps<joint::GraphOp>().begin();
  joint::GraphOp graph = *joint->getOps<joint::GraphOp>().begin();
  ASSERT_TRUE(succeeded(makeTrainingGraph(graph)));
  std::vector<Tensor> inputs = {values(c.shape, 0.3), values({c.channels}, 1.1),
                                values(c.shape, 2.2)};
  std::vector<RuntimeValue> arguments(inputs.begin(), inputs.end());
  for (unsigned i = 3; i < graph.getNumArguments(); ++i)
    arguments.emplace_back(Tensor::zeros(DType::F64, {}));
  for (unsigned i = 3; i < graph.getNumArguments(); ++i)
    std::get<Tensor>(arguments[i]).set(0, 1);
  auto results = run(graph, arguments);
  ASSERT_TRUE(succeeded(results));
  ASSERT_EQ(results->size(), 4u);
  auto loss = [&](size_t which, int64_t at, double by) {
    std::vector<RuntimeValue> moved;
    for (const Tensor &input : inputs) {
      Tensor copy = Tensor::zeros(DType::F64, input.sizes);
      for (int64_t i = 0, e = copy.numel(); i < e; ++i)
        copy.set(i, input.getDouble(i));
      moved.emplace_back(copy);
    }
    Tensor &tensor = std::get<Tensor>(moved[which]);
    tensor.set(at, tensor.getDouble(at) + by);
    auto out = run(program, moved);
    return std::get<Tensor>((*out)[0]).getDouble(0);
  };
  const double h = 1e-5;
  for (size_t which = 0; which < inputs.size(); ++which) {
    const auto &gradient = std::get<Tensor>((*results)[which + 1]);
    for (int64_t i = 0, e = inputs[which].numel(); i < e; ++i)
      EXPECT_NEAR(gradient.contiguous().getDouble(i),
                  (loss(which, i, h) - loss(which, i, -h)) / (2 * h), 1e-7)
          << "argument " << which << ", element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Norms, NormGradientTest, testing::ValuesIn(allCases()),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace

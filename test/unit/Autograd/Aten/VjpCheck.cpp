// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Central differences in double: with a step of 1e-5 the error is some 1e-10
// of the third derivative, far below the tolerance.

#include "VjpCheck.h"

#include "cutback/Autograd/AtenVjps.h"
#include "cutback/Autograd/Differentiate.h"
#include "cutback/Decompose/Composites.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Kernel.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;
using namespace cutback::interpreter;

static constexpr double kStep = 1e-5;

namespace {
/// A context with all that a differentiated program needs.
struct Loaded {
  Loaded() {
    DialectRegistry registry;
    registry.insert<aten::AtenDialect, joint::JointDialect>();
    registerAtenVjps(registry);
    context.disableMultithreading();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  MLIRContext context;
};
} // namespace

MLIRContext &cutback::test::vjpContext() {
  static Loaded loaded;
  return loaded.context;
}

VjpCheck::VjpCheck(MLIRContext &context, bool isDynamic)
    : b(builder, UnknownLoc::get(&context)), builder(&context),
      module(ModuleOp::create(UnknownLoc::get(&context))),
      isDynamic(isDynamic) {
  builder.setInsertionPointToEnd(module->getBody());
  graph = joint::GraphOp::create(builder, b.getLoc(), "g",
                                 builder.getFunctionType({}, {}), 0,
                                 ArrayRef<DictionaryAttr>());
  if (graph.getBody().empty())
    graph.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&graph.getBlock());
}

Value VjpCheck::argument(Tensor tensor, StringRef role, bool takesGradient) {
  MLIRContext *context = builder.getContext();
  SmallVector<int64_t> shape(tensor.sizes.begin(), tensor.sizes.end());
  if (isDynamic)
    shape.assign(shape.size(), ShapedType::kDynamic);
  Type type = RankedTensorType::get(shape, typeOf(tensor.type, context));
  unsigned number = graph.getNumArguments();
  NamedAttrList attrs;
  attrs.set("joint.role",
            parseAttribute(("#joint.role<" + role + ">").str(), context));
  attrs.set("joint.name", builder.getStringAttr("a" + std::to_string(number)));
  if (takesGradient) {
    attrs.set(kRequiresGrad, builder.getUnitAttr());
    inputNumbers.push_back(number);
  }
  (void)graph.insertArgument(number, type, attrs.getDictionary(context),
                             b.getLoc());
  values.emplace_back(std::move(tensor));
  return graph.getBody().getArgument(number);
}

static Tensor filled(DType type, ArrayRef<int64_t> sizes,
                     llvm::function_ref<double(int64_t)> value) {
  Tensor tensor = Tensor::zeros(type, sizes);
  for (int64_t i = 0; i < tensor.numel(); ++i)
    tensor.set(i, value(i));
  return tensor;
}

Value VjpCheck::input(ArrayRef<int64_t> sizes) {
  Tensor tensor = Tensor::zeros(DType::F64, sizes);
  int64_t count = tensor.numel();
  std::vector<int64_t> order(count);
  for (int64_t i = 0; i < count; ++i)
    order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  // Evenly spaced, off zero, not symmetric about it, and not those of another
  // argument.
  double offset = 0.37 + 0.0173 * graph.getNumArguments();
  for (int64_t i = 0; i < count; ++i)
    tensor.set(i, -1.9 + (static_cast<double>(order[i]) + offset) * 3.7 /
                             static_cast<double>(count));
  return argument(tensor, "input", true);
}

Value VjpCheck::input(ArrayRef<int64_t> sizes, ArrayRef<double> values) {
  return argument(
      filled(DType::F64, sizes, [&](int64_t i) { return values[i]; }), "input",
      true);
}

Value VjpCheck::positive(ArrayRef<int64_t> sizes) {
  std::uniform_real_distribution<double> draw(0.1, 0.9);
  return argument(
      filled(DType::F64, sizes, [&](int64_t) { return draw(random); }), "input",
      true);
}

Value VjpCheck::constant(ArrayRef<int64_t> sizes, ArrayRef<double> values) {
  return argument(
      filled(DType::F64, sizes, [&](int64_t i) { return values[i]; }), "input",
      false);
}

Value VjpCheck::indices(ArrayRef<int64_t> sizes, ArrayRef<int64_t> values) {
  return argument(
      filled(DType::I64, sizes,
             [&](int64_t i) { return static_cast<double>(values[i]); }),
      "input", false);
}

Value VjpCheck::mask(ArrayRef<int64_t> sizes, ArrayRef<int64_t> values) {
  return argument(
      filled(DType::Bool, sizes,
             [&](int64_t i) { return static_cast<double>(values[i]); }),
      "input", false);
}

Value VjpCheck::unknownSizes(ArrayRef<int64_t> sizes) {
  bool before = isDynamic;
  isDynamic = true;
  Value value = argument(Tensor::zeros(DType::F64, sizes), "input", false);
  isDynamic = before;
  return value;
}

Value VjpCheck::complexInput(ArrayRef<int64_t> sizes) {
  Value real = input(sizes), imaginary = input(sizes);
  return b.call("aten.complex.default", {real, imaginary});
}

void VjpCheck::output(Value value) {
  if (!value)
    return;
  if (isa<ComplexType>(aten::elementOf(value))) {
    outputs.push_back(b.call("aten.real.default", {value}));
    outputs.push_back(b.call("aten.imag.default", {value}));
    return;
  }
  outputs.push_back(value);
}

/// Units without a kernel run as what they are made of.
static FailureOr<std::vector<RuntimeValue>>
runGraph(joint::GraphOp graph, ArrayRef<RuntimeValue> values) {
  OwningOpRef<joint::GraphOp> copy = graph.clone();
  decomposeToCoreList(*copy, [](Operation *op) { return hasKernel(op); });
  return run(*copy, values);
}

joint::GraphOp VjpCheck::finish() {
  EXPECT_FALSE(b.failed());
  joint::OutputOp::create(builder, b.getLoc(), outputs,
                          builder.getDenseI32ArrayAttr({}));
  SmallVector<Type> types;
  for (Value value : outputs)
    types.push_back(value.getType());
  graph.setFunctionType(
      builder.getFunctionType(graph.getArgumentTypes(), types));
  graph.setNumForwardResults(static_cast<int64_t>(types.size()));
  EXPECT_TRUE(succeeded(verify(*module)));
  // The results' sizes, for the tangents.
  auto results = runGraph(graph, values);
  EXPECT_TRUE(succeeded(results));
  if (succeeded(results))
    for (const RuntimeValue &result : *results)
      outputSizes.emplace_back(std::get<Tensor>(result).sizes.begin(),
                               std::get<Tensor>(result).sizes.end());
  return graph;
}

std::vector<Tensor> VjpCheck::tangents() {
  if (tangentValues.empty()) {
    std::mt19937 own(11);
    std::uniform_real_distribution<double> draw(-1, 1);
    for (const std::vector<int64_t> &sizes : outputSizes) {
      int64_t count = Tensor::zeros(DType::F64, sizes).numel();
      std::vector<double> list(count);
      for (double &value : list)
        value = draw(own);
      tangentValues.push_back(list);
    }
  }
  std::vector<Tensor> result;
  for (auto [sizes, list] : llvm::zip(outputSizes, tangentValues))
    result.push_back(filled(DType::F64, sizes,
                            [&, &list = list](int64_t i) { return list[i]; }));
  return result;
}

double VjpCheck::objective() {
  auto results = runGraph(graph, values);
  if (failed(results))
    return std::nan("");
  double sum = 0;
  std::vector<Tensor> weights = tangents();
  for (auto [result, weight] : llvm::zip(*results, weights)) {
    Tensor tensor = std::get<Tensor>(result).contiguous();
    for (int64_t i = 0; i < tensor.numel(); ++i)
      sum += tensor.getDouble(i) * weight.getDouble(i);
  }
  return sum;
}

std::vector<Tensor> VjpCheck::gradients(int only) {
  differentiated = graph.clone();
  DifferentiateOptions options;
  for (unsigned i = 0; i < outputs.size(); ++i)
    options.lossOutputs.push_back(i);
  if (only >= 0)
    options.gradOf.push_back("a" + std::to_string(inputNumbers[only]));
  if (failed(differentiate(*differentiated, options)) ||
      failed(verify(*differentiated)))
    return {};
  std::vector<RuntimeValue> arguments = values;
  for (Tensor &tangent : tangents())
    arguments.emplace_back(tangent);
  auto results = runGraph(*differentiated, arguments);
  if (failed(results))
    return {};
  // An input without a gradient is answered with zeros.
  std::vector<Tensor> gradients;
  for (unsigned number : inputNumbers)
    gradients.push_back(
        Tensor::zeros(DType::F64, std::get<Tensor>(values[number]).sizes));
  joint::OutputOp output = differentiated->getOutput();
  unsigned first = output.getNumForwardResults();
  for (auto [i, of] : llvm::enumerate(output.getGradientOf())) {
    auto at = llvm::find(inputNumbers, static_cast<unsigned>(of));
    gradients[at - inputNumbers.begin()] =
        std::get<Tensor>((*results)[first + i]).contiguous();
  }
  return gradients;
}

std::string VjpCheck::backwardText() {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (differentiated)
    differentiated->print(os);
  return text;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static void compareWithDifferences(VjpCheck &c, ArrayRef<Tensor> gradients,
                                   double tolerance) {
  for (auto [number, gradient] : llvm::zip(c.inputNumbers, gradients)) {
    Tensor &input = std::get<Tensor>(c.values[number]);
    ASSERT_TRUE(llvm::equal(input.sizes, gradient.sizes))
        << "gradient of argument " << number;
    for (int64_t i = 0; i < input.numel(); ++i) {
      double value = input.getDouble(i);
      input.set(i, value + kStep);
      double above = c.objective();
      input.set(i, value - kStep);
      double below = c.objective();
      input.set(i, value);
      double expected = (above - below) / (2 * kStep);
      EXPECT_NEAR(gradient.getDouble(i), expected,
                  tolerance * (1 + std::abs(expected)))
          << "argument " << number << ", element " << i;
    }
  }
}

static void compareAlone(VjpCheck &c, ArrayRef<Tensor> gradients) {
  if (gradients.size() < 2)
    return;
  for (unsigned i = 0; i < gradients.size(); ++i) {
    // No gradient at all is an error where nothing else is asked for.
    bool isZero = true;
    for (int64_t k = 0; k < gradients[i].numel(); ++k)
      isZero &= gradients[i].getDouble(k) == 0;
    if (isZero)
      continue;
    std::vector<Tensor> alone = c.gradients(static_cast<int>(i));
    ASSERT_EQ(alone.size(), gradients.size());
    for (int64_t k = 0; k < gradients[i].numel(); ++k)
      EXPECT_NEAR(alone[i].getDouble(k), gradients[i].getDouble(k), 1e-12)
          << "gradient of input " << i << " alone\n"
          << c.backwardText();
  }
}

void cutback::test::checkVjp(const VjpProgram &program,
                             const VjpCheckOptions &options) {
  for (bool isDynamic : {false, true}) {
    if (isDynamic && !options.dynamic)
      continue;
    SCOPED_TRACE(isDynamic ? "unknown sizes" : "known sizes");
    VjpCheck c(vjpContext(), isDynamic);
    program(c);
    c.finish();
    if (testing::Test::HasFailure())
      return;
    std::vector<Tensor> gradients = c.gradients();
    ASSERT_EQ(gradients.size(), c.inputNumbers.size()) << c.backwardText();
    if (options.differences)
      compareWithDifferences(c, gradients, options.tolerance);
    compareAlone(c, gradients);
    if (testing::Test::HasFailure())
      ADD_FAILURE() << c.backwardText();
  }
}

std::vector<std::vector<double>>
cutback::test::gradientsOf(const VjpProgram &program) {
  VjpCheck c(vjpContext(), false);
  program(c);
  c.finish();
  if (testing::Test::HasFailure())
    return {};
  std::vector<std::vector<double>> ones;
  for (const std::vector<int64_t> &sizes : c.outputSizes)
    ones.emplace_back(Tensor::zeros(DType::F64, sizes).numel(), 1.0);
  c.setTangents(ones);
  std::vector<std::vector<double>> lists;
  for (const Tensor &gradient : c.gradients()) {
    lists.emplace_back();
    for (int64_t i = 0; i < gradient.numel(); ++i)
      lists.back().push_back(gradient.getDouble(i));
  }
  return lists;
}

std::string cutback::test::backwardOf(const VjpProgram &program) {
  VjpCheck c(vjpContext(), false);
  program(c);
  c.finish();
  (void)c.gradients();
  return c.backwardText();
}

std::string cutback::test::errorOf(const VjpProgram &program) {
  std::string text;
  ScopedDiagnosticHandler handler(&vjpContext(), [&](Diagnostic &diag) {
    text += (text.empty() ? "" : "\n") + diag.str();
    for (Diagnostic &note : diag.getNotes())
      text += "\n" + note.str();
    return success();
  });
  VjpCheck c(vjpContext(), false);
  program(c);
  c.finish();
  (void)c.gradients();
  // What stands around a rule's own words is the same for all rules, and tested
  // with the passes: the op in front, the next step behind.
  StringRef own = StringRef(text).split('\n').first;
  if (auto [op, rest] = own.split("': "); op.starts_with("'") && !rest.empty())
    own = rest;
  return own.str();
}

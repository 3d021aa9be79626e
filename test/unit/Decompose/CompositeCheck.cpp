// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call as a graph: arguments with the operands' types, the call, its
// results. The interpreter runs the graph after decomposition. What a rule
// owes beside the values is checked on the way: no composite op is left, every
// value has a name, none two the same, and the results' names are kept.

#include "CompositeCheck.h"

#include "../Dialect/Aten/InferHarness.h"

#include "cutback/Decompose/Composites.h"
#include "cutback/Dialect/Aten/Rules.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/Kernel.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

struct Harness : aten::test::InferHarness {
  Harness() {
    DialectRegistry registry;
    registerAtenDecompositions(registry);
    context.appendDialectRegistry(registry);
  }
};

/// One call; `message` holds the errors.
class Call {
public:
  Call(Harness &harness, std::string text, bool isDynamic)
      : harness(harness), builder(&harness.context),
        module(ModuleOp::create(builder.getUnknownLoc())) {
    positive = text[0] == '+';
    if (positive)
      text.erase(0, 1);
    if (size_t at = text.find("i64s["); at != std::string::npos) {
      text.erase(at + 3, 1);
      hasOffsets = true;
    }
    build(text, isDynamic);
  }

  bool isBuilt() const { return static_cast<bool>(graph); }
  void decompose();
  void toCore();
  /// The number of the results; NaN where it does not run.
  double run();

  std::string message;

private:
  void build(StringRef text, bool isDynamic);
  void checkNames();
  std::vector<RuntimeValue> inputs();

  Harness &harness;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  joint::GraphOp graph;
  SmallVector<RankedTensorType> types;
  bool positive = false, hasOffsets = false;
};

} // namespace

void Call::build(StringRef text, bool isDynamic) {
  auto [name, rest] = text.split('(');
  const aten::Schema *schema =
      aten::SchemaTable::get(&harness.context).lookup(name);
  ASSERT_TRUE(schema) << name.str();
  ArrayAttr args = harness.parse(*schema, rest.substr(0, rest.rfind(')')));
  SmallVector<Type> operandTypes(harness.operandTypes), resultTypes;
  for (Type &type : operandTypes) {
    types.push_back(cast<RankedTensorType>(type));
    SmallVector<int64_t> shape(types.back().getShape());
    // A size of 1 broadcasts, which one that is not known does not.
    if (isDynamic && !shape.empty() && shape[0] != 1)
      shape[0] = ShapedType::kDynamic;
    type = RankedTensorType::get(shape, types.back().getElementType());
  }
  ScopedDiagnosticHandler handler(&harness.context,
                                  [&](Diagnostic &diagnostic) {
                                    message += diagnostic.str();
                                    return success();
                                  });
  Location loc = builder.getUnknownLoc();
  if (failed(aten::inferResultTypes(*schema, args, operandTypes, {}, loc,
                                    resultTypes)))
    return;
  builder.setInsertionPointToEnd(module->getBody());
  Attribute role = parseAttribute("#joint.role<input>", &harness.context);
  SmallVector<DictionaryAttr> attrs(
      operandTypes.size(),
      builder.getDictionaryAttr(builder.getNamedAttr("joint.role", role)));
  graph = joint::GraphOp::create(
      builder, loc, "g", builder.getFunctionType(operandTypes, resultTypes),
      static_cast<int64_t>(resultTypes.size()), attrs);
  Block &block = graph.getBody().empty() ? graph.getBody().emplaceBlock()
                                         : graph.getBlock();
  for (Type type : operandTypes)
    block.addArgument(type, loc);
  builder.setInsertionPointToEnd(&block);
  SmallVector<Attribute> names;
  for (size_t i = 0; i < resultTypes.size(); ++i)
    names.push_back(builder.getStringAttr("y" + std::to_string(i)));
  Operation *op =
      aten::createCall(builder, loc, *schema, args, block.getArguments(),
                       resultTypes, builder.getArrayAttr(names));
  joint::OutputOp::create(builder, loc, op->getResults(),
                          builder.getDenseI32ArrayAttr({}));
}

void Call::decompose() {
  ScopedDiagnosticHandler handler(&harness.context,
                                  [&](Diagnostic &diagnostic) {
                                    message += diagnostic.str();
                                    return success();
                                  });
  if (failed(decomposeComposites(graph)))
    message += " (failed)";
  else if (failed(verify(*module)))
    message += " (does not verify)";
  else
    checkNames();
}

void Call::toCore() {
  if (failed(decomposeToCore(graph)) || failed(verify(*module)))
    message += " (no core)";
}

void Call::checkNames() {
  std::set<std::string> seen;
  graph.getBlock().walk([&](Operation *op) {
    EXPECT_FALSE(aten::getDecomposeRule(op->getName()))
        << op->getName().getStringRef().str() << " is left";
    for (Value result : op->getResults()) {
      std::string name = joint::getValueName(result).str();
      EXPECT_FALSE(name.empty());
      EXPECT_TRUE(seen.insert(name).second) << name << " is there twice";
    }
  });
  for (auto [i, value] : llvm::enumerate(graph.getOutput().getResults()))
    if (Operation *op = value.getDefiningOp(); op && op->getNumResults() == 1)
      EXPECT_EQ(joint::getValueName(value).take_front(1), "y") << i;
}

std::vector<RuntimeValue> Call::inputs() {
  std::vector<RuntimeValue> values;
  for (auto [k, type] : llvm::enumerate(types)) {
    Tensor tensor =
        Tensor::zeros(*dtypeOf(type.getElementType()), type.getShape());
    auto number = static_cast<int64_t>(k);
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      if (tensor.type == DType::Bool) {
        tensor.setInt(i, (5 * i + number) % 3 != 1);
      } else if (isIntegral(tensor.type)) {
        tensor.setInt(i,
                      hasOffsets && k == 2 ? 2 * i : (7 * i + 3 * number) % 3);
      } else if (isComplex(tensor.type)) {
        double place = static_cast<double>(i), k = static_cast<double>(number);
        tensor.setComplex(i, {std::sin(0.9 * place + 1.7 * k + 0.3),
                              std::cos(0.7 * place + k)});
      } else {
        double value = std::sin(0.9 * static_cast<double>(i) +
                                1.7 * static_cast<double>(k) + 0.3);
        tensor.set(i, positive ? std::fabs(value) + 0.2 : value);
      }
    }
    values.emplace_back(tensor);
  }
  return values;
}

double Call::run() {
  // Units without a kernel run as what they are made of.
  OwningOpRef<joint::GraphOp> copy = graph.clone();
  decomposeToCoreList(*copy,
                      [](Operation *op) { return interpreter::hasKernel(op); });
  auto results = interpreter::run(*copy, inputs());
  if (failed(results))
    return std::nan("");
  // The other results of a bag differ from kernel to kernel.
  size_t count = hasOffsets ? 1 : results->size();
  double sum = 0.0, place = 0.0;
  auto add = [&](double element) {
    sum += element * std::cos(0.37 * place + 1.0);
    place += 1.0;
  };
  for (size_t r = 0; r < count; ++r) {
    const Tensor &tensor = std::get<Tensor>((*results)[r]);
    if (!isComplex(tensor.type)) {
      llvm::for_each(tensor.doubles(), add);
      continue;
    }
    for (std::complex<double> element : tensor.complexes()) {
      add(element.real());
      add(element.imag());
    }
  }
  return sum;
}

void cutback::test::check(
    const std::vector<std::pair<const char *, double>> &table) {
  Harness harness;
  for (auto [text, expected] : table) {
    SCOPED_TRACE(text);
    double tolerance = 1e-6 * (1.0 + std::fabs(expected));
    Call call(harness, text, /*isDynamic=*/false);
    EXPECT_EQ(call.message, "");
    if (!call.isBuilt())
      continue;
    call.decompose();
    EXPECT_EQ(call.message, "");
    if (call.message.empty())
      EXPECT_NEAR(call.run(), expected, tolerance);
    call.toCore();
    EXPECT_EQ(call.message, "");
    if (call.message.empty())
      EXPECT_NEAR(call.run(), expected, tolerance) << "at the second level";
    Call open(harness, text, /*isDynamic=*/true);
    if (!open.isBuilt())
      continue;
    open.decompose();
    if (open.message.empty())
      EXPECT_NEAR(open.run(), expected, tolerance) << "with `?`";
    else
      EXPECT_NE(open.message.find("not known"), std::string::npos)
          << open.message;
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference for functionalization. It shares nothing with it: no trees, no
// versions, no inverse views. A written element is a written place, and whoever
// shows the place sees it. Quadratic in nothing, but slow: every op is a graph
// of its own.

#include "StorageReference.h"

#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Interpreter/Interpreter.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;
using interpreter::DType;
using interpreter::Tensor;

Tensor StorageReference::gather(const View &view) const {
  Tensor tensor = Tensor::zeros(view.type, view.sizes);
  for (auto [i, place] : llvm::enumerate(view.places))
    tensor.set(static_cast<int64_t>(i), storages[view.storage][place]);
  return tensor;
}

/// The op `name` with the arguments of `op`, on other operands.
std::vector<Tensor> StorageReference::runAlone(aten::CallOp op, StringRef name,
                                               ArrayRef<Tensor> operands) {
  MLIRContext *context = graph.getContext();
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  SmallVector<Type> types, results;
  std::vector<interpreter::RuntimeValue> values;
  for (const Tensor &operand : operands) {
    types.push_back(
        RankedTensorType::get(operand.sizes, typeOf(operand.type, context)));
    values.emplace_back(operand);
  }
  const aten::Schema *schema = aten::SchemaTable::get(context).lookup(name);
  EXPECT_TRUE(schema) << name.str();
  if (!schema)
    return {};
  // polygamma(n, self) is called polygamma_(self, n).
  ArrayAttr args = op.getArgs();
  if (schema->params.front().kind != aten::ParamKind::Tensor &&
      isa<joint::OperandAttr>(args[0]))
    args = builder.getArrayAttr({args[1], args[0]});
  if (failed(aten::inferResultTypes(*schema, args, types, {}, loc, results)))
    return {};
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<DictionaryAttr> attrs(
      types.size(),
      builder.getDictionaryAttr(builder.getNamedAttr(
          "joint.role", parseAttribute("#joint.role<input>", context))));
  auto alone = joint::GraphOp::create(
      builder, loc, "g", builder.getFunctionType(types, results),
      static_cast<int64_t>(results.size()), attrs);
  Block &block = alone.getBody().empty() ? alone.getBody().emplaceBlock()
                                         : alone.getBlock();
  for (Type type : types)
    block.addArgument(type, loc);
  builder.setInsertionPointToEnd(&block);
  // What a random op draws depends on its name.
  StringRef stem = schema->packet.rsplit('.').second;
  Operation *call = aten::createCall(
      builder, loc, *schema, args, block.getArguments(), results,
      results.size() == 1 ? builder.getStrArrayAttr({stem}) : ArrayAttr());
  joint::OutputOp::create(builder, loc, call->getResults(),
                          builder.getDenseI32ArrayAttr({}));
  auto ran = interpreter::run(alone, values);
  EXPECT_TRUE(succeeded(ran)) << name.str();
  std::vector<Tensor> tensors;
  if (succeeded(ran))
    for (const interpreter::RuntimeValue &value : *ran)
      tensors.push_back(std::get<Tensor>(value).contiguous());
  return tensors;
}

/// The op that computes what `name` writes.
static std::string functionalForm(std::string name) {
  static const std::map<std::string, std::string> otherNames = {
      {"aten.pow_.Scalar", "aten.pow.Tensor_Scalar"},
      {"aten.pow_.Tensor", "aten.pow.Tensor_Tensor"},
      {"aten.float_power_.Scalar", "aten.float_power.Tensor_Scalar"},
      {"aten.float_power_.Tensor", "aten.float_power.Tensor_Tensor"},
      {"aten.floor_divide_.Tensor", "aten.floor_divide.default"},
      {"aten.floor_divide_.Scalar", "aten.floor_divide.default"},
      {"aten.bernoulli_.float", "aten.bernoulli.p"},
      {"aten.ldexp_.default", "aten.ldexp.Tensor"},
      {"aten.normal_.default", "aten.normal_functional.default"},
      {"aten.transpose_.default", "aten.transpose.int"},
      {"aten.__iand__.Tensor", "aten.bitwise_and.Tensor"},
      {"aten.__iand__.Scalar", "aten.bitwise_and.Scalar"},
      {"aten.__ior__.Tensor", "aten.bitwise_or.Tensor"},
      {"aten.__ior__.Scalar", "aten.bitwise_or.Scalar"},
      {"aten.__ixor__.Tensor", "aten.bitwise_xor.Tensor"},
      {"aten.__ixor__.Scalar", "aten.bitwise_xor.Scalar"}};
  auto other = otherNames.find(name);
  if (other != otherNames.end())
    return other->second;
  return name.erase(name.rfind("_."), 1);
}

void StorageReference::writeInPlace(aten::CallOp op, const std::string &name,
                                    ArrayRef<Tensor> operands) {
  Operation *operation = op.getOperation();
  View self = views[operation->getOperand(0)];
  std::vector<double> values;
  if (name == "aten.fill_diagonal_.default") {
    values = operands[0].doubles();
    double filled = *aten::CallReader(op).number("fill_value");
    for (int64_t i = 0; i < std::min(self.sizes[0], self.sizes[1]); ++i)
      values[i * (self.sizes[1] + 1)] = filled;
  } else {
    std::vector<Tensor> results = runAlone(op, functionalForm(name), operands);
    ASSERT_GE(results.size(), 1u) << name;
    Tensor cast = Tensor::zeros(self.type, results.front().sizes);
    interpreter::copyElements(results.front(), cast);
    values = cast.doubles();
  }
  // A result that is smaller is written again and again.
  for (size_t i = 0; i < self.places.size(); ++i)
    storages[self.storage][self.places[i]] = values[i % values.size()];
  views[operation->getResult(0)] = self;
}

void StorageReference::runOp(aten::CallOp op) {
  Operation *operation = op.getOperation();
  std::string name = op.getInfo().torchName;
  bool inPlace = op.getSchema().params.front().isWritten;
  std::vector<Tensor> operands;
  for (Value operand : operation->getOperands())
    operands.push_back(gather(views[operand]));
  if (inPlace)
    return writeInPlace(op, name, operands);
  int64_t viewed = op.getAliasedOperand(0);
  if (viewed < 0) {
    std::vector<Tensor> results = runAlone(op, name, operands);
    ASSERT_EQ(results.size(), operation->getNumResults()) << name;
    for (auto [result, tensor] : llvm::zip(operation->getResults(), results)) {
      View view;
      view.type = tensor.type;
      view.storage = storages.size();
      storages.push_back(tensor.doubles());
      for (size_t i = 0; i < storages.back().size(); ++i)
        view.places.push_back(static_cast<int64_t>(i));
      view.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
      views[result] = view;
    }
    return;
  }
  // A view of the numbers of places shows which places it shows.
  View base = views[operation->getOperand(static_cast<unsigned>(viewed))];
  Tensor &numbers = operands[static_cast<size_t>(viewed)];
  numbers = Tensor::zeros(DType::I64, base.sizes);
  numbers.assign(ArrayRef<int64_t>(base.places));
  std::vector<Tensor> results = runAlone(op, name, operands);
  ASSERT_EQ(results.size(), operation->getNumResults()) << name;
  for (auto [result, tensor] : llvm::zip(operation->getResults(), results)) {
    View view;
    view.type = base.type;
    view.storage = base.storage;
    view.places = tensor.ints();
    view.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
    views[result] = view;
  }
}

std::vector<std::vector<double>>
StorageReference::run(std::vector<Tensor> &arguments) {
  for (auto [argument, tensor] :
       llvm::zip(graph.getBlock().getArguments(), arguments)) {
    View view;
    view.type = tensor.type;
    view.storage = storages.size();
    storages.push_back(tensor.doubles());
    for (int64_t i = 0; i < tensor.numel(); ++i)
      view.places.push_back(i);
    view.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
    views[argument] = view;
  }
  for (Operation &op : graph.getBlock().without_terminator())
    runOp(cast<aten::CallOp>(op));
  std::vector<std::vector<double>> results;
  for (Value value : graph.getOutput().getResults())
    results.push_back(gather(views[value]).doubles());
  for (auto [i, tensor] : llvm::enumerate(arguments))
    tensor.assign(ArrayRef<double>(storages[i]));
  return results;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference for functionalization. It shares nothing with it: no trees, no
// versions, no inverse views. A written element is a written place, and whoever
// shows the place sees it. Quadratic in nothing, but slow: every op is a graph
// of its own.

#include "StorageReference.h"

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
  Tensor tensor = Tensor::zeros(DType::F64, view.sizes);
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
  if (!schema || failed(aten::inferResultTypes(*schema, op.getArgs(), types, {},
                                               loc, results)))
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
  Operation *call =
      aten::createCall(builder, loc, *schema, op.getArgs(),
                       block.getArguments(), results, ArrayAttr());
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

void StorageReference::runOp(aten::CallOp op) {
  Operation *operation = op.getOperation();
  std::string name = op.getInfo().torchName;
  bool inPlace = op.getSchema().params.front().isWritten;
  std::vector<Tensor> operands;
  for (Value operand : operation->getOperands())
    operands.push_back(gather(views[operand]));
  if (inPlace) {
    name.erase(name.rfind("_."), 1);
    if (name == "aten.pow.Scalar")
      name = "aten.pow.Tensor_Scalar";
    std::vector<Tensor> results = runAlone(op, name, operands);
    ASSERT_EQ(results.size(), 1u) << name;
    View self = views[operation->getOperand(0)];
    std::vector<double> values = results.front().doubles();
    // A result that is smaller is written again and again.
    for (size_t i = 0; i < self.places.size(); ++i)
      storages[self.storage][self.places[i]] = values[i % values.size()];
    views[operation->getResult(0)] = self;
    return;
  }
  int64_t viewed = op.getAliasedOperand(0);
  if (viewed < 0) {
    std::vector<Tensor> results = runAlone(op, name, operands);
    ASSERT_EQ(results.size(), operation->getNumResults()) << name;
    for (auto [result, tensor] : llvm::zip(operation->getResults(), results)) {
      View view;
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

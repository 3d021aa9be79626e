// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call without machine code goes into the step as text: a function of this
// one op, on tensors that lie in the memory of their roots. Whoever runs the
// step has the interpreter run it, between two launches of machine code
// (Runtime/CallRunner.h). So a model runs though one of its ops has no kernel
// yet, and is slow at that op alone.
//
// Operands come first, each tensor once, then the results that are read. What
// is drawn at random depends on the name of a value in the graph and on the
// seed of the step: such an op stays an error.

#include "cutback/Target/CUDA/InterpretedCalls.h"

#include "InterpretedCall.h"

#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Interpreter/Kernel.h"
#include "cutback/Interpreter/StoredCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

static constexpr llvm::StringLiteral kOwnName = "@call";

std::string cutback::operandTypesOf(const PrecompiledCall &call) {
  return call.description.substr(0, call.description.find('\n'));
}

std::string cutback::functionOf(const PrecompiledCall &call,
                                const std::string &name) {
  std::string text =
      call.description.substr(call.description.find('\n') + 1) + "\n";
  return text.replace(text.find(kOwnName.str()), kOwnName.size(), "@" + name);
}

static bool isKnownTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() &&
         interpreter::dtypeOf(type.getElementType());
}

/// "(12x16xbf16, 4xi32)"
static std::string typesText(ArrayRef<Value> tensors) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(tensors, out, [&](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    for (int64_t size : type.getShape())
      out << size << "x";
    out << type.getElementType();
  });
  return "(" + text + ")";
}

/// A function of `op` alone on `read`, which gives `made`; as text.
static std::string functionText(Operation *op, ArrayRef<Value> read,
                                ArrayRef<Value> made) {
  OpBuilder builder(op->getContext());
  auto type = builder.getFunctionType(TypeRange(ValueRange(read)),
                                      TypeRange(ValueRange(made)));
  OwningOpRef<func::FuncOp> function(func::FuncOp::create(
      op->getLoc(), kOwnName.drop_front(), type, ArrayRef<NamedAttribute>()));
  Block *body = function->addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping map;
  auto layoutOf = [&](Value value) -> Attribute {
    Layout layout = kernel::locate(value).layout;
    return interpreter::StoredCalls::describe(layout, builder);
  };
  for (auto [number, value] : llvm::enumerate(read)) {
    map.map(value, body->getArgument(number));
    function->setArgAttr(number, interpreter::kCallLayout, layoutOf(value));
  }
  Operation *copy = builder.clone(*op, map);
  SmallVector<Value> results;
  for (auto [number, value] : llvm::enumerate(made)) {
    results.push_back(copy->getResult(cast<OpResult>(value).getResultNumber()));
    function->setResultAttr(number, interpreter::kCallLayout, layoutOf(value));
  }
  func::ReturnOp::create(builder, op->getLoc(), results);
  std::string text;
  llvm::raw_string_ostream out(text);
  function->print(out, OpPrintingFlags().useLocalScope());
  return text;
}

std::optional<CallKernel> cuda::writeInterpretedCall(Operation *op) {
  auto call = dyn_cast<aten::CallOp>(op);
  if (!call || call.isRandom() || call.hasOrderedEffects() ||
      !interpreter::hasKernel(op))
    return std::nullopt;
  llvm::SetVector<Value> read;
  SmallVector<Value> made;
  read.insert(op->operand_begin(), op->operand_end());
  for (Value result : op->getResults())
    if (!result.use_empty())
      made.push_back(result);
  if (!llvm::all_of(read, isKnownTensor) || !llvm::all_of(made, isKnownTensor))
    return std::nullopt;
  CallWriter text("interpreted");
  unsigned number = 0;
  for (Value tensor : read)
    text.read(tensor, "a" + std::to_string(number++));
  for (Value tensor : made)
    text.write(tensor, "out" + std::to_string(number++));
  CallKernel kernel = text.take();
  kernel.mayReplace = read.size(); // results are copied behind the call
  kernel.kernel.precompiled = {kInterpreter,
                               typesText(read.getArrayRef()) + "\n" +
                                   functionText(op, read.getArrayRef(), made)};
  return kernel;
}

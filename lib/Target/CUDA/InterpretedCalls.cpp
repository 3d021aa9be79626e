// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call without machine code goes into the step as text: a function of this
// one op, on tensors that lie in the memory of their roots. Whoever runs the
// step has the interpreter run it, between two launches of machine code
// (Runtime/CallRunner.h). So a model runs though one of its ops has no kernel
// yet, and is slow at that op alone.
//
// Operands come first, each tensor once, then the results that are read. A
// tensor whose size depends on data, and a number that depends on it, has no
// memory in a step: the interpreter holds it under a name from launch to
// launch, from the forward to the backward too. What is drawn at random depends
// on the name of a value in the graph and on the seed of the step: such an op
// stays an error.

#include "cutback/Target/CUDA/InterpretedCalls.h"

#include "InterpretedCall.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Interpreter/Kernel.h"
#include "cutback/Interpreter/StoredCalls.h"
#include "cutback/Lowering/KernelBody.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

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
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type) {
      out << tensor.getType();
      return;
    }
    for (int64_t size : type.getShape())
      (ShapedType::isDynamic(size) ? out << "?" : out << size) << "x";
    out << type.getElementType();
  });
  return "(" + text + ")";
}

namespace {

/// Ops as a function, and the kernel that it is of a step.
class FunctionWriter {
public:
  explicit FunctionWriter(Location location)
      : builder(location.getContext()),
        function(func::FuncOp::create(location, kOwnName.drop_front(),
                                      builder.getFunctionType({}, {}))),
        text("interpreted") {
    builder.setInsertionPointToEnd(function->addEntryBlock());
  }

  /// A tensor in the memory of its root.
  void readPlaced(Value tensor) {
    addArgument(tensor, kCallLayout, layoutOf(tensor));
    text.read(tensor, "a" + std::to_string(++parameters));
    read.push_back(tensor);
  }
  /// A value that the interpreter holds under this name.
  void readHeld(Value value, const std::string &name) {
    addArgument(value, interpreter::kCallHeld, builder.getStringAttr(name));
    read.push_back(value);
  }
  bool isKnown(Value value) const { return map.contains(value); }
  void alias(Value value, Value to) { map.map(value, map.lookup(to)); }
  void copy(Operation &op) { builder.clone(op, map); }

  void makePlaced(Value tensor) {
    addResult(tensor, kCallLayout, layoutOf(tensor));
    text.write(tensor, "out" + std::to_string(++parameters));
  }
  void makeHeld(Value value, const std::string &name) {
    addResult(value, interpreter::kCallHeld, builder.getStringAttr(name));
  }

  CallKernel finish() {
    Block &body = function->front();
    func::ReturnOp::create(builder, function->getLoc(), results);
    function->setFunctionType(builder.getFunctionType(
        body.getArgumentTypes(), TypeRange(ValueRange(results))));
    for (auto [i, attribute] : llvm::enumerate(argumentAttributes))
      function->setArgAttr(i, attribute.first, attribute.second);
    for (auto [i, attribute] : llvm::enumerate(resultAttributes))
      function->setResultAttr(i, attribute.first, attribute.second);
    CallKernel kernel = text.take();
    kernel.mayReplace = kernel.roots.size(); // results are copied at the end
    std::string description = typesText(read) + "\n";
    llvm::raw_string_ostream out(description);
    function->print(out, OpPrintingFlags().useLocalScope());
    kernel.kernel.precompiled = {kInterpreter, std::move(description),
                                 kSizedByData};
    return kernel;
  }

private:
  static constexpr const char *kCallLayout = interpreter::kCallLayout;
  using Attributes = std::vector<std::pair<StringRef, Attribute>>;

  Attribute layoutOf(Value tensor) {
    return interpreter::StoredCalls::describe(kernel::locate(tensor).layout,
                                              builder);
  }
  void addArgument(Value value, StringRef name, Attribute attribute) {
    map.map(value,
            function->front().addArgument(value.getType(), function->getLoc()));
    argumentAttributes.emplace_back(name, attribute);
  }
  void addResult(Value value, StringRef name, Attribute attribute) {
    results.push_back(map.lookup(value));
    resultAttributes.emplace_back(name, attribute);
  }

  OpBuilder builder;
  OwningOpRef<func::FuncOp> function;
  IRMapping map;
  CallWriter text;
  unsigned parameters = 0;
  std::vector<Value> read;
  SmallVector<Value> results;
  Attributes argumentAttributes, resultAttributes;
};

} // namespace

/// Whether the interpreter gives what it is in the whole step.
static bool runsAlone(Operation *op) {
  if (isFree(op) || isa<joint::AssertOp>(op))
    return true;
  auto call = dyn_cast<aten::CallOp>(op);
  return call && !call.isRandom() && !call.hasOrderedEffects() &&
         interpreter::hasKernel(op);
}

std::optional<CallKernel> cuda::writeInterpretedCall(Operation *op) {
  if (!runsAlone(op) || !llvm::all_of(op->getOperands(), isKnownTensor))
    return std::nullopt;
  FunctionWriter writer(op->getLoc());
  for (Value operand : op->getOperands())
    if (!writer.isKnown(operand))
      writer.readPlaced(operand);
  writer.copy(*op);
  for (Value result : op->getResults())
    if (!result.use_empty()) {
      if (!isKnownTensor(result))
        return std::nullopt;
      writer.makePlaced(result);
    }
  return writer.finish();
}

//===----------------------------------------------------------------------===//
// Values without a place
//===----------------------------------------------------------------------===//

/// A tensor with a place in memory that is laid out before the step runs.
static bool isPlaced(Value value) {
  if (!isKnownTensor(value))
    return false;
  kernel::Place place = kernel::locate(value);
  return place.isKnown && isKnownTensor(place.root);
}

/// Whether data decide what `value` is: a tensor's size, or a number.
bool HeldValues::isOfData(Value value) const {
  if (isPlaced(value))
    return false;
  if (isa<TensorType>(value.getType()))
    return true;
  value = kernel::insideOf(value);
  if (isa<BlockArgument>(value)) {
    Value from = segments.handed.lookup(value);
    return from && isOfData(from);
  }
  // Of a tensor's size, or of its elements.
  Operation *op = value.getDefiningOp();
  bool readsSizes = StringRef(shortOpName(op)).starts_with("sym_");
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isOfData(operand) ||
           (isa<TensorType>(operand.getType()) && !readsSizes);
  });
}

bool HeldValues::areOf(kernel::LaunchOp launch) const {
  if (llvm::is_contained(launch.getAt(), kernel::LaunchOp::kOwn))
    return true;
  Block &block = launch.getBlock();
  return llvm::any_of(block, [&](Operation &op) {
    return llvm::any_of(op.getOperands(), [&](Value operand) {
      return operand.getParentBlock() != &block && isOfData(operand);
    });
  });
}

bool HeldValues::holds(Value value) const {
  return names.contains(value) || value.getDefiningOp<kernel::LaunchOp>();
}

std::string HeldValues::nameOf(Value value) {
  auto [found, isNew] = names.try_emplace(value, names.size());
  return "h" + std::to_string(found->second);
}

namespace {

/// Gives a function what it reads of a value of the step.
class HeldReader {
public:
  HeldReader(const kernel::StepSegments &segments, HeldValues &held,
             FunctionWriter &writer)
      : segments(segments), held(held), writer(writer) {}

  /// False for what has no name and no place.
  bool read(Value value) {
    if (writer.isKnown(value))
      return true;
    if (isPlaced(value)) {
      writer.readPlaced(value);
      return true;
    }
    return readHeld(value, [&](Value one) { return read(one); });
  }

private:
  /// What is held, and what is made of that by ops that are free; `readOther`
  /// reads their operands.
  bool readHeld(Value value, llvm::function_ref<bool(Value)> readOther) {
    if (held.holds(value)) {
      writer.readHeld(value, held.nameOf(value));
      return true;
    }
    if (isa<BlockArgument>(value)) {
      Value from = segments.handed.lookup(value);
      if (!from || !readHanded(from))
        return false;
      writer.alias(value, from);
      return true;
    }
    Operation *op = value.getDefiningOp();
    if (!isFree(op) || !llvm::all_of(op->getOperands(), readOther))
      return false;
    writer.copy(*op);
    return true;
  }

  /// What an earlier segment hands over: its memory is another's by now, so of
  /// what is held alone.
  bool readHanded(Value value) {
    return writer.isKnown(value) ||
           readHeld(value, [&](Value one) { return readHanded(one); });
  }

  const kernel::StepSegments &segments;
  HeldValues &held;
  FunctionWriter &writer;
};

} // namespace

bool HeldValues::isNumber(Operation *op) const {
  return isFree(op) && isa<aten::CallOp>(op) && op->getNumResults() == 1 &&
         !isa<TensorType>(op->getResult(0).getType()) &&
         isOfData(op->getResult(0)) &&
         (llvm::any_of(op->getOperands(), isPlaced) ||
          llvm::any_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>));
}

std::optional<CallKernel> HeldValues::writeNumber(Operation *op) {
  FunctionWriter writer(op->getLoc());
  HeldReader reader(segments, *this, writer);
  for (Value operand : op->getOperands())
    if (!reader.read(operand))
      return std::nullopt;
  writer.copy(*op);
  writer.makeHeld(op->getResult(0), nameOf(op->getResult(0)));
  return writer.finish();
}

std::optional<CallKernel> HeldValues::write(kernel::LaunchOp launch) {
  FunctionWriter writer(launch.getLoc());
  HeldReader reader(segments, *this, writer);
  Block &block = launch.getBlock();
  for (Operation &op : block.without_terminator()) {
    if (!runsAlone(&op))
      return std::nullopt;
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &block && !reader.read(operand))
        return std::nullopt;
    writer.copy(op);
  }
  for (auto [made, result, at] :
       llvm::zip_equal(launch.getYield().getOperands(), launch.getResults(),
                       launch.getAt())) {
    if (at >= 0)
      writer.makePlaced(made);
    else if (!result.use_empty() && !isPlaced(result))
      writer.makeHeld(made, nameOf(result));
  }
  return writer.finish();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs launches: of a kernel its body (KernelBodies.h), of a call its ops as
// they stand, or the machine code that there is for them. What others see of
// the results besides the tensors that the body writes, views and sizes,
// follows from the ops inside.
//
// With `checkKernels` the ops of a kernel run too, and the difference may be no
// more than rounding.

#include "Runner.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Hook.h"
#include "cutback/Interpreter/KernelBodies.h"
#include "cutback/Interpreter/LaunchRunner.h"

#include "mlir/IR/SymbolTable.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

LogicalResult Runner::runLaunch(kernel::LaunchOp launch, Values &results) {
  bool hasKernel = static_cast<bool>(launch.getKernelAttr());
  Values expected;
  SmallVector<double> scales;
  if (hasKernel && options.checkKernels &&
      failed(runOps(launch, expected, scales)))
    return failure();
  // A hook is a function of the user, no machine code.
  bool isElsewhere =
      options.launches && !isa<joint::HookOp>(launch.getBlock().front());
  // Of a call that is run here its ops have been seen.
  bool hidesOps = hasKernel || isElsewhere;
  ValueMap read = hidesOps ? keepOperands(launch) : ValueMap();
  if (failed(isElsewhere ? runElsewhere(launch)
             : hasKernel ? runKernel(launch)
                         : runBlock(launch.getBlock())) ||
      failed(compareKernel(launch, expected, scales)))
    return failure();
  for (auto [result, inside] :
       llvm::zip_equal(results, launch.getYield().getOperands()))
    result = values.lookup(inside);
  if (failed(checkBounds(launch, results)))
    return failure();
  for (Operation &op : launch.getBlock())
    for (Value value : op.getResults())
      values.erase(value);
  return hidesOps ? showOps(launch, results, read) : success();
}

/// Copies of what a launch reads, if somebody may want to see its ops.
Runner::ValueMap Runner::keepOperands(kernel::LaunchOp launch) {
  ValueMap kept;
  if (llvm::none_of(options.observers, [](const OpObserver *observer) {
        return observer->keepsOperands();
      }))
    return kept;
  launch->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      auto found = values.find(operand);
      if (found == values.end())
        continue;
      RuntimeValue &copy = kept[operand];
      copy = found->second;
      if (auto *tensor = std::get_if<Tensor>(&copy))
        *tensor = interpreter::copyOf(*tensor);
    }
  });
  return kept;
}

/// The ops of a launch that has run, one by one, for those who want to see
/// them.
LogicalResult Runner::showOps(kernel::LaunchOp launch,
                              ArrayRef<RuntimeValue> made,
                              const ValueMap &read) {
  for (OpObserver *observer : options.observers) {
    if (!observer->keepsOperands() || !observer->wantsOpsOf(launch, made))
      continue;
    InterpreterOptions plain = withoutArena();
    Runner inside(launch, plain);
    inside.values = read;
    if (failed(inside.runOpsInside(launch, observer)))
      return failure();
  }
  return success();
}

InterpreterOptions Runner::withoutArena() const {
  InterpreterOptions plain = options;
  plain.memory = nullptr;
  plain.launches = nullptr;
  plain.observers.clear();
  return plain;
}

/// Runs the ops of a launch on `values`. What it writes into arguments is not
/// written.
LogicalResult Runner::runOpsInside(kernel::LaunchOp launch,
                                   OpObserver *observer) {
  for (Operation &op : launch.getBlock().without_terminator()) {
    Values ofOp(op.getNumResults());
    if (auto write = dyn_cast<joint::WriteOp>(op))
      ofOp[0] = values.lookup(write.getValue());
    else if (failed(runOp(&op, ofOp)))
      return failure();
    if (observer && failed(observer->ran(&op, ofOp)))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op.getResults(), ofOp))
      values[result] = value;
  }
  return success();
}

/// Buffers whose size depends on data have at most the bytes that are said.
LogicalResult Runner::checkBounds(kernel::LaunchOp launch,
                                  const Values &results) {
  for (auto [i, value] : llvm::enumerate(results)) {
    const auto *tensor = std::get_if<Tensor>(&value);
    int64_t most = launch.getMostOf(i);
    if (!tensor || most < 0 || tensor->numel() * itemSize(tensor->type) <= most)
      continue;
    InFlightDiagnostic diagnostic =
        launch.emitOpError("makes '")
        << joint::getValueName(launch.getYield().getOperand(i)) << "' of "
        << tensor->numel() * itemSize(tensor->type)
        << " bytes, and says that it has at most " << most;
    diagnostic.attachNote() << "give inputs in the ranges that the graph was "
                               "exported for, or export it again";
    return diagnostic;
  }
  return success();
}

/// What the ops that a kernel stands for compute.
LogicalResult Runner::runOps(kernel::LaunchOp launch, Values &results,
                             SmallVectorImpl<double> &scales) {
  InterpreterOptions plain = withoutArena();
  Runner inside(launch, plain);
  inside.values = values;
  if (failed(inside.runOpsInside(launch, nullptr)))
    return failure();
  for (Value operand : launch.getYield().getOperands()) {
    results.push_back(inside.values.lookup(operand));
    scales.push_back(inside.scaleOf(operand));
  }
  return success();
}

static double largestOf(const RuntimeValue &value) {
  double largest = 0;
  if (const auto *tensor = std::get_if<Tensor>(&value))
    for (double element : tensor->contiguous().doubles())
      if (std::isfinite(element))
        largest = std::max(largest, std::fabs(element));
  return largest;
}

/// What the rounding of `value` is to be seen against: its largest element, or
/// that of what it was computed from, which may have cancelled out.
double Runner::scaleOf(Value value) {
  double scale = largestOf(values.lookup(value));
  if (Operation *op = value.getDefiningOp())
    for (Value operand : op->getOperands())
      scale = std::max(scale, largestOf(values.lookup(operand)));
  return scale;
}

/// The difference that rounding may make, of the scale.
static double roundingOf(DType type) {
  switch (type) {
  case DType::F64:
    return 1e-9;
  case DType::F32:
    return 1e-4;
  case DType::F16:
    return 1e-2;
  default:
    return isFloating(type) ? 5e-2 : 0;
  }
}

LogicalResult Runner::compareKernel(kernel::LaunchOp launch,
                                    const Values &expected,
                                    ArrayRef<double> scales) {
  if (expected.empty())
    return success();
  // Sums may cancel out: what is left is rounding of what was read, or, of a
  // variance, its square.
  double read = 0;
  for (Value buffer : launch.getBuffers())
    if (const auto *tensor = std::get_if<Tensor>(&values[buffer]);
        tensor && isFloating(tensor->type))
      for (double value : tensor->doubles())
        read = std::isfinite(value) ? std::max(read, std::fabs(value)) : read;
  for (int32_t output : launch.getOutputs()) {
    Value inside = launch.getYield().getOperand(output);
    Tensor is = std::get<Tensor>(values.lookup(inside));
    std::vector<double> a = is.doubles();
    std::vector<double> b = std::get<Tensor>(expected[output]).doubles();
    double scale = scales[output], largest = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      bool isSame = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
      double difference = isSame ? 0 : std::fabs(a[i] - b[i]);
      largest =
          std::isnan(difference) ? INFINITY : std::max(largest, difference);
    }
    double rounding = roundingOf(is.type), left = rounding * 1e-2 * read;
    if (largest >
        std::max({rounding * scale, rounding * 1e-3, left, left * left}))
      return launch.emitOpError("computes '")
             << joint::getValueName(inside) << "' by kernel "
             << launch.getKernelAttr() << " off by " << largest << " of "
             << scale << " from the ops that it stands for";
  }
  return success();
}

/// A size of a tensor that the kernel does not write, by its type.
bool Runner::evaluateSize(Operation *op, Values &results) {
  auto evaluator = dyn_cast<joint::SizeEvaluationOpInterface>(op);
  SmallVector<Type> resultTypes;
  SmallVector<int64_t> operandInts, resultInts;
  for (Value operand : op->getOperands())
    operandInts.push_back(integerNow(values.lookup(operand)));
  if (!evaluator || op->getNumResults() != 1 ||
      !evaluator.evaluateSizes(SmallVector<Type>(op->getOperandTypes()),
                               operandInts, resultTypes, resultInts) ||
      resultInts.size() != 1 || resultInts[0] == ShapedType::kDynamic)
    return false;
  results[0] = resultInts[0];
  return true;
}

/// Of complex numbers the parts, as a kernel has them; `tensor` is contiguous.
static Tensor partsOf(const Tensor &tensor) {
  if (!isComplex(tensor.type))
    return tensor;
  DType part = tensor.type == DType::C128  ? DType::F64
               : tensor.type == DType::C64 ? DType::F32
                                           : DType::F16;
  return Tensor::on(tensor.storage, tensor.offset * itemSize(tensor.type), part,
                    {2 * tensor.numel()});
}

/// Runs the body of the kernel, and of the ops inside only the views.
LogicalResult Runner::runKernel(kernel::LaunchOp launch) {
  auto function = SymbolTable::lookupNearestSymbolFrom<kernel::FuncOp>(
      launch, launch.getKernelAttr());
  std::vector<Tensor> memories;
  for (Value buffer : launch.getBuffers()) {
    memories.push_back(
        partsOf(std::get<Tensor>(values.lookup(buffer)).contiguous()));
  }
  std::vector<std::pair<Tensor, Tensor>> written; // from, to
  for (int32_t output : launch.getOutputs()) {
    Value inside = launch.getYield().getOperand(output);
    if (auto write = inside.getDefiningOp<joint::WriteOp>()) {
      Tensor argument = std::get<Tensor>(values.lookup(write.getDestination()));
      if (failed(checkWritable(write, argument)))
        return failure();
      memories.push_back(argument.contiguous());
      if (memories.back().storage != argument.storage)
        written.emplace_back(memories.back(), argument);
      values[inside] = argument;
      continue;
    }
    auto type = cast<RankedTensorType>(inside.getType());
    memories.push_back(memory.allocate(inside, *dtypeOf(type.getElementType()),
                                       type.getShape()));
    values[inside] = memories.back();
  }
  if (failed(options.kernels ? options.kernels->run(function, memories)
                             : runKernelBody(function, memories)))
    return failure();
  for (auto &[from, to] : written)
    copyElements(from, to);
  return seeResults(launch);
}

/// Has a launch run, and takes its results from where they are then.
LogicalResult Runner::runElsewhere(kernel::LaunchOp launch) {
  if (failed(options.launches->run(launch)))
    return failure();
  llvm::DenseSet<Value> unread; // which calls may leave as it was
  for (OpResult result : launch->getResults())
    if (Value inside = kernel::insideOf(result);
        result.use_empty() && inside.hasOneUse())
      unread.insert(inside);
  for (Operation &op : launch.getBlock().without_terminator()) {
    if (auto write = dyn_cast<joint::WriteOp>(op))
      values[write.getResult()] = values.lookup(write.getDestination());
    for (Value result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || unread.contains(result))
        continue;
      bool isEmpty = type.hasStaticShape() && type.getNumElements() == 0;
      if (isEmpty || memory.hasPlace(result))
        values[result] = memory.allocate(
            result, *dtypeOf(type.getElementType()), type.getShape());
    }
  }
  return seeResults(launch);
}

/// Of a launch whose kernel has run: what is seen of its results, and sizes.
LogicalResult Runner::seeResults(kernel::LaunchOp launch) {
  auto isKnown = [&](Value operand) {
    return operand.getParentBlock() != &launch.getBlock() ||
           values.contains(operand);
  };
  auto isSeen = [&](OpResult result) {
    return !isa<ShapedType>(result.getType()) ||
           getViewedOperand(result.getOwner(), result.getResultNumber()) >= 0;
  };
  for (Operation &op : launch.getBlock().without_terminator()) {
    if (op.getNumResults() == 0 || values.contains(op.getResult(0)) ||
        !llvm::all_of(op.getResults(), isSeen))
      continue;
    Values results(op.getNumResults());
    if (!llvm::all_of(op.getOperands(), isKnown)) {
      if (!evaluateSize(&op, results))
        continue;
    } else if (failed(runOp(&op, results))) {
      return failure();
    }
    for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
      values[result] = value;
  }
  return success();
}

/// A call by the machine code that there is for it.
FailureOr<bool> Runner::runMachineCode(aten::CallOp op, Values &results) {
  if (!options.kernels || !options.kernels->hasCall(op))
    return false;
  llvm::DenseMap<Value, Tensor> tensors;
  for (Value operand : op->getOperands()) {
    RuntimeValue value = values.lookup(operand);
    if (const auto *tensor = std::get_if<Tensor>(&value))
      tensors[operand] = *tensor;
  }
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || result.use_empty())
      continue;
    Tensor tensor = memory.allocate(result, *dtypeOf(type.getElementType()),
                                    type.getShape());
    tensors[result] = tensor;
    results[result.getResultNumber()] = tensor;
  }
  return options.kernels->runCall(op, tensors);
}

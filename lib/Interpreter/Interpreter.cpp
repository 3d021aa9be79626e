// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs ops one at a time, in program order.
//
// 1. Before the run: count the uses of every value, and find the views that
//    must be copies because the argument that they see is written later
//    (findForcedCopies).
// 2. An op: a view where strides allow it (viewLayout), else its kernel, else,
//    for a view, a copy. Ops of dialect `joint` are handled here: a write
//    copies into the storage of its argument, so that later reads of the
//    argument see the new value.
// 3. After an op: values that it used last are released, so a graph holds what
//    is live and no more.
//
// Shapes are what inference says on the sizes that the operands have now.
// Linear in the ops, plus what the kernels cost.

#include "cutback/Interpreter/Interpreter.h"

#include "NestedCalls.h"
#include "Runner.h"

#include "cutback/Dialect/Aten/Collectives.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Declared.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Interpreter/Kernel.h"
#include "cutback/Interpreter/LaunchRunner.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

#include <cstring>
#include <utility>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

Memory::~Memory() = default;

Tensor Memory::allocate(Value, DType type, ArrayRef<int64_t> sizes) {
  return Tensor::zeros(type, sizes);
}

bool Memory::hasPlace(Value) { return false; }

void Memory::finished(Operation *) {}

int64_t interpreter::integerNow(const RuntimeValue &value) {
  if (const auto *integer = std::get_if<int64_t>(&value))
    return *integer;
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag;
  return ShapedType::kDynamic;
}

namespace {

//===----------------------------------------------------------------------===//
// Types of values
//===----------------------------------------------------------------------===//

/// The type that a value has now, all sizes known.
Type typeNow(const RuntimeValue &value, MLIRContext *context) {
  Builder builder(context);
  if (const auto *tensor = std::get_if<Tensor>(&value))
    return RankedTensorType::get(tensor->sizes, typeOf(tensor->type, context));
  if (std::holds_alternative<int64_t>(value))
    return builder.getIndexType();
  if (std::holds_alternative<double>(value))
    return builder.getF64Type();
  if (std::holds_alternative<bool>(value))
    return builder.getI1Type();
  return builder.getNoneType();
}

/// True if a value may stand for an argument of type `declared`.
bool fits(const RuntimeValue &value, Type declared) {
  if (const auto *tensor = std::get_if<Tensor>(&value)) {
    auto type = dyn_cast<RankedTensorType>(declared);
    return type && dtypeOf(type.getElementType()) == tensor->type &&
           succeeded(verifyCompatibleShape(type.getShape(), tensor->sizes));
  }
  if (std::holds_alternative<int64_t>(value))
    return isa<IndexType>(declared);
  if (std::holds_alternative<double>(value))
    return isa<FloatType>(declared);
  if (std::holds_alternative<bool>(value))
    return declared.isInteger(1);
  return isa<NoneType>(declared);
}

Layout layoutOf(const Tensor &tensor) {
  return {tensor.sizes, tensor.strides, tensor.offset};
}

Tensor withLayout(const Tensor &base, const Layout &layout, DType type) {
  Tensor view;
  view.type = type;
  view.sizes = layout.sizes;
  view.strides = layout.strides;
  view.offset = layout.offset;
  view.storage = base.storage;
  return view;
}

} // namespace

//===----------------------------------------------------------------------===//
// Runner
//===----------------------------------------------------------------------===//

LogicalResult Runner::bind(Block &block, ArrayRef<RuntimeValue> arguments) {
  Operation *function = block.getParentOp();
  if (arguments.size() != block.getNumArguments()) {
    function->emitError() << "needs " << block.getNumArguments()
                          << " arguments, " << arguments.size() << " are given";
    return failure();
  }
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments)) {
    if (!fits(value, argument.getType())) {
      emitError(argument.getLoc())
          << "argument '" << joint::getValueName(argument) << "' must be a "
          << argument.getType() << ", not a " << typeNow(value, context);
      return failure();
    }
    if (!argument.use_empty())
      values[argument] = value;
  }
  return success();
}

LogicalResult Runner::runBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    Values results(op.getNumResults());
    for (OpObserver *observer : options.observers)
      observer->begins(&op);
    if (failed(runOp(&op, results)))
      return failure();
    for (OpObserver *observer : options.observers)
      if (failed(observer->ran(&op, results)))
        return failure();
    finish(&op, results);
  }
  return success();
}

/// Keeps the results that are used, releases the operands used up.
void Runner::finish(Operation *op, const Values &results) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
    if (!result.use_empty())
      values[result] = value;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    auto [left, isNew] = usesLeft.try_emplace(value, 0);
    if (isNew)
      left->second = std::distance(value.use_begin(), value.use_end());
    if (--left->second == 0)
      values.erase(value);
  }
  memory.finished(op);
}

std::vector<RuntimeValue> Runner::take(Operation *terminator) {
  std::vector<RuntimeValue> results;
  for (Value operand : terminator->getOperands())
    results.push_back(values.lookup(operand));
  return results;
}

LogicalResult Runner::runOp(Operation *op, Values &results) {
  if (auto call = dyn_cast<aten::CallOp>(op)) {
    FailureOr<bool> hasRun = runMachineCode(call, results);
    return failed(hasRun) ? failure()
           : *hasRun      ? success()
                          : runCall(call, results);
  }
  if (auto write = dyn_cast<joint::WriteOp>(op))
    return runWrite(write, results);
  if (auto assertion = dyn_cast<joint::AssertOp>(op))
    return runAssert(assertion);
  if (isa<joint::RerunOp>(op))
    return success();
  if (auto hook = dyn_cast<joint::HookOp>(op))
    return runHook(hook, results);
  if (auto opaque = dyn_cast<joint::OpaqueOp>(op))
    return runOpaque(opaque, results);
  if (auto barrier = dyn_cast<joint::BarrierOp>(op)) {
    results[0] = values.lookup(barrier.getInput());
    if (const auto *tensor = std::get_if<Tensor>(&results[0]);
        tensor && copies.contains(barrier.getOutput()))
      results[0] = copyOf(barrier.getOutput(), *tensor);
    return success();
  }
  if (auto checkpoint = dyn_cast<joint::CheckpointOp>(op))
    return runCheckpoint(checkpoint, results);
  if (auto nested = dyn_cast<joint::NestedOp>(op))
    return runNestedOp(nested, results);
  if (auto random = dyn_cast<joint::RandomOp>(op))
    return runRandom(random, results);
  if (auto poisson = dyn_cast<joint::PoissonOp>(op))
    return runPoisson(poisson, results);
  if (auto binomial = dyn_cast<joint::BinomialOp>(op))
    return runBinomial(binomial, results);
  if (auto launch = dyn_cast<kernel::LaunchOp>(op))
    return runLaunch(launch, results);
  op->emitError() << "'" << op->getName() << "' cannot be executed";
  return failure();
}

/// A contiguous copy at the place of `result`.
Tensor Runner::copyOf(Value result, const Tensor &tensor) {
  Tensor copy = memory.allocate(result, tensor.type, tensor.sizes);
  copyElements(tensor, copy);
  return copy;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The sizes of all tensor results.
LogicalResult
Runner::resultSizes(Operation *op,
                    SmallVectorImpl<SmallVector<int64_t>> &sizes) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.hasStaticShape();
  };
  SmallVector<Type> types(op->getResultTypes());
  if (!llvm::all_of(types, isStatic)) {
    SmallVector<Type> operandTypes;
    SmallVector<int64_t> operandInts, resultInts;
    for (const RuntimeValue &value : operandsOf(op)) {
      operandTypes.push_back(typeNow(value, context));
      operandInts.push_back(integerNow(value));
    }
    types.clear();
    auto evaluator = dyn_cast<joint::SizeEvaluationOpInterface>(op);
    if (!evaluator ||
        !evaluator.evaluateSizes(operandTypes, operandInts, types,
                                 resultInts) ||
        !llvm::all_of(types, isStatic))
      return failure();
  }
  for (Type type : types) {
    sizes.emplace_back();
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      sizes.back().assign(tensor.getShape().begin(), tensor.getShape().end());
  }
  return success();
}

/// Result `result` of a view op on the operand that it sees: a view, or where
/// it must not or cannot be one, a copy. False if it is none of the kind.
bool Runner::makeView(Operation *op, unsigned result, ArrayRef<int64_t> sizes,
                      RuntimeValue &value) {
  RuntimeValue operand =
      values.lookup(op->getOperand(getViewedOperand(op, result)));
  auto type = dyn_cast<RankedTensorType>(op->getResult(result).getType());
  std::optional<DType> dtype =
      type ? dtypeOf(type.getElementType()) : std::nullopt;
  const auto *base = std::get_if<Tensor>(&operand);
  if (!base || !dtype)
    return false;
  SmallVector<int64_t> operandInts;
  for (const RuntimeValue &other : operandsOf(op))
    operandInts.push_back(integerNow(other));
  bool mustCopy = copies.contains(op->getResult(result)) ||
                  memory.hasPlace(op->getResult(result));
  std::optional<ViewedLayout> found =
      layoutOfView(op, result, layoutOf(*base), sizes, operandInts);
  if (!found)
    return false;
  Tensor view = withLayout(found->isOfCopy ? base->contiguous() : *base,
                           found->layout, *dtype);
  value =
      mustCopy || found->isOfCopy ? copyOf(op->getResult(result), view) : view;
  return true;
}

LogicalResult Runner::runCall(aten::CallOp call, Values &results) {
  Operation *op = call.getOperation();
  bool isView = op->getNumResults() > 0;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    isView &= getViewedOperand(op, i) >= 0;
  if (isView) {
    SmallVector<SmallVector<int64_t>> sizes;
    if (failed(resultSizes(op, sizes))) {
      op->emitError() << "'" << call.getInfo().torchName
                      << "' does not fit the sizes that its operands have";
      return failure();
    }
    for (auto [i, value] : llvm::enumerate(results))
      isView &= makeView(op, i, sizes[i], value);
    if (isView)
      return success();
  }
  KernelFn kernel = getKernel(op->getName());
  if (!kernel && op->getNumResults() > 0 && getViewedOperand(op, 0) >= 0) {
    op->emitError() << "'" << call.getInfo().torchName
                    << "' reaches beyond its operand";
    return failure();
  }
  if (!kernel && !aten::runsInOneProcess(op))
    return failure();
  if (!kernel) {
    InFlightDiagnostic diag = op->emitError()
                              << "there is no kernel for '"
                              << call.getInfo().torchName << "'";
    diag.attachNote() << "write it in terms of other ops before it is run";
    return failure();
  }
  Values operands = operandsOf(op);
  KernelCall kernelCall(call, operands, results, options);
  kernelCall.replayed = std::exchange(replayed, std::nullopt);
  return success(succeeded(kernel(kernelCall)) && !kernelCall.failed());
}

//===----------------------------------------------------------------------===//
// Dialect joint
//===----------------------------------------------------------------------===//

LogicalResult Runner::checkWritable(joint::WriteOp op, const Tensor &to) {
  if (to.storage->writable)
    return success();
  InFlightDiagnostic diag =
      op.emitError() << "argument '" << joint::getValueName(op.getDestination())
                     << "' cannot be written: its storage is read only";
  diag.attachNote() << "hand over a copy of it";
  return diag;
}

LogicalResult Runner::runWrite(joint::WriteOp op, Values &results) {
  RuntimeValue destination = values.lookup(op.getDestination());
  RuntimeValue value = values.lookup(op.getValue());
  const auto *to = std::get_if<Tensor>(&destination);
  const auto *from = std::get_if<Tensor>(&value);
  if (!to || !from) {
    // Sizes and numbers have no storage: the argument's later reads see it.
    values[op.getDestination()] = value;
    results[0] = value;
    return success();
  }
  if (to->sizes != from->sizes)
    return op.emitError() << "a " << textOf(from->type, from->sizes)
                          << " is written into argument '"
                          << joint::getValueName(op.getDestination()) << "', a "
                          << textOf(to->type, to->sizes);
  if (failed(checkWritable(op, *to)))
    return failure();
  Tensor source = *from;
  if (sharesBytes(*from, *to)) {
    source = Tensor::zeros(from->type, from->sizes);
    copyElements(*from, source);
  }
  copyElements(source, *to);
  results[0] = copies.contains(op.getResult()) ? copyOf(op.getResult(), *to)
                                               : destination;
  return success();
}

LogicalResult Runner::runAssert(joint::AssertOp op) {
  RuntimeValue condition = values.lookup(op.getCondition());
  bool holds = true;
  if (const auto *tensor = std::get_if<Tensor>(&condition))
    holds = llvm::all_of(tensor->doubles(), [](double x) { return x != 0; });
  else if (const auto *real = std::get_if<double>(&condition))
    holds = *real != 0;
  else
    holds = integerNow(condition) != 0;
  if (holds)
    return success();
  InFlightDiagnostic diagnostic = op.emitError()
                                  << "check failed: " << op.getMessage();
  diagnostic.attachNote()
      << "the program checks this itself ('aten._assert_scalar' or 'assert'); "
         "give it inputs like those that it was exported with";
  return diagnostic;
}

/// Functions work on the memory of the result, which a plan may have put over
/// the gradient; those that only see the gradient, on a copy.
LogicalResult Runner::runHook(joint::HookOp op, Values &results) {
  RuntimeValue held = values.lookup(op.getGradient());
  const auto *gradient = std::get_if<Tensor>(&held);
  if (!gradient) // none
    return success();
  Tensor own;
  if (op.getResult())
    own = memory.allocate(op.getResult(), gradient->type, gradient->sizes);
  else if (options.hook)
    own = Tensor::zeros(gradient->type, gradient->sizes);
  if (own.storage &&
      !(own.data() == gradient->data() && gradient->isContiguous()))
    copyElements(*gradient, own);
  std::string error =
      options.hook ? options.hook(static_cast<int64_t>(op.getKey()), own) : "";
  if (!error.empty())
    return op.emitError(error);
  if (op.getResult())
    results[0] = own;
  return success();
}

/// A state is seed and stream of the next op, which is where a draw begins
/// here (Draws.h).
LogicalResult Runner::runOpaque(joint::OpaqueOp op, Values &results) {
  constexpr int64_t kWord = sizeof(uint64_t);
  if (op.getCallee() == joint::kSavesState && op->getNumResults() == 1) {
    const uint64_t words[] = {options.seed,
                              joint::drawStreamOf(op->getNextNode())};
    Tensor state = memory.allocate(op->getResult(0), DType::U8, {2 * kWord});
    std::memcpy(state.data(), words, sizeof(words));
    results[0] = state;
    return success();
  }
  if (op.getCallee() == joint::kSetsState && op->getNumOperands() == 1) {
    RuntimeValue held = values.lookup(op->getOperand(0));
    const auto *state = std::get_if<Tensor>(&held);
    if (!state || state->type != DType::U8 || state->numel() != 2 * kWord)
      return op.emitError("needs the state of a generator: 16 bytes here");
    uint64_t words[2];
    std::memcpy(words, state->contiguous().data(), sizeof(words));
    replayed = {words[0], words[1]};
    return success();
  }
  if (joint::isTakenAsDeclared(op)) {
    InFlightDiagnostic diag = op.emitError() << "'" << op.getCallee()
                                             << "' cannot be executed: it is "
                                             << joint::declaredText(op);
    diag.attachNote() << "it can be planned as it is; to run the graph, export "
                         "the model again with a release whose op is the one "
                         "that is known here";
    return diag;
  }
  InFlightDiagnostic diag = op.emitError() << "'" << op.getCallee()
                                           << "' cannot be executed: what it "
                                              "does is not known";
  diag.attachNote() << "it comes from the graph as it was read; replace it by "
                       "ops of PyTorch, or decompose it, before the export";
  return diag;
}

LogicalResult Runner::runCheckpoint(joint::CheckpointOp op, Values &results) {
  Block &body = op.getBody().front();
  if (failed(runBlock(body)))
    return failure();
  for (auto [i, value] : llvm::enumerate(take(body.getTerminator()))) {
    const auto *tensor = std::get_if<Tensor>(&value);
    Value result = op->getResult(i);
    results[i] =
        tensor && copies.contains(result) ? copyOf(result, *tensor) : value;
  }
  finish(body.getTerminator(), {});
  return success();
}

/// A graph of launches runs in the scratch of the call, which the next run of a
/// graph takes over: what it gives is copied. Ops as they stand run outside of
/// the arena. What the call gives is copied into its place.
LogicalResult Runner::runNestedOp(joint::NestedOp op, Values &results) {
  InterpreterOptions inner;
  inner.seed = options.seed;
  bool isOfLaunches = op->walk([](kernel::LaunchOp) {
                          return WalkResult::interrupt();
                        }).wasInterrupted();
  if (isOfLaunches) {
    inner.memory = options.memory;
    inner.kernels = options.kernels;
    inner.checkKernels = options.checkKernels;
  }
  auto runGraph = [&](Region &graph, ArrayRef<RuntimeValue> inputs)
      -> FailureOr<std::vector<RuntimeValue>> {
    Runner runner(inner, context);
    Block &block = graph.front();
    if (failed(runner.bind(block, inputs)) || failed(runner.runBlock(block)))
      return failure();
    std::vector<RuntimeValue> given = runner.take(block.getTerminator());
    for (RuntimeValue &value : given)
      if (auto *tensor = std::get_if<Tensor>(&value); tensor && isOfLaunches) {
        Tensor copy = Tensor::zeros(tensor->type, tensor->sizes);
        copyElements(*tensor, copy);
        *tensor = copy;
      }
    return given;
  };
  FailureOr<std::vector<RuntimeValue>> given =
      runNested(op, operandsOf(op), runGraph);
  if (failed(given))
    return failure();
  auto next = given->begin();
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (isa<NoneType>(result.getType()))
      continue;
    if (next == given->end() || !fits(*next, result.getType()))
      return op.emitError()
             << "'" << op.getCallee() << "' gives another "
             << "result number " << i << " than a " << result.getType();
    const auto *tensor = std::get_if<Tensor>(&*next);
    results[i] = tensor ? copyOf(result, *tensor) : *next;
    ++next;
  }
  return success();
}

/// The one block of a function, null with an error if it has none.
static Block *bodyOf(Operation *function) {
  if (function->getNumRegions() == 1 &&
      llvm::hasSingleElement(function->getRegion(0)))
    return &function->getRegion(0).front();
  function->emitError("has no body of one block to be executed");
  return nullptr;
}

FailureOr<std::vector<RuntimeValue>>
interpreter::run(Operation *function, ArrayRef<RuntimeValue> arguments,
                 const InterpreterOptions &options) {
  Block *block = bodyOf(function);
  if (!block)
    return failure();
  Runner runner(function, options);
  if (failed(runner.bind(*block, arguments)))
    return failure();
  for (OpObserver *observer : options.observers)
    if (failed(observer->starts(function, arguments)))
      return failure();
  if (failed(runner.runBlock(*block)))
    return failure();
  if (options.launches && failed(options.launches->finish(function)))
    return failure();
  std::vector<RuntimeValue> results = runner.take(block->getTerminator());
  for (OpObserver *observer : options.observers)
    if (failed(observer->ends(function, results)))
      return failure();
  return results;
}

//===----------------------------------------------------------------------===//
// Both halves
//===----------------------------------------------------------------------===//

/// Values for the arguments of one half: the first `saved.size()` are those,
/// the others the graph's arguments of the same names.
static FailureOr<std::vector<RuntimeValue>>
collectArguments(func::FuncOp half, ArrayRef<RuntimeValue> saved,
                 const llvm::StringMap<RuntimeValue> &byName) {
  std::vector<RuntimeValue> values(saved.begin(), saved.end());
  for (unsigned i = saved.size(); i < half.getNumArguments(); ++i) {
    auto name =
        half.getArgAttrOfType<StringAttr>(i, joint::JointDialect::kName);
    auto found = byName.find(name ? name.getValue() : StringRef());
    if (found == byName.end()) {
      half.emitError() << "argument " << i << " is none of the graph's";
      return failure();
    }
    values.push_back(found->second);
  }
  return values;
}

/// A result of the forward that sees the storage of an argument which the
/// backward writes is copied, so that it keeps its value.
static void protectFromWrites(func::FuncOp forward, func::FuncOp backward,
                              ArrayRef<RuntimeValue> arguments,
                              std::vector<RuntimeValue> &results) {
  bool writes = false;
  backward.walk([&](joint::WriteOp) { writes = true; });
  if (!writes)
    return;
  Operation *terminator = forward.getBody().front().getTerminator();
  for (auto [operand, result] :
       llvm::zip_equal(terminator->getOperands(), results)) {
    const auto *tensor = std::get_if<Tensor>(&result);
    bool seesArgument = tensor && llvm::any_of(arguments, [&](auto &argument) {
                          const auto *other = std::get_if<Tensor>(&argument);
                          return other && sharesBytes(*tensor, *other);
                        });
    if (!seesArgument || isa<BlockArgument>(operand))
      continue;
    Tensor copy = Tensor::zeros(tensor->type, tensor->sizes);
    copyElements(*tensor, copy);
    result = copy;
  }
}

FailureOr<std::vector<RuntimeValue>>
interpreter::runPartition(joint::PartitionOp partition, joint::GraphOp graph,
                          ArrayRef<RuntimeValue> arguments,
                          const InterpreterOptions &options) {
  Operation *scope = partition->getParentOp();
  auto lookup = [&](FlatSymbolRefAttr name) {
    return dyn_cast_or_null<func::FuncOp>(
        SymbolTable::lookupNearestSymbolFrom(scope, name));
  };
  func::FuncOp forward = lookup(partition.getForwardAttr());
  func::FuncOp backward = lookup(partition.getBackwardAttr());
  if (arguments.size() != graph.getArgumentTypes().size())
    return graph.emitError()
           << "needs " << graph.getArgumentTypes().size() << " arguments, "
           << arguments.size() << " are given";
  llvm::StringMap<RuntimeValue> byName;
  for (auto [i, value] : llvm::enumerate(arguments))
    byName[graph.getArgName(i)] = value;
  auto inputs = collectArguments(forward, {}, byName);
  if (failed(inputs))
    return failure();
  FailureOr<std::vector<RuntimeValue>> results = run(forward, *inputs, options);
  if (failed(results))
    return failure();
  protectFromWrites(forward, backward, arguments, *results);
  size_t numForward = partition.getNumForwardResults();
  std::vector<RuntimeValue> saved(results->begin() + numForward,
                                  results->end());
  results->resize(numForward);
  inputs = collectArguments(backward, saved, byName);
  if (failed(inputs))
    return failure();
  saved.clear();
  FailureOr<std::vector<RuntimeValue>> gradients =
      run(backward, *inputs, options);
  if (failed(gradients))
    return failure();
  llvm::append_range(*results, *gradients);
  return results;
}

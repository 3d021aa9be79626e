// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From two functions, or a graph, to one program of numbers.
//
//   1. Arguments: their storages are outside. The backward's first arguments
//      are the values that the forward returned behind its results.
//   2. Ops in order: sizes of results under the symbols (SizeEvaluation), then
//      for each result: a view of an operand's storage with its strides, or a
//      new contiguous storage. The rule is the interpreter's (viewLayout): a
//      view that strides do not allow is a copy, and so is one whose argument
//      is written later (findForcedCopies); ops of which only some results
//      could be views make all of them anew.
//   3. Terminators: what is returned, saved, or a gradient.
//
// Linear.

#include "cutback/MemoryPlan/StepProgram.h"

#include "cutback/Analysis/SizeEvaluation.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/IterationSpace.h"
#include "cutback/Dialect/Joint/Literal.h"
#include "cutback/Support/MLIR/DefinitionMap.h"
#include "cutback/Support/MLIR/TensorBytes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class ProgramBuilder {
public:
  ProgramBuilder(GraphOp graph, const llvm::StringMap<int64_t> &symbols)
      : sizes(graph, symbols) {
    program.operandBegin.push_back(0);
  }

  LogicalResult addPartition(PartitionOp link, GraphOp graph) {
    if (failed(sizes.checkOverrides()))
      return failure();
    auto forward = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        link, link.getForwardAttr());
    auto backward = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        link, link.getBackwardAttr());
    if (failed(addFunction(forward, {})))
      return failure();
    program.forwardEnd = program.numOps() - 1;
    ArrayRef<uint32_t> returned = program.operands(program.forwardEnd);
    size_t numResults = link.getNumForwardResults();
    program.forwardResults.assign(returned.begin(),
                                  returned.begin() + numResults);
    program.saved.assign(returned.begin() + numResults, returned.end());
    std::vector<uint32_t> saved = program.saved;
    if (failed(addFunction(backward, saved)))
      return failure();
    ArrayRef<uint32_t> gradients = program.operands(program.numOps() - 1);
    program.gradients.assign(gradients.begin(), gradients.end());
    return success();
  }

  LogicalResult addGraph(GraphOp graph) {
    if (failed(sizes.checkOverrides()) || failed(addFunction(graph, {})))
      return failure();
    program.forwardEnd = program.numOps() - 1;
    ArrayRef<uint32_t> returned = program.operands(program.forwardEnd);
    size_t numResults = graph.getNumForwardResults();
    program.forwardResults.assign(returned.begin(),
                                  returned.begin() + numResults);
    program.gradients.assign(returned.begin() + numResults, returned.end());
    return success();
  }

  StepProgram take() { return std::move(program); }

private:
  static constexpr uint32_t kNone = StepProgram::kNone;

  LogicalResult addFunction(FunctionOpInterface function,
                            ArrayRef<uint32_t> given) {
    copies = findForcedCopies(function);
    definitions.reset();
    arguments.clear();
    Block &block = function.getFunctionBody().front();
    for (BlockArgument arg : block.getArguments()) {
      if (arg.getArgNumber() < given.size()) {
        arguments.push_back(given[arg.getArgNumber()]);
        continue;
      }
      auto dims = function.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(),
                                                       JointDialect::kDims);
      uint32_t number = addValue(arg, sizes.withDims(arg.getType(), dims));
      arguments.push_back(number);
      if (arg.getType().isIndex() && dims && dims.size() == 1)
        program.values[number].integer = sizes.evaluate(dims[0]);
      if (failed(addStorage(number, /*isOutside=*/true)))
        return failure();
    }
    uint32_t first = program.numOps();
    for (Operation &op : block)
      if (failed(addOp(&op)))
        return failure();
    return addLaunches(function, first);
  }

  /// The launches of the ops from `first` on. The terminator is one.
  LogicalResult addLaunches(FunctionOpInterface function, uint32_t first) {
    uint32_t at = first, last = program.numOps() - 1;
    auto add = [&](uint32_t count, bool isAligned) {
      program.launchOf.insert(program.launchOf.end(), count,
                              program.launches.size());
      program.launches.push_back({at, at + count, isAligned});
      at += count;
    };
    if (auto sizes = function->getAttrOfType<DenseI32ArrayAttr>(kLaunches)) {
      for (int32_t size : sizes.asArrayRef()) {
        uint32_t count = std::abs(size);
        if (size == 0)
          continue;
        if (count > last - at) {
          at = last + 1;
          break;
        }
        add(count, size > 0);
      }
      if (at != last) {
        auto diag = function.emitOpError("has another number of ops than its "
                                         "launches ('")
                    << kLaunches << "')";
        diag.attachNote() << "a pass changed the half after it was planned: "
                             "take the attribute off, then every op is a "
                             "launch";
        return diag;
      }
    }
    while (at <= last)
      add(1, true);
    program.findParts(first);
    return success();
  }

  uint32_t addValue(Value value, Type type) {
    uint32_t number = program.values.size();
    StepValue &added = program.values.emplace_back();
    added.value = value;
    added.type = type;
    return number;
  }

  /// The number of a value of the function at work; 0 of one that nobody has
  /// defined so far.
  uint32_t numberOf(Value value) const {
    if (auto arg = dyn_cast<BlockArgument>(value))
      return arguments[arg.getArgNumber()];
    uint32_t first = definitions.lookup(value.getDefiningOp());
    return first == DefinitionMap::kNone
               ? 0
               : first + cast<OpResult>(value).getResultNumber();
  }

  LogicalResult addOp(Operation *op) {
    program.ops.push_back(op);
    for (Value operand : op->getOperands())
      program.operandList.push_back(numberOf(operand));
    if (op->getNumRegions()) {
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (Value value : captured)
        program.operandList.push_back(numberOf(value));
    }
    program.operandBegin.push_back(program.operandList.size());
    program.resultBegin.push_back(program.values.size());
    definitions.insert(op, program.values.size());
    if (failed(addResults(op)))
      return failure();
    program.resultEnd.push_back(program.values.size());
    return success();
  }

  LogicalResult addResults(Operation *op) {
    operandTypes.clear();
    operandInts.clear();
    for (Value operand : op->getOperands()) {
      const StepValue &value = program.values[numberOf(operand)];
      operandTypes.push_back(value.type);
      operandInts.push_back(value.integer);
    }
    SmallVector<Type> types(op->getResultTypes());
    SmallVector<int64_t> ints(types.size(), ShapedType::kDynamic);
    sizes.evaluateOp(op, operandTypes, operandInts, types, ints);
    uint32_t first = program.values.size();
    for (auto [result, type, integer] :
         llvm::zip(op->getResults(), types, ints))
      program.values[addValue(result, type)].integer = integer;
    if (isOnlyWrittenOver(op))
      return success();
    if (isRepeated(op)) {
      for (uint32_t r = 0; r < types.size(); ++r)
        if (auto type = dyn_cast<RankedTensorType>(types[r]))
          program.values[first + r].layout =
              Layout::contiguous(type.getShape());
      return success();
    }
    bool isView = findLayouts(op, first);
    for (uint32_t r = 0; r < types.size(); ++r)
      if ((!isView || !addView(op, r, first + r)) &&
          failed(addStorage(first + r, /*isOutside=*/false)))
        return failure();
    return success();
  }

  /// One number everywhere, which every launch that reads it has in itself, if
  /// nobody gets it as a result.
  static bool isRepeated(Operation *op) {
    return isUniformLiteral(op) &&
           llvm::none_of(op->getUsers(), [](Operation *user) {
             return user->hasTrait<OpTrait::IsTerminator>();
           });
  }

  /// Contents that nobody defined and nobody reads: they are there for their
  /// sizes, as the destinations of what is computed, and lie nowhere.
  static bool isOnlyWrittenOver(Operation *op) {
    return isUndefined(op) && llvm::all_of(op->getUses(), [](OpOperand &use) {
             auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
             return user && user.isDpsInit(&use);
           });
  }

  /// True if all results are views, of the operands or of contiguous copies of
  /// them. `layouts` gets those of the operands.
  bool findLayouts(Operation *op, uint32_t first) {
    layouts.clear();
    for (uint32_t r = 0; r < op->getNumResults(); ++r) {
      int64_t operand = getViewedOperand(op, r);
      if (operand < 0)
        return false;
      const StepValue &base = baseOf(op, operand);
      auto type = dyn_cast<RankedTensorType>(program.values[first + r].type);
      bool isNowhere = base.storage == kNone;
      Operation *definer = base.value.getDefiningOp();
      if ((isNowhere && !(definer && isRepeated(definer))) || !type)
        return false;
      layouts.push_back(
          viewLayout(op, r, base.layout, type.getShape(), operandInts));
      if (!layouts.back() &&
          !viewLayout(op, r, Layout::contiguous(base.layout.sizes),
                      type.getShape(), operandInts))
        return false;
    }
    return op->getNumResults() > 0;
  }

  const StepValue &baseOf(Operation *op, int64_t operand) {
    return program.values[numberOf(op->getOperand(operand))];
  }

  /// Makes value `number` a view where it can be one.
  bool addView(Operation *op, uint32_t result, uint32_t number) {
    if (!layouts[result] || copies.contains(op->getResult(result)))
      return false;
    StepValue &value = program.values[number];
    value.layout = std::move(*layouts[result]);
    value.storage = baseOf(op, getViewedOperand(op, result)).storage;
    return true;
  }

  LogicalResult addStorage(uint32_t number, bool isOutside) {
    StepValue &value = program.values[number];
    auto shaped = dyn_cast<ShapedType>(value.type);
    if (!shaped)
      return success();
    if (!shaped.hasRank() || !shaped.hasStaticShape()) {
      auto diag = emitError(value.value.getLoc())
                  << "size of '" << program.name(number) << "' of type "
                  << value.type << " is not known";
      diag.attachNote() << "the memory plan needs the values of all symbols "
                           "(--sym), and no size that depends on data";
      return diag;
    }
    std::optional<int64_t> bytes = tensorBytes(shaped);
    if (!bytes)
      return emitError(value.value.getLoc())
             << "size of '" << program.name(number) << "' of type "
             << value.type << " does not fit 64 bits";
    value.layout = Layout::contiguous(shaped.getShape());
    value.storage = program.storages.size();
    program.storages.push_back({number, *bytes, isOutside});
    return success();
  }

  SizeEvaluation sizes;
  StepProgram program;
  llvm::SetVector<Value> copies;   ///< of the function at work
  DefinitionMap definitions;       ///< the same: ops to first results
  std::vector<uint32_t> arguments; ///< the same
  SmallVector<Type> operandTypes;
  SmallVector<int64_t> operandInts;
  SmallVector<std::optional<Layout>> layouts; ///< of the op at work
};

} // namespace

bool StepProgram::isFree(uint32_t op) const {
  Operation *operation = ops[op];
  if (resultBegin[op] == resultEnd[op] || operation->getNumRegions() ||
      isa<WriteOp>(operation))
    return false;
  bool hasTensors = false;
  for (uint32_t r = resultBegin[op]; r < resultEnd[op]; ++r) {
    uint32_t storage = values[r].storage;
    if (storage != kNone && storages[storage].value == r)
      return false;
    hasTensors |= isa<ShapedType>(values[r].type);
  }
  if (isLiteral(operation))
    return true;
  auto fusible = dyn_cast<FusibleOpInterface>(operation);
  if (fusible && fusible.getFusionKind() == FusionKind::View)
    return true;
  // Numbers of numbers.
  return !hasTensors && isMemoryEffectFree(operation) &&
         llvm::none_of(operands(op), [&](uint32_t value) {
           return isa<ShapedType>(values[value].type);
         });
}

void StepProgram::findParts(uint32_t first) {
  partOf.resize(numOps());
  std::iota(partOf.begin() + first, partOf.end(), first);
  for (uint32_t op = first; op < numOps(); op = launch(op).end)
    if (launch(op).end > op + 1)
      findPartsOf(launch(op));
}

void StepProgram::findPartsOf(const StepLaunch &launch) {
  auto find = [&](uint32_t op) {
    while (partOf[op] != op)
      op = partOf[op] = partOf[partOf[op]];
    return op;
  };
  auto unite = [&](uint32_t a, uint32_t b) {
    a = find(a);
    b = find(b);
    partOf[std::max(a, b)] = std::min(a, b);
  };
  llvm::SmallDenseMap<uint32_t, uint32_t> makerOf; // by storage
  for (uint32_t op = launch.begin; op < launch.end; ++op) {
    for (uint32_t value : operands(op))
      if (values[value].storage != kNone)
        if (auto made = makerOf.find(values[value].storage);
            made != makerOf.end())
          unite(made->second, op);
    for (uint32_t r = resultBegin[op]; r < resultEnd[op]; ++r)
      if (uint32_t storage = values[r].storage;
          storage != kNone && storages[storage].value == r)
        makerOf[storage] = op;
  }
  // Loops of one shape are one nest.
  std::vector<int64_t> elements(launch.end - launch.begin, 0);
  for (uint32_t op = launch.begin; op < launch.end; ++op) {
    int64_t &most = elements[find(op) - launch.begin];
    auto fusible = dyn_cast<FusibleOpInterface>(ops[op]);
    if (fusible && fusible.getFusionKind() == FusionKind::Reduction)
      most = -1;
    for (uint32_t r = resultBegin[op]; most >= 0 && r < resultEnd[op]; ++r)
      if (values[r].storage != kNone)
        most = std::max(most, values[r].layout.numel());
  }
  llvm::SmallDenseMap<int64_t, uint32_t> partWith;
  for (uint32_t op = launch.begin; op < launch.end; ++op) {
    int64_t count = elements[find(op) - launch.begin];
    if (find(op) == op && count > 0)
      unite(partWith.try_emplace(count, op).first->second, op);
  }
  for (uint32_t op = launch.begin; op < launch.end; ++op)
    partOf[op] = find(op);
}

std::string StepProgram::name(uint32_t value) const {
  StringRef name = getValueName(values[value].value);
  return name.empty() ? "%" + std::to_string(value) : name.str();
}

std::string StepProgram::opName(uint32_t op) const {
  return resultBegin[op] < resultEnd[op]
             ? name(resultBegin[op])
             : ops[op]->getName().getStringRef().str();
}

FailureOr<StepProgram>
StepProgram::ofPartition(PartitionOp partition, GraphOp graph,
                         const llvm::StringMap<int64_t> &symbols) {
  ProgramBuilder builder(graph, symbols);
  if (failed(builder.addPartition(partition, graph)))
    return failure();
  return builder.take();
}

FailureOr<StepProgram>
StepProgram::ofGraph(GraphOp graph, const llvm::StringMap<int64_t> &symbols) {
  ProgramBuilder builder(graph, symbols);
  if (failed(builder.addGraph(graph)))
    return failure();
  return builder.take();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From two functions, or a graph, to views and the storages of their values.
//
//   1. The view of each function. The backward's first arguments are the values
//      that the forward returned behind its results; the storages of all others
//      are outside.
//   2. Ops in order: sizes of results under the symbols (SizeEvaluation), then
//      for each result: a view of an operand's storage with its strides, or a
//      new contiguous storage. The rule is the interpreter's (layoutOfView): a
//      view that strides do not allow is a copy, and so is one whose argument
//      is written later (findForcedCopies).
//   3. Terminators: what is returned, saved, or a gradient.
//
// Linear.

#include "cutback/MemoryPlan/StepView.h"

#include "cutback/Analysis/SizeEvaluation.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Literal.h"
#include "cutback/MemoryPlan/NestedPlan.h"
#include "cutback/Support/MLIR/TensorBytes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class StepBuilder {
public:
  StepBuilder(GraphOp graph, const llvm::StringMap<int64_t> &symbols,
              UnknownSizes unknown = UnknownSizes::AreErrors)
      : graph(graph), unknown(unknown),
        sizes(unknown == UnknownSizes::LieOutside ? GraphOp() : graph,
              symbols) {}

  LogicalResult addPartition(PartitionOp link) {
    auto forward = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        link, link.getForwardAttr());
    auto backward = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        link, link.getBackwardAttr());
    if (failed(sizes.checkOverrides()) || failed(addSegment(forward, {})))
      return failure();
    std::vector<uint32_t> returned = findReturned();
    auto results = returned.begin() + link.getNumForwardResults();
    step.forwardResults.assign(returned.begin(), results);
    step.saved.assign(results, returned.end());
    if (failed(addSegment(backward, step.saved)))
      return failure();
    step.gradients = findReturned();
    return success();
  }

  LogicalResult addGraph(GraphOp graph) {
    if (failed(sizes.checkOverrides()) || failed(addSegment(graph, {})))
      return failure();
    std::vector<uint32_t> returned = findReturned();
    auto results = returned.begin() + graph.getNumForwardResults();
    step.forwardResults.assign(returned.begin(), results);
    step.gradients.assign(results, returned.end());
    return success();
  }

  StepView take() { return std::move(step); }

private:
  static constexpr uint32_t kNone = StepView::kNone;

  const GraphView &view() const { return step.segments.back().view; }

  LogicalResult addSegment(FunctionOpInterface function,
                           ArrayRef<uint32_t> given) {
    uint32_t firstOp = step.numOps();
    StepSegment &segment = step.segments.emplace_back();
    segment.view = GraphView::build(function.getFunctionBody().front());
    segment.firstOp = firstOp;
    segment.firstValue = step.values.size();
    segment.given = given.vec();
    copies = findForcedCopies(function);
    step.values.reserve(step.values.size() + view().numValues());
    if (failed(addArguments(function)))
      return failure();
    for (uint32_t op = 0; op < view().numOps(); ++op)
      if (failed(addResults(op)))
        return failure();
    return addLaunches(function);
  }

  LogicalResult addArguments(FunctionOpInterface function) {
    for (uint32_t arg = step.segments.back().given.size(); arg < view().numArgs;
         ++arg) {
      auto dims =
          function.getArgAttrOfType<ArrayAttr>(arg, JointDialect::kDims);
      StepValue &value = step.values.emplace_back();
      value.type = sizes.withDims(view().types[arg], dims);
      if (value.type.isIndex() && dims && dims.size() == 1)
        value.integer = sizes.evaluate(dims[0]);
      if (failed(addStorage(step.values.size() - 1, /*isOutside=*/true)))
        return failure();
    }
    return success();
  }

  LogicalResult addLaunches(FunctionOpInterface function) {
    auto sizes = function->getAttrOfType<DenseI32ArrayAttr>(kLaunches);
    uint64_t count = 0;
    for (int32_t size : sizes ? sizes.asArrayRef() : ArrayRef<int32_t>())
      count += std::abs(int64_t(size));
    if (sizes && count != view().numOps()) {
      auto diag = function.emitOpError("has another number of ops than its "
                                       "launches ('")
                  << kLaunches << "')";
      diag.attachNote() << "a pass changed the half after it was planned: "
                           "take the attribute off, then every op is a "
                           "launch";
      return diag;
    }
    step.addLaunches(step.segments.back(),
                     sizes ? sizes.asArrayRef() : ArrayRef<int32_t>());
    return success();
  }

  std::vector<uint32_t> findReturned() const {
    std::vector<uint32_t> returned;
    for (uint32_t value : step.operands(step.numOps() - 1))
      returned.push_back(value);
    return returned;
  }

  LogicalResult addResults(uint32_t number) {
    Operation *op = view().ops[number];
    operandTypes.clear();
    operandInts.clear();
    for (uint32_t operand :
         view().operands(number).take_front(op->getNumOperands())) {
      const StepValue &value = valueOf(operand);
      operandTypes.push_back(value.type);
      operandInts.push_back(value.integer);
    }
    SmallVector<Type> types(op->getResultTypes());
    SmallVector<int64_t> ints(types.size(), ShapedType::kDynamic);
    sizes.evaluateOp(op, operandTypes, operandInts, types, ints);
    uint32_t first = step.values.size();
    for (auto [type, integer] : llvm::zip_equal(types, ints)) {
      StepValue &value = step.values.emplace_back();
      value.type = type;
      value.integer = integer;
    }
    if (isOnlyWrittenOver(op))
      return success();
    if (isRepeated(op)) {
      for (uint32_t r = 0; r < types.size(); ++r)
        if (auto type = dyn_cast<RankedTensorType>(types[r]))
          step.values[first + r].layout = contiguous(type);
      return success();
    }
    bool isView = findLayouts(number, first);
    for (uint32_t r = 0; r < types.size(); ++r)
      if ((!isView || !addView(number, r, first + r)) &&
          failed(addStorage(first + r, /*isOutside=*/false)))
        return failure();
    addScratch(op, first);
    return success();
  }

  /// What the graphs of a call need while it runs.
  void addScratch(Operation *op, uint32_t first) {
    auto nested = dyn_cast<NestedOp>(op);
    if (!nested || op->getNumResults() == 0)
      return;
    std::optional<NestedPlan> plan = planNested(nested);
    if (!plan || plan->scratchBytes == 0)
      return;
    StepStorage &storage = step.storages.emplace_back();
    storage.value = first;
    storage.bytes = plan->scratchBytes;
    storage.isScratch = true;
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
  /// them, into `layouts`.
  bool findLayouts(uint32_t number, uint32_t first) {
    auto layoutOf = [&](unsigned operand) -> const Layout * {
      uint32_t viewed = view().operands(number)[operand];
      const StepValue &base = valueOf(viewed);
      uint32_t definer = view().definer[viewed];
      bool isSomewhere = base.storage != kNone ||
                         (definer != kNone && isRepeated(view().ops[definer]));
      return isSomewhere ? &step.layouts[base.layout] : nullptr;
    };
    auto sizesOf = [&](unsigned r) -> std::optional<ArrayRef<int64_t>> {
      auto type = dyn_cast<RankedTensorType>(step.values[first + r].type);
      if (!type ||
          (unknown == UnknownSizes::AreErrors && !type.hasStaticShape()))
        return std::nullopt;
      return type.getShape();
    };
    return layoutsOfViews(view().ops[number], layoutOf, sizesOf, operandInts,
                          layouts);
  }

  bool isUnknown(Type type) const {
    auto shaped = dyn_cast<ShapedType>(type);
    return unknown == UnknownSizes::LieOutside && shaped &&
           !(shaped.hasRank() && shaped.hasStaticShape());
  }

  /// The largest value of a size expression that is a symbol with a range;
  /// kDynamic of others.
  int64_t mostOf(Attribute text) {
    if (int64_t known = sizes.evaluate(text); !ShapedType::isDynamic(known))
      return known;
    DictionaryAttr symbols = graph ? graph.getSymbolsAttr() : DictionaryAttr();
    auto name = dyn_cast<StringAttr>(text);
    auto symbol = symbols && name ? symbols.getAs<SymbolAttr>(name.getValue())
                                  : SymbolAttr();
    return symbol ? symbol.getMax().value_or(ShapedType::kDynamic)
                  : ShapedType::kDynamic;
  }

  /// Bytes that a result takes at most, negative if nothing bounds them.
  int64_t mostBytes(uint32_t number) {
    auto type = dyn_cast<RankedTensorType>(step.values[number].type);
    auto result = dyn_cast<OpResult>(step.value(number));
    auto dims =
        type && result
            ? result.getOwner()->getAttrOfType<ArrayAttr>(JointDialect::kDims)
            : ArrayAttr();
    // A list for each of several results.
    if (dims && !dims.empty() && !isa<StringAttr>(dims[0]))
      dims = result.getResultNumber() < dims.size()
                 ? dyn_cast<ArrayAttr>(dims[result.getResultNumber()])
                 : ArrayAttr();
    if (!dims || dims.size() != static_cast<size_t>(type.getRank()))
      return -1;
    int64_t bytes = elementBytes(type.getElementType());
    for (auto [size, text] : llvm::zip_equal(type.getShape(), dims)) {
      int64_t most = ShapedType::isDynamic(size) ? mostOf(text) : size;
      if (ShapedType::isDynamic(most) ||
          __builtin_mul_overflow(bytes, most, &bytes))
        return -1;
    }
    return bytes;
  }

  /// Of a value of the segment at work.
  const StepValue &valueOf(uint32_t value) const {
    return step.values[step.segments.back().valueOf(value)];
  }

  uint32_t addLayout(Layout layout) {
    step.layouts.push_back(std::move(layout));
    return step.layouts.size() - 1;
  }
  /// Of a view of a type.
  uint32_t addLayout(Layout layout, Type of) {
    auto type = dyn_cast<ShapedType>(of);
    if (type && layout.offset == 0 && type.hasStaticShape()) {
      const Layout &whole = step.layouts[contiguous(type)];
      if (whole.sizes == layout.sizes && whole.strides == layout.strides)
        return contiguous(type);
    }
    return addLayout(std::move(layout));
  }
  uint32_t contiguous(ShapedType type) {
    uint32_t &number = contiguousOf[type];
    if (number == 0)
      number = addLayout(Layout::contiguous(type.getShape()));
    return number;
  }

  /// Makes value `number` a view where it can be one.
  bool addView(uint32_t op, uint32_t result, uint32_t number) {
    Operation *operation = view().ops[op];
    if (layouts[result].isOfCopy ||
        copies.contains(operation->getResult(result)))
      return false;
    StepValue &value = step.values[number];
    value.layout = addLayout(std::move(layouts[result].layout), value.type);
    value.storage =
        valueOf(view().operands(op)[getViewedOperand(operation, result)])
            .storage;
    return true;
  }

  LogicalResult addStorage(uint32_t number, bool isOutside) {
    StepValue &value = step.values[number];
    auto shaped = dyn_cast<ShapedType>(value.type);
    if (!shaped)
      return success();
    if (isUnknown(shaped)) {
      value.layout = addLayout(Layout::unknown());
      value.storage = step.storages.size();
      StepStorage &storage = step.storages.emplace_back();
      storage.value = number;
      storage.isOutside = storage.isOfUnknownSize = true;
      storage.mostBytes = mostBytes(number);
      return success();
    }
    if (!shaped.hasRank() || !shaped.hasStaticShape()) {
      auto diag = emitError(step.value(number).getLoc())
                  << "size of '" << step.name(number) << "' of type "
                  << value.type << " is not known";
      diag.attachNote() << "the memory plan needs the values of all symbols "
                           "(--sym), and no size that depends on data";
      return diag;
    }
    std::optional<int64_t> bytes = tensorBytes(shaped);
    if (!bytes)
      return emitError(step.value(number).getLoc())
             << "size of '" << step.name(number) << "' of type " << value.type
             << " does not fit 64 bits";
    value.layout = contiguous(shaped);
    value.storage = step.storages.size();
    step.storages.push_back({number, *bytes, isOutside});
    return success();
  }

  GraphOp graph;
  UnknownSizes unknown;
  SizeEvaluation sizes;
  StepView step;
  llvm::SetVector<Value> copies;               ///< of the segment at work
  llvm::DenseMap<Type, uint32_t> contiguousOf; ///< number of its layout
  SmallVector<Type> operandTypes;
  SmallVector<int64_t> operandInts;
  SmallVector<ViewedLayout> layouts; ///< of the op at work
};

} // namespace

Operation *StepView::op(uint32_t op) const {
  const StepSegment &segment = segmentOf(op);
  uint32_t number = op - segment.firstOp;
  return number < segment.view.numOps() ? segment.view.ops[number]
                                        : segment.view.terminator;
}

bool StepView::makesStorages(uint32_t op) const {
  return llvm::any_of(results(op),
                      [&](uint32_t value) { return makesStorage(value); });
}

bool StepView::isView(uint32_t op) const {
  return traits(op).fusion == FusionKind::View && !makesStorages(op);
}

bool StepView::isFree(uint32_t op) const {
  const OpTraits &traits = this->traits(op);
  if (results(op).empty() || traits.hasRegions || makesStorages(op) ||
      isa<WriteOp>(this->op(op)))
    return false;
  if (traits.literal || traits.fusion == FusionKind::View)
    return true;
  // Numbers of numbers.
  auto isTensor = [&](uint32_t value) {
    return isa<ShapedType>(values[value].type);
  };
  return !traits.ordered && !traits.random &&
         llvm::none_of(results(op), isTensor) &&
         llvm::none_of(operands(op), isTensor);
}

void StepView::addLaunches(const StepSegment &segment,
                           ArrayRef<int32_t> sizes) {
  uint32_t at = segment.firstOp;
  auto add = [&](uint32_t count, bool isAligned) {
    launchOf.insert(launchOf.end(), count, launches.size());
    launches.push_back({at, at + count, isAligned});
    at += count;
  };
  for (int32_t size : sizes)
    if (size != 0)
      add(std::abs(size), size > 0);
  while (at < segment.endOp())
    add(1, true);
  findParts(segment);
}

void StepView::findParts(const StepSegment &segment) {
  uint32_t first = segment.firstOp, end = segment.endOp();
  partOf.resize(end);
  std::iota(partOf.begin() + first, partOf.end(), first);
  for (uint32_t op = first; op < end; op = launch(op).end)
    if (launch(op).end > op + 1)
      findPartsOf(launch(op));
}

void StepView::findPartsOf(const StepLaunch &launch) {
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
    for (uint32_t r : results(op))
      if (makesStorage(r))
        makerOf[values[r].storage] = op;
  }
  // Loops of one shape are one nest.
  std::vector<int64_t> elements(launch.end - launch.begin, 0);
  for (uint32_t op = launch.begin; op < launch.end; ++op) {
    int64_t &most = elements[find(op) - launch.begin];
    if (traits(op).fusion == FusionKind::Reduction)
      most = -1;
    if (most < 0)
      continue;
    for (uint32_t r : results(op))
      if (values[r].storage != kNone)
        most = std::max(most, layoutOf(r).numel());
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

Value StepView::value(uint32_t value) const {
  const StepSegment &segment = segmentWith(value);
  return segment.view.values[segment.numberOf(value)];
}

uint32_t StepView::maker(uint32_t storage) const {
  uint32_t value = storages[storage].value;
  const StepSegment &segment = segmentWith(value);
  uint32_t definer = segment.view.definer[segment.numberOf(value)];
  return definer == kNone ? kNone : segment.firstOp + definer;
}

std::string StepView::name(uint32_t value) const {
  StringRef name = getValueName(this->value(value));
  return name.empty() ? "%" + std::to_string(value) : name.str();
}

std::string StepView::opName(uint32_t op) const {
  auto made = results(op);
  return made.empty() ? this->op(op)->getName().getStringRef().str()
                      : name(*made.begin());
}

FailureOr<StepView>
StepView::ofPartition(PartitionOp partition, GraphOp graph,
                      const llvm::StringMap<int64_t> &symbols,
                      UnknownSizes unknown) {
  StepBuilder builder(graph, symbols, unknown);
  if (failed(builder.addPartition(partition)))
    return failure();
  return builder.take();
}

FailureOr<StepView> StepView::ofGraph(GraphOp graph,
                                      const llvm::StringMap<int64_t> &symbols) {
  StepBuilder builder(graph, symbols);
  if (failed(builder.addGraph(graph)))
    return failure();
  return builder.take();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From interfaces to numbers.
//
//   1. Views, as the memory plan and the interpreter see them (layoutOfView):
//   the
//      value under them, and their strides there. A view that strides do not
//      allow is a copy in the order of its operand.
//   2. The loops of every other op (getIterationSpace), with the strides that
//      they make in the storage of each operand. Of a call that takes symbolic
//      sizes those of the call at the sizes that are known (SizedCall), which
//      it is when kernels are formed.
//   3. Who reads a storage, and who writes an argument.
//
// Both of calls that are alike are found once (CallLoops).

#include "cutback/Kernels/KernelProblem.h"

#include "CallLoops.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Aten/SizedCall.h"
#include "cutback/Dialect/Joint/IterationSpace.h"
#include "cutback/Dialect/Joint/Random.h"
#include "cutback/Support/MLIR/OpAccess.h"

#include <numeric>
#include <optional>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static constexpr uint32_t kNone = GraphView::kNone;

namespace {

using SizeSource = KernelProblem::SizeSource;

class ProblemBuilder {
public:
  ProblemBuilder(const GraphView &view, const ValueSizes &sizes)
      : view(view), sizes(sizes), viewLayouts(1),
        layoutOf(view.numValues(), 0) {}

  KernelProblem run() {
    uint32_t numOps = view.numOps();
    problem.kind.assign(numOps, LoopKind::None);
    problem.pattern.assign(numOps, IndexMaps::kNoPattern);
    problem.iterations.assign(numOps, 0);
    problem.isWrite.assign(numOps, 0);
    problem.firstRead.reserve(numOps + 1);
    problem.reads.reserve(view.operandList.size());
    problem.root.resize(view.numValues());
    for (uint32_t v = 0; v < view.numValues(); ++v)
      problem.root[v] = v;
    for (uint32_t op = 0; op < numOps; ++op) {
      problem.firstRead.push_back(problem.reads.size());
      addOp(op);
      addSizes(op);
    }
    problem.firstRead.push_back(problem.reads.size());
    findReaders();
    findWrites();
    return std::move(problem);
  }

private:
  void addOp(uint32_t op) {
    if (view.traits[op].literal || isHost(op))
      return;
    bool hasKey = makeKey(op);
    if (const CallLoops *known = hasKey ? calls.find(key) : nullptr) {
      repeat(op, *known);
      return;
    }
    touched.clear();
    findLoops(op);
    // A part of a concatenation is one of this op.
    if (hasKey && problem.kind[op] != LoopKind::Concat)
      calls.insert(key, describe(op));
  }

  /// All that the loops of a call depend on, into `key`; false of other ops.
  bool makeKey(uint32_t op) {
    const OpTraits &traits = view.traits[op];
    Operation *operation = view.ops[op];
    if (traits.ordered || traits.hasRegions)
      return false;
    const FrameworkCallOpInterface::Concept *how = calling.of(operation);
    if (!how)
      return false;
    auto addWord = [&](const void *pointer) {
      key.push_back(reinterpret_cast<uintptr_t>(pointer));
    };
    auto addType = [&](uint32_t value) {
      addWord(sizes.type[value].getAsOpaquePointer());
      if (view.types[value] != sizes.type[value])
        addWord(view.types[value].getAsOpaquePointer());
    };
    key.clear();
    addWord(operation->getName().getAsOpaquePointer());
    addWord(FrameworkCallOpInterface(operation, how)
                .getCallArgs()
                .getAsOpaquePointer());
    ArrayRef<uint32_t> operands = view.operands(op);
    key.push_back(
        operands.size() << 16 | static_cast<uint64_t>(traits.fusion) << 8 |
        traits.recomputable | traits.readsOldValue << 1 | traits.view << 2);
    for (uint32_t value : operands) {
      addType(value);
      if (isa<ShapedType>(sizes.type[value])) {
        if (layoutOf[value] == 0 && problem.root[value] != value)
          return false; // a written argument
        key.push_back(layoutOf[value]);
      } else if (!sizes.number.empty()) {
        key.push_back(sizes.number[value]);
      }
    }
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      addType(r);
    return true;
  }

  /// What was found for the op.
  CallLoops describe(uint32_t op) const {
    CallLoops loops;
    loops.kind = problem.kind[op];
    loops.pattern = problem.pattern[op];
    loops.iterations = problem.iterations[op];
    for (auto [i, touch] : llvm::enumerate(touched)) {
      const KernelProblem::Read &read =
          problem.reads[problem.firstRead[op] + i];
      loops.reads.push_back(
          {touch.first, touch.second, read.map, read.mapOfResult});
    }
    if (loops.kind == LoopKind::None)
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        loops.views.push_back({static_cast<uint32_t>(getViewedOperand(
                                   view.ops[op], r - view.resultBegin[op])),
                               layoutOf[r]});
    return loops;
  }

  void repeat(uint32_t op, const CallLoops &loops) {
    problem.kind[op] = loops.kind;
    problem.pattern[op] = loops.pattern;
    problem.iterations[op] = loops.iterations;
    for (const CallLoops::Read &read : loops.reads) {
      addRead(op, read.operand, read.map, read.touch);
      problem.reads.back().mapOfResult = read.mapOfResult;
    }
    for (auto [r, of] : llvm::enumerate(loops.views)) {
      uint32_t result = view.resultBegin[op] + r;
      problem.root[result] = problem.root[view.operands(op)[of.operand]];
      layoutOf[result] = of.layout;
    }
  }

  void findLoops(uint32_t op) {
    const OpTraits &traits = view.traits[op];
    bool isViewed = !traits.ordered && findLayouts(op);
    if (isViewed && addViews(op))
      return;
    problem.kind[op] = LoopKind::Call;
    if ((traits.recomputable || traits.readsOldValue) && !traits.ordered &&
        ((isViewed && addCopy(op)) || (findSpace(op) && addLoops(op))))
      return;
    // What an effect gives back is the argument that it wrote.
    if (uint32_t base = view.baseOf(op); traits.ordered && base != kNone)
      problem.root[view.resultBegin[op]] = problem.root[base];
    if (traits.ordered && addWrite(op))
      return;
    for (uint32_t i = 0; i < view.operands(op).size(); ++i)
      addRead(op, i, IndexMaps::kNone);
  }

  /// A size that is asked of a tensor, and what is made with it, come behind
  /// the tensor, though nobody reads its elements; so does what is made with a
  /// number that a launch reads from a tensor.
  void addSizes(uint32_t op) {
    bool isRun = problem.kind[op] != LoopKind::None;
    SmallVector<SizeSource, 2> sources = findSizeSources(op, isRun);
    if (isRun) {
      for (SizeSource &source : sources)
        addSizeRead(op, source);
      return;
    }
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      for (SizeSource source : sources) {
        source.value = r;
        sourcesOf[r].push_back(problem.sizeSources.size());
        problem.sizeSources.push_back(std::move(source));
      }
  }

  /// One for each tensor or number that the operands of the op come behind.
  SmallVector<SizeSource, 2> findSizeSources(uint32_t op, bool isRun) {
    SmallVector<SizeSource, 2> sources;
    auto sourceOf = [&](uint32_t of) -> SizeSource & {
      auto *known = llvm::find_if(
          sources, [&](const SizeSource &source) { return source.of == of; });
      if (known != sources.end())
        return *known;
      sources.push_back({kNone, of, false, {}});
      return sources.back();
    };
    for (uint32_t value : view.operands(op)) {
      if (auto found = sourcesOf.find(value); found != sourcesOf.end())
        for (uint32_t number : found->second)
          sourceOf(problem.sizeSources[number].of).through.push_back(number);
      if (isSizeSource(op, value, isRun))
        sourceOf(value).isDirect = true;
    }
    return sources;
  }

  /// A number that a launch makes; and of what no kernel runs, a tensor whose
  /// size alone it takes.
  bool isSizeSource(uint32_t op, uint32_t value, bool isRun) const {
    if (!isa<ShapedType>(sizes.type[value])) {
      uint32_t maker = view.definer[value];
      return maker != kNone && problem.kind[maker] != LoopKind::None;
    }
    uint32_t root = problem.root[value];
    if (isRun || view.isArg(root))
      return false;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (problem.root[r] == root)
        return false;
    return true;
  }

  void addSizeRead(uint32_t op, SizeSource &source) {
    uint32_t value = source.of;
    if (!source.isDirect) {
      bool isKnown = source.through.size() == 1;
      uint32_t number =
          isKnown ? source.through[0] : problem.sizeSources.size();
      if (!isKnown)
        problem.sizeSources.push_back(source);
      value = view.numValues() + number;
    }
    problem.reads.push_back({op, value, problem.root[source.of],
                             IndexMaps::kNone, IndexMaps::kNone, 0});
  }

  /// Sizes and what is computed from them. Who reads the contents of a tensor
  /// is none of them.
  bool isHost(uint32_t op) const {
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (!sizes.isScalar(r))
        return false;
    return view.traits[op].fusion == FusionKind::View ||
           llvm::none_of(view.operands(op), [&](uint32_t value) {
             return isa<ShapedType>(sizes.type[value]);
           });
  }

  static ArrayRef<int64_t> shapeOf(Type type) {
    auto shaped = dyn_cast<RankedTensorType>(type);
    return shaped ? shaped.getShape() : ArrayRef<int64_t>();
  }
  bool isSizedTensor(uint32_t value) const {
    auto shaped = dyn_cast<RankedTensorType>(sizes.type[value]);
    return shaped && shaped.hasStaticShape();
  }

  Layout layout(uint32_t value) const {
    return layoutOf[value] ? viewLayouts[layoutOf[value]]
                           : Layout::contiguous(shapeOf(sizes.type[value]));
  }

  /// Those of the op's results, if it is one of views.
  bool findLayouts(uint32_t op) {
    const OpTraits &traits = view.traits[op];
    if (!traits.view && traits.fusion != FusionKind::View)
      return false;
    Operation *operation = view.ops[op];
    ints.clear();
    for (uint32_t other :
         view.operands(op).take_front(operation->getNumOperands()))
      ints.push_back(sizes.number.empty() ? ShapedType::kDynamic
                                          : sizes.number[other]);
    auto layoutOfOperand = [&](unsigned operand) -> const Layout * {
      uint32_t value = view.operands(op)[operand];
      if (!isSizedTensor(value))
        return nullptr;
      viewed = layout(value);
      return &viewed;
    };
    auto sizesOf = [&](unsigned r) -> std::optional<ArrayRef<int64_t>> {
      uint32_t result = view.resultBegin[op] + r;
      if (!isSizedTensor(result))
        return std::nullopt;
      return shapeOf(sizes.type[result]);
    };
    return layoutsOfViews(operation, layoutOfOperand, sizesOf, ints, layouts);
  }

  /// The storage of an operand is that of the results, if all are views.
  bool addViews(uint32_t op) {
    auto isOfCopy = [](const ViewedLayout &one) { return one.isOfCopy; };
    if (llvm::any_of(layouts, isOfCopy))
      return false;
    for (auto [r, found] : llvm::enumerate(layouts)) {
      uint32_t operand = view.operands(op)[getViewedOperand(view.ops[op], r)];
      uint32_t result = view.resultBegin[op] + r;
      problem.root[result] = problem.root[operand];
      layoutOf[result] = viewLayouts.size();
      viewLayouts.push_back(std::move(found.layout));
    }
    return true;
  }

  /// A view that cannot be one: all elements of its operand, in their order.
  bool addCopy(uint32_t op) {
    if (layouts.size() != 1 || view.traits[op].fusion != FusionKind::View)
      return false;
    const Layout &onCopy = layouts.front().layout;
    if (onCopy.offset != 0 || !onCopy.isContiguous())
      return false;
    auto operand = static_cast<uint32_t>(getViewedOperand(view.ops[op], 0));
    uint32_t value = view.operands(op)[operand];
    Layout from = layout(value);
    if (from.numel() != onCopy.numel() || from.numel() == 0 ||
        !isOfOwnElements(value))
      return false;
    SmallVector<MapLoop, 6> loops;
    for (auto [size, stride] : llvm::zip_equal(from.sizes, from.strides))
      loops.push_back({size, stride});
    addRead(op, operand, intern(loops, from.offset, value));
    problem.kind[op] = LoopKind::Elementwise;
    problem.iterations[op] = from.numel();
    return true;
  }

  /// A write into an argument: element i of it from element i of another
  /// tensor.
  bool addWrite(uint32_t op) {
    auto write = dyn_cast<WriteOp>(view.ops[op]);
    if (!write)
      return false;
    uint32_t argument = view.operands(op)[0], value = view.operands(op)[1];
    if (!isSizedTensor(value) || sizes.type[argument] != sizes.type[value] ||
        problem.root[value] == problem.root[argument] ||
        !isOfOwnElements(value))
      return false;
    Layout from = layout(value);
    if (from.numel() == 0)
      return false;
    SmallVector<MapLoop, 6> loops;
    for (auto [size, stride] : llvm::zip_equal(from.sizes, from.strides))
      loops.push_back({size, stride});
    addRead(op, 1, intern(loops, from.offset, value));
    problem.kind[op] = LoopKind::Elementwise;
    problem.iterations[op] = from.numel();
    problem.isWrite[op] = 1;
    return true;
  }

  /// Whether the memory of `value` has elements of its type: a kernel reads no
  /// complex number, but the parts of one, nor bytes of a number.
  bool isOfOwnElements(uint32_t value) const {
    return hasElements(getElementTypeOrSelf(sizes.type[problem.root[value]]),
                       getElementTypeOrSelf(sizes.type[value]));
  }

  /// The op at the sizes that are known, and for each operand of it which of
  /// the op's that is.
  Operation *atKnownSizes(uint32_t op) {
    Operation *operation = view.ops[op];
    sized.reset();
    operandOf.resize(operation->getNumOperands());
    std::iota(operandOf.begin(), operandOf.end(), 0);
    if (sizes.number.empty() || !aten::SizedCall::takesSizes(operation))
      return operation;
    SmallVector<Type> types;
    SmallVector<int64_t> numbers;
    for (uint32_t value : view.operands(op).take_front(operandOf.size())) {
      types.push_back(sizes.type[value]);
      numbers.push_back(sizes.number[value]);
    }
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      types.push_back(sizes.type[r]);
    sized.emplace(cast<aten::CallOp>(operation), types, numbers);
    operandOf.assign(sized->operands().begin(), sized->operands().end());
    return sized->get();
  }

  bool findSpace(uint32_t op) {
    shapes.clear();
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (!isSizedTensor(r))
        return false;
    Operation *operation = atKnownSizes(op);
    for (unsigned operand : operandOf) {
      uint32_t value = view.operands(op)[operand];
      if (isa<ShapedType>(sizes.type[value]) &&
          (!isSizedTensor(value) || !isOfOwnElements(value)))
        return false;
      shapes.push_back(shapeOf(sizes.type[value]));
    }
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      shapes.push_back(shapeOf(sizes.type[r]));
    const FusibleOpInterface::Concept *how = fusible.of(operation);
    return how &&
           FusibleOpInterface(operation, how)
               .getIterationSpace(shapes, space) &&
           canBeGenerated(operation);
  }

  /// What has no element formula is a call, whatever its loops are.
  bool canBeGenerated(Operation *operation) {
    if (space.isPick || space.concatAxis >= 0 || isa<RandomOp>(operation))
      return true;
    const LowerableOpInterface::Concept *how = lowerable.of(operation);
    return how && LowerableOpInterface(operation, how).hasElement();
  }

  bool addLoops(uint32_t op) {
    if (space.updated >= 0)
      return false;
    int64_t iterations = 1;
    for (int64_t extent : space.extents)
      if (__builtin_mul_overflow(iterations, extent, &iterations))
        return false;
    if (iterations == 0)
      return false;
    SmallVector<LoopPattern::Loop, 6> nest;
    for (auto [extent, isReduced] :
         llvm::zip_equal(space.extents, space.isReduced))
      nest.push_back({extent, isReduced != 0});
    problem.pattern[op] = problem.maps.internPattern(nest);
    bool isReduction = problem.pattern[op] != IndexMaps::kNoPattern;
    problem.kind[op] = space.concatAxis >= 0 ? LoopKind::Concat
                       : !isReduction        ? LoopKind::Elementwise
                       : space.isPick        ? LoopKind::Pick
                                             : LoopKind::Reduction;
    problem.iterations[op] = iterations;
    for (auto [i, operand] : llvm::enumerate(operandOf))
      addOperand(op, operand, i);
    return true;
  }

  /// Operand number `operand` of the op, which is number `i` in its loops.
  void addOperand(uint32_t op, unsigned operand, unsigned i) {
    uint32_t value = view.operands(op)[operand];
    if (!isa<ShapedType>(sizes.type[value]))
      return;
    if (space.concatAxis >= 0) {
      // A part that is a view would be walked by strides; it is read then.
      bool isPlain = layoutOf[value] == 0 || layout(value).isContiguous();
      bool isWhole = isPlain && layout(value).offset == 0 &&
                     sizes.bytes[value] == sizes.bytes[problem.root[value]];
      addRead(op, operand,
              isWhole ? problem.maps.internPart(op, operand)
                      : IndexMaps::kNone);
      return;
    }
    // A new tensor like another one comes behind it, and has none of it.
    bool isNew = view.traits[op].fusion == FusionKind::Create;
    if (space.isGathered[i]) {
      // A lookup touches as much of its table as it gives.
      addRead(op, operand, IndexMaps::kNone,
              isNew ? Touch::Nothing : Touch::AsGiven);
      return;
    }
    addRead(op, operand, mapOf(value, space.operands[i], false),
            isNew ? Touch::Nothing : Touch::All);
    if (problem.kind[op] == LoopKind::Pick && i > 0)
      problem.reads.back().mapOfResult = mapOf(value, space.operands[i], true);
  }

  /// The map of an operand whose dimensions the axes in `dims` walk; of the
  /// axes that are not reduced alone if `ofResult`.
  IndexMaps::Id mapOf(uint32_t value, ArrayRef<int8_t> dims, bool ofResult) {
    Layout from = layout(value);
    if (from.sizes.size() != dims.size())
      return IndexMaps::kNone;
    SmallVector<MapLoop, 6> loops;
    for (int64_t extent : space.extents)
      loops.push_back({extent, 0});
    for (auto [dim, stride] : llvm::zip_equal(dims, from.strides))
      if (dim != IterationSpace::kOnce)
        loops[dim].stride += stride;
    if (ofResult) {
      size_t kept = 0;
      for (size_t axis = 0; axis < loops.size(); ++axis)
        if (!space.isReduced[axis])
          loops[kept++] = loops[axis];
      loops.truncate(kept);
    }
    return intern(loops, from.offset, value);
  }

  IndexMaps::Id intern(SmallVectorImpl<MapLoop> &loops, int64_t offset,
                       uint32_t value) {
    ArrayRef<int64_t> shape = shapeOf(sizes.type[problem.root[value]]);
    int64_t numElements = 1;
    for (int64_t size : shape)
      numElements *= size;
    return problem.maps.intern(loops, offset, numElements);
  }

  void addRead(uint32_t op, uint32_t operand, IndexMaps::Id map,
               Touch touch = Touch::All) {
    uint32_t value = view.operands(op)[operand];
    if (!isa<ShapedType>(sizes.type[value]))
      return;
    uint32_t root = problem.root[value];
    int64_t bytes = std::min(sizes.bytes[value], sizes.bytes[root]);
    if (touch != Touch::All)
      bytes = touch == Touch::Nothing
                  ? 0
                  : std::min(bytes, sizes.bytes[view.resultBegin[op]]);
    problem.reads.push_back({op, value, root, map, IndexMaps::kNone, bytes});
    touched.emplace_back(operand, touch);
  }

  void findReaders() {
    problem.readerBegin.assign(view.numValues() + 1, 0);
    for (const KernelProblem::Read &read : problem.reads)
      ++problem.readerBegin[read.root + 1];
    for (uint32_t v = 0; v < view.numValues(); ++v)
      problem.readerBegin[v + 1] += problem.readerBegin[v];
    problem.readerList.resize(problem.reads.size());
    std::vector<uint32_t> next(problem.readerBegin.begin(),
                               problem.readerBegin.end() - 1);
    for (uint32_t read = 0; read < problem.reads.size(); ++read)
      problem.readerList[next[problem.reads[read].root]++] = read;
  }

  void findWrites() {
    problem.writeOf.assign(view.numValues(), kNone);
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      if (!view.traits[op].ordered || !isa<WriteOp>(view.ops[op]))
        continue;
      uint32_t argument = problem.root[view.operands(op).front()];
      uint32_t &index = problem.writeOf[argument];
      if (index == kNone) {
        index = problem.writes.size();
        problem.writes.push_back({argument, {}});
      }
      problem.writes[index].second.push_back(op);
    }
  }

  const GraphView &view;
  const ValueSizes &sizes;
  KernelProblem problem;
  std::vector<Layout> viewLayouts;
  std::vector<uint32_t> layoutOf; ///< by value; 0: contiguous, on its own
  /// Of the op at work: its results, integer operands, and what it views.
  SmallVector<ViewedLayout, 2> layouts;
  SmallVector<int64_t> ints;
  Layout viewed;
  IterationSpace space; ///< of the op at work
  std::optional<aten::SizedCall> sized;
  SmallVector<unsigned, 4> operandOf; ///< by operand of its loops
  /// By value that no kernel makes: numbers in problem.sizeSources.
  llvm::DenseMap<uint32_t, SmallVector<uint32_t, 2>> sourcesOf;
  SmallVector<ArrayRef<int64_t>> shapes;
  SmallVector<uint64_t, 16> key; ///< of the op at work
  /// Of the reads of the op at work: the operand, and how much of it.
  SmallVector<std::pair<uint32_t, Touch>, 4> touched;
  CallLoopsTable calls;
  ConceptTable<FusibleOpInterface> fusible;
  ConceptTable<LowerableOpInterface> lowerable;
  /// By name, of ops whose name and arguments say all.
  ConceptTable<FrameworkCallOpInterface, NamesDoNotCount> calling;
};

} // namespace

KernelProblem KernelProblem::build(const GraphView &view,
                                   const ValueSizes &sizes) {
  return ProblemBuilder(view, sizes).run();
}

std::vector<uint8_t>
KernelProblem::findGiven(const GraphView &view,
                         ArrayRef<ArrayRef<uint32_t>> given) const {
  std::vector<uint8_t> isGiven(view.numValues() + sizeSources.size(), 0);
  bool isAny = false;
  for (ArrayRef<uint32_t> list : given)
    for (uint32_t value : list)
      isAny = isGiven[value] = 1;
  if (!isAny)
    return isGiven;
  // A source ends at a size that is handed over itself.
  for (auto [number, source] : llvm::enumerate(sizeSources))
    isGiven[view.numValues() + number] =
        source.value != kNone && isGiven[source.value];
  for (uint32_t op = 0; op < view.numOps(); ++op)
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (root[r] != r)
        for (uint32_t value : view.operands(op))
          isGiven[r] |= isGiven[value] && root[value] == root[r];
  for (auto [number, source] : llvm::enumerate(sizeSources))
    isGiven[view.numValues() + number] |=
        (!source.isDirect || isGiven[source.of]) &&
        llvm::all_of(source.through, [&](uint32_t other) {
          return isGiven[view.numValues() + other];
        });
  return isGiven;
}

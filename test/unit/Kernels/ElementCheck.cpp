// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementCheck.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/IterationSpace.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using llvm::ArrayRef;

namespace {

/// By iteration of a kernel: an element.
using Elements = std::vector<int64_t>;

class Check {
public:
  Check(const GraphView &view, const ValueSizes &sizes,
        const KernelProblem &problem, const SegmentKernels &segment,
        ArrayRef<uint32_t> kept)
      : view(view), sizes(sizes), problem(problem), segment(segment),
        isKept(view.numValues(), 0) {
    for (uint32_t value : kept)
      isKept[problem.root[value]] = 1;
  }

  std::string run(ArrayRef<uint32_t> order) {
    inOrder.assign(view.numOps(), 0);
    nestOf.assign(view.numOps(), 0);
    for (uint32_t op : order)
      inOrder[op] = 1;
    for (const Kernel &kernel : segment.kernels)
      for (auto [op, nest] : llvm::zip_equal(kernel.ops, kernel.nestOf))
        nestOf[op] = nest;
    for (uint32_t number = 0; number < segment.kernels.size(); ++number) {
      const Kernel &kernel = segment.kernels[number];
      if (kernel.schedule == KernelSchedule::Call || kernel.ops.size() == 1)
        continue;
      for (uint32_t nest = 0; nest < kernel.nests.size(); ++nest) {
        std::string fault = checkNest(number, nest);
        if (!fault.empty())
          return fault;
      }
    }
    return "";
  }

private:
  ArrayRef<int64_t> shapeOf(uint32_t value) const {
    return cast<RankedTensorType>(sizes.type[value]).getShape();
  }
  std::string name(uint32_t op) const {
    return view.name(view.resultBegin[op]);
  }

  /// Element of the root of `value` that index `at` of `value` is.
  int64_t rootElement(uint32_t value, ArrayRef<int64_t> at) {
    Layout layout = layoutOf(value);
    int64_t element = layout.offset;
    for (auto [index, stride] : llvm::zip_equal(at, layout.strides))
      element += index * stride;
    return element;
  }

  Layout layoutOf(uint32_t value) {
    uint32_t root = problem.root[value];
    if (root == value)
      return Layout::contiguous(shapeOf(value));
    uint32_t op = view.definer[value];
    unsigned r = value - view.resultBegin[op];
    int64_t operand = getViewedOperand(view.ops[op], r);
    SmallVector<int64_t> ints;
    for (uint32_t other : view.operands(op))
      ints.push_back(sizes.number.empty() ? ShapedType::kDynamic
                                          : sizes.number[other]);
    return *viewLayout(view.ops[op], r, layoutOf(view.operands(op)[operand]),
                       shapeOf(value), ints);
  }

  IterationSpace spaceOf(uint32_t op) {
    SmallVector<ArrayRef<int64_t>> shapes;
    for (uint32_t value : view.operands(op))
      shapes.push_back(isa<RankedTensorType>(sizes.type[value])
                           ? shapeOf(value)
                           : ArrayRef<int64_t>());
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      shapes.push_back(shapeOf(r));
    IterationSpace space;
    if (auto fusible = dyn_cast<FusibleOpInterface>(view.ops[op]);
        !fusible || !fusible.getIterationSpace(shapes, space))
      space = IterationSpace(); // a copy
    return space;
  }

  static SmallVector<int64_t> indexOf(int64_t flat, ArrayRef<int64_t> extents) {
    SmallVector<int64_t> at(extents.size());
    for (size_t i = extents.size(); i-- > 0;) {
      at[i] = flat % extents[i];
      flat /= extents[i];
    }
    return at;
  }

  /// The element of the op's result that iteration `flat` of its loops is for.
  static int64_t resultOf(const IterationSpace &space, int64_t flat) {
    SmallVector<int64_t> at = indexOf(flat, space.extents);
    int64_t element = 0;
    for (auto [index, extent, isReduced] :
         llvm::zip_equal(at, space.extents, space.isReduced))
      if (!isReduced)
        element = element * extent + index;
    return element;
  }

  /// `wanted`: which element of `op` each iteration of the kernel wants. For an
  /// op that combines, the iterations of its own loops are `inside`.
  std::string want(uint32_t op, const Elements &wanted, const Elements &inside,
                   uint32_t number) {
    bool combines =
        problem.kind[op] == LoopKind::Reduction ||
        (problem.kind[op] == LoopKind::Pick && takesRow(op, number));
    IterationSpace space = spaceOf(op);
    if (combines) {
      if (inside.empty())
        return name(op) + " combines rows of a kernel that has none";
      for (size_t i = 0; i < inside.size(); ++i)
        if (resultOf(space, inside[i]) != wanted[i])
          return name(op) + " combines other rows than are asked for";
    }
    const Elements &loops = combines ? inside : wanted;
    for (auto [i, value] : llvm::enumerate(view.operands(op))) {
      if (!isa<ShapedType>(sizes.type[value]))
        continue;
      uint32_t root = problem.root[value], def = view.definer[root];
      if (def == GraphView::kNone || segment.kernelOf[def] != number ||
          !inOrder[def])
        continue;
      if (nestOf[def] != nestOf[op])
        return name(op) + " reads what other loops of its kernel make";
      if (!space.operands.empty() && space.isGathered[i] &&
          space.concatAxis < 0)
        return name(op) + " gathers from what its kernel computes";
      Elements elements;
      for (int64_t loop : loops) {
        std::optional<int64_t> element =
            readBy(op, i, value, space, loop, combines);
        elements.push_back(element.value_or(-1));
      }
      auto [it, isNew] = demands.try_emplace(def, elements);
      if (isNew)
        continue;
      // -1: not wanted in this iteration (another part of a concatenation).
      for (size_t k = 0; k < elements.size(); ++k) {
        int64_t &known = it->second[k];
        if (known >= 0 && elements[k] >= 0 && known != elements[k])
          return name(def) + " is wanted at two elements at once";
        known = std::max(known, elements[k]);
      }
    }
    return "";
  }

  bool takesRow(uint32_t op, uint32_t number) {
    uint32_t def = view.definer[problem.root[view.operands(op).front()]];
    return def != GraphView::kNone && segment.kernelOf[def] == number &&
           inOrder[def];
  }

  std::optional<int64_t> readBy(uint32_t op, size_t i, uint32_t value,
                                const IterationSpace &space, int64_t loop,
                                bool combines) {
    if (loop < 0)
      return std::nullopt;
    ArrayRef<int64_t> shape = shapeOf(value);
    if (space.operands.empty()) // a copy, in the order of its operand
      return rootElement(value, indexOf(loop, shape));
    if (space.concatAxis >= 0) {
      SmallVector<int64_t> at = indexOf(loop, space.extents);
      for (uint32_t before : view.operands(op).take_front(i))
        at[space.concatAxis] -= shapeOf(before)[space.concatAxis];
      int64_t index = at[space.concatAxis];
      if (index < 0 || index >= shape[space.concatAxis])
        return std::nullopt;
      return rootElement(value, at);
    }
    SmallVector<int64_t> extents;
    SmallVector<int> place(space.extents.size(), -1);
    for (size_t axis = 0; axis < space.extents.size(); ++axis)
      if (combines || !space.isReduced[axis] ||
          problem.kind[op] != LoopKind::Pick) {
        place[axis] = static_cast<int>(extents.size());
        extents.push_back(space.extents[axis]);
      }
    SmallVector<int64_t> at = indexOf(loop, extents), index;
    for (int8_t axis : space.operands[i])
      index.push_back(axis == IterationSpace::kOnce || place[axis] < 0
                          ? 0
                          : at[place[axis]]);
    return rootElement(value, index);
  }

  /// Whether another op of the nest reads a result of `op`.
  bool isReadInside(uint32_t op, uint32_t number) const {
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      for (uint32_t read : problem.readersOf(r)) {
        uint32_t reader = problem.reads[read].op;
        if (inOrder[reader] && segment.kernelOf[reader] == number &&
            nestOf[reader] == nestOf[op])
          return true;
      }
    return false;
  }

  std::string checkNest(uint32_t number, uint32_t nest) {
    const KernelNest &loops = segment.kernels[number].nests[nest];
    std::vector<uint32_t> ops;
    llvm::copy_if(segment.kernels[number].ops, std::back_inserter(ops),
                  [&](uint32_t op) { return nestOf[op] == nest; });
    if (ops.empty())
      return "a kernel has loops without ops";
    demands.clear();
    auto size = static_cast<size_t>(loops.iterations);
    Elements inside;
    // The loops of the reductions, if there are any: all have the same.
    if (loops.pattern != IndexMaps::kNoPattern)
      for (size_t i = 0; i < size; ++i)
        inside.push_back(static_cast<int64_t>(i));
    for (uint32_t root : ops) {
      if (isReadInside(root, number))
        continue;
      Elements top(size);
      bool combines =
          problem.kind[root] == LoopKind::Reduction ||
          (problem.kind[root] == LoopKind::Pick && takesRow(root, number));
      int64_t own = sizesOf(root);
      for (size_t i = 0; i < size; ++i)
        top[i] = combines ? resultOf(spaceOf(root), inside[i])
                 : own == static_cast<int64_t>(size)
                     ? static_cast<int64_t>(i)
                     : rowOf(loops, static_cast<int64_t>(i));
      demands[root] = top;
    }
    for (uint32_t op : llvm::reverse(ops)) {
      auto found = demands.find(op);
      if (found == demands.end())
        return name(op) + " is wanted by nobody in its kernel";
      Elements wanted = found->second;
      if (isRead(op, number)) {
        std::vector<uint8_t> has(sizesOf(op), 0);
        for (int64_t element : wanted)
          if (element >= 0)
            has[element] = 1;
        if (!llvm::all_of(has, [](uint8_t one) { return one; }))
          return name(op) + " leaves its kernel and is not whole";
      }
      std::string fault = want(op, wanted, inside, number);
      if (!fault.empty())
        return fault;
    }
    return "";
  }

  int64_t rowOf(const KernelNest &loops, int64_t iteration) const {
    const LoopPattern &pattern = problem.maps.pattern(loops.pattern);
    int64_t row = 0, inner = 1, stride = 1;
    for (const LoopPattern::Loop &loop : llvm::reverse(pattern.loops)) {
      int64_t index = iteration / inner % loop.extent;
      inner *= loop.extent;
      if (loop.isReduced)
        continue;
      row += index * stride;
      stride *= loop.extent;
    }
    return row;
  }

  int64_t sizesOf(uint32_t op) const {
    return cast<RankedTensorType>(sizes.type[view.resultBegin[op]])
        .getNumElements();
  }

  bool isRead(uint32_t op, uint32_t number) const {
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r) {
      if (isKept[r])
        return true;
      for (uint32_t read : problem.readersOf(r)) {
        uint32_t reader = problem.reads[read].op;
        if (inOrder[reader] && segment.kernelOf[reader] != number)
          return true;
      }
    }
    return false;
  }

  const GraphView &view;
  const ValueSizes &sizes;
  const KernelProblem &problem;
  const SegmentKernels &segment;
  std::vector<uint8_t> isKept, inOrder, nestOf;
  std::map<uint32_t, Elements> demands; ///< by op of the kernel at work
};

} // namespace

std::string cutback::test::checkElements(const GraphView &view,
                                         const ValueSizes &sizes,
                                         const KernelProblem &problem,
                                         const SegmentKernels &segment,
                                         ArrayRef<uint32_t> order,
                                         ArrayRef<uint32_t> kept) {
  return Check(view, sizes, problem, segment, kept).run(order);
}

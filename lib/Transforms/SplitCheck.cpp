// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Value numbering of a split graph in terms of the whole one. What an op of
// the split graph is follows from what its operands are:
//
//   same    all operands are whole: the op of the whole graph that reads them
//   part    some are parts: the op that reads the values of which they are
//           parts, if it runs in parts (AxisUses.h) and all operands are the
//           same part of what it walks
//   slice   of a whole value: a part of it
//   concat  of parts from the first to the last: the value
//   sum     of sums over neighbouring parts, by `add` or by a product that
//           adds; in a wider type until it is complete
//
// A part is a fraction of a dimension, from `begin` to `end`. What reads
// nothing along the axis (`full`) is any part of its size.

#include "cutback/Transforms/SplitCheck.h"

#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Transforms/AxisUses.h"

#include "cutback/Analysis/GraphView.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace cutback;

namespace {

constexpr uint32_t kNone = GraphView::kNone;

/// A place between 0 and 1 along a dimension.
struct Place {
  int64_t at = 0, of = 1;

  bool operator==(const Place &other) const {
    return static_cast<__int128>(at) * other.of ==
           static_cast<__int128>(other.at) * of;
  }
  /// The place in a dimension of `size`, -1 if it is between two elements.
  int64_t in(int64_t size) const {
    __int128 scaled = static_cast<__int128>(at) * size;
    return scaled % of == 0 ? static_cast<int64_t>(scaled / of) : -1;
  }
};

/// What a value of the split graph is.
struct Meaning {
  enum Kind { Nothing, Whole, Part, Sum } kind = Nothing;
  uint32_t value = kNone;   ///< of the whole graph
  int dim = AxisUse::kNone; ///< of a part
  /// Of parts and sums; of a part that may be any, its share from 0 on.
  Place begin, end{1, 1};
  bool isAny = false;

  bool isComplete() const { return begin == Place{0, 1} && end == Place{1, 1}; }
};

class Checker {
public:
  Checker(joint::GraphOp whole, joint::GraphOp split)
      : wholeGraph(whole), splitGraph(split), whole(GraphView::build(whole)),
        split(GraphView::build(split)), storages(this->whole.findStorages()) {
    meanings.resize(this->split.numValues());
    indexWhole();
  }

  LogicalResult run(SplitCheckStats *stats) {
    if (failed(checkArguments()))
      return failure();
    for (uint32_t op = 0; op < split.numOps(); ++op)
      if (!find(op)) {
        auto diag = split.ops[op]->emitError("'")
                    << split.name(split.resultBegin[op])
                    << "' is no part of what the whole graph computes";
        diag.attachNote(wholeGraph.getLoc()) << "it was split from this graph";
        return diag;
      }
    if (failed(checkResults()))
      return failure();
    if (stats)
      *stats = counted;
    return success();
  }

private:
  //===--- The whole graph ------------------------------------------------===//

  void indexWhole() {
    orderedBefore.resize(whole.numOps());
    isWritten.assign(whole.numArgs, 0);
    uint32_t ordered = 0;
    for (uint32_t op = 0; op < whole.numOps(); ++op) {
      orderedBefore[op] = ordered;
      if (isa<joint::WriteOp>(whole.ops[op]))
        if (uint32_t arg = whole.operands(op)[0]; arg < whole.numArgs)
          isWritten[arg] = 1;
      if (whole.traits[op].keepsOrder()) {
        order.push_back(op);
        ++ordered;
      }
    }
    numberWhole();
  }

  /// Equal ops on equal values are one: regions leave such behind.
  void numberWhole() {
    valueClass.resize(whole.numValues());
    std::iota(valueClass.begin(), valueClass.end(), 0);
    readers.resize(whole.numValues());
    for (uint32_t op = 0; op < whole.numOps(); ++op) {
      auto &others =
          whole.operands(op).empty()
              ? withoutOperands[whole.ops[op]->getName().getAsOpaquePointer()]
              : readers[valueClass[whole.operands(op)[0]]];
      bool mayMerge = !whole.traits[op].keepsOrder() &&
                      !whole.traits[op].hasRegions && !readsWritten(op);
      auto equal = llvm::find_if(others, [&](uint32_t other) {
        return mayMerge && isEqualOp(op, other);
      });
      if (equal == others.end()) {
        others.push_back(op);
        continue;
      }
      for (uint32_t r = 0; r < whole.numResults(op); ++r)
        valueClass[whole.resultBegin[op] + r] = whole.resultBegin[*equal] + r;
    }
  }

  static OperationEquivalence::Flags ignored() {
    return static_cast<OperationEquivalence::Flags>(
        OperationEquivalence::IgnoreLocations |
        OperationEquivalence::IgnoreDiscardableAttrs);
  }

  bool isEqualOp(uint32_t op, uint32_t other) const {
    ArrayRef<uint32_t> mine = whole.operands(op),
                       theirs = whole.operands(other);
    if (mine.size() != theirs.size() || whole.traits[other].hasRegions ||
        whole.traits[other].keepsOrder())
      return false;
    for (auto [a, b] : llvm::zip_equal(mine, theirs))
      if (valueClass[a] != valueClass[b])
        return false;
    return OperationEquivalence::isEquivalentTo(
        whole.ops[op], whole.ops[other], [](Value, Value) { return success(); },
        nullptr, ignored());
  }

  bool isOfWritten(uint32_t value) const {
    uint32_t base = storages[value];
    return base < whole.numArgs && isWritten[base];
  }

  LogicalResult checkArguments() {
    bool isSame =
        whole.numArgs == split.numArgs &&
        wholeGraph.getOutput().getGradientOf() ==
            splitGraph.getOutput().getGradientOf() &&
        wholeGraph.getNumForwardResults() == splitGraph.getNumForwardResults();
    for (uint32_t arg = 0; isSame && arg < whole.numArgs; ++arg) {
      isSame = whole.types[arg] == split.types[arg] &&
               wholeGraph.getRole(arg) == splitGraph.getRole(arg);
      meanings[arg].kind = Meaning::Whole;
      meanings[arg].value = arg;
    }
    if (isSame)
      return success();
    return splitGraph.emitError("has other arguments, results or gradients "
                                "than the graph that it was split from");
  }

  LogicalResult checkResults() {
    for (auto [i, pair] :
         llvm::enumerate(llvm::zip_equal(whole.results(), split.results()))) {
      auto [expected, value] = pair;
      const Meaning &found = meanings[value];
      if (found.kind != Meaning::Whole || found.value != valueClass[expected])
        return split.terminator->emitError("result ")
               << i << " is not '" << whole.name(expected)
               << "', as in the graph that it was split from";
    }
    if (nextOrdered == order.size())
      return success();
    return whole.ops[order[nextOrdered]]->emitError(
        "has an effect that the split graph has not");
  }

  //===--- Ops ------------------------------------------------------------===//

  bool find(uint32_t op) {
    for (uint32_t operand : split.operands(op))
      if (meanings[operand].kind == Meaning::Nothing)
        return false;
    if (split.traits[op].keepsOrder())
      return isNextOrdered(op);
    return isAny(op, [&](uint32_t of) { return isSame(op, of); }) ||
           isAny(op, [&](uint32_t of) { return isPart(op, of); }) ||
           isSlice(op) || isConcat(op) || isSum(op);
  }

  const Meaning &meaningOf(uint32_t op, unsigned operand) const {
    return meanings[split.operands(op)[operand]];
  }

  bool isNextOrdered(uint32_t op) {
    if (nextOrdered == order.size() || !isSame(op, order[nextOrdered]))
      return false;
    ++nextOrdered;
    return true;
  }

  /// Whether `op` is an op of the whole graph with this name and these
  /// operands.
  bool isAny(uint32_t op, llvm::function_ref<bool(uint32_t)> isIt) {
    OperationName name = split.ops[op]->getName();
    ArrayRef<uint32_t> candidates;
    if (split.operands(op).empty()) {
      auto known = withoutOperands.find(name.getAsOpaquePointer());
      if (known != withoutOperands.end())
        candidates = known->second;
    } else {
      candidates = readers[meaningOf(op, 0).value];
    }
    for (uint32_t of : candidates) {
      if (whole.ops[of]->getName() != name ||
          whole.operands(of).size() != split.operands(op).size())
        continue;
      bool fits = true;
      for (auto [i, value] : llvm::enumerate(whole.operands(of))) {
        const Meaning &read = meaningOf(op, i);
        fits &= read.value == valueClass[value] && read.kind != Meaning::Sum;
      }
      if (fits && isIt(of))
        return true;
    }
    return false;
  }

  bool readsWritten(uint32_t of) const {
    return llvm::any_of(whole.operands(of),
                        [&](uint32_t value) { return isOfWritten(value); });
  }

  bool isSame(uint32_t op, uint32_t of) {
    Operation *own = split.ops[op], *other = whole.ops[of];
    if (whole.operands(of).size() != split.operands(op).size())
      return false;
    for (auto [i, value] : llvm::enumerate(whole.operands(of)))
      if (meaningOf(op, i).kind != Meaning::Whole ||
          meaningOf(op, i).value != valueClass[value])
        return false;
    // What an op's graphs make themselves must agree; what they read from
    // outside is among the operands, which do.
    llvm::DenseMap<Value, Value> inside;
    auto isInside = [&](Value value) {
      return own->isAncestor(value.getParentBlock()->getParentOp());
    };
    bool isEqual = OperationEquivalence::isEquivalentTo(
        own, other,
        [&](Value mine, Value theirs) {
          return success(!isInside(mine) || inside.lookup(mine) == theirs);
        },
        [&](Value mine, Value theirs) { inside[mine] = theirs; }, ignored());
    if (!isEqual || (readsWritten(of) && orderedBefore[of] != nextOrdered))
      return false;
    for (uint32_t r = 0; r < split.numResults(op); ++r) {
      Meaning &made = meanings[split.resultBegin[op] + r];
      made = Meaning();
      made.kind = Meaning::Whole;
      made.value = valueClass[whole.resultBegin[of] + r];
    }
    return true;
  }

  //===--- Parts ----------------------------------------------------------===//

  /// A part of a dimension that an op walks, with the use that says so.
  struct Walk {
    AxisUse use;
    Place begin, end;
    bool isAny = true;
  };

  bool isPart(uint32_t op, uint32_t of) {
    std::optional<Walk> walk = findWalk(op, of);
    if (!walk || readsWritten(of) || !hasPartTypes(op, of, *walk) ||
        !hasPartArguments(op, of, *walk))
      return false;
    for (uint32_t r = 0; r < split.numResults(op); ++r) {
      Meaning &made = meanings[split.resultBegin[op] + r];
      made.kind = walk->use.isSum ? Meaning::Sum : Meaning::Part;
      made.value = whole.resultBegin[of] + r;
      made.dim = walk->use.resultDim[r];
      made.begin = walk->begin;
      made.end = walk->end;
      made.isAny = walk->isAny;
      if (made.kind == Meaning::Sum && made.isAny)
        return false;
    }
    ++counted.parts;
    counted.sums += walk->use.isSum;
    return true;
  }

  std::optional<Walk> findWalk(uint32_t op, uint32_t of) {
    std::optional<AxisUse> use;
    if (whole.ops[of]->getNumOperands() != split.operands(op).size())
      return std::nullopt;
    for (unsigned i = 0; !use && i < split.operands(op).size(); ++i)
      if (const Meaning &read = meaningOf(op, i); read.kind == Meaning::Part)
        use = findAxisUse(whole.ops[of],
                          {false, i, static_cast<unsigned>(read.dim)});
    if (use)
      return walkOperands(op, std::move(*use));
    if (llvm::any_of(split.operands(op), [&](uint32_t operand) {
          return meanings[operand].kind == Meaning::Part;
        }))
      return std::nullopt;
    return walkResult(op, of);
  }

  std::optional<Walk> walkOperands(uint32_t op, AxisUse use) {
    Walk walk;
    bool isFirst = true;
    for (auto [i, dim] : llvm::enumerate(use.operandDim)) {
      const Meaning &read = meaningOf(op, i);
      bool isPart = read.kind == Meaning::Part;
      if (isPart != (dim != AxisUse::kNone) || (isPart && read.dim != dim))
        return std::nullopt;
      if (!isPart)
        continue;
      // Any part is as good as the one that another operand is.
      if (isFirst || (walk.isAny && !read.isAny)) {
        if (!isFirst && !isShareOf(read.begin, read.end, walk.end))
          return std::nullopt;
        walk.begin = read.begin;
        walk.end = read.end;
        walk.isAny = read.isAny;
      } else if (read.isAny
                     ? !isShareOf(walk.begin, walk.end, read.end)
                     : !(read.begin == walk.begin && read.end == walk.end)) {
        return std::nullopt;
      }
      isFirst = false;
    }
    walk.use = std::move(use);
    return walk;
  }

  /// Whether end - begin is `share`.
  static bool isShareOf(Place begin, Place end, Place share) {
    __int128 length = static_cast<__int128>(end.at) * begin.of -
                      static_cast<__int128>(begin.at) * end.of;
    return length * share.of ==
           static_cast<__int128>(share.at) * begin.of * end.of;
  }

  /// Of an op that reads nothing along the axis: by its result's sizes.
  std::optional<Walk> walkResult(uint32_t op, uint32_t of) {
    if (whole.numResults(of) != 1 || split.numResults(op) != 1)
      return std::nullopt;
    auto own = staticShape(split.values[split.resultBegin[op]]);
    auto all = staticShape(whole.values[whole.resultBegin[of]]);
    if (!own || !all || own->size() != all->size())
      return std::nullopt;
    std::optional<unsigned> found;
    for (unsigned dim = 0; dim < own->size(); ++dim)
      if ((*own)[dim] != (*all)[dim]) {
        if (found || (*own)[dim] > (*all)[dim])
          return std::nullopt;
        found = dim;
      }
    std::optional<AxisUse> use;
    if (found)
      use = findAxisUse(whole.ops[of], {true, 0, *found});
    if (!use || llvm::any_of(use->operandDim,
                             [](int dim) { return dim != AxisUse::kNone; }))
      return std::nullopt;
    Walk walk;
    walk.use = std::move(*use);
    walk.begin = {0, 1};
    walk.end = {(*own)[*found], (*all)[*found]};
    return walk;
  }

  static int64_t sizeOf(const Walk &walk, int64_t size) {
    int64_t begin = walk.begin.in(size), end = walk.end.in(size);
    return begin < 0 || end < 0 ? -1 : end - begin;
  }

  /// Results have the sizes of the part.
  bool hasPartTypes(uint32_t op, uint32_t of, const Walk &walk) const {
    if (split.numResults(op) != whole.numResults(of))
      return false;
    for (uint32_t r = 0; r < split.numResults(op); ++r) {
      auto all =
          dyn_cast<RankedTensorType>(whole.types[whole.resultBegin[of] + r]);
      if (!all)
        return false;
      SmallVector<int64_t> shape(all.getShape());
      if (int dim = walk.use.resultDim[r]; dim != AxisUse::kNone)
        shape[dim] = sizeOf(walk, shape[dim]);
      if (llvm::is_contained(shape, -1) ||
          split.types[split.resultBegin[op] + r] !=
              RankedTensorType::get(shape, all.getElementType(),
                                    all.getEncoding()))
        return false;
    }
    return true;
  }

  /// Arguments are those of the whole, but for the size along the axis where
  /// they name the result's sizes.
  bool hasPartArguments(uint32_t op, uint32_t of, const Walk &walk) const {
    auto own = dyn_cast<aten::CallOp>(split.ops[op]);
    auto other = dyn_cast<aten::CallOp>(whole.ops[of]);
    if (!own || !other)
      return false;
    int dim = walk.use.resultDim[0];
    for (auto [param, a, b] : llvm::zip_equal(other.getSchema().params,
                                              own.getArgs(), other.getArgs())) {
      auto mine = dyn_cast<ArrayAttr>(a), theirs = dyn_cast<ArrayAttr>(b);
      if (!isSizesParameter(param.name) || dim == AxisUse::kNone || !mine ||
          !theirs) {
        if (a != b)
          return false;
        continue;
      }
      if (mine.size() != theirs.size())
        return false;
      for (auto [i, entries] : llvm::enumerate(llvm::zip(mine, theirs))) {
        auto [mySize, theirSize] = entries;
        auto number = dyn_cast<IntegerAttr>(theirSize);
        if (static_cast<int>(i) == dim && number && number.getInt() >= 0
                ? mySize != IntegerAttr::get(number.getType(),
                                             sizeOf(walk, number.getInt()))
                : mySize != theirSize)
          return false;
      }
    }
    return true;
  }

  bool isSlice(uint32_t op) {
    auto call = dyn_cast<aten::CallOp>(split.ops[op]);
    if (!call || call.getPacketName() != "aten.slice" ||
        split.operands(op).size() != 1)
      return false;
    const Meaning &read = meaningOf(op, 0);
    aten::CallReader args(call);
    auto dim = args.integer("dim"), begin = args.integer("start"),
         end = args.integer("end"), step = args.integer("step");
    auto shape = staticShape(split.values[split.operands(op)[0]]);
    if (read.kind != Meaning::Whole || isOfWritten(read.value) || !dim ||
        !begin || !end || step != 1 || !shape || *dim < 0 ||
        *dim >= static_cast<int64_t>(shape->size()) || *begin < 0 ||
        *begin >= *end || *end > (*shape)[*dim])
      return false;
    Meaning &made = meanings[split.resultBegin[op]];
    made.kind = Meaning::Part;
    made.value = read.value;
    made.dim = static_cast<int>(*dim);
    made.begin = {*begin, (*shape)[*dim]};
    made.end = {*end, (*shape)[*dim]};
    return true;
  }

  bool isConcat(uint32_t op) {
    auto call = dyn_cast<aten::CallOp>(split.ops[op]);
    if (!call || call.getPacketName() != "aten.cat" ||
        split.operands(op).empty())
      return false;
    auto dim = aten::CallReader(call).integer("dim");
    Place next{0, 1};
    uint32_t value = meaningOf(op, 0).value;
    for (uint32_t operand : split.operands(op)) {
      const Meaning &read = meanings[operand];
      if (read.kind != Meaning::Part || read.value != value || read.isAny ||
          read.dim != dim || !(read.begin == next))
        return false;
      next = read.end;
    }
    if (!(next == Place{1, 1}) ||
        split.types[split.resultBegin[op]] != whole.types[value])
      return false;
    Meaning &made = meanings[split.resultBegin[op]];
    made.kind = Meaning::Whole;
    made.value = value;
    return true;
  }

  //===--- Sums -----------------------------------------------------------===//

  /// Sums of a value until they are complete.
  bool isSum(uint32_t op) {
    auto call = dyn_cast<aten::CallOp>(split.ops[op]);
    if (!call || split.numResults(op) != 1)
      return false;
    StringRef name = call.getPacketName();
    if (name == "prims.convert_element_type")
      return isCastSum(op);
    if (name == "aten.add" && split.operands(op).size() == 2 &&
        aten::CallReader(call).integer("alpha") == 1)
      return isSumOf(op, meaningOf(op, 0), meaningOf(op, 1));
    if (name == "aten.addmm" || name == "aten.baddbmm")
      return isProductAdded(op, call);
    return false;
  }

  static bool isWider(Type to, Type from) {
    auto toFloat = dyn_cast<FloatType>(to),
         fromFloat = dyn_cast<FloatType>(from);
    return to == from ||
           (toFloat && fromFloat && toFloat.getWidth() > fromFloat.getWidth());
  }

  bool setSum(uint32_t op, uint32_t value, Place begin, Place end) {
    Meaning &made = meanings[split.resultBegin[op]];
    auto own = dyn_cast<RankedTensorType>(split.types[split.resultBegin[op]]);
    auto all = dyn_cast<RankedTensorType>(whole.types[value]);
    if (!own || !all || own.getShape() != all.getShape() ||
        !isWider(own.getElementType(), all.getElementType()))
      return false;
    made.value = value;
    made.kind = Meaning::Sum;
    made.begin = begin;
    made.end = end;
    if (made.isComplete() && own == all)
      made.kind = Meaning::Whole;
    return true;
  }

  bool isCastSum(uint32_t op) {
    const Meaning &read = meaningOf(op, 0);
    if (read.kind != Meaning::Sum)
      return false;
    Type from = getElementTypeOrSelf(split.types[split.operands(op)[0]]),
         to = getElementTypeOrSelf(split.types[split.resultBegin[op]]);
    return (isWider(to, from) || read.isComplete()) &&
           setSum(op, read.value, read.begin, read.end);
  }

  bool isSumOf(uint32_t op, const Meaning &first, const Meaning &second) {
    return first.kind == Meaning::Sum && second.kind == Meaning::Sum &&
           first.value == second.value && first.end == second.begin &&
           setSum(op, first.value, first.begin, second.end);
  }

  /// A product that adds to a sum: the next part of the same product.
  bool isProductAdded(uint32_t op, aten::CallOp call) {
    const Meaning &sum = meaningOf(op, 0);
    aten::CallReader args(call);
    if (sum.kind != Meaning::Sum || split.operands(op).size() != 3 ||
        args.number("beta") != 1 || args.number("alpha") != 1)
      return false;
    uint32_t of = whole.definer[sum.value];
    auto product = dyn_cast<aten::CallOp>(whole.ops[of]);
    StringRef name =
        call.getPacketName() == "aten.addmm" ? "aten.mm" : "aten.bmm";
    if (!product || product.getPacketName() != name)
      return false;
    Meaning factors[] = {meaningOf(op, 1), meaningOf(op, 2)};
    for (auto [i, factor] : llvm::enumerate(factors))
      if (factor.kind != Meaning::Part || factor.isAny ||
          factor.value != valueClass[whole.operands(of)[i]])
        return false;
    auto use =
        findAxisUse(product, {false, 0, static_cast<unsigned>(factors[0].dim)});
    return use && use->isSum && use->operandDim[0] == factors[0].dim &&
           use->operandDim[1] == factors[1].dim &&
           factors[0].begin == factors[1].begin &&
           factors[0].end == factors[1].end && sum.end == factors[0].begin &&
           setSum(op, sum.value, sum.begin, factors[0].end);
  }

  joint::GraphOp wholeGraph, splitGraph;
  GraphView whole, split;
  std::vector<uint32_t> storages; ///< of the whole graph
  std::vector<Meaning> meanings;  ///< by value of the split graph
  std::vector<uint32_t> order, orderedBefore;
  std::vector<uint32_t> valueClass; ///< by value: the first that is equal
  /// By class of a value: ops whose first operand it is, one of equal ones.
  std::vector<std::vector<uint32_t>> readers;
  std::vector<uint8_t> isWritten; ///< by argument
  llvm::DenseMap<const void *, std::vector<uint32_t>> withoutOperands;
  size_t nextOrdered = 0;
  SplitCheckStats counted;
};

} // namespace

LogicalResult cutback::verifySplit(joint::GraphOp whole, joint::GraphOp split,
                                   SplitCheckStats *stats) {
  return Checker(whole, split).run(stats);
}

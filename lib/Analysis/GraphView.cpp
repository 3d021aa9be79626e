// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers a block: one walk over it for ops, values and operands, one counting
// sort for the users. The only hash table maps an op to the number of its first
// result; it is read once an operand, and everything after it is arrays. A
// block that sees values above it is walked once more in front, for these.
// Linear in ops and operands.

#include "cutback/Analysis/GraphView.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Literal.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Support/MLIR/DefinitionMap.h"
#include "cutback/Support/MLIR/OpAccess.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

/// Asks the interfaces of dialect `joint`. They are looked up once for all ops
/// of one name: the search in the table of interfaces is most of what a
/// question costs.
class TraitReader {
public:
  /// The traits of `op`, and in `aliases`, by result, the number of the operand
  /// that it aliases, or -1.
  OpTraits read(Operation *op, SmallVectorImpl<int64_t> &aliases) {
    const Kind &kind = kindOf(op);
    OpTraits traits;
    aliases.assign(op->getNumResults(), -1);
    if (!noAttributes) {
      noAttributes = DictionaryAttr::get(op->getContext());
      policyName = StringAttr::get(op->getContext(), JointDialect::kPolicy);
    }
    traits.annotated = op->getRawDictionaryAttrs() != noAttributes;
    if (traits.annotated)
      if (auto policy =
              dyn_cast_or_null<PolicyAttr>(op->getDiscardableAttr(policyName)))
        traits.copy = policy.getRun() > 0;
    traits.hasRegions = op->getNumRegions() != 0;
    if (kind.model) {
      RematerializableOpInterface model(op, kind.model);
      traits.hasModel = true;
      traits.random = model.isRandom();
      traits.recomputable =
          model.isRecomputable() || (traits.random && joint::isReplayed(op));
      traits.computeIntensive = model.isComputeIntensive();
      traits.ordered = model.hasOrderedEffects();
      for (auto [result, alias] : llvm::enumerate(aliases))
        alias = model.getAliasedOperand(result);
      traits.view = !aliases.empty() && aliases.front() >= 0;
    } else {
      // Any other dialect: pure ops can run twice, the rest keep their place.
      traits.recomputable = isPure(op);
      traits.ordered = !isMemoryEffectFree(op);
    }
    if (kind.fusible)
      traits.fusion = FusibleOpInterface(op, kind.fusible).getFusionKind();
    else if (kind.isConstant)
      traits.fusion = FusionKind::Create;
    else if (kind.isElementwise && traits.recomputable)
      traits.fusion = FusionKind::Pointwise;
    traits.literal = traits.recomputable && !traits.ordered &&
                     (kind.hasLiteralModel || kind.isConstant) &&
                     joint::isLiteral(op);
    return traits;
  }

private:
  struct Kind {
    const RematerializableOpInterface::Concept *model = nullptr;
    const FusibleOpInterface::Concept *fusible = nullptr;
    bool hasLiteralModel = false, isConstant = false, isElementwise = false;
  };

  const Kind &kindOf(Operation *op) {
    auto [it, isNew] = kinds.try_emplace(op->getName().getAsOpaquePointer());
    if (isNew) {
      it->second.model = conceptOf<RematerializableOpInterface>(op);
      it->second.fusible = conceptOf<FusibleOpInterface>(op);
      it->second.hasLiteralModel = isa<LiteralOpInterface>(op);
      it->second.isConstant = op->hasTrait<OpTrait::ConstantLike>();
      it->second.isElementwise = op->hasTrait<OpTrait::Elementwise>();
    }
    return it->second;
  }

  DictionaryAttr noAttributes;
  StringAttr policyName;
  llvm::SmallDenseMap<const void *, Kind, 64> kinds;
};

} // namespace

/// Fills the users from the operands: count, prefix sum, place. An op that
/// uses a value twice is listed once.
void GraphView::findUsers() {
  uint32_t rows = numOps() + 1;
  std::vector<uint32_t> lastUser(numValues(), kNone);
  userBegin.assign(numValues() + 1, 0);
  for (uint32_t op = 0; op < rows; ++op)
    for (uint32_t value : operands(op))
      if (lastUser[value] != op) {
        lastUser[value] = op;
        ++userBegin[value + 1];
      }
  for (uint32_t v = 0; v < numValues(); ++v)
    userBegin[v + 1] += userBegin[v];
  userList.resize(userBegin.back());
  std::vector<uint32_t> next(userBegin.begin(), userBegin.end() - 1);
  lastUser.assign(numValues(), kNone);
  for (uint32_t op = 0; op < rows; ++op)
    for (uint32_t value : operands(op))
      if (lastUser[value] != op) {
        lastUser[value] = op;
        userList[next[value]++] = op;
      }
}

/// What a region reads from outside is listed once, so two values that became
/// one are one. `end` is behind the op's operands and captured values.
static void dropRepeatedCaptures(GraphView &view, Operation *op, uint32_t begin,
                                 uint32_t &end) {
  auto first = view.operandList.begin() + begin + op->getNumOperands();
  auto last = view.operandList.begin() + end, kept = first;
  for (auto it = first; it != last; ++it)
    if (std::find(first, kept, *it) == kept)
      *kept++ = *it;
  end -= last - kept;
}

Renumbering GraphView::removeOps(ArrayRef<uint8_t> isErased,
                                 ArrayRef<uint32_t> standIn) {
  Renumbering renumbering;
  renumbering.newOp.assign(numOps(), kNone);
  renumbering.newValue.assign(numValues(), kNone);
  renumbering.oldValue.reserve(numValues());
  auto keep = [&](uint32_t value, uint32_t op) {
    uint32_t now = renumbering.oldValue.size();
    renumbering.newValue[value] = now;
    renumbering.oldValue.push_back(value);
    values[now] = values[value];
    types[now] = types[value];
    uint32_t alias = aliasOf[value];
    aliasOf[now] =
        alias == kNone ? kNone : renumbering.newValue[standIn[alias]];
    definer[now] = op;
  };
  for (uint32_t arg = 0; arg < numArgs; ++arg)
    keep(arg, kNone);
  // Everything moves towards the front, so it moves in place.
  uint32_t now = 0, numOperands = 0, operand = 0, result = numArgs;
  for (uint32_t op = 0; op <= numOps(); ++op) {
    uint32_t endOperand = operandBegin[op + 1];
    uint32_t endResult = op < numOps() ? resultBegin[op + 1] : result;
    bool isKept = op == numOps() || !isErased[op];
    for (; operand < endOperand; ++operand)
      if (isKept)
        operandList[numOperands++] =
            renumbering.newValue[standIn[operandList[operand]]];
    if (isKept) {
      if (op < numOps() && traits[op].hasRegions)
        dropRepeatedCaptures(*this, ops[op], operandBegin[now], numOperands);
      operandBegin[now + 1] = numOperands;
      resultBegin[now] = renumbering.oldValue.size();
      if (op < numOps()) {
        renumbering.newOp[op] = now;
        ops[now] = ops[op];
        traits[now] = traits[op];
      }
      ++now;
    }
    for (; result < endResult; ++result)
      if (isKept)
        keep(result, now - 1);
      else
        renumbering.newValue[result] = renumbering.newValue[standIn[result]];
  }
  ops.resize(now - 1);
  traits.resize(now - 1);
  values.resize(renumbering.oldValue.size());
  types.resize(values.size());
  aliasOf.resize(values.size());
  definer.resize(values.size());
  resultBegin.resize(now);
  operandBegin.resize(now + 1);
  operandList.resize(numOperands);
  findUsers();
  return renumbering;
}

/// An op that reads an argument, or a view of it, before the forward writes it
/// cannot run again in the backward: the old value is gone by then.
static void keepReadersOfOldValues(GraphView &view) {
  std::vector<uint32_t> lastWrite(view.numArgs, 0);
  bool hasWrites = false;
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (!view.traits[op].ordered)
      continue;
    auto write = dyn_cast<WriteOp>(view.ops[op]);
    if (!write || write.getSide() != Side::Forward)
      continue;
    uint32_t destination = view.operands(op).front();
    if (!view.isArg(destination))
      continue;
    lastWrite[destination] = op;
    hasWrites = true;
  }
  if (!hasWrites)
    return;
  std::vector<uint32_t> base(view.numValues());
  for (uint32_t value = 0; value < view.numArgs; ++value)
    base[value] = value;
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    for (uint32_t value : view.operands(op))
      if (uint32_t arg = base[value]; view.isArg(arg) && lastWrite[arg] > op)
        view.traits[op].readsOldValue = true;
    if (view.traits[op].readsOldValue)
      view.traits[op].recomputable = view.traits[op].literal = false;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      base[r] = view.aliasOf[r] == GraphView::kNone ? r : base[view.aliasOf[r]];
  }
}

namespace {

static_assert(sizeof(Operation) >= DefinitionMap::kLeastOpBytes);

/// Numbers of values while the view grows.
class ValueNumbers {
public:
  /// Numbers the arguments of `block`.
  ValueNumbers(Block &block, GraphView &view) : view(view) {
    definitions.reset();
    for (BlockArgument arg : block.getArguments())
      add(arg, GraphView::kNone, GraphView::kNone);
    Operation *parent = block.getParentOp();
    if (parent && !parent->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
      SetVector<Value> captured;
      getUsedValuesDefinedAbove(*block.getParent(), captured);
      for (Value value : captured) {
        fromAbove.try_emplace(value, view.values.size());
        add(value, GraphView::kNone, GraphView::kNone);
      }
    }
    view.numArgs = view.values.size();
  }

  /// Numbers what `op`, the next one, computes. `aliases` are operands.
  void define(Operation *op, ArrayRef<int64_t> aliases) {
    view.resultBegin.push_back(view.values.size());
    if (op->getNumResults())
      definitions.insert(op, view.values.size());
    ArrayRef<uint32_t> operands = view.operands(view.ops.size());
    for (auto [result, alias] : llvm::zip_equal(op->getResults(), aliases)) {
      bool isOperand = alias >= 0 && size_t(alias) < operands.size();
      add(result, view.ops.size(),
          isOperand ? operands[alias] : GraphView::kNone);
    }
  }

  uint32_t of(Value value) const {
    if (LLVM_UNLIKELY(!fromAbove.empty()))
      if (uint32_t number = findAbove(value); number != GraphView::kNone)
        return number;
    if (auto result = dyn_cast<OpResult>(value))
      return definitions.lookup(result.getOwner()) + result.getResultNumber();
    return cast<BlockArgument>(value).getArgNumber();
  }

private:
  /// Rare, so kept out of what is asked for each operand.
  LLVM_ATTRIBUTE_NOINLINE uint32_t findAbove(Value value) const {
    auto found = fromAbove.find(value);
    return found == fromAbove.end() ? GraphView::kNone : found->second;
  }

  void add(Value value, uint32_t op, uint32_t alias) {
    view.values.push_back(value);
    view.types.push_back(value.getType());
    view.definer.push_back(op);
    view.aliasOf.push_back(alias);
  }

  GraphView &view;
  DefinitionMap definitions;
  llvm::SmallDenseMap<Value, uint32_t, 1> fromAbove;
};

} // namespace

/// Room for so many ops, mostly with one result and one or two operands. To
/// count would be one more walk over the graph.
static void reserveFor(size_t numOps, size_t numArgs, GraphView &view) {
  view.ops.reserve(numOps);
  view.values.reserve(numOps + numArgs);
  view.types.reserve(numOps + numArgs);
  view.definer.reserve(numOps + numArgs);
  view.aliasOf.reserve(numOps + numArgs);
  view.traits.reserve(numOps);
  view.resultBegin.reserve(numOps + 1);
  view.operandBegin.reserve(numOps + 2);
  view.operandList.reserve(2 * numOps);
}

GraphView GraphView::withoutOps(size_t expectedOps) const {
  GraphView view;
  reserveFor(expectedOps, numArgs, view);
  view.graph = graph;
  view.output = output;
  view.terminator = terminator;
  view.numArgs = numArgs;
  view.values.assign(values.begin(), values.begin() + numArgs);
  view.types.assign(types.begin(), types.begin() + numArgs);
  view.aliasOf.assign(numArgs, kNone);
  view.definer.assign(numArgs, kNone);
  view.operandBegin.push_back(0);
  return view;
}

std::vector<uint32_t> GraphView::reorderOps(ArrayRef<uint32_t> order) {
  GraphView old = std::move(*this);
  *this = old.withoutOps(old.numOps());
  std::vector<uint32_t> newValue(old.numValues(), kNone);
  for (uint32_t arg = 0; arg < numArgs; ++arg)
    newValue[arg] = arg;
  auto numberOf = [&](uint32_t value) { return newValue[value]; };
  for (uint32_t op : order) {
    for (uint32_t i = 0; i < old.numResults(op); ++i)
      newValue[old.resultBegin[op] + i] = values.size() + i;
    addOp(old, op, numberOf);
  }
  finish(old, numberOf);
  return newValue;
}

GraphView GraphView::build(GraphOp graph, size_t expectedOps) {
  GraphView view = build(graph.getBlock(), expectedOps);
  view.graph = graph;
  view.output = graph.getOutput();
  return view;
}

GraphView GraphView::build(Block &block, size_t expectedOps) {
  GraphView view;
  reserveFor(expectedOps, block.getNumArguments(), view);
  ValueNumbers numbers(block, view);
  view.operandBegin.push_back(0);
  if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
    view.terminator = &block.back();
  TraitReader reader;
  SmallVector<int64_t, 4> aliases;
  for (Operation &op : block) {
    prefetchOp(op.getNextNode());
    for (Value operand : op.getOperands())
      view.operandList.push_back(numbers.of(operand));
    if (op.getNumRegions()) {
      SetVector<Value> captured;
      getUsedValuesDefinedAbove(op.getRegions(), captured);
      for (Value value : captured)
        view.operandList.push_back(numbers.of(value));
    }
    view.operandBegin.push_back(view.operandList.size());
    if (&op == view.terminator)
      break;
    view.traits.push_back(reader.read(&op, aliases));
    numbers.define(&op, aliases);
    view.ops.push_back(&op);
  }
  if (!view.terminator)
    view.operandBegin.push_back(view.operandList.size());
  view.resultBegin.push_back(view.values.size());
  view.findUsers();
  keepReadersOfOldValues(view);
  return view;
}

void GraphView::readTraits(uint32_t op) {
  bool readsOldValue = traits[op].readsOldValue;
  SmallVector<int64_t, 4> aliases;
  traits[op] = TraitReader().read(ops[op], aliases);
  traits[op].readsOldValue = readsOldValue;
  if (readsOldValue)
    traits[op].recomputable = traits[op].literal = false;
}

std::string GraphView::name(uint32_t value) const {
  StringRef name = getValueName(values[value]);
  return name.empty() ? "%" + std::to_string(value) : name.str();
}

std::vector<uint32_t> GraphView::findStorages() const {
  std::vector<uint32_t> storage(numValues());
  for (uint32_t value = 0; value < numValues(); ++value)
    storage[value] = aliasOf[value] == kNone ? value : storage[aliasOf[value]];
  return storage;
}

ArrayRef<uint32_t> GraphView::forwardResults() const {
  return results().take_front(joint::OutputOp(output).getNumForwardResults());
}

ArrayRef<uint32_t> GraphView::gradients() const {
  return results().drop_front(joint::OutputOp(output).getNumForwardResults());
}

std::vector<uint8_t> GraphView::markGradients() const {
  std::vector<uint8_t> isGradient(numValues(), 0);
  for (uint32_t value : gradients())
    isGradient[value] = 1;
  return isGradient;
}

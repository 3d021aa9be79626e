// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common subexpression elimination on one block, in one walk forward with one
// flat hash table.
//
//   1. The key of an op is its name, operands, result types and attributes.
//      Earlier replacements have made equal operands the same SSA value, so
//      pointers are compared. Inherent attributes are compared one by one but
//      for `names`; where there are none, or do not count, as a whole. Other
//      attributes count, again but for `names`.
//   2. A write to an argument begins a new epoch of that argument: operands
//      that are the argument or a view of it count with their epoch. Ops in
//      front of the first write pay nothing for this.
//   3. What may be merged is decided on the first meeting of two equal keys,
//      so most ops are never asked about effects.
//
// Attributes and types are uniqued: comparing them is comparing pointers.
// Expected linear time; about 20 ns an op on chains that fit the cache.

#include "cutback/Transforms/CommonSubexpressions.h"

#include "cutback/Support/FlatIndex.h"
#include "cutback/Support/MLIR/OpAccess.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ull + (hash >> 29);
}

uint64_t mix(uint64_t hash, const void *pointer) {
  return mix(hash, reinterpret_cast<uintptr_t>(pointer));
}

/// How to compare the inherent attributes of one kind of op.
struct Kind {
  /// The kind has an attribute `names` that counts: compare the others one by
  /// one.
  bool hasNames = false;
  SmallVector<StringAttr, 4> attributes;
};

class Merger {
public:
  Merger(Block &block, llvm::function_ref<bool(Operation *)> isAsked)
      : block(block), isAsked(isAsked),
        namesId(StringAttr::get(block.getParentOp()->getContext(), "names")) {}

  uint64_t run() {
    uint64_t merged = 0;
    for (Operation *op = block.empty() ? nullptr : &block.front(); op;) {
      Operation *next = op->getNextNode();
      prefetchOp(next); // seldom in the cache, in a large graph
      if (auto write = dyn_cast<WriteOp>(op))
        ++writes[write.getDestination()];
      else if (op->getNumResults() && !op->getNumRegions() &&
               (!isAsked || isAsked(op)))
        merged += visit(op);
      op = next;
    }
    return merged;
  }

private:
  struct Entry {
    Operation *op;
    uint32_t epochs;
  };

  const Kind &kindOf(Operation *op) {
    OperationName name = op->getName();
    auto [it, isNew] =
        kinds.try_emplace(name.getAsOpaquePointer(), kindList.size());
    if (!isNew)
      return kindList[it->second];
    Kind &kind = kindList.emplace_back();
    if (name.isRegistered() && !name.hasTrait<NamesDoNotCount>())
      for (StringAttr attribute : name.getAttributeNames()) {
        if (attribute.getValue() == "names")
          kind.hasNames = true;
        else
          kind.attributes.push_back(attribute);
      }
    return kind;
  }

  uint64_t hashOf(Operation *op, const Kind &kind) {
    uint64_t hash = mix(0, op->getName().getAsOpaquePointer());
    for (Value operand : op->getOperands())
      hash = mix(hash, operand.getAsOpaquePointer());
    hash = mix(hash, discardable(op).getAsOpaquePointer());
    if (!kind.hasNames)
      return mix(hash, uint64_t(op->hashProperties()));
    for (StringAttr name : kind.attributes)
      hash = mix(hash, inherent(op, name).getAsOpaquePointer());
    return hash;
  }

  /// The attributes that any op may have, without the names of its results.
  DictionaryAttr discardable(Operation *op) const {
    DictionaryAttr all = op->getRawDictionaryAttrs();
    if (all.empty() || !all.contains(namesId))
      return all;
    NamedAttrList others(all);
    others.erase(namesId);
    return others.getDictionary(op->getContext());
  }

  static Attribute inherent(Operation *op, StringAttr name) {
    return op->getName()
        .getInherentAttr(op, name.getValue())
        .value_or(Attribute());
  }

  bool areEqual(Operation *a, Operation *b, const Kind &kind) {
    if (a->getName() != b->getName() ||
        a->getNumOperands() != b->getNumOperands() ||
        a->getOperands() != b->getOperands() ||
        a->getResultTypes() != b->getResultTypes() ||
        discardable(a) != discardable(b))
      return false;
    if (!kind.hasNames)
      return a->getName().compareOpProperties(a->getPropertiesStorage(),
                                              b->getPropertiesStorage());
    for (StringAttr name : kind.attributes)
      if (inherent(a, name) != inherent(b, name))
        return false;
    return true;
  }

  static bool mayMerge(Operation *op) {
    if (auto model = dyn_cast<RematerializableOpInterface>(op))
      return model.isRecomputable() && !model.isRandom() &&
             !model.hasOrderedEffects();
    return isPure(op);
  }

  bool visit(Operation *op) {
    const Kind &kind = kindOf(op);
    uint64_t hash = hashOf(op, kind);
    uint32_t epochs = writes.empty() ? 0 : epochsOf(op);
    uint32_t known = index.find(hash, [&](uint32_t i) {
      return entries[i].epochs == epochs && areEqual(entries[i].op, op, kind) &&
             mayMerge(op) && !bothReturned(entries[i].op, op);
    });
    if (known == FlatIndex::kNone) {
      index.insert(hash, entries.size());
      entries.push_back({op, epochs});
      return false;
    }
    Operation *kept = entries[known].op;
    // Values behind it may know one of its results as their base.
    if (!bases.empty())
      for (auto [gone, stays] : llvm::zip(op->getResults(), kept->getResults()))
        replacedBy[gone] = stays;
    op->replaceAllUsesWith(kept);
    op->erase();
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Storages
  //===--------------------------------------------------------------------===//

  /// What stands for `value` today; looks at no op that may be erased.
  Value stillThere(Value value) const {
    for (auto it = replacedBy.find(value); it != replacedBy.end();
         it = replacedBy.find(value))
      value = it->second;
    return value;
  }

  /// The value whose storage `value` lies in, as far as ops say it. The answer
  /// is kept for everything on the way, so that long chains of views stay
  /// cheap.
  Value baseOf(Value value) {
    SmallVector<Value, 8> passed;
    while (auto result = dyn_cast<OpResult>(value)) {
      auto known = bases.find(value);
      if (known != bases.end()) {
        value = stillThere(known->second);
        break;
      }
      passed.push_back(value);
      auto model = dyn_cast<RematerializableOpInterface>(result.getOwner());
      int64_t operand =
          model ? model.getAliasedOperand(result.getResultNumber()) : -1;
      if (operand < 0)
        break;
      value = result.getOwner()->getOperand(operand);
    }
    for (Value seen : passed)
      bases[seen] = value;
    return value;
  }

  /// The function returns storages of `kept` and of `merged`. The set of
  /// returned storages is made when it is first asked for; merging moves uses
  /// to ops that are in it if and only if the question was answered no.
  bool bothReturned(Operation *kept, Operation *merged) {
    if (!knowsReturned) {
      knowsReturned = true;
      if (block.back().hasTrait<OpTrait::IsTerminator>())
        for (Value value : block.back().getOperands())
          if (Operation *op = baseOf(value).getDefiningOp())
            returned.insert(op);
    }
    if (returned.empty())
      return false;
    // Views of one value share its storage already.
    auto isReturned = [&](Operation *op) {
      return llvm::any_of(op->getResults(), [&](Value value) {
        return returned.contains(op) && baseOf(value) == value;
      });
    };
    if (!isReturned(merged))
      return false;
    if (isReturned(kept))
      return true;
    returned.insert(kept);
    return false;
  }

  /// Writes so far to the arguments that the operands are, or are views of.
  /// Of two ops with equal operands the later one has the larger sum if any of
  /// the arguments was written between them.
  uint32_t epochsOf(Operation *op) {
    uint32_t epochs = 0;
    for (Value operand : op->getOperands())
      if (Value base = baseOf(operand); isa<BlockArgument>(base))
        epochs += writes.lookup(base);
    return epochs;
  }

  Block &block;
  llvm::function_ref<bool(Operation *)> isAsked;
  StringAttr namesId;
  FlatIndex index{2048};
  std::vector<Entry> entries;
  llvm::DenseMap<void *, uint32_t> kinds;
  std::vector<Kind> kindList;
  bool knowsReturned = false;
  llvm::DenseSet<Operation *> returned;
  llvm::DenseMap<Value, Value> bases;      ///< what `baseOf` has found
  llvm::DenseMap<Value, Value> replacedBy; ///< results of erased ops
  llvm::DenseMap<Value, unsigned> writes;  ///< by argument
};

} // namespace

uint64_t cutback::eliminateCommonSubexpressions(
    Block &block, llvm::function_ref<bool(Operation *)> isAsked) {
  return Merger(block, isAsked).run();
}

uint64_t cutback::eliminateCommonSubexpressions(GraphOp graph) {
  return eliminateCommonSubexpressions(graph.getBlock());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of values. A graph whose types are all static needs a look at each
// type once (types are uniqued, so a small cache serves a whole graph). A graph
// with `?` is evaluated under the size hints: arguments get the shape that
// `joint.dims` gives them, and each op is asked for the shapes and the integers
// that follow (SizeEvaluationOpInterface). What an op cannot say keeps `?` and
// counts a fixed number of elements. Linear.

#include "cutback/Analysis/ValueSizes.h"

#include "cutback/Analysis/SizeEvaluation.h"
#include "cutback/Support/MLIR/TensorBytes.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

struct TypeFacts {
  int64_t bytes = 0;
  ValueKind kind = ValueKind::Other;
  bool unknown = false;
  bool overflow = false;
};

TypeFacts factsOf(Type type) {
  TypeFacts facts;
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped) {
    facts.kind = type.isIndex()         ? ValueKind::Size
                 : type.isInteger(1)    ? ValueKind::Bool
                 : isa<FloatType>(type) ? ValueKind::Float
                                        : ValueKind::Other;
    facts.bytes = facts.kind == ValueKind::Other ? 0 : 8;
    return facts;
  }
  facts.kind = ValueKind::Tensor;
  facts.unknown = !shaped.hasStaticShape();
  std::optional<int64_t> bytes = tensorBytes(shaped);
  if (facts.unknown)
    bytes =
        ValueSizes::fallbackElements * elementBytes(shaped.getElementType());
  facts.overflow = !bytes;
  facts.bytes = bytes.value_or(0);
  return facts;
}

class Evaluation {
public:
  Evaluation(const GraphView &view, const llvm::StringMap<int64_t> &overrides)
      : view(view), sizes(view.graph, overrides) {}

  LogicalResult run(ValueSizes &result) {
    if (failed(sizes.checkOverrides()))
      return failure();
    result.type = view.types;
    if (!areStatic())
      evaluate(result.type, result.number);
    return success();
  }

private:
  /// Types of neighbours are mostly the same.
  bool areStatic() const {
    Type last;
    for (Type type : view.types) {
      if (type == last)
        continue;
      last = type;
      if (auto ranked = dyn_cast<RankedTensorType>(type)) {
        if (!ranked.hasStaticShape())
          return false;
        continue;
      }
      auto shaped = dyn_cast<ShapedType>(type);
      if (shaped && !(shaped.hasRank() && shaped.hasStaticShape()))
        return false;
    }
    return true;
  }

  void evaluateArguments(std::vector<Type> &types, std::vector<int64_t> &ints) {
    GraphOp graph = view.graph;
    for (uint32_t arg = 0; arg < view.numArgs; ++arg) {
      auto dims = graph.getArgAttrOfType<ArrayAttr>(arg, JointDialect::kDims);
      types[arg] = sizes.withDims(types[arg], dims);
      if (types[arg].isIndex() && dims && dims.size() == 1)
        ints[arg] = sizes.evaluate(dims[0]);
    }
  }

  void evaluateOp(uint32_t op, MutableArrayRef<Type> types,
                  MutableArrayRef<int64_t> ints) {
    if (SizeEvaluation::isDeclared(view.ops[op]))
      return;
    operandTypes.clear();
    operandInts.clear();
    for (uint32_t value : view.operands(op)) {
      operandTypes.push_back(types[value]);
      operandInts.push_back(ints[value]);
    }
    uint32_t begin = view.resultBegin[op], count = view.numResults(op);
    sizes.evaluateOp(view.ops[op], operandTypes, operandInts,
                     types.slice(begin, count), ints.slice(begin, count));
  }

  void evaluate(std::vector<Type> &types, std::vector<int64_t> &ints) {
    ints.assign(view.numValues(), ShapedType::kDynamic);
    evaluateArguments(types, ints);
    for (uint32_t op = 0; op < view.numOps(); ++op)
      evaluateOp(op, types, ints);
  }

  const GraphView &view;
  SizeEvaluation sizes;
  SmallVector<Type> operandTypes;
  SmallVector<int64_t> operandInts;
};

} // namespace

/// Bytes and kinds of `sizes.type`.
static void fillFromTypes(ValueSizes &sizes) {
  uint32_t n = sizes.type.size();
  sizes.bytes.resize(n);
  sizes.unknown.resize(n);
  sizes.kind.resize(n);
  llvm::DenseMap<Type, TypeFacts> cache;
  Type lastType;
  TypeFacts last;
  for (uint32_t value = 0; value < n; ++value) {
    if (sizes.type[value] != lastType) {
      lastType = sizes.type[value];
      auto [it, isNew] = cache.try_emplace(lastType);
      if (isNew)
        it->second = factsOf(lastType);
      last = it->second;
    }
    if (last.overflow)
      sizes.tooLarge.push_back(value);
    sizes.bytes[value] = last.overflow ? 0 : last.bytes;
    sizes.unknown[value] = last.unknown;
    sizes.kind[value] = last.kind;
  }
}

/// Literals take no memory, but for those that the graph returns.
static void dropLiterals(const GraphView &view, ValueSizes &sizes) {
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (view.traits[op].literal)
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        if (!llvm::is_contained(view.users(r), view.numOps()))
          sizes.bytes[r] = 0;
}

FailureOr<ValueSizes>
ValueSizes::computeAll(const GraphView &view,
                       const llvm::StringMap<int64_t> &symbols) {
  ValueSizes sizes;
  if (failed(Evaluation(view, symbols).run(sizes)))
    return failure();
  fillFromTypes(sizes);
  dropLiterals(view, sizes);
  sizes.storage = view.findStorages();
  return sizes;
}

FailureOr<ValueSizes>
ValueSizes::compute(const GraphView &view,
                    const llvm::StringMap<int64_t> &symbols) {
  FailureOr<ValueSizes> sizes = computeAll(view, symbols);
  if (failed(sizes) || failed(sizes->checkSizes(view)))
    return failure();
  return sizes;
}

LogicalResult ValueSizes::checkSizes(const GraphView &view) const {
  if (tooLarge.empty())
    return success();
  uint32_t value = tooLarge.front();
  return mlir::emitError(view.values[value].getLoc())
         << "size of '" << view.name(value) << "' of type " << type[value]
         << " does not fit 64 bits";
}

void ValueSizes::renumber(const Renumbering &renumbering) {
  const std::vector<uint32_t> &newValue = renumbering.newValue;
  const std::vector<uint32_t> &oldValue = renumbering.oldValue;
  // New numbers are not larger than old ones, so all moves are in place.
  for (uint32_t now = 0; now < oldValue.size(); ++now) {
    uint32_t old = oldValue[now];
    bytes[now] = bytes[old];
    unknown[now] = unknown[old];
    kind[now] = kind[old];
    type[now] = type[old];
    if (!number.empty())
      number[now] = number[old];
    // The base may have been merged with a value that is a view itself.
    uint32_t base = newValue[storage[old]];
    storage[now] = base < now ? storage[base] : now;
  }
  size_t n = oldValue.size();
  bytes.resize(n);
  unknown.resize(n);
  kind.resize(n);
  type.resize(n);
  number.resize(number.empty() ? 0 : n);
  storage.resize(n);
  std::vector<uint32_t> stillTooLarge;
  for (uint32_t old : tooLarge)
    if (newValue[old] != GraphView::kNone && oldValue[newValue[old]] == old)
      stillTooLarge.push_back(newValue[old]);
  tooLarge = std::move(stillTooLarge);
}

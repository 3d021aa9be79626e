// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of values. A graph whose types are all static needs a look at each
// type once (types are uniqued, so a small cache serves a whole graph). A graph
// with `?` is evaluated under the size hints: arguments get the shape that
// `joint.dims` gives them, and each op is asked for the shapes and the integers
// that follow (SizeEvaluationOpInterface). What an op cannot say keeps `?` and
// counts a fixed number of elements. Storages are followed through the operand
// that a result aliases. Linear.

#include "cutback/Analysis/ValueSizes.h"

#include "cutback/Support/SizeExpr.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

/// Item size in bytes; 0 for types without one.
int64_t itemBytes(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * itemBytes(complex.getElementType());
  if (element.isIndex())
    return 8;
  return element.isIntOrFloat()
             ? (static_cast<int64_t>(element.getIntOrFloatBitWidth()) + 7) / 8
             : 0;
}

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
  int64_t elements = 1;
  if (facts.unknown)
    elements = ValueSizes::fallbackElements;
  else
    for (int64_t dim : shaped.getShape())
      facts.overflow |= __builtin_mul_overflow(elements, dim, &elements);
  facts.overflow |= __builtin_mul_overflow(
      elements, itemBytes(shaped.getElementType()), &facts.bytes);
  return facts;
}

class Evaluation {
public:
  Evaluation(const GraphView &view, const llvm::StringMap<int64_t> &overrides)
      : view(view), overrides(overrides) {}

  LogicalResult run(ValueSizes &sizes) {
    if (failed(checkOverrides()))
      return failure();
    sizes.type.reserve(view.numValues());
    bool isStatic = true;
    for (Value value : view.values) {
      Type type = value.getType();
      sizes.type.push_back(type);
      auto shaped = dyn_cast<ShapedType>(type);
      isStatic &= !shaped || (shaped.hasRank() && shaped.hasStaticShape());
    }
    if (!isStatic)
      evaluate(sizes.type);
    return success();
  }

private:
  LogicalResult checkOverrides() {
    GraphOp graph = view.graph;
    DictionaryAttr symbols = graph.getSymbolsAttr();
    SmallVector<StringRef> unknown;
    for (const auto &entry : overrides)
      if (!symbols || !symbols.get(entry.getKey()))
        unknown.push_back(entry.getKey());
    if (unknown.empty())
      return success();
    llvm::sort(unknown);
    auto diag = graph.emitOpError("has no symbol '") << unknown.front() << "'";
    std::string known;
    if (symbols)
      for (NamedAttribute attr : symbols)
        known += (known.empty() ? "" : ", ") + attr.getName().str();
    diag.attachNote() << (known.empty() ? "all its sizes are static"
                                        : "its symbols are " + known);
    return failure();
  }

  std::optional<int64_t> symbolValue(std::string_view name) {
    StringRef key(name.data(), name.size());
    if (auto it = overrides.find(key); it != overrides.end())
      return it->getValue();
    GraphOp graph = view.graph;
    DictionaryAttr symbols = graph.getSymbolsAttr();
    auto symbol =
        symbols ? dyn_cast_or_null<SymbolAttr>(symbols.get(key)) : SymbolAttr();
    return symbol ? symbol.getHint() : std::nullopt;
  }

  int64_t evaluateText(Attribute text) {
    auto string = dyn_cast<StringAttr>(text);
    if (!string)
      return ShapedType::kDynamic;
    std::optional<int64_t> value = evaluateSizeExpr(
        string.getValue(), [&](std::string_view n) { return symbolValue(n); });
    return value && *value >= 0 ? *value : ShapedType::kDynamic;
  }

  /// `type` with the dimensions that `dims` gives.
  Type withDims(Type type, ArrayAttr dims) {
    auto shaped = dyn_cast<RankedTensorType>(type);
    if (!shaped || !dims ||
        dims.size() != static_cast<size_t>(shaped.getRank()))
      return type;
    SmallVector<int64_t> shape(shaped.getShape());
    for (auto [dim, text] : llvm::zip(shape, dims))
      if (ShapedType::isDynamic(dim))
        dim = evaluateText(text);
    return shaped.clone(shape);
  }

  void evaluateArguments(std::vector<Type> &types, std::vector<int64_t> &ints) {
    GraphOp graph = view.graph;
    for (uint32_t arg = 0; arg < view.numArgs; ++arg) {
      auto dims = graph.getArgAttrOfType<ArrayAttr>(arg, JointDialect::kDims);
      types[arg] = withDims(types[arg], dims);
      if (types[arg].isIndex() && dims && dims.size() == 1)
        ints[arg] = evaluateText(dims[0]);
    }
  }

  /// All results are tensors whose declared sizes are numbers.
  bool isDeclared(uint32_t op) const {
    for (Value result : view.ops[op]->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType());
          !type || !type.hasStaticShape())
        return false;
    return true;
  }

  void evaluateOp(uint32_t op, std::vector<Type> &types,
                  std::vector<int64_t> &ints) {
    if (isDeclared(op))
      return;
    operandTypes.clear();
    operandInts.clear();
    resultTypes.clear();
    resultInts.clear();
    for (uint32_t value : view.operands(op)) {
      operandTypes.push_back(types[value]);
      operandInts.push_back(ints[value]);
    }
    uint32_t begin = view.resultBegin[op], count = view.numResults(op);
    auto model = dyn_cast<SizeEvaluationOpInterface>(view.ops[op]);
    if (model &&
        model.evaluateSizes(operandTypes, operandInts, resultTypes,
                            resultInts) &&
        resultTypes.size() == count && resultInts.size() == count)
      for (uint32_t r = 0; r < count; ++r) {
        types[begin + r] = refine(types[begin + r], resultTypes[r]);
        ints[begin + r] = resultInts[r];
      }
    auto dims = dyn_cast_or_null<ArrayAttr>(
        view.ops[op]->getDiscardableAttr(JointDialect::kDims));
    if (!dims)
      return;
    // One list for one result, a list of lists (or unit) for several.
    if (count == 1 && (dims.empty() || isa<StringAttr>(dims[0])))
      types[begin] = withDims(types[begin], dims);
    else if (dims.size() == count)
      for (uint32_t r = 0; r < count; ++r)
        types[begin + r] =
            withDims(types[begin + r], dyn_cast<ArrayAttr>(dims[r]));
  }

  /// The declared type with what the evaluation knows better.
  static Type refine(Type declared, Type evaluated) {
    auto a = dyn_cast<RankedTensorType>(declared);
    auto b = dyn_cast<RankedTensorType>(evaluated);
    if (!a || !b || a.hasStaticShape() || a.getRank() != b.getRank())
      return declared;
    SmallVector<int64_t> shape(a.getShape());
    for (auto [dim, known] : llvm::zip(shape, b.getShape()))
      if (ShapedType::isDynamic(dim))
        dim = known;
    return a.clone(shape);
  }

  void evaluate(std::vector<Type> &types) {
    std::vector<int64_t> ints(view.numValues(), ShapedType::kDynamic);
    evaluateArguments(types, ints);
    for (uint32_t op = 0; op < view.numOps(); ++op)
      evaluateOp(op, types, ints);
  }

  const GraphView &view;
  const llvm::StringMap<int64_t> &overrides;
  SmallVector<Type> operandTypes, resultTypes;
  SmallVector<int64_t> operandInts, resultInts;
};

void followStorages(const GraphView &view, std::vector<uint32_t> &storage) {
  storage.resize(view.numValues());
  for (uint32_t value = 0; value < view.numValues(); ++value) {
    storage[value] = value;
    uint32_t def = view.definer[value];
    if (def == GraphView::kNone)
      continue;
    // A view flag on the first result is the only cheap hint there is; ops
    // with several views (split) alias in all results.
    if (!view.traits[def].view && view.numResults(def) == 1)
      continue;
    auto remat = dyn_cast<RematerializableOpInterface>(view.ops[def]);
    if (!remat)
      continue;
    int64_t operand = remat.getAliasedOperand(value - view.resultBegin[def]);
    ArrayRef<uint32_t> operands = view.operands(def);
    if (operand >= 0 && operand < static_cast<int64_t>(operands.size()))
      storage[value] = storage[operands[operand]];
  }
}

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

FailureOr<ValueSizes>
ValueSizes::computeAll(const GraphView &view,
                       const llvm::StringMap<int64_t> &symbols) {
  ValueSizes sizes;
  if (failed(Evaluation(view, symbols).run(sizes)))
    return failure();
  fillFromTypes(sizes);
  followStorages(view, sizes.storage);
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
    // The base may have been merged with a value that is a view itself.
    uint32_t base = newValue[storage[old]];
    storage[now] = base < now ? storage[base] : now;
  }
  size_t n = oldValue.size();
  bytes.resize(n);
  unknown.resize(n);
  kind.resize(n);
  type.resize(n);
  storage.resize(n);
  std::vector<uint32_t> stillTooLarge;
  for (uint32_t old : tooLarge)
    if (newValue[old] != GraphView::kNone && oldValue[newValue[old]] == old)
      stillTooLarge.push_back(newValue[old]);
  tooLarge = std::move(stillTooLarge);
}

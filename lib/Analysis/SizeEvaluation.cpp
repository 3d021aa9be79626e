// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One place that turns `?` into numbers: for whole graphs (ValueSizes) and for
// functions that were made from one (the memory plan). A dimension is known
// from `joint.dims` and the values of symbols, or from the op itself
// (SizeEvaluationOpInterface, else what MLIR knows of it); what nobody knows
// stays `?`.

#include "cutback/Analysis/SizeEvaluation.h"

#include "cutback/Analysis/SizeFallback.h"
#include "cutback/Support/SizeExpr.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

LogicalResult SizeEvaluation::checkOverrides() const {
  GraphOp op = graph;
  DictionaryAttr symbols = op ? op.getSymbolsAttr() : DictionaryAttr();
  SmallVector<StringRef> unknown;
  for (const auto &entry : overrides)
    if (op && (!symbols || !symbols.get(entry.getKey())))
      unknown.push_back(entry.getKey());
  if (unknown.empty())
    return success();
  llvm::sort(unknown);
  auto diag = op.emitOpError("has no symbol '") << unknown.front() << "'";
  std::string known;
  if (symbols)
    for (NamedAttribute attr : symbols)
      known += (known.empty() ? "" : ", ") + attr.getName().str();
  diag.attachNote() << (known.empty() ? "all its sizes are static"
                                      : "its symbols are " + known);
  return failure();
}

std::optional<int64_t>
SizeEvaluation::symbolValue(std::string_view name) const {
  StringRef key(name.data(), name.size());
  if (auto it = overrides.find(key); it != overrides.end())
    return it->getValue();
  GraphOp op = graph;
  DictionaryAttr symbols = op ? op.getSymbolsAttr() : DictionaryAttr();
  auto symbol =
      symbols ? dyn_cast_or_null<SymbolAttr>(symbols.get(key)) : SymbolAttr();
  return symbol ? symbol.getHint() : std::nullopt;
}

int64_t SizeEvaluation::evaluate(Attribute text) const {
  auto string = dyn_cast<StringAttr>(text);
  if (!string)
    return ShapedType::kDynamic;
  std::optional<int64_t> value = evaluateSizeExpr(
      string.getValue(), [&](std::string_view n) { return symbolValue(n); });
  return value && *value >= 0 ? *value : ShapedType::kDynamic;
}

Type SizeEvaluation::withDims(Type type, ArrayAttr dims) const {
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped || !dims || dims.size() != static_cast<size_t>(shaped.getRank()))
    return type;
  SmallVector<int64_t> shape(shaped.getShape());
  for (auto [dim, text] : llvm::zip(shape, dims))
    if (ShapedType::isDynamic(dim))
      dim = evaluate(text);
  return shaped.clone(shape);
}

bool SizeEvaluation::isDeclared(Operation *op) {
  for (Value result : op->getResults())
    if (auto type = dyn_cast<RankedTensorType>(result.getType());
        !type || !type.hasStaticShape())
      return false;
  return true;
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

void SizeEvaluation::evaluateOp(Operation *op, ArrayRef<Type> operandTypes,
                                ArrayRef<int64_t> operandInts,
                                MutableArrayRef<Type> types,
                                MutableArrayRef<int64_t> ints) {
  if (isDeclared(op))
    return;
  resultTypes.clear();
  resultInts.clear();
  uint32_t count = op->getNumResults();
  bool isEvaluated = true;
  if (auto model = dyn_cast<SizeEvaluationOpInterface>(op))
    isEvaluated =
        model.evaluateSizes(operandTypes, operandInts, resultTypes, resultInts);
  else
    inferSizes(op, operandTypes, resultTypes, resultInts);
  if (isEvaluated && resultTypes.size() == count && resultInts.size() == count)
    for (uint32_t r = 0; r < count; ++r) {
      types[r] = refine(types[r], resultTypes[r]);
      ints[r] = resultInts[r];
    }
  auto dims =
      dyn_cast_or_null<ArrayAttr>(op->getDiscardableAttr(JointDialect::kDims));
  if (!dims)
    return;
  // One list for one result, a list of lists (or unit) for several.
  if (count == 1 && (dims.empty() || isa<StringAttr>(dims[0])))
    types[0] = withDims(types[0], dims);
  else if (dims.size() == count)
    for (uint32_t r = 0; r < count; ++r)
      types[r] = withDims(types[r], dyn_cast<ArrayAttr>(dims[r]));
}

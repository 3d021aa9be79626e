// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph keeps the sizes of its arguments as expressions of symbols, and of
// the results as what follows from an op. So the symbols of a result are found
// by trying: the graph is evaluated under some values of its symbols, then
// under others for one symbol at a time, and what changes depends on it. A
// second try keeps sizes that are equal by chance from being missed.
//
// Symbols without a hint stand for what only a run tells (`u0`, the result of
// `item()`). Bounds of these are what the asserts of a text say. Linear.

#include "cutback/Analysis/SymbolUses.h"

#include "cutback/Support/SizeExpr.h"

#include "llvm/ADT/StringSet.h"

#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// The symbol that an argument of type index is the value of, or nothing.
static StringRef symbolOf(const GraphView &view, uint32_t arg) {
  GraphOp graph = view.graph;
  auto dims = graph.getArgAttrOfType<ArrayAttr>(arg, JointDialect::kDims);
  if (!view.types[arg].isIndex() || !dims || dims.size() != 1)
    return {};
  auto text = dyn_cast<StringAttr>(dims[0]);
  if (!text)
    return {};
  std::vector<std::string> symbols = sizeExprSymbols(text.getValue());
  bool isSymbol = symbols.size() == 1 && symbols[0] == text.getValue();
  return isSymbol ? text.getValue() : StringRef();
}

/// Do two evaluations of a value contradict each other?
static bool differ(const ValueSizes &a, const ValueSizes &b, uint32_t value) {
  if (a.kind[value] == ValueKind::Size)
    // Where all tensors are static, numbers are not evaluated.
    return !a.number.empty() && !b.number.empty() &&
           a.number[value] != b.number[value] &&
           !ShapedType::isDynamic(a.number[value]) &&
           !ShapedType::isDynamic(b.number[value]);
  auto left = dyn_cast<RankedTensorType>(a.type[value]);
  auto right = dyn_cast<RankedTensorType>(b.type[value]);
  if (!left || !right || left == right || left.getRank() != right.getRank())
    return false;
  for (auto [l, r] : llvm::zip(left.getShape(), right.getShape()))
    if (l != r && !ShapedType::isDynamic(l) && !ShapedType::isDynamic(r))
      return true;
  return false;
}

/// A number that is computed depends on what its operands do: of most only the
/// expression is known, not the value.
static void followNumbers(const GraphView &view, const ValueSizes &sizes,
                          std::vector<uint8_t> &uses) {
  for (uint32_t op = 0; op < view.numOps(); ++op)
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (sizes.isScalar(r))
        for (uint32_t value : view.operands(op))
          uses[r] |= sizes.isScalar(value) && uses[value];
}

SymbolUses SymbolUses::find(const GraphView &view) {
  SymbolUses found;
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    if (StringRef name = symbolOf(view, arg);
        !name.empty() && !llvm::is_contained(found.names, name))
      found.names.push_back(name.str());
  GraphOp graph = view.graph;
  if (found.names.empty() || !graph.getSymbolsAttr())
    return SymbolUses();

  llvm::StringMap<int64_t> values;
  int64_t next = 24;
  for (NamedAttribute attr : graph.getSymbolsAttr()) {
    auto symbol = dyn_cast<SymbolAttr>(attr.getValue());
    std::optional<int64_t> hint = symbol ? symbol.getHint() : std::nullopt;
    values[attr.getName()] = hint.value_or(next++);
  }
  FailureOr<ValueSizes> base = ValueSizes::computeAll(view, values);
  if (failed(base))
    return SymbolUses();
  for (const std::string &name : found.names) {
    std::vector<uint8_t> &uses = found.uses.emplace_back(view.numValues(), 0);
    for (int64_t other : {values[name] * 3 + 12, values[name] + 1}) {
      llvm::StringMap<int64_t> tried = values;
      tried[name] = other;
      FailureOr<ValueSizes> sizes = ValueSizes::computeAll(view, tried);
      for (uint32_t value = 0; succeeded(sizes) && value < view.numValues();
           ++value)
        uses[value] |= differ(*base, *sizes, value);
    }
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      uses[arg] |= symbolOf(view, arg) == name;
    followNumbers(view, *base, uses);
  }
  return found;
}

/// Brings `value` into the bound "SYMBOL OP NUMBER", if `text` is one.
static void applyBound(StringRef text, llvm::StringMap<int64_t> &values) {
  SmallVector<StringRef, 3> words;
  text.split(words, ' ', -1, false);
  int64_t number;
  if (words.size() != 3 || words[2].getAsInteger(10, number))
    return;
  auto it = values.find(words[0]);
  if (it == values.end())
    return;
  int64_t &value = it->second;
  if (words[1] == "<=")
    value = std::min(value, number);
  else if (words[1] == "<" && number > std::numeric_limits<int64_t>::min())
    value = std::min(value, number - 1);
  else if (words[1] == ">=")
    value = std::max(value, number);
  else if (words[1] == ">" && number < std::numeric_limits<int64_t>::max())
    value = std::max(value, number + 1);
}

DictionaryAttr cutback::argumentSymbols(GraphOp graph) {
  llvm::StringSet<> said;
  for (unsigned i = 0; i < graph.getNumArguments(); ++i)
    if (auto dims = graph.getArgAttrOfType<ArrayAttr>(i, JointDialect::kDims))
      for (auto text : dims.getAsRange<StringAttr>())
        for (const std::string &name : sizeExprSymbols(text.getValue()))
          said.insert(name);
  SmallVector<NamedAttribute> symbols;
  if (DictionaryAttr all = graph.getSymbolsAttr())
    llvm::copy_if(all, std::back_inserter(symbols), [&](NamedAttribute symbol) {
      return said.contains(symbol.getName());
    });
  return DictionaryAttr::get(graph.getContext(), symbols);
}

llvm::StringMap<int64_t> cutback::assumeSymbols(const GraphView &view,
                                                int64_t fallback) {
  llvm::StringMap<int64_t> values;
  GraphOp graph = view.graph;
  if (!graph.getSymbolsAttr())
    return values;
  for (NamedAttribute attr : graph.getSymbolsAttr())
    if (auto symbol = dyn_cast<SymbolAttr>(attr.getValue());
        symbol && !symbol.getHint())
      values[attr.getName()] = fallback;
  if (values.empty())
    return values;
  for (Operation *op : view.ops) {
    auto check = dyn_cast<AssertOp>(op);
    Operation *condition =
        check ? check->getOperand(0).getDefiningOp() : nullptr;
    auto dims = condition
                    ? dyn_cast_or_null<ArrayAttr>(
                          condition->getDiscardableAttr(JointDialect::kDims))
                    : ArrayAttr();
    if (dims && dims.size() == 1)
      if (auto text = dyn_cast<StringAttr>(dims[0]))
        applyBound(text.getValue(), values);
  }
  for (auto &entry : values)
    entry.second = std::max<int64_t>(entry.second, 0);
  return values;
}

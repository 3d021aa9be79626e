// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compiler does to a joint graph between its log and its halves, as
// equalities of classes. On classes, and not on the text of each function: a
// half that takes a view for a saved value has only the rest of a chain of
// views.
//
//   * Views that cancel each other. What a view does is asked of its dialect
//     (viewLayout). A chain of views is the identity if it maps the layout of
//     its base to itself. Strides of values are not known here, so two bases
//     are tried, one with rows behind each other and one with columns:
//     `as_strided`, which sets strides whatever they were, can agree with one
//     of them at most. A view of a tensor that is not contiguous may be
//     refused there, and then stays. An argument that is written later is
//     left alone: a view reads it before.
//   * Constants that are one number everywhere, `full` and `scalar_tensor` and
//     `zeros`, copies, casts and views of them: one class for each type, number
//     and device.
//   * Patterns (CertificatePatterns.cpp).
//
// Only for halves of others (HalvesSignature::isRewritten).

#include "CertificateClasses.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::certificate;

/// Views in a row that are looked at.
static constexpr unsigned kMaxChain = 4;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The number of the operand that `op`, a view without effects, looks at; -1
/// for any other op.
static int64_t viewedOperand(Operation *op) {
  if (op->getNumResults() != 1)
    return -1;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto model = dyn_cast<RematerializableOpInterface>(op);
  if (!type || !type.hasStaticShape() || !model || model.hasOrderedEffects())
    return -1;
  int64_t operand = model.getAliasedOperand(0);
  return operand == getViewedOperand(op, 0) ? operand : -1;
}

/// The layout of a tensor whose columns lie behind each other.
static Layout byColumns(ArrayRef<int64_t> sizes) {
  Layout layout = Layout::contiguous(sizes);
  int64_t stride = 1;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    layout.strides[i] = stride;
    stride *= std::max<int64_t>(size, 1);
  }
  return layout;
}

/// Whether `chain`, the last view first, maps `base` to itself.
static bool keeps(ArrayRef<Operation *> chain, const Layout &base) {
  Layout layout = base;
  for (Operation *op : llvm::reverse(chain)) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    std::optional<Layout> next =
        viewLayout(op, 0, layout, type.getShape(), /*operandInts=*/{});
    if (!next)
      return false;
    layout = std::move(*next);
  }
  if (layout.sizes != base.sizes)
    return false;
  // Nobody goes along a dimension of one element.
  for (auto [size, stride, was] :
       llvm::zip_equal(base.sizes, layout.strides, base.strides))
    if (size > 1 && stride != was)
      return false;
  return layout.offset == base.offset;
}

Type ClassTable::typeOf(uint32_t valueClass) {
  if (owner[valueClass] == kNone)
    return graph.getBody().getArgument(valueClass).getType();
  const OpClass &entry = classes[owner[valueClass]];
  return entry.op->getResult(valueClass - entry.firstValue).getType();
}

/// The class under the view `op`, of class `opClass`, that it shows as it is;
/// kNone if there is none.
uint32_t ClassTable::shownBy(Operation *op, uint32_t opClass) {
  SmallVector<Operation *, kMaxChain> chain;
  Type type = op->getResult(0).getType();
  int64_t operand = viewedOperand(op);
  while (operand >= 0 && chain.size() < kMaxChain) {
    uint32_t base = operandsOf(opClass)[operand];
    if (base == kNone || isWritten(base))
      return kNone;
    chain.push_back(op);
    if (typeOf(base) == type) {
      ArrayRef<int64_t> sizes = cast<RankedTensorType>(type).getShape();
      if (keeps(chain, Layout::contiguous(sizes)) &&
          keeps(chain, byColumns(sizes)))
        return base;
    }
    opClass = owner[base];
    if (opClass == kNone)
      return kNone;
    op = classes[opClass].op;
    operand = viewedOperand(op);
  }
  return kNone;
}

/// Whether a class is an argument that the joint graph writes, before or after
/// a write. A half that writes another one is refused.
bool ClassTable::isWritten(uint32_t valueClass) {
  if (owner[valueClass] != kNone)
    return isa<WriteOp>(classes[owner[valueClass]].op);
  return llvm::any_of(
      graph.getBody().getArgument(valueClass).getUsers(), [&](Operation *user) {
        auto write = dyn_cast<WriteOp>(user);
        return write && write.getDestination() ==
                            graph.getBody().getArgument(valueClass);
      });
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The number that fills the result of `op`, whatever its sizes; null if it
/// is no such constant.
static Attribute filledWith(Operation *op) {
  auto call = dyn_cast<FrameworkCallOpInterface>(op);
  if (!call || op->getName().getDialectNamespace() != "aten")
    return {};
  Builder builder(op->getContext());
  // Of a parameter: its number; of none: -1 for zeros, -2 for ones.
  int number = llvm::StringSwitch<int>(op->getName().stripDialect())
                   .Case("scalar_tensor", 0)
                   .Cases({"full", "full_like"}, 1)
                   .Case("new_full", 2)
                   .Cases({"zeros", "zeros_like", "new_zeros"}, -1)
                   .Cases({"ones", "ones_like", "new_ones"}, -2)
                   .Default(-3);
  if (number < 0)
    return number == -3 ? Attribute() : builder.getI64IntegerAttr(-1 - number);
  ArrayAttr args = call.getCallArgs();
  return static_cast<size_t>(number) < args.size() ? args[number] : Attribute();
}

Attribute certificate::asElement(Attribute number, Type type) {
  auto integer = dyn_cast<IntegerAttr>(number);
  auto real = dyn_cast<FloatAttr>(number);
  if (auto element = dyn_cast<FloatType>(type)) {
    if (real)
      return FloatAttr::get(element, real.getValueAsDouble());
    if (!integer || integer.getType().isInteger(1))
      return {};
    return FloatAttr::get(element, static_cast<double>(integer.getInt()));
  }
  auto element = dyn_cast<IntegerType>(type);
  if (!element || !integer)
    return {};
  APInt value = integer.getValue();
  if (integer.getType().isInteger(1))
    value = value.zext(64);
  if (element.isInteger(1))
    return IntegerAttr::get(element, value.isZero() ? 0 : 1);
  return IntegerAttr::get(element, value.sextOrTrunc(element.getWidth()));
}

Attribute certificate::deviceOf(Operation *op) {
  auto call = dyn_cast<FrameworkCallOpInterface>(op);
  for (Attribute arg :
       call ? call.getCallArgs().getValue() : ArrayRef<Attribute>())
    if (auto text = dyn_cast<StringAttr>(arg);
        text && (text.getValue().starts_with("cpu") ||
                 text.getValue().starts_with("cuda")))
      return arg;
  return {};
}

/// The class of all constants that equal `op`, of class `opClass`; kNone if it
/// is none.
uint32_t ClassTable::constantLike(Operation *op, uint32_t opClass) {
  uint32_t own = classes[opClass].firstValue;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape())
    return kNone;
  Fill fill{Attribute(), Attribute()};
  int64_t operand = viewedOperand(op);
  // A copy and a cast of a constant is one.
  StringRef name = op->getName().stripDialect();
  if (name == "clone" || name == "lift_fresh_copy" ||
      name == "prims.convert_element_type")
    operand = 0;
  if (operand >= 0) {
    if (auto found = fills.find(operandsOf(opClass)[operand]);
        found != fills.end())
      fill = {asElement(found->second.first, type.getElementType()),
              found->second.second};
  } else if (Attribute number = filledWith(op)) {
    fill = {asElement(number, type.getElementType()), deviceOf(op)};
  }
  if (!fill.first)
    return kNone;
  auto [it, isNew] =
      constants.try_emplace({type, fill.first, fill.second}, own);
  if (isNew)
    fills[own] = fill;
  return it->second;
}

/// The value class that the only result of `op` has.
uint32_t ClassTable::rewritten(Operation *op, uint32_t opClass) {
  const OpClass &entry = classes[opClass];
  if (entry.conduct != Conduct::Pure || op->getNumResults() != 1)
    return entry.firstValue;
  uint32_t same = shownBy(op, opClass);
  if (same == kNone)
    same = constantLike(op, opClass);
  if (same == kNone)
    same = patternLike(op, opClass);
  return same == kNone ? entry.firstValue : same;
}

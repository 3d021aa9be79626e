// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More of what a compiler does to a joint graph between its log and its halves
// (CertificateRewrites.cpp): patterns that it has another form for.
//
//   * Copies, casts to the type that is there, casts by way of a type that
//     holds all numbers of the first; +0, -0, *1, /1 (but for the sign of a
//     zero); a choice that is the same everywhere.
//   * One number a line, scattered into a constant: a choice by the index.
//   * Draws of the framework's generator: functions of seeds that are drawn
//     together. Seed number n is for draw number n of the joint graph, of the
//     same kind; that draw must not run as well.
//   * The largest element of a line, taken off before a scale and not behind:
//     equal but for rounding, which is counted.
//
// Each is an equality of the values; what is no instance of one of them keeps
// a class of its own, and is refused where a result depends on it.

#include "CertificateClasses.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::certificate;

/// The op class that makes `valueClass`, if it is the call `name`; else kNone.
uint32_t ClassTable::callOf(uint32_t valueClass, StringRef name) const {
  if (valueClass == kNone || owner[valueClass] == kNone)
    return kNone;
  uint32_t opClass = owner[valueClass];
  OperationName called = classes[opClass].op->getName();
  return called.getDialectNamespace() == "aten" && called.stripDialect() == name
             ? opClass
             : kNone;
}

static ArrayAttr argsOf(Operation *op) {
  auto call = dyn_cast<FrameworkCallOpInterface>(op);
  return call ? call.getCallArgs() : ArrayAttr();
}

/// The number that argument `i` of a call is; nothing if it is none.
static std::optional<double> numberAt(Operation *op, unsigned i) {
  ArrayAttr args = argsOf(op);
  if (!args || i >= args.size())
    return std::nullopt;
  if (auto real = dyn_cast<FloatAttr>(args[i]))
    return real.getValueAsDouble();
  if (auto integer = dyn_cast<IntegerAttr>(args[i]))
    return static_cast<double>(integer.getInt());
  return std::nullopt;
}

static std::optional<int64_t> integerAt(Operation *op, unsigned i) {
  ArrayAttr args = argsOf(op);
  auto integer =
      args && i < args.size() ? dyn_cast<IntegerAttr>(args[i]) : IntegerAttr();
  return integer ? std::optional(integer.getInt()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// What changes nothing
//===----------------------------------------------------------------------===//

/// Whether each number of type `from` is one of type `to`.
static bool holdsAll(Type to, Type from) {
  auto wide = dyn_cast<FloatType>(to), narrow = dyn_cast<FloatType>(from);
  if (!wide || !narrow)
    return to == from;
  const llvm::fltSemantics &w = wide.getFloatSemantics();
  const llvm::fltSemantics &n = narrow.getFloatSemantics();
  return &w == &n ||
         (APFloat::semanticsPrecision(w) >= APFloat::semanticsPrecision(n) &&
          APFloat::semanticsMaxExponent(w) >=
              APFloat::semanticsMaxExponent(n) &&
          APFloat::semanticsMinExponent(w) + 1 -
                  static_cast<int>(APFloat::semanticsPrecision(w)) <=
              APFloat::semanticsMinExponent(n) + 1 -
                  static_cast<int>(APFloat::semanticsPrecision(n)));
}

/// Whether operand or number `i` of a call with two of them is `number`.
bool ClassTable::isEverywhere(uint32_t opClass, unsigned i, double number) {
  Operation *op = classes[opClass].op;
  if (std::optional<double> given = numberAt(op, i))
    return *given == number && !(number == 0 && std::signbit(*given));
  ArrayRef<uint32_t> operands = operandsOf(opClass);
  auto fill = i < operands.size() ? fills.find(operands[i]) : fills.end();
  if (fill == fills.end())
    return false;
  if (auto real = dyn_cast<FloatAttr>(fill->second.first))
    return real.getValueAsDouble() == number && !real.getValue().isNegZero();
  auto integer = dyn_cast<IntegerAttr>(fill->second.first);
  return integer && integer.getValue() == static_cast<uint64_t>(number);
}

/// The class of `base` as elements of type `element`.
uint32_t ClassTable::castOf(uint32_t base, Type element, uint32_t own) {
  // What holds all numbers of the first type changes none.
  if (auto inner = innerOfCast.find(base); inner != innerOfCast.end())
    if (holdsAll(getElementTypeOrSelf(typeOf(base)),
                 getElementTypeOrSelf(typeOf(inner->second))))
      base = inner->second;
  if (getElementTypeOrSelf(typeOf(base)) == element)
    return base;
  uint32_t same = casts.try_emplace({base, element}, own).first->second;
  if (same == own)
    innerOfCast[own] = base;
  return same;
}

/// The number of the operand that an op of these does nothing to, of class
/// `opClass`; -1 for any other.
int64_t ClassTable::keptOperand(uint32_t opClass) {
  enum { None, Copy, Over, Sum, Difference, Product, Quotient, Choice };
  Operation *op = classes[opClass].op;
  int kind =
      llvm::StringSwitch<int>(op->getName().stripDialect())
          .Cases({"clone", "lift_fresh_copy", "prims.convert_element_type"},
                 Copy)
          .Case("copy", Over)
          .Case("add.Tensor", Sum)
          .Case("sub.Tensor", Difference)
          .Case("mul.Tensor", Product)
          .Case("div.Tensor", Quotient)
          .Case("where.self", Choice)
          .Default(None);
  bool isSum = kind == Sum || kind == Difference;
  if (kind == None || (isSum && numberAt(op, 2).value_or(1) != 1))
    return -1;
  if (kind == Copy || kind == Over)
    return kind == Over;
  if (kind == Choice)
    return isEverywhere(opClass, 0, 1)   ? 1
           : isEverywhere(opClass, 0, 0) ? 2
                                         : -1;
  double neutral = isSum ? 0 : 1;
  if (isEverywhere(opClass, 1, neutral))
    return 0;
  bool commutes = kind == Sum || kind == Product;
  return commutes && operandsOf(opClass).size() == 2 &&
                 isEverywhere(opClass, 0, neutral)
             ? 1
             : -1;
}

/// The class that `op`, of class `opClass`, has all elements of; kNone if it
/// changes something.
uint32_t ClassTable::unchangedBy(Operation *op, uint32_t opClass) {
  ArrayRef<uint32_t> operands = operandsOf(opClass);
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  int64_t kept = keptOperand(opClass);
  if (!type || kept < 0 || kept >= static_cast<int64_t>(operands.size()))
    return kNone;
  uint32_t base = operands[kept];
  if (base == kNone || isWritten(base))
    return kNone;
  // Beside another operand, unknown sizes may be others.
  auto from = dyn_cast<RankedTensorType>(typeOf(base));
  if (!from || from.getShape() != type.getShape() ||
      (operands.size() > 1 && !type.hasStaticShape()))
    return kNone;
  // A result of a wider type is a cast; one of another kind is computed.
  Type element = type.getElementType();
  StringRef name = op->getName().stripDialect();
  bool isComputed =
      !holdsAll(element, from.getElementType()) ||
      (name == "div.Tensor" && !isa<FloatType>(from.getElementType()));
  if (name != "prims.convert_element_type" && isComputed)
    return kNone;
  uint32_t own = classes[opClass].firstValue;
  uint32_t same = castOf(base, element, own);
  return same == own ? kNone : same;
}

//===----------------------------------------------------------------------===//
// Scattered numbers
//===----------------------------------------------------------------------===//

/// The dimension along which `valueClass` counts 0, 1, 2, ... for elements of a
/// tensor of so many dimensions; -1 if it does not.
int64_t ClassTable::countsAlong(uint32_t valueClass, int64_t rank) {
  auto type = dyn_cast<RankedTensorType>(typeOf(valueClass));
  if (!type || !type.hasStaticShape() || type.getRank() > rank ||
      !type.getElementType().isInteger(64))
    return -1;
  int64_t along = -1;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (size != 1) {
      if (along >= 0)
        return -1;
      along = static_cast<int64_t>(dim);
    }
  // Elements of a view are in their order.
  while (callOf(valueClass, "view") != kNone ||
         callOf(valueClass, "unsqueeze") != kNone)
    valueClass = operandsOf(owner[valueClass])[0];
  uint32_t iota = callOf(valueClass, "prims.iota");
  if (along < 0 || iota == kNone)
    return -1;
  Operation *op = classes[iota].op;
  bool isPlain = integerAt(op, 0) == type.getDimSize(along) &&
                 integerAt(op, 1) == 0 && integerAt(op, 2) == 1 &&
                 op->getNumOperands() == 0;
  return isPlain ? along + rank - type.getRank() : -1;
}

/// The index of one element a line along `dim`, as `valueClass` repeats it for
/// all elements of a tensor of sizes `shape`; kNone if it does not.
uint32_t ClassTable::indexOfLines(uint32_t valueClass, int64_t dim,
                                  ArrayRef<int64_t> shape) {
  SmallVector<int64_t> lines(shape);
  lines[dim] = 1;
  for (int step = 0; step < 2; ++step) {
    auto type = dyn_cast<RankedTensorType>(typeOf(valueClass));
    if (!type)
      return kNone;
    if (type.getShape() == ArrayRef<int64_t>(lines))
      return valueClass;
    if (callOf(valueClass, "expand") == kNone)
      return kNone;
    valueClass = operandsOf(owner[valueClass])[0];
  }
  return kNone;
}

uint32_t ClassTable::scattered(const Scattered &what, uint32_t own) {
  const auto &[type, dim, index, behind, number] = what;
  if (!behind || !number)
    return kNone;
  uint32_t same = scatters.try_emplace(what, own).first->second;
  scatterOf.try_emplace(own, what);
  return same == own ? kNone : same;
}

/// The class of all forms of one number a line in a constant, if `op` is one.
uint32_t ClassTable::scatteredLike(Operation *op, uint32_t opClass) {
  ArrayRef<uint32_t> operands = operandsOf(opClass);
  StringRef name = op->getName().stripDialect();
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  uint32_t own = classes[opClass].firstValue;
  if (!type || !type.hasStaticShape())
    return kNone;
  auto filled = [&](uint32_t valueClass) {
    auto fill = fills.find(valueClass);
    return fill == fills.end()
               ? Attribute()
               : asElement(fill->second.first, type.getElementType());
  };
  if (name == "scatter.value" && operands.size() == 2) {
    int64_t dim = integerAt(op, 1).value_or(0), rank = type.getRank();
    dim += dim < 0 ? rank : 0;
    if (dim < 0 || dim >= rank ||
        indexOfLines(operands[1], dim, type.getShape()) != operands[1])
      return kNone;
    return scattered({type, dim, operands[1], filled(operands[0]),
                      asElement(argsOf(op)[3], type.getElementType())},
                     own);
  }
  if (name == "prims.convert_element_type" && operands.size() == 1) {
    auto found = scatterOf.find(operands[0]);
    if (found == scatterOf.end())
      return kNone;
    auto [from, dim, index, behind, number] = found->second;
    return scattered({type, dim, index,
                      asElement(behind, type.getElementType()),
                      asElement(number, type.getElementType())},
                     own);
  }
  uint32_t equal = name == "where.self" && operands.size() == 3
                       ? callOf(operands[0], "eq.Tensor")
                       : kNone;
  if (equal == kNone || operandsOf(equal).size() != 2)
    return kNone;
  for (unsigned side : {0, 1}) {
    int64_t dim = countsAlong(operandsOf(equal)[1 - side], type.getRank());
    if (dim < 0 ||
        cast<ShapedType>(typeOf(operands[0])).getShape() != type.getShape())
      continue;
    uint32_t index =
        indexOfLines(operandsOf(equal)[side], dim, type.getShape());
    if (index != kNone)
      return scattered(
          {type, dim, index, filled(operands[2]), filled(operands[1])}, own);
  }
  return kNone;
}

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

/// The draw of the joint graph that `op` stands for: numbers of one of the
/// seeds that are drawn together.
uint32_t ClassTable::drawnLike(Operation *op, uint32_t opClass) {
  StringRef name = op->getName().stripDialect();
  bool isWhole = name == "prims.inductor_randint";
  if ((name != "prims.inductor_random" && !isWhole) ||
      operandsOf(opClass).size() != 1)
    return kNone;
  uint32_t own = classes[opClass].firstValue;
  if (auto known = draws.find(own); known != draws.end())
    return known->second;
  uint32_t looked =
      callOf(operandsOf(opClass)[0], "prims.inductor_lookup_seed");
  uint32_t seeds = looked == kNone
                       ? kNone
                       : callOf(operandsOf(looked)[0], "prims.inductor_seeds");
  if (seeds == kNone)
    return kNone;
  // By device, in the order of the graph, which the seeds have.
  Attribute device = argsOf(classes[seeds].op)[1];
  SmallVector<uint32_t> drawn;
  for (const Instance &instance : instances)
    if (classes[instance.opClass].conduct == Conduct::Draw &&
        (classes[instance.opClass].bodies & 1) &&
        deviceOf(classes[instance.opClass].op) == device)
      drawn.push_back(instance.opClass);
  std::optional<int64_t> number = integerAt(classes[looked].op, 1);
  if (integerAt(classes[seeds].op, 0) != static_cast<int64_t>(drawn.size()) ||
      !number || *number < 0 || *number >= static_cast<int64_t>(drawn.size()))
    return kNone;
  OpClass &draw = classes[drawn[*number]];
  if (!isDrawnAs(draw.op, op) || instances[draw.instance].left < 1)
    return kNone;
  instances[draw.instance].left = 0; // it must not run as well
  return draws[own] = draw.firstValue;
}

/// Whether the framework's op `drawn` and `op`, of a seed, have the same
/// distribution.
bool ClassTable::isDrawnAs(Operation *drawn, Operation *op) {
  if (drawn->getNumResults() != 1 ||
      drawn->getResult(0).getType() != op->getResult(0).getType())
    return false;
  StringRef name = drawn->getName().stripDialect();
  ArrayAttr args = argsOf(op), given = argsOf(drawn);
  if (op->getName().stripDialect() == "prims.inductor_random") {
    auto mode = dyn_cast<StringAttr>(args[2]);
    return mode && (name == mode.getValue() ||
                    name == (mode.getValue() + ".default").str());
  }
  Builder builder(op->getContext());
  if (name == "randint")
    return args[0] == builder.getI64IntegerAttr(0) && args[1] == given[0];
  return name == "randint.low" && args[0] == given[0] && args[1] == given[1];
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

namespace {
/// A value as a multiple of another one.
struct Multiple {
  uint32_t of = kNone;
  double by = 1;
};
} // namespace

static bool isOfFloats(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

/// What `valueClass` is a multiple of, by way of casts of floats.
static Multiple multipleOf(ClassTable &table, uint32_t valueClass) {
  Multiple multiple{valueClass, 1};
  for (int step = 0; step < 6; ++step) {
    uint32_t cast = table.callOf(multiple.of, "prims.convert_element_type");
    if (cast != kNone) {
      uint32_t inner = table.operandsOf(cast)[0];
      if (!isOfFloats(table.typeOf(inner)) ||
          !isOfFloats(table.typeOf(multiple.of)))
        break;
      multiple.of = inner;
      continue;
    }
    bool isProduct = table.callOf(multiple.of, "mul.Tensor") != kNone;
    if (!isProduct && table.callOf(multiple.of, "div.Tensor") == kNone)
      break;
    uint32_t opClass = table.ownerOf(multiple.of);
    std::optional<double> by = numberAt(table.get(opClass).op, 1);
    if (!by || *by == 0 || !std::isfinite(*by))
      break;
    multiple.by *= isProduct ? *by : 1 / *by;
    multiple.of = table.operandsOf(opClass)[0];
  }
  return multiple;
}

/// What `valueClass` is less its largest elements along dimensions, which are
/// `dims`; kNone if it is none.
uint32_t ClassTable::lessItsLargest(uint32_t valueClass, Attribute &dims) {
  uint32_t difference = callOf(valueClass, "sub.Tensor");
  if (difference == kNone || operandsOf(difference).size() != 2 ||
      numberAt(classes[difference].op, 2).value_or(1) != 1)
    return kNone;
  uint32_t base = operandsOf(difference)[0];
  uint32_t largest = callOf(operandsOf(difference)[1], "amax");
  if (largest == kNone || operandsOf(largest)[0] != base)
    return kNone;
  ArrayAttr args = argsOf(classes[largest].op);
  auto keeps = args.size() > 2 ? dyn_cast<IntegerAttr>(args[2]) : IntegerAttr();
  if (!keeps || keeps.getValue().isZero())
    return kNone;
  dims = args[1];
  return base;
}

/// A choice between two values that are equal but for rounding: x times s less
/// its largest element, and x less its largest element, times s. With a
/// negative s, the largest of -x.
uint32_t ClassTable::scaledLike(Operation *op, uint32_t opClass) {
  ArrayRef<uint32_t> operands = operandsOf(opClass);
  if (op->getName().stripDialect() != "where.self" || operands.size() != 3 ||
      typeOf(operands[2]) != op->getResult(0).getType())
    return kNone;
  Attribute dims, dimsOfFirst;
  uint32_t scaled = lessItsLargest(operands[2], dims);
  if (scaled == kNone)
    return kNone;
  Multiple factor = multipleOf(*this, operands[1]);
  uint32_t plain = lessItsLargest(factor.of, dimsOfFirst);
  if (plain == kNone || dims != dimsOfFirst || factor.by <= 0)
    return kNone;
  Multiple a = multipleOf(*this, plain), b = multipleOf(*this, scaled);
  double by = a.by * factor.by;
  bool isSame = a.of == b.of && a.of != kNone &&
                std::abs(by - b.by) <= 1e-12 * std::abs(b.by);
  if (!isSame)
    return kNone;
  rounded.insert(opClass);
  return operands[2];
}

/// The class of an equal value that a pattern has another form for, or kNone.
uint32_t ClassTable::patternLike(Operation *op, uint32_t opClass) {
  if (op->getName().getDialectNamespace() != "aten")
    return kNone;
  uint32_t same = unchangedBy(op, opClass);
  if (same == kNone)
    same = scatteredLike(op, opClass);
  if (same == kNone)
    same = drawnLike(op, opClass);
  return same == kNone ? scaledLike(op, opClass) : same;
}

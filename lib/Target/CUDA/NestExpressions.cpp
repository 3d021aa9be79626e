// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each value is a variable, or stands in the expression of its one reader where
// that is short. Memory whose index is the element's number plus multiples of
// four may be read and written four elements at a time, or as many as a thread
// has: an index is a linear form over the loops, whose axes are one number
// where they lie behind each other.

#include "NestExpressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

/// Longest expression that stands where it is used.
static constexpr size_t kInlineLength = 56;

namespace {

/// c0 + c1 x1 + ... over the dimensions of a map.
struct LinearForm {
  SmallVector<int64_t> factors;
  int64_t constant = 0;

  bool add(AffineExpr expr, int64_t factor) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
      constant += factor * number.getValue();
      return true;
    }
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      factors[dim.getPosition()] += factor;
      return true;
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return false;
    if (expr.getKind() == AffineExprKind::Add)
      return add(binary.getLHS(), factor) && add(binary.getRHS(), factor);
    auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
    return expr.getKind() == AffineExprKind::Mul && number &&
           add(binary.getLHS(), factor * number.getValue());
  }
};

} // namespace

NestExpressions::NestExpressions(kernel::NestOp nest,
                                 const NestSchedule &schedule,
                                 ArrayRef<std::string> names, StringRef block,
                                 unsigned indent, std::string &problem)
    : nest(nest), schedule(schedule), names(names), block(block),
      indent(indent), problem(problem), plan(nest, schedule) {
  for (const std::string &name : names)
    used.insert(name);
  int64_t limit = INT32_MAX - 4096;
  isWide = schedule.kept > limit / schedule.reduced;
  for (BlockArgument memory : nest->getParentRegion()->getArguments())
    isWide |= memorySize(memory) > limit;
}

bool NestExpressions::fail(Operation *op, const Twine &why) {
  problem = ("'" + op->getName().getStringRef() + "' " + why).str();
  return false;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string NestExpressions::unique(const std::string &wanted) {
  std::string name = wanted;
  for (unsigned i = 2; !used.insert(name).second; ++i)
    name = wanted + "_" + std::to_string(i);
  return name;
}

std::string NestExpressions::nameFor(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast<kernel::LoadOp>(op))
    return unique(memoryName(load.getMemory()) + "_x");
  if (auto reduce = dyn_cast<kernel::ReduceOp>(op)) {
    static const char *const names[] = {"sum",     "product",  "greatest",
                                        "least",   "greatest", "least",
                                        "all_set", "any_set"};
    return unique(names[static_cast<int>(reduce.getCombine())]);
  }
  if (isa<kernel::ReduceIndexOp>(op))
    return unique("best");
  if (isa<kernel::PickOp>(op))
    return unique("picked");
  if (isa<kernel::ChooseOp>(op))
    return unique("chosen");
  for (OpOperand &use : value.getUses())
    if (auto store = dyn_cast<kernel::StoreOp>(use.getOwner()))
      if (use.getOperandNumber() == 0)
        return unique(memoryName(store.getMemory()) + "_x");
  StringRef mnemonic = op->getName().stripDialect();
  if (isa<arith::ArithDialect>(op->getDialect()))
    mnemonic = mnemonic.rtrim("fi");
  return unique(mnemonic.str() + "_" + std::to_string(++numNamed));
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

void NestExpressions::line(const Twine &text) {
  result.text.append(indent, ' ');
  result.text += text.str();
  result.text += '\n';
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

std::string NestExpressions::elementNumber(bool ofFour) const {
  if (schedule.mapping == Mapping::Columns)
    return "row";
  if (!ofFour)
    return "at";
  return schedule.mapping == Mapping::Elements ? "element" : "column";
}

SmallVector<unsigned> NestExpressions::axesOf(bool ofElement) const {
  SmallVector<unsigned> axes;
  for (unsigned axis = 0; axis < nest.getExtents().size(); ++axis)
    if (isOfElement(axis) == ofElement)
      axes.push_back(axis);
  return axes;
}

Text NestExpressions::axisText(unsigned axis, bool ofFour) const {
  bool ofElement = isOfElement(axis);
  std::string number = ofElement ? elementNumber(ofFour) : rowNumber();
  int64_t stride = 1, all = 1;
  for (unsigned other : axesOf(ofElement)) {
    all *= nest.getExtents()[other];
    stride *= other > axis ? nest.getExtents()[other] : 1;
  }
  int64_t extent = nest.getExtents()[axis];
  std::string text = number;
  if (stride > 1)
    text += " / " + std::to_string(stride);
  if (stride * extent < all)
    text += " % " + std::to_string(extent);
  return {text, stride == 1 && extent == all};
}

void NestExpressions::addTerm(std::string &sum, int64_t factor,
                              const Text &text) {
  if (factor == 0)
    return;
  if (!sum.empty())
    sum += factor < 0 ? " - " : " + ";
  else if (factor < 0)
    sum += "-";
  factor = std::abs(factor);
  sum += factor == 1 ? text.operand()
                     : text.operand() + " * " + std::to_string(factor);
}

std::optional<int64_t> NestExpressions::collapse(ArrayRef<int64_t> byAxis,
                                                 bool ofElement) const {
  SmallVector<unsigned> axes = axesOf(ofElement);
  if (axes.empty())
    return 0;
  int64_t factor = byAxis[axes.back()], stride = 1;
  for (unsigned axis : llvm::reverse(axes)) {
    if (byAxis[axis] != factor * stride)
      return std::nullopt;
    stride *= nest.getExtents()[axis];
  }
  return factor;
}

std::optional<NestExpressions::Access>
NestExpressions::accessOf(AffineMap map, ValueRange indices, Value memory,
                          bool tryFour) {
  Access access;
  LinearForm form;
  form.factors.assign(map.getNumDims(), 0);
  bool isLinear = form.add(map.getResult(0), 1);
  access.isChecked = !kernel::isInside(indices);
  SmallVector<int64_t> byAxis(nest.getExtents().size(), 0);
  std::string sum;
  int64_t width = schedule.width;
  bool hasFours = isLinear && width > 1 && form.constant % width == 0;
  for (auto [i, index] : llvm::enumerate(indices)) {
    auto axis = dyn_cast<BlockArgument>(index);
    if (axis && isLinear)
      byAxis[axis.getArgNumber()] += form.factors[i];
  }
  if (!isLinear) {
    access.index = affineText(map.getResult(0), indices).text;
    return access;
  }
  std::optional<int64_t> ofElement = collapse(byAxis, true);
  for (auto [axis, factor] : llvm::enumerate(byAxis))
    hasFours &= isOfElement(axis) || factor % width == 0;
  for (auto [i, index] : llvm::enumerate(indices))
    if (!isa<BlockArgument>(index))
      hasFours &= form.factors[i] % width == 0 && !plan.isElement(index);
  access.isOfFour = tryFour && hasFours && ofElement == 1 &&
                    schedule.mapping != Mapping::Columns &&
                    elements() % width == 0 && memorySize(memory) % width == 0;
  for (auto [i, index] : llvm::enumerate(indices))
    if (!isa<BlockArgument>(index))
      addTerm(sum, form.factors[i], text(index));
  for (bool kind : {false, true}) {
    std::string number = kind ? elementNumber(access.isOfFour) : rowNumber();
    if (std::optional<int64_t> factor = collapse(byAxis, kind))
      addTerm(sum, *factor, {number});
    else
      for (unsigned axis : axesOf(kind))
        addTerm(sum, byAxis[axis], axisText(axis));
  }
  if (form.constant || sum.empty())
    sum += sum.empty()         ? std::to_string(form.constant)
           : form.constant < 0 ? " - " + std::to_string(-form.constant)
                               : " + " + std::to_string(form.constant);
  // One term needs no parentheses.
  if (sum.front() == '(' && sum.find(')') == sum.size() - 1)
    sum = sum.substr(1, sum.size() - 2);
  access.index = sum;
  return access;
}

Text NestExpressions::affineText(AffineExpr expr, ValueRange indices) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return {std::to_string(number.getValue()), number.getValue() >= 0};
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    Value index = indices[dim.getPosition()];
    auto axis = dyn_cast<BlockArgument>(index);
    return axis ? axisText(axis.getArgNumber()) : text(index);
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::string a = affineText(binary.getLHS(), indices).operand();
  std::string b = affineText(binary.getRHS(), indices).operand();
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return {a + " + " + b, false};
  case AffineExprKind::Mul:
    return {a + " * " + b, false};
  case AffineExprKind::FloorDiv:
    if (kernel::isNatural(binary.getLHS(), indices))
      return {a + " / " + b, false};
    return {"floorDivide<long long>(" + a + ", " + b + ")"};
  case AffineExprKind::CeilDiv:
    return {"-floorDivide<long long>(-" + a + ", " + b + ")", false};
  default:
    return kernel::isNatural(binary.getLHS(), indices)
               ? Text{a + " % " + b, false}
               : Text{"floorRemainder<long long>(" + a + ", " + b + ")"};
  }
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Text NestExpressions::text(Value value) {
  if (auto axis = dyn_cast<BlockArgument>(value))
    return axisText(axis.getArgNumber());
  if (isConstant(value))
    return *scalarText(value.getDefiningOp(), {});
  return texts.lookup(value);
}

bool NestExpressions::isInline(Value value, const Text &expression) const {
  if (!value.hasOneUse() || plan.held.contains(value) ||
      expression.text.size() > kInlineLength)
    return false;
  Operation *user = *value.getUsers().begin();
  if (isa<kernel::LoadOp>(user))
    return true;
  if (plan.isElement(value))
    return true;
  bool isUserOfElement =
      user->getNumResults() ? plan.isElement(user->getResult(0)) || isRoot(user)
                            : plan.isElementStore(cast<kernel::StoreOp>(user));
  return !isUserOfElement;
}

void NestExpressions::define(Value value, const Text &expression,
                             bool mayInline) {
  if (plan.held.contains(value) && plan.isElement(value)) {
    const std::string &name = heldNames[value];
    line(name + "[e] = " + expression.text + ";");
    texts[value] = {name + "[e]"};
    return;
  }
  if (mayInline && isInline(value, expression)) {
    texts[value] = expression;
    return;
  }
  std::string name = nameFor(value);
  line("const " + typeText(value.getType()) + " " + name + " = " +
       expression.text + ";");
  texts[value] = {name};
}

bool NestExpressions::writeScalar(Operation *op) {
  if (isConstant(op->getResult(0)))
    return true;
  if (auto load = dyn_cast<kernel::LoadOp>(op))
    return writeLoad(load);
  if (auto draw = dyn_cast<kernel::DrawOp>(op))
    return writeDraw(draw);
  if (auto choose = dyn_cast<kernel::ChooseOp>(op)) {
    define(choose.getPlace(),
           {checkedIndex(text(choose.getAt()).text, text(choose.getSize()).text,
                         choose.getWrapped())},
           /*mayInline=*/false);
    return true;
  }
  SmallVector<Text> operands;
  for (Value operand : op->getOperands())
    operands.push_back(text(operand));
  std::optional<Text> expression = scalarText(op, operands);
  if (!expression)
    return fail(op, "has no CUDA text");
  define(op->getResult(0), *expression);
  return true;
}

bool NestExpressions::writeLoad(kernel::LoadOp load) {
  if (texts.count(load.getElement()) && fours.contains(load))
    return true;
  auto access = accessOf(load.getMap(), load.getIndices(), load.getMemory(),
                         /*tryFour=*/false);
  std::string index = access->index;
  if (access->isChecked)
    index = checkedIndex(index, std::to_string(memorySize(load.getMemory())));
  std::string expression = memoryName(load.getMemory()) + "[" + index + "]";
  if (load.getMask())
    expression = text(load.getMask()).operand() + " ? " + expression + " : " +
                 text(load.getOtherwise()).operand();
  // In a line of its own: what is stored may lie where it is read.
  define(load.getElement(), {expression}, /*mayInline=*/false);
  return true;
}

bool NestExpressions::writeDraw(kernel::DrawOp draw) {
  Type type = draw.getResult().getType();
  std::string stream = std::to_string(draw.getStream()) + "ll";
  if (draw.getRound())
    stream =
        "streamOfRound(" + stream + ", " + text(draw.getRound()).text + ")";
  std::string list = "(" + text(draw.getSeed()).text + ", " + stream + ", " +
                     text(draw.getIndex()).text;
  std::string name = typeText(type);
  if (draw.getDraw() == kernel::Draw::Bits) {
    bool isWide = type.isInteger(64);
    define(draw.getResult(),
           {"(" + name + ")" + (isWide ? "randomWord64" : "randomWord") + list +
            ")"});
    return true;
  }
  std::string number = draw.getDraw() == kernel::Draw::Uniform ? "randomUniform"
                                                               : "randomNormal";
  number += list + (type.isF64() ? ", true)" : ", false)");
  if (!type.isF64())
    number = "float(" + number + ")";
  define(draw.getResult(), {roundedText(type, number)});
  return true;
}

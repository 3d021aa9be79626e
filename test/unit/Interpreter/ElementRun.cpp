// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formula is built once, with block arguments for what it asks of its
// ElementBuilder; a scalar is evaluated when it is asked for, and once an
// iteration, by the functions that kernels run with (ScalarOps). A float is a
// double that is rounded to its type after every op. What an op leaves open is
// a fault: formulas must not get there.

#include "ElementRun.h"

#include "Interpreter/ScalarOps.h"

#include "cutback/Dialect/Joint/ElementBuilder.h"
#include "cutback/Dialect/Joint/IterationSpace.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;
using joint::Combine;

namespace {

/// One of them, by the type; an integer is extended by its sign, i1 is 0 or 1.
struct Number {
  double real = 0;
  int64_t whole = 0;
};

double roundReal(Type type, double value) {
  if (type.isF64())
    return value;
  llvm::APFloat number(value);
  bool isInexact;
  number.convert(cast<FloatType>(type).getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &isInexact);
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &isInexact);
  return number.convertToDouble();
}

int64_t wrapWhole(Type type, int64_t value) {
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (width == 1)
    return value & 1;
  return width == 64 ? value
                     : static_cast<int64_t>(static_cast<uint64_t>(value)
                                            << (64 - width)) >>
                           (64 - width);
}

/// Wrap around.
int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

class Formula final : public joint::ElementBuilder {
public:
  Formula(Operation *call, const joint::IterationSpace &space,
          ArrayRef<RuntimeValue> operands)
      : ElementBuilder(builder, call->getLoc()), call(call), space(space),
        operands(operands), builder(call->getContext()),
        at(space.extents.size(), 0) {
    builder.setInsertionPointToEnd(&block);
  }

  Value operand(unsigned i) override {
    if (space.isGathered[i])
      fault = "reads a gathered operand where it stands";
    return node(scalarType(i), Node(Kind::Operand, i));
  }
  Value index(unsigned axis) override {
    if (axis >= space.extents.size())
      fault = "has no such axis";
    return node(builder.getIndexType(), Node(Kind::Index, axis));
  }
  Value load(unsigned i, ArrayRef<Value> indices, Value mask,
             Value otherwise) override {
    if (!space.isGathered[i])
      fault = "gathers an operand that is none to gather";
    if (bool(mask) != bool(otherwise))
      fault = "has a mask without another element";
    Node made(Kind::Load, i);
    made.inputs.assign(indices.begin(), indices.end());
    made.mask = mask;
    made.otherwise = otherwise;
    return node(scalarType(i), made);
  }
  Value choose(Value place, Value size, bool isWrapped) override {
    Node made(Kind::Choose, isWrapped);
    made.inputs = {place, size};
    return node(builder.getIndexType(), made);
  }
  Value reduce(Combine how, Value element) override {
    Node made(Kind::Reduce, 0);
    made.how = how;
    made.inputs = {element};
    return node(element.getType(), made);
  }
  Value reduceIndex(bool greatest, Value element) override {
    Node made(Kind::ReduceIndex, 0);
    made.how = greatest ? Combine::Max : Combine::Min;
    made.inputs = {element};
    return node(builder.getI64Type(), made);
  }
  int64_t numReduced() override {
    int64_t count = 1;
    for (auto [extent, isReduced] :
         llvm::zip_equal(space.extents, space.isReduced))
      count *= isReduced ? extent : 1;
    return count;
  }

  /// Evaluates `results` for all iterations that are not reduced.
  void run(ArrayRef<Value> results, ArrayRef<Tensor> into);

  std::string fault;

private:
  enum class Kind { Operand, Index, Load, Choose, Reduce, ReduceIndex };
  struct Node {
    Kind kind = Kind::Operand;
    unsigned number = 0;
    SmallVector<Value> inputs;
    Value mask, otherwise;
    Combine how = Combine::Add;

    Node() = default;
    Node(Kind kind, unsigned number) : kind(kind), number(number) {}
  };

  Type scalarType(unsigned i) {
    Type type = getElementTypeOrSelf(call->getOperand(i).getType());
    auto integer = dyn_cast<IntegerType>(type);
    return integer ? builder.getIntegerType(integer.getWidth()) : type;
  }
  Value node(Type type, Node made) {
    Value value = block.addArgument(type, loc);
    nodes[value] = std::move(made);
    return value;
  }

  Number eval(Value value);
  Number evalNode(Value value);
  Number evalOp(Operation *op);
  Number evalReduce(const Node &node, Type type);
  Number element(unsigned i, ArrayRef<int64_t> index);
  /// The next iteration of the axes that are reduced, or of the others.
  bool advance(bool reduced);

  Operation *call;
  const joint::IterationSpace &space;
  ArrayRef<RuntimeValue> operands;
  Block block;
  OpBuilder builder;
  llvm::DenseMap<Value, Node> nodes;
  SmallVector<int64_t> at;
  /// What is known in this iteration, and of the reductions for this result.
  llvm::DenseMap<Value, Number> known, combined;
};

} // namespace

bool Formula::advance(bool reduced) {
  for (size_t axis = at.size(); axis-- > 0;) {
    if (bool(space.isReduced[axis]) != reduced)
      continue;
    if (++at[axis] < space.extents[axis])
      return true;
    at[axis] = 0;
  }
  return false;
}

void Formula::run(ArrayRef<Value> results, ArrayRef<Tensor> into) {
  int64_t count = into.front().numel();
  for (int64_t i = 0; i < count && fault.empty(); ++i) {
    known.clear();
    combined.clear();
    for (auto [value, tensor] : llvm::zip_equal(results, into)) {
      Number result = eval(value);
      if (isFloating(tensor.type))
        tensor.set(i, result.real);
      else
        tensor.setInt(i, result.whole);
    }
    advance(/*reduced=*/false);
  }
}

Number Formula::eval(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  Number result = op ? evalOp(op) : evalNode(value);
  if (isa<FloatType>(value.getType()))
    result.real = roundReal(value.getType(), result.real);
  else
    result.whole = wrapWhole(value.getType(), result.whole);
  return known[value] = result;
}

Number Formula::element(unsigned i, ArrayRef<int64_t> index) {
  if (const auto *whole = std::get_if<int64_t>(&operands[i]))
    return {0, *whole};
  if (const auto *real = std::get_if<double>(&operands[i]))
    return {*real, 0};
  if (const auto *truth = std::get_if<bool>(&operands[i]))
    return {0, *truth};
  const auto *tensor = std::get_if<Tensor>(&operands[i]);
  if (!tensor || tensor->sizes.size() != index.size()) {
    fault = "reads an operand with another number of indices";
    return {};
  }
  int64_t place = 0;
  for (auto [at, size] : llvm::zip_equal(index, tensor->sizes)) {
    if (at < 0 || at >= size) {
      fault =
          "reads element " + std::to_string(at) + " of " + std::to_string(size);
      return {};
    }
    place = place * size + at;
  }
  if (isFloating(tensor->type))
    return {tensor->getDouble(place), 0};
  return {0, tensor->getInt(place)};
}

Number Formula::evalNode(Value value) {
  const Node node = nodes.lookup(value);
  switch (node.kind) {
  case Kind::Operand: {
    SmallVector<int64_t> index;
    for (int8_t axis : space.operands[node.number])
      index.push_back(axis == joint::IterationSpace::kOnce ? 0 : at[axis]);
    return element(node.number, index);
  }
  case Kind::Index:
    return {0, at[node.number]};
  case Kind::Load: {
    if (node.mask && !eval(node.mask).whole)
      return eval(node.otherwise);
    SmallVector<int64_t> index;
    for (Value one : node.inputs)
      index.push_back(eval(one).whole);
    return element(node.number, index);
  }
  case Kind::Choose: {
    int64_t place = eval(node.inputs[0]).whole;
    int64_t size = eval(node.inputs[1]).whole;
    if (node.number && place < 0)
      place += size;
    if (place < 0 || place >= size)
      fault =
          "chooses " + std::to_string(place) + " of " + std::to_string(size);
    return {0, place};
  }
  case Kind::Reduce:
  case Kind::ReduceIndex:
    break;
  }
  auto it = combined.find(value);
  if (it != combined.end())
    return it->second;
  Number result = evalReduce(node, value.getType());
  return combined[value] = result;
}

Number Formula::evalReduce(const Node &node, Type type) {
  Type in = node.inputs[0].getType();
  bool isReal = isa<FloatType>(in);
  Number result;
  int64_t count = numReduced(), place = 0;
  if (count > 0 && node.how == Combine::Mul)
    result = {1, 1};
  if (node.how == Combine::And)
    result = {1, 1};
  SmallVector<int64_t> outside = at;
  auto before = std::move(known);
  for (size_t axis = 0; axis < at.size(); ++axis)
    at[axis] = space.isReduced[axis] ? 0 : at[axis];
  for (int64_t i = 0; i < count; ++i) {
    known.clear();
    Number x = eval(node.inputs[0]);
    double a = isReal ? x.real : static_cast<double>(x.whole);
    double b = isReal ? result.real : static_cast<double>(result.whole);
    bool isBetter = false;
    switch (node.how) {
    case Combine::Add:
      result = {
          roundReal(isReal ? in : builder.getF64Type(), result.real + x.real),
          plus(result.whole, x.whole)};
      break;
    case Combine::Mul:
      result = {
          roundReal(isReal ? in : builder.getF64Type(), result.real * x.real),
          times(result.whole, x.whole)};
      break;
    case Combine::Max:
      isBetter = a > b;
      break;
    case Combine::Min:
      isBetter = a < b;
      break;
    case Combine::And:
      result.whole &= x.whole;
      break;
    case Combine::Or:
      result.whole |= x.whole;
      break;
    case Combine::MaxUnsigned:
    case Combine::MinUnsigned:
      fault = "combines unsigned integers";
      break;
    }
    bool isChoice = node.how == Combine::Max || node.how == Combine::Min;
    if (isChoice && (i == 0 || (b == b && (isBetter || a != a)))) {
      result = x;
      place = i;
    }
    advance(/*reduced=*/true);
  }
  at = outside;
  known = std::move(before);
  (void)type;
  return node.kind == Kind::ReduceIndex ? Number{0, place} : result;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// What a formula must not rely on, because an op leaves it open.
static std::string findOpen(Operation *op, ArrayRef<Number> x) {
  if (isa<arith::DivSIOp, arith::RemSIOp>(op) &&
      (x[1].whole == 0 || x[1].whole == -1))
    return "divides by " + std::to_string(x[1].whole);
  if (isa<arith::ShLIOp, arith::ShRSIOp>(op) &&
      (x[1].whole < 0 ||
       x[1].whole >= op->getOperand(0).getType().getIntOrFloatBitWidth()))
    return "shifts by " + std::to_string(x[1].whole);
  if (isa<math::IPowIOp>(op) && x[1].whole < 0)
    return "has a negative exponent";
  if (isa<arith::FPToSIOp>(op) && !(x[0].real >= -0x1p63 && x[0].real < 0x1p63))
    return "converts " + std::to_string(x[0].real) + " to an integer";
  return "";
}

Number Formula::evalOp(Operation *op) {
  SmallVector<Number, 3> x;
  SmallVector<Scalar, 3> scalars;
  for (Value operand : op->getOperands()) {
    x.push_back(eval(operand));
    Scalar &scalar = scalars.emplace_back();
    if (isa<FloatType>(operand.getType()))
      scalar.real = x.back().real;
    else
      scalar.integer =
          operand.getType().isInteger(1) ? -x.back().whole : x.back().whole;
  }
  ScalarFn function = findScalarOp(op);
  std::string open = findOpen(op, x);
  if (!function)
    open = "has an op '" + op->getName().getStringRef().str() + "'";
  if (!open.empty()) {
    fault = open;
    return {};
  }
  Scalar result = function(op, scalars.data());
  return isa<FloatType>(op->getResult(0).getType()) ? Number{result.real, 0}
                                                    : Number{0, result.integer};
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

test::ElementRun test::runElements(Operation *call,
                                   ArrayRef<RuntimeValue> operands) {
  ElementRun result;
  auto lowerable = dyn_cast<joint::LowerableOpInterface>(call);
  auto fusible = dyn_cast<joint::FusibleOpInterface>(call);
  if (!lowerable || !fusible || !lowerable.hasElement())
    return result;
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(call->getOperandTypes()),
                                SmallVector<Type>(call->getResultTypes()))) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    shapes.push_back(tensor ? tensor.getShape() : ArrayRef<int64_t>());
  }
  joint::IterationSpace space;
  if (!fusible.getIterationSpace(shapes, space))
    return result;
  result.hasRun = true;
  std::vector<RuntimeValue> dense;
  for (const RuntimeValue &operand : operands) {
    const auto *tensor = std::get_if<Tensor>(&operand);
    dense.push_back(tensor ? RuntimeValue(tensor->contiguous()) : operand);
  }
  Formula formula(call, space, dense);
  SmallVector<Value> scalars;
  if (failed(lowerable.buildElement(formula, scalars)) ||
      scalars.size() != call->getNumResults()) {
    result.fault = "has a formula, and is not built";
    return result;
  }
  for (auto [scalar, type] : llvm::zip_equal(scalars, call->getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    std::optional<DType> dtype = dtypeOf(tensor.getElementType());
    auto integer = dyn_cast<IntegerType>(tensor.getElementType());
    Type wanted = integer
                      ? IntegerType::get(call->getContext(), integer.getWidth())
                      : tensor.getElementType();
    if (!dtype || scalar.getType() != wanted) {
      result.fault = "gives a scalar of another type";
      return result;
    }
    result.results.push_back(Tensor::zeros(*dtype, tensor.getShape()));
  }
  formula.run(scalars, result.results);
  result.fault = formula.fault;
  return result;
}

std::string test::buildError(Operation *call) {
  joint::IterationSpace space;
  space.isGathered.assign(call->getNumOperands(), 1);
  Formula formula(call, space, {});
  SmallVector<Value> scalars;
  auto lowerable = cast<joint::LowerableOpInterface>(call);
  return failed(lowerable.buildElement(formula, scalars)) ? "failed" : "";
}

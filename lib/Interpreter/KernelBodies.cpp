// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest, some iterations of its kept axes at a time: each op of the body runs
// for all of them, and for all iterations of the reduced axes, before the next.
// A scalar that depends on no reduced axis is kept once an iteration of the
// kept ones.

#include "cutback/Interpreter/KernelBodies.h"

#include "Elements.h"
#include "Philox.h"
#include "ScalarOps.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Iterations that run together, about.
constexpr int64_t kBlock = 4096;

class NestRunner {
public:
  NestRunner(kernel::NestOp nest, ArrayRef<Tensor> arguments)
      : nest(nest), arguments(arguments), isReduced(nest.findReduced()) {}

  LogicalResult run() {
    int64_t kept = 1;
    for (auto [extent, reduces] :
         llvm::zip_equal(nest.getExtents(), nest.getReduced()))
      (reduces ? numReduced : kept) *= extent;
    for (Operation &op : nest.getBlock()) {
      functions.push_back(findScalarOp(&op));
      if (!functions.back() &&
          !isa<kernel::LoadOp, kernel::StoreOp, kernel::ReduceOp,
               kernel::ReduceIndexOp, kernel::PickOp, kernel::ChooseOp,
               kernel::DrawOp>(op))
        return op.emitOpError("cannot be executed in a kernel");
    }
    // All at once: references to lists stay.
    for (BlockArgument axis : nest.getBody().getArguments())
      values.try_emplace(axis);
    for (Operation &op : nest.getBlock())
      for (Value result : op.getResults())
        values.try_emplace(result);
    int64_t step = std::max<int64_t>(1, kBlock / numReduced);
    for (first = 0; first < kept; first += step) {
      numKept = std::min(step, kept - first);
      setIndices();
      size_t number = 0;
      for (Operation &op : nest.getBlock())
        if (failed(runOp(&op, functions[number++])))
          return failure();
    }
    return success();
  }

private:
  using Scalars = std::vector<Scalar>;

  int64_t countOf(Value value) const {
    return isReduced.lookup(value) ? numKept * numReduced : numKept;
  }
  /// The number of a value at iteration `i` of an op with `count` of them.
  static int64_t at(int64_t i, int64_t count, size_t have) {
    return static_cast<int64_t>(have) == count
               ? i
               : i / (count / static_cast<int64_t>(have));
  }

  /// Iteration i of the block: kept number first + i / numReduced, reduced
  /// number i % numReduced.
  void setIndices() {
    int64_t keptStride = 1, reducedStride = 1;
    auto axes = nest.getBody().getArguments();
    for (size_t axis = axes.size(); axis-- > 0;) {
      int64_t extent = nest.getExtents()[axis];
      bool reduces = nest.getReduced()[axis];
      int64_t &stride = reduces ? reducedStride : keptStride;
      Scalars &list = values[axes[axis]];
      list.resize(countOf(axes[axis]));
      for (size_t i = 0; i < list.size(); ++i) {
        int64_t number = reduces ? static_cast<int64_t>(i) % numReduced
                                 : first + static_cast<int64_t>(i);
        list[i].integer = number / stride % extent;
      }
      stride *= extent;
    }
  }

  LogicalResult runOp(Operation *op, ScalarFn function) {
    if (auto load = dyn_cast<kernel::LoadOp>(op))
      return runLoad(load);
    if (auto store = dyn_cast<kernel::StoreOp>(op))
      return runStore(store);
    if (auto reduce = dyn_cast<kernel::ReduceOp>(op))
      return runReduce(reduce);
    if (auto reduce = dyn_cast<kernel::ReduceIndexOp>(op))
      return runReduceIndex(reduce);
    if (auto pick = dyn_cast<kernel::PickOp>(op))
      return runPick(pick);
    if (auto choose = dyn_cast<kernel::ChooseOp>(op))
      return runChoose(choose);
    if (auto draw = dyn_cast<kernel::DrawOp>(op))
      return runDraw(draw);
    Value result = op->getResult(0);
    Scalars &list = values[result];
    int64_t count = countOf(result);
    list.resize(count);
    SmallVector<Scalar, 3> operands(op->getNumOperands());
    SmallVector<const Scalars *, 3> from;
    for (Value operand : op->getOperands())
      from.push_back(&values.find(operand)->second);
    for (int64_t i = 0; i < count; ++i) {
      for (size_t k = 0; k < operands.size(); ++k)
        operands[k] = (*from[k])[at(i, count, from[k]->size())];
      list[i] = roundScalar(result.getType(), function(op, operands.data()));
    }
    return success();
  }

  //===--- Memory ---------------------------------------------------------===//

  int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dims) const {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constant.getValue();
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dims[dim.getPosition()];
    auto binary = cast<AffineBinaryOpExpr>(expr);
    int64_t a = evaluate(binary.getLHS(), dims);
    int64_t b = evaluate(binary.getRHS(), dims);
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return a + b;
    case AffineExprKind::Mul:
      return a * b;
    case AffineExprKind::FloorDiv:
      return llvm::divideFloorSigned(a, b);
    case AffineExprKind::CeilDiv:
      return llvm::divideCeilSigned(a, b);
    default:
      return llvm::mod(a, b);
    }
  }

  const Tensor &memoryOf(Value memory) const {
    return arguments[cast<BlockArgument>(memory).getArgNumber()];
  }

  /// Runs `fn(i, element number)` for iterations [0, count).
  template <typename Fn>
  LogicalResult access(Operation *op, Value memory, AffineMap map,
                       ValueRange indices, int64_t count, Fn fn) {
    SmallVector<const Scalars *> from;
    for (Value index : indices)
      from.push_back(&values.find(index)->second);
    SmallVector<int64_t> dims(indices.size());
    int64_t size = memoryOf(memory).numel();
    for (int64_t i = 0; i < count; ++i) {
      for (size_t k = 0; k < dims.size(); ++k)
        dims[k] = (*from[k])[at(i, count, from[k]->size())].integer;
      int64_t number = evaluate(map.getResult(0), dims);
      bool isInside = number >= 0 && number < size;
      if (!fn(i, number, isInside))
        return op->emitOpError("reaches element ") << number << " of " << size;
    }
    return success();
  }

  LogicalResult runLoad(kernel::LoadOp load) {
    Scalars &list = values[load.getElement()];
    int64_t count = countOf(load.getElement());
    list.resize(count);
    const Tensor &tensor = memoryOf(load.getMemory());
    Type type = load.getElement().getType();
    const Scalars *mask = load.getMask() ? &values[load.getMask()] : nullptr;
    const Scalars *other =
        load.getMask() ? &values[load.getOtherwise()] : nullptr;
    return access(load, load.getMemory(), load.getMap(), load.getIndices(),
                  count, [&](int64_t i, int64_t number, bool isInside) {
                    if (mask && !(*mask)[at(i, count, mask->size())].integer) {
                      list[i] = (*other)[at(i, count, other->size())];
                      return true;
                    }
                    if (isInside)
                      list[i] = read(tensor, type, number);
                    return isInside;
                  });
  }

  static Scalar read(const Tensor &tensor, Type type, int64_t number) {
    Scalar scalar;
    if (isa<FloatType>(type)) {
      scalar.real = tensor.getDouble(number);
      return scalar;
    }
    scalar.integer = tensor.getInt(number);
    return roundScalar(type, scalar);
  }

  LogicalResult runStore(kernel::StoreOp store) {
    const Scalars &list = values.find(store.getElement())->second;
    bool isAtReduced = llvm::any_of(store.getIndices(), [&](Value index) {
      return isReduced.lookup(index);
    });
    int64_t count = isAtReduced ? numKept * numReduced : numKept;
    const Tensor &tensor = memoryOf(store.getMemory());
    bool isReal = isa<FloatType>(store.getElement().getType());
    return access(store, store.getMemory(), store.getMap(), store.getIndices(),
                  count, [&](int64_t i, int64_t number, bool isInside) {
                    if (!isInside)
                      return false;
                    Scalar scalar = list[at(i, count, list.size())];
                    if (isReal)
                      tensor.set(number, scalar.real);
                    else
                      tensor.setInt(number, tensor.type == DType::Bool
                                                ? scalar.integer & 1
                                                : scalar.integer);
                    return true;
                  });
  }

  //===--- Along the reduced axes -----------------------------------------===//

  static double combine(kernel::Combine how, double a, double b) {
    switch (how) {
    case kernel::Combine::Add:
      return a + b;
    case kernel::Combine::Mul:
      return a * b;
    case kernel::Combine::Max:
      return std::isnan(a) || a > b ? a : b;
    case kernel::Combine::Min:
      return std::isnan(a) || a < b ? a : b;
    default:
      return b;
    }
  }

  static int64_t combine(kernel::Combine how, int64_t a, int64_t b) {
    switch (how) {
    case kernel::Combine::Add:
      return static_cast<int64_t>(uint64_t(a) + uint64_t(b));
    case kernel::Combine::Mul:
      return static_cast<int64_t>(uint64_t(a) * uint64_t(b));
    case kernel::Combine::Max:
      return std::max(a, b);
    case kernel::Combine::Min:
      return std::min(a, b);
    case kernel::Combine::MaxUnsigned:
      return static_cast<int64_t>(std::max(uint64_t(a), uint64_t(b)));
    case kernel::Combine::MinUnsigned:
      return static_cast<int64_t>(std::min(uint64_t(a), uint64_t(b)));
    case kernel::Combine::And:
      return a & b;
    case kernel::Combine::Or:
      return a | b;
    }
    return b;
  }

  Scalar elementAt(const Scalars &list, int64_t kept, int64_t reduced) const {
    return static_cast<int64_t>(list.size()) == numKept
               ? list[kept]
               : list[kept * numReduced + reduced];
  }

  LogicalResult runReduce(kernel::ReduceOp reduce) {
    Scalars &list = values[reduce.getResult()];
    list.resize(numKept);
    const Scalars &from = values[reduce.getElement()];
    Type type = reduce.getResult().getType();
    bool isReal = isa<FloatType>(type);
    for (int64_t kept = 0; kept < numKept; ++kept) {
      Scalar sum = elementAt(from, kept, 0);
      for (int64_t i = 1; i < numReduced; ++i) {
        Scalar next = elementAt(from, kept, i);
        if (isReal)
          sum.real = combine(reduce.getCombine(), sum.real, next.real);
        else
          sum.integer = combine(reduce.getCombine(), sum.integer, next.integer);
      }
      list[kept] = roundScalar(type, sum);
    }
    return success();
  }

  LogicalResult runReduceIndex(kernel::ReduceIndexOp reduce) {
    Scalars &list = values[reduce.getResult()];
    list.resize(numKept);
    const Scalars &from = values[reduce.getElement()];
    bool isReal = isa<FloatType>(reduce.getElement().getType());
    bool least = reduce.getLeast();
    for (int64_t kept = 0; kept < numKept; ++kept) {
      int64_t best = 0;
      for (int64_t i = 1; i < numReduced; ++i) {
        Scalar a = elementAt(from, kept, best), b = elementAt(from, kept, i);
        bool isBetter =
            isReal ? !std::isnan(a.real) &&
                         (std::isnan(b.real) ||
                          (least ? b.real < a.real : b.real > a.real))
                   : (least ? b.integer < a.integer : b.integer > a.integer);
        best = isBetter ? i : best;
      }
      list[kept].integer = best;
    }
    return success();
  }

  LogicalResult runPick(kernel::PickOp pick) {
    Scalars &list = values[pick.getResult()];
    list.resize(numKept);
    const Scalars &from = values[pick.getElement()];
    const Scalars &places = values[pick.getAt()];
    for (int64_t kept = 0; kept < numKept; ++kept) {
      int64_t place = elementAt(places, kept, 0).integer;
      if (place < 0 || place >= numReduced)
        return pick.emitOpError("picks iteration ")
               << place << " of " << numReduced;
      list[kept] = elementAt(from, kept, place);
    }
    return success();
  }

  LogicalResult runChoose(kernel::ChooseOp choose) {
    Scalars &list = values[choose.getPlace()];
    int64_t count = countOf(choose.getPlace());
    list.resize(count);
    const Scalars &places = values[choose.getAt()];
    int64_t size = values[choose.getSize()].front().integer;
    for (int64_t i = 0; i < count; ++i) {
      int64_t given = places[at(i, count, places.size())].integer;
      int64_t place = choose.getWrapped() && given < 0 ? given + size : given;
      if (place < 0 || place >= size)
        return choose.emitOpError("has index ")
               << given << " of a dimension of size " << size;
      list[i].integer = place;
    }
    return success();
  }

  LogicalResult runDraw(kernel::DrawOp draw) {
    Value result = draw.getResult();
    Scalars &list = values[result];
    int64_t count = countOf(result);
    list.resize(count);
    const Scalars &seeds = values[draw.getSeed()];
    const Scalars &numbers = values[draw.getIndex()];
    Type type = result.getType();
    DType dtype = *dtypeOf(type);
    uint64_t stream = draw.getStream();
    if (draw.getRound())
      stream = streamOfRound(stream, values[draw.getRound()].front().integer);
    Philox philox(seeds.front().integer, stream);
    for (int64_t i = 0; i < count; ++i) {
      auto number =
          static_cast<uint64_t>(numbers[at(i, count, numbers.size())].integer);
      if (draw.getDraw() == kernel::Draw::Uniform)
        list[i].real = philox.uniform(dtype, number);
      else if (draw.getDraw() == kernel::Draw::Normal)
        list[i].real = philox.normal(dtype, number);
      else
        list[i].integer = static_cast<int64_t>(
            itemSize(dtype) == 8 ? philox.word64(number) : philox.word(number));
      list[i] = roundScalar(type, list[i]);
    }
    return success();
  }

  kernel::NestOp nest;
  ArrayRef<Tensor> arguments;
  llvm::DenseMap<Value, bool> isReduced;
  std::vector<ScalarFn> functions; ///< by op of the body
  int64_t numReduced = 1, first = 0, numKept = 0;
  llvm::DenseMap<Value, Scalars> values;
};

} // namespace

LogicalResult interpreter::runKernelBody(kernel::FuncOp function,
                                         ArrayRef<Tensor> arguments) {
  if (arguments.size() != function.getBody().getNumArguments())
    return function.emitOpError("has another number of arguments");
  for (kernel::NestOp nest : function.getBody().getOps<kernel::NestOp>())
    if (failed(NestRunner(nest, arguments).run()))
      return failure();
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row after row, op after op, as the dialect says. Nothing here knows threads:
// the order of a sum is written down from its definition (docs/Kernels.md), not
// from the text. Scalars are those of the interpreter, but for the functions
// that have a polynomial of their own.

#include "CanonicalBody.h"

#include "cutback_cuda_host.h"

#include "cutback_cuda.cuh"

#include "Interpreter/ScalarOps.h"
#include "cutback/Interpreter/Tensor.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class Evaluator {
public:
  Evaluator(kernel::NestOp nest, ArrayRef<char *> memory)
      : nest(nest), memory(memory), isReduced(nest.findReduced()) {}

  bool run() {
    int64_t kept = 1;
    for (auto [extent, reduces] :
         llvm::zip_equal(nest.getExtents(), nest.getReduced())) {
      (reduces ? count : kept) *= extent;
      isColumn = !reduces;
    }
    isColumn &= llvm::is_contained(nest.getReduced(), true);
    for (row = 0; row < kept; ++row) {
      for (BlockArgument axis : nest.getBody().getArguments())
        setAxis(axis);
      for (Operation &op : nest.getBlock())
        if (!runOp(&op))
          return false;
    }
    return true;
  }

private:
  using List = std::vector<Scalar>;

  size_t sizeOf(Value value) const {
    return isReduced.lookup(value) ? count : 1;
  }
  Scalar at(Value value, size_t i) const {
    const List &list = values.find(value)->second;
    return list[list.size() == 1 ? 0 : i];
  }

  void setAxis(BlockArgument axis) {
    unsigned number = axis.getArgNumber();
    int64_t stride = 1;
    for (unsigned i = number + 1; i < nest.getExtents().size(); ++i)
      if (nest.getReduced()[i] == nest.getReduced()[number])
        stride *= nest.getExtents()[i];
    List list(sizeOf(axis));
    for (size_t i = 0; i < list.size(); ++i) {
      int64_t place = nest.getReduced()[number] ? int64_t(i) : row;
      list[i].integer = place / stride % nest.getExtents()[number];
    }
    values[axis] = list;
  }

  //===--- Memory ---------------------------------------------------------===//

  Tensor tensorOf(Value value) const {
    auto type = cast<MemRefType>(value.getType());
    auto storage = std::make_shared<Storage>();
    storage->data = memory[cast<BlockArgument>(value).getArgNumber()];
    DType dtype = *dtypeOf(type.getElementType());
    storage->bytes = type.getNumElements() * itemSize(dtype);
    return Tensor::on(storage, 0, dtype, type.getShape());
  }
  template <typename Access> int64_t placeOf(Access op, size_t i) const {
    SmallVector<Attribute> dims;
    Builder builder(op.getContext());
    for (Value index : op.getIndices())
      dims.push_back(builder.getI64IntegerAttr(at(index, i).integer));
    SmallVector<Attribute> results;
    if (failed(op.getMap().constantFold(dims, results)))
      return -1;
    return cast<IntegerAttr>(results[0]).getInt();
  }

  bool runLoad(kernel::LoadOp load) {
    List list(sizeOf(load.getElement()));
    Tensor tensor = tensorOf(load.getMemory());
    bool isReal = isa<FloatType>(load.getElement().getType());
    for (size_t i = 0; i < list.size(); ++i) {
      if (load.getMask() && !at(load.getMask(), i).integer) {
        list[i] = at(load.getOtherwise(), i);
        continue;
      }
      int64_t place = placeOf(load, i);
      if (place < 0 || place >= tensor.numel())
        return false;
      if (isReal)
        list[i].real = tensor.getDouble(place);
      else
        list[i] = roundScalar(load.getElement().getType(),
                              integer(tensor.getInt(place)));
    }
    values[load.getElement()] = list;
    return true;
  }
  bool runStore(kernel::StoreOp store) {
    Tensor tensor = tensorOf(store.getMemory());
    bool isRow = llvm::none_of(store.getIndices(), [&](Value index) {
      return isReduced.lookup(index);
    });
    for (int64_t i = 0; i < (isRow ? 1 : count); ++i) {
      Scalar scalar = at(store.getElement(), i);
      int64_t place = placeOf(store, i);
      if (isa<FloatType>(store.getElement().getType()))
        tensor.set(place, scalar.real);
      else
        tensor.setInt(place, tensor.type == DType::Bool ? scalar.integer & 1
                                                        : scalar.integer);
    }
    return true;
  }

  //===--- Sums -----------------------------------------------------------===//

  /// The parts of a row of `count` elements: by number modulo so many.
  int64_t numParts() const {
    return isColumn ? 8 : count <= 1024 ? 128 : count <= 4096 ? 1024 : 4096;
  }
  template <typename T, typename Fn>
  T combine(Value element, T start, Fn function) const {
    std::vector<T> parts(numParts(), start);
    for (int64_t i = 0; i < count; ++i) {
      T &part = parts[i % parts.size()];
      Scalar next = at(element, i);
      if constexpr (std::is_floating_point_v<T>)
        part = function(part, static_cast<T>(next.real));
      else
        part = function(part, static_cast<T>(next.integer));
    }
    if (isColumn) {
      T all = parts[0];
      for (size_t i = 1; i < parts.size(); ++i)
        all = function(all, parts[i]);
      return all;
    }
    std::vector<T> lanes;
    for (size_t i = 0; i < parts.size(); i += 4)
      lanes.push_back(function(function(parts[i], parts[i + 1]),
                               function(parts[i + 2], parts[i + 3])));
    std::vector<T> warps;
    for (size_t i = 0; i < lanes.size(); i += 32)
      warps.push_back(butterfly(
          std::vector<T>(lanes.begin() + i, lanes.begin() + i + 32), function));
    return butterfly(warps, function);
  }
  template <typename T, typename Fn>
  static T butterfly(std::vector<T> lanes, Fn function) {
    for (size_t apart = lanes.size() / 2; apart > 0; apart /= 2)
      for (size_t i = 0; i < apart; ++i)
        lanes[i] = function(lanes[i], lanes[i + apart]);
    return lanes[0];
  }

  static Scalar integer(int64_t value) {
    Scalar scalar;
    scalar.integer = value;
    return scalar;
  }
  template <typename T> static Scalar real(T value) {
    Scalar scalar;
    scalar.real = value;
    return scalar;
  }
  template <typename T> bool reduceReal(kernel::ReduceOp op, Scalar &result) {
    Value x = op.getElement();
    constexpr T infinity = std::numeric_limits<T>::infinity();
    switch (op.getCombine()) {
    case kernel::Combine::Add:
      result = real(combine<T>(x, 0, Sum()));
      return true;
    case kernel::Combine::Mul:
      result = real(combine<T>(x, 1, Product()));
      return true;
    case kernel::Combine::Max:
      result = real(combine<T>(x, -infinity, Max()));
      return true;
    case kernel::Combine::Min:
      result = real(combine<T>(x, infinity, Min()));
      return true;
    default:
      return false;
    }
  }
  bool runReduce(kernel::ReduceOp op) {
    Type type = op.getResult().getType();
    Scalar result;
    if (type.isF32() || type.isF64()) {
      if (!(type.isF32() ? reduceReal<float>(op, result)
                         : reduceReal<double>(op, result)))
        return false;
    } else {
      Value x = op.getElement();
      if (op.getCombine() == kernel::Combine::Add)
        result = integer(combine<int64_t>(x, 0, Sum()));
      else if (op.getCombine() == kernel::Combine::And)
        result = integer(combine<int64_t>(x, -1, And()));
      else if (op.getCombine() == kernel::Combine::Or)
        result = integer(combine<int64_t>(x, 0, Or()));
      else if (op.getCombine() == kernel::Combine::Max)
        result = integer(combine<int64_t>(x, INT64_MIN, Max()));
      else
        return false;
    }
    values[op.getResult()] = {roundScalar(type, result)};
    return true;
  }

  bool runIndex(kernel::ReduceIndexOp op) {
    int64_t best = 0;
    for (int64_t i = 1; i < count; ++i) {
      double a = at(op.getElement(), best).real,
             b = at(op.getElement(), i).real;
      if (!std::isnan(a) && (std::isnan(b) || (op.getLeast() ? b < a : b > a)))
        best = i;
    }
    values[op.getResult()] = {integer(best)};
    return isa<FloatType>(op.getElement().getType());
  }

  //===--- Scalars --------------------------------------------------------===//

  /// Functions that have a polynomial: in single precision.
  static bool own(Operation *op, float x, float &y) {
    if (isa<math::ExpOp>(op))
      y = expOf(x);
    else if (isa<math::LogOp>(op))
      y = logOf(x);
    else if (isa<math::TanhOp>(op))
      y = tanhOf(x);
    else if (isa<math::ErfOp>(op))
      y = erfOf(x);
    else if (isa<math::SinOp>(op))
      y = sinOf(x);
    else if (isa<math::CosOp>(op))
      y = cosOf(x);
    else if (isa<math::RsqrtOp>(op))
      y = 1.0f / std::sqrt(x);
    else
      return false;
    return true;
  }

  bool runScalar(Operation *op) {
    ScalarFn function = findScalarOp(op);
    if (!function)
      return false;
    Value result = op->getResult(0);
    List list(sizeOf(result));
    for (size_t i = 0; i < list.size(); ++i) {
      SmallVector<Scalar, 3> operands;
      for (Value operand : op->getOperands())
        operands.push_back(at(operand, i));
      float y = 0;
      bool isOwn = !operands.empty() && !result.getType().isF64() &&
                   own(op, static_cast<float>(operands[0].real), y);
      list[i] = roundScalar(result.getType(),
                            isOwn ? real(y) : function(op, operands.data()));
    }
    values[result] = list;
    return true;
  }

  bool runOp(Operation *op) {
    if (auto load = dyn_cast<kernel::LoadOp>(op))
      return runLoad(load);
    if (auto store = dyn_cast<kernel::StoreOp>(op))
      return runStore(store);
    if (auto reduce = dyn_cast<kernel::ReduceOp>(op))
      return runReduce(reduce);
    if (auto reduce = dyn_cast<kernel::ReduceIndexOp>(op))
      return runIndex(reduce);
    if (auto pick = dyn_cast<kernel::PickOp>(op)) {
      int64_t place = at(pick.getAt(), 0).integer;
      if (place < 0 || place >= count)
        return false;
      values[pick.getResult()] = {at(pick.getElement(), place)};
      return true;
    }
    if (auto choose = dyn_cast<kernel::ChooseOp>(op))
      return runChoose(choose);
    return runScalar(op);
  }

  bool runChoose(kernel::ChooseOp choose) {
    List list(sizeOf(choose.getPlace()));
    for (size_t i = 0; i < list.size(); ++i) {
      int64_t size = at(choose.getSize(), i).integer;
      int64_t place = at(choose.getAt(), i).integer;
      if (choose.getWrapped() && place < 0)
        place += size;
      if (place < 0 || place >= size)
        return false;
      list[i] = integer(place);
    }
    values[choose.getPlace()] = list;
    return true;
  }

  kernel::NestOp nest;
  ArrayRef<char *> memory;
  llvm::DenseMap<Value, bool> isReduced;
  int64_t count = 1, row = 0;
  bool isColumn = false;
  llvm::DenseMap<Value, List> values;
};

} // namespace

bool test::runCanonically(kernel::FuncOp function, ArrayRef<char *> memory) {
  for (kernel::NestOp nest : function.getBody().getOps<kernel::NestOp>())
    if (!Evaluator(nest, memory).run())
      return false;
  return true;
}

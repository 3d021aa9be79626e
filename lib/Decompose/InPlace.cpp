// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `aten.X_.O` is the op that it names in the ODS files, mostly `aten.X.O`, on
// the same arguments. The result is then made to fit: an
// in-place op never changes the type of `self`, so a result of another element
// type (a comparison, a promoted sum) is cast, and a smaller one expanded. A
// larger one is an error, as in PyTorch.
//
// What forgets the old value does not read it: `zero_` and `fill_` become
// constants, `copy_` its source.

#include "InPlace.h"

#include "FactorRules.h"

#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Joint/Forgets.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

bool cutback::isInPlace(Operation *op) {
  auto call = dyn_cast<CallOp>(op);
  return call && call.hasOrderedEffects() && op->getNumResults() == 1 &&
         !call.getSchema().params.empty() &&
         call.getSchema().params.front().isWritten;
}

/// The op whose result `op` writes; empty if there is none.
static StringRef functionalName(CallOp op) {
  static const llvm::StringMap<StringRef> names = {
#define ATEN_PAIR(inPlace, functional) {inPlace, functional},
#include "cutback/Dialect/Aten/AtenInPlace.inc"
  };
  return names.lookup(op.getInfo().torchName);
}

InPlaceKind cutback::getInPlaceKind(CallOp op) {
  StringRef packet = op.getSchema().packet;
  if (packet == "aten.detach_")
    return InPlaceKind::Detach;
  if (packet == "aten.requires_grad_")
    return CallReader(op).boolean("requires_grad").value_or(true)
               ? InPlaceKind::Nothing
               : InPlaceKind::Detach;
  return op.getFusionKind() == joint::FusionKind::View ? InPlaceKind::View
                                                       : InPlaceKind::Value;
}

static bool isTensor(const SchemaParam &param) {
  return param.kind == ParamKind::Tensor && !param.isList;
}

/// The functional op on the same arguments, but `self`.
static Value callFunctional(CallBuilder &b, CallOp op, Value self) {
  CallReader reader(op);
  StringRef name = functionalName(op);
  const Schema *functional =
      SchemaTable::get(op.getOperation()->getContext()).lookup(name);
  SmallVector<NamedArg> args;
  for (auto [i, param] : llvm::enumerate(op.getSchema().params))
    // The first tensor is meant in both, whatever it is called (`self` of
    // dropout_ is `input` of dropout).
    if (functional && i == 0) {
      if (auto first = llvm::find_if(functional->params, isTensor);
          first != functional->params.end())
        args.push_back({first->name, Arg(self)});
    } else if (functional && functional->find(param.name) >= 0)
      args.push_back({param.name, reader.arg(static_cast<int>(i))});
  SmallVector<Value> results = b.callMany(name, {}, args);
  return results.empty() ? Value() : results.front();
}

Value cutback::fitTo(CallBuilder &b, Value value, Value self) {
  if (!value)
    return {};
  if (elementOf(value) != elementOf(self))
    value = b.call(op::_to_copy, {value}, {{"dtype", elementOf(self)}});
  if (!value)
    return {};
  ArrayRef<int64_t> from = shapeOf(value), to = shapeOf(self);
  if (from.size() == to.size() && succeeded(verifyCompatibleShape(from, to)) &&
      llvm::none_of(llvm::zip_equal(from, to), [](auto sizes) {
        // `?` may be 1 and expand.
        return std::get<0>(sizes) == 1 && std::get<1>(sizes) != 1;
      })) {
    // What is known of the tensor's sizes stays known.
    if (value.getDefiningOp() && value.getType() != self.getType() &&
        llvm::none_of(to, ShapedType::isDynamic))
      value.setType(self.getType());
    return value;
  }
  bool smaller = from.size() <= to.size();
  for (size_t i = 0; smaller && i < from.size(); ++i) {
    int64_t size = to[to.size() - from.size() + i];
    smaller = from[i] == 1 || from[i] == size || ShapedType::isDynamic(size) ||
              ShapedType::isDynamic(from[i]);
  }
  if (!smaller) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "a value of type '" << value.getType()
        << "' is written in place to a tensor of type '" << self.getType()
        << "'";
    b.error(text);
    return {};
  }
  return b.call(op::expand, {value, b.sizes(self)});
}

/// In the flat tensor the diagonal is every n-th element: of a matrix with
/// `wrap` to its end, of a cube of equal sizes too.
static Value fillFlatDiagonal(CallBuilder &b, Value self, const Arg &value) {
  ArrayRef<int64_t> sizes = shapeOf(self);
  int64_t step = 0, count = 1;
  for (int64_t size : llvm::reverse(sizes)) {
    if (ShapedType::isDynamic(size)) {
      b.error(
          "'aten.fill_diagonal_' of more than a matrix, or with wrap, needs "
          "sizes that are known");
      return {};
    }
    step += count;
    count *= size;
  }
  if (count == 0)
    return self;
  Value flat = b.call(op::reshape, {self, {-1}});
  Value rows = b.call(op::slice_Tensor, {flat, 0, 0, count, step});
  Value filled = b.call(op::full_like, {rows, value});
  flat = b.call(op::slice_scatter, {flat, filled, 0, 0, count, step});
  return b.call(op::reshape, {flat, b.sizes(self)});
}

/// A tensor like `self`, whose old value is forgotten.
static Value fullLike(CallBuilder &b, Value self, const Arg &value) {
  Value filled = b.call(op::full_like, {self, value});
  if (filled)
    filled.getDefiningOp()->setDiscardableAttr(joint::kForgets,
                                               b.getBuilder().getUnitAttr());
  return filled;
}

/// `value` in the place of `self`. Of one without history PyTorch's result has
/// that of `self` all the same: a gradient of zeros.
static Value writtenOver(CallBuilder &b, Value self, Value value) {
  value = fitTo(b, value, self);
  if (!value || !isa<FloatType, ComplexType>(elementOf(self)) ||
      decompose::mayHaveGradient(value) || !decompose::mayHaveGradient(self))
    return value;
  return b.call(op::copy, {self, value});
}

/// self.fill_diagonal_(value, wrap)
static Value fillDiagonal(CallBuilder &b, const CallReader &reader,
                          Value self) {
  if (rankOf(self) != 2 || reader.boolean("wrap").value_or(false))
    return fillFlatDiagonal(b, self, reader.arg("fill_value"));
  Value diagonal = b.call(op::diagonal, {self});
  Value filled = b.call(op::full_like, {diagonal, reader.arg("fill_value")});
  return b.call(op::diagonal_scatter, {self, filled});
}

Value cutback::buildValue(CallBuilder &b, CallOp op, Value self) {
  CallReader reader(op);
  StringRef packet = op.getSchema().packet;
  if (packet == "aten.zero_")
    return fullLike(b, self, 0);
  if (packet == "aten.fill_diagonal_")
    return fillDiagonal(b, reader, self);
  if (packet == "aten.copy_") {
    Value value = writtenOver(b, self, reader.value("src"));
    // An argument may be written itself afterwards.
    return value && isa<BlockArgument>(value) ? b.call(op::clone, {value})
                                              : value;
  }
  if (packet == "aten.fill_") {
    Value value = reader.value("value");
    return value ? writtenOver(b, self, value)
                 : fullLike(b, self, reader.arg("value"));
  }
  return fitTo(b, callFunctional(b, op, self), self);
}

Value cutback::buildView(CallBuilder &b, CallOp op, Value self) {
  if (op.getSchema().packet.starts_with("aten.resize_"))
    return decompose::resized(b, CallReader(op), self);
  return callFunctional(b, op, self);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `reshape`, `flatten`, `contiguous`, `to` give a view where they can and a
// copy elsewhere. Exported programs declare strides, so it is known which:
//
//   reshape, flatten   a view if the old strides can express the new sizes
//   ravel              a view of a contiguous operand
//   contiguous         the operand itself if it has the strides asked for,
//                      which the result then has too
//   to, type_as        the operand itself if the element type, the device and
//                      the strides are the same and no copy is asked for
//
// Old strides express new sizes if each group of old dimensions that lies
// densely (stride of one = stride × size of the next) is cut into new
// dimensions as a whole. Linear in the number of dimensions.

#include "Views.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Aten/CallReader.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

bool pt2::mayBeView(Operation *op) {
  auto call = dyn_cast<aten::CallOp>(op);
  return call && op->getNumResults() == 1 && op->getNumOperands() > 0 &&
         call.getInfo().has(aten::kMayAlias);
}

bool pt2::canView(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                  ArrayRef<int64_t> to) {
  if (sizes.size() != strides.size())
    return false;
  if (llvm::is_contained(sizes, 0))
    return true;
  size_t next = to.size();
  int64_t group = 1;
  int64_t base = strides.empty() ? 1 : strides.back();
  for (size_t i = sizes.size(); i-- > 0;) {
    group *= sizes[i];
    bool goesOn =
        i > 0 && (sizes[i - 1] == 1 || strides[i - 1] == group * base);
    if (goesOn)
      continue;
    int64_t covered = 1;
    while (next > 0 && (covered < group || to[next - 1] == 1))
      covered *= to[--next];
    if (covered != group)
      return false;
    group = 1;
    base = i > 0 ? strides[i - 1] : 1;
  }
  return llvm::all_of(to.take_front(next),
                      [](int64_t size) { return size == 1; });
}

static bool isContiguous(const Types::Tensor &tensor) {
  int64_t expected = 1;
  for (auto [size, stride] :
       llvm::reverse(llvm::zip_equal(tensor.sizes, tensor.strides))) {
    if (size != 1 && stride != expected)
      return false;
    expected *= size;
  }
  return true;
}

bool pt2::isView(Operation *op, const Types::Tensor &operand,
                 const Types::Tensor &result) {
  auto elementOf = [](const Types::Tensor &tensor) {
    return getElementTypeOrSelf(tensor.type->type);
  };
  if (!operand.isSized || !result.isSized ||
      elementOf(operand) != elementOf(result) ||
      operand.device != result.device)
    return false;
  auto call = cast<aten::CallOp>(op);
  StringRef packet = call.getSchema().packet;
  bool keepsShape = operand.sizes == result.sizes;
  if (packet == "aten.reshape" || packet == "aten.flatten" ||
      packet == "aten.reshape_as")
    return canView(operand.sizes, operand.strides, result.sizes);
  if (packet == "aten.ravel")
    return isContiguous(operand);
  if (int copy = call.getSchema().find("copy"); copy >= 0)
    if (auto flag = dyn_cast<BoolAttr>(call.getArgs()[copy]);
        flag && flag.getValue())
      return false;
  return keepsShape && operand.strides == result.strides;
}

bool pt2::isItself(Operation *op, const Types::Tensor &operand,
                   const Types::Tensor &result) {
  auto call = dyn_cast<aten::CallOp>(op);
  if (!call || !operand.isSized || !result.isSized ||
      operand.type->type != result.type->type ||
      operand.device != result.device || operand.sizes != result.sizes ||
      operand.strides != result.strides)
    return false;
  StringRef packet = call.getSchema().packet;
  aten::CallReader reader(call);
  if (packet.ends_with("dropout"))
    return reader.boolean(aten::optional("train")) == false ||
           reader.number("p") == 0.0;
  if (packet == "aten.to")
    return !reader.boolean("copy").value_or(false);
  return llvm::is_contained(
      {"aten.broadcast_tensors", "aten.contiguous", "aten.type_as",
       "aten.flatten", "aten.positive", "aten.real", "aten.resolve_conj",
       "aten.resolve_neg", "aten.atleast_1d", "aten.atleast_2d",
       "aten.atleast_3d", "aten.sum_to_size"},
      packet);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves of elements whose places are known, as ops that have loops:
//
//   stack             the parts side by side, each with one dimension more
//   put under a mask  one value for each place that a mask leaves out or not,
//                     x[mask] = v, is a choice between v and x
//
// A value for each true element of a mask would need their number, which data
// decide; that stays as it is. The rules are of the list of core ops alone.

#include "CoreRules.h"
#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static Value stacked(Rewrite &c) {
  int64_t dim = wrapDim(c.r.integer("dim").value_or(0), rankOf(c.result()));
  std::vector<Arg> parts;
  for (const Arg &tensor : c.r.list("tensors"))
    parts.push_back(
        c.b.call("aten.unsqueeze.default", {tensor.getValue(), dim}));
  return c.b.call("aten.cat.default", {parts, dim});
}

namespace {
/// The one index of a put: a mask over `count` dimensions from `dim` on.
struct Mask {
  Value mask;
  int64_t dim = 0, behind = 0; ///< dimensions that follow

  /// False if the indices are something else.
  bool read(const CallReader &call) {
    Value self = call.value("self");
    for (auto [i, index] : llvm::enumerate(call.list("indices"))) {
      Value given = index.isValue() ? index.getValue() : Value();
      if (!given)
        continue;
      if (mask || !elementOf(given).isInteger(1))
        return false;
      mask = given;
      dim = static_cast<int64_t>(i);
    }
    behind = mask ? rankOf(self) - dim - rankOf(mask) : 0;
    return mask && rankOf(mask) > 0 && behind >= 0;
  }
  /// Dimension of `values` that counts the true elements, below 0 if it has
  /// none.
  int64_t countedDim(Value values) const { return rankOf(values) - behind - 1; }
};
} // namespace

/// One value for all true elements of a mask.
static bool isChoice(CallOp op) {
  CallReader call(op);
  Mask put;
  Value values = call.value("values");
  if (!values || !put.read(call))
    return false;
  int64_t counted = put.countedDim(values);
  return counted < 0 || shapeOf(values)[counted] == 1;
}

static Value chosen(Rewrite &c) {
  CallBuilder &b = c.b;
  Mask put;
  put.read(c.r);
  Value self = c.r.value("self"), values = c.r.value("values");
  Value mask = put.mask;
  // In the mask's dimensions one value stands for all.
  if (int64_t counted = put.countedDim(values); counted >= 0)
    for (int64_t i = 1; i < rankOf(put.mask); ++i)
      values = b.call("aten.unsqueeze.default", {values, counted});
  for (int64_t i = 0; i < put.behind; ++i)
    mask = b.call("aten.unsqueeze.default", {mask, -1});
  if (c.r.boolean("accumulate").value_or(false))
    values = b.call("aten.add.Tensor", {self, values});
  return b.call("aten.where.self", {mask, values, self});
}

CoreTable decompose::coreMoveRules() {
  static constexpr CoreRule rules[] = {
      {"aten.stack.default", one<stacked>},
      {"aten.index_put.default", one<chosen>, isChoice},
      {"aten._unsafe_index_put.default", one<chosen>, isChoice},
  };
  return rules;
}

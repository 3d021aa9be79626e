// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves of elements whose places are known, as ops that have loops:
//
//   stack             the parts side by side, each with one dimension more
//   put under a mask  one value for each place that a mask leaves out or not,
//                     x[mask] = v, is a choice between v and x
//   strided scatter   into each element of a tensor once: the source, in the
//                     order of the strides
//   shuffles          views, a permutation, and a copy
//
// A value for each true element of a mask would need their number, which data
// decide; that stays as it is. The rules are of the list of core ops alone.

#include "ComplexParts.h"
#include "CoreRules.h"

#include "cutback/Analysis/Layouts.h"

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

/// A kernel stores parts as they are, of numbers that are not complex.
static bool isOfSeveralTypes(CallOp op) {
  if (areAllComplex(op))
    return true;
  Type element = elementOf(op->getResult(0));
  return llvm::any_of(op->getOperands(),
                      [&](Value part) { return elementOf(part) != element; });
}

/// `cat` of parts of one type, that of the result; of complex ones by theirs.
static Value promoted(Rewrite &c) {
  if (areAllComplex(c.op))
    return complexConcat(c);
  std::vector<Arg> parts;
  for (const Arg &tensor : c.r.list("tensors"))
    parts.push_back(castTo(c.b, tensor.getValue(), elementOf(c.result())));
  return c.b.call("aten.cat.default", {parts, c.r.integer("dim").value_or(0)});
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

/// Dimensions by falling stride, where they reach `count` elements from the
/// first on, each once. Empty if they do not.
static SmallVector<int64_t> orderOfAll(CallOp op) {
  CallReader call(op);
  auto sizes = call.integers("size"), strides = call.integers("stride");
  if (!sizes || !strides || call.integer("storage_offset").value_or(0) != 0)
    return {};
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, sizes->size()));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    return (*strides)[a] > (*strides)[b];
  });
  int64_t count = 1;
  for (int64_t dim : llvm::reverse(order)) {
    if ((*sizes)[dim] != 1 && (*strides)[dim] != count)
      return {};
    count *= (*sizes)[dim];
  }
  auto self = cast<RankedTensorType>(call.value("self").getType());
  bool isAll = self.hasStaticShape() && self.getNumElements() == count;
  return isAll ? order : SmallVector<int64_t>();
}

/// A result of its own lies in the order of its elements.
static bool scattersIntoAll(CallOp op) {
  Operation *maker = CallReader(op).value("self").getDefiningOp();
  return maker && maker->getNumResults() == 1 &&
         getViewedOperand(maker, 0) < 0 && !orderOfAll(op).empty();
}

static Value scattered(Rewrite &c) {
  Value source =
      c.b.call("aten.permute.default", {c.r.value("src"), orderOfAll(c.op)});
  source = c.b.call("aten.clone.default", {source},
                    {{"memory_format", "contiguous_format"}});
  return viewAs(c.b, source, c.b.sizes(c.r.value("self")).getList().vec());
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

/// `value` under `sizes`, with its dimensions in `order`, laid out anew.
static Value rearranged(Rewrite &c, const std::vector<Arg> &sizes,
                        ArrayRef<int64_t> order) {
  Value value = viewAs(c.b, c.r.value("self"), sizes);
  value = c.b.call("aten.permute.default", {value, order});
  value = c.b.call("aten.clone.default", {value},
                   {{"memory_format", "contiguous_format"}});
  return viewAs(c.b, value, c.b.sizes(c.result()).getList().vec());
}

/// Channels become blocks of the plane, or blocks channels.
static Value pixelShuffle(Rewrite &c) {
  Value self = c.r.value("self"), out = c.result();
  bool grows = c.packet() == "aten.pixel_shuffle";
  Arg factor = c.r.arg(grows ? "upscale_factor" : "downscale_factor");
  int64_t lead = rankOf(self) - 3;
  ArrayRef<int64_t> small = (grows ? shapeOf(self) : shapeOf(out)).take_back(2);
  Arg channels = (grows ? shapeOf(out) : shapeOf(self))[lead];
  std::vector<Arg> sizes = c.b.sizes(self).getList().vec();
  sizes.resize(lead);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, lead));
  auto add = [&](std::initializer_list<Arg> more,
                 std::initializer_list<int64_t> places) {
    sizes.insert(sizes.end(), more.begin(), more.end());
    for (int64_t place : places)
      order.push_back(lead + place);
  };
  if (grows)
    add({channels, factor, factor, small[0], small[1]}, {0, 3, 1, 4, 2});
  else
    add({channels, small[0], factor, small[1], factor}, {0, 2, 4, 1, 3});
  return rearranged(c, sizes, order);
}

static Value channelShuffle(Rewrite &c) {
  Value self = c.r.value("self");
  int64_t groups = c.r.integer("groups").value_or(1);
  std::vector<Arg> sizes = c.b.sizes(self).getList().vec();
  sizes[1] = Arg(shapeOf(self)[1] / groups);
  sizes.insert(sizes.begin() + 1, Arg(groups));
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, rankOf(self) + 1));
  std::swap(order[1], order[2]);
  return rearranged(c, sizes, order);
}

/// All sizes are known, of operand and result.
static bool isOfKnownSizes(CallOp op) {
  auto isKnown = [](Type type) {
    return cast<RankedTensorType>(type).hasStaticShape();
  };
  Operation *shuffle = op;
  return isKnown(shuffle->getOperand(0).getType()) &&
         isKnown(shuffle->getResult(0).getType());
}

const CoreRule forms::promoted = {one<::promoted>, ::isOfSeveralTypes};
const CoreRule forms::stacked = {one<::stacked>};
const CoreRule forms::chosen = {one<::chosen>, ::isChoice};
const CoreRule forms::scattered = {one<::scattered>, ::scattersIntoAll};
const CoreRule forms::pixelShuffle = {one<::pixelShuffle>, ::isOfKnownSizes};
const CoreRule forms::channelShuffle = {one<::channelShuffle>,
                                        ::isOfKnownSizes};

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

/// `put` names elements by their number in row-major order.
static Value putFlat(Rewrite &c) {
  CallBuilder &b = c.b;
  auto flat = [&](Value value) { return viewAs(b, value, {b.numel(value)}); };
  Value self = c.r.value("self");
  std::vector<Arg> index = {flat(c.r.value("index"))};
  Value put = b.call("aten.index_put.default",
                     {flat(self), index, flat(c.r.value("source")),
                      c.r.boolean("accumulate").value_or(false)});
  return viewAs(b, put, b.sizes(self).getList().vec());
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

/// The operand under `sizes`, with its dimensions in `order`, laid out anew and
/// under those of the result.
static Value rearranged(Rewrite &c, const std::vector<Arg> &sizes,
                        ArrayRef<int64_t> order,
                        const std::vector<Arg> &results) {
  Value value = viewAs(c.b, c.r.value("self"), sizes);
  value = c.b.call("aten.permute.default", {value, order});
  value = c.b.call("aten.clone.default", {value},
                   {{"memory_format", "contiguous_format"}});
  return viewAs(c.b, value, results);
}

/// Channels become blocks of the plane, or blocks channels.
static Value pixelShuffle(Rewrite &c) {
  Value self = c.r.value("self");
  bool grows = c.packet() == "aten.pixel_shuffle";
  int64_t factor =
      c.r.integer(grows ? "upscale_factor" : "downscale_factor").value_or(1);
  int64_t lead = rankOf(self) - 3;
  Arg channels = c.b.size(self, lead), height = c.b.size(self, lead + 1),
      width = c.b.size(self, lead + 2);
  if (grows) {
    channels = floorDiv(c.b, channels, factor * factor);
  } else {
    height = floorDiv(c.b, height, factor);
    width = floorDiv(c.b, width, factor);
  }
  std::vector<Arg> sizes = c.b.sizes(self).getList().vec();
  sizes.resize(lead);
  std::vector<Arg> results = sizes;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, lead));
  auto add = [&](std::initializer_list<Arg> more,
                 std::initializer_list<int64_t> places,
                 std::initializer_list<Arg> behind) {
    sizes.insert(sizes.end(), more.begin(), more.end());
    results.insert(results.end(), behind.begin(), behind.end());
    for (int64_t place : places)
      order.push_back(lead + place);
  };
  auto times = [&](const Arg &size, int64_t by) {
    return c.b.times(size, Arg(by));
  };
  if (grows)
    add({channels, factor, factor, height, width}, {0, 3, 1, 4, 2},
        {channels, times(height, factor), times(width, factor)});
  else
    add({channels, height, factor, width, factor}, {0, 2, 4, 1, 3},
        {times(channels, factor * factor), height, width});
  return rearranged(c, sizes, order, results);
}

static Value channelShuffle(Rewrite &c) {
  Value self = c.r.value("self");
  int64_t groups = c.r.integer("groups").value_or(1);
  std::vector<Arg> results = c.b.sizes(self).getList().vec(), sizes = results;
  sizes[1] = floorDiv(c.b, sizes[1], groups);
  sizes.insert(sizes.begin() + 1, Arg(groups));
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, rankOf(self) + 1));
  std::swap(order[1], order[2]);
  return rearranged(c, sizes, order, results);
}

const CoreRule forms::promoted = {one<::promoted>, ::isOfSeveralTypes};
const CoreRule forms::stacked = {one<::stacked>};
const CoreRule forms::chosen = {one<::chosen>, ::isChoice};
const CoreRule forms::putFlat = {one<::putFlat>};
const CoreRule forms::scattered = {one<::scattered>, ::scattersIntoAll};
const CoreRule forms::pixelShuffle = {one<::pixelShuffle>};
const CoreRule forms::channelShuffle = {one<::channelShuffle>};

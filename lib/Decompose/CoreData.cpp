// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that keep more than their gradients need.
//
// Pooling: its indices of 64 bits become offsets in the window of 8, and the
// indices are made from them where a gradient reads them.
// Activations with a kink: their gradients compare, and what they read then is
// of one byte an element where that is cheaper to keep.
// Copies side by side (`cat` of one tensor): a view of one, expanded and
// copied once, which fuses with what follows.

#include "CoreRules.h"
#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

/// Two numbers from a list of one, two or none (then `otherwise`).
static std::vector<Arg> pair(const CallReader &read, const char *name,
                             std::vector<Arg> otherwise) {
  std::vector<Arg> list = read.list(name);
  if (list.empty())
    return otherwise;
  if (list.size() == 1)
    list.push_back(list[0]);
  return list;
}

/// True if each place of the window has a number below 128.
static bool hasSmallWindow(ArrayRef<Arg> kernel) {
  int64_t places = 1;
  for (const Arg &size : kernel)
    places *= size.getInt().value_or(128);
  return kernel.size() == 2 && places < 128;
}

/// The indices are made from the offsets where they are needed; a partitioner
/// can save either.
static Values maxPool(Rewrite &c) {
  Value self = c.r.value("self");
  std::vector<Arg> kernel = pair(c.r, "kernel_size", {});
  std::vector<Arg> stride = pair(c.r, "stride", kernel);
  std::vector<Arg> padding = pair(c.r, "padding", {Arg(0), Arg(0)});
  std::vector<Arg> dilation = pair(c.r, "dilation", {Arg(1), Arg(1)});
  Values pooled =
      c.b.callMany("prims._low_memory_max_pool_with_offsets.default",
                   {self, kernel, stride, padding, dilation,
                    c.r.boolean("ceil_mode").value_or(false)});
  if (pooled.size() != 2)
    return {};
  Value indices =
      c.b.call("prims._low_memory_max_pool_offsets_to_indices.default",
               {pooled[1],
                kernel,
                {c.b.size(self, 2), c.b.size(self, 3)},
                stride,
                padding,
                dilation});
  return {pooled[0], indices};
}

/// The gradient, or 0 where `mask` is set.
static Value zeroWhere(Rewrite &c, Value mask) {
  return c.b.call("aten.where.ScalarSelf",
                  {mask, 0.0, c.r.value("grad_output")});
}

static Value thresholdBackward(Rewrite &c) {
  return zeroWhere(
      c, c.b.call("aten.le.Scalar", {c.r.value("self"), c.r.arg("threshold")}));
}

static Value hardtanhBackward(Rewrite &c) {
  Value self = c.r.value("self");
  Value low = c.b.call("aten.le.Scalar", {self, c.r.arg("min_val")});
  Value high = c.b.call("aten.ge.Scalar", {self, c.r.arg("max_val")});
  return zeroWhere(c, c.b.call("aten.logical_or.default", {low, high}));
}

static Value leakyReluBackward(Rewrite &c) {
  Value grad = c.r.value("grad_output");
  Value isPositive = c.b.call("aten.gt.Scalar", {c.r.value("self"), 0});
  Value scaled = c.b.call("aten.mul.Scalar", {grad, c.r.arg("negative_slope")});
  return c.b.call("aten.where.self", {isPositive, grad, scaled});
}

/// One tensor several times.
static Value repeated(Rewrite &c) {
  std::vector<Arg> pieces = c.r.list("tensors");
  Value piece = pieces[0].getValue();
  int64_t rank = rankOf(piece);
  int64_t dim = wrapDim(c.r.integer("dim").value_or(0), rank);
  int64_t count = static_cast<int64_t>(pieces.size());
  std::vector<Arg> sizes = c.b.sizes(piece).getList().vec(), wide = sizes;
  wide.insert(wide.begin() + dim, Arg(count));
  sizes[static_cast<size_t>(dim)] =
      c.b.times(sizes[static_cast<size_t>(dim)], Arg(count));
  Value view = c.b.call("aten.unsqueeze.default", {piece, dim});
  view = c.b.call("aten.expand.default", {view, wide});
  view = c.b.call("aten.clone.default", {view},
                  {{"memory_format", "contiguous_format"}});
  return c.b.call("aten.view.default", {view, sizes});
}

/// `cat` of one tensor several times.
static bool isRepetition(CallOp op) {
  std::vector<Arg> pieces = CallReader(op).list("tensors");
  return pieces.size() > 1 && rankOf(pieces[0].getValue()) > 0 &&
         llvm::all_of(pieces, [&](const Arg &piece) {
           return piece.getValue() == pieces[0].getValue();
         });
}

/// Pooling of images by a window of fewer than 128 places.
static bool isSmallPool(CallOp op) {
  CallReader read(op);
  return rankOf(read.value("self")) == 4 &&
         hasSmallWindow(pair(read, "kernel_size", {}));
}

const CoreRule units::maxPool = {many<::maxPool>, ::isSmallPool};
const CoreRule units::repeated = {one<::repeated>, ::isRepetition};
const CoreRule units::thresholdBackward = {one<::thresholdBackward>};
const CoreRule units::hardtanhBackward = {one<::hardtanhBackward>};
const CoreRule units::leakyReluBackward = {one<::leakyReluBackward>};

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views with several names as the few that stay: `view`, `permute`,
// `transpose`, `expand`, `slice`, `split_with_sizes`, and the pieces of a
// dimension as one split.
//
// `reshape` and `flatten` are views where strides allow it and copies
// elsewhere. The reader of a program knows which (`joint.aliases`); without
// its word they are copies, as a copy is never wrong.
//
// Sizes of pieces are numbers where the dimension is known. Elsewhere they are
// computed, by the formulas of PyTorch.

#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static bool isAlias(Rewrite &c) {
  return c.op.getOperation()->hasAttr("joint.aliases");
}

/// `self` under other sizes, as a view or a copy.
static Value asView(Rewrite &c, const std::vector<Arg> &sizes) {
  Value self = c.r.value(0);
  if (isAlias(c) || c.result().getType() == self.getType())
    return viewAs(c.b, self, sizes);
  Value copy =
      c.b.call(op::clone, {self}, {{"memory_format", "contiguous_format"}});
  return c.b.call(op::_unsafe_view, {copy, sizes});
}

static Value reshape(Rewrite &c) {
  return asView(
      c, c.r.list(c.op.getSchema().find("shape") >= 0 ? "shape" : "size"));
}

static Value flatten(Rewrite &c) {
  Value self = c.r.value("self");
  int64_t rank = rankOf(self);
  int64_t start = wrapDim(c.r.integer("start_dim").value_or(0), rank);
  int64_t end = wrapDim(c.r.integer("end_dim").value_or(-1), rank);
  if (rank > 0 && start == end)
    return self;
  std::vector<Arg> sizes;
  for (int64_t dim = 0; dim < start; ++dim)
    sizes.push_back(c.b.size(self, dim));
  sizes.push_back(countOf(c.b, self, start, rank == 0 ? 0 : end + 1));
  for (int64_t dim = end + 1; dim < rank; ++dim)
    sizes.push_back(c.b.size(self, dim));
  return asView(c, sizes);
}

static Value unflatten(Rewrite &c) {
  Value self = c.r.value("self");
  int64_t rank = rankOf(self);
  int64_t at = wrapDim(c.r.integer("dim").value_or(0), rank);
  std::vector<Arg> sizes;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim != at) {
      sizes.push_back(c.b.size(self, dim));
      continue;
    }
    for (const Arg &size : c.r.list("sizes"))
      sizes.push_back(size);
  }
  return viewAs(c.b, self, sizes);
}

static std::vector<Arg> sizesOf(CallBuilder &b, Value value) {
  return b.sizes(value).getList().vec();
}

static Value viewAsOther(Rewrite &c) {
  return viewAs(c.b, c.r.value("self"), sizesOf(c.b, c.r.value("other")));
}

static Value reshapeAs(Rewrite &c) {
  return asView(c, sizesOf(c.b, c.r.value("other")));
}

static Value expandAsOther(Rewrite &c) {
  return expandTo(c.b, c.r.value("self"), sizesOf(c.b, c.r.value("other")));
}

static Value broadcastTo(Rewrite &c) {
  return expandTo(c.b, c.r.value("self"), c.r.list("size"));
}

static Value ravel(Rewrite &c) {
  Value self = c.r.value("self");
  return asView(c, {countOf(c.b, self, 0, rankOf(self))});
}

//===----------------------------------------------------------------------===//
// Order of dimensions
//===----------------------------------------------------------------------===//

static Value swapAxes(Rewrite &c) {
  bool axes = c.op.getSchema().find("axis0") >= 0;
  return c.b.call(op::transpose_int,
                  {c.r.value("self"), c.r.arg(axes ? "axis0" : "dim0"),
                   c.r.arg(axes ? "axis1" : "dim1")});
}

static Value swapLast(Rewrite &c) {
  Value self = c.r.value("self");
  return rankOf(self) == 0 ? self : c.b.call(op::transpose_int, {self, -2, -1});
}

static Value reverseDims(Rewrite &c) {
  SmallVector<int64_t> order = allDims(c.r.value("self"));
  std::reverse(order.begin(), order.end());
  return c.b.call(op::permute, {c.r.value("self"), order});
}

static Value moveDims(Rewrite &c) {
  Value self = c.r.value("self");
  int64_t rank = rankOf(self);
  SmallVector<int64_t> none;
  SmallVector<int64_t> from = c.r.integers("source").value_or(none);
  SmallVector<int64_t> to = c.r.integers("destination").value_or(none);
  if (rank == 0)
    return self;
  SmallVector<int64_t> order(rank, -1);
  for (auto [source, destination] : llvm::zip(from, to))
    order[wrapDim(destination, rank)] = wrapDim(source, rank);
  int64_t next = 0;
  for (int64_t &dim : order) {
    if (dim >= 0)
      continue;
    while (llvm::is_contained(order, next))
      ++next;
    dim = next;
  }
  return c.b.call(op::permute, {self, order});
}

static Value narrow(Rewrite &c) {
  Value self = c.r.value("self");
  int64_t dim = wrapDim(c.r.integer("dim").value_or(0), rankOf(self));
  Arg start = c.r.arg("start");
  if (start.getInt().value_or(0) < 0)
    start = plus(c.b, c.b.size(self, dim), start);
  return sliceOf(c.b, self, dim, start, plus(c.b, start, c.r.arg("length")));
}

/// One quarter turn flips one dimension of the transposed plane.
static Value rotate(Rewrite &c) {
  Value self = c.r.value("self");
  SmallVector<int64_t> plane = *c.r.integers("dims");
  int64_t turns = c.r.integer("k").value_or(1) % 4;
  if (turns < 0)
    turns += 4;
  if (turns == 0)
    return c.b.call(op::clone, {self});
  if (turns == 2)
    return c.b.call(op::flip, {self, plane});
  Value flipped =
      c.b.call(op::flip, {self, ArrayRef<int64_t>(plane[turns == 1 ? 1 : 0])});
  return c.b.call(op::transpose_int, {flipped, plane[0], plane[1]});
}

static Value flipAlong(Rewrite &c) {
  return c.b.call(op::flip,
                  {c.r.value("self"),
                   SmallVector<int64_t>(1, c.packet() == "aten.fliplr")});
}

static Value itself(Rewrite &c) { return c.r.value(0); }

//===----------------------------------------------------------------------===//
// More dimensions
//===----------------------------------------------------------------------===//

/// At least `least` dimensions: rows first, planes last.
static Value withDims(CallBuilder &b, Value value, int64_t least) {
  if (b.failed() || rankOf(value) >= least)
    return value;
  std::vector<Arg> sizes = sizesOf(b, value);
  if (least > 1 && sizes.size() < 2)
    sizes.insert(sizes.begin(), sizes.empty() ? 2 : 1, Arg(int64_t(1)));
  if (least != 2)
    sizes.push_back(Arg(int64_t(1)));
  return viewAs(b, value, sizes);
}

static Values atLeast(Rewrite &c) {
  int64_t least = c.packet().drop_back().back() - '0';
  Values results;
  for (const Arg &tensor : c.r.list(0))
    results.push_back(withDims(c.b, tensor.getValue(), least));
  return results;
}

static Value stack(Rewrite &c) {
  StringRef packet = c.packet();
  bool columns = packet == "aten.column_stack";
  bool deep = packet == "aten.dstack", wide = packet == "aten.hstack";
  std::vector<Arg> parts;
  for (const Arg &tensor : c.r.list("tensors")) {
    Value value = tensor.getValue();
    if (columns && rankOf(value) < 2)
      value = viewAs(c.b, value, {c.b.numel(value), Arg(1)});
    else if (!columns)
      value = withDims(c.b, value, wide ? 1 : deep ? 3 : 2);
    if (c.b.failed())
      return {};
    parts.push_back(value);
  }
  int64_t dim = deep ? 2 : columns ? 1 : 0;
  if (wide && rankOf(parts.front().getValue()) > 1)
    dim = 1;
  return c.b.call(op::cat, {parts, dim});
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

static Values split(Rewrite &c, Value self, const std::vector<Arg> &sizes,
                    int64_t dim) {
  return c.b.callMany(op::split_with_sizes, {self, sizes, dim});
}

/// Pieces of ceil(size / chunks), the last one with what is left.
static Values chunk(Rewrite &c) {
  Value self = c.r.value("self");
  int64_t dim = wrapDim(c.r.integer("dim").value_or(0), rankOf(self));
  int64_t chunks = c.r.integer("chunks").value_or(1);
  Arg size = c.b.size(self, dim);
  unsigned count = c.op.getOperation()->getNumResults();
  Arg width = floorDiv(c.b, plus(c.b, size, Arg(chunks - 1)), chunks);
  if (size.getInt() && *size.getInt() > 0)
    return c.b.callMany(op::split_Tensor, {self, width, dim});
  std::vector<Arg> sizes(count, width);
  Arg before = c.b.times(width, Arg(int64_t(count) - 1));
  sizes.back() = size.getInt()
                     ? Arg(int64_t(0))
                     : Arg(c.b.call(op::operator_sub, {size, before}));
  return split(c, self, sizes, dim);
}

static Values splitSizes(Rewrite &c) {
  const char *name =
      c.op.getSchema().find("split_sizes") >= 0 ? "split_sizes" : "split_size";
  return split(c, c.r.value("self"), c.r.list(name),
               c.r.integer("dim").value_or(0));
}

static Values splitWidth(Rewrite &c) {
  return c.b.callMany(op::split_Tensor,
                      {c.r.value("self"), c.r.arg("split_size"),
                       c.r.integer("dim").value_or(0)});
}

static Values tensorSplit(Rewrite &c) {
  Value self = c.r.value("self");
  int64_t rank = rankOf(self), dim = c.r.integer(optional("dim")).value_or(0);
  if (c.packet() == "aten.dsplit")
    dim = 2;
  if (c.packet() == "aten.hsplit")
    dim = rank > 1 ? 1 : 0;
  dim = wrapDim(dim, rank);
  Arg size = c.b.size(self, dim);
  std::vector<Arg> sizes;
  if (std::optional<int64_t> sections = c.r.integer(optional("sections"))) {
    // The first ones are larger by one.
    for (int64_t i = 0; i < *sections; ++i)
      sizes.push_back(
          floorDiv(c.b, plus(c.b, size, Arg(*sections - 1 - i)), *sections));
    return split(c, self, sizes, dim);
  }
  // Bounds of slices: pieces may be empty, or overlap where bounds go back.
  Values results;
  Arg start(int64_t(0));
  std::vector<Arg> bounds = c.r.list(optional("indices"));
  bounds.push_back(size);
  for (const Arg &end : bounds) {
    results.push_back(sliceOf(c.b, self, dim, start, end));
    start = end;
  }
  return results;
}

const DecomposeFn decompositions::chunk = many<::chunk>;
const DecomposeFn decompositions::splitSizes = many<::splitSizes>;
const DecomposeFn decompositions::splitWidth = many<::splitWidth>;
const DecomposeFn decompositions::tensorSplit = many<::tensorSplit>;
const DecomposeFn decompositions::reshape = one<::reshape>;
const DecomposeFn decompositions::flatten = one<::flatten>;
const DecomposeFn decompositions::unflatten = one<::unflatten>;
const DecomposeFn decompositions::viewAsOther = one<::viewAsOther>;
const DecomposeFn decompositions::reshapeAs = one<::reshapeAs>;
const DecomposeFn decompositions::expandAsOther = one<::expandAsOther>;
const DecomposeFn decompositions::broadcastTo = one<::broadcastTo>;
const DecomposeFn decompositions::ravel = one<::ravel>;
const DecomposeFn decompositions::swapAxes = one<::swapAxes>;
const DecomposeFn decompositions::swapLast = one<::swapLast>;
const DecomposeFn decompositions::reverseDims = one<::reverseDims>;
const DecomposeFn decompositions::moveDims = one<::moveDims>;
const DecomposeFn decompositions::narrow = one<::narrow>;
const DecomposeFn decompositions::rotate = one<::rotate>;
const DecomposeFn decompositions::flipAlong = one<::flipAlong>;
const DecomposeFn decompositions::itself = one<::itself>;
const DecomposeFn decompositions::atLeast = many<::atLeast>;
const DecomposeFn decompositions::stack = one<::stack>;

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Casts, copies, padding, and tensors put together of others.
//
// A cast to the type that a tensor has is the tensor itself (a copy where one
// is asked for); all others are `_to_copy`. `pad` goes to one op a mode, and
// `circular` is a concatenation of what stands at the other end.

#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static std::vector<Arg> sizesOf(CallBuilder &b, Value value) {
  return b.sizes(value).getList().vec();
}

//===----------------------------------------------------------------------===//
// Casts and copies
//===----------------------------------------------------------------------===//

static Value to(Rewrite &c) {
  Value self = c.r.value("self");
  Value other = c.r.value(optional("other"));
  Type type = other ? elementOf(other) : c.r.dtype(optional("dtype"));
  if (type && type != elementOf(self))
    return castTo(c.b, self, type);
  return c.r.boolean(optional("copy")).value_or(false)
             ? c.b.call(op::clone, {self})
             : self;
}

static Value contiguous(Rewrite &c) {
  Value self = c.r.value("self");
  if (c.op.getOperation()->hasAttr("joint.aliases"))
    return self;
  return c.b.call(op::clone, {self},
                  {{"memory_format", c.r.arg("memory_format")}});
}

static Value halfComplex(Rewrite &c) {
  return castTo(c.b, c.r.value("self"), elementOf(c.result()));
}

//===----------------------------------------------------------------------===//
// Several tensors
//===----------------------------------------------------------------------===//

static Value concat(Rewrite &c) {
  return c.b.call(op::cat, {c.r.arg("tensors"), c.r.arg("dim")});
}

static Values broadcastTensors(Rewrite &c) {
  std::vector<Arg> tensors = c.r.list("tensors");
  std::vector<Arg> sizes(rankOf(c.result()), Arg(int64_t(1)));
  for (const Arg &tensor : tensors) {
    std::vector<Arg> own = sizesOf(c.b, tensor.getValue());
    size_t added = sizes.size() - own.size();
    for (size_t i = 0; i < own.size(); ++i)
      if (Arg &size = sizes[added + i]; size.getInt() == 1 || !size.getInt())
        if (size.getInt() == 1 || own[i].getInt().value_or(1) != 1)
          size = own[i];
  }
  Values results;
  for (const Arg &tensor : tensors)
    results.push_back(expandTo(c.b, tensor.getValue(), sizes));
  return results;
}

/// Axis i of a grid, along dimension i, expanded to the others. "xy" swaps the
/// first two.
static Values grid(CallBuilder &b, ArrayRef<Arg> axes, bool swapped) {
  size_t count = axes.size();
  auto place = [&](size_t i) { return swapped && i < 2 ? 1 - i : i; };
  std::vector<Arg> sizes(count, Arg(int64_t(1)));
  for (size_t i = 0; i < count; ++i)
    sizes[place(i)] = b.numel(axes[i].getValue());
  Values results;
  for (size_t i = 0; i < count; ++i) {
    std::vector<Arg> own(count, Arg(int64_t(1)));
    own[place(i)] = sizes[place(i)];
    results.push_back(expandTo(b, viewAs(b, axes[i].getValue(), own), sizes));
  }
  return results;
}

static Values meshgrid(Rewrite &c) {
  std::vector<Arg> axes = c.r.list("tensors");
  return grid(c.b, axes,
              c.r.string(optional("indexing")) == "xy" && axes.size() > 1);
}

static Value cartesianProduct(Rewrite &c) {
  std::vector<Arg> axes = c.r.list("tensors");
  if (axes.size() == 1)
    return viewAs(c.b, axes[0].getValue(), {c.b.numel(axes[0].getValue())});
  std::vector<Arg> columns;
  for (Value axis : grid(c.b, axes, /*swapped=*/false)) {
    if (c.b.failed())
      return {};
    Value copy =
        c.b.call(op::clone, {axis}, {{"memory_format", "contiguous_format"}});
    columns.push_back(c.b.call(op::_unsafe_view, {copy, {c.b.numel(axis)}}));
  }
  return c.b.call(op::stack, {columns, 1});
}

/// Of all lists of r places, those that rise: they are the true elements of a
/// mask, from which each column reads its element.
static Value combinations(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  int64_t r = c.r.integer("r").value_or(2);
  if (r == 0)
    return b.call(op::new_empty, {self, {0}});
  Value places = b.call(op::arange, {b.size(self, 0)});
  Values grids = grid(b, std::vector<Arg>(r, Arg(places)), /*swapped=*/false);
  if (b.failed())
    return {};
  Value rises =
      b.call(op::ones_like, {grids.front()}, {{"dtype", b.boolean()}});
  bool again = c.r.boolean("with_replacement").value_or(false);
  for (int64_t i = 0; i + 1 < r; ++i)
    rises = b.call(op::logical_and,
                   {rises, b.call(again ? op::le_Tensor : op::lt_Tensor,
                                  {grids[i], grids[i + 1]})});
  std::vector<Arg> columns;
  for (Value axis : grid(b, std::vector<Arg>(r, Arg(self)), /*swapped=*/false))
    columns.push_back(b.call(op::masked_select, {axis, rises}));
  return b.call(op::stack, {columns, 1});
}

/// Each tensor, filled up with zeros, as one row a chunk; the rows side by
/// side.
static Value chunkCat(Rewrite &c) {
  CallBuilder &b = c.b;
  std::vector<Arg> tensors = c.r.list("tensors"), rows;
  int64_t chunks = c.r.integer("num_chunks").value_or(1);
  int64_t dim = wrapDim(c.r.integer("dim").value_or(0),
                        rankOf(tensors.front().getValue()));
  for (const Arg &tensor : tensors) {
    Value value = tensor.getValue();
    int64_t size = shapeOf(value)[dim];
    if (ShapedType::isDynamic(size)) {
      b.error("'aten._chunk_cat' along a size that is not known");
      return {};
    }
    if (int64_t rest = size % chunks) {
      SmallVector<int64_t> pad(2 * (rankOf(value) - dim), 0);
      pad.back() = chunks - rest;
      value = b.call(op::constant_pad_nd, {value, pad});
    }
    if (b.failed())
      return {};
    std::vector<Arg> sizes = sizesOf(b, value);
    sizes.resize(dim);
    sizes.insert(sizes.end(), {Arg(chunks), Arg(int64_t(-1))});
    // -1 is no size where there are no elements.
    if (llvm::is_contained(shapeOf(value), 0))
      sizes.back() = Arg(int64_t(0));
    rows.push_back(b.call(op::reshape, {value, sizes}));
  }
  return b.call(op::cat, {rows, dim + 1});
}

static Value blockDiagonal(Rewrite &c) {
  std::vector<Arg> rows;
  Arg before(int64_t(0)), total(int64_t(0));
  Values blocks;
  for (const Arg &tensor : c.r.list("tensors")) {
    Value value = tensor.getValue();
    if (rankOf(value) < 2)
      value = viewAs(c.b, value, {Arg(1), c.b.numel(value)});
    blocks.push_back(value);
    total = plus(c.b, total, c.b.size(value, 1));
  }
  if (blocks.empty())
    return c.b.call(op::zeros, {{1, 0}});
  for (Value block : blocks) {
    Arg behind = plus(c.b, before, c.b.size(block, 1));
    Arg left = total.getInt() && behind.getInt()
                   ? Arg(*total.getInt() - *behind.getInt())
                   : Arg(c.b.call(op::operator_sub, {total, behind}));
    rows.push_back(c.b.call(op::constant_pad_nd, {block, {before, left}}));
    before = behind;
  }
  return c.b.call(op::cat, {rows, 0});
}

//===----------------------------------------------------------------------===//
// Padding, repeating
//===----------------------------------------------------------------------===//

/// Pads dimension `dim` by what stands at its other end; a negative padding
/// cuts, and what is left is the circle.
static Value wrap(CallBuilder &b, Value value, int64_t dim, int64_t before,
                  int64_t behind) {
  std::vector<Arg> parts;
  if (before < 0 || behind < 0)
    value =
        sliceOf(b, value, dim, std::max<int64_t>(-before, 0),
                plus(b, b.size(value, dim), Arg(std::min<int64_t>(behind, 0))));
  Arg size = b.size(value, dim);
  if (before > 0)
    parts.push_back(sliceOf(b, value, dim, plus(b, size, Arg(-before)), size));
  parts.push_back(value);
  if (behind > 0)
    parts.push_back(sliceOf(b, value, dim, 0, behind));
  return parts.size() == 1 ? value : b.call(op::cat, {parts, dim});
}

static Value circularPad(Rewrite &c, Value self) {
  std::optional<SmallVector<int64_t>> pad = c.r.integers("pad");
  if (!pad) {
    c.b.error("'aten.pad' in a circle needs numbers");
    return {};
  }
  for (size_t i = 0; i + 1 < pad->size() && !c.b.failed(); i += 2)
    self = wrap(c.b, self, rankOf(self) - 1 - int64_t(i / 2), (*pad)[i],
                (*pad)[i + 1]);
  return self;
}

static Value pad(Rewrite &c) {
  Value self = c.r.value("self");
  StringRef mode = c.r.string("mode");
  size_t sides = c.r.list("pad").size();
  if (mode == "constant")
    return c.b.call(op::constant_pad_nd,
                    {self, c.r.arg("pad"),
                     c.r.isNone("value") ? Arg(0) : c.r.arg("value")});
  if (mode == "circular")
    return circularPad(c, self);
  if ((mode != "reflect" && mode != "replicate") || sides % 2 != 0 ||
      sides < 2 || sides > 6) {
    c.b.error("'aten.pad' of " + Twine(sides) + " sides in mode '" + mode +
              "' is not known");
    return {};
  }
  std::string name =
      (Twine("aten.") + (mode == "reflect" ? "reflection" : "replication") +
       "_pad" + Twine(sides / 2) + "d.default")
          .str();
  return c.b.call(name, {self, c.r.arg("pad")});
}

/// Each element several times, along one dimension (of all in a row).
static Value repeatEach(Rewrite &c) {
  Value self = c.r.value("self");
  if (c.r.isNone("dim"))
    self = viewAs(c.b, self, {c.b.numel(self)});
  if (c.b.failed())
    return {};
  int64_t dim = wrapDim(c.r.integer("dim").value_or(0), rankOf(self));
  std::vector<Arg> flat = sizesOf(c.b, self), sizes = flat;
  sizes.insert(sizes.begin() + dim + 1, c.r.arg("repeats"));
  flat[dim] = c.b.times(flat[dim], c.r.arg("repeats"));
  Value copies = expandTo(c.b, c.b.call(op::unsqueeze, {self, dim + 1}), sizes);
  copies =
      c.b.call(op::clone, {copies}, {{"memory_format", "contiguous_format"}});
  return c.b.call(op::_unsafe_view, {copies, flat});
}

/// One count stands for all elements along the dimension.
static Value repeatByTensor(Rewrite &c) {
  Value self = c.r.value("self"), repeats = c.r.value("repeats");
  if (c.r.isNone("dim"))
    self = viewAs(c.b, self, {c.b.numel(self)});
  int64_t dim = c.r.integer("dim").value_or(0);
  if (rankOf(repeats) == 0 || shapeOf(repeats)[0] == 1)
    repeats = expandTo(c.b, viewAs(c.b, repeats, {Arg(int64_t(1))}),
                       {c.b.size(self, dim)});
  Value places = c.b.call(op::repeat_interleave_Tensor, {repeats},
                          {{"output_size", c.r.arg("output_size")}});
  return c.b.call(op::index_select, {self, dim, places});
}

static Value tile(Rewrite &c) {
  Value self = c.r.value("self");
  std::vector<Arg> times = c.r.list("dims");
  while (static_cast<int64_t>(times.size()) < rankOf(self))
    times.insert(times.begin(), Arg(int64_t(1)));
  return c.b.call(op::repeat, {self, times});
}

//===----------------------------------------------------------------------===//
// Diagonals
//===----------------------------------------------------------------------===//

static Value embedDiagonal(Rewrite &c, Value self, const Arg &offset,
                           int64_t dim1, int64_t dim2) {
  if (!self)
    return {};
  int64_t rank = rankOf(self) + 1;
  dim1 = wrapDim(dim1, rank);
  dim2 = wrapDim(dim2, rank);
  std::vector<Arg> sizes = sizesOf(c.b, self);
  Arg size =
      plus(c.b, sizes.back(), Arg(std::abs(offset.getInt().value_or(0))));
  sizes.pop_back();
  sizes.insert(sizes.begin() + std::min(dim1, dim2), size);
  sizes.insert(sizes.begin() + std::max(dim1, dim2), size);
  Value zeros = c.b.call(op::new_zeros, {self, sizes});
  return c.b.call(op::diagonal_scatter, {zeros, self, offset, dim1, dim2});
}

static Value diagonalEmbedding(Rewrite &c) {
  return embedDiagonal(c, c.r.value("self"), c.r.arg("offset"),
                       c.r.integer("dim1").value_or(-2),
                       c.r.integer("dim2").value_or(-1));
}

static Value diagonalOrMatrix(Rewrite &c) {
  Value self = c.r.value("self");
  Arg offset = c.r.arg("diagonal");
  if (rankOf(self) == 1)
    return embedDiagonal(c, self, offset, 0, 1);
  Value diagonal = c.b.call(op::diagonal, {self, offset});
  return c.b.call(op::clone, {diagonal});
}

static Value flatDiagonal(Rewrite &c) {
  Value self = c.r.value("self");
  return embedDiagonal(c, viewAs(c.b, self, {c.b.numel(self)}),
                       c.r.arg("offset"), 0, 1);
}

static Value linalgDiagonal(Rewrite &c) {
  return c.b.call(op::diagonal, {c.r.value("A"), c.r.arg("offset"),
                                 c.r.arg("dim1"), c.r.arg("dim2")});
}

const DecomposeFn decompositions::to = one<::to>;
const DecomposeFn decompositions::contiguous = one<::contiguous>;
const DecomposeFn decompositions::halfComplex = one<::halfComplex>;
const DecomposeFn decompositions::concat = one<::concat>;
const DecomposeFn decompositions::broadcastTensors = many<::broadcastTensors>;
const DecomposeFn decompositions::meshgrid = many<::meshgrid>;
const DecomposeFn decompositions::cartesianProduct = one<::cartesianProduct>;
const DecomposeFn decompositions::blockDiagonal = one<::blockDiagonal>;
const DecomposeFn decompositions::combinations = one<::combinations>;
const DecomposeFn decompositions::chunkCat = one<::chunkCat>;
const DecomposeFn decompositions::pad = one<::pad>;
const DecomposeFn decompositions::repeatEach = one<::repeatEach>;
const DecomposeFn decompositions::repeatByTensor = one<::repeatByTensor>;
const DecomposeFn decompositions::tile = one<::tile>;
const DecomposeFn decompositions::diagonalEmbedding = one<::diagonalEmbedding>;
const DecomposeFn decompositions::diagonalOrMatrix = one<::diagonalOrMatrix>;
const DecomposeFn decompositions::flatDiagonal = one<::flatDiagonal>;
const DecomposeFn decompositions::linalgDiagonal = one<::linalgDiagonal>;

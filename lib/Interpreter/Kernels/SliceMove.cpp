// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that put elements at other places: concatenation, padding, repetition,
// flips, rolls, triangles. Most are copies by index maps (Parts.h); pieces are
// copied into strided parts of the result, which converts their types too.
// Nothing is computed, so all element types are moved as bits.

#include "Kernels.h"

#include "../Elements.h"
#include "Parts.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

/// Copies `pieces` behind each other along `dim`.
LogicalResult concatenate(const KernelCall &call, ArrayRef<Tensor> pieces,
                          int64_t dim) {
  SmallVector<int64_t> sizes(pieces.front().sizes.begin(),
                             pieces.front().sizes.end());
  sizes[dim] = 0;
  for (const Tensor &piece : pieces)
    sizes[dim] += piece.sizes[dim];
  Tensor result = call.make(0, sizes);
  int64_t at = 0;
  for (const Tensor &piece : pieces) {
    for (int64_t d = 0; d < piece.rank(); ++d)
      if (d != dim && piece.sizes[d] != sizes[d])
        return call.error("the pieces have different sizes");
    Tensor part = slicePart(result, dim, at, piece.sizes[dim]);
    copyElements(piece, part);
    at += piece.sizes[dim];
  }
  return success();
}

LogicalResult cat(const KernelCall &call) {
  std::vector<Tensor> pieces = call.tensors("tensors");
  // An empty list of numbers goes with everything.
  auto isNothing = [](const Tensor &piece) {
    return piece.rank() == 1 && piece.sizes[0] == 0;
  };
  std::vector<Tensor> real = pieces;
  llvm::erase_if(real, isNothing);
  if (real.empty()) {
    call.make(0, {0});
    return success();
  }
  return concatenate(call, real, call.dim("dim", real.front().rank()));
}

LogicalResult stack(const KernelCall &call) {
  std::vector<Tensor> pieces = call.tensors("tensors");
  int64_t dim = call.dim("dim", pieces.front().rank() + 1);
  for (Tensor &piece : pieces) {
    piece.sizes.insert(piece.sizes.begin() + dim, 1);
    piece.strides.insert(piece.strides.begin() + dim, 0);
  }
  return concatenate(call, pieces, dim);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

enum class PadMode { Constant, Reflect, Replicate, Circular };

/// The elements of a dimension that a padding keeps in place.
struct Kept {
  int64_t from, to;
};

/// Where element `i` of a padded dimension comes from. Of a circle, what a
/// negative padding leaves is what repeats.
int64_t padSource(PadMode mode, int64_t i, int64_t size, Kept kept) {
  if (i >= kept.from && i < kept.to)
    return i;
  switch (mode) {
  case PadMode::Constant:
    return -1;
  case PadMode::Reflect:
    return i < 0 ? -i : 2 * (size - 1) - i;
  case PadMode::Replicate:
    return i < 0 ? 0 : size - 1;
  case PadMode::Circular:
    break;
  }
  int64_t around = kept.to - kept.from;
  i += i < kept.from ? around : -around;
  return i >= kept.from && i < kept.to ? i : -1;
}

/// Maps of all dimensions; `pads` holds (before, after) from the last one on.
/// Nothing if a dimension is too small for its padding.
std::optional<IndexMaps> padMaps(PadMode mode, ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> pads) {
  IndexMaps maps = identityMaps(sizes);
  for (size_t k = 0; 2 * k + 1 < pads.size() && k < sizes.size(); ++k) {
    size_t dim = sizes.size() - 1 - k;
    int64_t before = pads[2 * k], size = sizes[dim], behind = pads[2 * k + 1];
    Kept kept = {0, size};
    if (mode == PadMode::Circular)
      kept = {std::max<int64_t>(-before, 0),
              size + std::min<int64_t>(behind, 0)};
    maps[dim].resize(std::max<int64_t>(before + size + behind, 0));
    for (auto [i, place] : llvm::enumerate(maps[dim])) {
      place = padSource(mode, static_cast<int64_t>(i) - before, size, kept);
      if (mode != PadMode::Constant && (place < 0 || place >= size))
        return std::nullopt;
    }
  }
  return maps;
}

LogicalResult tooSmall(const KernelCall &call) {
  return call.error("the padding is wider than the tensor");
}

LogicalResult padAs(const KernelCall &call, PadMode mode, const char *param) {
  Tensor self = call.tensor("self");
  auto maps = padMaps(mode, self.sizes, call.integers(param));
  if (!maps)
    return tooSmall(call);
  RuntimeValue fill = call.scalar(optional("value"));
  return gatherByMaps(call, self, *maps, fill);
}

LogicalResult constantPad(const KernelCall &call) {
  return padAs(call, PadMode::Constant, "pad");
}

LogicalResult pad(const KernelCall &call) {
  StringRef name = call.string("mode");
  PadMode mode = name == "reflect"     ? PadMode::Reflect
                 : name == "replicate" ? PadMode::Replicate
                 : name == "circular"  ? PadMode::Circular
                                       : PadMode::Constant;
  return padAs(call, mode, "pad");
}

template <PadMode mode> LogicalResult padNd(const KernelCall &call) {
  return padAs(call, mode, "padding");
}

template <PadMode mode> LogicalResult padBackward(const KernelCall &call) {
  Tensor self = call.tensor("self");
  auto maps = padMaps(mode, self.sizes, call.integers("padding"));
  if (!maps)
    return tooSmall(call);
  return addByMaps(call, call.tensor("grad_output"), *maps, self.sizes);
}

//===----------------------------------------------------------------------===//
// Flips, rolls, repetition
//===----------------------------------------------------------------------===//

LogicalResult flip(const KernelCall &call) {
  Tensor self = call.tensor(0u);
  IndexMaps maps = identityMaps(self.sizes);
  for (int64_t dim : call.integers("dims"))
    if (self.rank() > 0) {
      auto &map = maps[aten::wrapDim(dim, self.rank())];
      std::reverse(map.begin(), map.end());
    }
  return gatherByMaps(call, self, maps);
}

void rollMap(std::vector<int64_t> &map, int64_t shift) {
  auto size = static_cast<int64_t>(map.size());
  for (int64_t i = 0; i < size; ++i)
    map[i] = (((i - shift) % size) + size) % size;
}

LogicalResult roll(const KernelCall &call) {
  Tensor self = call.dense("self");
  SmallVector<int64_t> shifts = call.integers("shifts"),
                       dims = call.integers("dims");
  if (!dims.empty() || self.rank() == 0) {
    IndexMaps maps = identityMaps(self.sizes);
    // Dimensions may be named twice.
    SmallVector<int64_t> total(self.rank(), 0);
    for (auto [dim, shift] : llvm::zip(dims, shifts))
      if (self.rank() > 0)
        total[aten::wrapDim(dim, self.rank())] += shift;
    for (int64_t dim = 0; dim < self.rank(); ++dim)
      rollMap(maps[dim], total[dim]);
    return gatherByMaps(call, self, maps);
  }
  // Without dimensions, the tensor is one row.
  int64_t count = self.numel();
  Tensor result = call.make(0, self.sizes);
  if (count == 0)
    return success();
  int64_t shift = ((shifts.front() % count) + count) % count;
  Tensor from = Tensor::on(self.storage, self.offset * itemSize(self.type),
                           self.type, {count});
  Tensor to = Tensor::on(result.storage, result.offset * itemSize(self.type),
                         self.type, {count});
  copyElements(slicePart(from, 0, 0, count - shift),
               slicePart(to, 0, shift, count - shift));
  copyElements(slicePart(from, 0, count - shift, shift),
               slicePart(to, 0, 0, shift));
  return success();
}

/// Whole copies behind each other, for repeat and tile.
LogicalResult repeatBy(const KernelCall &call, const char *param) {
  Tensor self = call.dense("self");
  SmallVector<int64_t> counts = call.integers(param);
  while (static_cast<int64_t>(counts.size()) < self.rank())
    counts.insert(counts.begin(), 1);
  while (self.rank() < static_cast<int64_t>(counts.size())) {
    self.sizes.insert(self.sizes.begin(), 1);
    self.strides.insert(self.strides.begin(), self.numel());
  }
  IndexMaps maps;
  for (auto [size, count] : llvm::zip_equal(self.sizes, counts)) {
    std::vector<int64_t> &map = maps.emplace_back(size * count);
    for (int64_t i = 0; i < size * count; ++i)
      map[i] = i % size;
  }
  return gatherByMaps(call, self, maps);
}

LogicalResult repeat(const KernelCall &call) {
  return repeatBy(call, "repeats");
}
LogicalResult tile(const KernelCall &call) { return repeatBy(call, "dims"); }

/// Each element repeats[i] times; one count stands for all.
LogicalResult repeatEach(const KernelCall &call, ArrayRef<int64_t> repeats) {
  Tensor self = call.dense("self");
  int64_t dim = 0;
  if (call.isNone("dim"))
    self = Tensor::on(self.storage, self.offset * itemSize(self.type),
                      self.type, {self.numel()});
  else
    dim = call.dim("dim", self.rank());
  if (self.rank() == 0) {
    self.sizes.push_back(1);
    self.strides.push_back(1);
  }
  IndexMaps maps = identityMaps(self.sizes);
  std::vector<int64_t> map;
  if (repeats.size() != 1 &&
      static_cast<int64_t>(repeats.size()) != self.sizes[dim])
    return call.error("one count is needed for each of " +
                      Twine(self.sizes[dim]) + " elements");
  for (int64_t i = 0; i < self.sizes[dim]; ++i)
    map.insert(map.end(), repeats[repeats.size() == 1 ? 0 : i], i);
  maps[dim] = map;
  return gatherByMaps(call, self, maps);
}

LogicalResult repeatInterleaveInt(const KernelCall &call) {
  return repeatEach(call, {call.integer("repeats")});
}
LogicalResult repeatInterleaveTensor(const KernelCall &call) {
  return repeatEach(call, call.tensor("repeats").ints());
}

/// The places themselves, each repeats[i] times.
LogicalResult repeatInterleavePlaces(const KernelCall &call) {
  std::vector<int64_t> places;
  for (auto [i, count] : llvm::enumerate(call.tensor("repeats").ints()))
    places.insert(places.end(), count, static_cast<int64_t>(i));
  call.make(0, {static_cast<int64_t>(places.size())})
      .assign(ArrayRef<int64_t>(places));
  return success();
}

//===----------------------------------------------------------------------===//
// Triangles, one-hot rows
//===----------------------------------------------------------------------===//

template <bool lower> LogicalResult triangle(const KernelCall &call) {
  Tensor self = call.tensor("self");
  int64_t diagonal = call.integer("diagonal");
  if (self.rank() < 2)
    return call.error("a tensor of rank " + Twine(self.rank()) +
                      " has no triangle");
  Tensor result = call.make(0, self.sizes);
  copyElements(self, result);
  int64_t columns = self.sizes.back(), rows = self.sizes[self.rank() - 2];
  int64_t count = result.numel();
  for (int64_t i = 0; i < count; ++i) {
    int64_t column = i % columns, row = i / columns % rows;
    if (lower ? column - row > diagonal : column - row < diagonal)
      result.setInt(i, 0);
  }
  return success();
}

LogicalResult oneHot(const KernelCall &call) {
  Tensor self = call.tensor("self");
  std::vector<int64_t> classes = self.ints();
  int64_t count = call.integer("num_classes", -1);
  if (count < 0)
    count = classes.empty() ? 0 : *llvm::max_element(classes) + 1;
  SmallVector<int64_t> sizes(self.sizes.begin(), self.sizes.end());
  sizes.push_back(count);
  Tensor result = call.make(0, sizes);
  for (auto [i, number] : llvm::enumerate(classes)) {
    if (number < 0 || number >= count)
      return call.error("class " + Twine(number) + " is none of " +
                        Twine(count));
    result.setInt(static_cast<int64_t>(i) * count + number, 1);
  }
  return success();
}

} // namespace

const KernelFn kernels::cat = ::cat;
const KernelFn kernels::stack = ::stack;
const KernelFn kernels::constantPad = ::constantPad;
const KernelFn kernels::pad = ::pad;
const KernelFn kernels::reflectionPad = padNd<PadMode::Reflect>;
const KernelFn kernels::replicationPad = padNd<PadMode::Replicate>;
const KernelFn kernels::reflectionPadBackward = padBackward<PadMode::Reflect>;
const KernelFn kernels::replicationPadBackward =
    padBackward<PadMode::Replicate>;
const KernelFn kernels::flip = ::flip;
const KernelFn kernels::roll = ::roll;
const KernelFn kernels::repeat = ::repeat;
const KernelFn kernels::tile = ::tile;
const KernelFn kernels::repeatInterleaveInt = ::repeatInterleaveInt;
const KernelFn kernels::repeatInterleaveTensor = ::repeatInterleaveTensor;
const KernelFn kernels::repeatInterleavePlaces = ::repeatInterleavePlaces;
const KernelFn kernels::tril = triangle<true>;
const KernelFn kernels::triu = triangle<false>;
const KernelFn kernels::oneHot = ::oneHot;

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Less common ways to see, cut and rearrange a tensor, and the remaining
// gradients and recurrent cells: the functions beside those of View.cpp,
// Slice.cpp and Norm.cpp for ops that exported programs keep as written.
//
// Where several ops share a function, the name of the op decides between them.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

LogicalResult infer::matrixTranspose(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  if (self.rank() == 1)
    return call.error("a matrix must have at least 2 dimensions, not 1");
  if (self.rank() > 0) // PyTorch gives a tensor without dimensions back
    std::swap(self.dims[self.dims.size() - 2], self.dims.back());
  return push(call, results, self);
}

LogicalResult infer::ravel(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  return push(call, results, {countElements(self.dims)}, self.element);
}

LogicalResult infer::sumToSize(const InferCall &call, Results &results) {
  TensorShape self;
  Dims sizes;
  if (failed(getSelf(call, self)) || failed(getSizes(call, "size", sizes)))
    return failure();
  Dims dims = sizes;
  if (failed(broadcastInto(call, dims, self.dims)))
    return failure();
  return push(call, results, sizes, self.element);
}

/// The dimension that tensor_split, hsplit, vsplit or dsplit cuts.
static LogicalResult getSplitDim(const InferCall &call, const TensorShape &self,
                                 int64_t &dim) {
  StringRef packet = call.getSchema().packet;
  if (self.dims.empty())
    return call.error("a tensor without dimensions has no parts");
  if (packet.ends_with("tensor_split"))
    return call.dimension(optional("dim"), self.rank(), dim);
  dim = packet.ends_with("dsplit")                      ? 2
        : packet.ends_with("hsplit") && self.rank() > 1 ? 1
                                                        : 0;
  if (dim < self.rank())
    return success();
  return call.error("dim ", dim, " is out of range for rank ", self.rank());
}

/// Pieces between places that a tensor holds.
LogicalResult infer::tensorSplitAt(const InferCall &call, Results &results) {
  TensorShape self, places;
  int64_t dim = 0;
  if (failed(getSelf(call, self)) || failed(getSplitDim(call, self, dim)) ||
      failed(call.tensor("tensor_indices_or_sections", places)))
    return failure();
  if (places.rank() != 1 || places.dims[0] == kUnknown ||
      places.dims[0] > 65536)
    return call.error("the number of pieces must be known: a tensor of one "
                      "dimension says where they end");
  self.dims[dim] = kUnknown;
  for (int64_t i = 0; i <= places.dims[0]; ++i)
    if (failed(push(call, results, self)))
      return failure();
  return success();
}

/// `sections`: as equal as can be, the first ones larger by one; `indices`:
/// where the pieces end, as bounds of slices.
LogicalResult infer::tensorSplit(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0;
  if (failed(getSelf(call, self)) || failed(getSplitDim(call, self, dim)))
    return failure();
  int64_t size = self.dims[dim];
  Dims ends;
  if (call.getSchema().find("sections") >= 0) {
    int64_t sections = 0;
    if (failed(call.integer("sections", sections)))
      return failure();
    if (sections == kUnknown || sections <= 0 || sections > 65536)
      return call.error("the number of sections must be known and from 1 to "
                        "65536");
    for (int64_t i = 1; i < sections; ++i)
      ends.push_back(size == kUnknown
                         ? kUnknown
                         : size / sections * i + std::min(i, size % sections));
  } else if (failed(call.integers(optional("indices"), ends))) {
    return failure();
  }
  ends.push_back(size);
  int64_t start = 0;
  for (int64_t end : ends) {
    int64_t to = end;
    if (size == kUnknown)
      to = kUnknown;
    else if (end != kUnknown)
      to = std::clamp<int64_t>(end < 0 ? addSizes(end, size) : end, 0, size);
    self.dims[dim] = to == kUnknown || start == kUnknown
                         ? kUnknown
                         : std::max<int64_t>(to - start, 0);
    start = to;
    if (failed(push(call, results, self)))
      return failure();
  }
  return success();
}

LogicalResult infer::diag(const InferCall &call, Results &results) {
  TensorShape self;
  StringRef packet = call.getSchema().packet;
  bool embed = packet.ends_with("diag_embed"), flat = packet.ends_with("flat");
  int64_t offset = 0;
  if (failed(getSelf(call, self)) ||
      failed(call.integer(
          call.getSchema().find("offset") < 0 ? "diagonal" : "offset", offset)))
    return failure();
  if (flat)
    self.dims = {countElements(self.dims)};
  if (self.dims.empty() || (!embed && self.rank() > 2))
    return call.error("no diagonal of rank ", self.rank());
  if (!embed && self.rank() == 2) {
    int64_t rows = self.dims[0], columns = self.dims[1], length = kUnknown;
    if (rows != kUnknown && columns != kUnknown && offset != kUnknown) {
      int64_t right = std::clamp<int64_t>(offset, 0, columns);
      int64_t down = -std::clamp<int64_t>(offset, -rows, 0);
      length = std::min(rows - down, columns - right);
    }
    return push(call, results, {length}, self.element);
  }
  int64_t size = offset == kUnknown ? kUnknown : self.dims.back();
  if (offset == std::numeric_limits<int64_t>::min())
    return call.error("no diagonal of rank ", self.rank());
  size = addSizes(size, offset < 0 ? -offset : offset);
  int64_t a = self.rank() - 1, b = self.rank();
  if (embed && (failed(call.dimension(optional("dim1"), self.rank() + 1, a)) ||
                failed(call.dimension(optional("dim2"), self.rank() + 1, b))))
    return failure();
  if (a == b)
    return call.error("dim1 and dim2 are both ", a);
  self.dims.pop_back();
  self.dims.insert(self.dims.begin() + std::min(a, b), size);
  self.dims.insert(self.dims.begin() + std::max(a, b), size);
  return push(call, results, self);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

LogicalResult infer::floatPower(const InferCall &call, Results &results) {
  SmallVector<Type> types;
  if (failed(broadcast(call, types)))
    return failure();
  auto type = cast<RankedTensorType>(types.front());
  Type element = Float64Type::get(call.getContext());
  if (isComplex(type.getElementType()))
    element = ComplexType::get(element);
  return push(call, results, type.getShape(), element);
}

LogicalResult infer::preluBackward(const InferCall &call, Results &results) {
  TensorShape self, weight;
  if (failed(call.tensor("self", self)) ||
      failed(call.tensor("weight", weight)) ||
      failed(push(call, results, self)))
    return failure();
  // The weight is broadcast already; its gradient is not yet summed.
  return push(call, results, self.dims, weight.element);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

LogicalResult infer::gridSamplerBackward(const InferCall &call,
                                         Results &results) {
  TensorShape input, grid;
  if (failed(call.tensor("input", input)) || failed(call.tensor("grid", grid)))
    return failure();
  SmallVector<bool> mask;
  if (failed(call.booleans("output_mask", mask)))
    return failure();
  if (mask.size() != 2)
    return call.error("output_mask has ", mask.size(), " entries, not ", 2);
  if (!mask[0])
    pushNone(call, results);
  else if (failed(push(call, results, input)))
    return failure();
  // The kernels fill the grid's gradient in any case.
  return push(call, results, grid);
}

//===----------------------------------------------------------------------===//
// Transforms and grids
//===----------------------------------------------------------------------===//

/// The dimensions that a transform takes, and their sizes (-1: as they are).
static LogicalResult getTransform(const InferCall &call,
                                  const TensorShape &self, Dims &dims,
                                  Dims &sizes) {
  if (call.getSchema().find("n") >= 0) {
    std::optional<int64_t> size;
    if (failed(call.optionalInteger("n", size)) ||
        failed(call.dimension("dim", self.rank(), dims.emplace_back())))
      return failure();
    sizes.push_back(size.value_or(-1));
    return success();
  }
  if (failed(call.integers(optional("s"), sizes)) ||
      failed(call.integers("dim", dims)))
    return failure();
  if (dims.empty()) {
    int64_t count = sizes.empty()
                        ? self.rank()
                        : std::min<int64_t>(sizes.size(), self.rank());
    for (int64_t i = self.rank() - count; i < self.rank(); ++i)
      dims.push_back(i);
  }
  sizes.resize(dims.size(), -1);
  for (int64_t &dim : dims)
    if (failed(call.wrapDimension(dim, self.rank(), dim)))
      return failure();
  return success();
}

LogicalResult infer::fftComposite(const InferCall &call, Results &results) {
  TensorShape self;
  Dims dims, sizes;
  if (failed(getSelf(call, self)))
    return failure();
  if (self.dims.empty())
    return call.error("a tensor without dimensions has no transform");
  if (failed(getTransform(call, self, dims, sizes)))
    return failure();
  StringRef packet = call.getSchema().packet;
  bool toReal = packet.contains("irfft") || packet.contains("_hfft");
  for (auto [dim, size] : llvm::zip_equal(dims, sizes)) {
    int64_t last = size;
    if (last == -1 && toReal && dim == dims.back())
      last = mulSizes(2, addSizes(self.dims[dim], -1));
    if (last != -1)
      self.dims[dim] = last;
  }
  bool isHalf = packet.contains("rfft") || packet.contains("ihfft");
  if (!dims.empty() && isHalf && !toReal)
    self.dims[dims.back()] =
        addSizes(floorDivSize(self.dims[dims.back()], 2), 1);
  if (toReal)
    return push(call, results, self.dims, realType(self.element));
  return push(call, results, self.dims, complexType(self.element));
}

LogicalResult infer::normExceptDim(const InferCall &call, Results &results) {
  TensorShape value;
  int64_t dim = 0;
  if (failed(call.tensor("v", value)) || failed(call.integer("dim", dim)))
    return failure();
  if (dim == -1)
    return push(call, results, {}, value.element);
  if (failed(call.dimension("dim", value.rank(), dim)))
    return failure();
  for (auto [i, size] : llvm::enumerate(value.dims))
    if (static_cast<int64_t>(i) != dim)
      size = 1;
  return push(call, results, value);
}

LogicalResult infer::weightNorm(const InferCall &call, Results &results) {
  TensorShape v, g;
  if (failed(call.tensor("v", v)) || failed(call.tensor("g", g)) ||
      failed(push(call, results, v)))
    return failure();
  return push(call, results, g.dims, statisticsType(g.element));
}

LogicalResult infer::weightNormBackward(const InferCall &call,
                                        Results &results) {
  TensorShape v, g;
  if (failed(call.tensor("saved_v", v)) || failed(call.tensor("saved_g", g)) ||
      failed(push(call, results, v)))
    return failure();
  return push(call, results, g);
}

LogicalResult infer::affineGrid(const InferCall &call, Results &results) {
  TensorShape theta;
  Dims sizes;
  if (failed(getOfRank(call, "theta", 3, theta)) ||
      failed(getSizes(call, "size", sizes)))
    return failure();
  if (sizes.size() != 4 && sizes.size() != 5)
    return call.error("a grid of ", sizes.size(), " sizes, not 4 or 5");
  sizes.erase(sizes.begin() + 1);
  sizes.push_back(static_cast<int64_t>(sizes.size()) - 1);
  return push(call, results, sizes, theta.element);
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// A cell's state has the batch of the input and the size of hx.
static LogicalResult pushState(const InferCall &call, Results &results,
                               const TensorShape &state) {
  TensorShape input;
  if (failed(call.tensor("input", input)))
    return failure();
  if (input.rank() != state.rank() || state.dims.empty() || state.rank() > 2)
    return call.error("input of rank ", input.rank(), " and state of rank ",
                      state.rank());
  if (failed(checkSame(call, "batch sizes",
                       state.rank() == 2 ? input.dims[0] : 1,
                       state.rank() == 2 ? state.dims[0] : 1)))
    return failure();
  return push(call, results, state);
}

LogicalResult infer::recurrentCell(const InferCall &call, Results &results) {
  TensorShape state;
  return failed(call.tensor("hx", state)) ? failure()
                                          : pushState(call, results, state);
}

LogicalResult infer::lstmCell(const InferCall &call, Results &results) {
  SmallVector<TensorShape> states;
  if (failed(call.tensors("hx", states)))
    return failure();
  if (states.size() != 2)
    return call.error("hx has ", states.size(), " states, not 2");
  return failed(pushState(call, results, states[0]))
             ? failure()
             : pushState(call, results, states[1]);
}

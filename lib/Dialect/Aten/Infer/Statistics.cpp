// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals, quantization, quantiles and distances within a set, losses of rows,
// and ops whose sizes depend on data.
//
// Sizes of signals count pieces: of n elements, (n - size) / hop + 1, and back
// (pieces - 1) hop + size. Losses of rows give one number a row, or one in all
// with a reduction.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

LogicalResult infer::angle(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  return push(call, results, self.dims,
              realType(toFloating(call, self.element)));
}

LogicalResult infer::window(const InferCall &call, Results &results) {
  bool isWindow = call.getSchema().find("window_length") >= 0;
  int64_t size = 0;
  Type type;
  if (failed(call.integer(isWindow ? "window_length" : "n", size)) ||
      failed(getDtype(call, floatType(call), type)))
    return failure();
  if (size != kUnknown && size < 0)
    return call.error("a size of ", size);
  if (call.getSchema().packet == "aten.fft_rfftfreq")
    size = addSizes(floorDivSize(size, 2), 1);
  return push(call, results, {size}, type);
}

/// The sizes of the pieces, with their defaults.
static LogicalResult getPieces(const InferCall &call, int64_t &size,
                               int64_t &hop) {
  std::optional<int64_t> given;
  if (failed(call.integer("n_fft", size)) ||
      failed(call.optionalInteger("hop_length", given)))
    return failure();
  hop = given.value_or(floorDivSize(size, 4));
  if (size == kUnknown || hop == kUnknown || size <= 0 || hop <= 0)
    return call.error("n_fft and hop_length are positive numbers");
  return success();
}

/// [B, T] or [T] gives [B, frequencies, pieces], and real and imaginary parts
/// unless `return_complex`.
LogicalResult infer::stft(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t size = 0, hop = 0;
  bool center = false, oneSided = false, isComplex_ = false;
  if (failed(getSelf(call, self)) || failed(getPieces(call, size, hop)) ||
      failed(call.boolean(optional("center"), center)) ||
      failed(call.boolean("onesided", oneSided)) ||
      failed(call.boolean("return_complex", isComplex_)))
    return failure();
  if (self.rank() != 1 && self.rank() != 2)
    return call.error("the signal has 1 or 2 dimensions, not ", self.rank());
  if (call.isNone("onesided"))
    oneSided = !isComplex(self.element);
  Dims dims(self.dims.begin(), self.dims.end() - 1);
  int64_t length = addSizes(self.dims.back(), center ? size / 2 * 2 : 0);
  dims.push_back(oneSided ? size / 2 + 1 : size);
  dims.push_back(addSizes(floorDivSize(addSizes(length, -size), hop), 1));
  if (isComplex_)
    return push(call, results, dims, complexType(self.element));
  dims.push_back(2);
  return push(call, results, dims, realType(self.element));
}

LogicalResult infer::istft(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t size = 0, hop = 0;
  bool center = false, isComplex_ = false;
  std::optional<int64_t> length;
  if (failed(getSelf(call, self)) || failed(getPieces(call, size, hop)) ||
      failed(call.boolean("center", center)) ||
      failed(call.optionalInteger("length", length)) ||
      failed(call.boolean("return_complex", isComplex_)))
    return failure();
  if (self.rank() != 2 && self.rank() != 3)
    return call.error("the spectrum has 2 or 3 dimensions, not ", self.rank());
  Dims dims(self.dims.begin(), self.dims.end() - 2);
  int64_t whole = addSizes(mulSizes(addSizes(self.dims.back(), -1), hop), size);
  dims.push_back(
      length.value_or(center ? addSizes(whole, -(size / 2 * 2)) : whole));
  return push(call, results, dims,
              isComplex_ ? self.element : realType(self.element));
}

LogicalResult infer::quantized(const InferCall &call, Results &results) {
  TensorShape input;
  Type type;
  bool back = call.getSchema().packet.contains(".dequantize");
  if (failed(call.tensor("input", input)) ||
      failed(call.dtype(back ? "out_dtype" : "dtype", type)))
    return failure();
  return push(call, results, input.dims, type ? type : floatType(call));
}

/// Adds the types of parameters, in order.
static LogicalResult pushLike(const InferCall &call, Results &results,
                              ArrayRef<ParamRef> params) {
  for (ParamRef param : params) {
    TensorShape shape;
    if (failed(call.tensor(param, shape)) || failed(push(call, results, shape)))
      return failure();
  }
  return success();
}

LogicalResult infer::observedQuantize(const InferCall &call, Results &results) {
  if (failed(nativeDropout(call, results)))
    return failure();
  return pushLike(call, results,
                  {"running_min", "running_max", "scale", "zero_point"});
}

LogicalResult infer::learnedQuantizeBackward(const InferCall &call,
                                             Results &results) {
  return pushLike(call, results, {"self", "scale", "zero_point"});
}

//===----------------------------------------------------------------------===//
// Losses of rows
//===----------------------------------------------------------------------===//

/// `dims` without a reduction, else a scalar.
static LogicalResult pushLoss(const InferCall &call, Results &results,
                              ArrayRef<int64_t> dims, Type type) {
  int64_t reduction = 0;
  if (failed(call.integer("reduction", reduction)))
    return failure();
  return push(call, results, reduction == 0 ? dims : ArrayRef<int64_t>(), type);
}

LogicalResult infer::rowLoss(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  if (self.rank() > 2)
    return call.error("the input has 2 dimensions at most, not ", self.rank());
  Dims dims = self.dims;
  if (!dims.empty())
    dims.pop_back();
  return pushLoss(call, results, dims, self.element);
}

/// log_probs [T, N, C] or [T, C]; one loss for each of N.
static LogicalResult getSequences(const InferCall &call, TensorShape &self,
                                  Dims &batch) {
  if (failed(call.tensor("log_probs", self)))
    return failure();
  if (self.rank() != 2 && self.rank() != 3)
    return call.error("log_probs has 2 or 3 dimensions, not ", self.rank());
  if (self.rank() == 3)
    batch.push_back(self.dims[1]);
  return success();
}

LogicalResult infer::ctcLoss(const InferCall &call, Results &results) {
  TensorShape self;
  Dims batch;
  if (failed(getSequences(call, self, batch)))
    return failure();
  return pushLoss(call, results, batch, self.element);
}

/// log_alpha: [N, T, 2 S + 1], S the most labels.
LogicalResult infer::ctcForward(const InferCall &call, Results &results) {
  TensorShape self, targets;
  Dims batch;
  if (failed(getSequences(call, self, batch)) ||
      failed(call.tensor("targets", targets)) ||
      failed(push(call, results, batch, self.element)))
    return failure();
  int64_t most = targets.rank() == 2 ? targets.dims[1] : kUnknown;
  if (self.rank() == 2 && targets.rank() == 1)
    most = targets.dims[0];
  if (call.getSchema().overload == "default") {
    SmallVector<int64_t> lengths;
    if (failed(call.integers("target_lengths", lengths)))
      return failure();
    if (!llvm::is_contained(lengths, kUnknown))
      most = lengths.empty() ? 0 : *llvm::max_element(lengths);
  } else {
    most = kUnknown;
  }
  Dims dims = batch;
  dims.append({self.dims[0], addSizes(mulSizes(most, 2), 1)});
  return push(call, results, dims, self.element);
}

LogicalResult infer::ctcBackward(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(call.tensor("log_probs", self)))
    return failure();
  return push(call, results, self);
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

LogicalResult infer::quantile(const InferCall &call, Results &results) {
  TensorShape self, q;
  bool keep = false;
  llvm::SmallBitVector reduced;
  if (failed(getSelf(call, self)) || failed(call.boolean("keepdim", keep)) ||
      failed(getDims(call, "dim", self.rank(), reduced)))
    return failure();
  Dims dims;
  if (call.getSchema().overload == "default") {
    if (failed(call.tensor("q", q)))
      return failure();
    if (q.rank() > 1)
      return call.error("q has 0 or 1 dimensions, not ", q.rank());
    dims = q.dims;
  }
  Dims rest = reduceShape(self.dims, reduced, keep);
  dims.append(rest.begin(), rest.end());
  return push(call, results, dims, self.element);
}

LogicalResult infer::pdist(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getOfRank(call, "self", 2, self)))
    return failure();
  int64_t n = self.dims[0];
  return push(call, results, {floorDivSize(mulSizes(n, addSizes(n, -1)), 2)},
              self.element);
}

LogicalResult infer::maxUnpool(const InferCall &call, Results &results) {
  TensorShape self;
  Dims sizes;
  if (failed(getSelf(call, self)) ||
      failed(getSizes(call, "output_size", sizes)))
    return failure();
  if (self.rank() < static_cast<int64_t>(sizes.size()))
    return call.error("the input has fewer dimensions than output_size");
  Dims dims(self.dims.begin(), self.dims.end() - sizes.size());
  dims.append(sizes.begin(), sizes.end());
  return push(call, results, dims, self.element);
}

LogicalResult infer::covariance(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  if (self.rank() > 2)
    return call.error("the input has 2 dimensions or fewer, not ", self.rank());
  Dims dims;
  if (self.rank() == 2)
    dims = {self.dims[0], self.dims[0]};
  return push(call, results, dims, toFloating(call, self.element));
}

LogicalResult infer::padSequence(const InferCall &call, Results &results) {
  SmallVector<TensorShape> sequences;
  bool batchFirst = false;
  if (failed(call.tensors("sequences", sequences)) ||
      failed(call.boolean("batch_first", batchFirst)))
    return failure();
  if (sequences.empty() || sequences[0].dims.empty())
    return call.error("there is no sequence to pad");
  Dims dims = sequences[0].dims;
  for (const TensorShape &sequence : sequences) {
    if (sequence.rank() != sequences[0].rank())
      return call.error("sequences of ", sequences[0].rank(), " and ",
                        sequence.rank(), " dimensions");
    dims[0] = dims[0] == kUnknown || sequence.dims[0] == kUnknown
                  ? kUnknown
                  : std::max(dims[0], sequence.dims[0]);
  }
  dims.insert(dims.begin() + !batchFirst,
              static_cast<int64_t>(sequences.size()));
  return push(call, results, dims, sequences[0].element);
}

/// Numbers are not known to have a list of dimensions: one dimension, or all.
LogicalResult infer::differences(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t order = 1;
  if (failed(getSelf(call, self)) || failed(call.integer("edge_order", order)))
    return failure();
  Dims dims;
  int64_t dim = 0;
  bool isList = StringRef(call.getSchema().overload).ends_with("array");
  if (isList ? failed(call.integers("dim", dims)) : false)
    return failure();
  if (!isList && !call.isNone("dim")) {
    if (failed(call.integer("dim", dim)))
      return failure();
    dims.push_back(dim);
  } else if (!isList) {
    for (dim = 0; dim < self.rank(); ++dim)
      dims.push_back(dim);
  }
  for (int64_t at : dims) {
    if (failed(call.wrapDimension(at, self.rank(), at)))
      return failure();
    if (self.dims[at] != kUnknown && self.dims[at] <= order)
      return call.error("differences of order ", order, " at the edges of ",
                        self.dims[at], " elements");
    if (failed(push(call, results, self.dims, toFloating(call, self.element))))
      return failure();
  }
  return success();
}

LogicalResult infer::histc(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t bins = 0;
  if (failed(getSelf(call, self)) || failed(call.integer("bins", bins)))
    return failure();
  if (bins != kUnknown && bins <= 0)
    return call.error("the number of bins is ", bins);
  return push(call, results, {bins}, self.element);
}

LogicalResult infer::frexp(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  if (!isa<FloatType>(self.element))
    return call.error("a mantissa is of floating point, not of ", self.element);
  if (failed(push(call, results, self)))
    return failure();
  return push(call, results, self.dims,
              IntegerType::get(call.getContext(), 32));
}

LogicalResult infer::rreluWithNoise(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)) || failed(push(call, results, self)))
    return failure();
  return push(call, results, self);
}

LogicalResult infer::histogram(const InferCall &call, Results &results) {
  TensorShape self, edges;
  int64_t bins = 0;
  if (failed(getSelf(call, self)))
    return failure();
  if (call.getSchema().overload == "bins_tensor") {
    if (failed(getOfRank(call, "bins", 1, edges)))
      return failure();
    bins = addSizes(edges.dims[0], -1);
  } else if (failed(call.integer("bins", bins))) {
    return failure();
  }
  if (bins != kUnknown && bins <= 0)
    return call.error("the number of bins is ", bins);
  if (failed(push(call, results, {bins}, self.element)))
    return failure();
  return push(call, results, {addSizes(bins, 1)}, self.element);
}

/// The numbers of bins, a dimension each; edges as tensors or counts.
static LogicalResult binsOfRows(const InferCall &call, int64_t count,
                                Dims &bins) {
  if (call.getSchema().overload == "int_bins") {
    int64_t number = 0;
    if (failed(call.integer("bins", number)))
      return failure();
    bins.assign(count, number);
    return success();
  }
  const SchemaParam &param =
      call.getSchema().params[call.getSchema().find("bins")];
  if (param.kind != ParamKind::Tensor)
    return call.integers("bins", bins);
  SmallVector<TensorShape> edges;
  if (failed(call.tensors("bins", edges)))
    return failure();
  for (const TensorShape &edge : edges) {
    if (edge.rank() != 1)
      return call.error("the edges of bins have ", edge.rank(), " dimensions");
    bins.push_back(addSizes(edge.dims[0], -1));
  }
  return success();
}

LogicalResult infer::histogramOfRows(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  int64_t count = self.dims.empty() ? kUnknown : self.dims.back();
  // As many as a tensor of PyTorch may have dimensions.
  if (self.rank() < 2 || count == kUnknown || count > 64)
    return call.error("a histogram is of rows of a known length, up to 64");
  Dims bins;
  if (failed(binsOfRows(call, count, bins)))
    return failure();
  if (static_cast<int64_t>(bins.size()) != count)
    return call.error("bins for ", bins.size(), " of ", count, " elements");
  for (int64_t number : bins)
    if (number != kUnknown && number <= 0)
      return call.error("the number of bins is ", number);
  const Schema &schema = call.getSchema();
  bool isEdges = schema.packet == "aten._histogramdd_bin_edges";
  if (!isEdges && failed(push(call, results, bins, self.element)))
    return failure();
  if (!isEdges && schema.results.size() == 1)
    return success();
  for (int64_t number : bins)
    if (failed(push(call, results, {addSizes(number, 1)}, self.element)))
      return failure();
  return success();
}

LogicalResult infer::isin(const InferCall &call, Results &results) {
  TensorShape elements;
  if (call.getSchema().find("elements") < 0)
    return push(call, results, {}, boolType(call));
  if (failed(call.tensor("elements", elements)))
    return failure();
  return push(call, results, elements.dims, boolType(call));
}

LogicalResult infer::vander(const InferCall &call, Results &results) {
  TensorShape self;
  std::optional<int64_t> count;
  if (failed(call.tensor("x", self)) ||
      failed(call.optionalInteger("N", count)))
    return failure();
  if (self.dims.empty())
    self.dims = {1};
  self.dims.push_back(count.value_or(self.dims.back()));
  return push(call, results, self);
}

LogicalResult infer::halfComplex(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  return push(call, results, self.dims,
              ComplexType::get(Float16Type::get(call.getContext())));
}

/// Each tensor from `dim` on is a row of elements for each chunk.
LogicalResult infer::chunkCat(const InferCall &call, Results &results) {
  SmallVector<TensorShape> tensors;
  int64_t dim = 0, chunks = 0;
  if (failed(call.tensors("tensors", tensors)) ||
      failed(call.integer("num_chunks", chunks)))
    return failure();
  if (tensors.empty() || chunks < 1)
    return call.error(chunks, " chunks of ", tensors.size(), " tensors");
  if (failed(call.dimension("dim", tensors[0].rank(), dim)))
    return failure();
  Dims dims(ArrayRef(tensors[0].dims).take_front(dim));
  int64_t total = 0;
  for (const TensorShape &tensor : tensors) {
    if (tensor.rank() <= dim)
      return call.error("a tensor of ", tensor.rank(),
                        " dimensions has no dimension ", dim);
    for (auto [own, size] : llvm::zip(dims, tensor.dims))
      if (failed(checkSame(call, "leading sizes", own, size)))
        return failure();
    total = addSizes(
        total,
        mulSizes(ceilDivSize(tensor.dims[dim], chunks),
                 countElements(ArrayRef(tensor.dims).drop_front(dim + 1))));
  }
  dims.append({chunks, total});
  return push(call, results, dims, promoteTypes(tensors));
}

//===----------------------------------------------------------------------===//
// Sizes that depend on data
//===----------------------------------------------------------------------===//

LogicalResult infer::nonzeroByDim(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  for (int64_t dim = 0; dim < std::max<int64_t>(self.rank(), 1); ++dim)
    if (failed(push(call, results, {kUnknown}, intType(call))))
      return failure();
  return success();
}

/// The rows are counted when the mask of those that ascend is read.
LogicalResult infer::combinations(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t r = 0;
  if (failed(getOfRank(call, "self", 1, self)) || failed(call.integer("r", r)))
    return failure();
  if (r < 0)
    return call.error("combinations of ", r, " elements");
  if (r == 0)
    return push(call, results, {0}, self.element);
  return push(call, results, {kUnknown, r}, self.element);
}

LogicalResult infer::unique(const InferCall &call, Results &results) {
  TensorShape self;
  bool inverse = false, counts = false;
  if (failed(getSelf(call, self)) ||
      failed(call.boolean("return_inverse", inverse)) ||
      failed(call.boolean(optional("return_counts"), counts)))
    return failure();
  Dims values = {kUnknown}, places = self.dims, none = {0};
  if (!call.isNone(optional("dim"))) {
    int64_t dim = 0;
    if (failed(call.dimension(optional("dim"), self.rank(), dim)))
      return failure();
    if (self.dims.empty())
      return call.error("a tensor without dimensions has no slices");
    places = {self.dims[dim]};
    values = self.dims;
    values[dim] = kUnknown;
    // A CPU gives places and numbers unasked.
    none = {kUnknown};
  }
  if (failed(push(call, results, values, self.element)) ||
      failed(push(call, results, inverse ? places : none, intType(call))))
    return failure();
  if (call.getSchema().results.size() == 2)
    return success();
  return push(call, results, counts ? Dims{kUnknown} : none, intType(call));
}

/// i64, or i32 where that is asked for.
static LogicalResult indexType(const InferCall &call, Type &type) {
  bool isShort = false;
  if (failed(call.boolean("out_int32", isShort)))
    return failure();
  type = IntegerType::get(call.getContext(), isShort ? 32 : 64);
  return success();
}

LogicalResult infer::rowStarts(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t size = 0;
  Type type;
  if (failed(getOfRank(call, "self", 1, self)) ||
      failed(call.integer("size", size)) || failed(indexType(call, type)))
    return failure();
  return push(call, results, {addSizes(size, 1)}, type);
}

LogicalResult infer::rowsOfEntries(const InferCall &call, Results &results) {
  TensorShape starts, columns;
  Type type;
  if (failed(getOfRank(call, "crow_indices", 1, starts)) ||
      failed(getOfRank(call, "col_indices", 1, columns)) ||
      failed(indexType(call, type)))
    return failure();
  return push(call, results, {2, columns.dims[0]}, type);
}

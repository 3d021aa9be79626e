// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of tables: embedding, bags of rows, and their gradients.
//
// Bag b holds the indices from offsets[b] to offsets[b + 1] (or to the end);
// those equal to padding_idx do not count. Modes: 0 sum (each row times its
// weight, if there are weights), 1 mean, 2 maximum, whose rows are returned
// and take the gradient. `scale_grad_by_freq` divides the gradient of a row by
// how often it is used. Results that kernels leave empty are empty where the
// declared type allows it.

#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

static LogicalResult embedding(const KernelCall &call) {
  Tensor weight = call.dense("weight"), indices = call.dense("indices");
  int64_t width = weight.sizes[1];
  Sizes sizes(indices.sizes);
  sizes.push_back(width);
  std::vector<int64_t> rows = indices.ints();
  for (int64_t row : rows)
    if (failed(checkIndex(call, row, weight.sizes[0])))
      return failure();
  Tensor result = call.make(0, sizes);
  for (auto [i, row] : llvm::enumerate(rows))
    copyRun(weight, row * width, result, static_cast<int64_t>(i) * width,
            width);
  return success();
}

/// How often each row is used.
static FailureOr<std::vector<int64_t>>
countRows(const KernelCall &call, ArrayRef<int64_t> rows, int64_t count) {
  std::vector<int64_t> uses(count);
  for (int64_t row : rows) {
    if (failed(checkIndex(call, row, count)))
      return failure();
    ++uses[row];
  }
  return uses;
}

static LogicalResult embeddingDenseBackward(const KernelCall &call) {
  Tensor gradient = call.dense("grad_output");
  std::vector<int64_t> rows = ints(call, "indices");
  int64_t count = call.integer("num_weights"), width = gradient.sizes.back();
  int64_t padding = call.integer("padding_idx", -1);
  FailureOr<std::vector<int64_t>> uses = countRows(call, rows, count);
  if (failed(uses))
    return failure();
  bool scaled = call.boolean("scale_grad_by_freq");
  std::vector<double> g = doubles(call, "grad_output", rows.size() * width);
  std::vector<double> result(count * width);
  for (auto [i, row] : llvm::enumerate(rows))
    for (int64_t j = 0; row != padding && j < width; ++j)
      result[row * width + j] +=
          g[i * width + j] / (scaled ? static_cast<double>((*uses)[row]) : 1);
  put(call, 0, {count, width}, result);
  return success();
}

/// Rows that are used and longer than max_norm are made that long.
static LogicalResult embeddingRenorm(const KernelCall &call) {
  Tensor self = call.dense("self");
  int64_t width = self.sizes.empty() || self.sizes[0] == 0
                      ? 0
                      : self.numel() / self.sizes[0];
  FailureOr<std::vector<int64_t>> uses = countRows(
      call, ints(call, "indices"), self.sizes.empty() ? 0 : self.sizes[0]);
  if (failed(uses))
    return failure();
  double most = call.number("max_norm"), p = call.number("norm_type");
  std::vector<double> values = self.doubles();
  for (auto [row, count] : llvm::enumerate(*uses)) {
    MutableArrayRef<double> own =
        MutableArrayRef<double>(values).slice(row * width, width);
    double norm = 0;
    for (double value : own)
      norm = std::isinf(p) ? std::max(norm, std::abs(value))
                           : norm + std::pow(std::abs(value), p);
    norm = std::isinf(p) ? norm : std::pow(norm, 1 / p);
    if (count > 0 && norm > most)
      for (double &value : own)
        value *= most / (norm + 1e-7);
  }
  put(call, 0, self.sizes, values);
  return success();
}

//===----------------------------------------------------------------------===//
// Bags
//===----------------------------------------------------------------------===//

namespace {

enum Mode : int64_t { Sum, Mean, Max };

/// The indices of a call and the bag of each.
struct Bags {
  std::vector<int64_t> rows, bagOf, size;
  int64_t padding, mode;
};

} // namespace

static LogicalResult fillBags(const KernelCall &call, int64_t tableRows,
                              Bags &bags, bool fromEnd = false) {
  bags.rows = ints(call, "indices");
  bags.mode = call.integer("mode");
  bags.padding = call.integer(optional("padding_idx"), -1);
  // The surface op counts from the end, where the kernels mean "none".
  if (fromEnd && !call.isNone(optional("padding_idx")))
    bags.padding = wrapped(bags.padding, tableRows);
  for (int64_t row : bags.rows)
    if (failed(checkIndex(call, row, tableRows)))
      return failure();
  std::vector<int64_t> offsets = ints(call, optional("offsets"));
  int64_t total = static_cast<int64_t>(bags.rows.size());
  if (!call.boolean(optional("include_last_offset")))
    offsets.push_back(total);
  int64_t last = 0;
  for (int64_t end : offsets) {
    if (end < last || end > total)
      return call.error("offsets of bags go from " + Twine(last) + " to " +
                        Twine(end) + ", there are " + Twine(total) +
                        " indices");
    last = end;
  }
  bags.size.assign(offsets.empty() ? 0 : offsets.size() - 1, 0);
  bags.bagOf.assign(total, 0);
  for (size_t bag = 0; bag < bags.size.size(); ++bag)
    for (int64_t i = offsets[bag]; i < offsets[bag + 1]; ++i) {
      bags.bagOf[i] = static_cast<int64_t>(bag);
      bags.size[bag] += bags.rows[i] != bags.padding;
    }
  return success();
}

/// Result `i` holds `values`, as many as its type says (zeros behind them). If
/// the type leaves that open, it is empty unless `needed`.
static void putInts(const KernelCall &call, unsigned i, ArrayRef<int64_t> given,
                    bool needed) {
  if (!call.wants(i))
    return;
  SmallVector<int64_t> values(given);
  auto type = dyn_cast<RankedTensorType>(call.op->getResult(i).getType());
  if (type && type.hasStaticShape())
    values.resize(type.getNumElements());
  else if (!needed)
    values.clear();
  call.make(i, {static_cast<int64_t>(values.size())})
      .assign(ArrayRef<int64_t>(values));
}

/// Output rows; for maxima, the row that each element is from.
static void combine(const Bags &bags, ArrayRef<double> table, int64_t width,
                    ArrayRef<double> weights, std::vector<double> &out,
                    std::vector<int64_t> &from) {
  std::vector<bool> begun(bags.size.size());
  for (auto [i, row] : llvm::enumerate(bags.rows)) {
    if (row == bags.padding)
      continue;
    int64_t bag = bags.bagOf[i];
    for (int64_t j = 0; j < width; ++j) {
      double value = table[row * width + j], &to = out[bag * width + j];
      if (bags.mode != Max) {
        to += weights.empty() ? value : weights[i] * value;
      } else if (!begun[bag] || value > to) {
        to = value;
        from[bag * width + j] = row;
      }
    }
    begun[bag] = true;
  }
  if (bags.mode == Mean)
    for (size_t i = 0; i < out.size(); ++i)
      if (int64_t size = bags.size[i / width]; size > 0)
        out[i] /= static_cast<double>(size);
}

template <bool surface>
static LogicalResult embeddingBag(const KernelCall &call) {
  Tensor weight = call.dense("weight");
  Bags bags;
  if (failed(fillBags(call, weight.sizes[0], bags, /*fromEnd=*/surface)))
    return failure();
  int64_t width = weight.sizes[1];
  int64_t count = static_cast<int64_t>(bags.size.size());
  std::vector<double> out(count * width);
  std::vector<int64_t> from(bags.mode == Max ? out.size() : 0);
  combine(bags, weight.doubles(), width,
          optionalDoubles(call, "per_sample_weights", bags.rows.size()), out,
          from);
  put(call, 0, {count, width}, out);
  putInts(call, 1, bags.bagOf, bags.mode != Sum);
  putInts(call, 2, bags.size, true);
  if (call.wants(3)) {
    if (bags.mode == Max)
      call.make(3, {count, width}).assign(ArrayRef<int64_t>(from));
    else
      putInts(call, 3, bags.size, true); // one a bag, as sizes say
  }
  return success();
}

/// Gradient of the table. `offset2bag` may be empty (sums): then the offsets
/// say it.
static LogicalResult embeddingBagBackward(const KernelCall &call) {
  Tensor gradient = call.dense("grad");
  int64_t count = call.integer("num_weights"), width = gradient.sizes[1];
  int64_t mode = call.integer("mode");
  int64_t padding = call.integer("padding_idx", -1);
  std::vector<double> g = gradient.doubles(), result(count * width);
  int64_t bagCount = gradient.sizes[0];
  std::vector<int64_t> size(bagCount, 1);
  if (mode != Sum)
    size = ints(call, "bag_size", bagCount);
  if (mode == Max) {
    std::vector<int64_t> from = ints(call, "maximum_indices", bagCount * width);
    for (auto [i, row] : llvm::enumerate(from)) {
      if (failed(checkIndex(call, row, count)))
        return failure();
      if (size[i / width] > 0)
        result[row * width + i % width] += g[i];
    }
    put(call, 0, {count, width}, result);
    return success();
  }
  std::vector<int64_t> rows = ints(call, "indices");
  std::vector<int64_t> bagOf = ints(call, "offset2bag");
  if (bagOf.empty() && !rows.empty()) {
    Bags bags;
    if (failed(fillBags(call, count, bags)))
      return failure();
    bagOf = bags.bagOf;
  }
  FailureOr<std::vector<int64_t>> uses = countRows(call, rows, count);
  if (failed(uses))
    return failure();
  if (failed(checkCount(call, "offset2bag", bagOf.size(), rows.size())))
    return failure();
  for (int64_t bag : bagOf)
    if (failed(checkIndex(call, bag, bagCount)))
      return failure();
  std::vector<double> weights =
      optionalDoubles(call, "per_sample_weights", rows.size());
  bool scaled = call.boolean("scale_grad_by_freq");
  for (auto [i, row] : llvm::enumerate(rows)) {
    if (row == padding)
      continue;
    int64_t bag = bagOf[i];
    double factor = weights.empty() ? 1 : weights[i];
    factor /= scaled ? static_cast<double>((*uses)[row]) : 1;
    factor /= mode == Mean ? static_cast<double>(size[bag]) : 1;
    for (int64_t j = 0; j < width; ++j)
      result[row * width + j] += factor * g[bag * width + j];
  }
  put(call, 0, {count, width}, result);
  return success();
}

/// Gradient of the weight of each index: its row times the bag's gradient.
static LogicalResult embeddingBagWeightsBackward(const KernelCall &call) {
  Tensor weight = call.dense("weight");
  int64_t width = weight.sizes[1];
  Bags bags;
  if (failed(fillBags(call, weight.sizes[0], bags)))
    return failure();
  // Where offsets end with the last one, only the bag of each index is sure.
  std::vector<int64_t> bagOf = ints(call, "offset2bag");
  if (bagOf.empty())
    bagOf = bags.bagOf;
  if (failed(checkCount(call, "offset2bag", bagOf.size(), bags.rows.size())))
    return failure();
  std::vector<double> g = doubles(call, "grad"), table = weight.doubles();
  for (int64_t bag : bagOf)
    if (failed(checkIndex(call, bag, width == 0 ? 1 : g.size() / width)))
      return failure();
  std::vector<double> result(bags.rows.size());
  for (auto [i, row] : llvm::enumerate(bags.rows))
    for (int64_t j = 0; row != bags.padding && j < width; ++j)
      result[i] += g[bagOf[i] * width + j] * table[row * width + j];
  put(call, 0, {static_cast<int64_t>(result.size())}, result);
  return success();
}

const KernelFn kernels::embedding = ::embedding;
const KernelFn kernels::embeddingDenseBackward = ::embeddingDenseBackward;
const KernelFn kernels::embeddingRenorm = ::embeddingRenorm;
const KernelFn kernels::embeddingBag = ::embeddingBag<false>;
const KernelFn kernels::embeddingBagPadded = ::embeddingBag<true>;
const KernelFn kernels::embeddingBagBackward = ::embeddingBagBackward;
const KernelFn kernels::embeddingBagWeightsBackward =
    ::embeddingBagWeightsBackward;

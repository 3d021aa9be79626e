// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pooling and resampling as the ops that have kernels: maxima with their
// places, averages over two or three dimensions. One dimension is two of which
// the first has size 1. An adaptive average to one element is a mean.
//
// `upsample_*.vec` gives sizes or factors; the base op gets sizes, and the
// factors too, since its arithmetic uses them. Sizes that are not known stay
// with `.vec`, which has the same gradient.

#include "Rules.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

/// [1, x] of a parameter for one dimension.
static std::vector<Arg> behindOne(Rewrite &c, const char *name, int64_t fill) {
  std::vector<Arg> list = c.r.list(name);
  if (!list.empty())
    list.insert(list.begin(), Arg(fill));
  return list;
}

static Value addRow(Rewrite &c) {
  return c.b.call(op::unsqueeze, {c.r.value("self"), -2});
}

static Values dropRow(Rewrite &c, Values results) {
  for (Value &result : results)
    result = c.b.call(op::squeeze_dim, {result, -2});
  return results;
}

static Value first(const Values &values) {
  return values.empty() ? Value() : values.front();
}

static Values maxPool1dWithIndices(Rewrite &c) {
  std::vector<Arg> stride = behindOne(c, "stride", 1);
  return dropRow(
      c, c.b.callMany(op::max_pool2d_with_indices,
                      {addRow(c), behindOne(c, "kernel_size", 1), stride,
                       behindOne(c, "padding", 0), behindOne(c, "dilation", 1),
                       c.r.arg("ceil_mode")}));
}

static Value maxPool1d(Rewrite &c) { return first(maxPool1dWithIndices(c)); }

static Value maxPool(Rewrite &c) {
  const char *name = c.packet() == "aten.max_pool2d"
                         ? op::max_pool2d_with_indices
                         : op::max_pool3d_with_indices;
  return first(c.b.callMany(name, {c.r.value("self"), c.r.arg("kernel_size"),
                                   c.r.arg("stride"), c.r.arg("padding"),
                                   c.r.arg("dilation"), c.r.arg("ceil_mode")}));
}

static Value averagePool1d(Rewrite &c) {
  Value pooled = c.b.call(
      op::avg_pool2d, {addRow(c), behindOne(c, "kernel_size", 1),
                       behindOne(c, "stride", 1), behindOne(c, "padding", 0),
                       c.r.arg("ceil_mode"), c.r.arg("count_include_pad")});
  return c.b.call(op::squeeze_dim, {pooled, -2});
}

static Value adaptiveAverage1d(Rewrite &c) {
  Value pooled = c.b.call(op::_adaptive_avg_pool2d,
                          {addRow(c), behindOne(c, "output_size", 1)});
  return c.b.call(op::squeeze_dim, {pooled, -2});
}

static Value adaptiveAverage(Rewrite &c) {
  std::vector<Arg> sizes = c.r.list("output_size");
  if (llvm::all_of(sizes, [](const Arg &size) { return size.getInt() == 1; })) {
    SmallVector<int64_t> dims;
    for (size_t i = 1; i <= sizes.size(); ++i)
      dims.push_back(-static_cast<int64_t>(i));
    return c.b.call(op::mean_dim, {c.r.value("self"), dims, true});
  }
  return c.b.call(sizes.size() == 2 ? op::_adaptive_avg_pool2d
                                    : op::_adaptive_avg_pool3d,
                  {c.r.value("self"), sizes});
}

static Values adaptiveMax1d(Rewrite &c) {
  return dropRow(c, c.b.callMany(op::adaptive_max_pool2d,
                                 {addRow(c), behindOne(c, "output_size", 1)}));
}

//===----------------------------------------------------------------------===//
// Resampling
//===----------------------------------------------------------------------===//

/// `size` times `factor`, rounded down; nothing where the size is not known and
/// the factor is no fraction of a small power of two: the product of floats is
/// rounded then.
static std::optional<Arg> scaled(Rewrite &c, const Arg &size, double factor) {
  if (std::optional<int64_t> known = size.getInt())
    return Arg(
        static_cast<int64_t>(std::floor(static_cast<double>(*known) * factor)));
  constexpr int64_t kMost = int64_t(1) << 20;
  int64_t by = 1;
  while (by < kMost && factor * static_cast<double>(by) !=
                           std::floor(factor * static_cast<double>(by)))
    by *= 2;
  double times = factor * static_cast<double>(by);
  if (!(times >= 1 && times <= static_cast<double>(kMost)) ||
      times != std::floor(times))
    return std::nullopt;
  return floorDiv(c.b, c.b.times(size, Arg(static_cast<int64_t>(times))), by);
}

/// The sizes of the result: given, or the input's times the factors, which
/// are rounded down.
static std::optional<std::vector<Arg>> outputSizes(Rewrite &c) {
  if (!c.r.isNone("output_size"))
    return c.r.list("output_size");
  std::vector<Arg> sizes;
  Value input = c.r.value("input");
  for (auto [i, factor] : llvm::enumerate(c.r.list("scale_factors"))) {
    if (static_cast<int64_t>(i) + 2 >= rankOf(input) || !factor.getNumber())
      return std::nullopt;
    std::optional<Arg> size = scaled(
        c, c.b.size(input, static_cast<int64_t>(i) + 2), *factor.getNumber());
    if (!size)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

static LogicalResult upsample(CallOp op, OpBuilder &builder,
                              SmallVectorImpl<Value> &results) {
  Rewrite c(op, builder);
  std::string name = (c.packet() + ".default").str();
  std::optional<std::vector<Arg>> sizes = outputSizes(c);
  if (!sizes) {
    c.b.error("'" + c.packet() + "' by factors of sizes that are not known");
    return failure();
  }
  SmallVector<Arg> args = {c.r.value("input"), *sizes};
  if (op.getSchema().find("align_corners") >= 0)
    args.push_back(c.r.arg("align_corners"));
  for (const Arg &factor : c.r.list("scale_factors"))
    args.push_back(factor);
  results.push_back(c.b.call(name, args));
  return c.b.result();
}

static Value gridSampler(Rewrite &c) {
  return c.b.call(rankOf(c.r.value("input")) == 4 ? op::grid_sampler_2d
                                                  : op::grid_sampler_3d,
                  {c.r.value("input"), c.r.value("grid"),
                   c.r.arg("interpolation_mode"), c.r.arg("padding_mode"),
                   c.r.arg("align_corners")});
}

const DecomposeFn decompositions::maxPool1d = one<::maxPool1d>;
const DecomposeFn decompositions::maxPool1dWithIndices =
    many<::maxPool1dWithIndices>;
const DecomposeFn decompositions::maxPool = one<::maxPool>;
const DecomposeFn decompositions::averagePool1d = one<::averagePool1d>;
const DecomposeFn decompositions::adaptiveAverage1d = one<::adaptiveAverage1d>;
const DecomposeFn decompositions::adaptiveAverage = one<::adaptiveAverage>;
const DecomposeFn decompositions::adaptiveMax1d = many<::adaptiveMax1d>;
const DecomposeFn decompositions::upsample = ::upsample;
const DecomposeFn decompositions::gridSampler = one<::gridSampler>;

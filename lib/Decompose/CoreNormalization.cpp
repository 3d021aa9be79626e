// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizations and their gradients as pointwise ops and reductions.
//
// All four are x̂ = (x - mean) · rstd over some dimensions, with n elements
// each (the mean is 0 for RMS norm), and y = x̂ · w + b. Then, with g = dy · w,
//
//   dx = rstd · (g - mean(g) - x̂ · mean(g · x̂)),  dw = Σ dy · x̂,  db = Σ dy
//
// where the mean of g is left out for RMS norm, and both means where the
// statistics are constants (batch norm that is not training). Written so, a
// partitioner can save x and the two small statistics, and x̂ and y come back
// for the price of a pointwise op.
//
// 16-bit inputs are computed in f32 and rounded once, as PyTorch does.
//
// A program that holds such a gradient and is differentiated itself gets it in
// parts beforehand. Saved statistics count as functions of the input there,
// which they are: rstd = (var(x) + eps)^-1/2, with eps, which the op does not
// say, as the constant that gives the saved value.

#include "CoreRules.h"
#include "Rules.h"

#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

namespace {

/// What a normalization is computed with.
struct Norm {
  CallBuilder &b;
  Type type;                 ///< of the computation
  SmallVector<int64_t> over; ///< dimensions of the statistics
  SmallVector<int64_t> rest; ///< the others: those of the sums for dw and db

  Value add(Value x, const Arg &y) { return b.call("aten.add.Tensor", {x, y}); }
  Value sub(Value x, Value y) { return b.call("aten.sub.Tensor", {x, y}); }
  Value mul(Value x, const Arg &y) { return b.call("aten.mul.Tensor", {x, y}); }
  Value cast(Value x) { return x ? castTo(b, x, type) : x; }
  Value mean(Value x) { return b.call("aten.mean.dim", {x, over, true}); }
  /// Over the other dimensions, which may be none.
  Value sum(Value x) {
    return rest.empty() ? x : b.call("aten.sum.dim_IntList", {x, rest, false});
  }
};

} // namespace

Type decompose::computeType(Value x) {
  Type element = elementOf(x);
  auto real = dyn_cast<FloatType>(element);
  return real && real.getWidth() < 32 ? Float32Type::get(x.getContext())
                                      : element;
}

Value decompose::widen(CallBuilder &b, Value x) {
  return castTo(b, x, computeType(x));
}

Value decompose::asResult(Rewrite &c, Value value, unsigned i) {
  return value && !c.b.failed() ? castTo(c.b, value, elementOf(c.result(i)))
                                : value;
}

static Value normalize(Norm &n, Value x, Value mean, Value rstd) {
  return n.mul(mean ? n.sub(x, mean) : x, Arg(rstd));
}

static Value affine(Norm &n, Value x, Value weight, Value bias) {
  if (weight)
    x = n.mul(x, Arg(weight));
  return bias ? n.add(x, Arg(bias)) : x;
}

/// dx; `mean` says whether the mean of g counts.
static Value inputGradient(Norm &n, Value g, Value normalized, Value rstd,
                           bool mean) {
  Value along = n.mul(normalized, Arg(n.mean(n.mul(g, Arg(normalized)))));
  Value centred = mean ? n.sub(g, n.mean(g)) : g;
  return n.mul(n.sub(centred, along), Arg(rstd));
}

/// Variance (biased) and mean over `n.over`, keeping dimensions.
static Values statistics(Norm &n, Value x) {
  return n.b.callMany("aten.var_mean.correction", {x, n.over},
                      {{"correction", 0}, {"keepdim", true}});
}

static Value rstdOf(Norm &n, Value variance, double eps) {
  return n.b.call("aten.rsqrt.default", {n.add(variance, eps)});
}

/// Saved statistics of `x`, as functions of it: see above. Without a mean the
/// variance is the mean of squares.
static void makeAgain(Norm &n, Value x, Value &mean, Value &rstd) {
  Value variance;
  if (mean) {
    Values stats = statistics(n, x);
    if (stats.size() != 2)
      return;
    variance = stats[0];
    mean = stats[1];
  } else {
    variance = n.mean(n.mul(x, Arg(x)));
  }
  Value inverse = n.b.call("aten.reciprocal.default", {rstd});
  Value eps = n.sub(n.mul(inverse, Arg(inverse)), variance);
  eps = n.b.call("aten.detach.default", {eps});
  rstd = n.b.call("aten.rsqrt.default", {n.add(variance, Arg(eps))});
}

static bool wants(Rewrite &c, unsigned i) {
  std::vector<Arg> mask = c.r.list("output_mask");
  bool masked = i < mask.size() && mask[i].getNumber() == 0.0;
  return !masked && !c.result(i).use_empty();
}

//===----------------------------------------------------------------------===//
// Layer norm, RMS norm
//===----------------------------------------------------------------------===//

/// Over the last dimensions, as many as `normalized_shape` has.
static Norm overLast(Rewrite &c, Value input) {
  Norm n{c.b, computeType(input), {}, {}};
  int64_t rank = rankOf(input);
  int64_t count = static_cast<int64_t>(c.r.list("normalized_shape").size());
  for (int64_t d = 0; d < rank; ++d)
    (d < rank - count ? n.rest : n.over).push_back(d);
  return n;
}

static Values layerNorm(Rewrite &c) {
  Value input = c.r.value("input");
  Norm n = overLast(c, input);
  Value x = n.cast(input);
  Values stats = statistics(n, x);
  if (stats.size() != 2)
    return {};
  Value rstd = rstdOf(n, stats[0], c.r.number("eps").value_or(0));
  Value y = affine(n, normalize(n, x, stats[1], rstd),
                   n.cast(c.r.value("weight")), n.cast(c.r.value("bias")));
  return {asResult(c, y), asResult(c, stats[1], 1), asResult(c, rstd, 2)};
}

template <bool again> static Values layerNormBackward(Rewrite &c) {
  Value input = c.r.value("input");
  Norm n = overLast(c, input);
  Value dy = n.cast(c.r.value("grad_out")), rstd = n.cast(c.r.value("rstd"));
  Value weight = n.cast(c.r.value("weight"));
  Value x = n.cast(input), mean = n.cast(c.r.value("mean"));
  if (again)
    makeAgain(n, x, mean, rstd);
  Value normalized = normalize(n, x, mean, rstd);
  Values results(3);
  if (wants(c, 0))
    results[0] =
        asResult(c, inputGradient(n, weight ? n.mul(dy, Arg(weight)) : dy,
                                  normalized, rstd,
                                  /*mean=*/true));
  if (wants(c, 1))
    results[1] = asResult(c, n.sum(n.mul(dy, Arg(normalized))), 1);
  if (wants(c, 2))
    results[2] = asResult(c, n.sum(dy), 2);
  return results;
}

static Values rmsNorm(Rewrite &c) {
  Value input = c.r.value("input");
  Norm n = overLast(c, input);
  Value x = n.cast(input);
  double eps = c.r.number("eps").value_or(
      n.type.isF64() ? std::numeric_limits<double>::epsilon()
                     : std::numeric_limits<float>::epsilon());
  Value rstd = rstdOf(n, n.mean(n.mul(x, Arg(x))), eps);
  Value y = affine(n, normalize(n, x, {}, rstd), n.cast(c.r.value("weight")),
                   Value());
  return {asResult(c, y), asResult(c, rstd, 1)};
}

template <bool again> static Values rmsNormBackward(Rewrite &c) {
  Value input = c.r.value("input");
  Norm n = overLast(c, input);
  Value dy = n.cast(c.r.value("grad_out")), rstd = n.cast(c.r.value("rstd"));
  Value weight = n.cast(c.r.value("weight")), x = n.cast(input), mean;
  if (again)
    makeAgain(n, x, mean, rstd);
  Value normalized = normalize(n, x, mean, rstd);
  Values results(2);
  if (wants(c, 0))
    results[0] =
        asResult(c, inputGradient(n, weight ? n.mul(dy, Arg(weight)) : dy,
                                  normalized, rstd,
                                  /*mean=*/false));
  if (wants(c, 1))
    results[1] = asResult(c, n.sum(n.mul(dy, Arg(normalized))), 1);
  return results;
}

//===----------------------------------------------------------------------===//
// Group norm: on [N, groups, channels of a group, places]
//===----------------------------------------------------------------------===//

namespace {
struct Groups {
  std::vector<Arg> shape, statistics, channels, input;
};
} // namespace

static Groups groupsOf(Rewrite &c, Value input) {
  Arg n = c.b.size(input, 0), places = countOf(c.b, input, 2, rankOf(input));
  int64_t groups = c.r.integer("group").value_or(1);
  Arg width = floorDiv(c.b, c.b.size(input, 1), groups);
  return {{n, Arg(groups), width, places},
          {n, Arg(groups), Arg(1), Arg(1)},
          {Arg(1), Arg(groups), width, Arg(1)},
          c.b.sizes(input).getList().vec()};
}

static Values groupNorm(Rewrite &c) {
  Value input = c.r.value("input");
  Norm n{c.b, computeType(input), {2, 3}, {0, 3}};
  Groups g = groupsOf(c, input);
  Value x = n.cast(viewAs(c.b, input, g.shape));
  Values stats = statistics(n, x);
  if (stats.size() != 2)
    return {};
  Value rstd = rstdOf(n, stats[0], c.r.number("eps").value_or(0));
  auto perChannel = [&](const char *name) {
    Value value = c.r.value(name);
    return value ? viewAs(c.b, n.cast(value), g.channels) : Value();
  };
  Value y = affine(n, normalize(n, x, stats[1], rstd), perChannel("weight"),
                   perChannel("bias"));
  std::vector<Arg> small = {g.statistics[0], g.statistics[1]};
  return {viewAs(c.b, asResult(c, y), g.input),
          asResult(c, viewAs(c.b, stats[1], small), 1),
          asResult(c, viewAs(c.b, rstd, small), 2)};
}

template <bool again> static Values groupNormBackward(Rewrite &c) {
  Value input = c.r.value("input");
  Norm n{c.b, computeType(input), {2, 3}, {0, 3}};
  Groups g = groupsOf(c, input);
  auto viewed = [&](const char *name, const std::vector<Arg> &sizes) {
    Value value = c.r.value(name);
    return value ? n.cast(viewAs(c.b, value, sizes)) : Value();
  };
  Value dy = viewed("grad_out", g.shape), rstd = viewed("rstd", g.statistics);
  Value weight = viewed("weight", g.channels);
  Value x = viewed("input", g.shape), mean = viewed("mean", g.statistics);
  if (again)
    makeAgain(n, x, mean, rstd);
  Value normalized = normalize(n, x, mean, rstd);
  Values results(3);
  std::vector<Arg> channels = {c.b.size(input, 1)};
  if (wants(c, 0)) {
    Value dx = inputGradient(n, weight ? n.mul(dy, Arg(weight)) : dy,
                             normalized, rstd, /*mean=*/true);
    results[0] = viewAs(c.b, asResult(c, dx), g.input);
  }
  if (wants(c, 1)) {
    Value summands = n.mul(dy, Arg(normalized));
    // A group without places has no summands, but a deviation that is no
    // number, which PyTorch multiplies their sum with.
    if (g.shape[3].getInt() == 0)
      summands =
          c.b.call("aten.expand.default",
                   {n.mul(rstd, 0.0), {g.shape[0], g.shape[1], g.shape[2], 1}});
    results[1] = asResult(c, viewAs(c.b, n.sum(summands), channels), 1);
  }
  if (wants(c, 2))
    results[2] = asResult(c, viewAs(c.b, n.sum(dy), channels), 2);
  return results;
}

//===----------------------------------------------------------------------===//
// Batch norm: over all dimensions but the channels
//===----------------------------------------------------------------------===//

static Norm overBatch(Rewrite &c, Value input) {
  Norm n{c.b, computeType(input), {0}, {0}};
  for (int64_t d = 2; d < rankOf(input); ++d) {
    n.over.push_back(d);
    n.rest.push_back(d);
  }
  return n;
}

/// [C] as [1, C, 1, …], to go with the input.
static Value alongChannels(Norm &n, Value value, int64_t rank) {
  if (!value)
    return value;
  std::vector<Arg> sizes(static_cast<size_t>(rank), Arg(1));
  sizes[1] = n.b.size(value, 0);
  return viewAs(n.b, n.cast(value), sizes);
}

static Value perChannel(Norm &n, Value value) {
  return viewAs(n.b, value, {n.b.size(value, 1)});
}

/// The running statistics after the step: old · (1 - m) + new · m.
static Value blend(Norm &n, Value old, Value now, double momentum) {
  return n.add(n.mul(old, 1 - momentum), Arg(n.mul(now, momentum)));
}

static Values trainedBatchNorm(Rewrite &c) {
  Value input = c.r.value("input");
  Norm n = overBatch(c, input);
  int64_t rank = rankOf(input);
  Value x = n.cast(input);
  Values stats = statistics(n, x);
  if (stats.size() != 2)
    return {};
  Value rstd = rstdOf(n, stats[0], c.r.number("eps").value_or(0));
  Value y = affine(n, normalize(n, x, stats[1], rstd),
                   alongChannels(n, c.r.value("weight"), rank),
                   alongChannels(n, c.r.value("bias"), rank));
  Value mean = perChannel(n, stats[1]);
  Values results = {asResult(c, y), asResult(c, mean, 1),
                    asResult(c, perChannel(n, rstd), 2)};
  if (c.op.getOperation()->getNumResults() < 5)
    return results;
  double momentum = c.r.number("momentum").value_or(0);
  Value unbiased =
      c.b.call("aten.var.correction", {x, n.over}, {{"correction", 1}});
  results.push_back(
      asResult(c, blend(n, c.r.value("running_mean"), mean, momentum), 3));
  results.push_back(
      asResult(c, blend(n, c.r.value("running_var"), unbiased, momentum), 4));
  return results;
}

static Values evaluatedBatchNorm(Rewrite &c) {
  Value input = c.r.value("input");
  Norm n = overBatch(c, input);
  int64_t rank = rankOf(input);
  Value rstd = rstdOf(n, alongChannels(n, c.r.value("running_var"), rank),
                      c.r.number("eps").value_or(0));
  Value mean = alongChannels(n, c.r.value("running_mean"), rank);
  Value y = affine(n, normalize(n, n.cast(input), mean, rstd),
                   alongChannels(n, c.r.value("weight"), rank),
                   alongChannels(n, c.r.value("bias"), rank));
  Values results(c.op.getOperation()->getNumResults());
  results[0] = asResult(c, y);
  // The CPU kernel's statistics are empty then; who reads them has nothing.
  for (unsigned i = 1; i < results.size(); ++i)
    if (shapeOf(c.result(i)) == ArrayRef<int64_t>(0) &&
        !c.result(i).use_empty())
      results[i] = c.b.call("aten.zeros.default", {{0}},
                            {{"dtype", elementOf(c.result(i))}});
  // The functional form gives the running statistics, which stay.
  if (results.size() == 5)
    for (auto [i, name] :
         {std::pair(3, "running_mean"), std::pair(4, "running_var")})
      results[i] = c.b.call("aten.clone.default", {c.r.value(name)});
  return results;
}

static Values batchNorm(Rewrite &c) {
  return c.r.boolean("training").value_or(true) ? trainedBatchNorm(c)
                                                : evaluatedBatchNorm(c);
}

template <bool again> static Values batchNormBackward(Rewrite &c) {
  Value input = c.r.value("input");
  Norm n = overBatch(c, input);
  int64_t rank = rankOf(input);
  bool trained = c.r.boolean("train").value_or(true);
  Value mean =
      alongChannels(n, c.r.value(trained ? "save_mean" : "running_mean"), rank);
  Value rstd = trained
                   ? alongChannels(n, c.r.value("save_invstd"), rank)
                   : rstdOf(n, alongChannels(n, c.r.value("running_var"), rank),
                            c.r.number("eps").value_or(0));
  Value weight = alongChannels(n, c.r.value("weight"), rank);
  Value dy = n.cast(c.r.value("grad_out")), x = n.cast(input);
  if (again && trained)
    makeAgain(n, x, mean, rstd);
  Value normalized = normalize(n, x, mean, rstd);
  Value g = weight ? n.mul(dy, Arg(weight)) : dy;
  Values results(3);
  if (wants(c, 0))
    results[0] = asResult(
        c, trained ? inputGradient(n, g, normalized, rstd, /*mean=*/true)
                   : n.mul(g, Arg(rstd)));
  if (wants(c, 1))
    results[1] = asResult(c, n.sum(n.mul(dy, Arg(normalized))), 1);
  if (wants(c, 2))
    results[2] = asResult(c, n.sum(dy), 2);
  return results;
}

const CoreRule units::layerNorm = {many<::layerNorm>};
const CoreRule units::layerNormBackward = {many<::layerNormBackward<false>>};
const CoreRule units::rmsNorm = {many<::rmsNorm>};
const CoreRule units::rmsNormBackward = {many<::rmsNormBackward<false>>};
const CoreRule units::groupNorm = {many<::groupNorm>};
const CoreRule units::groupNormBackward = {many<::groupNormBackward<false>>};
const CoreRule units::batchNorm = {many<::batchNorm>};
const CoreRule units::evaluatedBatchNorm = {many<::evaluatedBatchNorm>};
const CoreRule units::batchNormBackward = {many<::batchNormBackward<false>>};

const DecomposeFn decompositions::nativeLayerNormBackward =
    many<layerNormBackward<true>>;
const DecomposeFn decompositions::fusedRmsNormBackward =
    many<rmsNormBackward<true>>;
const DecomposeFn decompositions::nativeGroupNormBackward =
    many<groupNormBackward<true>>;
const DecomposeFn decompositions::nativeBatchNormBackward =
    many<batchNormBackward<true>>;

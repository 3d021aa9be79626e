// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights as length times direction: w = g v / |v|, with a norm for each place
// along `dim`. With s the sum of grad v along the other dimensions, the
// gradients are s / |v| for g and g / |v| (grad - v s / |v|^2) for v. The norms
// have the shape of g.

#include "WeightNorm.h"

#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// For each element of `tensor`, its place along `dim`.
static std::vector<int64_t> placesAlong(const Tensor &tensor, int64_t dim) {
  Along along(tensor.sizes, dim);
  std::vector<int64_t> places(along.outer * along.length * along.inner);
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t i = 0; i < along.length; ++i)
      for (int64_t n = 0; n < along.inner; ++n)
        places[along.at(o, i, n)] = i;
  return places;
}

LogicalResult interpreter::weightAndNorms(const KernelCall &call) {
  Tensor v = call.dense("v"), g = call.dense("g");
  int64_t dim = call.dim("dim", v.rank());
  std::vector<int64_t> places = placesAlong(v, dim);
  std::vector<double> values = v.doubles(), norms(v.sizes[dim]);
  std::vector<double> lengths = doubles(call, "g", v.sizes[dim]);
  if (call.failed())
    return failure();
  for (auto [place, value] : llvm::zip_equal(places, values))
    norms[place] += value * value;
  for (double &norm : norms)
    norm = std::sqrt(norm);
  for (auto [place, value] : llvm::zip_equal(places, values))
    value *= lengths[place] / norms[place];
  put(call, 0, v.sizes, values);
  put(call, 1, g.sizes, norms);
  return success();
}

LogicalResult interpreter::weightGradients(const KernelCall &call) {
  Tensor v = call.dense("saved_v"), g = call.dense("saved_g");
  int64_t dim = call.dim("dim", v.rank()), count = v.sizes[dim];
  std::vector<int64_t> places = placesAlong(v, dim);
  std::vector<double> values = v.doubles(), forV(values.size());
  std::vector<double> lengths = doubles(call, "saved_g", count);
  std::vector<double> norms = doubles(call, "saved_norms", count);
  std::vector<double> grad =
      doubles(call, "grad_w", static_cast<int64_t>(values.size()));
  if (call.failed())
    return failure();
  std::vector<double> sums(count);
  for (auto [i, place] : llvm::enumerate(places))
    sums[place] += grad[i] * values[i];
  for (auto [i, place] : llvm::enumerate(places)) {
    double norm = norms[place];
    forV[i] = lengths[place] / norm *
              (grad[i] - values[i] * sums[place] / (norm * norm));
  }
  for (auto [sum, norm] : llvm::zip_equal(sums, norms))
    sum /= norm;
  put(call, 0, v.sizes, forV);
  put(call, 1, g.sizes, sums);
  return success();
}

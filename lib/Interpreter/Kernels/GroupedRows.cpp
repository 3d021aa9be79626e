// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows sorted by group, each group times a matrix of its own: how the package
// `transformers` runs the experts of a model. Group i is the rows from
// offs[i - 1] to offs[i]; rows behind the last group give zeros. The gradients
// are grad W^T for the rows and rows^T grad for the matrices.

#include "Matmul.h"
#include "Values.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// The operands of both kernels: [S, K] rows, [G, K, N] matrices.
struct Groups {
  int64_t count = 0, inner = 0, columns = 0;
  std::vector<double> rows, weight;
  std::vector<int64_t> ends;
  Sizes rowSizes, weightSizes;

  /// Calls `fn` with the row and the first element of its matrix.
  template <typename Fn> void forEachRow(Fn fn) const {
    int64_t start = 0;
    for (auto [group, end] : llvm::enumerate(ends)) {
      for (int64_t row = start; row < end; ++row)
        fn(row, static_cast<int64_t>(group) * inner * columns);
      start = std::max(start, end);
    }
  }
};

FailureOr<Groups> groupsOf(const KernelCall &call) {
  Tensor rows = call.dense("input"), weight = call.dense("weight");
  Groups groups;
  groups.rowSizes.assign(rows.sizes.begin(), rows.sizes.end());
  groups.weightSizes.assign(weight.sizes.begin(), weight.sizes.end());
  groups.count = rows.sizes[0];
  groups.inner = weight.sizes[1];
  groups.columns = weight.sizes[2];
  groups.rows = rows.doubles();
  groups.weight = weight.doubles();
  groups.ends = ints(call, "offs", weight.sizes[0]);
  if (call.failed())
    return failure();
  for (int64_t end : groups.ends)
    if (end < 0 || end > groups.count)
      return call.error("a group ends at row " + Twine(end) + " of " +
                        Twine(groups.count));
  return groups;
}

} // namespace

LogicalResult interpreter::multiplyGroups(const KernelCall &call) {
  FailureOr<Groups> groups = groupsOf(call);
  if (failed(groups))
    return failure();
  int64_t inner = groups->inner, columns = groups->columns;
  std::vector<double> result(groups->count * columns);
  groups->forEachRow([&](int64_t row, int64_t matrix) {
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t n = 0; n < columns; ++n)
        result[row * columns + n] += groups->rows[row * inner + k] *
                                     groups->weight[matrix + k * columns + n];
  });
  put(call, 0, {groups->count, columns}, result);
  return success();
}

LogicalResult interpreter::multiplyGroupsBackward(const KernelCall &call) {
  FailureOr<Groups> groups = groupsOf(call);
  if (failed(groups))
    return failure();
  int64_t inner = groups->inner, columns = groups->columns;
  std::vector<double> grad =
      doubles(call, "grad_output", groups->count * columns);
  if (call.failed())
    return failure();
  std::vector<double> forRows(groups->rows.size());
  std::vector<double> forWeight(groups->weight.size());
  groups->forEachRow([&](int64_t row, int64_t matrix) {
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t n = 0; n < columns; ++n) {
        double g = grad[row * columns + n];
        int64_t at = matrix + k * columns + n;
        forRows[row * inner + k] += g * groups->weight[at];
        forWeight[at] += g * groups->rows[row * inner + k];
      }
  });
  put(call, 0, groups->rowSizes, forRows);
  put(call, 1, groups->weightSizes, forWeight);
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJP of the distances of each row of x1 to each of x2. The backward op gives
// the gradient of its first factor; for the second the roles are swapped, and
// with them rows and columns of the distances and their gradients. It wants one
// batch, so operands whose batches broadcast are expanded first.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

static LogicalResult distances(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  auto swapped = [&](Value matrix) {
    return v.call(op::transpose_int, {matrix, -2, -1});
  };
  // The backward op wants the batch of the distances for both.
  Value apart = v.result();
  int64_t batch = aten::rankOf(apart) - 2;
  auto expanded = [&](const char *param) {
    Value points = v.value(param);
    auto lead = [&](Value x) {
      return aten::shapeOf(x).take_front(
          std::max<int64_t>(aten::rankOf(x) - 2, 0));
    };
    if (lead(points) == lead(apart))
      return Arg(points);
    std::vector<Arg> sizes = v.b.sizes(apart).getList().take_front(batch).vec();
    for (int64_t dim : {-2, -1})
      sizes.push_back(v.b.size(points, dim));
    return Arg(v.call(op::expand, {points, sizes}));
  };
  Arg x1 = expanded("x1"), x2 = expanded("x2"), p = v.arg("p");
  if (v.needs("x1"))
    v.set("x1", v.call(op::_cdist_backward, {v.grad(), x1, x2, p, v.result()}));
  if (v.needs("x2"))
    v.set("x2", v.call(op::_cdist_backward,
                       {swapped(v.grad()), x2, x1, p, swapped(v.result())}));
  return v.done();
}

const VjpFn vjps::distances = ::distances;

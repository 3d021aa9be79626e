// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of reductions that pick elements. Those that give no index (amax,
// median over everything) share the gradient evenly among equal elements, and
// read their input and result; those that give indices send all of it to the
// one element, and read the indices only.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

/// Equal elements get equal shares.
static Value shared(Vjp &v, Reduced &over, Value gradient, Value result) {
  Value mask = v.call(op::eq_Tensor, {over.self, over.restore(v, result)});
  Value count = over.sum(v, mask);
  return v.div(v.mul(over.restore(v, gradient), mask), count);
}

static void extremum(Vjp &v) {
  if (!v.needs("self"))
    return;
  Reduced over(v);
  v.set("self", shared(v, over, v.grad(), v.result()));
}

/// As above; a median that is NaN is shared among the NaNs.
static void median(Vjp &v) {
  if (!v.needs("self"))
    return;
  Reduced over(v);
  Value mask =
      v.un2("logical_or", v.call(op::eq_Tensor, {over.self, v.result()}),
            v.un2("logical_and", v.un("isnan", over.self),
                  v.un("isnan", v.result())));
  Value count = over.sum(v, mask);
  v.set("self", v.mul(mask, v.div(v.grad(), count)));
}

static void aminmax(Vjp &v) {
  if (!v.needs("self"))
    return;
  Reduced over(v);
  Value total;
  for (unsigned i : {0u, 1u})
    if (v.grad(i)) {
      Value part = shared(v, over, v.grad(i), v.result(i));
      total = total ? v.add(total, part) : part;
    }
  v.set("self", total);
}

static void byIndex(Vjp &v) {
  if (!v.needs("self") || !v.grad(0))
    return;
  Reduced over(v);
  if (over.rank == 0) {
    v.set("self", v.grad(0));
    return;
  }
  v.set("self",
        v.call(op::scatter_src,
               {v.zerosLike(over.self), over.dims.front(),
                over.restore(v, v.result(1)), over.restore(v, v.grad(0))}));
}

const VjpFn vjps::extremum = vjp<::extremum>;
const VjpFn vjps::aminmax = vjp<::aminmax>;
const VjpFn vjps::median = vjp<::median>;
const VjpFn vjps::byIndex = vjp<::byIndex>;

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of functional collectives. Together the ranks compute one function of
// all their inputs, and what is differentiated is the sum of what the ranks
// are asked for: an input gets the gradients of the results that it reaches,
// on whichever rank these are. So the rule of a collective is the collective
// that sends the other way:
//
//   all_reduce (sum, avg)         the same
//   all_gather_into_tensor        reduce_scatter_tensor with sum
//   reduce_scatter_tensor         all_gather_into_tensor (avg: through the size
//                                 of the group)
//   all_to_all_single             the same, with the two lists of sizes swapped
//   wait_tensor                   nothing: a value is what it is waited for
//
// What a rule starts it waits for. A maximum or a product of ranks has no rule,
// as in PyTorch; a broadcast has none either, as no op says which rank is ours.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

static Value waitFor(Vjp &v, Value started) {
  return v.call(op::_c10d_functional_wait_tensor, {started});
}

/// "sum" or "avg"; an error for any other, and nothing.
static std::optional<std::string> linearReduction(Vjp &v) {
  StringRef given = v.in.string("reduce_op");
  std::string reduction = given.lower();
  if (reduction == "sum" || reduction == "avg")
    return reduction;
  (void)v.error("no rule for the gradient of the reduction '" + given +
                "' of a group; there are rules for 'sum' and 'avg'");
  return std::nullopt;
}

static void allReduce(Vjp &v) {
  if (auto reduction = linearReduction(v))
    v.set("input", waitFor(v, v.call(op::_c10d_functional_all_reduce,
                                     {v.grad(), StringRef(*reduction),
                                      v.arg("group_name")})));
}

static void allGather(Vjp &v) {
  v.set("input", waitFor(v, v.call(op::_c10d_functional_reduce_scatter_tensor,
                                   {v.grad(), "sum", v.arg("group_size"),
                                    v.arg("group_name")})));
}

static void reduceScatter(Vjp &v) {
  auto reduction = linearReduction(v);
  if (!reduction)
    return;
  Value gradient =
      waitFor(v, v.call(op::_c10d_functional_all_gather_into_tensor,
                        {v.grad(), v.arg("group_size"), v.arg("group_name")}));
  if (*reduction == "avg")
    gradient = v.call(op::div_Scalar, {gradient, v.arg("group_size")});
  v.set("input", gradient);
}

static void allToAll(Vjp &v) {
  v.set("input",
        waitFor(v, v.call(op::_c10d_functional_all_to_all_single,
                          {v.grad(), v.arg("input_split_sizes"),
                           v.arg("output_split_sizes"), v.arg("group_name")})));
}

static void waitTensor(Vjp &v) { v.set("tensor", v.grad()); }

const VjpFn vjps::allReduce = vjpAny<::allReduce>;
const VjpFn vjps::allGather = vjpAny<::allGather>;
const VjpFn vjps::reduceScatter = vjpAny<::reduceScatter>;
const VjpFn vjps::allToAll = vjpAny<::allToAll>;
const VjpFn vjps::waitTensor = vjpAny<::waitTensor>;

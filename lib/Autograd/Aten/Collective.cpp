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
//   broadcast                     all_reduce with sum at the source, zero at
//   the
//                                 other ranks
//   wait_tensor                   nothing: a value is what it is waited for
//
// What a rule starts it waits for. A maximum or a product of ranks has no rule.
// No op says which rank is ours, and all have one program: a scatter of a
// vector that is 1 at the source, 0 elsewhere, gives each rank its own element.

#include "Common.h"

#include "cutback/Autograd/Differentiate.h"

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

/// How many ranks the group of a call has: by the graph, else by another call.
static std::optional<int64_t> groupSize(Vjp &v) {
  StringRef group = v.in.string("group_name");
  auto graph = v.result().getDefiningOp()->getParentOfType<joint::GraphOp>();
  if (auto given = graph->getAttrOfType<mlir::DictionaryAttr>(kGroupSizes))
    if (auto size = given.getAs<mlir::IntegerAttr>(group))
      return size.getInt();
  std::optional<int64_t> size;
  graph->walk([&](CallOp op) {
    if (!op.getOperation()->getName().getStringRef().starts_with("aten.c10d."))
      return;
    aten::CallReader call(op);
    if (!size && call.string(optional("group_name")) == group)
      size = call.integer(optional("group_size"));
  });
  return size;
}

static void broadcast(Vjp &v) {
  StringRef group = v.in.string("group_name");
  std::optional<int64_t> size = groupSize(v), source = v.in.integer("src");
  if (!size) {
    (void)v.error("no rule for the gradient of a broadcast in group '" + group +
                  "', whose size no op says: give it (--group-size=" + group +
                  "=N, or joint.group_sizes of the graph)");
    return;
  }
  if (!source || *source < 0 || *source >= *size) {
    (void)v.error("a broadcast from rank " + llvm::Twine(source.value_or(-1)) +
                  " of a group of " + llvm::Twine(*size));
    return;
  }
  Type element = aten::elementOf(v.grad());
  Value isSource =
      v.call(op::eq_Scalar,
             {v.call(op::arange, {*size}, {{"dtype", v.b.i64()}}), *source});
  Value own =
      waitFor(v, v.call(op::_c10d_functional_reduce_scatter_tensor,
                        {v.call(op::_to_copy, {isSource}, {{"dtype", element}}),
                         "sum", *size, v.arg("group_name")}));
  Value isOurs =
      v.call(op::ne_Scalar, {v.call(op::select_int, {own, 0, 0}), 0});
  Value sum = waitFor(v, v.call(op::_c10d_functional_all_reduce,
                                {v.grad(), "sum", v.arg("group_name")}));
  v.set("input", v.keepWhere(isOurs, sum));
}

static void waitTensor(Vjp &v) { v.set("tensor", v.grad()); }

const VjpFn vjps::allReduce = vjpAny<::allReduce>;
const VjpFn vjps::allGather = vjpAny<::allGather>;
const VjpFn vjps::reduceScatter = vjpAny<::reduceScatter>;
const VjpFn vjps::allToAll = vjpAny<::allToAll>;
const VjpFn vjps::broadcastOfGroup = vjpAny<::broadcast>;
const VjpFn vjps::waitTensor = vjpAny<::waitTensor>;

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit is saved or computed again as a whole. What PyTorch saves of a norm is
// its statistics, because there the partitioner sees the parts; a unit that
// mixes a reduction over its input with an elementwise result costs the whole
// input's pass again, so its result would be saved besides its input: one
// tensor more for each norm, which is what convolutional networks consist of.
// Differentiation wants the unit (one backward op instead of twenty), hence
// afterwards. The formulas are PyTorch's, in the same order of operations:
//
//   var, mean = var_mean(x over the normalized dimensions)
//   rstd = rsqrt(var + eps)
//   y = (x - mean) rstd weight + bias
//
// A rule builds in front of its op and answers with one value a result, or with
// none to leave the op alone.

#include "cutback/Autograd/SplitUnits.h"

#include "cutback/Dialect/Aten/CallReader.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

namespace {

struct Unit {
  Unit(CallOp op, OpBuilder &builder, ValueNamer &namer)
      : op(op), in(op), b(builder, op.getLoc(), &namer) {}

  CallOp op;
  CallReader in;
  CallBuilder b;

  Value call(StringRef name, ArrayRef<Arg> args,
             ArrayRef<NamedArg> named = {}) {
    return b.call(name, args, named);
  }
  bool isUsed(unsigned result) { return !op->getResult(result).use_empty(); }
};

using Values = SmallVector<Value>;

} // namespace

static bool isWide(Value tensor) {
  Type type = elementOf(tensor);
  return type.isF32() || type.isF64();
}

/// A value a channel (dimension 1) in a shape that broadcasts to `like`.
static Value perChannel(Unit &u, Value tensor, Value like) {
  std::vector<Arg> sizes(rankOf(like), Arg(1));
  sizes[1] = u.b.size(like, 1);
  return u.call("aten.view.default", {tensor, sizes});
}

/// y weight + bias, for those that there are.
static Value affine(Unit &u, Value y) {
  if (Value weight = u.in.value("weight"))
    y = u.call("aten.mul.Tensor", {y, perChannel(u, weight, y)});
  if (Value bias = u.in.value("bias"))
    y = u.call("aten.add.Tensor", {y, perChannel(u, bias, y)});
  return y;
}

static Value normalize(Unit &u, Value x, Value mean, Value rstd) {
  return u.call("aten.mul.Tensor",
                {u.call("aten.sub.Tensor", {x, mean}), rstd});
}

static Value rsqrtOf(Unit &u, Value variance) {
  return u.call("aten.rsqrt.default",
                {u.call("aten.add.Tensor", {variance, u.in.arg("eps")})});
}

/// (variance, mean) over `dims`, which stay with size 1.
static Values statistics(Unit &u, Value x, ArrayRef<int64_t> dims) {
  return u.b.callMany("aten.var_mean.correction", {x, dims},
                      {{"correction", 0}, {"keepdim", true}});
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static Values groupNorm(Unit &u) {
  Value x = u.in.value("input");
  std::optional<int64_t> channels = u.in.integer("C"),
                         groups = u.in.integer("group");
  if (!isWide(x) || !channels || !groups || *groups <= 0)
    return {};
  Value grouped = u.call("aten.view.default",
                         {x,
                          {u.in.arg("N"), Arg(*groups),
                           Arg(*channels / *groups), u.in.arg("HxW")}});
  Values moments = statistics(u, grouped, {2, 3});
  if (u.b.failed())
    return {};
  Value rstd = rsqrtOf(u, moments[0]);
  Value y = normalize(u, grouped, moments[1], rstd);
  y = affine(u, u.call("aten.view.default", {y, u.b.sizes(x)}));
  auto squeezed = [&](Value v) {
    return u.call("aten.squeeze.dims", {v, {2, 3}});
  };
  return {y, squeezed(moments[1]), squeezed(rstd)};
}

/// Number of elements that one statistic is of.
static std::optional<int64_t> countPerChannel(Value x) {
  int64_t count = 1;
  for (auto [dim, size] : llvm::enumerate(shapeOf(x))) {
    if (dim == 1)
      continue;
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    count *= size;
  }
  return count;
}

/// running (1 - momentum) + momentum value.
static Value moveTowards(Unit &u, Value running, Value value, double factor) {
  double momentum = u.in.number("momentum").value_or(0.1);
  return u.call("aten.add.Tensor",
                {u.call("aten.mul.Tensor", {value, momentum * factor}),
                 u.call("aten.mul.Tensor", {running, 1 - momentum})});
}

static Values batchNorm(Unit &u) {
  Value x = u.in.value("input"), mean = u.in.value("running_mean"),
        variance = u.in.value("running_var");
  std::optional<int64_t> count = countPerChannel(x);
  if (u.in.boolean("training") != true || !isWide(x) || !count || *count < 2 ||
      !mean || !variance || elementOf(mean) != elementOf(x) ||
      elementOf(variance) != elementOf(x))
    return {};
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rankOf(x); ++dim)
    if (dim != 1)
      dims.push_back(dim);
  Values moments = statistics(u, x, dims);
  if (u.b.failed())
    return {};
  Value rstd = rsqrtOf(u, moments[0]);
  Value y = affine(u, normalize(u, x, moments[1], rstd));
  auto squeezed = [&](Value v) {
    return u.call("aten.squeeze.dims", {v, dims});
  };
  Value savedMean = squeezed(moments[1]);
  // The running variance is that of the population.
  double unbiased = static_cast<double>(*count) / (*count - 1.0);
  return {y, savedMean, squeezed(rstd), moveTowards(u, mean, savedMean, 1),
          moveTowards(u, variance, squeezed(moments[0]), unbiased)};
}

static Values evaluatedBatchNorm(Unit &u) {
  Value x = u.in.value("input"), mean = u.in.value("running_mean"),
        variance = u.in.value("running_var");
  if (!isWide(x) || u.isUsed(1) || u.isUsed(2) ||
      elementOf(mean) != elementOf(x) || elementOf(variance) != elementOf(x))
    return {};
  Value rstd = rsqrtOf(u, variance);
  Value y = normalize(u, x, perChannel(u, mean, x), perChannel(u, rstd, x));
  return {affine(u, y), Value(), Value()};
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Both entries of a parameter of type int[2]; `whenEmpty` for none.
static SmallVector<int64_t> pair(Unit &u, ParamRef param,
                                 ArrayRef<int64_t> whenEmpty) {
  std::optional<SmallVector<int64_t>> given = u.in.integers(param);
  if (!given || given->empty())
    return SmallVector<int64_t>(whenEmpty);
  if (given->size() == 1)
    given->push_back(given->front());
  return *given;
}

static Values maxPool(Unit &u) {
  Value x = u.in.value("self");
  if (!u.isUsed(1) || rankOf(x) != 4)
    return {};
  SmallVector<int64_t> kernel = pair(u, "kernel_size", {});
  if (kernel.size() != 2 || kernel[0] * kernel[1] > 127)
    return {};
  SmallVector<int64_t> stride = pair(u, "stride", kernel),
                       padding = pair(u, "padding", {0, 0}),
                       dilation = pair(u, "dilation", {1, 1});
  Values pooled = u.b.callMany(
      "prims._low_memory_max_pool_with_offsets.default",
      {x, kernel, stride, padding, dilation, u.in.arg("ceil_mode")});
  if (u.b.failed())
    return {};
  Value indices =
      u.call("prims._low_memory_max_pool_offsets_to_indices.default",
             {pooled[1],
              kernel,
              {u.b.size(x, 2), u.b.size(x, 3)},
              stride,
              padding,
              dilation});
  return {pooled[0], indices};
}

//===----------------------------------------------------------------------===//
// Replacement
//===----------------------------------------------------------------------===//

namespace {
struct SplitRule {
  const char *torchName;
  Values (*split)(Unit &u);
};
} // namespace

static constexpr SplitRule kRules[] = {
    {"aten.native_group_norm.default", groupNorm},
    {"aten._native_batch_norm_legit_functional.default", batchNorm},
    {"aten._native_batch_norm_legit_no_training.default", evaluatedBatchNorm},
    {"aten.max_pool2d_with_indices.default", maxPool},
};

/// True if the parts can stand where the results stood.
static bool fits(Operation *op, ArrayRef<Value> values) {
  if (values.empty())
    return false;
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    if (!result.use_empty() && (!value || value.getType() != result.getType()))
      return false;
  return true;
}

/// From the op in front of `op` back to `before`: parts that nobody reads go,
/// the others get the op's tags.
static void settle(Operation *op, Operation *before) {
  for (Operation *part = op->getPrevNode(); part && part != before;) {
    Operation *next = part->getPrevNode();
    if (part->use_empty()) {
      part->erase();
    } else {
      for (NamedAttribute attr : op->getDiscardableAttrs())
        if (attr.getName() != joint::JointDialect::kDims)
          part->setDiscardableAttr(attr.getName(), attr.getValue());
    }
    part = next;
  }
}

LogicalResult cutback::splitUnits(joint::GraphOp graph) {
  ValueNamer namer(graph);
  OpBuilder builder(graph.getContext());
  for (Operation &op : llvm::make_early_inc_range(graph.getBlock())) {
    auto call = dyn_cast<CallOp>(op);
    if (!call)
      continue;
    const auto *rule = llvm::find_if(kRules, [&](const SplitRule &rule) {
      return StringRef(rule.torchName) == call.getInfo().torchName;
    });
    if (rule == std::end(kRules))
      continue;
    Operation *before = op.getPrevNode();
    builder.setInsertionPoint(&op);
    Unit unit(call, builder, namer);
    Values values = rule->split(unit);
    if (unit.b.failed())
      return failure();
    bool replaces = fits(&op, values);
    if (replaces)
      for (auto [result, value] : llvm::zip_equal(op.getResults(), values))
        if (value)
          result.replaceAllUsesWith(value);
    settle(&op, before);
    if (replaces)
      op.erase();
  }
  return success();
}

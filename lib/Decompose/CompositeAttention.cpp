// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// scaled_dot_product_attention, as PyTorch chooses on a CPU:
//
//   flash   floating-point q, k, v of three or four dimensions and one head
//           size, no dropout, and a mask that takes no gradient: one op, which
//           saves its result and a number for each row
//   math    everything else: softmax(scale · q kᵀ + mask) v, where q and k
//           are both scaled by the square root
//
// A mask of bools becomes one of 0 and -inf. Heads that share a key (grouped
// queries) get copies of it. Half precision is computed in f32 by the math
// form, as PyTorch does.

#include "Rules.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

static Value constant(CallBuilder &b, double number, Type type) {
  return b.call(op::scalar_tensor, {number}, {{"dtype", type}});
}

/// 0 where the mask is true, -inf elsewhere.
static Value additive(CallBuilder &b, Value mask, Type type) {
  if (!mask || !elementOf(mask).isInteger(1))
    return mask;
  return b.call(op::where_self,
                {mask, constant(b, 0.0, type),
                 constant(b, -std::numeric_limits<double>::infinity(), type)});
}

/// [.., heads, S, D] with each head `times` times.
static Value repeatHeads(CallBuilder &b, Value value, int64_t times) {
  int64_t rank = rankOf(value);
  std::vector<Arg> sizes = b.sizes(value).getList().vec();
  std::vector<Arg> flat = sizes;
  sizes.insert(sizes.end() - 2, Arg(times));
  flat[rank - 3] = b.times(flat[rank - 3], Arg(times));
  Value copies = expandTo(b, b.call(op::unsqueeze, {value, rank - 2}), sizes);
  copies =
      b.call(op::clone, {copies}, {{"memory_format", "contiguous_format"}});
  return b.call(op::_unsafe_view, {copies, flat});
}

namespace {
struct Attention {
  Value query, key, value, mask;
  bool causal = false;
  double dropout = 0.0;
};
} // namespace

/// The op for four dimensions can be used.
static bool isFlash(const Attention &call) {
  int64_t rank = rankOf(call.query);
  auto isFit = [&](Value value) {
    int64_t head = shapeOf(value).empty() ? 0 : shapeOf(value).back();
    return rankOf(value) == rank && head == shapeOf(call.query).back() &&
           head != 0 && shapeOf(value)[rank - 2] != 0;
  };
  return (rank == 3 || rank == 4) && isa<FloatType>(elementOf(call.query)) &&
         call.dropout == 0.0 && isFit(call.query) && isFit(call.key) &&
         isFit(call.value) &&
         (!call.mask || (rankOf(call.mask) >= 2 && rankOf(call.mask) <= rank &&
                         !(call.causal) && !mayHaveGradient(call.mask)));
}

static Value flash(Rewrite &c, const Attention &call) {
  bool unbatched = rankOf(call.query) == 3;
  auto batched = [&](Value value) {
    return unbatched ? c.b.call(op::unsqueeze, {value, 0}) : value;
  };
  Value mask = additive(c.b, call.mask, elementOf(call.query));
  // Two dimensions, or all four.
  while (mask && !c.b.failed() && rankOf(mask) > 2 && rankOf(mask) < 4)
    mask = c.b.call(op::unsqueeze, {mask, 0});
  Values results =
      c.b.callMany(op::_scaled_dot_product_flash_attention_for_cpu,
                   {batched(call.query), batched(call.key), batched(call.value),
                    0.0, call.causal},
                   {{"attn_mask", mask}, {"scale", c.r.arg("scale")}});
  if (results.empty())
    return {};
  return unbatched ? c.b.call(op::squeeze_dim, {results.front(), 0})
                   : results.front();
}

/// Ones on and below the diagonal, [L, S].
static Value causalMask(CallBuilder &b, Value query, Value key) {
  Value ones = b.call(op::ones, {{b.size(query, -2), b.size(key, -2)}},
                      {{"dtype", b.boolean()}});
  return b.call(op::tril, {ones});
}

/// The square root of 1 / sqrt(D), of heads of D elements.
static Arg rootOfOwnScale(CallBuilder &b, Value query) {
  Arg head = b.size(query, -1);
  if (std::optional<int64_t> known = head.getInt())
    return Arg(std::sqrt(1.0 / std::sqrt(static_cast<double>(*known))));
  auto rootOf = [&](const Arg &number) {
    return Arg(b.call(op::torch_sym_sqrt, {number}));
  };
  return rootOf(b.call(op::operator_truediv, {1.0, rootOf(head)}));
}

/// The result, and the weights that it is a mean by.
static Values math(Rewrite &c, Attention call) {
  CallBuilder &b = c.b;
  Type type = elementOf(call.query), wide = type;
  if (type.isF16() || type.isBF16())
    wide = b.f32();
  Value query = castTo(b, call.query, wide), key = castTo(b, call.key, wide);
  Value value = castTo(b, call.value, wide);
  double scale = c.r.number("scale").value_or(1.0);
  Arg root = c.r.isNone("scale") ? rootOfOwnScale(b, call.query)
                                 : Arg(std::sqrt(std::fabs(scale)));
  query = b.call(op::mul_Scalar,
                 {query, scale < 0 ? Arg(-*root.getNumber()) : root});
  key = b.call(op::transpose_int, {key, -2, -1});
  key = b.call(op::mul_Scalar, {key, root});
  if (call.causal)
    call.mask = causalMask(b, call.query, call.key);
  if (b.failed())
    return {};
  Value weights = matmul(b, query, key);
  if (Value mask = additive(b, call.mask, wide))
    weights = b.call(op::add_Tensor, {weights, mask});
  weights = b.call(op::_safe_softmax, {weights, -1});
  double scaled = 1.0;
  if (Value kept = c.r.value(optional("dropout_mask"));
      kept && call.dropout != 0.0) {
    weights = b.call(op::where_ScalarOther, {kept, weights, 0.0});
    scaled = 1 / (1 - call.dropout);
  } else if (call.dropout != 0.0) {
    weights = b.call(op::dropout, {weights, c.r.arg("dropout_p"), true});
  }
  // The weights that are kept are shown as they were.
  Value result = matmul(b, weights, value);
  if (scaled != 1.0)
    result = b.call(op::mul_Scalar, {result, scaled});
  return {castTo(b, result, type), castTo(b, weights, type)};
}

/// The operands, with as many heads of keys as of queries. No query after an
/// error.
static Attention attentionOf(Rewrite &c) {
  Attention call;
  call.query = c.r.value("query");
  call.key = c.r.value("key");
  call.value = c.r.value("value");
  call.mask = c.r.value("attn_mask");
  call.causal = c.r.boolean("is_causal").value_or(false);
  call.dropout = c.r.number("dropout_p").value_or(1.0);
  bool grouped = c.r.boolean("enable_gqa").value_or(false);
  if (grouped && rankOf(call.query) >= 3) {
    int64_t at = rankOf(call.query) - 3;
    int64_t heads = shapeOf(call.query)[at];
    for (Value *shared : {&call.key, &call.value}) {
      int64_t own = shapeOf(*shared)[at];
      if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(own) ||
          own == 0 || heads % own != 0) {
        c.b.error("the heads of 'aten.scaled_dot_product_attention' cannot be "
                  "grouped");
        return {};
      }
      if (own != heads)
        *shared = repeatHeads(c.b, *shared, heads / own);
    }
  }
  return call;
}

static Value attention(Rewrite &c) {
  Attention call = attentionOf(c);
  if (c.b.failed())
    return {};
  if (isFlash(call))
    return flash(c, call);
  Values both = math(c, call);
  return both.empty() ? Value() : both.front();
}

/// A mask of bools is added as it is here: PyTorch makes it one of 0 and -inf
/// before this op.
static Values attentionByMath(Rewrite &c) {
  Attention call = attentionOf(c);
  if (call.mask)
    call.mask = castTo(c.b, call.mask, elementOf(call.query));
  return c.b.failed() ? Values() : math(c, call);
}

const DecomposeFn decompositions::attention = one<::attention>;
const DecomposeFn decompositions::attentionByMath = many<::attentionByMath>;

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of resampling. An upsampling is linear, so its gradient reads sizes
// only. The overload `vec` takes factors instead of sizes; the backward op gets
// the sizes that came out, and the factors as the scales per dimension, because
// they, and not the quotient of the sizes, say where the samples were.

#include "Placeholder.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::autograd;

namespace {
struct Upsampling {
  const char *backward;
  const char *scales[3]; ///< parameters of the overload `default`
  bool cornersAlign;     ///< takes `align_corners`
};
} // namespace

static constexpr Upsampling kNearest1d = {
    "aten.upsample_nearest1d_backward.default", {"scales"}, false};
static constexpr Upsampling kNearest2d = {
    "aten.upsample_nearest2d_backward.default",
    {"scales_h", "scales_w"},
    false};
static constexpr Upsampling kNearest3d = {
    "aten.upsample_nearest3d_backward.default",
    {"scales_d", "scales_h", "scales_w"},
    false};
static constexpr Upsampling kLinear1d = {
    "aten.upsample_linear1d_backward.default", {"scales"}, true};
static constexpr Upsampling kBilinear2d = {
    "aten.upsample_bilinear2d_backward.default",
    {"scales_h", "scales_w"},
    true};
static constexpr Upsampling kBicubic2d = {
    "aten.upsample_bicubic2d_backward.default", {"scales_h", "scales_w"}, true};
static constexpr Upsampling kTrilinear3d = {
    "aten.upsample_trilinear3d_backward.default",
    {"scales_d", "scales_h", "scales_w"},
    true};

static constexpr Upsampling kExact1d = {
    "aten._upsample_nearest_exact1d_backward.default", {"scales"}, false};
static constexpr Upsampling kExact2d = {
    "aten._upsample_nearest_exact2d_backward.default",
    {"scales_h", "scales_w"},
    false};
static constexpr Upsampling kExact3d = {
    "aten._upsample_nearest_exact3d_backward.default",
    {"scales_d", "scales_h", "scales_w"},
    false};
static constexpr Upsampling kBilinear2dAa = {
    "aten._upsample_bilinear2d_aa_backward.default",
    {"scales_h", "scales_w"},
    true};
static constexpr Upsampling kBicubic2dAa = {
    "aten._upsample_bicubic2d_aa_backward.default",
    {"scales_h", "scales_w"},
    true};

template <const Upsampling &kind, bool isVec>
static LogicalResult upsample(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  ParamRef param = isVec ? "input" : "self";
  Value input = v.value(param);
  int64_t spatial = rankOf(input) - 2;
  std::vector<Arg> sizes, args;
  for (int64_t dim = 2; dim < spatial + 2; ++dim)
    sizes.push_back(v.b.size(v.grad(), dim));
  args = {v.grad(), sizes, v.b.sizes(input)};
  if (kind.cornersAlign)
    args.push_back(v.arg("align_corners"));
  std::vector<Arg> factors = v.in.list("scale_factors");
  for (int64_t i = 0; i < spatial; ++i) {
    if (!isVec)
      args.push_back(v.arg(kind.scales[i]));
    else
      args.push_back(factors.empty() ? Arg() : factors[i]);
  }
  v.set(param, v.call(kind.backward, args));
  return v.done();
}

static LogicalResult gridSampler(Vjp &v, StringRef backward) {
  bool input = v.needs("input"), grid = v.needs("grid");
  SmallVector<Value> gradients =
      v.b.callMany(backward, {v.grad(),
                              readIf(grid, v, v.value("input")),
                              v.value("grid"),
                              v.arg("interpolation_mode"),
                              v.arg("padding_mode"),
                              v.arg("align_corners"),
                              {input, grid}});
  if (v.b.failed())
    return v.done();
  if (input)
    v.set("input", gradients[0]);
  if (grid)
    v.set("grid", gradients[1]);
  return v.done();
}

static LogicalResult gridSampler2d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return gridSampler(v, "aten.grid_sampler_2d_backward.default");
}

static LogicalResult gridSampler3d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return gridSampler(v, "aten.grid_sampler_3d_backward.default");
}

VjpTable autograd::upsampleVjps() {
  static constexpr VjpRule rules[] = {
      {"aten.upsample_nearest1d.default", upsample<kNearest1d, false>},
      {"aten.upsample_nearest1d.vec", upsample<kNearest1d, true>},
      {"aten.upsample_nearest2d.default", upsample<kNearest2d, false>},
      {"aten.upsample_nearest2d.vec", upsample<kNearest2d, true>},
      {"aten.upsample_nearest3d.default", upsample<kNearest3d, false>},
      {"aten.upsample_nearest3d.vec", upsample<kNearest3d, true>},
      {"aten.upsample_linear1d.default", upsample<kLinear1d, false>},
      {"aten.upsample_linear1d.vec", upsample<kLinear1d, true>},
      {"aten.upsample_bilinear2d.default", upsample<kBilinear2d, false>},
      {"aten.upsample_bilinear2d.vec", upsample<kBilinear2d, true>},
      {"aten.upsample_bicubic2d.default", upsample<kBicubic2d, false>},
      {"aten.upsample_bicubic2d.vec", upsample<kBicubic2d, true>},
      {"aten.upsample_trilinear3d.default", upsample<kTrilinear3d, false>},
      {"aten.upsample_trilinear3d.vec", upsample<kTrilinear3d, true>},
      {"aten._upsample_nearest_exact1d.default", upsample<kExact1d, false>},
      {"aten._upsample_nearest_exact1d.vec", upsample<kExact1d, true>},
      {"aten._upsample_nearest_exact2d.default", upsample<kExact2d, false>},
      {"aten._upsample_nearest_exact2d.vec", upsample<kExact2d, true>},
      {"aten._upsample_nearest_exact3d.default", upsample<kExact3d, false>},
      {"aten._upsample_nearest_exact3d.vec", upsample<kExact3d, true>},
      {"aten._upsample_bilinear2d_aa.default", upsample<kBilinear2dAa, false>},
      {"aten._upsample_bilinear2d_aa.vec", upsample<kBilinear2dAa, true>},
      {"aten._upsample_bicubic2d_aa.default", upsample<kBicubic2dAa, false>},
      {"aten._upsample_bicubic2d_aa.vec", upsample<kBicubic2dAa, true>},
      {"aten.grid_sampler_2d.default", gridSampler2d},
      {"aten.grid_sampler_3d.default", gridSampler3d},
  };
  return rules;
}

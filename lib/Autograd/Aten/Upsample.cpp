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
    op::upsample_nearest1d_backward, {"scales"}, false};
static constexpr Upsampling kNearest2d = {
    op::upsample_nearest2d_backward, {"scales_h", "scales_w"}, false};
static constexpr Upsampling kNearest3d = {op::upsample_nearest3d_backward,
                                          {"scales_d", "scales_h", "scales_w"},
                                          false};
static constexpr Upsampling kLinear1d = {
    op::upsample_linear1d_backward, {"scales"}, true};
static constexpr Upsampling kBilinear2d = {
    op::upsample_bilinear2d_backward, {"scales_h", "scales_w"}, true};
static constexpr Upsampling kBicubic2d = {
    op::upsample_bicubic2d_backward, {"scales_h", "scales_w"}, true};
static constexpr Upsampling kTrilinear3d = {
    op::upsample_trilinear3d_backward,
    {"scales_d", "scales_h", "scales_w"},
    true};

static constexpr Upsampling kExact1d = {
    op::_upsample_nearest_exact1d_backward, {"scales"}, false};
static constexpr Upsampling kExact2d = {
    op::_upsample_nearest_exact2d_backward, {"scales_h", "scales_w"}, false};
static constexpr Upsampling kExact3d = {op::_upsample_nearest_exact3d_backward,
                                        {"scales_d", "scales_h", "scales_w"},
                                        false};
static constexpr Upsampling kBilinear2dAa = {
    op::_upsample_bilinear2d_aa_backward, {"scales_h", "scales_w"}, true};
static constexpr Upsampling kBicubic2dAa = {
    op::_upsample_bicubic2d_aa_backward, {"scales_h", "scales_w"}, true};

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
  std::vector<Arg> factors = v.in.list(optional("scale_factors"));
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
  return gridSampler(v, op::grid_sampler_2d_backward);
}

static LogicalResult gridSampler3d(CallOp op, VjpContext &context) {
  Vjp v(op, context);
  return gridSampler(v, op::grid_sampler_3d_backward);
}

const VjpFn vjps::upsampleNearest1d = upsample<kNearest1d, false>;
const VjpFn vjps::upsampleNearest1dVec = upsample<kNearest1d, true>;
const VjpFn vjps::upsampleNearest2d = upsample<kNearest2d, false>;
const VjpFn vjps::upsampleNearest2dVec = upsample<kNearest2d, true>;
const VjpFn vjps::upsampleNearest3d = upsample<kNearest3d, false>;
const VjpFn vjps::upsampleNearest3dVec = upsample<kNearest3d, true>;
const VjpFn vjps::upsampleLinear1d = upsample<kLinear1d, false>;
const VjpFn vjps::upsampleLinear1dVec = upsample<kLinear1d, true>;
const VjpFn vjps::upsampleBilinear2d = upsample<kBilinear2d, false>;
const VjpFn vjps::upsampleBilinear2dVec = upsample<kBilinear2d, true>;
const VjpFn vjps::upsampleBicubic2d = upsample<kBicubic2d, false>;
const VjpFn vjps::upsampleBicubic2dVec = upsample<kBicubic2d, true>;
const VjpFn vjps::upsampleTrilinear3d = upsample<kTrilinear3d, false>;
const VjpFn vjps::upsampleTrilinear3dVec = upsample<kTrilinear3d, true>;
const VjpFn vjps::upsampleNearestExact1d = upsample<kExact1d, false>;
const VjpFn vjps::upsampleNearestExact1dVec = upsample<kExact1d, true>;
const VjpFn vjps::upsampleNearestExact2d = upsample<kExact2d, false>;
const VjpFn vjps::upsampleNearestExact2dVec = upsample<kExact2d, true>;
const VjpFn vjps::upsampleNearestExact3d = upsample<kExact3d, false>;
const VjpFn vjps::upsampleNearestExact3dVec = upsample<kExact3d, true>;
const VjpFn vjps::upsampleBilinear2dAa = upsample<kBilinear2dAa, false>;
const VjpFn vjps::upsampleBilinear2dAaVec = upsample<kBilinear2dAa, true>;
const VjpFn vjps::upsampleBicubic2dAa = upsample<kBicubic2dAa, false>;
const VjpFn vjps::upsampleBicubic2dAaVec = upsample<kBicubic2dAa, true>;
const VjpFn vjps::gridSampler2d = ::gridSampler2d;
const VjpFn vjps::gridSampler3d = ::gridSampler3d;

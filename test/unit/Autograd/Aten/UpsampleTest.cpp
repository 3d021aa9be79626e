// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

namespace {
struct Resampling {
  const char *name;
  int64_t dims;
  bool cornersAlign;
};
} // namespace

static const Resampling kResamplings[] = {
    {"upsample_nearest1d", 1, false},
    {"upsample_nearest2d", 2, false},
    {"upsample_nearest3d", 3, false},
    {"_upsample_nearest_exact1d", 1, false},
    {"_upsample_nearest_exact2d", 2, false},
    {"_upsample_nearest_exact3d", 3, false},
    {"upsample_linear1d", 1, true},
    {"upsample_bilinear2d", 2, true},
    {"upsample_bicubic2d", 2, true},
    {"upsample_trilinear3d", 3, true},
    {"_upsample_bilinear2d_aa", 2, true},
    {"_upsample_bicubic2d_aa", 2, true},
};

/// Sizes 2, 3, 2 become 5, 4, 3 (and less, for the last).
static void check(const Resampling &r, bool align, bool isVec, bool byFactor) {
  SCOPED_TRACE(r.name);
  checkVjp([&](VjpCheck &c) {
    static const int64_t from[] = {2, 3, 4}, to[] = {5, 4, 3};
    static const double factors[] = {2.3, 1.5, 0.8};
    SmallVector<int64_t> shape = {1, 2}, sizes;
    std::vector<Arg> scales;
    for (int64_t i = 0; i < r.dims; ++i) {
      shape.push_back(from[i]);
      sizes.push_back(byFactor ? static_cast<int64_t>(from[i] * factors[i])
                               : to[i]);
      scales.emplace_back(factors[i]);
    }
    std::vector<Arg> args = {c.input(shape)};
    if (isVec && byFactor)
      args.emplace_back();
    else
      args.emplace_back(sizes);
    if (r.cornersAlign)
      args.emplace_back(align);
    if (isVec)
      args.push_back(byFactor ? Arg(scales) : Arg());
    else if (byFactor)
      args.insert(args.end(), scales.begin(), scales.end());
    c.output(c.b.call(
        "aten." + std::string(r.name) + (isVec ? ".vec" : ".default"), args));
  });
}

TEST(UpsampleVjp, AllKinds) {
  for (const Resampling &r : kResamplings)
    for (bool align : {false, true}) {
      if (align && !r.cornersAlign)
        continue;
      check(r, align, false, false);
      check(r, align, false, true);
      check(r, align, true, false);
      check(r, align, true, true);
    }
}

TEST(UpsampleVjp, GridSamplers) {
  for (int mode : {0, 1, 2})
    for (int padding : {0, 1, 2})
      checkVjp([&](VjpCheck &c) {
        Value x = c.input({1, 2, 4, 3});
        Value grid = c.input(
            {1, 2, 2, 2}, {-0.83, 0.31, 0.47, -0.59, 1.13, -1.21, 0.09, 0.77});
        c.output(c.b.call("aten.grid_sampler_2d.default",
                          {x, grid, mode, padding, mode == 1}));
      });
  for (int mode : {0, 1})
    checkVjp([&](VjpCheck &c) {
      Value x = c.input({1, 2, 2, 3, 2});
      Value grid =
          c.input({1, 1, 1, 2, 3}, {-0.43, 0.31, 0.47, -0.59, 0.83, -0.21});
      c.output(
          c.b.call("aten.grid_sampler_3d.default", {x, grid, mode, 1, false}));
    });
}

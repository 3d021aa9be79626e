// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions against finite differences, and what PyTorch gives where several
// elements are equal, zero, or on a bound (ties are checked-in numbers of
// PyTorch 2.13, in double).

#include "VjpCases.h"

using namespace mlir;
using namespace cutback::test;

using Lists = std::vector<std::vector<double>>;

static void all(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3})}));
}
static void alongDims(VjpCheck &c, const char *name) {
  Value x = c.input({2, 3, 2});
  c.output(c.b.call(name, {x, {1}}));
  c.output(c.b.call(name, {x, {-1, 0}}, {{"keepdim", true}}));
  c.output(c.b.call(name, {x, {0, 2}}));
}
static void alongDim(VjpCheck &c, const char *name) {
  Value x = c.input({2, 3, 2});
  c.output(c.b.callMany(name, {x, 1})[0]);
  c.output(c.b.callMany(name, {x, -1, true})[0]);
}
static void scalar(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({})}));
}
static void square(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({3, 2})}));
}

TEST(ReductionVjp, Reductions) {
  checkCases({{"aten.sum.default", all},
              {"aten.sum.default", scalar},
              {"aten.sum.dim_IntList", alongDims},
              {"aten.mean.default", all},
              {"aten.mean.dim", alongDims},
              {"aten.nansum.default", all},
              {"aten.nansum.default", alongDims},
              {"aten.nanmean.default", alongDims},
              {"aten.trace.default", square, {/*dynamic=*/false}},
              {"aten.prod.default", all},
              {"aten.prod.default", scalar},
              {"aten.prod.dim_int", alongDim},
              {"aten.var.default", all},
              {"aten.std.default", all},
              {"aten.var.dim", alongDims},
              {"aten.std.dim", alongDims},
              {"aten.var.correction", alongDims},
              {"aten.std.correction", alongDims},
              {"aten.amax.default", alongDims},
              {"aten.amin.default", alongDims},
              {"aten.max.default", all},
              {"aten.min.default", all},
              {"aten.median.default", all},
              {"aten.nanmedian.default", all},
              {"aten.max.dim", alongDim},
              {"aten.min.dim", alongDim},
              {"aten.median.dim", alongDim},
              {"aten.nanmedian.dim", alongDim},
              {"aten.mode.default", alongDim},
              {"aten.logsumexp.default", alongDims},
              {"aten.norm.Scalar", all},
              {"aten.frobenius_norm.dim", alongDims}});
}

static void bothResults(VjpCheck &c, const char *name) {
  Value x = c.input({2, 3});
  SmallVector<Value> results = c.b.callMany(name, {x});
  c.output(results[0]);
  c.output(results[1]);
}
static void bothResultsAlong(VjpCheck &c, const char *name) {
  Value x = c.input({2, 3});
  SmallVector<Value> results = c.b.callMany(name, {x, {1}});
  c.output(results[0]);
  c.output(results[1]);
  c.output(c.b.callMany(name, {x, {0}})[1]);
}

TEST(ReductionVjp, TwoResults) {
  checkCases({{"aten.var_mean.default", bothResults},
              {"aten.var_mean.correction", bothResultsAlong},
              {"aten.var_mean.dim", bothResultsAlong},
              {"aten.std_mean.default", bothResults},
              {"aten.std_mean.dim", bothResultsAlong},
              {"aten.std_mean.correction", bothResultsAlong},
              {"aten.aminmax.default", bothResults}});
}

TEST(ReductionVjp, Corrections) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 3});
    c.output(c.b.call("aten.var.correction", {x, {1}}, {{"correction", 0}}));
    c.output(c.b.call("aten.std.correction", {x, Arg()}, {{"correction", 2}}));
    c.output(c.b.call("aten.var.dim", {x, {0}, false, true}));
  });
}

TEST(ReductionVjp, Norms) {
  for (double order : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, HUGE_VAL, -HUGE_VAL})
    checkVjp([&](VjpCheck &c) {
      Value x = c.input({2, 3});
      c.output(c.b.call("aten.linalg_vector_norm.default", {x, order}));
      c.output(c.b.call("aten.linalg_vector_norm.default", {x, order, {1}}));
      c.output(
          c.b.call("aten.linalg_vector_norm.default", {x, order, {0}, true}));
      c.output(c.b.call("aten.norm.ScalarOpt_dim", {x, order, {1}}));
    });
}

static void distance(VjpCheck &c, const char *name) {
  Value x = c.input({2, 3}), y = c.input({3});
  c.output(c.b.call(name, {x, y}));
  c.output(c.b.call(name, {x, y, 3.0}));
}
static void ofVector(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({4})}));
  c.output(c.b.call(name, {c.input({2, 2}), 3.0, {1}}));
}
static void kth(VjpCheck &c, const char *name) {
  c.output(c.b.callMany(name, {c.input({2, 3}), 2})[0]);
}

TEST(ReductionVjp, OddArguments) {
  checkCases({{"aten.dist.default", distance},
              {"aten.linalg_norm.default", ofVector},
              {"aten.kthvalue.default", kth}});
}

TEST(ReductionVjp, ATypeMayBeGiven) {
  std::string text = backwardOf([](VjpCheck &c) {
    Value x = c.b.call("aten._to_copy.default", {c.input({2, 2})},
                       {{"dtype", c.b.f32()}});
    c.output(c.b.call("aten.sum.dim_IntList", {x, {1}},
                      {{"dtype", c.b.getBuilder().getF64Type()}}));
  });
  // One element is cast, not the many that it is expanded to.
  EXPECT_LT(text.find("aten._to_copy(%tangents_1"), text.find("aten.expand"))
      << text;
}

//===----------------------------------------------------------------------===//
// Ties and edges
//===----------------------------------------------------------------------===//

static Lists ofOp(const char *name, ArrayRef<double> values,
                  ArrayRef<Arg> more = {}) {
  return gradientsOf([&](VjpCheck &c) {
    SmallVector<Arg> args{
        Arg(c.input({static_cast<int64_t>(values.size())}, values))};
    args.append(more.begin(), more.end());
    c.output(c.b.callMany(name, args)[0]);
  });
}

TEST(ReductionVjp, EqualMaximaShareTheGradient) {
  EXPECT_EQ(ofOp("aten.amax.default", {3, 1, 3, 3}),
            (Lists{{1. / 3, 0, 1. / 3, 1. / 3}}));
  EXPECT_EQ(ofOp("aten.min.default", {2, 1, 1}), (Lists{{0, 0.5, 0.5}}));
  EXPECT_EQ(
      ofOp("aten.linalg_vector_norm.default", {2, -2, 1}, {Arg(HUGE_VAL)}),
      (Lists{{0.5, -0.5, 0}}));
  EXPECT_EQ(ofOp("aten.max.dim", {1, 4, 4}, {Arg(0)}), (Lists{{0, 1, 0}}))
      << "the one with the index takes all";
}

TEST(ReductionVjp, ProductsWithZeros) {
  EXPECT_EQ(ofOp("aten.prod.default", {2, 0, 5}), (Lists{{0, 10, 0}}));
  EXPECT_EQ(ofOp("aten.prod.default", {2, 0, 0}), (Lists{{0, 0, 0}}));
  EXPECT_EQ(ofOp("aten.prod.dim_int", {0, 3}, {Arg(0)}), (Lists{{3, 0}}));
  EXPECT_EQ(ofOp("aten.prod.default", {}), (Lists{{}}));
  EXPECT_EQ(ofOp("aten.prod.dim_int", {}, {Arg(0)}), (Lists{{}}));
}

TEST(ReductionVjp, NormsAndDeviationsOfZero) {
  EXPECT_EQ(ofOp("aten.linalg_vector_norm.default", {0, 0}), (Lists{{0, 0}}));
  EXPECT_EQ(ofOp("aten.linalg_vector_norm.default", {0, 2}, {Arg(1.0)}),
            (Lists{{0, 1}}));
  EXPECT_EQ(ofOp("aten.linalg_vector_norm.default", {0, 0}, {Arg(3.0)}),
            (Lists{{0, 0}}));
  EXPECT_EQ(ofOp("aten.std.default", {2, 2, 2}), (Lists{{0, 0, 0}}));
}

TEST(ReductionVjp, EdgesOfElementwiseOps) {
  EXPECT_EQ(ofOp("aten.abs.default", {0, -1}), (Lists{{0, -1}}));
  EXPECT_EQ(ofOp("aten.relu.default", {0, 1}), (Lists{{0, 1}}));
  EXPECT_EQ(ofOp("aten.clamp.default", {-1, 0, 1, 2}, {Arg(0), Arg(1)}),
            (Lists{{0, 1, 1, 0}}))
      << "bounds are inside";
  EXPECT_EQ(ofOp("aten.hardtanh.default", {-1, 0, 1}), (Lists{{0, 1, 0}}))
      << "bounds are outside";
  EXPECT_EQ(ofOp("aten.pow.Tensor_Scalar", {0, 2}, {Arg(0.0)}),
            (Lists{{0, 0}}));
  EXPECT_EQ(ofOp("aten.pow.Tensor_Scalar", {0, 2}, {Arg(1.0)}),
            (Lists{{1, 1}}));
  EXPECT_EQ(ofOp("aten.pow.Tensor_Scalar", {0}, {Arg(0.5)}),
            (Lists{{HUGE_VAL}}));
  EXPECT_EQ(ofOp("aten.leaky_relu.default", {0, 1}, {Arg(0.5)}),
            (Lists{{0.5, 1}}));
  EXPECT_EQ(ofOp("aten.sqrt.default", {0, 4}), (Lists{{HUGE_VAL, 0.25}}));
}

static Lists ofTwo(const char *name, ArrayRef<double> x, ArrayRef<double> y) {
  return gradientsOf([&](VjpCheck &c) {
    int64_t size = static_cast<int64_t>(x.size());
    Value a = c.input({size}, x), b = c.input({size}, y);
    c.output(c.b.call(name, {a, b}));
  });
}

TEST(ReductionVjp, TiesOfElementwiseOps) {
  EXPECT_EQ(ofTwo("aten.maximum.default", {1, 2}, {1, 3}),
            (Lists{{0.5, 0}, {0.5, 1}}));
  EXPECT_EQ(ofTwo("aten.minimum.default", {1, 2}, {1, 3}),
            (Lists{{0.5, 1}, {0.5, 0}}));
  EXPECT_EQ(ofTwo("aten.fmax.default", {1, 2}, {1, 3}),
            (Lists{{1, 0}, {0, 1}}));
  EXPECT_EQ(ofTwo("aten.pow.Tensor_Tensor", {0, 0}, {2, 0}),
            (Lists{{0, 0}, {0, 0}}));
  EXPECT_EQ(ofTwo("aten.clamp_min.Tensor", {1, 2}, {1, 3}),
            (Lists{{1, 0}, {0, 1}}));
  EXPECT_EQ(ofTwo("aten.atan2.default", {0}, {0}), (Lists{{0}, {0}}));
  EXPECT_EQ(ofOp("aten.sinc.default", {0}), (Lists{{0}}));
}

//===----------------------------------------------------------------------===//
// What is read, and errors
//===----------------------------------------------------------------------===//

TEST(ReductionVjp, SumsReadNothing) {
  for (const char *name : {"aten.sum.default", "aten.mean.default"}) {
    std::string text = backwardOf([&](VjpCheck &c) {
      Value x = c.b.call("aten.neg.default", {c.input({2})});
      c.output(c.b.call(name, {x}));
    });
    EXPECT_EQ(text.find("%0", text.find('\n', text.find("%1 ="))),
              std::string::npos)
        << text;
  }
}

TEST(ReductionVjp, ATraceNeedsNumbers) {
  EXPECT_EQ(errorOf([](VjpCheck &c) {
              Value n = c.b.call("aten.sym_size.int", {c.unknownSizes({2}), 0});
              Value x =
                  c.b.call("aten.expand.default", {c.input({1, 2}), {n, -1}});
              c.output(c.b.call("aten.trace.default", {x}));
            }),
            "the gradient of a trace needs sizes that are numbers");
}

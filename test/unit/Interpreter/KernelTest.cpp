// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops have a kernel, what kernels say of operands that they cannot take,
// random draws, and views against copies. What kernels compute is compared with
// PyTorch in Kernels/KernelReferenceTest.cpp.

#include "RunHarness.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Decompose/Composites.h"
#include "cutback/Dialect/Aten/Rules.h"
#include "cutback/Interpreter/Kernel.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class KernelTest : public RunTest {
protected:
  /// What is said of `results = op(operands)` on these values.
  void call(const std::string &op, const std::string &types,
            ArrayRef<RuntimeValue> values) {
    std::string arguments;
    SmallVector<StringRef> operandTypes;
    StringRef(types).split(" -> ").first.split(operandTypes, "; ", -1, false);
    std::string list;
    for (auto [i, type] : llvm::enumerate(operandTypes)) {
      arguments += (i ? ", %" : "%") + std::to_string(i) + ": " + type.str();
      list += (i ? ", " : "") + type.str();
    }
    std::string results = StringRef(types).split(" -> ").second.str();
    run(arguments,
        "{\n  " + op + " : (" + list + ") -> " + results + "\n  return\n}",
        values);
  }
};

//===----------------------------------------------------------------------===//
// Coverage
//===----------------------------------------------------------------------===//

TEST_F(KernelTest, EveryOpHasAKernelOrIsWrittenInTermsOfOthers) {
  DialectRegistry registry;
  registerAtenDecompositions(registry);
  context.appendDialectRegistry(registry);
  const std::vector<std::string> without = {
      // One machine has nobody to talk to.
      "_c10d_functional.all_gather_into_tensor.default",
      "_c10d_functional.all_reduce.default",
      "_c10d_functional.all_to_all_single.default",
      "_c10d_functional.broadcast.default",
      "_c10d_functional.reduce_scatter_tensor.default",
      "_c10d_functional.wait_tensor.default",
      // Taken apart after differentiation (lib/Decompose/Quantization.cpp).
      "aten._fake_quantize_learnable_per_channel_affine.default",
      "aten._fake_quantize_learnable_per_channel_affine_backward.default",
      "aten._fake_quantize_learnable_per_tensor_affine.default",
      "aten._fake_quantize_learnable_per_tensor_affine_backward.default",
      "aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default",
      "aten._fused_moving_avg_obs_fq_helper_functional.default",
      "aten.fake_quantize_per_channel_affine_cachemask.default",
      "aten.fake_quantize_per_tensor_affine_cachemask.default",
      // What Inductor puts in place of random ops inside PyTorch; its numbers
      // are its own.
      "prims.inductor_force_stride_order.default",
      "prims.inductor_lookup_seed.default",
      "prims.inductor_randint.default",
      "prims.inductor_random.default",
      "prims.inductor_seed.default",
      "prims.inductor_seeds.default",
  };
  // Views that strides always allow on a contiguous operand.
  const std::vector<std::string> views = {
      "_reshape_alias",
      "_unsafe_view",
      "alias",
      "as_strided",
      "broadcast_tensors",
      "broadcast_to",
      "chunk",
      "contiguous",
      "detach",
      "diagonal",
      "dsplit",
      "expand",
      "expand_as",
      "flatten",
      "hsplit",
      "imag",
      "lift_fresh",
      "mT",
      "meshgrid",
      "moveaxis",
      "movedim",
      "narrow",
      "numpy_T",
      "permute",
      "positive",
      "ravel",
      "real",
      "reshape",
      "reshape_as",
      "resolve_conj",
      "resolve_neg",
      "select",
      "slice",
      "split",
      "split_with_sizes",
      "squeeze",
      "swapaxes",
      "swapdims",
      "t",
      "tensor_split",
      "transpose",
      "unbind",
      "unflatten",
      "unfold",
      "unsafe_chunk",
      "unsafe_split",
      "unsafe_split_with_sizes",
      "unsqueeze",
      "view",
      "view_as",
      "view_as_complex",
      "view_as_real",
      "vsplit",
  };
  std::vector<std::string> missing;
  unsigned count = 0;
  for (const aten::Schema *schema : aten::SchemaTable::get(&context).all()) {
    ++count;
    std::string name = aten::getOpInfo(schema->op)->torchName;
    bool isView = schema->packet.starts_with("aten.") &&
                  llvm::is_contained(views, schema->packet.drop_front(5).str());
    // Ops that write their operands, and those that stand for others, are gone
    // before anything runs (lib/Decompose).
    bool writes = llvm::any_of(
        schema->params, [](const auto &param) { return param.isWritten; });
    if (!getKernel(schema->op) && !isView && !writes &&
        !aten::getDecomposeRule(schema->op))
      missing.push_back(name);
  }
  llvm::sort(missing);
  EXPECT_EQ(missing, without);
  EXPECT_GT(count, 500u);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(KernelTest, WhatKernelsRefuse) {
  Tensor zero = tensorOf(DType::I64, {2}, {1, 0});
  Tensor half = tensorOf(DType::BF16, {2}, {1, 2});
  struct Case {
    const char *op, *types;
    std::vector<RuntimeValue> values;
    const char *expected;
  };
  const Case cases[] = {
      {"%r = aten.floor_divide(%0, %1)",
       "tensor<2xi64>; tensor<2xi64> -> tensor<2xi64>",
       {zero, zero},
       "aten.floor_divide.default: division by zero"},
      {"%r = aten.clamp(%0)",
       "tensor<2xi64> -> tensor<2xi64>",
       {zero},
       "aten.clamp.default: needs a lower or an upper bound"},
      {"%r = aten.nextafter(%0, %1)",
       "tensor<2xbf16>; tensor<2xbf16> -> tensor<2xbf16>",
       {half, half},
       "elements must be of type f32 or f64"},
      {"%r = aten.amax(%0)",
       "tensor<0xf32> -> tensor<f32>",
       {counting({0})},
       "nothing has no greatest and no least element"},
      {"%r = aten.argmax(%0)",
       "tensor<0xf32> -> tensor<i64>",
       {counting({0})},
       "nothing has no element to pick"},
      {"%r:2 = aten.kthvalue(%0, 3)",
       "tensor<2xf32> -> (tensor<f32>, tensor<i64>)",
       {counting({2})},
       "there is no element number 3 of 2"},
      {"%r:2 = aten.topk(%0, 3)",
       "tensor<?xf32> -> (tensor<3xf32>, tensor<3xi64>)",
       {counting({2})},
       "there are no 3 of 2 elements"},
      {"%r = aten.searchsorted.Tensor(%0, %1, sorter = %2)",
       "tensor<2xf32>; tensor<2xf32>; tensor<2xi64> -> tensor<2xi64>",
       {counting({2}), counting({2}), tensorOf(DType::I64, {2}, {0, 5})},
       "the sorter holds 5"},
      {"%r = aten.bincount(%0)",
       "tensor<2xi64> -> tensor<?xi64>",
       {tensorOf(DType::I64, {2}, {0, -5})},
       "cannot count -5"},
      {"%r = aten.cat([%0, %1])",
       "tensor<?x?xf32>; tensor<?x?xf32> -> tensor<?x?xf32>",
       {counting({1, 2}), counting({1, 3})},
       "the pieces have different sizes"},
      {"%r = aten.pad(%0, [4, 0], \"reflect\")",
       "tensor<1x?xf32> -> tensor<1x?xf32>",
       {counting({1, 2})},
       "the padding is wider than the tensor"},
      {"%r = aten.repeat_interleave.self_Tensor(%0, %1, 0)",
       "tensor<3xf32>; tensor<?xi64> -> tensor<?xf32>",
       {counting({3}), zero},
       "one count is needed for each of 3 elements"},
      {"%r = aten.tril(%0)",
       "tensor<2xf32> -> tensor<2xf32>",
       {counting({2})},
       "a tensor of rank 1 has no triangle"},
      {"%r = aten.one_hot(%0, 1)",
       "tensor<2xi64> -> tensor<2x1xi64>",
       {zero},
       "class 1 is none of 1"},
      {"%r = aten.as_strided_copy(%0, [3], [1])",
       "tensor<?xf32> -> tensor<3xf32>",
       {counting({2})},
       "the strides leave the tensor"},
      {"%r = aten.linalg_matrix_norm(%0, 2)",
       "tensor<2x2xf32> -> tensor<f32>",
       {counting({2, 2})},
       "norms of matrices other than of order 1 and infinity need singular "
       "values"},
      {"%r = aten.random.from(%0, 3, 3)",
       "tensor<2xf32> -> tensor<2xf32>",
       {counting({2})},
       "there is no integer from 3 to 3"},
      {"%r = aten.arange.start_step(0, 4, %0)",
       "index -> tensor<?xi64>",
       {int64_t(0)},
       "the step is 0"},
      {"%r = aten.randint(%0, [2])",
       "index -> tensor<2xi64>",
       {int64_t(0)},
       "there is no integer from 0 to 0"},
      {"%r = aten.multinomial(%0, 1)",
       "tensor<2xf32> -> tensor<1xi64>",
       {floats({2}, {0, 0})},
       "there is nothing left to draw"},
      {"%r = aten.feature_dropout(%0, 0.5, true)",
       "tensor<2xf32> -> tensor<2xf32>",
       {counting({2})},
       "a tensor of rank 1 has no channels"},
      {"%r = aten.prims._low_memory_max_pool_offsets_to_indices(%0, [2, 2], "
       "[2, 2], [2, 2], [0, 0], [1, 1])",
       "tensor<1x1xi8> -> tensor<1x1xi64>",
       {tensorOf(DType::I8, {1, 1}, {-1})},
       "offset -1 leaves the tensor"},
      {"%r = aten.sym.mul(%0, %0)",
       "index; index -> index",
       {int64_t(1) << 40, int64_t(1) << 40},
       "the number does not fit 64 bits"},
      {"%r = aten.sym.floordiv(1, %0)",
       "index -> index",
       {int64_t(0)},
       "operator.floordiv: division by zero"},
      {"%r = aten.item(%0)",
       "tensor<?xf32> -> f64",
       {counting({2})},
       "only a tensor of one element is a number"},
      {"aten._assert_async.msg(%0, \"must hold\")",
       "tensor<i1> -> ()",
       {tensorOf(DType::Bool, {}, {0})},
       "check failed: must hold"},
      {"aten._assert_async(%0)",
       "tensor<i1> -> ()",
       {tensorOf(DType::Bool, {}, {0})},
       "check failed: it is false"},
      {"aten._assert_tensor_metadata(%0, [3])",
       "tensor<?xf32> -> ()",
       {counting({2})},
       "check failed: the tensor is a tensor<2xf32>"},
      {"aten.sym_constrain_range(%0, min = 2)",
       "index -> ()",
       {int64_t(1)},
       "check failed: 1 is out of range"},
      {"%r = joint.random <uniform> %0 stream 1",
       "tensor<?xi64> -> tensor<2xf32>",
       {zero},
       "needs a seed of one element, and known sizes"},
  };
  for (const Case &c : cases) {
    call(c.op, c.types, c.values);
    EXPECT_TRUE(StringRef(message).contains(c.expected))
        << c.op << "\nsaid: " << message << "wanted: " << c.expected;
  }
}

TEST_F(KernelTest, ChecksThatHoldSayNothing) {
  call("aten._assert_tensor_metadata(%0, [2])", "tensor<?xf32> -> ()",
       {counting({2})});
  EXPECT_EQ(message, "");
  call("aten.sym_constrain_range(%0, min = 2, max = 4)", "index -> ()",
       {int64_t(4)});
  EXPECT_EQ(message, "");
  call("aten._assert_scalar(%0, \"\")", "i1 -> ()", {true});
  EXPECT_EQ(message, "");
  std::string factors =
      "aten._linalg_check_errors(%0, \"linalg.inv\", is_matrix = false)";
  call(factors, "tensor<2xi32> -> ()", {tensorOf(DType::I32, {2}, {0, 0})});
  EXPECT_EQ(message, "");
  call(factors, "tensor<2xi32> -> ()", {tensorOf(DType::I32, {2}, {0, 3})});
  EXPECT_NE(message.find("check failed: linalg.inv: a matrix has no such "
                         "factors (info 3): it is singular, or not "
                         "positive-definite"),
            std::string::npos)
      << message;
}

//===----------------------------------------------------------------------===//
// Random draws
//===----------------------------------------------------------------------===//

class RandomTest : public KernelTest {
protected:
  Tensor draw(const std::string &op, const std::string &type,
              ArrayRef<RuntimeValue> values = {}, uint64_t seed = 1,
              const std::string &name = "r") {
    InterpreterOptions options;
    options.seed = seed;
    auto results =
        run(values.empty() ? "" : "%x: tensor<4096xf32>",
            "-> " + type + " {\n%" + name + " = " + op + " : (" +
                (values.empty() ? "" : "tensor<4096xf32>") + ") -> " + type +
                "\nreturn %" + name + " : " + type + "\n}",
            values, options);
    EXPECT_EQ(results.size(), 1u) << message;
    return results.empty() ? Tensor() : std::get<Tensor>(results[0]);
  }
  static std::pair<double, double> moments(const Tensor &tensor) {
    double sum = 0, squares = 0;
    for (double x : tensor.doubles()) {
      sum += x;
      squares += x * x;
    }
    double n = static_cast<double>(tensor.numel()), mean = sum / n;
    return {mean, squares / n - mean * mean};
  }
};

TEST_F(RandomTest, DrawsAreAFunctionOfSeedAndName) {
  std::string type = "tensor<64xf32>";
  Tensor first = draw("aten.rand([64])", type);
  EXPECT_TRUE(equalBits(first, draw("aten.rand([64])", type)));
  EXPECT_FALSE(equalBits(first, draw("aten.rand([64])", type, {}, 2)));
  EXPECT_FALSE(equalBits(first, draw("aten.rand([64])", type, {}, 1, "other")));
}

TEST_F(RandomTest, DistributionsHaveTheirMoments) {
  std::string type = "tensor<4096xf32>";
  Tensor uniform = draw("aten.rand([4096])", type);
  for (double x : uniform.doubles())
    ASSERT_TRUE(x >= 0 && x < 1);
  EXPECT_NEAR(moments(uniform).first, 0.5, 0.02);
  EXPECT_NEAR(moments(uniform).second, 1.0 / 12, 0.01);
  auto [mean, variance] = moments(draw("aten.randn([4096])", type));
  EXPECT_NEAR(mean, 0, 0.06);
  EXPECT_NEAR(variance, 1, 0.08);
  Tensor wide = draw("aten.randn([4096], dtype = f64)", "tensor<4096xf64>");
  EXPECT_NEAR(moments(wide).second, 1, 0.08);
  Tensor coins = draw("aten.bernoulli.p(%x, 0.25)", type, {counting({4096})});
  EXPECT_NEAR(moments(coins).first, 0.25, 0.03);
  for (double x : coins.doubles())
    ASSERT_TRUE(x == 0 || x == 1);
  Tensor dice = draw("aten.randint.low(1, 7, [4096])", "tensor<4096xi64>");
  EXPECT_NEAR(moments(dice).first, 3.5, 0.1);
  EXPECT_EQ(*llvm::max_element(dice.ints()), 6);
  EXPECT_EQ(*llvm::min_element(dice.ints()), 1);
}

TEST_F(RandomTest, APermutationHasEveryNumberOnce) {
  std::vector<int64_t> places =
      draw("aten.randperm(100)", "tensor<100xi64>").ints();
  EXPECT_NE(places[0] * 100 + places[1], 1);
  llvm::sort(places);
  for (int64_t i = 0; i < 100; ++i)
    EXPECT_EQ(places[i], i);
}

TEST_F(RandomTest, SamplesFollowTheirWeights) {
  std::vector<double> weights(4096, 0.0);
  weights[7] = 3;
  weights[9] = 1;
  std::vector<int64_t> drawn =
      draw("aten.multinomial(%x, 1000, true)", "tensor<1000xi64>",
           {floats({4096}, weights)})
          .ints();
  EXPECT_NEAR(static_cast<double>(llvm::count(drawn, 7)), 750, 60);
  EXPECT_EQ(llvm::count(drawn, 7) + llvm::count(drawn, 9), 1000);
  drawn = draw("aten.multinomial(%x, 2)", "tensor<2xi64>",
               {floats({4096}, weights)})
              .ints();
  EXPECT_EQ(drawn[0] + drawn[1], 16);
}

TEST_F(RandomTest, DropoutScalesWhatItKeeps) {
  auto results =
      run("%x: tensor<4096xf32>", R"(-> (tensor<4096xf32>, tensor<4096xi1>) {
    %r, %mask = aten.native_dropout(%x, 0.75, true) : (tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xi1>)
    return %r, %mask : tensor<4096xf32>, tensor<4096xi1>
  })",
          {counting({4096})});
  ASSERT_EQ(results.size(), 2u) << message;
  std::vector<double> out = std::get<Tensor>(results[0]).doubles();
  std::vector<int64_t> mask = std::get<Tensor>(results[1]).ints();
  EXPECT_NEAR(static_cast<double>(llvm::count(mask, 1)), 1024, 100);
  for (int64_t i = 0; i < 4096; ++i)
    ASSERT_EQ(out[i], mask[i] ? 4.0 * static_cast<double>(i) : 0);
  // Not in training, nothing is dropped.
  Tensor kept = draw("aten.dropout(%x, 0.75, false)", "tensor<4096xf32>",
                     {counting({4096})});
  EXPECT_TRUE(equalBits(kept, counting({4096})));
}

/// The numbers of the authors' known-answer tests: key and counter zero.
TEST_F(RandomTest, SeededNumbersAreThoseOfPhilox) {
  auto results = run("%s: tensor<i64>",
                     R"(-> (tensor<4xi32>, tensor<2xi64>, tensor<8xf32>) {
    %b = joint.random <bits> %s stream 0 : (tensor<i64>) -> tensor<4xi32>
    %w = joint.random <bits> %s stream 0 : (tensor<i64>) -> tensor<2xi64>
    %u = joint.random <uniform> %s stream 0 : (tensor<i64>) -> tensor<8xf32>
    return %b, %w, %u : tensor<4xi32>, tensor<2xi64>, tensor<8xf32>
  })",
                     {Tensor::zeros(DType::I64, {})});
  ASSERT_EQ(results.size(), 3u) << message;
  std::vector<int64_t> bits = std::get<Tensor>(results[0]).ints();
  const uint32_t known[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(static_cast<uint32_t>(bits[i]), known[i]);
  EXPECT_EQ(std::get<Tensor>(results[1]).ints()[1],
            static_cast<int64_t>(0x9b00dbd8bc57ac4cull));
  EXPECT_EQ(std::get<Tensor>(results[2]).getDouble(0),
            (0x6627e8d5 >> 8) * 0x1p-24);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// A random view op on a 3-d tensor of these sizes, with a 3-d result.
std::string randomView(std::mt19937 &random, ArrayRef<int64_t> sizes) {
  auto pick = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  int64_t dim = pick(3), n = sizes[dim];
  std::string d = std::to_string(dim);
  switch (pick(9)) {
  case 0: {
    int64_t order[] = {0, 1, 2};
    std::shuffle(order, order + 3, random);
    return "aten.permute(%x, [" + std::to_string(order[0]) + ", " +
           std::to_string(order[1]) + ", " + std::to_string(order[2]) + "])";
  }
  case 1:
    return "aten.transpose.int(%x, " + d + ", -1)";
  case 2:
    return "aten.slice.Tensor(%x, " + d + ", " + std::to_string(pick(n)) +
           ", 99, " + std::to_string(1 + pick(2)) + ")";
  case 3:
    return "aten.narrow(%x, " + d + ", " + std::to_string(n / 2) + ", " +
           std::to_string(n - n / 2) + ")";
  case 4:
    return "aten.view(%x, [" + std::to_string(sizes[1]) + ", " +
           std::to_string(sizes[0] * sizes[2]) + ", 1])";
  case 5:
    return "aten.reshape(%x, [-1, 1, " + std::to_string(sizes[2]) + "])";
  case 6:
    return "aten.movedim.int(%x, 0, " + d + ")";
  case 7:
    return "aten.view(%x, [" + std::to_string(sizes[0]) + ", " +
           std::to_string(sizes[2]) + ", " + std::to_string(sizes[1]) + "])";
  default:
    return "aten.alias(%x)";
  }
}

TEST_F(KernelTest, ViewsOfViewsHoldWhatCopiesHold) {
  std::mt19937 random(7);
  unsigned views = 0, copies = 0;
  for (int chain = 0; chain < 60; ++chain) {
    Tensor x = counting({1 + chain % 4, 2 + chain % 3, 6});
    for (int step = 0; step < 6; ++step) {
      std::string op = randomView(random, x.sizes);
      std::string body = "-> tensor<?x?x?xf32> {\n%r = " + op +
                         " : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>\n"
                         "return %r : tensor<?x?x?xf32>\n}";
      auto strided = run("%x: tensor<?x?x?xf32>", body, {x});
      ASSERT_EQ(strided.size(), 1u) << op << message;
      Tensor copy = Tensor::zeros(x.type, x.sizes);
      copyElements(x, copy);
      auto dense = runOn(&module->getBody()->front(), {copy});
      ASSERT_TRUE(equalBits(strided[0], dense[0])) << op;
      Tensor result = std::get<Tensor>(strided[0]);
      ++(result.storage == x.storage ? views : copies);
      x = result;
    }
  }
  EXPECT_GT(views, 200u);
  EXPECT_GT(copies, 10u);
}

/// The static question that the memory plan asks is the one of the run.
TEST_F(KernelTest, LayoutsAreKnownBeforeTheRun) {
  Operation *function = parse(R"(func.func @f(%x: tensor<4x6xf32>, %i: index) {
    %t = aten.t(%x) : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %v = aten.view(%t, [24]) : (tensor<6x4xf32>) -> tensor<24xf32>
    %s:2 = aten.split.Tensor(%x, 3, 1) : (tensor<4x6xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
    %p = aten.select.int(%x, 0, %i) : (tensor<4x6xf32>, index) -> tensor<6xf32>
    %n = aten.neg(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %b = joint.barrier %x : tensor<4x6xf32>
    return
  })");
  ASSERT_TRUE(function);
  Block &block = function->getRegion(0).front();
  auto op = [&](int i) { return &*std::next(block.begin(), i); };
  Layout x = Layout::contiguous({4, 6});
  EXPECT_TRUE(x.isContiguous());
  EXPECT_EQ(x.numel(), 24);
  std::optional<Layout> t = viewLayout(op(0), 0, x, {6, 4}, {});
  ASSERT_TRUE(t);
  EXPECT_FALSE(t->isContiguous());
  EXPECT_EQ(t->strides[0], 1);
  EXPECT_EQ(getViewedOperand(op(1), 0), 0);
  EXPECT_FALSE(viewLayout(op(1), 0, *t, {24}, {}));
  EXPECT_TRUE(viewLayout(op(1), 0, Layout::contiguous({6, 4}), {24}, {}));
  std::optional<Layout> second = viewLayout(op(2), 1, x, {4, 3}, {});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->offset, 3);
  int64_t unknown = ShapedType::kDynamic;
  EXPECT_FALSE(viewLayout(op(3), 0, x, {6}, {unknown, unknown}));
  EXPECT_EQ(viewLayout(op(3), 0, x, {6}, {unknown, 2})->offset, 12);
  EXPECT_FALSE(viewLayout(op(3), 0, x, {6}, {unknown, 4}));
  EXPECT_EQ(getViewedOperand(op(4), 0), -1);
  EXPECT_FALSE(viewLayout(op(4), 0, x, {4, 6}, {}));
  EXPECT_TRUE(viewLayout(op(5), 0, x, {4, 6}, {}));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels written down here as text: what a thread does, how memory is reached,
// and what has no text.

#include "Target/CUDA/KernelText.h"
#include "Target/CUDA/ScalarText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

namespace {

class KernelTextTest : public testing::Test {
protected:
  KernelTextTest() {
    context.loadDialect<kernel::KernelDialect, arith::ArithDialect,
                        math::MathDialect, memref::MemRefDialect>();
  }

  /// The text of `kernel.func @k`, whose parameters are called a, b, c, ...
  std::string write(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "does not parse";
    auto function = *module->getOps<kernel::FuncOp>().begin();
    std::vector<std::string> names;
    for (size_t i = 0; i < function.getBody().getNumArguments(); ++i)
      names.emplace_back(1, static_cast<char>('a' + i));
    std::string problem;
    written = writeKernel(function, names, problem);
    return written ? written->print() : problem;
  }
  /// A nest over one stretch of memory that is read, and one that is written.
  std::string writeNest(const std::string &sizes, const std::string &loops,
                        const std::string &body) {
    return write("kernel.func @k(" + sizes +
                 " schedule \"row\" { kernel.nest " + loops + " {" + body +
                 "} }");
  }
  void expectParts(const std::string &text,
                   std::initializer_list<const char *> parts) {
    size_t at = 0;
    for (const char *part : parts) {
      size_t found = text.find(part, at);
      EXPECT_NE(found, std::string::npos) << part << "\nin\n" << text;
      at = found == std::string::npos ? at : found;
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<KernelText> written;
};

TEST_F(KernelTextTest, FourNeighboursAThread) {
  std::string text = writeNest(
      "%a: memref<64xf32>, %b: memref<8xf32>) to (%c: memref<64xf32>)",
      "(%i, %j) in [8, 8]", R"(
        %0 = kernel.load %a[%i * 8 + %j] : memref<64xf32>
        %1 = kernel.load %b[%j] : memref<8xf32>
        %2 = math.exp %0 : f32
        %3 = arith.mulf %2, %1 : f32
        kernel.store %3, %c[%i * 8 + %j] : memref<64xf32>)");
  expectParts(text,
              {"void __launch_bounds__(256, 4)",
               "const int element = (blockIdx.x * 256 + threadIdx.x) * 4;",
               "if (element >= 64)", "load4(a + element)", "b[at % 8]",
               "expOf(a_4[e]) * b_x", "store4(c + element, c_4);"});
  EXPECT_FALSE(written->waits);
  EXPECT_EQ(written->shape.grid[0], 1);
}

TEST_F(KernelTextTest, AnElementIsStoredByOneIteration) {
  std::string text = writeNest(
      "%a: memref<96xf32>) to (%b: memref<96xf32>, %c: memref<8xf32>, "
      "%d: memref<1xf32>)",
      "(%i, %j, %k) in [4, 8, 3]", R"(
        %0 = kernel.load %a[%i * 24 + %j * 3 + %k] : memref<96xf32>
        %1 = kernel.load %a[%j] : memref<96xf32>
        %2 = math.sqrt %1 : f32
        %3 = arith.mulf %0, %2 : f32
        kernel.store %3, %b[%i * 24 + %j * 3 + %k] : memref<96xf32>
        kernel.store %2, %c[%j] : memref<8xf32>
        kernel.store %2, %d[0] : memref<1xf32>)");
  expectParts(text,
              {"if (at / 24 == 0 && at % 3 == 0)\n      c[at / 3 % 8] = ",
               "if (at == 0)\n      d[0] = ", "  store4(b + element, b_4);"});
  text = writeNest(
      "%a: memref<256xf32>, %b: memref<64xf32>) to (%c: memref<64xf32>, "
      "%d: memref<2xf32>)",
      "(%i, %j, %k) in [2, 2, 64 reduced]", R"(
        %0 = kernel.load %a[%i * 128 + %j * 64 + %k] : memref<256xf32>
        %1 = kernel.load %b[%k] : memref<64xf32>
        %2 = kernel.reduce add %0 : f32
        %3 = arith.addf %1, %1 : f32
        kernel.store %3, %c[%k] : memref<64xf32>
        kernel.store %2, %d[%i] : memref<2xf32>)");
  expectParts(text, {"if (row == 0)\n      store4(c + column, c_4);",
                     "if (row % 2 == 0)\n      d[row / 2] = sum;"});
}

TEST_F(KernelTextTest, ARowIsReadOnceAndHeld) {
  std::string text = writeNest(
      "%a: memref<2048xf32>) to (%b: memref<2048xf32>, %c: memref<8xf32>)",
      "(%i, %j) in [8, 256 reduced]", R"(
        %0 = kernel.load %a[%i * 256 + %j] : memref<2048xf32>
        %1 = kernel.reduce add %0 : f32
        %2 = arith.subf %0, %1 : f32
        kernel.store %2, %b[%i * 256 + %j] : memref<2048xf32>
        kernel.store %1, %c[%i] : memref<8xf32>)");
  expectParts(text, {"const int row = blockIdx.x * 4 + threadIdx.x / 32;",
                     "Four<float> a_x[2];", "#pragma unroll",
                     "a_x[k] = load4(a + row * 256 + column);",
                     "sum_all[e] += a_x[k][e];",
                     "warpReduce(Sum(), fold4(Sum(), sum_all))",
                     "a_x[k][e] - sum", "if (lane == 0) {", "c[row] = sum;"});
  EXPECT_EQ(text.find("load4", text.find("load4") + 1), std::string::npos);
}

/// So that each has fewer registers: the order of the sum stays what it is.
TEST_F(KernelTextTest, ARowOfManyValuesHasMoreThreads) {
  const char *body = R"(
        %0 = kernel.load %a[%i * 1024 + %j] : memref<8192xf32>
        %1 = kernel.load %b[%i * 1024 + %j] : memref<8192xf32>
        %2 = kernel.reduce add %0 : f32
        %3 = kernel.reduce add %1 : f32
        %4 = arith.subf %0, %2 : f32
        %5 = arith.mulf %1, %3 : f32
        %6 = arith.addf %4, %5 : f32
        kernel.store %6, %c[%i * 1024 + %j] : memref<8192xf32>)";
  std::string text = writeNest(
      "%a: memref<8192xf32>, %b: memref<8192xf32>) to (%c: memref<8192xf32>)",
      "(%i, %j) in [8, 1024 reduced]", body);
  expectParts(text, {"__launch_bounds__(64, 16)", "Two<float> a_x[8];",
                     "const int column = (k * 64 + int(threadIdx.x)) * 2;",
                     "load2(a + row * 1024 + column)", "e < 2",
                     "blockReduceOf<32>(Sum(), sum_all", "store2(c + "});
  EXPECT_EQ(written->shape.grid[0], 8);
  EXPECT_EQ(written->shape.block[0], 64);
  EXPECT_EQ(written->shape.sharedBytes, 16 * 32);
}

TEST_F(KernelTextTest, AShortRowOfManyValuesHasOneOfThemALane) {
  std::string body;
  for (int i = 0; i < 13; ++i) {
    std::string n = std::to_string(i), from = std::to_string(8 * i);
    body += "%x" + n + " = kernel.load %a[%i * 128 + %j + " + from +
            "] : memref<1024xf32>\n%s" + n + " = kernel.reduce add %x" + n +
            " : f32\nkernel.store %s" + n + ", %b[%i * 16 + " + n +
            "] : memref<128xf32>\n";
  }
  std::string text = writeNest("%a: memref<1024xf32>) to (%b: memref<128xf32>)",
                               "(%i, %j) in [8, 8 reduced]", body);
  expectParts(text, {"__launch_bounds__(128, 8)", "const int column = lane;",
                     "One<float> sum_all = all1<float>(0.0f);",
                     "a[row * 128 + at]", "warpReduceOf(Sum(), sum_all)"});
}

/// What is held of a row is not held together with what is made of it.
TEST_F(KernelTextTest, ValuesOfHeldReadsAreComputedAgain) {
  std::string text =
      writeNest("%a: memref<8192xf32>) to (%b: memref<8192xf32>)",
                "(%i, %j) in [8, 1024 reduced]", R"(
        %0 = kernel.load %a[%i * 1024 + %j] : memref<8192xf32>
        %1 = math.exp %0 : f32
        %2 = kernel.reduce add %1 : f32
        %3 = arith.mulf %0, %2 : f32
        %4 = arith.addf %1, %3 : f32
        kernel.store %4, %b[%i * 1024 + %j] : memref<8192xf32>)");
  expectParts(text, {"Four<float> a_x[8];", "expOf(a_x[k][e])",
                     "asNew(a_x[k]);", "expOf(a_x[k][e])"});
}

/// In a short one they are held: a warp has lanes enough.
TEST_F(KernelTextTest, ValuesOfAShortRowAreHeldByMoreLanes) {
  std::string body = "%x = kernel.load %a[%i * 32 + %j] : memref<256xf32>\n";
  for (int i = 0; i < 12; ++i) {
    std::string n = std::to_string(i);
    body += "%p" + n + " = arith.mulf %x, " + (i ? "%s0" : "%x") +
            " : f32\n%s" + n + " = kernel.reduce add %p" + n + " : f32\n%q" +
            n + " = arith.subf %p" + n + ", %s" + n +
            " : f32\nkernel.store %q" + n + ", %b[%i * 384 + %j * 12 + " + n +
            "] : memref<3072xf32>\n";
  }
  std::string text = writeNest("%a: memref<256xf32>) to (%b: memref<3072xf32>)",
                               "(%i, %j) in [8, 32 reduced]", body);
  expectParts(text, {"__launch_bounds__(128, 8)", "One<float> mul_", "e < 1",
                     "warpReduceOf(Sum()"});
  EXPECT_EQ(text.find("asNew"), std::string::npos) << text;
}

TEST_F(KernelTextTest, ElementsOfManyValuesAreFewerAThread) {
  std::string body, sum = "%x0";
  for (int i = 0; i < 18; ++i) {
    std::string n = std::to_string(i);
    body += "%x" + n + " = kernel.load %a[%i + " + std::to_string(2048 * i) +
            "] : memref<65536xf32>\n";
    if (i) {
      body += "%s" + n + " = arith.addf " + sum + ", %x" + n + " : f32\n";
      sum = "%s" + n;
    }
  }
  std::string text = writeNest(
      "%a: memref<65536xf32>) to (%b: memref<2048xf32>)", "(%i) in [2048]",
      body + "kernel.store " + sum + ", %b[%i] : memref<2048xf32>\n");
  expectParts(text, {"__launch_bounds__(256, 4)",
                     "(blockIdx.x * 256 + threadIdx.x) * 2;", "load2(a + ",
                     "e < 2", "store2(b + element, b_2);"});
  EXPECT_EQ(written->shape.grid[0], 4);
}

TEST_F(KernelTextTest, ALongRowIsReadAgain) {
  std::string text =
      writeNest("%a: memref<131072xf32>) to (%b: memref<131072xf32>)",
                "(%i, %j) in [2, 65536 reduced]", R"(
        %0 = kernel.load %a[%i * 65536 + %j] : memref<131072xf32>
        %1 = kernel.reduce max %0 : f32
        %2 = arith.subf %0, %1 : f32
        kernel.store %2, %b[%i * 65536 + %j] : memref<131072xf32>)");
  expectParts(text, {"__launch_bounds__(1024)", "blockReduce<32>(Max()",
                     "load4(a + row * 65536 + column)"});
  EXPECT_EQ(written->shape.block[0], 1024);
  EXPECT_GT(written->shape.sharedBytes, 0);
}

TEST_F(KernelTextTest, ColumnsAreReadSideBySide) {
  std::string text = writeNest("%a: memref<600xf32>) to (%b: memref<40xf32>)",
                               "(%i, %j) in [15 reduced, 40]", R"(
        %0 = kernel.load %a[%i * 40 + %j] : memref<600xf32>
        %1 = kernel.reduce add %0 : f32
        kernel.store %1, %b[%j] : memref<40xf32>)");
  expectParts(
      text,
      {"const bool isInside = blockIdx.x * 32 + threadIdx.x % 32 < 40;",
       "for (int row = threadIdx.x / 32 % 8; isInside && row < 15; row += 8)",
       "a[column + row * 40]", "columnReduce<8>(Sum(), sum_all",
       "if (isInside && threadIdx.x / 32 % 8 == 0)"});
  EXPECT_EQ(written->shape.block[0], 256);
}

TEST_F(KernelTextTest, SizesThatFourDoesNotDivideAreChecked) {
  std::string text = writeNest("%a: memref<30xf32>) to (%b: memref<3xf32>)",
                               "(%i, %j) in [3, 10 reduced]", R"(
        %0 = kernel.load %a[%i * 10 + %j] : memref<30xf32>
        %1 = kernel.reduce add %0 : f32
        kernel.store %1, %b[%i] : memref<3xf32>)");
  expectParts(text, {"if (row >= 3)", "if (at < 10) {", "a[row * 10 + at]"});
  EXPECT_EQ(text.find("load4"), std::string::npos);
}

TEST_F(KernelTextTest, IndicesThatDataGiveAreChecked) {
  std::string text = writeNest(
      "%a: memref<8xi64>, %b: memref<80xf32>) to (%c: memref<32xf32>)",
      "(%i, %j) in [8, 4]", R"(
        %0 = kernel.load %a[%i] : memref<8xi64>
        %1 = arith.index_cast %0 : i64 to index
        %2 = kernel.load %b[%1 * 8 + %j] : memref<80xf32>
        kernel.store %2, %c[%i * 4 + %j] : memref<32xf32>)");
  expectParts(text, {"int *problem", "checked(", ", 80, problem)"});
  EXPECT_TRUE(written->checks);
}

TEST_F(KernelTextTest, PlacesThatDataNameAreCheckedOnce) {
  std::string text = writeNest(
      "%a: memref<8xi64>, %b: memref<80xf32>) to (%c: memref<32xf32>)",
      "(%i, %j) in [8, 4]", R"(
        %0 = kernel.load %a[%i] : memref<8xi64>
        %1 = arith.index_cast %0 : i64 to index
        %c10 = arith.constant 10 : index
        %2 = kernel.choose %1 of %c10 wrapped
        %3 = kernel.load %b[%2 * 8 + %j] : memref<80xf32>
        kernel.store %3, %c[%i * 4 + %j] : memref<32xf32>)");
  expectParts(text, {"int *problem", "chosen = wrapped(", ", 10, problem)"});
  EXPECT_EQ(text.find("checked("), std::string::npos);
  EXPECT_TRUE(written->checks);
}

TEST_F(KernelTextTest, PartsOfAConcatenationHaveBlocksOfTheirOwn) {
  std::string text = write(R"(
    kernel.func @k(%a: memref<2048xf32>, %b: memref<8xf32>
                   ) to (%c: memref<2056xf32>) schedule "concat" {
      kernel.nest (%i) in [2048] {
        %0 = kernel.load %a[%i] : memref<2048xf32>
        kernel.store %0, %c[%i] : memref<2056xf32>
      }
      kernel.nest (%i) in [8] {
        %0 = kernel.load %b[%i] : memref<8xf32>
        kernel.store %0, %c[%i + 2048] : memref<2056xf32>
      }
    })");
  expectParts(text, {"if (blockIdx.x < 2) {", "} else if (blockIdx.x < 3) {",
                     "((blockIdx.x - 2) * 256 + threadIdx.x) * 4",
                     "store4(c + element + 2048, c_4)"});
  EXPECT_EQ(written->shape.grid[0], 3);
}

TEST_F(KernelTextTest, NestsThatCombineShareALaunch) {
  std::string text = write(R"(
    kernel.func @k(%a: memref<8192xf32>, %b: memref<600xf32>
                   ) to (%c: memref<4xf32>, %d: memref<40xf32>, %e: memref<2xf32>,
                         %f: memref<600xf32>) schedule "row" {
      kernel.nest (%i, %j) in [4, 2048 reduced] {
        %0 = kernel.load %a[%i * 2048 + %j] : memref<8192xf32>
        %1 = kernel.reduce add %0 : f32
        kernel.store %1, %c[%i] : memref<4xf32>
      }
      kernel.nest (%i, %j) in [15 reduced, 40] {
        %0 = kernel.load %b[%i * 40 + %j] : memref<600xf32>
        %1 = kernel.reduce add %0 : f32
        kernel.store %1, %d[%j] : memref<40xf32>
      }
      kernel.nest (%i, %j) in [1, 8192 reduced] {
        %0 = kernel.load %a[%j] : memref<8192xf32>
        %1 = kernel.reduce max %0 : f32
        kernel.store %1, %e[%i] : memref<2xf32>
      }
      kernel.nest (%i) in [600] {
        %0 = kernel.load %b[%i] : memref<600xf32>
        kernel.store %0, %f[%i] : memref<600xf32>
      }
    })");
  // All blocks are as large as the largest needs; a row of 2,048 has 256
  // threads, the others wait.
  expectParts(
      text,
      {"__launch_bounds__(1024)", "if (blockIdx.x < 4) {",
       "if (threadIdx.x < 256) {", "blockReduce<8>(Sum()",
       "} else if (blockIdx.x < 5) {",
       "(blockIdx.x - 4) * 128 + threadIdx.x / 256 * 32 + threadIdx.x % 32",
       "columnReduce<8>(Sum()", "} else if (blockIdx.x < 6) {",
       "blockReduce<32>(Max()", "} else if (blockIdx.x < 7) {",
       "((blockIdx.x - 6) * 1024 + threadIdx.x) * 4"});
  EXPECT_EQ(written->shape.grid[0], 7);
  EXPECT_EQ(written->shape.block[0], 1024);
  EXPECT_EQ(written->shape.sharedBytes, 16 * 1024);
  EXPECT_TRUE(written->waits);
}

TEST_F(KernelTextTest, HalfPrecisionRoundsOnceAnOp) {
  std::string text = writeNest("%a: memref<8xbf16>) to (%b: memref<8xbf16>)",
                               "(%i) in [8]", R"(
        %0 = kernel.load %a[%i] : memref<8xbf16>
        %1 = arith.mulf %0, %0 : bf16
        %2 = math.tanh %1 : bf16
        kernel.store %2, %b[%i] : memref<8xbf16>)");
  expectParts(text, {"toBf16(tanhOf(toFloat(toBf16("});
}

TEST_F(KernelTextTest, HalfPrecisionIsCombinedInSingle) {
  std::string sum = writeNest("%a: memref<8xbf16>) to (%b: memref<1xbf16>)",
                              "(%i) in [8 reduced]", R"(
        %0 = kernel.load %a[%i] : memref<8xbf16>
        %1 = kernel.reduce add %0 : bf16
        kernel.store %1, %b[0] : memref<1xbf16>)");
  expectParts(sum, {"Four<float>", "toFloat(", "toBf16(warpReduce(Sum()"});
  std::string pick = writeNest("%a: memref<8xf16>, %n: memref<1xi64>) to (%b: "
                               "memref<1xf16>)",
                               "(%i) in [8 reduced]", R"(
        %0 = kernel.load %a[%i] : memref<8xf16>
        %1 = kernel.load %n[0] : memref<1xi64>
        %2 = arith.index_cast %1 : i64 to index
        %3 = kernel.pick %0 at %2 : f16
        kernel.store %3, %b[0] : memref<1xf16>)");
  expectParts(pick, {"Four<Best<float>>", "Best<float>{toFloat(",
                     "toF16(warpReduce(Chosen()"});
}

TEST_F(KernelTextTest, AnIndexIsDividedByALiteralOfItsWidth) {
  std::string text =
      writeNest("%a: memref<8xi64>) to (%b: memref<8xi64>)", "(%i) in [8]", R"(
        %0 = kernel.load %a[%i] : memref<8xi64>
        %1 = arith.index_cast %0 : i64 to index
        %c4 = arith.constant 4 : index
        %2 = arith.divsi %1, %c4 : index
        %3 = arith.index_cast %2 : index to i64
        kernel.store %3, %b[%i] : memref<8xi64>)");
  expectParts(text, {"divide<long long>("});
}

TEST_F(KernelTextTest, WhatHasNoTextIsNamed) {
  EXPECT_EQ(
      writeNest("%a: memref<8xi64>) to (%b: memref<8xi64>)", "(%i) in [8]", R"(
        %0 = kernel.load %a[%i] : memref<8xi64>
        %1 = math.ctpop %0 : i64
        kernel.store %1, %b[%i] : memref<8xi64>)"),
      "'math.ctpop' has no CUDA text");
  EXPECT_EQ(
      writeNest("%a: memref<8xf32>) to (%b: memref<8xf32>)", "(%i) in [8]", R"(
        %0 = kernel.load %a[%i] : memref<8xf32>
        %1 = arith.bitcast %0 : f32 to i32
        %2 = arith.trunci %1 : i32 to i4
        %3 = arith.uitofp %2 : i4 to f32
        kernel.store %3, %b[%i] : memref<8xf32>)"),
      "'arith.trunci' has a type that kernels do not have");
  EXPECT_EQ(
      writeNest("%a: memref<8xi64>) to (%b: memref<8xf32>)", "(%i) in [8]", R"(
        %0 = kernel.load %a[%i] : memref<8xi64>
        %1 = arith.index_cast %0 : i64 to index
        %2 = arith.constant 1.0 : f32
        kernel.store %2, %b[%1] : memref<8xf32>)"),
      "'kernel.store' writes where data say");
}

TEST_F(KernelTextTest, ConstantsKeepTheirValue) {
  Builder b(&context);
  auto text = [&](Type type, double value) {
    return literal(type, b.getF64FloatAttr(value));
  };
  EXPECT_EQ(text(b.getF32Type(), 1), "1.0f");
  EXPECT_EQ(text(b.getF32Type(), 1e-5), "9.99999975e-06f");
  EXPECT_EQ(text(b.getF64Type(), 0.1), "0.10000000000000001");
  EXPECT_EQ(text(b.getF32Type(), -INFINITY),
            "__int_as_float(int(0xFF800000u))");
  EXPECT_EQ(literal(b.getI64Type(), b.getI64IntegerAttr(INT64_MIN)),
            "(long long)0x8000000000000000");
  EXPECT_EQ(literal(b.getI1Type(), b.getBoolAttr(true)), "true");
}

} // namespace

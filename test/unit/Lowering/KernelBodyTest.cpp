// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies as text, run on memory: what they say is what happens.

#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/KernelBodies.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class KernelBodyTest : public testing::Test {
protected:
  KernelBodyTest() { context.loadDialect<kernel::KernelDialect>(); }

  /// Runs the one kernel of `text`; nothing if it is refused, see `error`.
  bool run(const std::string &text, std::vector<Tensor> arguments) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error = diagnostic.str();
      return success();
    });
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return false;
    auto function = *module->getOps<kernel::FuncOp>().begin();
    return succeeded(runKernelBody(function, arguments));
  }

  static Tensor floats(ArrayRef<double> values) {
    Tensor tensor = Tensor::zeros(DType::F32, {int64_t(values.size())});
    tensor.assign(values);
    return tensor;
  }

  MLIRContext context;
  std::string error;
};

std::string scaled(const std::string &factor) {
  return R"(
    kernel.func @k(%x: memref<6xf32>) to (%y: memref<6xf32>, %s: memref<2xf32>)
        schedule "row" {
      kernel.nest (%i, %j) in [2, 3 reduced] {
        %0 = kernel.load %x[%i * 3 + %j] : memref<6xf32>
        %1 = kernel.reduce add %0 : f32
        %c = arith.constant )" +
         factor + R"( : f32
        %2 = arith.mulf %1, %c : f32
        %3 = arith.subf %0, %2 : f32
        kernel.store %3, %y[%i * 3 + %j] : memref<6xf32>
        kernel.store %2, %s[%i] : memref<2xf32>
      }
    })";
}

TEST_F(KernelBodyTest, AChangedConstantChangesTheResult) {
  Tensor x = floats({1, 2, 3, 4, 5, 6}), y = floats({0, 0, 0, 0, 0, 0});
  Tensor s = floats({0, 0});
  ASSERT_TRUE(run(scaled("0.5"), {x, y, s})) << error;
  EXPECT_EQ(y.doubles(), (std::vector<double>{-2, -1, 0, -3.5, -2.5, -1.5}));
  EXPECT_EQ(s.doubles(), (std::vector<double>{3, 7.5}));
  ASSERT_TRUE(run(scaled("1.0"), {x, y, s})) << error;
  EXPECT_EQ(s.doubles(), (std::vector<double>{6, 15}));
  EXPECT_EQ(y.doubles(), (std::vector<double>{-5, -4, -3, -11, -10, -9}));
}

TEST_F(KernelBodyTest, AnIterationReadsAllBeforeItWrites) {
  Tensor x = floats({1, 2, 3, 4, 5, 6}), s = floats({0, 0});
  ASSERT_TRUE(run(scaled("0.5"), {x, x, s})) << error;
  EXPECT_EQ(x.doubles(), (std::vector<double>{-2, -1, 0, -3.5, -2.5, -1.5}));
}

TEST_F(KernelBodyTest, MasksChoicesAndGreatestElements) {
  const char *text = R"(
    kernel.func @k(%x: memref<6xf32>, %at: memref<2xi64>)
        to (%most: memref<2xi64>, %chosen: memref<2xf32>, %sum: memref<2xf32>)
        schedule "row" {
      kernel.nest (%i, %j) in [2, 3 reduced] {
        %0 = kernel.load %x[%i * 3 + %j] : memref<6xf32>
        %1 = kernel.reduce_index %0 : f32
        %2 = kernel.load %at[%i] : memref<2xi64>
        %3 = arith.index_cast %2 : i64 to index
        %4 = kernel.pick %0 at %3 : f32
        %c0 = arith.constant 0 : index
        %m = arith.cmpi ne, %j, %c0 : index
        %z = arith.constant 100.0 : f32
        %5 = kernel.load %x[%i * 3 + %j - 1] if %m else %z : memref<6xf32>
        %6 = kernel.reduce add %5 : f32
        kernel.store %1, %most[%i] : memref<2xi64>
        kernel.store %4, %chosen[%i] : memref<2xf32>
        kernel.store %6, %sum[%i] : memref<2xf32>
      }
    })";
  Tensor x = floats({1, 3, 3, std::nan(""), 5, std::nan("")});
  Tensor at = Tensor::zeros(DType::I64, {2});
  at.setInt(0, 2);
  at.setInt(1, 1);
  Tensor most = Tensor::zeros(DType::I64, {2});
  Tensor chosen = floats({0, 0}), sum = floats({0, 0});
  ASSERT_TRUE(run(text, {x, at, most, chosen, sum})) << error;
  EXPECT_EQ(most.ints(), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(chosen.doubles(), (std::vector<double>{3, 5}));
  EXPECT_EQ(sum.getDouble(0), 104);
  EXPECT_TRUE(std::isnan(sum.getDouble(1)));
  at.setInt(1, 3);
  EXPECT_FALSE(run(text, {x, at, most, chosen, sum}));
  EXPECT_EQ(error, "'kernel.pick' op picks iteration 3 of 3");
}

TEST_F(KernelBodyTest, PlacesThatDataNameAreOfTheirDimension) {
  auto textOf = [](StringRef wrapped) {
    return (R"(
    kernel.func @k(%x: memref<4xf32>, %at: memref<2xi64>) to (%y: memref<2xf32>)
        schedule "pointwise" {
      kernel.nest (%i) in [2] {
        %0 = kernel.load %at[%i] : memref<2xi64>
        %1 = arith.index_cast %0 : i64 to index
        %c2 = arith.constant 2 : index
        %2 = kernel.choose %1 of %c2)" +
            wrapped + R"(
        %3 = kernel.load %x[%2 * 2 + %i] : memref<4xf32>
        kernel.store %3, %y[%i] : memref<2xf32>
      }
    })")
        .str();
  };
  Tensor at = Tensor::zeros(DType::I64, {2});
  at.setInt(0, 1);
  Tensor x = floats({1, 2, 3, 4}), y = floats({0, 0});
  ASSERT_TRUE(run(textOf("").c_str(), {x, at, y})) << error;
  EXPECT_EQ(y.doubles(), (std::vector<double>{3, 2}));
  at.setInt(1, -1);
  ASSERT_TRUE(run(textOf(" wrapped").c_str(), {x, at, y})) << error;
  EXPECT_EQ(y.doubles(), (std::vector<double>{3, 4}));
  EXPECT_FALSE(run(textOf("").c_str(), {x, at, y}));
  EXPECT_EQ(error, "'kernel.choose' op has index -1 of a dimension of size 2");
}

TEST_F(KernelBodyTest, AnOpThatIsNotKnownIsNamed) {
  const char *text = R"(
    kernel.func @k(%x: memref<4xi64>) to (%y: memref<4xi64>)
        schedule "pointwise" {
      kernel.nest (%i) in [4] {
        %0 = kernel.load %x[%i] : memref<4xi64>
        %1 = math.ctlz %0 : i64
        kernel.store %1, %y[%i] : memref<4xi64>
      }
    })";
  Tensor x = Tensor::zeros(DType::I64, {4});
  EXPECT_FALSE(run(text, {x, x}));
  EXPECT_EQ(error, "'math.ctlz' op cannot be executed in a kernel");
}

TEST_F(KernelBodyTest, WhatIsReadBeyondTheMemoryIsNamed) {
  const char *text = R"(
    kernel.func @k(%x: memref<4xf32>, %at: memref<2xi64>) to (%y: memref<2xf32>)
        schedule "pointwise" {
      kernel.nest (%i) in [2] {
        %0 = kernel.load %at[%i] : memref<2xi64>
        %1 = arith.index_cast %0 : i64 to index
        %2 = kernel.load %x[%1] : memref<4xf32>
        kernel.store %2, %y[%i] : memref<2xf32>
      }
    })";
  Tensor at = Tensor::zeros(DType::I64, {2});
  at.setInt(1, 4);
  EXPECT_FALSE(run(text, {floats({1, 2, 3, 4}), at, floats({0, 0})}));
  EXPECT_EQ(error, "'kernel.load' op reaches element 4 of 4");
  EXPECT_FALSE(run(text, {at}));
  EXPECT_EQ(error, "'kernel.func' op has another number of arguments");
}

} // namespace

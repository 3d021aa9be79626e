// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which declared types of statistics stand beside the inferred ones.

#include "cutback/Dialect/Aten/KernelTypes.h"

#include "InferHarness.h"

using namespace cutback::aten;
using namespace cutback::aten::test;

namespace {

TEST(KernelTypesTest, TheKernelSaysWhatStatisticsOfHalvesAre) {
  InferHarness harness;
  auto schema = [&](const char *name) -> const Schema & {
    return *SchemaTable::get(&harness.context).lookup(name);
  };
  const Schema &norm = schema("aten.native_layer_norm.default");
  const Schema &product = schema("aten.mul.Tensor");
  auto type = [](int64_t size, mlir::Type element) -> mlir::Type {
    return mlir::RankedTensorType::get({size, 1}, element);
  };
  mlir::Builder &b = harness.builder;
  mlir::Type f32 = type(kUnknown, b.getF32Type());
  mlir::Type bf16 = type(4, b.getBF16Type());
  EXPECT_EQ(resultAs(norm, 1, f32, bf16), type(kUnknown, b.getBF16Type()));
  EXPECT_EQ(resultAs(norm, 2, bf16, f32), type(4, b.getF32Type()));
  EXPECT_EQ(resultAs(norm, 1, f32, type(4, b.getF64Type())), f32);
  EXPECT_EQ(resultAs(norm, 0, f32, bf16), f32);
  EXPECT_EQ(resultAs(product, 1, f32, bf16), f32);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which products may be a library's, what it is told of them, and where its
// workspace lies. The arena's own proof runs on each module.

#include "cutback/Target/CUDA/LibraryProducts.h"

#include "cutback/Dialect/Aten/Aten.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

/// p = x w', which the backward computes again from MATRIX; then d = p w.
const char *const kStep = R"(
  kernel.arena BYTES of @g_partition {
    kernel.segment forward @g_forward keeps 1
    kernel.segment backward @g_backward keeps 1
        takes forward[1 as 0, 2 as 1, 3 as 2]
  }
  joint.partition @g_partition forward @g_forward backward @g_backward
      saved ["x", "w", "v"] {gradient_of = array<i32: 0>,
                             num_forward_results = 1 : i64,
                             num_saved_sizes = 0 : i64}
  func.func @g_forward(%x: tensor<3x4xf32> {joint.name = "x"},
                       %w: tensor<2x4xf32> {joint.name = "w"},
                       %v: tensor<4x2xf32> {joint.name = "v"},
                       %b: tensor<2xf32> {joint.name = "b"})
      -> (tensor<3x2xf32>, tensor<3x4xf32>, tensor<2x4xf32>, tensor<4x2xf32>) {
    %t = aten.t(%w) : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %p.out = kernel.launch call at [0] : () -> tensor<3x2xf32> {
      %p = PRODUCT
      kernel.yield %p : tensor<3x2xf32>
    }
    return %p.out, %x, %w, %v
        : tensor<3x2xf32>, tensor<3x4xf32>, tensor<2x4xf32>, tensor<4x2xf32>
  }
  func.func @g_backward(%x: tensor<3x4xf32> {joint.name = "x"},
                        %w: tensor<2x4xf32> {joint.name = "w"},
                        %v: tensor<4x2xf32> {joint.name = "v"})
      -> tensor<3x4xf32> {
    %t = aten.t(%w) : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %p.out = kernel.launch call at [64] : () -> tensor<3x2xf32> {
      %p_recompute = aten.mm(%x, MATRIX) {joint.recompute = 0 : i64}
          : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
      kernel.yield %p_recompute : tensor<3x2xf32>
    }
    %d.out = kernel.launch call at [512] : () -> tensor<3x4xf32> {
      %d = aten.mm(%p.out, %w)
          : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
      kernel.yield %d : tensor<3x4xf32>
    }
    return %d.out : tensor<3x4xf32>
  }
)";

class LibraryProductsTest : public testing::Test {
protected:
  LibraryProductsTest() {
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        kernel::KernelDialect, func::FuncDialect>();
  }

  /// The launches, in their order, when workspaces of `bytes` have places.
  void place(const std::string &matrix, int64_t bytes,
             const std::string &product = "aten.mm(%x, %t) : (tensor<3x4xf32>, "
                                          "tensor<4x2xf32>) -> "
                                          "tensor<3x2xf32>") {
    std::string text = kStep;
    for (const auto &[from, to] :
         {std::pair<std::string, std::string>{"BYTES", "1024"},
          {"MATRIX", matrix},
          {"PRODUCT", product}})
      text.replace(text.find(from), from.size(), to);
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    ASSERT_TRUE(succeeded(placeWorkspaces(*module, bytes)));
    launches.clear();
    module->walk([&](kernel::LaunchOp one) { launches.push_back(one); });
    ASSERT_EQ(launches.size(), 3u);
  }

  std::optional<ArtifactProduct> describe(size_t launch) {
    return describeProduct(launches[launch],
                           &launches[launch].getBlock().front());
  }
  int64_t arenaBytes() {
    return static_cast<int64_t>(
        (*module->getOps<kernel::ArenaOp>().begin()).getBytes());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<kernel::LaunchOp> launches;
};

TEST_F(LibraryProductsTest, AWorkspaceLiesWhereNothingIsHeld) {
  place("%t", 256);
  for (kernel::LaunchOp launch : launches)
    EXPECT_EQ(launch.getScratchAt(), 256u);
  EXPECT_EQ(arenaBytes(), 1024);
  // Behind the results where it is too large for the hole.
  place("%t", 512);
  EXPECT_EQ(launches[1].getScratchAt(), 256u);
  EXPECT_EQ(launches[2].getScratchAt(), 768u);
  EXPECT_EQ(arenaBytes(), 1280);
}

TEST_F(LibraryProductsTest, MatricesAreDescribedByTheirStrides) {
  place("%t", 256);
  auto product = describe(0);
  ASSERT_TRUE(product);
  EXPECT_EQ(product->dtype, "f32");
  EXPECT_EQ(product->m, 3);
  EXPECT_EQ(product->n, 2);
  EXPECT_EQ(product->k, 4);
  EXPECT_FALSE(product->a.isTransposed);
  EXPECT_EQ(product->a.leading, 4);
  EXPECT_TRUE(product->b.isTransposed);
  EXPECT_EQ(product->b.leading, 4);
  EXPECT_EQ(product->out.operand, 2);
  EXPECT_EQ(product->workspaceAt, 256);
  EXPECT_FALSE(describe(2)->b.isTransposed);
}

TEST_F(LibraryProductsTest, ACopyFromAnotherLayoutIsNotTheLibrarys) {
  place("%v", 256);
  EXPECT_FALSE(launches[0].getScratch());
  EXPECT_FALSE(describe(0));
  EXPECT_FALSE(launches[1].getScratch());
  EXPECT_TRUE(launches[2].getScratch());
  // Nor is one of the two that is no product of a library.
  place("%t", 256,
        "aten.addmm(%b, %x, %t, beta = 0.5) : (tensor<2xf32>, "
        "tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>");
  EXPECT_FALSE(launches[0].getScratch());
  EXPECT_FALSE(launches[1].getScratch());
  EXPECT_TRUE(launches[2].getScratch());
}

TEST_F(LibraryProductsTest, NewDevicesHaveLargerWorkspaces) {
  EXPECT_EQ(workspaceBytesOf({"sm_80"}), 4 << 20);
  EXPECT_EQ(workspaceBytesOf({"sm_80", "sm_100"}), 32 << 20);
}

} // namespace

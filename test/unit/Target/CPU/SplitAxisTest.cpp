// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests whose innermost axis is divided: kept, reduced, and summed over rows in
// tiles of two loops. The bits are those of the interpreter, of the kernel in
// parts, and of loops for a device, which are never split. (The interpreter
// adds up in double precision: sums differ by a unit in the last place.)

#include "NativeFixture.h"

using namespace cutback;
using namespace cutback::test;

namespace {

class SplitAxisTest : public NativeFixture {
protected:
  /// A kernel over `sizes` that stores where axis k of `heads` * `width`
  /// columns has its heads in front of `rows` rows.
  static std::string heads(int64_t rows, int64_t heads, int64_t width,
                           const std::string &sum) {
    int64_t columns = heads * width;
    auto text = [](int64_t number) { return std::to_string(number); };
    std::string all = "memref<" + text(rows * columns) + "xf32>";
    std::string wide = "memref<" + text(columns) + "xf32>";
    std::string at = "%i * " + text(width) + " + (%k floordiv " + text(width) +
                     ") * " + text(rows * width) + " + %k mod " + text(width);
    bool isSum = !sum.empty();
    return "kernel.func @k(%a: " + all + ", %b: " + wide + ") to (%c: " + all +
           (isSum ? ", %s: " +
                        (sum == "row" ? "memref<" + text(rows) + "xf32>" : wide)
                  : "") +
           ") schedule \"" + (sum.empty() ? "pointwise" : sum) +
           "\" { kernel.nest (%i, %k) in [" + text(rows) +
           (sum == "partial" ? " reduced, " : ", ") + text(columns) +
           (sum == "row" ? " reduced" : "") + "] {\n%x = kernel.load %a[" + at +
           "] : " + all + "\n%y = kernel.load %b[%k] : " + wide +
           "\n%z = arith.mulf %x, %y : f32\nkernel.store %z, %c[%i * " +
           text(columns) + " + %k] : " + all +
           (isSum ? "\n%r = kernel.reduce add %z : f32\nkernel.store %r, %s[" +
                        std::string(sum == "row" ? "%i" : "%k") + "] : " +
                        (sum == "row" ? "memref<" + text(rows) + "xf32>" : wide)
                  : "") +
           "} }";
  }
};

TEST_F(SplitAxisTest, Elements) {
  check(heads(7, 6, 64, ""));
  check(heads(5, 3, 80, ""));
  check(heads(9, 5, 8, ""));
  check(heads(9, 5, 7, "")); // below a vector: as it was
}

TEST_F(SplitAxisTest, Rows) {
  check(heads(5, 6, 64, "row"), 1e-6);
  check(heads(3, 17, 80, "row"), 1e-6);
}

TEST_F(SplitAxisTest, ColumnsInTilesOfTwoLoops) {
  check(heads(11, 6, 64, "partial"), 1e-6);
  check(heads(21, 23, 64, "partial"),
        1e-6); // more than a tile, the last one less
  check(heads(13, 3, 600, "partial"), 1e-6);
  check(heads(4, 2, 1500, "partial"), 1e-6); // a head is more than a tile
}

TEST_F(SplitAxisTest, DivisorsOfDivisors) {
  check(R"(kernel.func @k(%a: memref<4608xf32>) to (%c: memref<4608xf32>)
    schedule "pointwise" { kernel.nest (%i, %k) in [4, 1152] {
      %x = kernel.load %a[%i * 64 + (%k floordiv 384) * 1536
             + ((%k floordiv 64) mod 6) * 256 + %k mod 64] : memref<4608xf32>
      %y = kernel.load %a[%i * 1152 + %k mod 384] : memref<4608xf32>
      %z = arith.addf %x, %y : f32
      kernel.store %z, %c[%i * 1152 + %k] : memref<4608xf32> } })");
}

TEST_F(SplitAxisTest, AnErrorNamesTheOpOfTheKernel) {
  ASSERT_TRUE(compile(R"(kernel.func @k(%a: memref<128xf32>, %n: memref<2xi64>)
      to (%c: memref<128xf32>) schedule "pointwise" {
    kernel.nest (%i, %k) in [1, 128] {
      %n0 = kernel.load %n[%k floordiv 64] : memref<2xi64>
      %at = arith.index_cast %n0 : i64 to index
      %x = kernel.load %a[%at * 64 + %k mod 64] : memref<128xf32>
      kernel.store %x, %c[%k] : memref<128xf32> } })"))
      << error;
  Tensors arguments = randomArguments();
  arguments[1].setInt(0, 1);
  arguments[1].setInt(1, 0);
  runBoth(arguments);
  arguments[1].setInt(1, 9);
  EXPECT_TRUE(mlir::failed(runner->run(function, arguments)));
  EXPECT_NE(error.find("kernel.load"), std::string::npos) << error;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows whose lines are fetched ahead, in strips: sums of them keep their order,
// which is that of threads of a device, who have no strips (NativeFixture.h).

#include "NativeFixture.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class RowPrefetchTest : public NativeFixture {};

TEST_F(RowPrefetchTest, StripsChangeNoSum) {
  // Up to all accumulators, several blocks of them, and parts of strips.
  for (int64_t columns : {127, 128, 300, 1024, 1500, 4224, 9001}) {
    SCOPED_TRACE(columns);
    std::string n = std::to_string(columns);
    std::string all = "memref<" + std::to_string(3 * columns) + "xf32>";
    std::string at = "[%i * " + n + " + %j] : " + all + "\n";
    check("kernel.func @k(%x: " + all + ") to (%y: " + all +
              ") schedule \"row\" { kernel.nest (%i, %j) in [3, " + n +
              " reduced] {\n%0 = kernel.load %x" + at + R"(
          %1 = kernel.reduce max %0 : f32
          %2 = arith.subf %0, %1 : f32
          %3 = kernel.reduce add %2 : f32
          %4 = arith.divf %2, %3 : f32
          kernel.store %4, %y)" +
              at + "} }",
          1e-4);
  }
}

// A row that a result takes the place of is read before it is written.
TEST_F(RowPrefetchTest, RowsOfOtherTypesAndStridesAreFetched) {
  for (const char *type : {"f64", "bf16", "f16"}) {
    SCOPED_TRACE(type);
    std::string t = type, all = "memref<900x" + t + ">";
    check(
        "kernel.func @k(%x: " + all + ", %w: memref<300x" + t +
            ">) to (%y: " + all +
            ") schedule \"row\" { kernel.nest (%i, %j) in [3, 300 reduced] {" +
            "\n%0 = kernel.load %x[%i * 300 - %j + 299] : " + all +
            "\n%1 = kernel.load %w[%j] : memref<300x" + t + R"(>
          %2 = kernel.reduce add %0 : )" +
            t + R"(
          %3 = arith.mulf %1, %2 : )" +
            t + "\nkernel.store %3, %y[%i * 300 + %j] : " + all + "} }",
        t == "f64" || t == "f32" ? 1e-4 : 2e-2);
  }
}

} // namespace

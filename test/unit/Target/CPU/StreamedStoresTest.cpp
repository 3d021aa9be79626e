// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results that pass the caches: which do, and that all elements arrive,
// whatever line of memory they begin in. NativeFixture.h runs each kernel with
// all its results streamed, too.

#include "NativeFixture.h"

#include "cutback/Target/CPU/LowerKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class StreamedStoresTest : public NativeFixture {
protected:
  /// How many stores of a kernel's loops pass the caches.
  int64_t numStreamed(const std::string &text, const LoopChoices &choices) {
    context
        .loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                     math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                     vector::VectorDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << error;
    OwningOpRef<ModuleOp> loops = ModuleOp::create(module->getLoc());
    auto lowered =
        lowerKernel(*module->getOps<kernel::FuncOp>().begin(), *loops, choices);
    EXPECT_TRUE(succeeded(lowered)) << error;
    int64_t count = 0, fences = 0;
    lowered->function.walk(
        [&](vector::StoreOp store) { count += store.getNontemporal(); });
    lowered->function.walk([&](LLVM::FenceOp) { ++fences; });
    EXPECT_EQ(fences, count > 0 ? 1 : 0);
    return count;
  }

  /// `rows` x `columns` of `type`, of which `body` makes %z of %x and, a row,
  /// the sum %s.
  static std::string rowsOf(int64_t rows, int64_t columns,
                            const std::string &type, const std::string &body) {
    std::string n = std::to_string(columns), m = std::to_string(rows);
    std::string all =
        "memref<" + std::to_string(rows * columns) + "x" + type + ">";
    std::string at = "[%i * " + n + " + %j] : " + all + "\n";
    return "kernel.func @k(%a: " + all + ") to (%c: " + all +
           ") schedule \"row\" { kernel.nest (%i, %j) in [" + m + ", " + n +
           " reduced] {\n%x = kernel.load %a" + at +
           "%s = kernel.reduce add %x : " + type + "\n" + body +
           "\nkernel.store %z, %c" + at + "} }";
  }

  static std::string negated(int64_t count, const std::string &type) {
    std::string n = std::to_string(count),
                all = "memref<" + n + "x" + type + ">";
    return "kernel.func @k(%x: " + all + ") to (%y: " + all +
           ") schedule \"pointwise\" { kernel.nest (%i) in [" + n +
           "] {\n%0 = kernel.load %x[%i] : " + all +
           "\n%1 = arith.negf %0 : " + type +
           "\nkernel.store %1, %y[%i] : " + all + "} }";
  }

  /// Rows become columns; `body` makes %z of %x.
  static std::string transposed(int64_t rows, int64_t columns,
                                const std::string &body) {
    std::string n = std::to_string(columns), m = std::to_string(rows);
    std::string all = "memref<" + std::to_string(rows * columns) + "xf32>";
    return "kernel.func @k(%a: " + all + ") to (%c: " + all +
           ") schedule \"pointwise\" { kernel.nest (%j, %i) in [" + n + ", " +
           m + "] {\n%x = kernel.load %a[%i * " + n + " + %j] : " + all + "\n" +
           body + "\nkernel.store " + (body.empty() ? "%x" : "%z") +
           ", %c[%j * " + m + " + %i] : " + all + "} }";
  }
};

TEST_F(StreamedStoresTest, LargeResultsOfProcessorsPassTheCaches) {
  LoopChoices usual, device{LoopsFor::Thread, AccessTests::OfData, 0},
      tested{LoopsFor::Processor, AccessTests::OfAll, 0};
  EXPECT_EQ(numStreamed(negated(8 << 20, "f32"), usual), 1);
  EXPECT_EQ(numStreamed(negated((8 << 20) - 1, "f32"), usual), 0);
  EXPECT_EQ(numStreamed(negated(8 << 20, "bf16"), usual), 0);
  EXPECT_EQ(numStreamed(negated(8 << 20, "f64"), usual), 1);
  EXPECT_EQ(numStreamed(negated(8 << 20, "f32"), device), 0);
  EXPECT_EQ(numStreamed(negated(8 << 20, "f32"), tested), 0);
  EXPECT_EQ(numStreamed(transposed(4096, 2048, ""), usual), 1);
  std::string scale = "%z = arith.divf %x, %s : f32";
  EXPECT_EQ(numStreamed(rowsOf(200000, 48, "f32", scale), usual), 1);
  // Strips of one length, and what is left of a row.
  EXPECT_EQ(numStreamed(rowsOf(200, 50257, "f32", scale), usual), 2);
  // Not side by side: every other element of a line is another store's.
  EXPECT_EQ(numStreamed(R"(
      kernel.func @k(%x: memref<9000000xf32>) to (%y: memref<18000000xf32>)
          schedule "pointwise" { kernel.nest (%i) in [9000000] {
        %0 = kernel.load %x[%i] : memref<9000000xf32>
        kernel.store %0, %y[%i * 2] : memref<18000000xf32>
      } })",
                        usual),
            0);
}

TEST_F(StreamedStoresTest, LinesThatBeginAnywhere) {
  for (const char *type : {"f32", "f64", "bf16", "f16"}) {
    SCOPED_TRACE(type);
    for (int64_t count : {256, 257, 271, 512, 1000, 5003}) {
      SCOPED_TRACE(count);
      check(negated(count, type));
    }
    // Each row begins in another place of a line.
    check(rowsOf(7, 301, type, "%z = arith.addf %x, %x : " + std::string(type)),
          0);
  }
}

TEST_F(StreamedStoresTest, TruthValuesAreBytes) {
  check(R"(
      kernel.func @k(%x: memref<999xf32>) to (%y: memref<999xi1>)
          schedule "pointwise" { kernel.nest (%i) in [999] {
        %0 = kernel.load %x[%i] : memref<999xf32>
        %zero = arith.constant 0.0 : f32
        %1 = arith.cmpf ogt, %0, %zero : f32
        kernel.store %1, %y[%i] : memref<999xi1>
      } })");
}

// Of short rows a few go through a pass together; the last ones are fewer.
TEST_F(StreamedStoresTest, ShortRows) {
  for (int64_t columns : {1, 3, 8, 31, 48, 64, 96, 127, 128, 129})
    for (int64_t rows : {1, 2, 5, 16, 35}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
      check(rowsOf(rows, columns, "f32", R"(
          %m = kernel.reduce max %x : f32
          %d = arith.subf %x, %m : f32
          %e = math.exp %d : f32
          %t = kernel.reduce add %e : f32
          %z = arith.divf %e, %t : f32)"),
            1e-5);
    }
}

TEST_F(StreamedStoresTest, TilesThatAreTransposed) {
  for (auto [rows, columns] : {std::pair(40, 1100),
                               {33, 9},
                               {8, 1024},
                               {100, 64},
                               {1, 300},
                               {300, 1},
                               {70, 2050}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    check(transposed(rows, columns, ""));
    check(transposed(rows, columns, "%z = arith.mulf %x, %x : f32"));
  }
}

// An operand is read before the result is written in its place.
TEST_F(StreamedStoresTest, ResultsInTheirOperandsPlaces) {
  check(negated(1000, "f32"), 0, {0, 0});
  check(rowsOf(5, 300, "f32", "%z = arith.divf %x, %s : f32"), 1e-5, {0, 0});
  check(rowsOf(35, 48, "f32", "%z = arith.divf %x, %s : f32"), 1e-5, {0, 0});
}

} // namespace

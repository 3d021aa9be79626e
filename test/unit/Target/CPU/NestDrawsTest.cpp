// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers that an innermost loop draws four at a time: as the
// interpreter draws them one by one, for strips that begin and end inside of a
// counter.

#include "NativeFixture.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class NestDrawsTest : public NativeFixture {
protected:
  static std::string memory(int64_t count, const std::string &type) {
    return "memref<" + std::to_string(count) + "x" + type + ">";
  }

  /// %d: a number of `type` for (%i, %j), `first` from the stream's front on.
  static std::string draw(const std::string &what, int64_t columns,
                          int64_t first, const std::string &type) {
    return R"(
      %seed = kernel.load %s[0] : memref<1xi64>
      %columns = arith.constant )" +
           std::to_string(columns) + R"( : index
      %first = arith.constant )" +
           std::to_string(first) + R"( : index
      %row = arith.muli %i, %columns : index
      %at = arith.addi %row, %j : index
      %number = arith.addi %at, %first : index
      %d = kernel.draw )" +
           what + " %seed stream 3[%number] : " + type + "\n";
  }
};

TEST_F(NestDrawsTest, NeighborsAreThoseOfTheInterpreter) {
  for (int64_t columns : {5, 128, 300})
    for (int64_t first : {0, 3})
      for (auto [what, type] :
           {std::pair("uniform", "f32"), std::pair("uniform", "bf16"),
            std::pair("bits", "i32")}) {
        SCOPED_TRACE(std::to_string(columns) + " " + what + " " + type);
        std::string all = memory(3 * columns, type);
        check("kernel.func @k(%s: memref<1xi64>) to (%y: " + all +
              ") schedule \"pointwise\" { kernel.nest (%i, %j) in [3, " +
              std::to_string(columns) + "] {" +
              draw(what, columns, first, type) + "kernel.store %d, %y[%i * " +
              std::to_string(columns) + " + %j] : " + all + "} }");
      }
}

TEST_F(NestDrawsTest, RowsReadThemInTwoPasses) {
  for (int64_t columns : {48, 128, 129, 1024, 1100}) {
    SCOPED_TRACE(columns);
    std::string n = std::to_string(columns), all = memory(3 * columns, "f32");
    check("kernel.func @k(%s: memref<1xi64>, %x: " + all + ") to (%y: " + all +
              ") schedule \"row\" { kernel.nest (%i, %j) in [3, " + n +
              " reduced] {" + draw("uniform", columns, 2, "f32") +
              "%0 = kernel.load %x[%i * " + n + " + %j] : " + all + R"(
          %1 = arith.mulf %0, %d : f32
          %2 = kernel.reduce add %1 : f32
          %3 = arith.subf %d, %2 : f32
          kernel.store %3, %y[%i * )" +
              n + " + %j] : " + all + "} }",
          1e-5);
  }
}

TEST_F(NestDrawsTest, ColumnsReadThem) {
  for (int64_t columns : {30, 64, 200}) {
    SCOPED_TRACE(columns);
    std::string n = std::to_string(columns), all = memory(9 * columns, "f32");
    check("kernel.func @k(%s: memref<1xi64>) to (%y: " + all +
              ", %z: " + memory(columns, "f32") +
              ") schedule \"partial\" { kernel.nest (%i, %j) in [9 reduced, " +
              n + "] {" + draw("uniform", columns, 1, "f32") + R"(
          %0 = kernel.reduce add %d : f32
          kernel.store %d, %y[%i * )" +
              n + " + %j] : " + all +
              "\nkernel.store %0, %z[%j] : " + memory(columns, "f32") + "} }",
          1e-5);
  }
}

// The number of a memory is not that of an axis.
TEST_F(NestDrawsTest, TheSeedIsAnyArgument) {
  for (int64_t others : {0, 1, 9}) {
    SCOPED_TRACE(others);
    std::string arguments;
    for (int64_t i = 0; i < others; ++i)
      arguments += "%x" + std::to_string(i) + ": memref<1xf32>, ";
    check("kernel.func @k(" + arguments +
          R"(%s: memref<1xi64>) to (%y: memref<200xf32>)
          schedule "pointwise" {
        kernel.nest (%j) in [200] {
          %0 = kernel.load %s[0] : memref<1xi64>
          %1 = kernel.draw uniform %0 stream 3[%j] : f32
          kernel.store %1, %y[%j] : memref<200xf32>
        }
      })");
  }
}

// Neither steps by one: each element draws its own.
TEST_F(NestDrawsTest, OthersAreDrawnAlone) {
  for (const char *index :
       {"%2 = arith.muli %j, %c : index", "%2 = arith.remui %j, %c : index"}) {
    SCOPED_TRACE(index);
    check(std::string(R"(
      kernel.func @k(%s: memref<1xi64>) to (%y: memref<200xf32>)
          schedule "pointwise" {
        kernel.nest (%j) in [200] {
          %0 = kernel.load %s[0] : memref<1xi64>
          %c = arith.constant 7 : index
          )") +
          index +
          R"(
          %3 = kernel.draw uniform %0 stream 3[%2] : f32
          kernel.store %3, %y[%j] : memref<200xf32>
        }
      })");
  }
}

// What is chosen stands anywhere in the row, not in the strip.
TEST_F(NestDrawsTest, AChosenElementIsDrawnAlone) {
  check(R"(
    kernel.func @k(%s: memref<1xi64>, %at: memref<4xi64>) to (%y: memref<4xf32>)
        schedule "row" {
      kernel.nest (%i, %j) in [4, 200 reduced] {
        %0 = kernel.load %s[0] : memref<1xi64>
        %c = arith.constant 200 : index
        %1 = arith.muli %i, %c : index
        %2 = arith.addi %1, %j : index
        %3 = kernel.draw uniform %0 stream 3[%2] : f32
        %4 = kernel.reduce max %3 : f32
        %5 = kernel.load %at[%i] : memref<4xi64>
        %6 = arith.index_cast %5 : i64 to index
        %7 = kernel.pick %3 at %6 : f32
        %8 = arith.subf %4, %7 : f32
        kernel.store %8, %y[%i] : memref<4xf32>
      }
    })");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code against the interpreter, kernel by kernel. Sums have another
// order here, and functions another formula; everything else has the same bits.

#include "NativeFixture.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class NativeKernelsTest : public test::NativeFixture {
protected:
  /// One element-wise kernel of `body`, from %x and %y of `type` to %z.
  static std::string pointwise(const std::string &type, const std::string &body,
                               const std::string &result) {
    std::string in = "memref<300x" + type + ">";
    std::string out = "memref<300x" + result + ">";
    return "kernel.func @k(%a: " + in + ", %b: " + in + ") to (%c: " + out +
           ") schedule \"pointwise\" { kernel.nest (%i, %j) in [3, 100] {\n"
           "%x = kernel.load %a[%i * 100 + %j] : " +
           in + "\n%y = kernel.load %b[%i * 100 + %j] : " + in + "\n" + body +
           "\nkernel.store %z, %c[%i * 100 + %j] : " + out + "} }";
  }

  /// A norm over the last of two axes.
  static std::string norm(int64_t rows, int64_t columns,
                          const std::string &head = "") {
    std::string r = std::to_string(rows), c = std::to_string(columns);
    std::string all = "memref<" + std::to_string(rows * columns) + "xf32>";
    return "kernel.func @k(%x: " + all + ", %w: memref<" + c +
           "xf32>) to (%y: " + all + ", %m: memref<" + r + R"(xf32>)
      schedule "row" {
      kernel.nest (%i, %j) in [)" +
           r + ", " + c + " reduced] {\n%0 = kernel.load %x[%i * " + c +
           " + %j] : " + all + "\n%c = arith.constant " + c + R"(.0 : f32
        %1 = kernel.reduce add %0 : f32
        %2 = arith.divf %1, %c : f32
        %3 = arith.subf %0, %2 : f32
        %4 = arith.mulf %3, %3 : f32
        %5 = kernel.reduce add %4 : f32
        %6 = arith.divf %5, %c : f32
        %e = arith.constant 1.0e-5 : f32
        %7 = arith.addf %6, %e : f32
        %8 = math.rsqrt %7 : f32
        %9 = arith.mulf %3, %8 : f32
        %10 = kernel.load %w[%j] : memref<)" +
           c + R"(xf32>
        %11 = arith.mulf %9, %10 : f32
        kernel.store %11, %y[%i * )" +
           c + " + %j] : " + all + "\nkernel.store %8, %m[%i] : memref<" + r +
           "xf32> } }" + head;
  }
};

TEST_F(NativeKernelsTest, ArithmeticHasTheBitsOfItsType) {
  for (const char *type : {"f32", "f64", "bf16", "f16"}) {
    std::string t = type;
    for (const char *op : {"addf", "subf", "mulf", "divf", "maximumf",
                           "minimumf", "maxnumf", "minnumf", "remf"})
      check(
          pointwise(t, "%z = arith." + std::string(op) + " %x, %y : " + t, t));
    check(pointwise(t,
                    "%n = arith.negf %x : " + t + "\n%s = math.absf %y : " + t +
                        "\n%q = math.sqrt %s : " + t +
                        "\n%z = arith.mulf %n, %q : " + t,
                    t));
    check(pointwise(t,
                    "%m = arith.cmpf olt, %x, %y : " + t +
                        "\n%z = arith.select %m, %y, %x : " + t,
                    t));
  }
}

TEST_F(NativeKernelsTest, NoProductIsContractedWithASum) {
  check(pointwise("f32",
                  "%p = arith.mulf %x, %y : f32\n"
                  "%z = arith.addf %p, %x : f32",
                  "f32"));
}

TEST_F(NativeKernelsTest, AFusedProductIsRoundedOnce) {
  for (const char *type : {"f32", "f64", "bf16", "f16"}) {
    std::string t = type;
    check(pointwise(t, "%z = math.fma %x, %y, %x : " + t, t));
  }
}

TEST_F(NativeKernelsTest, OfZerosTheGreaterOneIsPositive) {
  for (const char *op : {"maximumf", "minimumf", "maxnumf", "minnumf"}) {
    ASSERT_TRUE(compile(pointwise(
        "f32", "%z = arith." + std::string(op) + " %x, %y : f32", "f32")));
    Tensors arguments = randomArguments();
    const double special[] = {0.0, -0.0, NAN, 1};
    for (int64_t i = 0; i < 16; ++i) {
      arguments[0].set(i, special[i / 4]);
      arguments[1].set(i, special[i % 4]);
    }
    runBoth(arguments);
  }
}

TEST_F(NativeKernelsTest, HalfPrecisionIsRoundedOnce) {
  for (const char *type : {"bf16", "f16"}) {
    std::string t = type;
    check(pointwise("f32",
                    "%s = arith.addf %x, %y : f32\n%z = arith.truncf %s "
                    ": f32 to " +
                        t,
                    t));
    check(pointwise("f64",
                    "%s = arith.addf %x, %y : f64\n%z = arith.truncf %s "
                    ": f64 to " +
                        t,
                    t));
    check(pointwise(t, "%z = arith.extf %x : " + t + " to f64", "f64"));
  }
  // Subnormal numbers, ties, the largest and what is beyond it.
  ASSERT_TRUE(
      compile(pointwise("f32", "%z = arith.truncf %x : f32 to bf16", "bf16")));
  Tensors arguments = randomArguments();
  for (int64_t i = 0; i < 300; ++i)
    arguments[0].set(i, std::ldexp(1.0 + i / 256.0, int(i) - 148));
  arguments[0].set(0, NAN);
  arguments[0].set(1, -INFINITY);
  arguments[0].set(2, 3.4e38);
  runBoth(arguments);
}

TEST_F(NativeKernelsTest, IntegersAreExact) {
  for (const char *type : {"i64", "i32", "i16", "i8"}) {
    std::string t = type;
    for (const char *op :
         {"addi", "subi", "muli", "divsi", "remsi", "divui", "remui",
          "floordivsi", "ceildivsi", "andi", "ori", "xori", "shli", "shrsi",
          "shrui", "maxsi", "minsi", "maxui", "minui"}) {
      // Zeros divide, and shifts go by more than the width.
      ASSERT_TRUE(compile(
          pointwise(t, "%z = arith." + std::string(op) + " %x, %y : " + t, t)))
          << error;
      Tensors arguments = randomArguments(70);
      for (int64_t i = 0; i < 300; ++i) {
        arguments[0].setInt(i, int64_t(random()));
        if (i % 3 == 0 && op[0] != 's')
          arguments[1].setInt(i, i % 2 ? -1 : int64_t(random()));
      }
      runBoth(arguments);
      ASSERT_FALSE(HasFailure()) << op << " of " << t;
    }
  }
  check(pointwise("f32",
                  "%h = arith.constant 1.0e19 : f32\n"
                  "%p = arith.mulf %x, %h : f32\n"
                  "%z = arith.fptosi %p : f32 to i32",
                  "i32"));
  check(pointwise("f64",
                  "%h = arith.constant 1.0e19 : f64\n"
                  "%p = arith.mulf %x, %h : f64\n"
                  "%z = arith.fptoui %p : f64 to i64",
                  "i64"));
  check(pointwise("i32", "%z = arith.sitofp %x : i32 to f32", "f32"));
  check(pointwise("i64", "%z = arith.cmpi slt, %x, %y : i64", "i1"));
  check(pointwise("i64", "%z = math.ipowi %x, %y : i64", "i64"));
  check(pointwise("i32", "%z = math.ipowi %x, %y : i32", "i32"));
}

TEST_F(NativeKernelsTest, TruthValuesAreBytes) {
  check(pointwise("i1", "%z = arith.xori %x, %y : i1", "i1"));
  check(pointwise("i1", "%z = arith.extui %x : i1 to i64", "i64"));
  check(pointwise("f32", "%z = math.isnan %x : f32", "i1"));
  check(pointwise("f32", "%z = math.isinf %x : f32", "i1"));
  check(pointwise("f32", "%z = math.isfinite %x : f32", "i1"));
}

TEST_F(NativeKernelsTest, FunctionsAreThoseOfTheirType) {
  check(pointwise("f64", "%e = math.exp %x : f64\n%z = math.tanh %e : f64",
                  "f64"));
  check(pointwise("f64", "%z = math.powf %x, %y : f64", "f64"));
  check(pointwise("f32", "%z = math.powf %x, %y : f32", "f32"));
  check(pointwise("f32", "%z = math.atan2 %x, %y : f32", "f32"));
  check(pointwise("bf16", "%z = math.exp %x : bf16", "bf16"), 1e-2);
  check(pointwise("f16", "%z = math.erf %x : f16", "f16"), 1e-3);
}

TEST_F(NativeKernelsTest, RowsOfManyLengths) {
  for (int64_t columns : {2, 3, 5, 16, 64, 100, 127, 128, 129, 768, 1000, 1024,
                          1025, 3000, 4096, 4099, 9000}) {
    check(norm(7, columns), 1e-5);
    ASSERT_FALSE(HasFailure()) << columns << " columns";
  }
}

// Channels in planes: vectors have an element of each row, or, as threads of a
// device, elements of a row. The bits are the same.
TEST_F(NativeKernelsTest, RowsSideBySide) {
  for (auto [rows, columns] : {std::pair(16, 2),
                               {19, 3},
                               {40, 5},
                               {16, 16},
                               {17, 20},
                               {33, 31},
                               {64, 48},
                               {19, 100},
                               {16, 128},
                               {20, 129},
                               {16, 300},
                               {18, 1000}}) {
    std::string r = std::to_string(rows), c = std::to_string(columns),
                plane = std::to_string(rows * columns),
                all = "memref<" + std::to_string(2 * rows * columns) + "xf32>",
                half =
                    "memref<" + std::to_string(2 * rows * columns) + "xbf16>",
                each = "memref<" + std::to_string(2 * rows) + "xf32>";
    std::string planes = "[%i * " + plane + " + %k * " + r + " + %j] : ",
                lines = "[%i * " + plane + " + %j * " + c + " + %k] : ",
                of = "[%i * " + r + " + %j] : " + each;
    check("kernel.func @k(%x: " + half + ", %w: memref<" + c +
              "xf32>, %z: " + all + ") to (%y: " + all + ", %t: " + half +
              ", %m: " + each + ", %n: " + each + R"() schedule "row" {
      kernel.nest (%i, %j, %k) in [2, )" +
              r + ", " + c + " reduced] {\n%h = kernel.load %x" + planes +
              half +
              "\n%0 = arith.extf %h : bf16 to f32\n%1 = kernel.load %w[%k] : "
              "memref<" +
              c + "xf32>\n%2 = arith.mulf %0, %1 : f32" + R"(
        %3 = kernel.reduce add %2 : f32
        %4 = kernel.reduce max %2 : f32
        %5 = arith.subf %2, %4 : f32
        %6 = math.exp %5 : f32
        %7 = kernel.reduce add %6 : f32
        %8 = arith.divf %6, %7 : f32
        %9 = kernel.load %z)" +
              lines + all + R"(
        %10 = arith.addf %8, %9 : f32
        %11 = arith.truncf %10 : f32 to bf16
        kernel.store %10, %y)" +
              lines + all + "\nkernel.store %11, %t" + planes + half +
              "\nkernel.store %3, %m" + of + "\nkernel.store %7, %n" + of +
              "\n} }",
          1e-5);
    ASSERT_FALSE(HasFailure()) << rows << " rows of " << columns;
  }
}

TEST_F(NativeKernelsTest, ARowIsReadBeforeItIsWritten) {
  check(norm(9, 200), 1e-5, {0, 1, 0, 3});
  check(norm(9, 200), 1e-5, {0, 1, 2, 3});
}

TEST_F(NativeKernelsTest, ASumIsTheSameWhereverItStands) {
  // The same row, in two kernels of other shapes: equal bits.
  std::vector<double> sums;
  for (int64_t rows : {1, 6}) {
    ASSERT_TRUE(compile(norm(rows, 1000))) << error;
    random.seed(3);
    Tensors arguments = randomArguments();
    ASSERT_TRUE(succeeded(runner->run(function, arguments)));
    sums.push_back(arguments[3].getDouble(0));
  }
  EXPECT_EQ(sums[0], sums[1]);
}

TEST_F(NativeKernelsTest, ColumnsTileByTile) {
  for (const char *columns : {"3", "256", "300"}) {
    std::string c = columns,
                all = "memref<" + std::to_string(10 * std::stoi(c)) + "xf32>";
    check("kernel.func @k(%x: " + all + ", %w: memref<" + c +
              "xf32>) to (%y: " + all + ", %s: memref<" + c +
              "xf32>, %n: memref<" + c + R"(xi64>) schedule "partial" {
      kernel.nest (%h, %i, %j) in [2 reduced, 5 reduced, )" +
              c + "] {\n%0 = kernel.load %x[%h * " +
              std::to_string(5 * std::stoi(c)) + " + %i * " + c +
              " + %j] : " + all + R"(
        %1 = kernel.reduce add %0 : f32
        %2 = kernel.load %w[%j] : memref<)" +
              c + R"(xf32>
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.subf %0, %3 : f32
        %5 = kernel.reduce max %4 : f32
        %6 = kernel.reduce_index %4 : f32
        %7 = arith.divf %4, %5 : f32
        kernel.store %7, %y[%h * )" +
              std::to_string(5 * std::stoi(c)) + " + %i * " + c +
              " + %j] : " + all + "\nkernel.store %3, %s[%j] : memref<" + c +
              "xf32>\nkernel.store %6, %n[%j] : memref<" + c + "xi64>\n} }",
          1e-5, {0, 1, 0, 3, 4});
    ASSERT_FALSE(HasFailure()) << columns << " columns";
  }
}

TEST_F(NativeKernelsTest, ReducedAxesApartFromEachOther) {
  // A batch norm's sums: 4 x 6 kept x 35, and then with rows of whole blocks.
  for (int64_t inner : {35, 128, 300, 1024}) {
    std::string n = std::to_string(inner), stride = std::to_string(6 * inner);
    std::string all = "memref<" + std::to_string(24 * inner) + "xf32>";
    check("kernel.func @k(%x: " + all +
              R"() to (%s: memref<6xf32>, %v: memref<6xf32>)
      schedule "partial" {
      kernel.nest (%i, %j, %k) in [4 reduced, 6, )" +
              n + " reduced] {\n%0 = kernel.load %x[%i * " + stride +
              " + %j * " + n + " + %k] : " + all + R"(
        %1 = kernel.reduce add %0 : f32
        %2 = arith.subf %0, %1 : f32
        %3 = kernel.reduce min %2 : f32
        kernel.store %1, %s[%j] : memref<6xf32>
        kernel.store %3, %v[%j] : memref<6xf32>
      } })",
          1e-5);
    ASSERT_FALSE(HasFailure()) << inner;
  }
}

TEST_F(NativeKernelsTest, EveryCombinationOfIntegers) {
  for (const char *type : {"i64", "i8", "i1"})
    for (const char *how : {"add", "mul", "max", "min", "max_unsigned",
                            "min_unsigned", "and", "or"}) {
      std::string t = type, memory = "memref<" + std::string("40x") + t + ">";
      if (t == "i1" && how != std::string("and") && how != std::string("or"))
        continue;
      check("kernel.func @k(%x: " + memory + ") to (%y: memref<4x" + t +
            R"(>) schedule "row" {
        kernel.nest (%i, %j) in [4, 10 reduced] {
          %0 = kernel.load %x[%i * 10 + %j] : )" +
            memory + "\n%1 = kernel.reduce " + how + " %0 : " + t +
            "\nkernel.store %1, %y[%i] : memref<4x" + t + "> } }");
    }
}

const char *const kChoices = R"(
    kernel.func @k(%x: memref<6xf32>, %at: memref<2xi64>)
        to (%most: memref<2xi64>, %least: memref<2xi64>, %chosen: memref<2xf32>,
            %sum: memref<2xf32>) schedule "row" {
      kernel.nest (%i, %j) in [2, 3 reduced] {
        %0 = kernel.load %x[%i * 3 + %j] : memref<6xf32>
        %1 = kernel.reduce_index %0 : f32
        %l = kernel.reduce_index least %0 : f32
        %2 = kernel.load %at[%i] : memref<2xi64>
        %3 = arith.index_cast %2 : i64 to index
        %4 = kernel.pick %0 at %3 : f32
        %c0 = arith.constant 0 : index
        %m = arith.cmpi ne, %j, %c0 : index
        %z = arith.constant 100.0 : f32
        %5 = kernel.load %x[%i * 3 + %j - 1] if %m else %z : memref<6xf32>
        %6 = kernel.reduce add %5 : f32
        kernel.store %1, %most[%i] : memref<2xi64>
        kernel.store %l, %least[%i] : memref<2xi64>
        kernel.store %4, %chosen[%i] : memref<2xf32>
        kernel.store %6, %sum[%i] : memref<2xf32>
      }
    })";

TEST_F(NativeKernelsTest, MasksChoicesAndGreatestElements) {
  ASSERT_TRUE(compile(kChoices)) << error;
  Tensors arguments = randomArguments(2);
  arguments[0].assign(ArrayRef<double>{1, 3, 3, NAN, 5, NAN});
  runBoth(arguments);
  arguments[1].setInt(1, 3);
  EXPECT_TRUE(failed(runner->run(function, arguments)));
  EXPECT_EQ(error,
            "'kernel.pick' op has index 3 of a dimension of size 3"
            "\nin kernel @k; an index that the step was given is out of range, "
            "and --reference says which");
}

TEST_F(NativeKernelsTest, WhatIsPickedIsReadBeforeTheRowIsWritten) {
  check(R"(
    kernel.func @k(%x: memref<64xf32>, %at: memref<4xi64>)
        to (%y: memref<64xf32>, %p: memref<4xf32>) schedule "row" {
      kernel.nest (%i, %j) in [4, 16 reduced] {
        %0 = kernel.load %x[%i * 16 + %j] : memref<64xf32>
        %1 = kernel.reduce max %0 : f32
        %2 = arith.subf %0, %1 : f32
        %3 = kernel.load %at[%i] : memref<4xi64>
        %4 = arith.index_cast %3 : i64 to index
        %5 = kernel.pick %2 at %4 : f32
        kernel.store %2, %y[%i * 16 + %j] : memref<64xf32>
        kernel.store %5, %p[%i] : memref<4xf32>
      }
    })",
        0, {0, 1, 0, 3});
}

TEST_F(NativeKernelsTest, RowsOfATableAreTested) {
  ASSERT_TRUE(compile(R"(
    kernel.func @k(%x: memref<32xf32>, %at: memref<6xi64>)
        to (%y: memref<48xf32>) schedule "pointwise" {
      kernel.nest (%i, %j) in [6, 8] {
        %0 = kernel.load %at[%i] : memref<6xi64>
        %1 = arith.index_cast %0 : i64 to index
        %2 = kernel.load %x[%1 * 8 + %j] : memref<32xf32>
        kernel.store %2, %y[%i * 8 + %j] : memref<48xf32>
      }
    })"))
      << error;
  Tensors arguments = randomArguments(3);
  runBoth(arguments);
  arguments[1].setInt(4, 4);
  EXPECT_TRUE(failed(runner->run(function, arguments)));
  EXPECT_EQ(error,
            "'kernel.load' op reaches element 39 of 32"
            "\nin kernel @k; an index that the step was given is out of range, "
            "and --reference says which");
  arguments[1].setInt(4, -1);
  EXPECT_TRUE(failed(runner->run(function, arguments)));
  EXPECT_EQ(error,
            "'kernel.load' op reaches element -8 of 32"
            "\nin kernel @k; an index that the step was given is out of range, "
            "and --reference says which");
  EXPECT_TRUE(failed(runner->run(function, {arguments[0]})));
  EXPECT_EQ(error, "'kernel.func' op has another number of arguments");
}

/// Places of a class and of a row that are outside of their own dimension, and
/// inside of the memory.
TEST_F(NativeKernelsTest, WhatDataNameIsTestedAgainstItsDimension) {
  ASSERT_TRUE(compile(R"(
    kernel.func @k(%x: memref<30xf32>, %at: memref<2xi64>)
        to (%y: memref<12xf32>) schedule "pointwise" {
      kernel.nest (%i, %j) in [2, 6] {
        %0 = kernel.load %at[%i] : memref<2xi64>
        %1 = arith.index_cast %0 : i64 to index
        %c5 = arith.constant 5 : index
        %2 = kernel.choose %1 of %c5
        %3 = kernel.choose %1 of %c5 wrapped
        %4 = kernel.load %x[%2 * 6 + %j] : memref<30xf32>
        %5 = kernel.load %x[%3 * 6 + %j] : memref<30xf32>
        %6 = arith.addf %4, %5 : f32
        kernel.store %6, %y[%i * 6 + %j] : memref<12xf32>
      }
    })"))
      << error;
  Tensors arguments = randomArguments(3);
  arguments[1].setInt(0, 4);
  arguments[1].setInt(1, 0);
  runBoth(arguments);
  arguments[1].setInt(1, 5);
  EXPECT_TRUE(failed(runner->run(function, arguments)));
  EXPECT_TRUE(StringRef(error).starts_with(
      "'kernel.choose' op has index 5 of a dimension of size 5"))
      << error;
  // Wrapped, it would be the last one.
  arguments[1].setInt(1, -1);
  EXPECT_TRUE(failed(runner->run(function, arguments)));
  EXPECT_TRUE(StringRef(error).starts_with(
      "'kernel.choose' op has index -1 of a dimension of size 5"))
      << error;
}

/// What the verifier would not let through is changed behind it.
TEST_F(NativeKernelsTest, EachAccessIsTestedIfAsked) {
  ASSERT_TRUE(compile(R"(
    kernel.func @k(%x: memref<40xf32>) to (%y: memref<40xf32>)
        schedule "pointwise" {
      kernel.nest (%i) in [40] {
        %0 = kernel.load %x[%i] : memref<40xf32>
        kernel.store %0, %y[%i] : memref<40xf32>
      }
    })"))
      << error;
  Builder builder(&context);
  auto shifted = [&](int64_t by) {
    return AffineMap::get(1, 0, builder.getAffineDimExpr(0) + by);
  };
  auto message = [&](StringRef op, int64_t element) {
    return ("'kernel." + op + "' op reaches element " + Twine(element) +
            " of 40\nin kernel @k; an index that the step was given is out of "
            "range, and --reference says which")
        .str();
  };
  auto runTested = [&](kernel::FuncOp kernel, Tensors &arguments) {
    auto tested = compileNativeKernelsInParts(
        *module, 1, {LoopsFor::Processor, AccessTests::OfAll});
    return succeeded(tested) && succeeded((*tested)->run(kernel, arguments));
  };
  Tensors arguments = randomArguments();
  double first = arguments[1].doubles()[0];
  auto store = *function.getBody().front().getOps<kernel::NestOp>().begin();
  kernel::StoreOp stored = *store.getBody().getOps<kernel::StoreOp>().begin();
  kernel::LoadOp loaded = *store.getBody().getOps<kernel::LoadOp>().begin();
  stored.setMap(shifted(2));
  EXPECT_FALSE(runTested(function, arguments));
  EXPECT_EQ(error, message("store", 41));
  EXPECT_EQ(arguments[1].doubles()[0], first) << "something was stored";
  stored.setMap(shifted(0));
  loaded.setMap(shifted(-3));
  EXPECT_FALSE(runTested(function, arguments));
  EXPECT_EQ(error, message("load", -1));
}

TEST_F(NativeKernelsTest, IndicesOfQuotientsAndRemainders) {
  check(R"(
    kernel.func @k(%x: memref<96xf32>) to (%y: memref<96xf32>)
        schedule "pointwise" {
      kernel.nest (%i, %j) in [4, 24] {
        %0 = kernel.load %x[(%j floordiv 8) * 32 + %i * 8 + %j mod 8]
          : memref<96xf32>
        %c = arith.constant 2 : index
        %m = arith.cmpi sge, %j, %c : index
        %z = arith.constant 0.5 : f32
        %1 = kernel.load %x[(%j - 2) floordiv 3 + (%i + 1) ceildiv 2 +
                            (%j - 2) mod 3] if %m else %z : memref<96xf32>
        %2 = arith.addf %0, %1 : f32
        kernel.store %2, %y[%i * 24 + %j] : memref<96xf32>
      }
    })");
}

TEST_F(NativeKernelsTest, TransposedTileByTile) {
  check(R"(
    kernel.func @k(%x: memref<14400xf32>) to (%y: memref<14400xf32>)
        schedule "pointwise" {
      kernel.nest (%i, %j, %k, %l) in [3, 40, 2, 60] {
        %0 = kernel.load %x[%i * 4800 + %k * 2400 + %l * 40 + %j]
          : memref<14400xf32>
        kernel.store %0, %y[%i * 4800 + %j * 120 + %k * 60 + %l]
          : memref<14400xf32>
      }
    })");
}

TEST_F(NativeKernelsTest, FunctionsOfARowAreKept) {
  for (const char *columns : {"70", "1500", "70000"}) {
    std::string c = columns,
                all = "memref<" + std::to_string(2 * std::stoi(c)) + "xf32>";
    check("kernel.func @k(%x: " + all + ", %at: memref<2xi64>) to (%y: " + all +
              R"(, %p: memref<2xf32>) schedule "row" {
      kernel.nest (%i, %j) in [2, )" +
              c + " reduced] {\n%0 = kernel.load %x[%i * " + c +
              " + %j] : " + all + R"(
        %1 = kernel.reduce max %0 : f32
        %2 = arith.subf %0, %1 : f32
        %3 = math.exp %2 : f32
        %4 = kernel.reduce add %3 : f32
        %5 = arith.divf %3, %4 : f32
        %6 = kernel.load %at[%i] : memref<2xi64>
        %7 = arith.index_cast %6 : i64 to index
        %8 = kernel.pick %5 at %7 : f32
        kernel.store %5, %y[%i * )" +
              c + " + %j] : " + all +
              "\nkernel.store %8, %p[%i] : memref<2xf32>\n} }",
          1e-5, {0, 1, 0, 3});
    ASSERT_FALSE(HasFailure()) << columns << " columns";
  }
}

TEST_F(NativeKernelsTest, AFunctionIsKeptFromAPassThatOnlyComparesIt) {
  check(R"(
    kernel.func @k(%x: memref<60xf32>) to (%y: memref<60xf32>, %at: memref<3xi64>)
        schedule "row" {
      kernel.nest (%i, %j) in [3, 20 reduced] {
        %0 = kernel.load %x[%i * 20 + %j] : memref<60xf32>
        %1 = math.exp %0 : f32
        %2 = kernel.reduce_index %1 : f32
        %3 = arith.index_cast %2 : i64 to index
        %4 = kernel.pick %1 at %3 : f32
        %5 = arith.subf %1, %4 : f32
        %6 = kernel.reduce_index least %5 : f32
        kernel.store %5, %y[%i * 20 + %j] : memref<60xf32>
        kernel.store %6, %at[%i] : memref<3xi64>
      }
    })",
        1e-6, {0, 0, 2});
}

TEST_F(NativeKernelsTest, PartsOfAConcatenation) {
  check(R"(
    kernel.func @k(%x: memref<20xbf16>, %z: memref<12xbf16>)
        to (%y: memref<32xbf16>) schedule "concat" {
      kernel.nest (%i, %j) in [4, 5] {
        %0 = kernel.load %x[%i * 5 + %j] : memref<20xbf16>
        kernel.store %0, %y[%i * 8 + %j] : memref<32xbf16>
      }
      kernel.nest (%i, %j) in [4, 3] {
        %0 = kernel.load %z[%i * 3 + %j] : memref<12xbf16>
        kernel.store %0, %y[%i * 8 + %j + 5] : memref<32xbf16>
      }
      kernel.nest () in [] {
        %0 = kernel.load %z[0] : memref<12xbf16>
        kernel.store %0, %y[7] : memref<32xbf16>
      }
    })");
}

TEST_F(NativeKernelsTest, RandomNumbersAreThoseOfTheInterpreter) {
  for (const char *type : {"f32", "f64", "bf16", "f16"})
    for (const char *what : {"uniform", "normal"}) {
      std::string t = type, memory = "memref<60x" + t + ">";
      check("kernel.func @k(%s: memref<1xi64>) to (%y: " + memory +
            R"() schedule "pointwise" {
        kernel.nest (%i, %j) in [6, 10] {
          %0 = kernel.load %s[0] : memref<1xi64>
          %c = arith.constant 10 : index
          %1 = arith.muli %i, %c : index
          %2 = arith.addi %1, %j : index
          %3 = kernel.draw )" +
            std::string(what) + " %0 stream 5[%2] : " + t +
            "\nkernel.store %3, %y[%i * 10 + %j] : " + memory + "} }");
    }
  for (const char *type : {"i64", "i32"}) {
    std::string t = type, memory = "memref<60x" + t + ">";
    check("kernel.func @k(%s: memref<1xi64>) to (%y: " + memory +
          R"() schedule "pointwise" {
      kernel.nest (%i) in [60] {
        %0 = kernel.load %s[0] : memref<1xi64>
        %3 = kernel.draw bits %0 stream 70000000000[%i] : )" +
          t + "\nkernel.store %3, %y[%i] : " + memory + "} }");
  }
}

TEST_F(NativeKernelsTest, WhatHasNoMachineCodeIsNamed) {
  EXPECT_FALSE(compile(pointwise("i64", "%z = math.ctlz %x : i64", "i64")));
  EXPECT_EQ(error, "'math.ctlz' op has no machine code");
  EXPECT_FALSE(compile(R"(
    kernel.func @k(%x: memref<4xf32>, %at: memref<2xi64>) to (%y: memref<16xf32>)
        schedule "pointwise" {
      kernel.nest (%i, %j) in [2, 8] {
        %0 = kernel.load %at[%i] : memref<2xi64>
        %1 = arith.index_cast %0 : i64 to index
        %2 = kernel.load %x[%1 + %j] : memref<4xf32>
        kernel.store %2, %y[%i * 8 + %j] : memref<16xf32>
      }
    })"));
  EXPECT_EQ(error, "'kernel.load' op reaches 8 elements of 4");
}

} // namespace

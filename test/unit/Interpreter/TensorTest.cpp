// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storages, strides, and how numbers are rounded to elements.

#include "RunHarness.h"

#include <cmath>
#include <limits>

using namespace cutback;
using namespace cutback::interpreter;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

double rounded(DType type, double value) {
  Tensor tensor = Tensor::zeros(type, {1});
  tensor.set(0, value);
  return tensor.getDouble(0);
}

TEST(TensorTest, TypesHaveTheirNames) {
  mlir::MLIRContext context;
  for (unsigned i = 0; i <= static_cast<unsigned>(DType::C128); ++i) {
    auto type = static_cast<DType>(i);
    EXPECT_EQ(dtypeOf(typeOf(type, &context)), type);
    std::string text;
    llvm::raw_string_ostream(text) << typeOf(type, &context);
    EXPECT_EQ(text, nameOf(type).str());
    EXPECT_EQ(isFloating(type) + isIntegral(type) + isComplex(type), 1);
  }
  EXPECT_EQ(dtypeOf(mlir::IntegerType::get(&context, 7)), std::nullopt);
  EXPECT_EQ(dtypeOf(mlir::NoneType::get(&context)), std::nullopt);
  EXPECT_EQ(textOf(DType::BF16, {2, 3}), "tensor<2x3xbf16>");
}

TEST(TensorTest, DoublesAreRoundedOnceToNearestEven) {
  EXPECT_EQ(rounded(DType::F16, 1 + 0x1p-11), 1);
  EXPECT_EQ(rounded(DType::F16, 1 + 3 * 0x1p-11), 1 + 0x1p-9);
  // Through f32 this would become a tie, and then 1.
  EXPECT_EQ(rounded(DType::F16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  EXPECT_EQ(rounded(DType::BF16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(rounded(DType::F16, 65519), 65504);
  EXPECT_EQ(rounded(DType::F16, 65520), kInf);
  EXPECT_EQ(rounded(DType::F16, -1e9), -kInf);
  EXPECT_EQ(rounded(DType::F16, 0x1p-24), 0x1p-24);
  EXPECT_EQ(rounded(DType::F16, 0x1p-25), 0);
  EXPECT_EQ(rounded(DType::F16, 1.5 * 0x1p-25), 0x1p-24);
  EXPECT_EQ(rounded(DType::F16, 0x1p-14 - 0x1p-26), 0x1p-14);
  EXPECT_EQ(rounded(DType::F8E4M3FN, 464), 448);
  EXPECT_EQ(rounded(DType::F8E4M3FN, kInf), 448);
  EXPECT_EQ(rounded(DType::F8E4M3FN, -1e9), -448);
  EXPECT_EQ(rounded(DType::F8E4M3FN, 0x1p-10), 0);
  EXPECT_EQ(rounded(DType::F8E4M3FN, 3 * 0x1p-10), 0x1p-8);
  EXPECT_EQ(rounded(DType::F8E5M2, 61440), kInf);
  EXPECT_EQ(rounded(DType::F8E5M2, 61439), 57344);
  EXPECT_TRUE(std::isnan(rounded(DType::F8E4M3FN, kNan)));
  EXPECT_TRUE(std::isnan(rounded(DType::F8E5M2, kNan)));
  EXPECT_TRUE(std::signbit(rounded(DType::BF16, -0.0)));
}

TEST(TensorTest, EverySmallFloatIsItself) {
  for (DType type : {DType::F16, DType::BF16, DType::F8E4M3FN, DType::F8E5M2}) {
    int64_t patterns = 1 << 8 * itemSize(type);
    Tensor all = Tensor::zeros(type, {patterns});
    for (int64_t i = 0; i < patterns; ++i)
      std::memcpy(all.data() + i * itemSize(type), &i, itemSize(type));
    for (int64_t i = 0; i < patterns; ++i) {
      double value = all.getDouble(i);
      if (std::isnan(value))
        continue;
      int64_t bits = 0;
      Tensor one = Tensor::zeros(type, {1});
      one.set(0, value);
      std::memcpy(&bits, one.data(), itemSize(type));
      ASSERT_TRUE(bits == i || (std::isinf(value) && type == DType::F8E4M3FN))
          << nameOf(type).str() << " " << i;
      // Between two neighbours, the nearer one.
      double up = all.getDouble((i + 1) % patterns);
      if (std::isfinite(value) && up > value)
        ASSERT_EQ(rounded(type, value + (up - value) * 0.51), up);
    }
  }
}

TEST(TensorTest, IntegersWrapAndTruncate) {
  EXPECT_EQ(rounded(DType::I8, 200), -56);
  EXPECT_EQ(rounded(DType::U8, -1), 255);
  EXPECT_EQ(rounded(DType::I32, -2.9), -2);
  EXPECT_EQ(rounded(DType::Bool, 0.5), 1);
  EXPECT_EQ(rounded(DType::Bool, kNan), 1);
  Tensor large = Tensor::zeros(DType::I64, {1});
  large.set(0, kNan);
  EXPECT_EQ(large.getInt(0), INT64_MIN);
  large.setInt(0, (int64_t(1) << 53) + 1);
  EXPECT_EQ(large.ints()[0], (int64_t(1) << 53) + 1);
}

TEST(TensorTest, ComplexNumbersKeepBothParts) {
  Tensor tensor = Tensor::zeros(DType::C64, {2});
  tensor.setComplex(1, {1.5, -2});
  EXPECT_EQ(tensor.complexes()[1], std::complex<double>(1.5, -2));
  EXPECT_EQ(tensor.getDouble(1), 1.5);
  Tensor wide = Tensor::zeros(DType::C128, {2});
  copyElements(tensor, wide);
  EXPECT_EQ(wide.getComplex(1), std::complex<double>(1.5, -2));
}

/// Every layout of a 3-d tensor agrees with reading it element by element.
TEST(TensorTest, StridedElementsComeInRowMajorOrder) {
  Tensor base = counting({200});
  for (DType type : {DType::F32, DType::C128, DType::I8}) {
    Tensor typed = Tensor::zeros(type, {200});
    copyElements(base, typed);
    for (std::vector<int64_t> strides : {std::vector<int64_t>{12, 4, 1},
                                         {1, 3, 12},
                                         {0, 1, 0},
                                         {-12, 4, 1},
                                         {24, 1, 6},
                                         {2, 8, 50}}) {
      Tensor view = typed;
      view.sizes = {2, 3, 4};
      view.strides.assign(strides.begin(), strides.end());
      view.offset = 20;
      std::vector<double> expected;
      for (int64_t i = 0; i < 24; ++i)
        expected.push_back(typed.getDouble(20 + i / 12 * strides[0] +
                                           i / 4 % 3 * strides[1] +
                                           i % 4 * strides[2]));
      EXPECT_EQ(view.doubles(), expected);
      EXPECT_EQ(view.contiguous().doubles(), expected);
      EXPECT_TRUE(view.contiguous().isContiguous());
    }
  }
}

TEST(TensorTest, CopiesGoToAnyStrides) {
  Tensor target = Tensor::zeros(DType::C128, {3, 2});
  std::swap(target.sizes[0], target.sizes[1]);
  std::swap(target.strides[0], target.strides[1]);
  copyElements(counting({2, 3}), target);
  EXPECT_EQ(target.doubles(), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  Tensor again = Tensor::zeros(DType::C128, {2, 3});
  copyElements(target, again);
  EXPECT_EQ(again.doubles(), target.doubles());
}

TEST(TensorTest, EmptyTensorsAndTensorsWithoutDimensions) {
  Tensor empty = Tensor::zeros(DType::F32, {2, 0, 3});
  EXPECT_EQ(empty.numel(), 0);
  EXPECT_TRUE(empty.isContiguous());
  EXPECT_TRUE(empty.doubles().empty());
  copyElements(empty, Tensor::zeros(DType::F64, {2, 0, 3}));
  Tensor scalar = floats({}, {2.5});
  EXPECT_EQ(scalar.expand({2, 2}).doubles(), std::vector<double>(4, 2.5));
  EXPECT_EQ(floats({2, 1}, {1, 2}).expand({3, 2, 2}).doubles(),
            (std::vector<double>{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}));
}

TEST(TensorTest, AStorageMayBeginBetweenElements) {
  std::shared_ptr<Storage> storage = Storage::allocate(16);
  float value = 1.5;
  std::memcpy(storage->data + 6, &value, sizeof(value));
  Tensor tensor = Tensor::on(storage, 6, DType::F32, {2});
  EXPECT_EQ(tensor.getDouble(0), 1.5);
  EXPECT_EQ(tensor.storage->bytes, 10);
  storage.reset();
  EXPECT_EQ(tensor.getDouble(0), 1.5);
  EXPECT_EQ(Tensor::on(tensor.storage, 4, DType::I8, {2}).offset, 4);
}

TEST(TensorTest, SharedBytes) {
  Tensor whole = counting({4, 4});
  Tensor top = whole, bottom = whole;
  top.sizes[0] = bottom.sizes[0] = 2;
  bottom.offset = 8;
  EXPECT_TRUE(sharesBytes(whole, top));
  EXPECT_FALSE(sharesBytes(top, bottom));
  EXPECT_FALSE(sharesBytes(whole, counting({4, 4})));
  bottom.sizes[0] = 0;
  EXPECT_FALSE(sharesBytes(whole, bottom));
}

TEST(TensorTest, EqualBitsTellsSignsOfZeroAndShapes) {
  EXPECT_TRUE(equalBits(floats({2}, {1, kNan}), floats({2}, {1, kNan})));
  EXPECT_FALSE(equalBits(floats({1}, {0.0}), floats({1}, {-0.0})));
  EXPECT_FALSE(equalBits(floats({2}, {1, 1}), floats({1, 2}, {1, 1})));
  EXPECT_FALSE(equalBits(floats({1}, {1}), tensorOf(DType::F64, {1}, {1})));
  Tensor transposed = counting({2, 2});
  std::swap(transposed.strides[0], transposed.strides[1]);
  EXPECT_TRUE(equalBits(transposed, floats({2, 2}, {0, 2, 1, 3})));
  EXPECT_TRUE(equalBits(int64_t(3), int64_t(3)));
  EXPECT_FALSE(equalBits(int64_t(3), 3.0));
  EXPECT_FALSE(equalBits(0.0, -0.0));
  EXPECT_TRUE(equalBits(RuntimeValue(), RuntimeValue()));
  EXPECT_FALSE(equalBits(true, false));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device descriptions: the built-in ones make sense, rates by element type.

#include "cutback/Analysis/Device.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace cutback;

namespace {

TEST(DeviceTest, EveryBuiltInDeviceMakesSense) {
  for (const char *name : {"h200", "h100", "a100", "l4", "rtx4090", "cpu"}) {
    Device device;
    std::string error;
    ASSERT_TRUE(Device::load(name, device, error)) << error;
    EXPECT_EQ(device.name, name);
    EXPECT_GT(device.bandwidth, 0) << name;
    EXPECT_GT(device.launchPs, 1e5) << name;
    EXPECT_LT(device.launchPs, 1e8) << name;
    EXPECT_GT(device.l2Bytes, 1e6) << name;
    EXPECT_GE(device.matrix.f32, device.vector.f32) << name;
    EXPECT_GE(device.matrix.f16, device.matrix.f32) << name;
  }
}

TEST(DeviceTest, UnitsArePicoseconds) {
  Device device;
  std::string error;
  ASSERT_TRUE(Device::load("h100", device, error));
  EXPECT_DOUBLE_EQ(device.bandwidth, 3.35);
  EXPECT_DOUBLE_EQ(device.launchPs, 2e6);
  EXPECT_DOUBLE_EQ(device.vector.f32, 67);
}

TEST(DeviceTest, RatesGoByElementType) {
  mlir::MLIRContext context;
  Device::Rates rates{/*f64=*/1, /*f32=*/2, /*f16=*/4, /*bf16=*/0, /*f8=*/16};
  EXPECT_EQ(rates.of(mlir::Float64Type::get(&context)), 1);
  EXPECT_EQ(rates.of(mlir::Float32Type::get(&context)), 2);
  EXPECT_EQ(rates.of(mlir::Float16Type::get(&context)), 4);
  EXPECT_EQ(rates.of(mlir::Float8E4M3FNType::get(&context)), 16);
  // What the device has no rate for, and what is no float, runs as f32.
  EXPECT_EQ(rates.of(mlir::BFloat16Type::get(&context)), 2);
  EXPECT_EQ(rates.of(mlir::IntegerType::get(&context, 8)), 2);
  EXPECT_EQ(rates.of(mlir::IntegerType::get(&context, 64)), 2);
  EXPECT_EQ(rates.of(mlir::ComplexType::get(mlir::Float64Type::get(&context))),
            1);
}

TEST(DeviceTest, ADescriptionIsReadFromTheTextItself) {
  std::string text = R"({"name": "mine", "bandwidth_gb_s": 1000,)"
                     R"("matrix_tflop_s": {"f32": 2, "f16": 4},)"
                     R"("vector_tflop_s": {"f32": 1}})";
  Device device;
  std::string error;
  ASSERT_TRUE(Device::load(text, device, error)) << error;
  EXPECT_EQ(device.name, "mine");
  EXPECT_DOUBLE_EQ(device.bandwidth, 1);
  EXPECT_DOUBLE_EQ(device.matrix.f16, 4);
  EXPECT_EQ(Device::displayName(text), "mine");
  EXPECT_EQ(Device::displayName("h100"), "h100");
  // It needs no file, so it stays as it is.
  std::string same = text;
  EXPECT_TRUE(Device::embed(same, error));
  EXPECT_EQ(same, text);
  EXPECT_FALSE(Device::load("{", device, error));
  EXPECT_EQ(error, "the description of the device is not JSON: at byte 1: the "
                   "text ends inside an object");
}

TEST(DeviceTest, RatesThatAreNoneAreErrors) {
  Device device;
  std::string error;
  for (const char *rate : {"0", "-1", "1e-300", "1e400", "NaN", "Infinity",
                           "\"NaN\"", "null", "true", "[1]"}) {
    std::string text = R"({"bandwidth_gb_s": 1, "matrix_tflop_s": {"f32": )" +
                       std::string(rate) +
                       R"(}, "vector_tflop_s": {"f32": 1}})";
    EXPECT_FALSE(Device::load(text, device, error)) << rate;
    EXPECT_EQ(error, "device needs a positive 'f32' in 'matrix_tflop_s'")
        << rate;
  }
}

TEST(DeviceTest, AnUnknownNameIsAnError) {
  Device device;
  std::string error;
  EXPECT_FALSE(Device::load("tpu", device, error));
  EXPECT_EQ(error, "unknown device 'tpu'; there are a100, cpu, h100, h200, l4, "
                   "rtx4090, or give a .json file");
}

} // namespace

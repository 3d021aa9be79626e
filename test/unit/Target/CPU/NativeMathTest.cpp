// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of single precision against double: over all f32, in steps that a
// test has the time for (CUTBACK_EVERY=1: each of them). Errors are counted in
// units in the last place of the result. The loops of any processor give the
// bits of this one's.

#include "NativeFixture.h"

#include <cstdlib>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class NativeMathTest : public test::NativeFixture {
protected:
  static constexpr int64_t kBlock = 1 << 20;

  /// The largest error of `math.NAME`.
  void measure(const char *name, double (*exact)(double), double allowed) {
    std::string size = std::to_string(kBlock);
    std::string type = "memref<" + size + "xf32>";
    ASSERT_TRUE(compile("kernel.func @k(%x: " + type + ") to (%y: " + type +
                        ") schedule \"pointwise\" { kernel.nest (%i) in [" +
                        size + "] { %0 = kernel.load %x[%i] : " + type +
                        " %1 = math." + name +
                        " %0 : f32 kernel.store %1, "
                        "%y[%i] : " +
                        type + " } }"))
        << error;
    const char *text = std::getenv("CUTBACK_EVERY");
    uint64_t every = text ? std::strtoull(text, nullptr, 10) : 1021;
    Tensors arguments = {Tensor::zeros(DType::F32, {kBlock}),
                         Tensor::zeros(DType::F32, {kBlock})};
    Tensors others = {arguments[0], Tensor::zeros(DType::F32, {kBlock})};
    auto *x = reinterpret_cast<float *>(arguments[0].data());
    auto *y = reinterpret_cast<float *>(arguments[1].data());
    double worst = 0;
    float where = 0;
    for (uint64_t bits = 0; bits < uint64_t(1) << 32;) {
      for (int64_t i = 0; i < kBlock; ++i, bits += every) {
        auto narrow = static_cast<uint32_t>(bits);
        std::memcpy(&x[i], &narrow, sizeof narrow);
      }
      ASSERT_TRUE(succeeded(runner->run(function, arguments)));
      ASSERT_TRUE(succeeded(streamedRunner->run(function, others)));
      ASSERT_EQ(std::memcmp(arguments[1].data(), others[1].data(),
                            kBlock * sizeof(float)),
                0);
      for (int64_t i = 0; i < kBlock; ++i) {
        double wanted = exact(x[i]);
        float nearest = static_cast<float>(wanted);
        if (std::isnan(wanted) || !std::isfinite(nearest)) {
          ASSERT_TRUE(std::isnan(wanted) ? std::isnan(y[i]) : y[i] == nearest)
              << name << "(" << x[i] << ") is " << y[i];
          continue;
        }
        int exponent = 0;
        std::frexp(nearest, &exponent);
        double unit = std::ldexp(1.0, std::max(exponent, -125) - 24);
        double off = std::fabs(y[i] - wanted) / unit;
        if (!(off <= worst)) {
          worst = off;
          where = x[i];
        }
      }
    }
    printf("%s: %.3f ulp at %.9g\n", name, worst, where);
    EXPECT_LE(worst, allowed) << name << "(" << where << ")";
  }
};

TEST_F(NativeMathTest, FormulasAreAsCloseAsTheySay) {
  measure("exp", std::exp, 1.1);
  measure("log", std::log, 1.0);
  measure("tanh", std::tanh, 2.2);
  measure("erf", std::erf, 1.4);
  measure("sin", std::sin, 1.6);
  measure("cos", std::cos, 1.6);
}

TEST_F(NativeMathTest, RareFunctionsAreRoundedOnce) {
  measure("log1p", std::log1p, 0.501);
  measure("expm1", std::expm1, 0.501);
  measure("exp2", std::exp2, 0.501);
  measure("sqrt", std::sqrt, 0.5);
  measure("floor", std::floor, 0);
  measure("round", std::round, 0);
  measure("roundeven", std::nearbyint, 0);
}

} // namespace

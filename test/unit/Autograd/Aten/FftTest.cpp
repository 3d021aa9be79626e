// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(FftVjp, ComplexToComplex) {
  for (int normalization : {0, 1, 2})
    for (bool forward : {false, true})
      checkVjp([=](VjpCheck &c) {
        Value x = c.complexInput({2, 3});
        c.output(c.b.call("aten._fft_c2c.default",
                          {x, {1, 0}, normalization, forward}));
      });
}

TEST(FftVjp, RealToComplex) {
  for (int64_t length : {4, 5})
    for (bool onesided : {false, true})
      checkVjp([=](VjpCheck &c) {
        Value x = c.input({2, length, 3});
        c.output(c.b.call("aten._fft_r2c.default", {x, {0, 1}, 1, onesided}));
        c.output(c.b.call("aten._fft_r2c.default", {x, {-1}, 0, onesided}));
      });
}

TEST(FftVjp, ComplexToReal) {
  for (int64_t length : {1, 2, 4, 5})
    checkVjp([=](VjpCheck &c) {
      Value x = c.complexInput({length / 2 + 1, 2});
      c.output(c.b.call("aten._fft_c2r.default", {x, {0}, 2, length}));
    });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that are compiled once for each set of vectors, as calls are: those
// that this processor lacks are skipped.
#ifndef CUTBACK_TEST_UNIT_TARGET_CPU_PRECOMPILED_LEVELTEST_H
#define CUTBACK_TEST_UNIT_TARGET_CPU_PRECOMPILED_LEVELTEST_H

#include "gtest/gtest.h"

namespace cutback::test {

class LevelTest : public testing::Test {
protected:
  void SetUp() override {
#if defined(__AVX512BF16__)
    if (!__builtin_cpu_supports("avx512bf16"))
      GTEST_SKIP() << "this processor has no products of bf16";
#elif defined(__AVX512F__)
    if (!__builtin_cpu_supports("avx512vl"))
      GTEST_SKIP() << "this processor has no vectors of 512 bits";
#elif defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
      GTEST_SKIP() << "this processor has no vectors of 256 bits";
#endif
  }
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_TARGET_CPU_PRECOMPILED_LEVELTEST_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call tells the runtime of a wrong index.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_MARK_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_MARK_H

#include "Share.h"

#include "cutback_math.cuh"

#include <cstdint>

namespace {

/// What a call found wrong, as markIndex() and checked() say it.
struct Mark {
  alignas(8) int words[kMarkWords] = {};

  void tell(int64_t *cells) const {
    cells[0] = words[0];
    if (words[0] != kWrongIndex)
      return;
    const auto *told = reinterpret_cast<const long long *>(words + 2);
    cells[1] = told[0];
    cells[4] = told[1];
  }
};

} // namespace

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_MARK_H

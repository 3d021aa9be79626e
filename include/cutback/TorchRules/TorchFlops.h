// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUTBACK_TORCHRULES_TORCHFLOPS_H
#define CUTBACK_TORCHRULES_TORCHFLOPS_H

#include "cutback/Analysis/ValueSizes.h"

#include <optional>
#include <string>

namespace cutback {

/// What PyTorch's `FlopCounterMode` counts of an op of `view`, at least 1: its
/// memory budgets take that for the runtime. Products, convolutions and fused
/// attention count (not that of a CPU), all else is 1. A size that is not known
/// is 4096. Returns nothing, with `why`, where PyTorch counts and we do not, or
/// where it fails.
std::optional<int64_t> countTorchFlops(const GraphView &view,
                                       const ValueSizes &sizes, uint32_t op,
                                       std::string &why);

} // namespace cutback

#endif // CUTBACK_TORCHRULES_TORCHFLOPS_H

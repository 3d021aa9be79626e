// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From two halves to launches: what formKernels, and steps for all sizes, are
// made of.
#ifndef CUTBACK_LIB_LOWERING_FORMLAUNCHES_H
#define CUTBACK_LIB_LOWERING_FORMLAUNCHES_H

#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Lowering/FormKernels.h"

#include <array>

namespace cutback {

struct FormRequest {
  /// Halves with `joint.launches`.
  joint::PartitionOp partition;
  /// Of the halves, for the sizes that kernels are formed at.
  const StepView &program;
  /// Of `program`. Null: places are `?`.
  const MemoryPlan *memory = nullptr;
  /// The graph's, for the arena; null where sizes are known.
  mlir::DictionaryAttr symbols = nullptr;
  /// Take sizes to form kernels, and give the halves back without them. Such a
  /// step verifies when its kernels are for all sizes, too.
  bool staysOpen = false;
  /// By half, by launch: KernelSchedule as it is spelled.
  std::array<std::vector<std::string>, 2> schedules = {};
};

struct FormedStep {
  KernelModule formed;
  /// By half, by number in `joint.launches`; null where nothing runs.
  std::vector<kernel::LaunchOp> launches[2];
};

/// Copies, as formKernels does.
mlir::FailureOr<FormedStep> formLaunches(const FormRequest &request);

std::vector<std::string> schedulesOf(const SegmentKernels &segment);

} // namespace cutback

#endif // CUTBACK_LIB_LOWERING_FORMLAUNCHES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a plan, and the update behind them.
#ifndef CUTBACK_TOOLS_CUTBACK_STEPKERNELS_H
#define CUTBACK_TOOLS_CUTBACK_STEPKERNELS_H

#include "Session.h"

#include "cutback/Training/Update.h"

namespace cutback {

/// Kernels of a plan that has its halves, proved: with `forAllSizes` for all
/// sizes that are symbols without a value. Returns an exit code.
int formKernels(Session &session, const PartitionResult &plan, bool forAllSizes,
                std::optional<KernelModule> &kernels);

/// The same step for all sizes, beside kernels for those of the plan. None
/// where these are all that there are; none, with a note, where it is not one
/// step.
void formForAllSizes(Session &session, const PartitionResult &plan,
                     std::optional<KernelModule> &kernels);

/// How a note begins that says why.
inline constexpr const char *kUpdatedAfter =
    "parameters are updated after the backward, not inside of it: ";

/// Before a plan: puts the update of `optimizer` into `graph` where it is to be
/// inside of the backward, and may be. Says so in a note where not, if it was
/// asked for. Returns an exit code.
int placeUpdate(Session &session, joint::GraphOp graph,
                const Optimizer &optimizer);

/// The update behind `kernels`, those of `plan` of `graph`, and in the figures
/// of `plan`; `options` are those of the optimizer. Nothing is added where the
/// graph has it. False if an error was emitted.
bool addUpdate(PartitionResult &plan, KernelModule &kernels,
               joint::GraphOp graph, const Optimizer &optimizer,
               std::vector<std::string> options);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_STEPKERNELS_H

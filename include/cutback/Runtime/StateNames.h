// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the file of a training's state calls what is no tensor of the model:
// whoever wrote it, `cutback train` or a pipeline, the other one goes on.
#ifndef CUTBACK_RUNTIME_STATENAMES_H
#define CUTBACK_RUNTIME_STATENAMES_H

namespace cutback::state {

inline constexpr const char *kSteps = "training.steps"; ///< i64
inline constexpr const char *kSeed = "training.seed";   ///< i64
/// Parameters without weight decay, sorted, with line ends between: ui8.
inline constexpr const char *kUndecayedNames = "training.undecayed";
/// Where the loss is scaled: f64, i64, i64.
inline constexpr const char *kScale = "training.loss_scale";
inline constexpr const char *kGood = "training.good_steps";
inline constexpr const char *kSkipped = "training.skipped_steps";

} // namespace cutback::state

#endif // CUTBACK_RUNTIME_STATENAMES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the tensors of a step come from, and what its results are compared
// with.
#ifndef CUTBACK_PLANNER_STEPFILES_H
#define CUTBACK_PLANNER_STEPFILES_H

#include "cutback/Import/Weights.h"
#include "cutback/Interpreter/Compare.h"
#include "cutback/Interpreter/Step.h"

namespace cutback {

/// Weights of a model and tensors of files, under the names of a step.
struct StepFiles {
  /// Holds input.N, tangent.N, and whatever the other two do not.
  interpreter::TensorFile inputs;
  /// Holds param.NAME, buffer.NAME, const.NAME.
  interpreter::TensorFile weightTensors;
  /// Of a program; null if there is none.
  std::shared_ptr<WeightFile> weights;

  /// The tensor called `name`. Weights are looked up first: a buffer in a file
  /// of expected values is the one after the step. Read-only views.
  std::optional<interpreter::Tensor> find(llvm::StringRef name) const;

  /// Names in `inputs` that are none of the step's: of no argument, and of no
  /// result, which may stand beside the arguments. Weights and gradients are
  /// passed over: a file may have those of a whole model, tied ones under each
  /// of their names.
  std::vector<std::string> findStray(const interpreter::StepNames &names) const;
};

/// A tied parameter or buffer is one tensor with several names: adds its
/// gradient, or its new value, under those that `results` lacks, and what
/// `rounding` has of it. `weights` (may be null) knows which are tied.
void addTiedResults(std::vector<interpreter::NamedTensor> &results,
                    llvm::StringMap<double> &rounding,
                    const WeightFile *weights);

/// Every result in `expected` against `results`; arguments in `expected` are
/// passed over. A gradient computed from 16-bit floats counts as at least one
/// rounding of the largest gradient.
std::vector<interpreter::Difference>
compareResults(llvm::ArrayRef<interpreter::NamedTensor> results,
               const interpreter::TensorFile &expected,
               const interpreter::Tolerance &tolerance);

} // namespace cutback

#endif // CUTBACK_PLANNER_STEPFILES_H

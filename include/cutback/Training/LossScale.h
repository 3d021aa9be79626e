// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The factor of a loss whose gradients are 16-bit floats.
#ifndef CUTBACK_TRAINING_LOSSSCALE_H
#define CUTBACK_TRAINING_LOSSSCALE_H

#include "cutback/Interpreter/Tensor.h"
#include "cutback/Support/LossScale.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace cutback {

/// The greatest power of two of a floating type.
double greatestScale(interpreter::DType type);

/// Where the gradient of the loss goes into a backward: what a scale, and the
/// share of a micro-batch, multiply.
class LossSeeds {
public:
  /// An argument of the step that is one, with its value without a factor.
  void add(size_t argument, const interpreter::Tensor &seed);
  /// A step is given `value` for an argument, which may be a seed.
  void replace(size_t argument, const interpreter::Tensor &value);
  /// The greatest scale that all of them hold.
  double greatest() const;
  /// Hands over each, times `factor`, rounded once.
  void
  forEach(double factor,
          llvm::function_ref<void(size_t argument, const interpreter::Tensor &)>
              run) const;

private:
  std::map<size_t, interpreter::Tensor> seeds; ///< by argument
};

} // namespace cutback

#endif // CUTBACK_TRAINING_LOSSSCALE_H

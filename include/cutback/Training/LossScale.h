// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The factor of a loss whose gradients are 16-bit floats.
#ifndef CUTBACK_TRAINING_LOSSSCALE_H
#define CUTBACK_TRAINING_LOSSSCALE_H

#include "cutback/Interpreter/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <limits>
#include <map>
#include <optional>
#include <string>

namespace cutback {

/// Gradients are of the loss times `scale`, so that small ones are not zero in
/// 16 bits; the update divides them again. A step whose gradients are not
/// finite changes nothing and is counted. Rules and constants are those of
/// torch.amp.GradScaler: half after such a step, twice after 2,000 others.
struct LossScale {
  double scale = 65536;
  bool isDynamic = true;
  double greatest = std::numeric_limits<double>::infinity();
  int64_t good = 0;    ///< steps since it changed
  int64_t skipped = 0; ///< steps of the whole training

  /// Behind a step. An empty string, or why there is no use in going on.
  std::string count(bool isSkipped);
  /// No more than `most` from now on, which the type of the loss still holds.
  void limit(double most);

  /// "dynamic", or a number.
  static std::optional<LossScale> parse(llvm::StringRef text);
};

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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What updates parameters behind a step, and how fast: the choices of
// `--optimizer` and `--schedule`, without a graph.
#ifndef CUTBACK_TRAINING_OPTIMIZER_H
#define CUTBACK_TRAINING_OPTIMIZER_H

#include "cutback/Support/CommandLine.h"
#include "cutback/Support/LearningRate.h"

#include <optional>
#include <string>
#include <vector>

namespace cutback {

/// The option that asks for Optimizer::accumulates.
inline constexpr const char *kAccumulate = "accumulate";
/// And the one for Optimizer::place.
inline constexpr const char *kUpdate = "update";

/// In Optimizer::undecayed: all parameters of fewer than two dimensions, which
/// are biases and what norms multiply by. No parameter has such a name.
inline constexpr const char *kFewDimensions = "1d";

/// An update rule with its constants. Learning rate and number of the step are
/// none of them: they are tensors, so that one compiled update serves all
/// schedules. Formulas and defaults are those of torch.optim.
struct Optimizer {
  enum Kind { Sgd, AdamW } kind = AdamW;
  double weightDecay = 0;
  /// Parameters that do not decay: patterns of their names, or kFewDimensions.
  std::vector<std::string> undecayed;
  double momentum = 0; ///< of Sgd
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8; ///< of AdamW
  /// Gradients are scaled down to this norm together; 0: they are not.
  double clipNorm = 0;
  /// The loss is scaled (LossScale.h): gradients are divided by the scale
  /// first, and where one is not finite nothing is written.
  bool scalesLoss = false;
  /// The update takes sums of the gradients of several micro-batches.
  bool accumulates = false;
  /// Where parameters are updated: each as soon as its gradient is there
  /// (InsideUpdate.h), by default where that may be, or after all gradients.
  enum Place { Auto, Inside, After } place = Auto;

  /// Tensors that it keeps for a parameter: "exp_avg".
  std::vector<std::string> stateNames() const;
};

/// The options of a command that takes an optimizer.
std::vector<OptionSpec> optimizerOptions();
/// And of one that plans its segments for trainings to come: of these each step
/// may have another number of micro-batches, so there is only whether.
std::vector<OptionSpec> plannedOptimizerOptions();
/// Reads them; nothing where none is asked for. `error` is what is wrong with
/// the command line, or stays empty.
std::optional<Optimizer> readOptimizer(const CommandLine &line,
                                       std::string &error);

/// The options of `line` that are an optimizer's, as they are written; and an
/// optimizer from such a list.
std::vector<std::string> optimizerText(const CommandLine &line);
std::optional<Optimizer> readOptimizer(const std::vector<std::string> &options,
                                       std::string &error);

} // namespace cutback

#endif // CUTBACK_TRAINING_OPTIMIZER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Training steps one behind the other: forward, backward, update.
#ifndef CUTBACK_TRAINING_TRAINER_H
#define CUTBACK_TRAINING_TRAINER_H

#include "cutback/Interpreter/TensorFile.h"
#include "cutback/Planner/ReferenceStep.h"
#include "cutback/Training/LossScale.h"
#include "cutback/Training/Update.h"

#include <functional>
#include <memory>

namespace cutback {

/// What a micro-batch takes besides the state. A step has one of them, or
/// several with a trainer that accumulates: then it ends with the last one.
struct TrainingInputs {
  std::vector<interpreter::NamedTensor> tensors; ///< "input.0"
  double learningRate = 0;
  int64_t number = 0;     ///< of updates before it
  int64_t seed = 0;       ///< of what it draws
  double lossScale = 1;   ///< of an update that takes one
  int64_t microBatch = 0; ///< its number in the step
  double share = 1;       ///< of its loss in that of the step
  bool isLast = true;     ///< of the step: the update runs after it
};

struct TrainingResult {
  double loss = 0; ///< of the micro-batch, whatever its share
  std::optional<double> gradientNorm; ///< where an update clips
  /// A gradient was not finite, and the update has changed nothing.
  bool isSkipped = false;
};

/// A step with its state, which a run changes in place.
class Trainer {
public:
  virtual ~Trainer();
  /// Parameters, buffers, and what the optimizer keeps of them, under their
  /// names in files, sorted by these; contiguous.
  virtual std::vector<interpreter::NamedTensor> state() const = 0;
  /// Where steps have the state on a device: brings it, before state() is read.
  /// Returns an empty string, or what went wrong.
  virtual std::string fetchState() { return ""; }
  /// And puts it there, after what state() gave was written.
  virtual std::string placeState() { return ""; }
  /// Runs a micro-batch, and the update after the last one of a step. An empty
  /// string, or what went wrong; then the state is that of no step.
  virtual std::string run(const TrainingInputs &inputs,
                          TrainingResult &result) = 0;
  /// The loss of the forward alone, on `inputs`: nothing of the state changes,
  /// no hook runs. An empty string, or what went wrong.
  virtual std::string evaluate(const TrainingInputs &inputs, double &loss) = 0;
  /// Why an update that could be inside of the backward comes after it, as the
  /// end of a sentence; empty where there is no reason to give.
  virtual std::string whyUpdateAfter() const { return ""; }
  /// Names of parameters that are updated without weight decay, sorted.
  virtual std::vector<std::string> undecayed() const = 0;
  /// Of the arena; 0 without one.
  virtual int64_t arenaBytes() const = 0;
  /// The greatest scale that the loss takes; nothing where the update takes
  /// none.
  std::optional<double> greatestLossScale() const {
    return scalesLoss ? std::optional(seeds->greatest()) : std::nullopt;
  }
  /// Whether a step may have several micro-batches.
  bool accumulates() const { return addsUp; }

protected:
  /// Of a trainer that scales the loss or accumulates.
  std::optional<LossSeeds> seeds;
  bool scalesLoss = false, addsUp = false;
};

struct ModelTrainerOptions {
  PartitionOptions partition; ///< its symbols are those that are known
  Optimizer optimizer;
  /// Are told of each op or launch.
  std::vector<interpreter::OpObserver *> observers;
  /// Run the graphs op by op, without a plan.
  bool reference = false;
  /// By whom kernels are run, as in ReferenceOptions.
  decltype(ReferenceOptions::compileKernels) compileKernels;
  interpreter::RunHook hook = nullptr; ///< empty: no functions at hook points
};

/// Trains `graph` in this process; it must outlive the trainer and is changed
/// by planning it. `find` gives tensors for the first step, sizes of symbols
/// are theirs. Null after an error, which was emitted where it belongs.
std::unique_ptr<Trainer> makeModelTrainer(joint::GraphOp graph,
                                          interpreter::FindTensor find,
                                          const ModelTrainerOptions &options);

/// A training that can go on: how many steps are done, the seed, and the scale
/// of the loss where there is one.
struct TrainingPoint {
  int64_t steps = 0, seed = 0;
  std::optional<LossScale> scale;

  /// Steps that have changed parameters.
  int64_t updates() const { return steps - (scale ? scale->skipped : 0); }
};

/// The bytes of a safetensors file with the state of `trainer` at `point`.
/// Equal states give equal bytes. Behind steps fetchState() comes first.
std::string encodeState(const Trainer &trainer, const TrainingPoint &point);
/// Takes the state of `file` over. An empty string, or why it is none of this
/// trainer (then nothing is changed), or why steps do not have it.
std::string restoreState(const interpreter::TensorFile &file, Trainer &trainer,
                         TrainingPoint &point);

} // namespace cutback

#endif // CUTBACK_TRAINING_TRAINER_H

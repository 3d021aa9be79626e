// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One rank of a pipeline: its stages, its row of the schedule, a step.
#ifndef CUTBACK_RUNTIME_PIPELINE_RANK_H
#define CUTBACK_RUNTIME_PIPELINE_RANK_H

#include "cutback/Runtime/Pipeline/Exchange.h"
#include "cutback/Runtime/Pipeline/Measure.h"
#include "cutback/Runtime/Pipeline/StagePlan.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cutback::pipeline {

/// A tensor that is given: elements in row-major order, which stay there.
struct GivenTensor : ArtifactTensor {
  const char *bytes = nullptr;
};
/// By name; nothing if there is none.
using FindTensor =
    std::function<std::optional<GivenTensor>(const std::string &name)>;
/// The phase of a stage; null, with `error` set, if it cannot be opened.
using OpenPhase = std::function<std::unique_ptr<PhaseRunner>(
    int stage, PipelineStage::PhaseKind kind, StepError &error)>;

struct RankOptions {
  unsigned threads = 1; ///< that phases may use
  /// Of all that phases are given, which outlives the rank; null: the heap.
  BlockMemory *memory = nullptr;
  /// Steps end with update(): the phases of the optimizer are opened, and
  /// parameters are memory of the rank.
  bool isTraining = false;
  /// The micro-batches from this number on are those of Pipeline::smaller,
  /// whose phases `openSmaller` opens.
  int64_t firstSmaller = INT64_MAX;
  OpenPhase openSmaller;
  /// Waits for the ranks of all replicas that have the same stages, by
  /// replica; null: there is one pipeline. Micro-batches are numbered within a
  /// replica, but in StepNumbers and seeds over all of them. It outlives the
  /// rank.
  Waiter *replicas = nullptr;
  /// In some steps micro-batches run their forwards alone.
  bool mayEvaluate = false;
};

/// What of a micro-batch runs.
enum class Extent {
  All,
  Forward, ///< nothing is kept, and there are no gradients
  None,
};

/// How a step runs; all ranks have the same. Micro-batches are those of all
/// replicas, the first replica's first.
struct StepNumbers {
  int64_t seed = 0;     ///< of random ops in its first micro-batch
  double lossScale = 1; ///< the gradient of the loss is multiplied by it
  /// By micro-batch, what the gradient of its loss begins with, and its part of
  /// the loss; empty: 1 / m each.
  std::vector<double> shares;
  /// By micro-batch; empty: all of them run as the schedule says.
  std::vector<Extent> extents;
  /// Buffers that a forward writes are as before after it.
  bool keepsBuffers = false;
};

/// What an update takes besides gradients.
struct UpdateNumbers {
  double learningRate = 0;
  double step = 0;      ///< of those that changed parameters, from 1 on
  double lossScale = 1; ///< of the gradients
};
/// What all gradients of a pipeline have in common.
struct GradientNorms {
  std::map<std::string, double> squares; ///< by "param.NAME"
  bool isDouble = false;                 ///< their type, else f32
  double greatest = 0; ///< magnitude; not finite where a gradient is not
};

/// A tensor that a rank has after a step. `bytes` until the next step.
struct RankTensor : ArtifactTensor {
  const char *bytes = nullptr;
};

/// The seed of random ops in a micro-batch.
int64_t seedOfMicroBatch(int64_t seed, int64_t microBatch);

class Rank {
public:
  /// All of them outlive it. The schedule fits the pipeline, and checkActions()
  /// has found nothing; of its actions those that compute are run, in their
  /// order, and messages follow from them.
  Rank(const Pipeline &pipeline, const Schedule &schedule, Peers &peers,
       const RankOptions &options);
  ~Rank();

  /// Opens the phases that the schedule needs, and finds parameters and
  /// buffers. False, with `error` set, if that fails.
  bool open(const OpenPhase &openPhase, const FindTensor &weights,
            StepError &error);
  /// Checks that `inputs` has what this rank's stages take.
  bool checkInputs(const FindTensor &inputs, StepError &error) const;
  /// Sizes of all micro-batches of an input of a stage, side by side.
  std::vector<int64_t> sizesOfBatch(int stage, size_t input) const;

  /// Runs its row once. An empty string, or what went wrong. All ranks call it.
  /// Sums of gradients are made in the order in which this rank runs
  /// micro-batches of a stage, which is that of their numbers but for
  /// LoopedBFS; those of a parameter that several stages have are added in the
  /// order of stages, and all have the sum. Then sums, and means of outputs,
  /// are added over replicas, in their order: all replicas have them, the
  /// losses of all, and the written buffers of the first one.
  std::string step(const FindTensor &inputs);
  /// Of the next steps.
  void setNumbers(StepNumbers next) { numbers = std::move(next); }
  /// What a micro-batch, of all replicas, is of the loss of the step.
  double shareOf(int64_t number) const;
  /// After a step: what its own gradients add to the norms of all. A parameter
  /// of several stages is in that of the first. Whether there is an optimizer
  /// that asks: else nothing.
  std::string findNorms(double lossScale, GradientNorms &norms);
  /// Updates the parameters of its stages; `norm` and `greatest` are those of
  /// all gradients.
  std::string update(const UpdateNumbers &numbers, double norm,
                     double greatest);
  /// With an optimizer: parameters and buffers that it has, and what the
  /// optimizer keeps of them; of a replicated one on the rank of its first
  /// stage alone, with `isAll` on each. Memory that steps change.
  std::vector<RankTensor> state(bool isAll = false) const;
  /// Whether the update scales the loss, or clips.
  bool scalesLoss() const;
  bool clips() const;

  /// Whether the last error was of this rank alone.
  bool isOwnError() const { return isOwn; }

  /// After a step: losses of all micro-batches as bytes, in their order, those
  /// of the first replica first (of one that did not run none); empty on ranks
  /// that do not have them.
  const std::vector<std::string> &losses() const { return lossBytes; }
  /// Name, type and size of the loss, without a name on ranks that do not have
  /// it.
  const ArtifactTensor &lossTensor() const { return loss; }
  /// After a step, outside of a training: outputs, gradients (a replicated one
  /// on the rank of its first stage), written buffers.
  std::vector<RankTensor> results() const;
  /// After a step: outputs that are parts of the batch, those of all replicas
  /// to the first one, which also compares those that are equal. All ranks call
  /// it. An empty string, or what went wrong.
  std::string gatherOutputs();

  /// Of the last step.
  const MeasuredStep &actions() const { return measured; }
  /// Most bytes of slots and messages at a time; the arena of all phases, or
  /// those of each if they do not share one; sums of gradients and merged
  /// outputs.
  int64_t peakSlotBytes() const { return slotCount.peak; }
  int64_t arenaBytes() const { return arenaSize + ownArenas; }
  int64_t sumBytes() const { return sumCount.peak; }

private:
  struct SizedStage;
  struct Stage;
  struct MicroBatch;
  using Mode = StagePlan::Mode;

  bool openStage(int number, const OpenPhase &openPhase, StepError &error);
  bool openSize(Stage &stage, SizedStage &size,
                const std::vector<PipelineStage::PhaseKind> &wanted,
                const OpenPhase &openPhase, StepError &error);
  SizedStage &sizeOf(Stage &stage, int microBatch) const;
  int64_t elementsBefore(int64_t microBatch, int64_t larger,
                         int64_t smaller) const;
  std::pair<int64_t, int64_t> placeInRow(int microBatch,
                                         const ArtifactTensor &larger,
                                         const ArtifactTensor *smaller,
                                         int64_t dim) const;
  std::string describeBatch(int stage, size_t input) const;
  bool findKept(Stage &stage, const FindTensor &weights, StepError &error);
  bool checkStage(Stage &stage, StepError &error);
  std::string checkOrder(const Stage &stage) const;
  bool openUpdate(Stage &stage, const OpenPhase &openPhase, StepError &error);
  std::string runUpdate(Stage &stage, PhaseRunner &runner,
                        const std::map<std::string, double> &numbers,
                        const std::vector<char *> &results);
  void countArena(const PhaseRunner &runner);
  void shareArena();
  void divideMeans();
  std::vector<PipelineStage::PhaseKind> phasesOf(const Stage &stage,
                                                 ActionKind kind) const;
  Mode modeOf(const Stage &stage, int microBatch) const;
  using Message = std::pair<int, Exchange::Direction>; ///< its edge
  std::vector<Message> messagesOf(const Action &action) const;
  void postFor(const Action &action);
  std::string waitFor(const Action &action, std::vector<MeasuredWait> &waits);
  double seconds() const;
  std::string run(const Action &action);
  std::string runPhase(Stage &stage, int microBatch,
                       PipelineStage::PhaseKind kind);
  std::string collectReceives(Stage &stage, int microBatch);
  std::string collectTangents(Stage &stage, int microBatch);
  std::string gatherArguments(Stage &stage, int microBatch,
                              PipelineStage::PhaseKind kind,
                              std::vector<char *> &addresses);
  std::string runHere(Stage &stage, int microBatch,
                      PipelineStage::PhaseKind kind);
  BlockRef makeArgument(int microBatch, const ArtifactArgument &argument,
                        StagePlan::Argument::Kind kind);
  BlockRef sliceInput(Stage &stage, int input, int microBatch);
  std::string keepResult(Stage &stage, int microBatch,
                         const StagePlan::Result &use, const BlockRef &block);
  std::string addOutput(Stage &stage, int output, int microBatch, Block &block);
  void addGradient(Stage &stage, int parameter, const BlockRef &block);
  std::string addGradient(Stage &stage, int parameter, PhaseRunner &runner,
                          size_t result);
  bool isSumAlone(const StagePlan &plan, const StagePlan::Result &use,
                  Mode mode) const;
  int64_t allMicroBatches() const;
  int64_t firstMicroBatch() const;
  bool makesGradients(bool ofAll) const;
  void makeSums(Stage &stage);
  std::string addOverReplicas();
  std::string addOverReplicas(std::string_view dtype, Block &block);
  std::string gatherLosses();
  std::string shareBuffers();
  std::string addReplicas();
  std::string addReplica(const PipelineParameter &parameter, int64_t number);
  std::string gatherReplica(const PipelineParameter &parameter, int64_t tag,
                            BlockRef &sum);
  std::string waitForSum(const PipelineParameter &parameter, int rank,
                         int64_t tag, Block &block);
  BlockRef &sumOf(int64_t stage, const PipelineParameter &parameter);
  Extent extentOf(int microBatch) const;
  std::map<size_t, std::string> copyWritten(const Stage &stage) const;
  std::vector<std::pair<int, Action>> actionsOfStep() const;
  std::string fail(const std::string &what);

  const Pipeline &pipeline;
  const Schedule &schedule;
  Peers &peers;
  RankOptions options;
  BlockCount slotCount, sumCount, keptCount;
  Exchange exchange;
  std::vector<std::pair<int, Action>> actionsToRun; ///< with their steps
  std::map<int, std::unique_ptr<Stage>> stages;
  std::map<std::string, BlockRef> ownKept; ///< parameters and buffers, copied
  std::map<std::string, char *> kept;      ///< by name, all of them
  std::map<std::string, BlockRef> optimizerStates; ///< by name
  std::map<std::string, ArtifactTensor> optimizerTensors;
  std::set<std::string> updated; ///< names, while an update runs
  BlockRef arena;
  int64_t arenaSize = 0, ownArenas = 0;
  StepNumbers numbers;
  const FindTensor *inputs = nullptr;
  ArtifactTensor loss;
  std::vector<std::string> lossBytes;
  MeasuredStep measured;
  Waiter::Clock::time_point stepStart;
  bool isOwn = false;
};

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_RANK_H

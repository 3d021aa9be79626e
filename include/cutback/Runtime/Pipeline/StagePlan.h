// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each tensor of the phases of a stage is: where an argument comes from,
// where a result goes, and how long it is kept.
#ifndef CUTBACK_RUNTIME_PIPELINE_STAGEPLAN_H
#define CUTBACK_RUNTIME_PIPELINE_STAGEPLAN_H

#include "cutback/Runtime/Pipeline/PhaseRunner.h"
#include "cutback/Runtime/Pipeline/Pipeline.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace cutback::pipeline {

/// By kind; null for one that the stage has not.
using StagePhases =
    std::array<std::unique_ptr<PhaseRunner>, PipelineStage::kPhases>;

class StagePlan {
public:
  using PhaseKind = PipelineStage::PhaseKind;

  /// Which phases a micro-batch runs.
  enum Mode {
    Evaluation, ///< forward
    Whole,      ///< forward, backward
    Split,      ///< forward, input, weight
  };
  static constexpr int kModes = 3;
  /// Those of a mode, in their order.
  static const std::vector<PhaseKind> &phasesOf(Mode mode);

  struct Argument {
    enum Kind {
      Kept, ///< a parameter or a buffer: number in `kept`
      Slot, ///< number in `slots`
      LossTangent,
      Seed,  ///< of random ops
      Zeros, ///< before each run
      Tied,  ///< the memory of an earlier argument
    } kind = Kept;
    int at = -1;
  };
  /// All that a result is; numbers in the lists of the stage, -1 for none.
  struct Result {
    int slot = -1, send = -1, receive = -1, parameter = -1, output = -1;
    bool isLoss = false;
  };
  /// What a micro-batch keeps between its phases.
  struct Slot {
    enum Origin {
      Received,
      Input,      ///< a part of an input
      Tangent,    ///< of what it sent
      Made,       ///< by a phase
      BufferCopy, ///< a buffer as it was when the forward ran
    } origin = Made;
    int at = -1; ///< number in receives, inputs, sends, or `kept`
    std::string name;
    int64_t bytes = 0;
    /// By mode: which of its phases takes it last; -1 for none.
    std::array<int, kModes> lastUse = {-1, -1, -1};
  };
  struct Phase {
    std::vector<Argument> arguments;
    std::vector<Result> results;
  };

  /// Finds all that for stage `number`, of `pipeline.smaller` with `isSmaller`.
  /// An empty string, or what does not go together. Linear, but for look-ups by
  /// name.
  std::string make(const Pipeline &pipeline, int number,
                   const StagePhases &runners, bool isSmaller = false);
  /// Whether micro-batches can run in a mode: an empty string, or what no phase
  /// makes or takes, or two do.
  std::string check(Mode mode) const;
  /// Which mode has an action B: Whole if there is such a phase.
  Mode modeOfWhole() const { return hasWhole ? Whole : Split; }
  /// Which of the phases of a mode is the first that takes gradients of what
  /// was sent; -1 for none.
  int firstWithTangents(Mode mode) const;
  /// Whether a result is wanted by a phase or anybody else.
  bool isWanted(const Result &result, Mode mode) const;

  std::vector<ArtifactTensor> kept; ///< parameters, then buffers
  std::vector<bool> isWritten;      ///< of `kept`
  std::vector<Slot> slots;
  std::array<Phase, PipelineStage::kPhases> phases;

private:
  bool refuse(const std::string &what);
  void listSlots();
  int findSlot(const std::string &name) const;
  int addSlot(Slot slot);
  void bindArguments(PhaseKind kind, const PhaseRunner &runner);
  Argument bindArgument(PhaseKind kind, const ArtifactArgument &argument);
  Argument bindKept(PhaseKind kind, const ArtifactArgument &argument, int at);
  void bindResults(PhaseKind kind, const PhaseRunner &runner);
  Result bindResult(const ArtifactTensor &result, PhaseKind kind);
  void checkType(const ArtifactTensor &wanted, const ArtifactTensor &given);
  void noteUses();
  int countMakers(Mode mode, int Result::*member, int at) const;

  const Pipeline *pipeline = nullptr;
  const PipelineStage *stage = nullptr;
  int number = 0;
  bool hasWhole = false;
  std::string problem;
};

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_STAGEPLAN_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model cut into stages as data: what `split` writes to pipeline.json, and
// what ranks need to run it. No compiler in it.
#ifndef CUTBACK_RUNTIME_PIPELINE_PIPELINE_H
#define CUTBACK_RUNTIME_PIPELINE_PIPELINE_H

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/Executor.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cutback {

inline constexpr const char *kPipelineFile = "pipeline.json";
/// The argument that the gradient of the loss begins with: 1 / m, or the share
/// of the micro-batch.
inline constexpr const char *kLossTangent = "tangent.loss";
/// Before the name of a value that crosses ("value.V"): its gradient as an
/// argument of the maker's phases, and as a result of a user's.
inline constexpr const char *kTangentPrefix = "tangent.";
inline constexpr const char *kGradientPrefix = "grad.";

/// A value that a stage takes from an earlier one: argument `value.V` of its
/// forward (and of later phases that read it).
struct PipelineReceive : ArtifactTensor {
  int64_t from = 0; ///< the stage that makes it
  /// Whether a phase of this stage makes `grad.value.V`.
  bool hasGradient = false;
};

/// A value that later stages take: result `value.V` of its forward.
struct PipelineSend : ArtifactTensor {
  std::vector<int64_t> to; ///< the stages that take it, from the first to the
                           ///< last
  /// Whether a phase of this stage takes `tangent.value.V`: the sum of what
  /// those of `to` make that have a gradient, from the last to the first.
  bool hasGradient = false;
};

/// A tensor of --inputs that phases of a stage take. Sizes are those of one
/// micro-batch.
struct PipelineInput : ArtifactTensor {
  /// The dimension that micro-batches are parts of; -1: each has all of it.
  int64_t splitDim = 0;
  /// Each takes it times its share of the step, 1 / m: the gradient of a result
  /// that is a mean over micro-batches.
  bool isWeighted = false;
};

/// A parameter that phases of a stage take, `param.NAME`.
struct PipelineParameter : ArtifactTensor {
  /// The result that is its gradient, `grad.NAME`; empty if no phase of this
  /// stage makes one.
  std::string gradient;
  /// Other names that the model has for it: files may have it, and results have
  /// its gradient, under these too.
  std::vector<std::string> aliases;
  /// All stages that have it, in their order, if there are several: their
  /// gradients are added in this order. Empty if only this one has it.
  std::vector<int64_t> replicatedIn;
};

/// A buffer that phases of a stage take, `buffer.NAME`.
struct PipelineBuffer : ArtifactTensor {
  bool isWritten = false; ///< by the forward, once a micro-batch
};

/// A result of a stage for the user: `output.N`, or the gradient of an input.
/// Sizes are those of one micro-batch.
struct PipelineOutput : ArtifactTensor {
  enum Merge {
    Concatenate, ///< micro-batches along `dim`
    Mean,        ///< the sum times 1 / m
    Sum,         ///< in the order in which they run
    Equal,       ///< the same for each: that of the first
  } merge = Concatenate;
  int64_t dim = 0;
};

/// A phase of a stage.
struct PipelinePhase {
  std::string folder;      ///< in that of the pipeline; empty: there is none
  std::string checksum;    ///< of the manifest in it; empty: not known
  int64_t picoseconds = 0; ///< that it takes, by the model
  int64_t arenaBytes = 0;
  explicit operator bool() const { return !folder.empty(); }
};

struct PipelineStage {
  enum PhaseKind {
    Forward,
    Backward, ///< all of it
    Input,    ///< gradients of what it received: what earlier stages wait for
    Weight,   ///< the rest
    Norms,    ///< what the norm of all gradients is made of
    Update,   ///< a step of the optimizer
  };
  static constexpr int kPhases = 6;

  std::string name; ///< "stage0"
  std::vector<PipelineReceive> receives;
  std::vector<PipelineSend> sends;
  std::vector<PipelineInput> inputs;
  std::vector<PipelineParameter> parameters;
  std::vector<PipelineBuffer> buffers;
  std::vector<PipelineOutput> outputs;
  std::array<PipelinePhase, kPhases> phases;
  /// checksumOf() the file of weights in the stage's folder; empty: there is
  /// none.
  std::string weights;
  /// What a micro-batch keeps from the forward to the phases after it, and
  /// from `input` to `weight`, without parameters and buffers: names and bytes.
  std::vector<std::string> forwardSaves, inputSaves;
  int64_t forwardSavedBytes = 0, inputSavedBytes = 0;
  /// Bytes of what is in both lists: kept from the forward to `weight`.
  int64_t throughoutSavedBytes = 0;
};

/// "forward", "backward", "input", "weight", "norms", "update".
const char *nameOf(PipelineStage::PhaseKind kind);

struct Pipeline {
  /// Of the format: a runtime takes no other.
  static constexpr int64_t kVersion = 1;

  std::string model; ///< name, for messages
  /// Who runs the phases: "cpu", "cuda", "cuda-host", as of `compile`;
  /// "reference": the interpreter, which reads the IR in their folders.
  std::string target;
  std::vector<PipelineStage> stages;
  /// Where the number of micro-batches does not divide the batch: the stages
  /// again, for micro-batches with a row less (BatchSplit.h). Sizes, phases of
  /// a micro-batch and what those keep are others, all else is as in `stages`.
  std::vector<PipelineStage> smaller;
  /// Names of the parameters of all stages, each once, in the order of the
  /// model's: that in which the norm of all gradients adds them.
  std::vector<std::string> parameters;
  /// Of these, what the optimizer does not decay, sorted.
  std::vector<std::string> undecayed;
  /// The stage that makes the loss, under this name; -1 and empty: none.
  int64_t lossStage = -1;
  std::string loss;
  /// Of the manifest that it was read from.
  std::string checksum;

  /// What is wrong with it, or empty: stages that do not go together, values
  /// without a maker or with other sizes than its, numbers whose sums would be
  /// none (a time above 11 days, bytes above 2^50). Linear, up to sorting.
  std::string verify() const;
};

/// Before what is wrong with `smaller`, as the manifest has it.
inline constexpr const char *kUnderSmaller = "under 'smaller' ";

/// The JSON text of pipeline.json. The same pipeline gives the same bytes.
std::string writePipeline(const Pipeline &pipeline);
/// Reads and verifies it. An empty string, or what is wrong.
std::string readPipeline(std::string_view text, Pipeline &pipeline);

/// Reads the manifest in `folder`. False, with `error` set, if it is not there
/// or is refused.
bool readPipelineFolder(const std::string &folder, Pipeline &pipeline,
                        StepError &error);

} // namespace cutback

#endif // CUTBACK_RUNTIME_PIPELINE_PIPELINE_H

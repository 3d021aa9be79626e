// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs one phase of one stage of a pipeline: named tensors in, named
// tensors out.
#ifndef CUTBACK_RUNTIME_PIPELINE_PHASERUNNER_H
#define CUTBACK_RUNTIME_PIPELINE_PHASERUNNER_H

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/Executor.h"
#include "cutback/Runtime/Pipeline/Block.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cutback {

/// A phase is a graph without gradients of its own: `forward`, `backward`, or
/// `input` and `weight`, and `update`. It runs for many micro-batches, one at a
/// time, and keeps nothing from one run to the next: what a later phase needs
/// is a result, in memory of the caller.
class PhaseRunner {
public:
  virtual ~PhaseRunner();

  /// What it takes, in the order of run(): names, types, sizes, what an
  /// argument holds if it is not given, whether it is written. Names are those
  /// of files of tensors (`param.NAME`, `buffer.NAME`, `input.N`), and
  /// `value.V`, `tangent.value.V`, `tangent.loss`, `saved.K`. An argument that
  /// is `tied` to an earlier one is given the same memory.
  const std::vector<ArtifactArgument> &arguments() const { return taken; }
  /// What it makes, in the order of run(): `value.V`, `grad.value.V`,
  /// `saved.K`, `loss`, `output.N`, `grad.NAME`. Names are not empty.
  const std::vector<ArtifactTensor> &results() const { return made; }

  /// Bytes of the arena that a run needs; 0 where there is none.
  virtual int64_t arenaBytes() const = 0;
  /// Whether that is memory of a device, of this phase alone: setArena() has no
  /// effect.
  virtual bool hasOwnArena() const { return false; }
  /// Gives it memory for its arena: arenaBytes() of it, at a multiple of 256
  /// bytes, which outlives the runner. Phases of a rank, of which one runs at a
  /// time, share one. Without this it has its own.
  virtual void setArena(char *) {}
  /// How many threads of this machine a run may use, at least 1; results have
  /// the same bits whatever they are.
  virtual void setThreads(unsigned) {}

  /// The collectives that a run has.
  virtual std::vector<ArtifactCollective> collectives() const { return {}; }
  /// Who runs them, and outlives the runner.
  virtual void setCollectives(CollectiveRunner *) {}

  /// Runs it. `arguments`: an address each, at a multiple of 16 bytes, with
  /// bytesOf() it, elements in row-major order; those that are `isWritten`
  /// change. `results`: an address each, with room for bytesOf() it, for
  /// elements in row-major order; null for one that is not wanted. Returns an
  /// empty string, or what went wrong and where.
  virtual std::string run(const std::vector<char *> &arguments,
                          const std::vector<char *> &results) = 0;

  /// After a run, until the next one: a result that was not wanted there, to
  /// memory of the same kind. Gradients are added one by one so. An empty
  /// string, or what went wrong.
  virtual std::string read(size_t result, char *to) = 0;

protected:
  std::vector<ArtifactArgument> taken;
  std::vector<ArtifactTensor> made;
};

/// Where a phase for a GPU runs.
struct PhasePlace {
  int device = 0; ///< StepOptions::device
  /// That of all that run() is given, which the GPU reaches too; null: it is
  /// memory of this machine, copied there and back in each run, but for
  /// parameters, which stay.
  pipeline::BlockMemory *memory = nullptr;
  /// How often parameters were updated: then they are brought anew. Null: they
  /// never are.
  const int64_t *updates = nullptr;
};

/// Opens a folder that `compile --target=...` wrote: all segments of its step
/// in their order, or `update` alone if it has no other. `checksum`, unless
/// empty, is that of the manifest which must be there. Null, with `error` set,
/// if that fails.
std::unique_ptr<PhaseRunner> openPhase(const std::string &folder,
                                       std::string_view checksum,
                                       const PhasePlace &place,
                                       StepError &error);

} // namespace cutback

#endif // CUTBACK_RUNTIME_PIPELINE_PHASERUNNER_H

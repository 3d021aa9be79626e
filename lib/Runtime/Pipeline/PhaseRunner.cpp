// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase as a compiled folder. It is opened and checked as any step is, all
// segments of it run in one go, and results are read out of the arena, with
// their strides taken out, to memory of the caller: the arena belongs to the
// next micro-batch, or to another phase, as soon as a run is over.
//
// Weights that a folder carries are not read: whoever runs a pipeline gives
// each phase what it takes.
//
// A phase on a GPU takes parameters and buffers where they are, and copies the
// rest on the GPU, if the caller's memory is one that both reach. A result with
// strides, such as the gradient of a weight, is put in order by this machine.
// Other memory is copied there and back in each run, but for parameters, which
// stay until they are updated.

#include "cutback/Runtime/Pipeline/PhaseRunner.h"

#include "cutback/Runtime/StepFolder.h"

#include <new>

using namespace cutback;

PhaseRunner::~PhaseRunner() = default;

namespace {

class FolderPhase : public PhaseRunner {
public:
  static std::unique_ptr<PhaseRunner> open(const std::string &folder,
                                           std::string_view checksum,
                                           const PhasePlace &place,
                                           StepError &error);

  int64_t arenaBytes() const override { return artifact.arenaBytes; }
  void setArena(char *bytes) override { executor->setArena(bytes); }
  bool hasOwnArena() const override { return copiesArguments(); }
  void setThreads(unsigned count) override { executor->setThreads(count); }
  std::vector<ArtifactCollective> collectives() const override;
  void setCollectives(CollectiveRunner *runner) override {
    executor->setCollectives(runner);
  }
  std::string run(const std::vector<char *> &arguments,
                  const std::vector<char *> &results) override;
  std::string read(size_t result, char *to) override;

private:
  bool listTensors(const std::string &folder, StepError &error);
  /// Whether a device copies its arguments in each run, but for parameters,
  /// which it keeps: it does not reach the caller's memory.
  bool copiesArguments() const { return artifact.target == "cuda" && !memory; }
  std::string keepParameters(const std::vector<char *> &arguments);

  Artifact artifact;
  pipeline::BlockMemory *memory = nullptr; ///< PhasePlace::memory, of a GPU
  std::unique_ptr<Executor> executor;
  std::vector<size_t> segments; ///< that run
  std::vector<const ArtifactResult *> kept;
  std::vector<char *> last; ///< arguments of the last run
  /// By argument, from where a device has what it keeps, as of which update.
  std::vector<char *> keptFrom;
  const int64_t *updates = nullptr; ///< PhasePlace::updates
  int64_t keptAt = 0;
};

} // namespace

/// What goes in and comes out. False, with `error` set, for what no phase has.
bool FolderPhase::listTensors(const std::string &folder, StepError &error) {
  auto refuse = [&](const std::string &what) {
    error = {"'" + folder + "' is no phase of a pipeline: " + what,
             "split the model again: cutback split MODEL -o DIR"};
    return false;
  };
  if (!artifact.symbols.empty())
    return refuse("its sizes are those of its inputs");
  segments = artifact.stepSegments();
  if (segments.empty())
    for (size_t i = 0; i < artifact.segments.size(); ++i)
      segments.push_back(i);
  for (const ArtifactArgument &argument : artifact.arguments) {
    if (argument.name.empty() && argument.fill == ArtifactArgument::Required)
      return refuse("it takes an argument without a name");
    taken.push_back(argument);
  }
  for (const ArtifactResult &result : artifact.results) {
    if (result.name.empty())
      continue;
    kept.push_back(&result);
    made.push_back(result);
  }
  return true;
}

std::unique_ptr<PhaseRunner> FolderPhase::open(const std::string &folder,
                                               std::string_view checksum,
                                               const PhasePlace &place,
                                               StepError &error) {
  auto phase = std::make_unique<FolderPhase>();
  if (!readStepFolder(folder, phase->artifact, error) ||
      !phase->listTensors(folder, error))
    return nullptr;
  if (!checksum.empty() && phase->artifact.checksum != checksum) {
    error = {"'" + folder + "' is of another split than its pipeline.json",
             "copy all of the folder that `cutback split` wrote"};
    return nullptr;
  }
  StepOptions options;
  options.device = place.device;
  if (phase->artifact.target == "cuda")
    phase->memory = place.memory;
  phase->updates = place.updates;
  options.onDevice = options.givesArena = phase->memory != nullptr;
  phase->executor = openStep(folder, options, phase->artifact, error);
  if (!phase->executor)
    return nullptr;
  return phase;
}

/// Brings what a device keeps, unless it has it.
std::string FolderPhase::keepParameters(const std::vector<char *> &arguments) {
  if (!copiesArguments())
    return "";
  if (updates && *updates != keptAt) {
    keptFrom.clear();
    keptAt = *updates;
  }
  keptFrom.resize(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArtifactArgument &argument = taken[i];
    bool isKept = argument.name.rfind("param.", 0) == 0 && argument.tied < 0 &&
                  !argument.isWritten && !argument.isUpdated;
    if (!isKept || keptFrom[i] == arguments[i])
      continue;
    keptFrom[i] = arguments[i];
    if (std::string error = executor->keep(i, arguments[i]); !error.empty())
      return error;
  }
  return "";
}

std::vector<ArtifactCollective> FolderPhase::collectives() const {
  std::vector<ArtifactCollective> all;
  for (size_t segment : segments)
    for (const ArtifactLaunch &launch : artifact.segments[segment].launches)
      if (launch.collective)
        all.push_back(*launch.collective);
  return all;
}

std::string FolderPhase::run(const std::vector<char *> &arguments,
                             const std::vector<char *> &results) {
  last = arguments;
  std::string error = keepParameters(arguments);
  if (error.empty())
    error = executor->run(segments, arguments);
  for (size_t i = 0; i < kept.size() && error.empty(); ++i)
    if (results[i])
      error = read(i, results[i]);
  return error;
}

std::string FolderPhase::read(size_t number, char *to) {
  const ArtifactResult &result = *kept[number];
  if (!memory)
    return readResult(result, *executor, last, to);
  int64_t bytes = lyingBytes(result);
  if (bytes == 0)
    return "";
  if (isDense(result))
    return readLying(result, *executor, last, to);
  auto *lying = static_cast<char *>(memory->take(bytes));
  if (!lying)
    throw std::bad_alloc();
  std::string error = readLying(result, *executor, last, lying);
  if (error.empty())
    putInOrder(result, lying, to);
  memory->giveBack(lying, bytes);
  return error;
}

std::unique_ptr<PhaseRunner> cutback::openPhase(const std::string &folder,
                                                std::string_view checksum,
                                                const PhasePlace &place,
                                                StepError &error) {
  return FolderPhase::open(folder, checksum, place, error);
}

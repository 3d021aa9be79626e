// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a model to the folder of its stages:
//
//   1. a program of values, without markers; where it is cut
//   2. stages, each with its backward
//   3. of each stage a plan and its phases (SplitPlans.cpp)
//   4. of each phase what runs it: kernels, machine code
//   5. for micro-batches of two sizes: the same stages, cut at the same ops and
//      keeping the same values, for a row less
//
// The manifest says what crosses; weights of a stage are beside it.

#include "Splitter.h"

#include "StepKernels.h"
#include "StepSources.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Autograd/Activity.h"
#include "cutback/Dialect/Aten/Collectives.h"
#include "cutback/Dialect/Joint/Loss.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Pipelining/BatchSizes.h"
#include "cutback/Pipelining/FitStages.h"
#include "cutback/Pipelining/FixSizes.h"
#include "cutback/Pipelining/LossSpec.h"
#include "cutback/Pipelining/PlanStage.h"
#include "cutback/Pipelining/StageDevices.h"
#include "cutback/Pipelining/StageGraphs.h"
#include "cutback/Pipelining/StageOptions.h"
#include "cutback/Pipelining/UpdatePhases.h"
#include "cutback/Report/PartitionFiles.h"
#include "cutback/Runtime/Pipeline/PipelineCosts.h"
#include "cutback/Schedule/Check.h"
#include "cutback/Schedule/Generate.h"
#include "cutback/Support/Checksum.h"
#include "cutback/Support/Text.h"
#include "cutback/Training/Update.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace cutback {

int Splitter::setDevices(CutProgram &cut) {
  const std::vector<std::string> &devices = request.devices;
  if (devices.empty())
    return Done;
  if (devices.size() != 1 && devices.size() != cut.stages.size()) {
    session.error("--stage-devices names " +
                  formatCount(devices.size(), "device") + " for " +
                  formatCount(cut.stages.size(), "stage"));
    session.note("name one for each stage, or one with {stage} in it");
    return WrongUsage;
  }
  unsigned changed = 0;
  for (unsigned stage = 0; stage < cut.stages.size(); ++stage) {
    std::string device = devices[devices.size() == 1 ? 0 : stage];
    if (size_t place = device.find("{stage}"); place != std::string::npos)
      device.replace(place, 7, std::to_string(stage));
    changed += setDevice(cut.stages[stage], device);
  }
  if (changed)
    return Done;
  session.error("--stage-devices has no effect: no op of the model names a "
                "device, or all name that one");
  session.note("leave it out");
  return WrongUsage;
}

/// The result that is the loss, as --loss-output has it.
int Splitter::chooseLoss() {
  if (!request.lossOutput)
    return Done;
  joint::GraphOp graph = imported.graph;
  std::vector<std::string> results = interpreter::nameStep(graph).results;
  unsigned count = graph.getNumForwardResults();
  std::string all;
  for (unsigned i = 0; i < count; ++i)
    all += (i ? ", " : "") + results[i];
  std::string error;
  std::optional<unsigned> found =
      findLoss(*request.lossOutput, {results.data(), count}, error);
  if (found && !joint::isLossType(graph.getResultTypes()[*found])) {
    error = "output " + std::to_string(*found) + " is " +
            typeText(graph.getResultTypes()[*found]) +
            ", and a loss is a float of one element";
    found = std::nullopt;
  }
  if (!found) {
    session.error("--loss-output: " + error);
    session.note("the outputs of the model are " + all);
    return WrongInput;
  }
  facts.loss = results[*found];
  gradients.differentiate.lossOutputs = {*found};
  return Done;
}

/// --split-dim names inputs, and dimensions that they have.
int Splitter::checkSplitDims() const {
  joint::GraphOp graph = imported.graph;
  std::vector<std::string> names = interpreter::nameStep(graph).arguments;
  for (const auto &[name, dim] : request.splitDims) {
    auto found = llvm::find(names, name);
    if (found == names.end()) {
      session.error("--split-dim: the model has no '" + name + "'");
      std::string inputs;
      for (const std::string &one : names)
        if (StringRef(one).starts_with("input."))
          inputs += (inputs.empty() ? "" : ", ") + one;
      session.note("its inputs are " + inputs);
      return WrongInput;
    }
    Type type = graph.getArgumentTypes()[found - names.begin()];
    auto shaped = dyn_cast<RankedTensorType>(type);
    if (dim < 0 || (shaped && dim < shaped.getRank()))
      continue;
    session.error("--split-dim: '" + name + "' is " + typeText(type) +
                  ", which has no dimension " + std::to_string(dim));
    session.note("dimensions are counted from 0; none: each micro-batch takes "
                 "all of it");
    return WrongInput;
  }
  return Done;
}

/// Of the program, and of the smaller micro-batches of a copy of it.
int Splitter::fixAllSizes(OwningOpRef<ModuleOp> &copy) {
  joint::GraphOp graph = imported.graph;
  llvm::StringMap<int64_t> sizes = request.partition.symbols, fewer = sizes;
  if (request.batch) {
    program.batch = splitBatch(*request.batch, *request.microBatches);
    if (failed(fixRows(graph, request.splitDims, program.batch->rows, sizes)))
      return WrongInput;
    if (program.batch->larger < *request.microBatches) {
      copy = ModuleOp::create(graph.getLoc());
      joint::GraphOp other = graph.clone();
      copy->push_back(other);
      if (failed(fixRows(other, request.splitDims, program.batch->rows - 1,
                         fewer)) ||
          failed(fixSizes(other, fewer)))
        return WrongInput;
    }
  }
  return succeeded(fixSizes(graph, sizes)) ? Done : WrongInput;
}

/// Cuts a program, and differentiates its stages.
int Splitter::cutAt(joint::GraphOp graph, ArrayRef<unsigned> begins,
                    CutProgram &made) {
  FailureOr<CutProgram> cut = cutGraph(graph, begins, request.choice.cut);
  if (failed(cut))
    return WrongInput;
  made = std::move(*cut);
  if (int code = setDevices(made))
    return code;
  session.progress.step("making training graphs");
  return succeeded(differentiateStages(made, gradients)) ? Done : WrongInput;
}

int Splitter::cut() {
  joint::GraphOp graph = imported.graph;
  session.progress.step("cutting");
  OwningOpRef<ModuleOp> copy;
  if (graph.getOutput().getGradientOf().empty()) {
    if (failed(makeFunctional(graph, request.gradients.functionalizeRng)) ||
        failed(
            markGradientTargets(graph, request.gradients.differentiate.gradOf)))
      return WrongInput;
    if (int code = checkSplitDims())
      return code;
    if (int code = fixAllSizes(copy))
      return code;
  }
  gradients = request.gradients;
  gradients.differentiate.gradOf.clear(); // marked
  if (int code = chooseLoss())
    return code;
  auto merges =
      findMergeRules(graph, request.merges, request.splitDims, facts.loss);
  if (failed(merges))
    return WrongInput;
  facts.merges = std::move(*merges);
  PartitionOptions options = request.partition;
  options.symbols.clear(); // fixed
  FailureOr<std::vector<unsigned>> begins =
      findBegins(graph, request.choice, gradients, options);
  if (failed(begins))
    return WrongInput;
  if (int code = cutAt(graph, *begins, stages))
    return code;
  if (copy) {
    joint::GraphOp other = *copy->getOps<joint::GraphOp>().begin();
    if (failed(takeMarkers(other)))
      return WrongInput;
    if (int code = cutAt(other, *begins, smaller.emplace()))
      return code;
  }
  auto distributed = distributeOptions(stages, options);
  if (failed(distributed))
    return WrongInput;
  optionsOf = std::move(*distributed);
  return Done;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Machine code of a phase, in its folder.
int Splitter::compilePhase(const PartitionResult &plan, joint::GraphOp graph,
                           const std::string &folder, PipelinePhase &entry) {
  std::optional<KernelModule> kernels;
  if (int code = formKernels(session, plan, /*forAllSizes=*/false, kernels))
    return code;
  Artifact artifact;
  std::vector<TextFile> files;
  if (int code =
          emitTarget(session, graph, *kernels, request.target, artifact, files))
    return code;
  std::string manifest = writeManifest(artifact);
  Artifact read;
  (void)readManifest(manifest, read); // for its checksum
  entry.checksum = read.checksum;
  entry.arenaBytes = artifact.arenaBytes;
  for (auto &[name, data] : files)
    addFile(folder + "/" + name, std::move(data));
  addFile(folder + "/" + kManifestFile, std::move(manifest));
  return Done;
}

/// A graph as it is stored; `text` is that of a module of ours.
int Splitter::addGraph(const std::string &folder, std::string text) {
  if (!request.isBytecode) {
    addFile(folder + "/" + kPartitionFiles[0], std::move(text));
    return Done;
  }
  auto module = parseSourceString<ModuleOp>(text, &session.context);
  if (!module)
    return OurDefect;
  addFile(folder + "/" + kBytecodeFile, encodeModule(*module));
  return Done;
}

/// What the stage alone reads, of the model's tensors.
int Splitter::addWeights(PipelineStage &stage) {
  std::vector<interpreter::NamedTensor> tensors;
  auto add = [&](const std::string &name) {
    if (auto tensor = sources.find(name))
      tensors.emplace_back(name, std::move(*tensor));
  };
  for (const PipelineParameter &parameter : stage.parameters)
    add(parameter.name);
  for (const PipelineBuffer &buffer : stage.buffers)
    add(buffer.name);
  if (tensors.empty())
    return Done;
  std::string file = interpreter::encodeTensors(tensors);
  stage.weights = checksumOf(file);
  addFile(stage.name + "/" + kWeightsFile, std::move(file));
  return Done;
}

/// What the update of a stage does not decay: the state of a training says it.
int Splitter::addUndecayed(unsigned number) {
  auto updated = findParameters(stages.stages[number], optimizers[number]);
  if (failed(updated))
    return WrongInput;
  std::vector<std::string> &names = program.pipeline.undecayed;
  for (const UpdatedParameter &parameter : *updated)
    if (!parameter.decays && !llvm::is_contained(names, parameter.name))
      names.push_back(parameter.name);
  llvm::sort(names);
  return Done;
}

/// The phases of the optimizer.
int Splitter::addUpdate(unsigned number, PlannedStage &planned) {
  joint::GraphOp stage = stages.stages[number];
  if (!request.optimizer)
    return Done;
  if (optimizers.empty()) {
    auto distributed = distributeOptimizer(stages, *request.optimizer);
    if (failed(distributed))
      return WrongInput;
    optimizers = std::move(*distributed);
    for (const StageState &state : stages.state)
      if (StringRef(state.name).starts_with("param."))
        program.pipeline.parameters.push_back(state.name);
  }
  // An update without the sum would leave an old copy.
  for (const PipelineParameter &parameter : planned.stage.parameters)
    if (parameter.gradient.empty() && !parameter.replicatedIn.empty()) {
      session.error("'" + parameter.name + "' is read by several stages, and " +
                    planned.stage.name + " has no gradient of it");
      session.note("give --multi-use=" + parameter.name +
                   "=transmit, so that "
                   "one stage has and updates it");
      return WrongInput;
    }
  if (stage.getOutput().getGradientOf().empty())
    return Done;
  auto phases = makeUpdatePhases(stage, optimizers[number]);
  if (failed(phases))
    return WrongInput;
  if (int code = addUndecayed(number))
    return code;
  for (PhaseGraph &phase : *phases) {
    auto one = planPhase(std::move(phase), optionsOf[number], planned.stage);
    if (failed(one))
      return NoPlan;
    planned.phases.push_back(std::move(*one));
  }
  return Done;
}

/// Phases to folders in `base`.
int Splitter::emitPhases(PlannedStage &planned, const std::string &base) {
  for (PlannedPhase &phase : planned.phases) {
    std::string folder = base + "/" + phase.phase.name;
    if (int code = addGraph(folder, std::move(phase.text)))
      return code;
    if (request.target.target == "reference")
      continue;
    auto entry =
        llvm::find_if(planned.stage.phases, [&](const PipelinePhase &one) {
          return one.folder == folder;
        });
    if (int code = compilePhase(*phase.plan, phase.phase.graph, folder, *entry))
      return code;
  }
  return Done;
}

/// The stage for micro-batches with a row less. What does not depend on rows it
/// shares with `larger`.
int Splitter::addSmaller(unsigned number, const PlannedStage &larger) {
  StagePlanRequest wanted = requestAt(number, levels[number]);
  if (!request.isWhole)
    wanted.as = &larger.handed;
  FailureOr<PlannedStage> planned =
      cutback::planStage(*smaller, number, facts, wanted);
  if (failed(planned))
    return NoPlan;
  PipelineStage &stage = planned->stage;
  std::string next;
  if (std::string what = compareSizes(larger.stage, stage, next);
      !what.empty()) {
    session.error(what);
    session.note(next);
    return WrongInput;
  }
  std::string folder = stage.name + "/smaller";
  for (PipelinePhase &phase : stage.phases)
    if (phase)
      phase.folder.replace(0, stage.name.size(), folder);
  if (int code = emitPhases(*planned, folder))
    return code;
  for (auto kind : {PipelineStage::Norms, PipelineStage::Update})
    stage.phases[kind] = larger.stage.phases[kind];
  stage.weights = larger.stage.weights;
  program.pipeline.smaller.push_back(std::move(stage));
  return Done;
}

int Splitter::addStage(unsigned number) {
  PlannedStage &planned = *plans[{number, levels[number]}];
  OwningOpRef<ModuleOp> alone =
      ModuleOp::create(stages.stages[number].getLoc());
  alone->push_back(stages.stages[number]->clone());
  if (int code = addGraph(planned.stage.name, printModule(*alone)))
    return code;
  if (int code = addUpdate(number, planned))
    return code;
  if (int code = emitPhases(planned, planned.stage.name))
    return code;
  if (int code = addWeights(planned.stage))
    return code;
  if (int code = smaller ? addSmaller(number, planned) : Done)
    return code;
  if (makesResult(stages, number, facts.loss)) {
    program.pipeline.lossStage = number;
    program.pipeline.loss = facts.loss;
  }
  program.pipeline.stages.push_back(std::move(planned.stage));
  program.prices.push_back(kLevels[levels[number]]);
  return Done;
}

int Splitter::run() {
  if (!request.target.hasGroup && !aten::runsInOneProcess(imported.graph))
    return WrongInput;
  if (int code = cut())
    return code;
  if (int code = planStages())
    return code;
  sources.weights = imported.weights;
  if (int code = unpackWeights(session, sources))
    return code;
  program.pipeline.model = imported.graph.getSymName().str();
  program.pipeline.target = request.target.target;
  for (unsigned number = 0; number < stages.stages.size(); ++number)
    if (int code = addStage(number))
      return code;
  if (std::string error = program.pipeline.verify(); !error.empty()) {
    session.error("the pipeline " + error);
    return OurDefect;
  }
  if (fitted)
    for (const pipeline::RankResult &rank : fitted->simulation.ranks)
      program.peaks.push_back(rank.peakBytes);
  if (fitted)
    program.makespanPs = fitted->simulation.makespan;
  addFile(kPipelineFile, writePipeline(program.pipeline));
  return Done;
}

int splitModel(Session &session, ImportedModule &imported,
               const SplitRequest &request, SplitProgram &program) {
  return Splitter(session, imported, request, program).run();
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a model to the folder of its stages:
//
//   1. a program of values, without markers; where it is cut
//   2. stages, each with its backward
//   3. of each stage a plan, and its phases
//   4. of each phase what runs it: a plan of its own (it saves nothing, so that
//      is its launches and their arena), kernels, machine code
//
// The manifest says what crosses; weights of a stage are beside it.

#include "SplitProgram.h"

#include "PlanRun.h"
#include "StepKernels.h"
#include "StepSources.h"

#include "cutback/Autograd/Activity.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Pipelining/FixSizes.h"
#include "cutback/Pipelining/StageOptions.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Planner/ThreeWay.h"
#include "cutback/Report/PartitionFiles.h"
#include "cutback/Support/Checksum.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace cutback {

namespace {

class Splitter {
public:
  Splitter(Session &session, ImportedModule &imported,
           const SplitRequest &request, SplitProgram &program)
      : session(session), imported(imported), request(request),
        program(program) {}

  int run();

private:
  int cut();
  int addStage(unsigned number);
  int planStage(unsigned number, std::vector<PhaseGraph> &phases);
  PartitionOptions phaseOptions() const;
  int addPhase(PhaseGraph &phase, PipelineStage &stage);
  int compilePhase(const PartitionResult &plan, joint::GraphOp graph,
                   const std::string &folder, PipelinePhase &entry);
  void describeArguments(joint::GraphOp graph, unsigned number,
                         PipelineStage &stage);
  void nameState(PipelineParameter &parameter) const;
  void describeResults(joint::GraphOp graph, unsigned number,
                       PipelineStage &stage);
  int addWeights(const PipelineStage &stage);
  void addFile(const std::string &name, std::string data) {
    program.files.emplace_back(name, std::move(data));
  }
  PipelineOutput describeOutput(const std::string &name, Type type) const;

  Session &session;
  ImportedModule &imported;
  const SplitRequest &request;
  SplitProgram &program;
  CutProgram stages;
  TrainingGraphOptions gradients;          ///< of each stage
  std::vector<PartitionOptions> optionsOf; ///< by stage
  StepFiles sources;
};

} // namespace

/// What files say of a tensor of `type`, which has known sizes.
static ArtifactTensor describeTensor(const std::string &name, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  ArtifactTensor described;
  described.name = name;
  if (auto dtype = interpreter::dtypeOf(tensor.getElementType()))
    described.dtype = interpreter::nameOf(*dtype).str();
  described.sizes.assign(tensor.getShape().begin(), tensor.getShape().end());
  return described;
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

int Splitter::cut() {
  joint::GraphOp graph = imported.graph;
  session.progress.step("cutting");
  if (graph.getOutput().getGradientOf().empty() &&
      (failed(makeFunctional(graph, request.gradients.functionalizeRng)) ||
       failed(markGradientTargets(graph,
                                  request.gradients.differentiate.gradOf)) ||
       failed(fixSizes(graph, request.partition.symbols))))
    return WrongInput;
  gradients = request.gradients;
  gradients.differentiate.gradOf.clear(); // marked
  PartitionOptions options = request.partition;
  options.symbols.clear(); // fixed
  FailureOr<CutProgram> program =
      cutStages(graph, request.choice, gradients, options);
  if (failed(program))
    return WrongInput;
  stages = std::move(*program);
  session.progress.step("making training graphs");
  if (failed(differentiateStages(stages, gradients)))
    return WrongInput;
  auto distributed = distributeOptions(stages, options);
  if (failed(distributed))
    return WrongInput;
  optionsOf = std::move(*distributed);
  return Done;
}

//===----------------------------------------------------------------------===//
// The manifest
//===----------------------------------------------------------------------===//

PipelineOutput Splitter::describeOutput(const std::string &name,
                                        Type type) const {
  PipelineOutput output;
  static_cast<ArtifactTensor &>(output) = describeTensor(name, type);
  if (output.sizes.empty())
    output.merge = isa<FloatType>(cast<RankedTensorType>(type).getElementType())
                       ? PipelineOutput::Mean
                       : PipelineOutput::Equal;
  return output;
}

/// The stages that have a parameter, and its other names.
void Splitter::nameState(PipelineParameter &parameter) const {
  for (const StageState &state : stages.state) {
    if (state.name != parameter.name)
      continue;
    if (state.stages.size() > 1)
      parameter.replicatedIn.assign(state.stages.begin(), state.stages.end());
    parameter.aliases = state.aliases;
  }
  StringRef name = parameter.name;
  name.consume_front("param.");
  for (const std::string &tied :
       findTiedNames(imported.weights.get(), name))
    if (!llvm::is_contained(parameter.aliases, "param." + tied))
      parameter.aliases.push_back("param." + tied);
}

void Splitter::describeArguments(joint::GraphOp graph, unsigned number,
                                 PipelineStage &stage) {
  interpreter::StepNames names = interpreter::nameStep(graph);
  llvm::StringSet<> written;
  for (const auto &[name, argument] : names.written)
    written.insert(name);
  std::map<std::string, std::string> gradientOf;
  for (auto [i, argument] : llvm::enumerate(graph.getOutput().getGradientOf()))
    gradientOf[names.arguments[argument]] =
        names.results[graph.getNumForwardResults() + i];
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    const std::string &name = names.arguments[arg];
    if (name.empty() || !isa<RankedTensorType>(graph.getArgumentTypes()[arg]))
      continue;
    ArtifactTensor tensor = describeTensor(name, graph.getArgumentTypes()[arg]);
    auto gradient = gradientOf.find(name);
    StringRef text = name;
    if (text.starts_with("param.")) {
      PipelineParameter parameter;
      static_cast<ArtifactTensor &>(parameter) = tensor;
      if (gradient != gradientOf.end())
        parameter.gradient = gradient->second;
      nameState(parameter);
      stage.parameters.push_back(std::move(parameter));
    } else if (text.starts_with("buffer.") || text.starts_with("const.")) {
      PipelineBuffer buffer;
      static_cast<ArtifactTensor &>(buffer) = tensor;
      buffer.isWritten = written.contains(name);
      stage.buffers.push_back(std::move(buffer));
    } else if (text.starts_with("input.") ||
               (text.starts_with("tangent.") &&
                !text.starts_with("tangent.value."))) {
      PipelineInput input;
      static_cast<ArtifactTensor &>(input) = tensor;
      auto dim = request.splitDims.find(name);
      input.splitDim = dim != request.splitDims.end() ? dim->second
                       : tensor.sizes.empty()         ? -1
                                                      : 0;
      stage.inputs.push_back(std::move(input));
      if (gradient != gradientOf.end())
        stage.outputs.push_back(
            describeOutput(gradient->second, graph.getArgumentTypes()[arg]));
    } else if (text.starts_with(kValuePrefix)) {
      PipelineReceive receive;
      static_cast<ArtifactTensor &>(receive) = tensor;
      receive.hasGradient = gradient != gradientOf.end();
      for (const CrossingValue &value : stages.values)
        if (name == kValuePrefix.str() + value.name)
          receive.from = value.maker;
      stage.receives.push_back(std::move(receive));
    }
  }
  (void)number;
}

void Splitter::describeResults(joint::GraphOp graph, unsigned number,
                               PipelineStage &stage) {
  interpreter::StepNames names = interpreter::nameStep(graph);
  for (unsigned i = 0; i < graph.getNumForwardResults(); ++i) {
    const std::string &name = names.results[i];
    Type type = graph.getResultTypes()[i];
    if (name == "loss") {
      program.pipeline.lossStage = number;
      program.pipeline.loss = name;
      continue;
    }
    if (!StringRef(name).starts_with(kValuePrefix)) {
      stage.outputs.push_back(describeOutput(name, type));
      continue;
    }
    PipelineSend send;
    static_cast<ArtifactTensor &>(send) = describeTensor(name, type);
    for (const CrossingValue &value : stages.values)
      if (name == kValuePrefix.str() + value.name) {
        send.to.assign(value.users.begin(), value.users.end());
        send.hasGradient = value.hasGradient;
      }
    stage.sends.push_back(std::move(send));
  }
}

/// Calls `run(name, bytes)` for what a phase takes of the micro-batch,
/// parameters and gradients aside. What arrives after the phase before is left
/// out with `isEarlier`.
static void
forEachTaken(joint::GraphOp graph, bool isEarlier,
             llvm::function_ref<void(const std::string &, int64_t)> run) {
  interpreter::StepNames names = interpreter::nameStep(graph);
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    StringRef name = names.arguments[arg];
    bool isOutside = name.empty() || name.starts_with("param.") ||
                     name.starts_with("buffer.") || name.starts_with("const.");
    if (isOutside || (isEarlier && name.starts_with(kTangentPrefix)))
      continue;
    run(name.str(),
        bytesOf(describeTensor(name.str(), graph.getArgumentTypes()[arg])));
  }
}

/// What is kept between phases, with its bytes.
static void noteSaved(const std::vector<PhaseGraph> &phases,
                      PipelineStage &stage) {
  auto note = [](std::vector<std::string> &names, const std::string &name) {
    bool isNew = !llvm::is_contained(names, name);
    if (isNew)
      names.push_back(name);
    return isNew;
  };
  for (const PhaseGraph &phase : phases)
    if (phase.name == "backward")
      forEachTaken(phase.graph, /*isEarlier=*/true,
                   [&](const std::string &name, int64_t bytes) {
                     if (note(stage.forwardSaves, name))
                       stage.forwardSavedBytes += bytes;
                   });
  for (const PhaseGraph &phase : phases)
    if (phase.name == "weight")
      forEachTaken(phase.graph, /*isEarlier=*/false,
                   [&](const std::string &name, int64_t bytes) {
                     if (!note(stage.inputSaves, name))
                       return;
                     stage.inputSavedBytes += bytes;
                     if (llvm::is_contained(stage.forwardSaves, name))
                       stage.throughoutSavedBytes += bytes;
                   });
}

//===----------------------------------------------------------------------===//
// Phases
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
  if (std::string error = readManifest(manifest, read); !error.empty()) {
    session.error("the manifest of a phase is refused: " + error);
    return OurDefect;
  }
  entry.checksum = read.checksum;
  entry.arenaBytes = artifact.arenaBytes;
  for (auto &[name, data] : files)
    addFile(folder + "/" + name, std::move(data));
  addFile(folder + "/" + kManifestFile, std::move(manifest));
  return Done;
}

/// Of a graph that has nothing to save: its launches in an arena.
PartitionOptions Splitter::phaseOptions() const {
  PartitionOptions options = request.partition;
  options.policies.clear();
  options.checkpoint.clear();
  options.checkpointPolicies.clear();
  options.symbols.clear();
  options.mayLackGradients = true;
  options.strategy = Strategy::Eager;
  options.bytePricePs = 0;
  options.withinTorchPeak = options.figures = false;
  options.memory.emplace();
  return options;
}

int Splitter::addPhase(PhaseGraph &phase, PipelineStage &stage) {
  std::string folder = stage.name + "/" + phase.name;
  addFile(folder + "/" + kPartitionFiles[0], printModule(*phase.module));
  auto plan = planStep(phase.graph, phaseOptions());
  if (failed(plan))
    return NoPlan;
  PipelineStage::PhaseKind kind = PipelineStage::Forward;
  for (int k = 0; k < PipelineStage::kPhases; ++k)
    if (phase.name == nameOf(static_cast<PipelineStage::PhaseKind>(k)))
      kind = static_cast<PipelineStage::PhaseKind>(k);
  PipelinePhase &entry = stage.phases[kind];
  entry.folder = folder;
  if ((*plan)->kernelPlan)
    entry.picoseconds = static_cast<int64_t>((*plan)->kernelPlan->ps());
  if ((*plan)->memory)
    entry.arenaBytes = (*plan)->memory->arenaBytes();
  if (request.target.target == "reference")
    return Done;
  return compilePhase(**plan, phase.graph, folder, entry);
}

/// What the stage alone reads, of the model's tensors.
int Splitter::addWeights(const PipelineStage &stage) {
  std::vector<interpreter::NamedTensor> tensors;
  auto add = [&](const std::string &name) {
    if (auto tensor = sources.find(name))
      tensors.emplace_back(name, std::move(*tensor));
  };
  for (const PipelineParameter &parameter : stage.parameters)
    add(parameter.name);
  for (const PipelineBuffer &buffer : stage.buffers)
    add(buffer.name);
  if (!tensors.empty())
    addFile(stage.name + "/" + kWeightsFile,
            interpreter::encodeTensors(tensors));
  return Done;
}

int Splitter::planStage(unsigned number, std::vector<PhaseGraph> &phases) {
  joint::GraphOp graph = stages.stages[number];
  session.progress.step("planning stages");
  FailureOr<std::vector<PhaseGraph>> made;
  bool isForward = graph.getOutput().getGradientOf().empty();
  if (isForward || request.isWhole) {
    PartitionOptions options = isForward ? phaseOptions() : optionsOf[number];
    options.memory.emplace();
    options.figures = false;
    auto plan = planStep(graph, options);
    if (failed(plan))
      return inputAllowsPlan(graph, options) ? NoPlan : WrongInput;
    made = makePhases(graph, (*plan)->partition);
  } else {
    ThreeWayOptions options;
    options.partition = optionsOf[number];
    options.toInputBytePs = options.toWeightBytePs =
        optionsOf[number].bytePricePs;
    FailureOr<ThreeWayPartition> plan = partitionThreeWay(graph, options);
    if (failed(plan))
      return inputAllowsPlan(graph, options.partition) ? NoPlan : WrongInput;
    made = makePhases(graph, plan->functions);
  }
  if (failed(made))
    return NoPlan;
  phases = std::move(*made);
  return Done;
}

int Splitter::addStage(unsigned number) {
  joint::GraphOp graph = stages.stages[number];
  PipelineStage stage;
  stage.name = "stage" + std::to_string(number);
  OwningOpRef<ModuleOp> alone = ModuleOp::create(graph.getLoc());
  alone->push_back(graph->clone());
  addFile(stage.name + "/" + kPartitionFiles[0], printModule(*alone));
  std::vector<PhaseGraph> phases;
  if (int code = planStage(number, phases))
    return code;
  describeArguments(graph, number, stage);
  describeResults(graph, number, stage);
  noteSaved(phases, stage);
  for (PhaseGraph &phase : phases)
    if (int code = addPhase(phase, stage))
      return code;
  if (int code = addWeights(stage))
    return code;
  program.pipeline.stages.push_back(std::move(stage));
  return Done;
}

int Splitter::run() {
  if (int code = cut())
    return code;
  sources.weights = imported.weights;
  if (int code = unpackWeights(session, sources))
    return code;
  program.pipeline.model = imported.graph.getSymName().str();
  program.pipeline.target = request.target.target;
  for (unsigned stage = 0; stage < stages.stages.size(); ++stage)
    if (int code = addStage(stage))
      return code;
  if (std::string error = program.pipeline.verify(); !error.empty()) {
    session.error("the pipeline " + error);
    return OurDefect;
  }
  addFile(kPipelineFile, writePipeline(program.pipeline));
  return Done;
}

int splitModel(Session &session, ImportedModule &imported,
               const SplitRequest &request, SplitProgram &program) {
  return Splitter(session, imported, request, program).run();
}

std::string describeSplit(const SplitProgram &program) {
  using T = TextTable;
  T table({T::Left, T::Right, T::Right, T::Right, T::Right, T::Right});
  table.add({"stage", "parameters", "receives", "sends", "kept", "ms"});
  for (const PipelineStage &stage : program.pipeline.stages) {
    int64_t received = 0, sent = 0, ps = 0;
    for (const PipelineReceive &value : stage.receives)
      received += bytesOf(value);
    for (const PipelineSend &value : stage.sends)
      sent += bytesOf(value);
    for (auto kind : {PipelineStage::Forward, PipelineStage::Backward})
      ps += stage.phases[kind].picoseconds;
    table.add({stage.name, std::to_string(stage.parameters.size()),
               formatBytes(received), formatBytes(sent),
               formatBytes(stage.forwardSavedBytes),
               formatFixed(static_cast<double>(ps) * 1e-9, 3)});
  }
  return table.str(0);
}

} // namespace cutback

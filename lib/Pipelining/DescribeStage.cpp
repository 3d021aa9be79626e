// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the graph of a stage to what the manifest says of it. Names in files say
// what a tensor is for: `param.`, `buffer.` and `const.` are kept, `value.`
// crosses, all else is given for each micro-batch.
//
// What phases keep for each other is counted once a name, whichever of them
// take it: a rank has one memory for it. Linear.

#include "cutback/Pipelining/DescribeStage.h"

#include "cutback/Interpreter/Step.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cutback;

namespace {

class StageDescriber {
public:
  StageDescriber(const CutProgram &program, unsigned number,
                 const StageFacts &facts)
      : program(program), number(number), facts(facts),
        graph(program.stages[number]), names(interpreter::nameStep(graph)) {
    for (auto [i, argument] :
         llvm::enumerate(graph.getOutput().getGradientOf()))
      gradientOf[names.arguments[argument]] =
          names.results[graph.getNumForwardResults() + i];
  }

  PipelineStage run() &&;

private:
  void addArguments();
  void addResults();
  void addState(const ArtifactTensor &tensor, bool isWritten);
  void addInput(const ArtifactTensor &tensor, Type type);
  void splitTangent(PipelineInput &input, Type type) const;
  void addReceived(const ArtifactTensor &tensor);
  void nameState(PipelineParameter &parameter) const;

  const CutProgram &program;
  unsigned number;
  const StageFacts &facts;
  joint::GraphOp graph;
  interpreter::StepNames names;
  llvm::StringMap<std::string> gradientOf; ///< by argument
  PipelineStage stage;
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

/// How an output called `name` merges.
static MergeRule ruleOf(const StageFacts &facts, const std::string &name,
                        Type type) {
  auto found = facts.merges.find(name);
  if (found != facts.merges.end())
    return found->second;
  auto tensor = cast<RankedTensorType>(type);
  MergeRule rule;
  if (tensor.getRank() == 0)
    rule.merge = isa<FloatType>(tensor.getElementType())
                     ? PipelineOutput::Mean
                     : PipelineOutput::Equal;
  return rule;
}

static PipelineOutput describeOutput(const std::string &name, Type type,
                                     const MergeRule &rule) {
  PipelineOutput output;
  static_cast<ArtifactTensor &>(output) = describeTensor(name, type);
  output.merge = rule.merge;
  output.dim = rule.dim;
  return output;
}

/// The stages that have a parameter, and its other names.
void StageDescriber::nameState(PipelineParameter &parameter) const {
  for (const StageState &state : program.state) {
    if (state.name != parameter.name)
      continue;
    if (state.stages.size() > 1)
      parameter.replicatedIn.assign(state.stages.begin(), state.stages.end());
    parameter.aliases = state.aliases;
  }
  StringRef name = parameter.name;
  name.consume_front("param.");
  if (!facts.tiedNames)
    return;
  for (const std::string &tied : facts.tiedNames(name))
    if (!llvm::is_contained(parameter.aliases, "param." + tied))
      parameter.aliases.push_back("param." + tied);
}

void StageDescriber::addState(const ArtifactTensor &tensor, bool isWritten) {
  StringRef name = tensor.name;
  if (!name.starts_with("param.")) {
    PipelineBuffer &buffer = stage.buffers.emplace_back();
    static_cast<ArtifactTensor &>(buffer) = tensor;
    buffer.isWritten = isWritten;
    return;
  }
  PipelineParameter &parameter = stage.parameters.emplace_back();
  static_cast<ArtifactTensor &>(parameter) = tensor;
  parameter.gradient = gradientOf.lookup(name);
  nameState(parameter);
}

/// What each micro-batch has of the gradient of an output: of one that is
/// joined its part; of a mean all of it, times what the micro-batch is of that,
/// and so of one that is equal for all, which counts once; of a sum all of it.
void StageDescriber::splitTangent(PipelineInput &input, Type type) const {
  StringRef number = input.name;
  number.consume_front(kTangentPrefix);
  MergeRule rule = ruleOf(facts, "output." + number.str(), type);
  bool isJoined = rule.merge == PipelineOutput::Concatenate;
  input.splitDim = isJoined ? rule.dim : -1;
  input.isWeighted = !isJoined && rule.merge != PipelineOutput::Sum;
}

/// The gradient of an input is joined as the input is split; of one that each
/// micro-batch has it is the sum.
void StageDescriber::addInput(const ArtifactTensor &tensor, Type type) {
  PipelineInput &input = stage.inputs.emplace_back();
  static_cast<ArtifactTensor &>(input) = tensor;
  auto dim = facts.splitDims.find(tensor.name);
  input.splitDim = dim != facts.splitDims.end() ? dim->second
                   : tensor.sizes.empty()       ? -1
                                                : 0;
  if (StringRef(tensor.name).starts_with(kTangentPrefix))
    splitTangent(input, type);
  MergeRule merge;
  if (input.splitDim < 0)
    merge.merge = PipelineOutput::Sum;
  else
    merge.dim = input.splitDim;
  if (auto gradient = gradientOf.find(tensor.name);
      gradient != gradientOf.end())
    stage.outputs.push_back(describeOutput(gradient->second, type, merge));
}

void StageDescriber::addReceived(const ArtifactTensor &tensor) {
  PipelineReceive &receive = stage.receives.emplace_back();
  static_cast<ArtifactTensor &>(receive) = tensor;
  receive.hasGradient = gradientOf.contains(tensor.name);
  for (const CrossingValue &value : program.values)
    if (tensor.name == kValuePrefix.str() + value.name)
      receive.from = value.maker;
}

void StageDescriber::addArguments() {
  llvm::StringSet<> written;
  for (const auto &[name, argument] : names.written)
    written.insert(name);
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    const std::string &name = names.arguments[arg];
    Type type = graph.getArgumentTypes()[arg];
    if (name.empty() || !isa<RankedTensorType>(type))
      continue;
    ArtifactTensor tensor = describeTensor(name, type);
    StringRef text = name;
    if (text.starts_with("param.") || text.starts_with("buffer.") ||
        text.starts_with("const."))
      addState(tensor, written.contains(name));
    else if (text.starts_with(kValuePrefix))
      addReceived(tensor);
    else if (!text.starts_with(kTangentPrefix + kValuePrefix.str()))
      addInput(tensor, type);
  }
}

void StageDescriber::addResults() {
  for (unsigned i = 0; i < graph.getNumForwardResults(); ++i) {
    const std::string &name = names.results[i];
    Type type = graph.getResultTypes()[i];
    if (name == facts.loss)
      continue;
    if (!StringRef(name).starts_with(kValuePrefix)) {
      stage.outputs.push_back(
          describeOutput(name, type, ruleOf(facts, name, type)));
      continue;
    }
    PipelineSend &send = stage.sends.emplace_back();
    static_cast<ArtifactTensor &>(send) = describeTensor(name, type);
    for (const CrossingValue &value : program.values)
      if (name == kValuePrefix.str() + value.name) {
        send.to.assign(value.users.begin(), value.users.end());
        send.hasGradient = value.hasGradient;
      }
  }
}

PipelineStage StageDescriber::run() && {
  stage.name = "stage" + std::to_string(number);
  addArguments();
  addResults();
  return std::move(stage);
}

PipelineStage cutback::describeStage(const CutProgram &program, unsigned number,
                                     const StageFacts &facts) {
  return StageDescriber(program, number, facts).run();
}

bool cutback::makesResult(const CutProgram &program, unsigned number,
                          StringRef name) {
  joint::GraphOp graph = program.stages[number];
  std::vector<std::string> results = interpreter::nameStep(graph).results;
  results.resize(graph.getNumForwardResults());
  return llvm::is_contained(results, name);
}

//===----------------------------------------------------------------------===//
// What phases keep
//===----------------------------------------------------------------------===//

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

void cutback::describeSaved(const std::vector<PhaseGraph> &phases,
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

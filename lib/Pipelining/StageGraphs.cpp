// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward of stages. Each is differentiated by itself, as if its results
// were those of a program: PyTorch's engine runs the ops of a stage in the same
// order alone and as a part of the whole, because it goes by their numbers,
// and the first gradient that reaches what a stage sends is that of the last
// user. Gradients of several users are added by whoever runs the stages, from
// the last user to the first, so that all sums have the order of the whole
// program, but where a stage in the middle reads a value several times.

#include "cutback/Pipelining/StageGraphs.h"

#include "cutback/Autograd/Activity.h"
#include "cutback/Interpreter/Step.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// The names of the results of a stage.
static SmallVector<StringRef> resultNames(GraphOp stage) {
  SmallVector<StringRef> names;
  for (auto name : stage->getAttrOfType<ArrayAttr>(interpreter::kResultNames)
                       .getAsRange<StringAttr>())
    names.push_back(name.getValue());
  return names;
}

namespace {

class StageDifferentiator {
public:
  StageDifferentiator(CutProgram &program, const TrainingGraphOptions &options)
      : program(program), options(options) {
    for (auto [i, value] : llvm::enumerate(program.values))
      numberOf[(kValuePrefix + value.name).str()] = i;
  }

  LogicalResult run();

private:
  bool isLoss(StringRef name) const;
  LogicalResult differentiateStage(unsigned stage);
  void noteGradients(GraphOp stage);

  CutProgram &program;
  const TrainingGraphOptions &options;
  llvm::StringMap<size_t> numberOf;
  bool hasLoss = false;
  std::vector<uint8_t> comesBack; ///< by crossing value
};

} // namespace

bool StageDifferentiator::isLoss(StringRef name) const {
  const std::vector<unsigned> &chosen =
      options.differentiate.lossOutputs;
  if (chosen.empty())
    return name == "loss" || (!hasLoss && name.starts_with("output."));
  unsigned number = 0;
  return (name == "loss" && llvm::is_contained(chosen, 0U)) ||
         (name.consume_front("output.") && !name.getAsInteger(10, number) &&
          llvm::is_contained(chosen, number));
}

LogicalResult StageDifferentiator::differentiateStage(unsigned number) {
  GraphOp stage = program.stages[number];
  llvm::DenseSet<Value> active = findActiveValues(stage);
  TrainingGraphOptions own = options;
  own.differentiate.lossOutputs.clear();
  own.differentiate.firstVector = 0;
  OperandRange results = stage.getOutput().getForwardResults();
  for (auto [i, name] : llvm::enumerate(resultNames(stage))) {
    auto crossing = numberOf.find(name);
    bool isCrossing = crossing != numberOf.end();
    bool isChosen =
        isCrossing ? comesBack[crossing->second] != 0 : isLoss(name);
    if (!isChosen || !active.contains(results[i]))
      continue;
    own.differentiate.lossOutputs.push_back(i);
    if (!isCrossing && hasLoss)
      own.differentiate.firstVector = i + 1;
  }
  own.forwardOnly = own.differentiate.lossOutputs.empty();
  if (failed(makeTrainingGraph(stage, own)))
    return failure();
  noteGradients(stage);
  return success();
}

/// Which received values get a gradient from `stage`.
void StageDifferentiator::noteGradients(GraphOp stage) {
  for (int32_t argument : stage.getOutput().getGradientOf()) {
    auto name =
        stage.getArgAttrOfType<StringAttr>(argument, interpreter::kFileName);
    auto crossing = name ? numberOf.find(name.getValue()) : numberOf.end();
    if (crossing != numberOf.end())
      comesBack[crossing->second] = 1;
  }
}

LogicalResult StageDifferentiator::run() {
  for (GraphOp stage : program.stages)
    hasLoss |= llvm::is_contained(resultNames(stage), "loss");
  hasLoss |= !options.differentiate.lossOutputs.empty();
  comesBack.assign(program.values.size(), 0);
  for (unsigned stage = program.stages.size(); stage-- > 0;)
    if (failed(differentiateStage(stage)))
      return failure();
  for (auto [value, isGiven] : llvm::zip(program.values, comesBack))
    value.hasGradient = isGiven;
  return success();
}

LogicalResult
cutback::differentiateStages(CutProgram &program,
                             const TrainingGraphOptions &options) {
  return StageDifferentiator(program, options).run();
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

namespace {

/// Turns functions of a partition into graphs.
class PhaseMaker {
public:
  PhaseMaker(GraphOp stage, const Partition &partition)
      : stage(stage), partition(partition),
        names(interpreter::nameStep(stage)),
        builder(stage.getContext()) {
    for (unsigned arg = 0; arg < stage.getNumArguments(); ++arg)
      argumentCalled[stage.getArgName(arg)] = arg;
  }

  FailureOr<std::vector<PhaseGraph>> run();

private:
  LogicalResult nameSaved();
  DictionaryAttr argumentAttrs(func::FuncOp function, unsigned arg,
                               StringRef name);
  StringRef nameOfArgument(func::FuncOp function, unsigned arg);
  PhaseGraph make(StringRef phase, func::FuncOp function,
                  ArrayRef<std::string> arguments,
                  ArrayRef<std::string> results);

  GraphOp stage;
  const Partition &partition;
  interpreter::StepNames names;
  Builder builder;
  llvm::StringMap<unsigned> argumentCalled; ///< of the stage, by name
  /// By saved value: its name in files, and whether the forward returns it
  /// under no other.
  std::vector<std::pair<std::string, bool>> saved;
};

} // namespace

/// What the stage calls an argument in files; the gradient of the loss, which
/// has no name there, is given here.
StringRef PhaseMaker::nameOfArgument(func::FuncOp function,
                                     unsigned arg) {
  auto role = function.getArgAttrOfType<RoleAttr>(arg, JointDialect::kRole);
  if (role.getKind() == RoleKind::GradSeed)
    return kLossTangent;
  auto name =
      function.getArgAttrOfType<StringAttr>(arg, JointDialect::kName);
  auto found = argumentCalled.find(name.getValue());
  return found == argumentCalled.end() ? StringRef()
                                       : names.arguments[found->second];
}

LogicalResult PhaseMaker::nameSaved() {
  func::FuncOp forward = partition.forward;
  Operation *end = forward.getBody().front().getTerminator();
  unsigned numResults = stage.getNumForwardResults();
  for (unsigned i = numResults; i < end->getNumOperands(); ++i) {
    Value value = end->getOperand(i);
    if (!isa<RankedTensorType>(value.getType())) {
      auto diagnostic = stage.emitError("the backward of '")
                        << stage.getSymName() << "' takes a size of type "
                        << value.getType() << " from the forward";
      diagnostic.attachNote() << "give sizes of symbols with --sym";
      return diagnostic;
    }
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      saved.emplace_back(nameOfArgument(forward, argument.getArgNumber()),
                         false);
      continue;
    }
    unsigned first = 0;
    while (end->getOperand(first) != value)
      ++first;
    if (first < numResults)
      saved.emplace_back(names.results[first], false);
    else if (first < i)
      saved.emplace_back(saved[first - numResults].first, false);
    else
      saved.emplace_back(kSavedPrefix.str() + std::to_string(saved.size()),
                         true);
  }
  return success();
}

/// Roles stay where they say how long a tensor lives and what it holds; all
/// else is an input.
DictionaryAttr PhaseMaker::argumentAttrs(func::FuncOp function, unsigned arg,
                                         StringRef name) {
  MLIRContext *context = stage.getContext();
  NamedAttrList attrs(function_interface_impl::getArgAttrDict(function, arg));
  auto role = function.getArgAttrOfType<RoleAttr>(arg, JointDialect::kRole);
  auto own = function.getArgAttrOfType<StringAttr>(arg, JointDialect::kName);
  if (role.getKind() == RoleKind::Saved) {
    // A parameter that the backward reads is a parameter there too.
    auto found = argumentCalled.find(own.getValue());
    bool isArgument = found != argumentCalled.end() &&
                      names.arguments[found->second] == name;
    if (isArgument)
      role = stage.getRole(found->second);
    else
      role = RoleAttr::get(context, RoleKind::Input, nullptr, -1, false);
  } else if (role.getKind() == RoleKind::Tangent ||
             role.getKind() == RoleKind::GradSeed) {
    role = RoleAttr::get(context, RoleKind::Input, nullptr, -1, false);
  }
  attrs.set(JointDialect::kRole, role);
  if (!name.empty())
    attrs.set(interpreter::kFileName, builder.getStringAttr(name));
  return attrs.getDictionary(context);
}

/// Arguments and results without a name are left out: the former are unused,
/// the latter known under another one.
PhaseGraph PhaseMaker::make(StringRef phase, func::FuncOp function,
                            ArrayRef<std::string> arguments,
                            ArrayRef<std::string> results) {
  PhaseGraph made;
  made.name = phase.str();
  made.module = ModuleOp::create(stage.getLoc());
  func::FuncOp copy = function.clone();
  made.module->push_back(copy);
  Block &block = copy.getBody().front();
  SmallVector<Type> resultTypes;
  SmallVector<Value> returned;
  SmallVector<Attribute> resultNames;
  Operation *end = block.getTerminator();
  for (auto [value, name] : llvm::zip(end->getOperands(), results))
    if (!name.empty()) {
      returned.push_back(value);
      resultTypes.push_back(value.getType());
      resultNames.push_back(builder.getStringAttr(name));
    }
  SmallVector<DictionaryAttr> attrs;
  for (unsigned arg = 0; arg < block.getNumArguments(); ++arg)
    attrs.push_back(argumentAttrs(function, arg, arguments[arg]));
  OpBuilder ops(stage.getContext());
  ops.setInsertionPointToEnd(made.module->getBody());
  made.graph = GraphOp::create(
      ops, stage.getLoc(), (stage.getSymName() + "_" + phase).str(),
      FunctionType::get(stage.getContext(), block.getArgumentTypes(),
                        resultTypes),
      static_cast<int64_t>(returned.size()), attrs);
  made.graph->setAttr(interpreter::kResultNames, ops.getArrayAttr(resultNames));
  made.graph.getBody().takeBody(copy.getBody());
  ops.setInsertionPoint(end);
  OutputOp::create(ops, end->getLoc(), returned, ops.getDenseI32ArrayAttr({}));
  end->erase();
  copy.erase();
  return made;
}

FailureOr<std::vector<PhaseGraph>> PhaseMaker::run() {
  if (failed(nameSaved()))
    return failure();
  func::FuncOp forward = partition.forward, backward = partition.backward;
  std::vector<std::string> arguments, results(names.results);
  results.resize(stage.getNumForwardResults());
  for (unsigned arg = 0; arg < forward.getNumArguments(); ++arg)
    arguments.push_back(nameOfArgument(forward, arg).str());
  for (const auto &[name, isOwn] : saved)
    results.push_back(isOwn ? name : "");
  std::vector<PhaseGraph> phases;
  phases.push_back(make("forward", forward, arguments, results));
  ArrayRef<std::string> gradients =
      llvm::ArrayRef(names.results).drop_front(stage.getNumForwardResults());
  if (gradients.empty())
    return phases;
  arguments.clear();
  for (unsigned arg = 0; arg < backward.getNumArguments(); ++arg)
    arguments.push_back(arg < saved.size()
                            ? saved[arg].first
                            : nameOfArgument(backward, arg).str());
  phases.push_back(make("backward", backward, arguments, gradients));
  return phases;
}

FailureOr<std::vector<PhaseGraph>>
cutback::makePhases(GraphOp stage, const Partition &partition) {
  return PhaseMaker(stage, partition).run();
}

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
  const std::vector<unsigned> &chosen = options.differentiate.lossOutputs;
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

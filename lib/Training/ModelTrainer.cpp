// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trains a graph in the process: its step and its update as kernels in one
// arena, or op by op.
//
//   1. arguments by name, from the tensors of the first step; parameters and
//      buffers are copies of our own, tied ones the same tensor
//   2. the plan for these sizes, kernels, and the update behind them
//   3. a micro-batch: inputs, seeds and numbers are set, segments run; the
//      update after the last one of a step
//
// Op by op the graph runs as it is, and then the graphs of accumulation and
// update.

#include "cutback/Training/InsideUpdate.h"
#include "cutback/Training/Trainer.h"

#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/LaunchMemory.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Planner/Runnable.h"
#include "cutback/Runtime/Artifact.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class ModelTrainer : public Trainer {
public:
  ModelTrainer(joint::GraphOp graph, const ModelTrainerOptions &options)
      : graph(graph), options(options), names(nameStep(graph)) {}

  LogicalResult start(FindTensor find) {
    FailureOr<std::vector<RuntimeValue>> bound =
        bindArguments(graph, names, find, this->options.partition.symbols);
    if (failed(bound))
      return failure();
    auto updated = findParameters(graph, options.optimizer);
    if (failed(updated))
      return failure();
    parameters = std::move(*updated);
    arguments = std::move(*bound);
    ownState();
    if (failed(moveInside()))
      return failure();
    findSeeds();
    return options.reference ? startReference() : startKernels();
  }

  std::vector<NamedTensor> state() const override {
    return {stored.begin(), stored.end()};
  }

  int64_t arenaBytes() const override {
    return options.reference ? 0 : cutback::arenaBytes(kernels);
  }

  std::string run(const TrainingInputs &inputs,
                  TrainingResult &result) override {
    if (std::string error = setInputs(inputs); !error.empty())
      return error;
    InterpreterOptions run;
    run.seed = static_cast<uint64_t>(inputs.seed);
    run.memory = memory.get();
    run.hook = options.hook;
    run.kernels = runner.get();
    run.observers = options.observers;
    SmallVector<StringRef> segments = {kernel::kForward, kernel::kBackward};
    if (addsUp)
      segments.push_back(kAccumulateSegment);
    if (inputs.isLast && !isInside)
      segments.push_back(kUpdateSegment);
    FailureOr<std::vector<RuntimeValue>> values =
        options.reference ? runReference(inputs.isLast, run)
                          : runKernels(segments, run);
    if (failed(values))
      return "the step does not run";
    return collect(*values, inputs.isLast, result);
  }

  /// Op by op the whole step runs, for the sake of one way to run a graph.
  std::string evaluate(const TrainingInputs &inputs, double &loss) override {
    if (std::string error = setInputs(inputs); !error.empty())
      return error;
    std::vector<std::pair<Tensor, Tensor>> written;
    for (const auto &[name, argument] : names.written)
      if (auto *tensor = std::get_if<Tensor>(&arguments[argument]);
          tensor && (options.reference || !isUpdated.contains(argument)))
        written.emplace_back(*tensor, copyOf(*tensor));
    InterpreterOptions run;
    run.seed = static_cast<uint64_t>(inputs.seed);
    run.memory = memory.get();
    run.kernels = runner.get();
    FailureOr<std::vector<RuntimeValue>> values =
        options.reference ? interpreter::run(graph, arguments, run)
                          : runKernels({kernel::kForward}, run);
    for (auto &[tensor, before] : written)
      copyElements(before, tensor);
    if (failed(values))
      return "the forward does not run";
    std::optional<double> found = lossOf(*values);
    loss = found.value_or(0);
    return found ? "" : kNoLoss;
  }

  std::string whyUpdateAfter() const override { return whyAfter; }

  std::vector<std::string> undecayed() const override {
    std::vector<std::string> list;
    for (const UpdatedParameter &parameter : parameters)
      if (!parameter.decays)
        list.push_back(parameter.name);
    llvm::sort(list);
    return list;
  }

private:
  static constexpr const char *kNoLoss =
      "the step has no result 'loss' of one element";

  void findSeeds() {
    scalesLoss = options.optimizer.scalesLoss;
    addsUp = options.optimizer.accumulates;
    if (!scalesLoss && !addsUp)
      return;
    seeds.emplace();
    for (unsigned i = 0; i < arguments.size(); ++i) {
      joint::RoleKind role = graph.getRole(i).getKind();
      if (const auto *tensor = std::get_if<Tensor>(&arguments[i]);
          tensor && (role == joint::RoleKind::GradSeed ||
                     role == joint::RoleKind::Tangent))
        seeds->add(i, *tensor);
    }
  }

  //===--- State ----------------------------------------------------------===//

  void ownState() {
    for (unsigned i = 0; i < arguments.size(); ++i) {
      auto *tensor = std::get_if<Tensor>(&arguments[i]);
      joint::RoleKind role = graph.getRole(i).getKind();
      if (!tensor ||
          (role != joint::RoleKind::Param && role != joint::RoleKind::Buffer))
        continue;
      *tensor = copyOf(*tensor);
      stored[names.arguments[i]] = *tensor;
    }
    for (const UpdatedParameter &parameter : parameters) {
      const auto &tensor = std::get<Tensor>(arguments[parameter.argument]);
      for (unsigned tied : parameter.tied) {
        arguments[tied] = tensor;
        stored.erase(names.arguments[tied]);
      }
      for (const std::string &state : parameter.states)
        stored[state] = more[state] = Tensor::zeros(tensor.type, tensor.sizes);
      if (options.optimizer.accumulates)
        more[parameter.sum] = Tensor::zeros(tensor.type, tensor.sizes);
    }
    for (StringRef name : {kLearningRate, kStepNumber, kLossScale, kMicroBatch})
      more[name.str()] = Tensor::zeros(DType::F64, {});
  }

  /// Puts the update into the graph, where that is asked for and may be.
  LogicalResult moveInside() {
    if (options.optimizer.place != Optimizer::After)
      whyAfter = cutback::whyUpdateAfter(graph, options.optimizer, parameters);
    isInside = options.optimizer.place != Optimizer::After && whyAfter.empty();
    if (!isInside)
      return success();
    if (failed(insertUpdate(graph, options.optimizer, parameters)))
      return failure();
    names = nameStep(graph);
    for (const UpdatedParameter &parameter : parameters)
      isUpdated.insert(parameter.argument);
    for (size_t i = arguments.size(); i < names.arguments.size(); ++i)
      isUpdated.insert(i);
    for (size_t i = arguments.size(); i < names.arguments.size(); ++i)
      arguments.push_back(more[names.arguments[i]]);
    return success();
  }

  //===--- Preparation ----------------------------------------------------===//

  LogicalResult startReference() {
    if (isInside)
      return makeRunnable(graph);
    FailureOr<UpdateGraph> made = buildUpdate(graph, options.optimizer);
    if (failed(made))
      return failure();
    update = std::move(*made);
    if (addsUp) {
      FailureOr<UpdateGraph> added =
          buildAccumulation(graph, options.optimizer);
      if (failed(added) || failed(makeRunnable(added->graph)))
        return failure();
      accumulation = std::move(*added);
    }
    return success(succeeded(makeRunnable(graph)) &&
                   succeeded(makeRunnable(update.graph)));
  }

  LogicalResult startKernels() {
    PartitionOptions planned = options.partition;
    if (!planned.memory)
      planned.memory.emplace();
    auto result = planStep(graph, planned);
    if (failed(result))
      return failure();
    plan = std::move(*result);
    if (plan->memory)
      return startLaunches(*plan->memory);
    // Data decide sizes: what these are lies outside of the arena.
    MemoryPlanOptions known = *plan->options.memory;
    known.symbols = plan->options.symbols;
    FailureOr<MemoryPlan> outside =
        planMemory(plan->partition.link, plan->view.graph, known,
                   UnknownSizes::LieOutside);
    return failed(outside) ? failure() : startLaunches(*outside);
  }

  LogicalResult startLaunches(const MemoryPlan &planned) {
    FailureOr<KernelModule> formed =
        formKernels(plan->partition.link, *plan->kernelPlan, planned);
    if (failed(formed) || failed(verifyKernels(plan->view.graph, *formed)) ||
        (!isInside &&
         (failed(addUpdate(*formed, graph, options.optimizer, plan->options)) ||
          failed(checkLimit(graph, *plan, *formed)))))
      return failure();
    kernels = std::move(*formed);
    memory = std::make_unique<LaunchMemory>(kernels.link);
    if (!options.compileKernels)
      return success();
    auto compiled = options.compileKernels(*kernels.module);
    if (failed(compiled))
      return failure();
    runner = std::move(*compiled);
    return success();
  }

  //===--- A step ---------------------------------------------------------===//

  std::string setInputs(const TrainingInputs &inputs) {
    for (unsigned i = 0; i < arguments.size(); ++i) {
      auto *tensor = std::get_if<Tensor>(&arguments[i]);
      if (tensor && graph.getRole(i).getKind() == joint::RoleKind::RngSeed)
        for (int64_t e = 0, n = tensor->numel(); e < n; ++e)
          tensor->setInt(e, inputs.seed);
      for (const auto &[name, given] : inputs.tensors) {
        if (name != names.arguments[i])
          continue;
        if (!tensor || given.type != tensor->type ||
            given.sizes != tensor->sizes)
          return "tensor '" + name + "' is " + textOf(given.type, given.sizes) +
                 ", another one than in the first step";
        *tensor = given;
        if (seeds)
          seeds->replace(i, given);
      }
    }
    if (seeds)
      seeds->forEach(
          inputs.lossScale * inputs.share,
          [&](size_t i, const Tensor &scaled) { arguments[i] = scaled; });
    more[kLearningRate.str()].set(0, inputs.learningRate);
    more[kStepNumber.str()].set(0, static_cast<double>(inputs.number + 1));
    more[kLossScale.str()].set(0, inputs.lossScale);
    more[kMicroBatch.str()].set(0, static_cast<double>(inputs.microBatch));
    return "";
  }

  FailureOr<std::vector<RuntimeValue>>
  runKernels(ArrayRef<StringRef> segments, const InterpreterOptions &run) {
    llvm::StringMap<RuntimeValue> byName;
    for (unsigned i = 0; i < arguments.size(); ++i)
      byName[graph.getArgName(i)] = arguments[i];
    for (auto &[name, tensor] : more)
      byName[name] = tensor;
    return runSegments(kernel::findArena(kernels.link), segments, byName, run);
  }

  /// By parameter, as the backward gave them.
  std::vector<RuntimeValue>
  gradientsOf(const std::vector<RuntimeValue> &values) {
    size_t numForward =
        names.results.size() - graph.getOutput().getGradientOf().size();
    std::vector<RuntimeValue> gradients;
    for (const UpdatedParameter &parameter : parameters) {
      // An argument itself changes before it is read.
      RuntimeValue gradient = values[numForward + parameter.gradient];
      if (const auto *tensor = std::get_if<Tensor>(&gradient))
        gradient = copyOf(*tensor);
      gradients.push_back(gradient);
    }
    return gradients;
  }

  /// Adds `gradients` to the sums, and has these in their place.
  LogicalResult addUp(std::vector<RuntimeValue> &gradients,
                      const InterpreterOptions &run) {
    std::vector<RuntimeValue> given;
    for (auto [parameter, gradient] :
         llvm::zip_equal(accumulation.parameters, gradients)) {
      given.push_back(more[parameter.sum]);
      given.push_back(gradient);
      gradient = more[parameter.sum];
    }
    given.push_back(more[kMicroBatch.str()]);
    return success(succeeded(interpreter::run(accumulation.graph, given, run)));
  }

  FailureOr<std::vector<RuntimeValue>>
  runReference(bool isLast, const InterpreterOptions &run) {
    FailureOr<std::vector<RuntimeValue>> values =
        interpreter::run(graph, arguments, run);
    if (failed(values) || isInside)
      return values;
    std::vector<RuntimeValue> gradients = gradientsOf(*values), given;
    if (addsUp && failed(addUp(gradients, run)))
      return failure();
    if (!isLast)
      return values;
    for (auto [parameter, gradient] :
         llvm::zip_equal(update.parameters, gradients)) {
      given.push_back(arguments[parameter.argument]);
      given.push_back(gradient);
      for (const std::string &state : parameter.states)
        given.push_back(more[state]);
    }
    given.push_back(more[kLearningRate.str()]);
    if (options.optimizer.kind == Optimizer::AdamW)
      given.push_back(more[kStepNumber.str()]);
    if (options.optimizer.scalesLoss)
      given.push_back(more[kLossScale.str()]);
    FailureOr<std::vector<RuntimeValue>> last =
        interpreter::run(update.graph, given, run);
    if (failed(last))
      return failure();
    llvm::append_range(*values, *last);
    return values;
  }

  static std::optional<double> numberAt(const std::vector<RuntimeValue> &values,
                                        size_t i) {
    const auto *tensor =
        i < values.size() ? std::get_if<Tensor>(&values[i]) : nullptr;
    return tensor && tensor->numel() == 1
               ? std::optional(tensor->contiguous().getDouble(0))
               : std::nullopt;
  }

  std::optional<double> lossOf(const std::vector<RuntimeValue> &values) const {
    for (size_t i = 0; i < names.results.size(); ++i)
      if (names.results[i] == "loss")
        return numberAt(values, i);
    return std::nullopt;
  }

  std::string collect(const std::vector<RuntimeValue> &values, bool isLast,
                      TrainingResult &result) {
    std::optional<double> loss = lossOf(values);
    if (!loss)
      return kNoLoss;
    result.loss = *loss;
    if (!isLast)
      return "";
    size_t next = names.results.size();
    if (options.optimizer.scalesLoss)
      result.isSkipped = !std::isfinite(numberAt(values, next++).value_or(0));
    result.gradientNorm = numberAt(values, next);
    return "";
  }

  joint::GraphOp graph;
  ModelTrainerOptions options;
  StepNames names;
  std::vector<UpdatedParameter> parameters;
  bool isInside = false; ///< the update, of the graph
  std::string whyAfter;
  llvm::SmallDenseSet<unsigned> isUpdated; ///< by the backward: arguments
  std::vector<RuntimeValue> arguments;     ///< of the graph
  std::map<std::string, Tensor> more;      ///< the update's own arguments
  std::map<std::string, Tensor> stored;
  UpdateGraph update, accumulation; ///< op by op
  std::unique_ptr<PartitionResult> plan;
  KernelModule kernels;
  std::unique_ptr<LaunchMemory> memory;
  std::unique_ptr<KernelRunner> runner;
};

} // namespace

std::unique_ptr<Trainer>
cutback::makeModelTrainer(joint::GraphOp graph, FindTensor find,
                          const ModelTrainerOptions &options) {
  auto trainer = std::make_unique<ModelTrainer>(graph, options);
  if (failed(trainer->start(find)))
    return nullptr;
  return trainer;
}

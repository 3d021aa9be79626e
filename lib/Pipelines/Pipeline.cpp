// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole pipeline, phase by phase, with why each pass stands where it
// does; and the registration of all passes.
//
//   joint      what the importer leaves, or what the training pipeline makes of
//              a forward program
//   prepare    flattened, without dead or repeated ops, tags cleaned
//   partition  planned, extracted, proved
//
// The driver calls the same functions without a pass manager, as it wants the
// numbers of a plan and not only its IR (PartitionPipeline.cpp).

#include "cutback/Pipelines/Passes.h"

#include "cutback/Autograd/Passes.h"
#include "cutback/Decompose/Passes.h"
#include "cutback/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace cutback;

//===----------------------------------------------------------------------===//
// The pipeline
//===----------------------------------------------------------------------===//

/// Phase prepare: what stands in front of a plan.
static void addPreparation(OpPassManager &pm) {
  // Regions first: nothing below looks into one.
  OpPassManager &graphs = pm.nest<joint::GraphOp>();
  graphs.addPass(createFlattenCheckpoints());
  // Dead code before common subexpressions: it is cheaper, and leaves less.
  graphs.addPass(createEliminateDeadCode());
  graphs.addPass(createEliminateCommonSubexpressions());
  // Tags last: a merged op has the users that decide about its tag.
  graphs.addPass(createCleanTags());
}

/// Phase partition. The plan travels as attributes, so that a person can
/// change it between the first two passes.
static void addPartition(OpPassManager &pm, std::unique_ptr<Pass> plan,
                         SmallVector<std::string> symbols) {
  pm.addPass(std::move(plan));
  pm.addPass(createExtractPartition());
  // Behind the split: what is live when depends on what is recomputed.
  ScheduleBackwardOptions schedule;
  schedule.symbols = std::move(symbols);
  pm.addPass(createScheduleBackward(schedule));
  // The gate: nothing wrong gets past here.
  pm.addPass(createVerifyPartition());
}

void cutback::buildTrainingPipeline(OpPassManager &pm) {
  OpPassManager &graphs = pm.nest<joint::GraphOp>();
  // In-place ops first: nothing below knows that a value can change.
  graphs.addPass(createFunctionalize());
  graphs.addPass(createDecomposeComposites());
  // Behind composites, which hide random ops; in front of gradients, which read
  // what was drawn.
  graphs.addPass(createFunctionalizeRng());
  graphs.addPass(createDifferentiateGraph());
  // Last: gradients are taken of norms and losses as units.
  graphs.addPass(createDecomposeToCore());
}

void cutback::buildCutbackPipeline(OpPassManager &pm,
                                   const PartitionOptions &options,
                                   Phase lastPhase) {
  // Phase joint is what the importer leaves. The verifier of joint.graph is
  // the gate: roles, tangents, results.
  if (lastPhase == Phase::Joint)
    return;
  addPreparation(pm);
  if (lastPhase == Phase::Prepare)
    return;
  SmallVector<std::string> symbols;
  for (const auto &[name, size] : options.symbols)
    symbols.push_back((name + "=" + llvm::Twine(size)).str());
  llvm::sort(symbols);
  addPartition(pm, createPlanPartition(options), std::move(symbols));
}

//===----------------------------------------------------------------------===//
// The pipeline as text
//===----------------------------------------------------------------------===//

namespace {

/// The options of `cutback-plan`, which reads their values, and a phase.
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  template <typename T> using Value = PassOptions::Option<T>;
  template <typename T> using Values = PassOptions::ListOption<T>;

  Value<std::string> to{*this, "to", llvm::cl::init("partition"),
                        llvm::cl::desc("last phase: joint, prepare or "
                                       "partition")};
  Value<std::string> strategy{
      *this, "strategy", llvm::cl::init("min-cut"),
      llvm::cl::desc("min-cut, eager, precompute or recompute-all")};
  Value<std::string> costModel{*this, "cost-model", llvm::cl::init("roofline"),
                               llvm::cl::desc("roofline or pytorch")};
  Value<std::string> rules{
      *this, "rules", llvm::cl::init("torch-2.13"),
      llvm::cl::desc("torch-2.13 or torch-2.3, with cost-model=pytorch")};
  Value<std::string> freeParameters{
      *this, "free-parameters", llvm::cl::init("auto"),
      llvm::cl::desc("auto or none: whether parameters cost nothing to save")};
  Value<std::string> device{
      *this, "device", llvm::cl::init("h100"),
      llvm::cl::desc("name of a device, or a .json file")};
  Value<double> bytePrice{
      *this, "byte-price-ps", llvm::cl::init(0.0),
      llvm::cl::desc("picoseconds that a saved byte is worth")};
  Value<std::string> solver{
      *this, "solver", llvm::cl::init("auto"),
      llvm::cl::desc("auto, boykov-kolmogorov, push-relabel, "
                     "boost-push-relabel or edmonds-karp")};
  Values<std::string> symbols{
      *this, "sym", llvm::cl::desc("values of symbolic sizes: s0=24")};

  /// The same without `to`, as `cutback-plan` takes it.
  std::string ofPlan() {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << "strategy=" << strategy << " cost-model=" << costModel
        << " rules=" << rules << " free-parameters=" << freeParameters
        << " device={" << device
        << "} byte-price-ps=" << llvm::format("%.17g", double(bytePrice))
        << " solver=" << solver;
    if (!symbols.empty()) {
      out << " sym=";
      llvm::interleave(symbols, out, ",");
    }
    return text;
  }
};

} // namespace

static LogicalResult
addPipeline(OpPassManager &pm, StringRef text,
            function_ref<LogicalResult(const Twine &)> emitError) {
  PipelineOptions options;
  if (failed(options.parseFromString(text)))
    return failure();
  if (options.to != "joint" && options.to != "prepare" &&
      options.to != "partition")
    return emitError("unknown phase '" + options.to +
                     "'; phases are joint, prepare and partition");
  if (options.to == "joint")
    return success();
  addPreparation(pm);
  if (options.to == "prepare")
    return success();
  std::unique_ptr<Pass> plan = createPlanPartition();
  if (failed(plan->initializeOptions(options.ofPlan(), emitError)))
    return failure();
  addPartition(pm, std::move(plan), SmallVector<std::string>(*options.symbols));
  return success();
}

void cutback::registerAllPasses() {
  registerCutbackAutogradPasses();
  registerCutbackDecomposePasses();
  registerCutbackTransformsPasses();
  registerCutbackPipelinesPasses();
  registerPassPipeline(
      "cutback-pipeline", "prepare, plan, extract and verify every joint.graph",
      addPipeline, [](function_ref<void(const detail::PassOptions &)> show) {
        show(PipelineOptions());
      });
  PassPipelineRegistration<>(
      "cutback-training-pipeline",
      "make joint graphs of forward programs: functionalize, decompose, seed, "
      "differentiate",
      buildTrainingPipeline);
}

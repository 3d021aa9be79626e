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

#include "cutback/Planner/Passes.h"

#include "cutback/Autograd/Passes.h"
#include "cutback/Decompose/Passes.h"
#include "cutback/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace cutback;

//===----------------------------------------------------------------------===//
// The pipeline
//===----------------------------------------------------------------------===//

/// Refuses what must be gone behind a phase.
static void addGate(OpPassManager &pm, StringRef phase) {
  CheckPhaseOptions options;
  options.phase = phase.str();
  pm.addPass(createCheckPhase(options));
}

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
  addGate(pm, "prepared");
}

void cutback::buildTrainingPipeline(OpPassManager &pm) {
  OpPassManager &graphs = pm.nest<joint::GraphOp>();
  // In-place ops first: nothing below knows that a value can change.
  graphs.addPass(createFunctionalize());
  addGate(pm, "functional");
  OpPassManager &functional = pm.nest<joint::GraphOp>();
  functional.addPass(createDecomposeComposites());
  addGate(pm, "units");
  OpPassManager &units = pm.nest<joint::GraphOp>();
  // Behind composites, which hide random ops; in front of gradients, which read
  // what was drawn.
  units.addPass(createFunctionalizeRng());
  units.addPass(createDifferentiateGraph());
  // Last: gradients are taken of norms and losses as units.
  units.addPass(createDecomposeToCore());
  addGate(pm, "core");
}

/// Up to and with `lastPhase`; `step` is the pass of phase partition.
static void addPhases(OpPassManager &pm, std::unique_ptr<Pass> step,
                      Phase lastPhase) {
  // Phase joint is what the importer leaves. The verifier of joint.graph is
  // the gate: roles, tangents, results.
  if (lastPhase == Phase::Joint)
    return;
  if (lastPhase == Phase::Prepare)
    return addPreparation(pm);
  // A step prepares its graph itself, as the plan that it takes asks for.
  pm.addPass(std::move(step));
  // The gate: nothing wrong gets past here.
  pm.addPass(createVerifyPartition());
}

void cutback::buildCutbackPipeline(OpPassManager &pm,
                                   const PartitionOptions &options,
                                   Phase lastPhase) {
  addPhases(pm, createPartitionStep(options), lastPhase);
}

//===----------------------------------------------------------------------===//
// The pipeline as text
//===----------------------------------------------------------------------===//

namespace {

/// What the pipeline reads; all other options are those of
/// `cutback-partition`, which reads them.
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  PassOptions::Option<std::string> to{
      *this, "to", llvm::cl::init("partition"),
      llvm::cl::desc("last phase: joint, prepare or partition; further options "
                     "are those of --cutback-partition")};
};

} // namespace

/// The words of `text` behind `key`=, which are taken out of it; the last one
/// counts. Words stand between spaces; braces and quotes hold them together.
static std::string takeOption(StringRef key, std::string &text,
                              std::string value) {
  std::string rest, word;
  int depth = 0;
  char quote = 0;
  auto endWord = [&] {
    StringRef taken = word;
    if (taken.consume_front(key) && taken.consume_front("="))
      value = taken.str();
    else if (!word.empty())
      rest += (rest.empty() ? "" : " ") + word;
    word.clear();
  };
  for (char c : text) {
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    depth += (c == '{') - (c == '}');
    if (c == ' ' && depth == 0 && !quote)
      endWord();
    else
      word += c;
  }
  endWord();
  text = rest;
  return value;
}

static LogicalResult
addPipeline(OpPassManager &pm, StringRef text,
            function_ref<LogicalResult(const Twine &)> emitError) {
  std::string ofStep = text.str();
  std::string to = takeOption("to", ofStep, "partition");
  if (to != "joint" && to != "prepare" && to != "partition")
    return emitError("unknown phase '" + to +
                     "'; phases are joint, prepare and partition");
  std::unique_ptr<Pass> step = createPartitionStep();
  if (failed(step->initializeOptions(ofStep, emitError)))
    return failure();
  addPhases(pm, std::move(step),
            to == "joint"     ? Phase::Joint
            : to == "prepare" ? Phase::Prepare
                              : Phase::Partition);
  return success();
}

void cutback::registerPlanning() {
  registerCutbackAutogradPasses();
  registerCutbackDecomposePasses();
  registerCutbackTransformsPasses();
  registerCutbackPlannerPasses();
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

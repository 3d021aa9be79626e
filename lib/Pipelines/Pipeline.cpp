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
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace cutback;

void cutback::buildCutbackPipeline(OpPassManager &pm,
                                   const PartitionOptions &options,
                                   Phase lastPhase) {
  // Phase joint: what the importer leaves. The verifier of joint.graph is the
  // gate: roles, tangents, results.
  if (lastPhase == Phase::Joint)
    return;

  // Phase prepare. Regions first: nothing below looks into one.
  OpPassManager &graphs = pm.nest<joint::GraphOp>();
  graphs.addPass(createFlattenCheckpoints());
  // Dead code before common subexpressions: it is cheaper, and leaves less.
  graphs.addPass(createEliminateDeadCode());
  graphs.addPass(createEliminateCommonSubexpressions());
  // Tags last: a merged op has the users that decide about its tag.
  graphs.addPass(createCleanTags());
  if (lastPhase == Phase::Prepare)
    return;

  // Phase partition. The plan travels as attributes, so that a person can
  // change it between the two passes.
  pm.addPass(createPlanPartition(options));
  pm.addPass(createExtractPartition());
  // Behind the split: what is live when depends on what is recomputed.
  ScheduleBackwardOptions schedule;
  for (const auto &[name, size] : options.symbols)
    schedule.symbols.push_back((name + "=" + llvm::Twine(size)).str());
  llvm::sort(schedule.symbols);
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

void cutback::registerAllPasses() {
  registerCutbackDecomposePasses();
  registerCutbackTransformsPasses();
  registerCutbackPipelinesPasses();
  PassPipelineRegistration<>(
      "cutback-pipeline", "prepare, plan, extract and verify every joint.graph",
      [](OpPassManager &pm) { buildCutbackPipeline(pm, PartitionOptions()); });
  PassPipelineRegistration<>(
      "cutback-training-pipeline",
      "make joint graphs of forward programs: functionalize, decompose, seed, "
      "differentiate",
      buildTrainingPipeline);
}

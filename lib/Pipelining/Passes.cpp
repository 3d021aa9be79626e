// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback-cut-stages`: a thin shell around cutStages() and
// differentiateStages(), which say what they do and cost.
//
// Options are read here; names in them are looked up there.
// Stages take the place of their graph in the module, in their order.

#include "cutback/Pipelining/Passes.h"

#include "cutback/Pipelining/StageChoice.h"
#include "cutback/Pipelining/StageGraphs.h"

namespace cutback {
#define GEN_PASS_DEF_CUTSTAGES
#include "cutback/Pipelining/Passes.h.inc"
} // namespace cutback

using namespace mlir;
using namespace cutback;

namespace {

struct CutStages : cutback::impl::CutStagesBase<CutStages> {
  using CutStagesBase::CutStagesBase;

  LogicalResult readOptions(StageChoice &choice) {
    std::string error;
    if (stages)
      choice.stages = stages;
    choice.bandwidth = bandwidth;
    if (!(bandwidth > 0))
      error = "bandwidth-gbps is not above 0";
    if (multiUse == "transmit")
      choice.cut.multiUse = MultiUse::Transmit;
    else if (multiUse != "replicate")
      error = "multi-use is replicate or transmit, not '" + multiUse + "'";
    if (stages && !splitSpec.empty())
      error = "stages and split-spec both say where to cut";
    if (!splitSpec.empty() && error.empty())
      (void)parseSplitSpec(splitSpec, choice.points, error);
    return error.empty() ? success() : getOperation().emitError(error);
  }

  void runOnOperation() override {
    StageChoice choice;
    if (failed(readOptions(choice)))
      return signalPassFailure();
    TrainingGraphOptions gradients;
    PartitionOptions options;
    SmallVector<joint::GraphOp> graphs(getOperation().getOps<joint::GraphOp>());
    for (joint::GraphOp graph : graphs) {
      FailureOr<CutProgram> program =
          cutStages(graph, choice, gradients, options);
      if (failed(program) ||
          (differentiate && failed(differentiateStages(*program, gradients))))
        return signalPassFailure();
      for (joint::GraphOp stage : program->stages)
        stage->moveBefore(graph);
      graph.erase();
    }
  }
};

} // namespace

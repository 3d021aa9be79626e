// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Markers, modules, or a number: one of them says where to cut.
//
// A program with markers was cut by its author; another cut of it would be
// silently different, so both at once are an error, and so is neither.

#include "cutback/Pipelining/StageChoice.h"

#include "cutback/Support/Text.h"

using namespace mlir;
using namespace cutback;

static FailureOr<std::vector<unsigned>>
balance(joint::GraphOp graph, const StageChoice &choice,
        const TrainingGraphOptions &gradients,
        const PartitionOptions &options) {
  FailureOr<StageCosts> costs = computeStageCosts(graph, gradients, options);
  if (failed(costs))
    return failure();
  StageRequest wanted;
  wanted.stages = *choice.stages;
  wanted.rankOf = choice.rankOf;
  wanted.bytePs = 1000 / choice.bandwidth;
  std::optional<StageCut> cut = balanceStages(*costs, wanted);
  if (cut)
    return std::move(cut->begins);
  auto diagnostic = graph.emitError("there are no ")
                    << wanted.stages << " stages: '" << graph.getSymName()
                    << "' has "
                    << formatCount(static_cast<int64_t>(costs->numOps()), "op")
                    << ", and values between some of them cannot cross";
  diagnostic.attachNote() << "ask for fewer stages";
  return diagnostic;
}

FailureOr<std::vector<unsigned>>
cutback::findBegins(joint::GraphOp graph, const StageChoice &choice,
                    const TrainingGraphOptions &gradients,
                    const PartitionOptions &options) {
  if (!graph.getOutput().getGradientOf().empty()) {
    auto diagnostic = graph.emitError("'")
                      << graph.getSymName()
                      << "' has a backward, and stages are cut before there is "
                         "one";
    diagnostic.attachNote() << "give the forward program: a .pt2 of "
                               "torch.export";
    return diagnostic;
  }
  FailureOr<std::vector<unsigned>> begins = takeMarkers(graph);
  if (failed(begins))
    return failure();
  bool isAsked = choice.stages || !choice.points.empty();
  if (begins->empty() != isAsked) {
    auto diagnostic = graph.emitError("'") << graph.getSymName();
    if (isAsked)
      diagnostic << "' has markers of its own, for " << begins->size() + 1
                 << " stages, and is to be cut elsewhere";
    else
      diagnostic << "' has no markers, and where to cut is not said";
    diagnostic.attachNote()
        << (isAsked ? "leave the number of stages and the split spec out, or "
                      "the markers"
                    : "give a number of stages, or the modules with which "
                      "stages begin (--stages, --split-spec)");
    return diagnostic;
  }
  if (!choice.points.empty())
    return findSplitPoints(graph, choice.points);
  if (choice.stages)
    return balance(graph, choice, gradients, options);
  return begins;
}

FailureOr<CutProgram> cutback::cutStages(joint::GraphOp graph,
                                         const StageChoice &choice,
                                         const TrainingGraphOptions &gradients,
                                         const PartitionOptions &options) {
  FailureOr<std::vector<unsigned>> begins =
      findBegins(graph, choice, gradients, options);
  if (failed(begins))
    return failure();
  return cutGraph(graph, *begins, choice.cut);
}

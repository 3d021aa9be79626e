// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One choice forced in a flow network. Tags would not do: under PyTorch's rules
// a tag on one node changes the rules for others, and a forced choice is to
// change nothing but itself. So the network is the one that was solved, with
//
//   save        source → op  ∞   the backward does not compute it
//               value → sink ∞   and has it
//   recompute   op → sink    ∞   the backward computes it
//
// A copy of the network is solved again from nothing: building and solving are
// a small part of a plan's time, so starting from the flow before would not be
// felt.

#include "cutback/Pipelines/WhatIf.h"

#include "Internal.h"

using namespace mlir;
using namespace cutback;

LogicalResult cutback::forceChoice(joint::GraphOp graph, FlowNetwork &network,
                                   const ForcedChoice &choice, VertexId before,
                                   VertexId after) {
  if (before == kNoVertex || after == kNoVertex)
    return graph.emitError("the backward has no use for it");
  if (choice.save) {
    network.addInfiniteArc(kSource, before);
    network.addInfiniteArc(after, kSink);
  } else {
    network.addInfiniteArc(before, kSink);
  }
  if (FlowError error = network.finish(ParallelArcs::Keep))
    return graph.emitError(*error);
  return success();
}

FailureOr<std::unique_ptr<PartitionResult>>
cutback::partitionForced(joint::GraphOp graph, const PartitionOptions &options,
                         const ForcedChoice &choice, PreparedGraph prepared) {
  PartitionOptions silent = options;
  silent.emit = false;
  silent.figures = true;
  silent.memory.reset();
  silent.dumpNetwork.clear();
  return partitionWith(graph, silent, std::move(prepared), &choice);
}

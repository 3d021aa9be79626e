// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cut that its flow does not prove is a defect of this program, never of the
// input, and would silently give a plan that costs more than it says. So it is
// looked at in every build, behind every solver, and is an error like any
// other: the step fails, and the message names the first arc or vertex that is
// wrong. Linear.

#include "cutback/Partition/CutCheck.h"

#include "cutback/Partition/MaxFlow/FlowCheck.h"

using namespace mlir;
using namespace cutback;

LogicalResult cutback::verifyCut(joint::GraphOp graph,
                                 const FlowNetwork &network,
                                 const MinCut &cut) {
  FlowError error = checkFlow(network, cut);
  if (!error)
    return success();
  auto diag = graph.emitOpError("the minimum cut is not proved by its flow: ")
              << *error;
  diag.attachNote() << "this is a defect of the program; another solver "
                       "(--solver) may do";
  return diag;
}

LogicalResult cutback::verifyBound(joint::GraphOp graph,
                                   const ThreeWayProblem &problem,
                                   const ThreeWayBound &bound) {
  std::string fault = checkBound(problem, bound);
  if (fault.empty())
    return success();
  auto diag = graph.emitOpError("the bound of its three phases is not proved: "
                                "it ")
              << fault;
  diag.attachNote() << "this is a defect of the program; the phases are right "
                       "(verify off leaves the proof out)";
  return diag;
}

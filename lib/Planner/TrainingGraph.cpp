// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what a reader gives to a joint graph: functional, decomposed, seeded,
// differentiated. The order matters: composite ops hide random ones, and
// in-place ops must be gone before anybody looks at values.
//
// A graph that has gradients only gets its marks on determinants.

#include "cutback/Planner/TrainingGraph.h"

#include "cutback/Autograd/AtenVjps.h"
#include "cutback/Decompose/Composites.h"
#include "cutback/Decompose/Functionalize.h"
#include "cutback/Decompose/FunctionalizeRng.h"
#include "cutback/Interpreter/Determinants.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace cutback;

void cutback::registerTrainingGraph(MLIRContext &context) {
  DialectRegistry registry;
  registerAtenVjps(registry);
  registerAtenDecompositions(registry);
  context.appendDialectRegistry(registry);
}

LogicalResult cutback::makeTrainingGraph(joint::GraphOp graph,
                                         const TrainingGraphOptions &options) {
  if (!graph.getOutput().getGradientOf().empty()) {
    interpreter::markDeterminants(graph);
    return success();
  }
  if (failed(functionalize(graph)) || failed(decomposeComposites(graph)))
    return failure();
  if (options.functionalizeRng && failed(functionalizeRng(graph)))
    return failure();
  if (failed(differentiate(graph, options.differentiate)))
    return failure();
  return decomposeToCore(graph);
}

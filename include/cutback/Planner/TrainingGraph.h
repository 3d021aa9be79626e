// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what a reader gives to a joint graph that can be partitioned.
#ifndef CUTBACK_PLANNER_TRAININGGRAPH_H
#define CUTBACK_PLANNER_TRAININGGRAPH_H

#include "cutback/Autograd/SecondDerivatives.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Planner/AutogradSaves.h"

#include "mlir/IR/MLIRContext.h"

namespace cutback {

struct TrainingGraphOptions {
  DifferentiateOptions differentiate;
  /// What is differentiated a second time, if anything; then `differentiate` is
  /// for the second time.
  SecondDerivativeOptions second;
  /// Random ops of a graph that is differentiated here become functions of a
  /// seed, so that they can be recomputed.
  bool functionalizeRng = true;
  /// The forward program as it is, ready to be planned: no gradients.
  bool forwardOnly = false;
};

/// Whether nothing asks for gradients of a forward program of a .pt2: no
/// argument wants one by the file (there all that do are marked), and the
/// options name none.
bool wantsNoGradient(joint::GraphOp graph, const TrainingGraphOptions &options);

/// Makes the dialects and the rules known that `makeTrainingGraph` needs.
/// Before anything is read in `context`.
void registerTrainingGraph(mlir::MLIRContext &context);

/// Steps 1 to 3 of makeTrainingGraph() alone, which leave a program of values
/// that can be cut into parts; on each makeTrainingGraph() does the rest.
mlir::LogicalResult makeFunctional(joint::GraphOp graph,
                                   bool functionalizeRng = true);

/// Leaves a graph that has gradients as it is, unless it is to be
/// differentiated again, but for a mark on determinants
/// (Interpreter/Determinants.h). A forward program is
///   1. made functional: in-place ops become values and writes of arguments
///   2. decomposed: composite ops become those that have a gradient rule
///   3. made a function of a seed, if it draws random numbers
///   4. differentiated
///   5. differentiated again, if that is asked for
///   6. decomposed further, where that gives the partitioner more to choose
///   from; hooks get dense gradients
/// Errors are emitted at the op; the graph is then half done.
/// With `eager`, what eager PyTorch keeps of a forward program is counted on
/// the way; nothing of a graph with a backward, whose ops are parts of others.
mlir::LogicalResult makeTrainingGraph(joint::GraphOp graph,
                                      const TrainingGraphOptions &options = {},
                                      EagerCount *eager = nullptr);

} // namespace cutback

#endif // CUTBACK_PLANNER_TRAININGGRAPH_H

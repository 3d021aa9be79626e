// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The update of parameters after a step, and the sums of gradients of several
// micro-batches before it: as graphs of tensor ops, and as the segments
// `accumulate` and `update` of a step of launches.
#ifndef CUTBACK_TRAINING_UPDATE_H
#define CUTBACK_TRAINING_UPDATE_H

#include "cutback/Lowering/FormKernels.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Training/Optimizer.h"

namespace cutback {

/// Arguments of an update that are not of parameters.
inline constexpr llvm::StringLiteral kLearningRate = "optimizer.lr";
inline constexpr llvm::StringLiteral kStepNumber = "optimizer.step";
inline constexpr llvm::StringLiteral kLossScale = "optimizer.loss_scale";
/// Of an accumulation: the number of the micro-batch in its step. Number 0 is
/// the first one, whose gradients are the sums.
inline constexpr llvm::StringLiteral kMicroBatch = "optimizer.micro_batch";
/// Results of an update that clips: the norm of all gradients; of one that
/// scales: the greatest magnitude in them, which is not finite where it has
/// written nothing.
inline constexpr llvm::StringLiteral kGradientNorm = "grad_norm";
inline constexpr llvm::StringLiteral kGreatestGradient = "grad_max";

/// Results of a graph of norms, before the name of a parameter.
inline constexpr llvm::StringLiteral kSquare = "square.";
inline constexpr const char *kNorms = "norms"; ///< what such a graph is called

/// A parameter that is updated, under its names in files.
struct UpdatedParameter {
  unsigned argument = 0;    ///< of the step's graph
  unsigned gradient = 0;    ///< number among the gradients of the graph
  std::string name;         ///< "param.fc.weight"
  std::string argumentName; ///< in the graph
  std::string gradientName;
  std::string sum; ///< of its gradients: "accumulated.fc.weight"
  std::vector<std::string> states; ///< "optimizer.exp_avg.fc.weight"
  mlir::RankedTensorType type;
  bool decays = true; ///< takes part in Optimizer::weightDecay
  /// Further arguments that are the same tensor, updated with it.
  std::vector<unsigned> tied;
};

/// Whether the gradients of `graph`, a joint graph, begin at arguments: what a
/// scale or a share of the loss multiplies. A graph that was differentiated
/// elsewhere may have a constant there.
bool hasSeeds(joint::GraphOp graph);

/// The parameters of `graph` that have a gradient, each tensor once, in the
/// order of their arguments. Fails as findTied() does, and with an error at
/// `graph` where one of Optimizer::undecayed fits none of them.
mlir::FailureOr<std::vector<UpdatedParameter>>
findParameters(joint::GraphOp graph, const Optimizer &optimizer);

/// An update or an accumulation as a graph. Its arguments have the names
/// (`joint.name`) that the step's graph has for parameters, and those of
/// UpdatedParameter for the rest; it writes parameters and states, or sums.
struct UpdateGraph {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  joint::GraphOp graph;
  std::string segment; ///< kUpdateSegment, kAccumulateSegment, or kNorms
  std::vector<UpdatedParameter> parameters;
};

/// Where an update has from what all gradients have in common: their norm, if
/// they are clipped, and whether they are finite, if the loss is scaled.
enum class Norms {
  Found, ///< in it, from its gradients; results kGreatestGradient and
         ///< kGradientNorm
  Given  ///< arguments of these names, after the others: of gradients that
         ///< several graphs have, the stages of a pipeline
};

/// The update of `graph`, a joint graph: by its gradients, or by their sums
/// where the optimizer accumulates. Fails with an error at it if there is
/// nothing to update. Linear.
mlir::FailureOr<UpdateGraph> buildUpdate(joint::GraphOp graph,
                                         const Optimizer &optimizer,
                                         Norms norms = Norms::Found);

/// What the norms of several graphs are made of, from the gradients or sums of
/// one: by parameter `square.NAME`, the sum of squares, where it clips; where
/// the loss is scaled, kGreatestGradient, of gradients divided by kLossScale.
/// combineSquares() (Runtime/GradientNorm.h) makes the norm of all squares in
/// the order of arguments, with the bits of an update that finds it itself; the
/// greatest is that of all. Fails as buildUpdate() does. Linear.
mlir::FailureOr<UpdateGraph> buildNorms(joint::GraphOp graph,
                                        const Optimizer &optimizer);

/// What adds the gradients of `graph` to the sums that the update takes, in
/// their type: those of the first micro-batch are the sums, the others are
/// added in their order. Arguments: of each parameter sum and gradient, then
/// kMicroBatch. Fails as findParameters() does, and with an error at `graph`
/// where its gradients begin at no argument, so that no share of a loss can be
/// given. Linear.
mlir::FailureOr<UpdateGraph> buildAccumulation(joint::GraphOp graph,
                                               const Optimizer &optimizer);

/// Adds to `kernels`, the step of `graph` at sizes that are known, segment
/// `accumulate` where the optimizer accumulates, and segment `update`: planned
/// for the device of `options`, proved as the step was, and placed in its arena
/// where nothing is that is read after the step. Gives the launches of each;
/// fails with an error where it belongs.
mlir::FailureOr<std::vector<ListedSegment>>
addUpdate(KernelModule &kernels, joint::GraphOp graph,
          const Optimizer &optimizer, const PartitionOptions &options);

/// Fails, with an error at `graph`, where the arena of `kernels`, which are the
/// step of `plan` and an update after it, is above the plan's limit.
mlir::LogicalResult checkLimit(joint::GraphOp graph,
                               const PartitionResult &plan,
                               const KernelModule &kernels);

} // namespace cutback

#endif // CUTBACK_TRAINING_UPDATE_H

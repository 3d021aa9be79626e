// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proof that two halves compute what the joint graph does. It shares no
// code with the partitioner and trusts nothing but the three functions.
#ifndef CUTBACK_PARTITION_CERTIFICATE_H
#define CUTBACK_PARTITION_CERTIFICATE_H

#include "cutback/Dialect/Joint/Joint.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cutback {

/// How the results of two functions map to a joint graph, where no
/// `joint.partition` says it (PyTorch's own halves, read from text): forward
/// results come first, then the saved values; the backward's arguments are the
/// saved sizes and tensors, then tangents; its results are the gradients, one
/// an argument, `none` where there is none.
struct HalvesSignature {
  /// Saved values: index among the forward's results, index among the
  /// backward's arguments.
  struct Saved {
    unsigned forwardResult, backwardArgument;
  };
  std::vector<Saved> saved;
  /// Backward results: the joint graph's argument that result i belongs to, or
  /// -1 for a backward write / nothing.
  std::vector<int> gradientOf;
  unsigned numForwardResults = 0;
  /// A compiler may have rewritten what it has logged: views that cancel each
  /// other show their base, constants with one number everywhere are equal if
  /// type, number and device are, copies and casts that change nothing are
  /// none, draws may be functions of seeds, and two patterns have other forms
  /// (CertificatePatterns.cpp): all equal in value, but for the sign of a zero
  /// and for what CertificateStats::rounded counts.
  bool isRewritten = false;
};

/// What the certificate counted, for reports.
struct CertificateStats {
  uint64_t classes = 0;       ///< value classes of the joint graph
  uint64_t recomputedOps = 0; ///< ops whose class both halves compute
  /// Values that a compiler has rewritten to others, equal but for rounding.
  uint64_t rounded = 0;
  /// What is handed over, in the order of the signature, as values of the
  /// joint graph; null for what it does not have (a random state).
  llvm::SmallVector<mlir::Value> saved;
};

/// Value numbering of all three functions bottom up (20-partition §6): class =
/// (op, attributes, result types, classes of operands, result index); arguments
/// by name. Names, policies and plan attributes do not count. Each effectful or
/// unseeded random op is a class of its own; in a half it is the one with its
/// key and name, else the next of its key that is left; behind a mark that
/// takes a saved random state, the one that the state was saved for.
///
/// Accepts if and only if
///   * every forward result and every gradient has the joint graph's class;
///   * every effect runs once in both halves together, and each half keeps the
///     joint graph's order; unseeded random ops run at most once, ops that may
///     not be recomputed no more often than in the joint graph;
///   * the saved lists agree, in number, order, types and names, and each half
///     takes arguments of the joint graph in its order;
///   * the backward reads nothing but saved values, tangents, seeds, and
///     parameters, buffers and constants that the forward does not write;
///   * no saved value shares the storage of an argument that the forward
///     writes after the value was made.
/// Otherwise emits an error that names the value and the first difference,
/// with a note at the joint graph's op. Expected linear time, about 150 ns an
/// op of the joint graph at a thousand ops, 300 ns at a hundred thousand.
mlir::LogicalResult verifyHalves(joint::GraphOp graph,
                                 mlir::func::FuncOp forward,
                                 mlir::func::FuncOp backward,
                                 joint::PartitionOp link,
                                 CertificateStats *stats = nullptr);

/// The same for halves that came without a link; `signature` is derived from
/// the places of arguments and results, and their names (`joint.name`), which
/// must agree, by `deriveSignature`.
mlir::LogicalResult verifyHalves(joint::GraphOp graph,
                                 mlir::func::FuncOp forward,
                                 mlir::func::FuncOp backward,
                                 const HalvesSignature &signature,
                                 CertificateStats *stats = nullptr);
mlir::FailureOr<HalvesSignature> deriveSignature(joint::GraphOp graph,
                                                 mlir::func::FuncOp forward,
                                                 mlir::func::FuncOp backward);

} // namespace cutback

#endif // CUTBACK_PARTITION_CERTIFICATE_H

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
/// saved values by name, then tangents; its results are the gradients, one an
/// argument, `none` where there is none.
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
};

/// What the certificate counted, for reports.
struct CertificateStats {
  uint64_t classes = 0;        ///< value classes of the joint graph
  uint64_t recomputedOps = 0;  ///< ops whose class both halves compute
};

/// Value numbering of all three functions bottom up (20-partition §6): class =
/// (op, attributes, classes of operands, result index); arguments by role and
/// name; each effectful or unseeded random op is a class of its own. Accepts
/// if and only if every result, gradient and write has the joint graph's
/// class, in the joint graph's order of effects; effectful and unseeded random
/// ops occur once in both halves together; the saved lists agree; the backward
/// reads nothing but saved values, tangents, seeds, and long-lived arguments
/// that were not written before. Emits an error that names the value
/// otherwise. Expected linear time.
mlir::LogicalResult verifyHalves(joint::GraphOp graph,
                                 mlir::func::FuncOp forward,
                                 mlir::func::FuncOp backward,
                                 joint::PartitionOp link,
                                 CertificateStats *stats = nullptr);

/// The same for halves that came without a link; `signature` is derived from
/// argument names (`joint.name`) by `deriveSignature`.
mlir::LogicalResult verifyHalves(joint::GraphOp graph,
                                 mlir::func::FuncOp forward,
                                 mlir::func::FuncOp backward,
                                 const HalvesSignature &signature,
                                 CertificateStats *stats = nullptr);
mlir::FailureOr<HalvesSignature>
deriveSignature(joint::GraphOp graph, mlir::func::FuncOp forward,
                mlir::func::FuncOp backward);

} // namespace cutback

#endif // CUTBACK_PARTITION_CERTIFICATE_H

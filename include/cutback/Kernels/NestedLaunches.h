// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launches of the graphs that a call runs (`joint.nested`), and what they
// cost: a call has no launch of its own.
#ifndef CUTBACK_KERNELS_NESTEDLAUNCHES_H
#define CUTBACK_KERNELS_NESTEDLAUNCHES_H

#include "cutback/Kernels/ListedLaunch.h"

#include "cutback/Analysis/Device.h"
#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Kernels/Formation.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace cutback {

/// A graph of a call, as a graph of its own, and the kernels that it becomes.
struct NestedKernels {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< has `graph` alone
  joint::GraphOp graph;
  GraphView view;
  ValueSizes sizes;
  SegmentKernels kernels;
};

/// Kernels of the graphs of `op`, at the rates of the default device: these
/// decide only which ops join, so that the result is a function of the op. None
/// for what nobody runs op by op (attention with functions of the scores), or
/// where a size is not known. As much as to form kernels of as many ops.
std::vector<NestedKernels> formNestedKernels(joint::NestedOp op);

/// The calls of a graph whose launches are known, by op, ascending:
///   * of two branches the more expensive one counts, the first of equal ones
///   * the graphs of a loop count as often as they run, where sizes say that
///     (joint::roundsOf); else once
///   * what is copied from a graph, or from one round to the next, counts
///     nothing
std::vector<NestedCall> priceNested(const GraphView &view,
                                    const ValueSizes &sizes,
                                    const Device &device);

} // namespace cutback

#endif // CUTBACK_KERNELS_NESTEDLAUNCHES_H

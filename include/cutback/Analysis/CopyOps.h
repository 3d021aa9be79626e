// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of numbered ops. Operation::clone finds every operand in a hash table,
// which is twice the work of finding it by its number.
#ifndef CUTBACK_ANALYSIS_COPYOPS_H
#define CUTBACK_ANALYSIS_COPYOPS_H

#include "cutback/Analysis/GraphView.h"

namespace cutback {

/// A copy of `op`, which stands nowhere yet. It reads `now` where `op` reads
/// `read`: its operands and, behind them, what its regions read from outside.
/// Of an op without regions nobody looks at `read`.
mlir::Operation *copyReading(mlir::Operation *op,
                             llvm::ArrayRef<mlir::Value> read,
                             llvm::ArrayRef<mlir::Value> now);

/// A copy of op `op`, which stands nowhere yet. `copies` has by value what it
/// reads, and gets its results where it has nothing yet: a value that is
/// already there stays the one that everybody reads.
mlir::Operation *copyOp(const GraphView &view, uint32_t op,
                        llvm::MutableArrayRef<mlir::Value> copies);

/// A copy of `view.graph`, which stands in no module; `copies` gets its values.
/// Linear.
joint::GraphOp copyGraph(const GraphView &view,
                         std::vector<mlir::Value> &copies);

/// The same where there is no view. Of ops in nested regions, as
/// `graph.clone()` copies them.
joint::GraphOp copyGraph(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_ANALYSIS_COPYOPS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program for one choice of its symbolic sizes.
#ifndef CUTBACK_PIPELINING_FIXSIZES_H
#define CUTBACK_PIPELINING_FIXSIZES_H

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/StringMap.h"

namespace cutback {

/// Gives all values of `graph` the sizes that follow from the hints of its
/// symbols, and from `symbols` in their place; calls take numbers where they
/// took sizes. Then the graph has no symbols. Sizes that data decide stay open.
/// Fails with an error at the graph for a symbol that it does not have, or
/// whose value is not known. Linear.
mlir::LogicalResult fixSizes(joint::GraphOp graph,
                             const llvm::StringMap<int64_t> &symbols);

} // namespace cutback

#endif // CUTBACK_PIPELINING_FIXSIZES_H

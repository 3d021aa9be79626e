// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The smallest graph that still shows something: delta debugging (Zeller and
// Hildebrandt, "Simplifying and isolating failure-inducing input", 2002) on
// training graphs.
#ifndef CUTBACK_REDUCE_REDUCE_H
#define CUTBACK_REDUCE_REDUCE_H

#include "cutback/Reduce/GraphEdits.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace cutback {

struct ReduceOptions {
  uint64_t maxTries = ~uint64_t(0);
  /// Candidates that are asked about at the same time. Changes nothing else:
  /// the first that shows it, in the order of the search, is taken.
  unsigned jobs = 1;
};

struct ReduceStats {
  uint64_t tries = 0;   ///< candidates that were asked about and counted
  uint64_t known = 0;   ///< candidates that had been asked about before
  uint64_t invalid = 0; ///< edits whose result does not verify
  GraphSize before, after;
  bool stopped = false;   ///< asked to stop
  bool exhausted = false; ///< maxTries was reached
};

/// One answer a text: does it still show what is looked for? Empty if the
/// search is to stop.
using Oracle =
    std::function<std::vector<uint8_t>(const std::vector<std::string> &)>;
/// Told whenever a smaller graph is found.
using ReduceProgress = std::function<void(const ReduceStats &)>;

/// MLIR text of a module, as candidates are given to the oracle.
std::string candidateText(mlir::ModuleOp module);

/// Makes `module`, which holds one `joint.graph` and passes the oracle,
/// smaller until no edit is left that does. Each candidate verifies. The same
/// graph and the same answers give the same result.
ReduceStats reduceGraph(mlir::OwningOpRef<mlir::ModuleOp> &module,
                        const Oracle &oracle, const ReduceOptions &options,
                        const ReduceProgress &progress);

} // namespace cutback

#endif // CUTBACK_REDUCE_REDUCE_H

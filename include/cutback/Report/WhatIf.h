// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What would change if a plan did the opposite with one value.
#ifndef CUTBACK_REPORT_WHATIF_H
#define CUTBACK_REPORT_WHATIF_H

#include "cutback/Planner/Planner.h"
#include "cutback/Report/Explain.h"

#include <optional>
#include <string>
#include <vector>

namespace cutback {

/// The choice that a plan could have made the other way, or why it could not.
struct Opposite {
  std::string name;   ///< of the value
  bool save = false;  ///< else recompute
  std::string whyNot; ///< not empty: there is no such choice

  /// The policy of the command line that asks for it: "must-save".
  std::string policy() const { return save ? "must-save" : "must-recompute"; }
};
Opposite oppositeOf(const PartitionResult &result, uint32_t value);

/// The plan of a graph for which the opposite is asked: that of `result` was
/// made of `asRead`. Fails, with an error at the graph, where there is none.
mlir::FailureOr<CopiedPlan> planOpposite(joint::GraphOp asRead,
                                         const PartitionResult &result,
                                         const Opposite &opposite);

/// A value that two plans treat differently.
struct FateChange {
  uint32_t value = 0; ///< in the view of the first
  Fate before = Fate::Saved, after = Fate::Saved;
};

/// Values of both plans whose fates differ, in the order of the first, without
/// `except`. They go by their names, as the graphs may be prepared differently.
std::vector<FateChange> changedFates(const PartitionResult &before,
                                     const PartitionResult &after,
                                     uint32_t except);

/// "saved", "recomputed", "in the backward only" …
const char *spell(Fate fate);

/// Lines about the opposite choice; `after` is null where there is none.
std::string whatIfText(const PartitionResult &before,
                       const PartitionResult *after, const Opposite &opposite,
                       uint32_t value);

/// explainValue() and, where `opposite` is given, whatIfText() as one JSON
/// object, schema 1. `inTorch` is what PyTorch's partitioner does with the
/// value, where that is known.
std::string explainJson(const PartitionResult &before,
                        const PartitionResult *after, const Opposite *opposite,
                        uint32_t value, const std::string &module,
                        std::optional<Fate> inTorch = std::nullopt);

} // namespace cutback

#endif // CUTBACK_REPORT_WHATIF_H

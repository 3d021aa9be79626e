// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What would change if a plan did the opposite with one value.
#ifndef CUTBACK_REPORT_WHATIF_H
#define CUTBACK_REPORT_WHATIF_H

#include "cutback/Pipelines/WhatIf.h"
#include "cutback/Report/Explain.h"

#include <optional>
#include <string>
#include <vector>

namespace cutback {

/// The choice that a plan could have made the other way, or why it could not.
struct Opposite {
  std::optional<ForcedChoice> choice;
  std::string whyNot; ///< set if there is no choice
};
Opposite oppositeOf(const PartitionResult &result, uint32_t value);

/// A value that two plans treat differently.
struct FateChange {
  uint32_t value = 0;
  Fate before = Fate::Saved, after = Fate::Saved;
};

/// Values whose fates differ, in the order of the graph, without `except`.
/// Both plans are of one prepared graph.
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
/// object, schema 1.
std::string explainJson(const PartitionResult &before,
                        const PartitionResult *after, const Opposite *opposite,
                        uint32_t value, const std::string &module);

} // namespace cutback

#endif // CUTBACK_REPORT_WHATIF_H

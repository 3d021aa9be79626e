// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of what may not be recomputed, with every rule that says so.
#ifndef CUTBACK_REPORT_BANS_H
#define CUTBACK_REPORT_BANS_H

#include "cutback/Planner/PartitionPipeline.h"

#include <string>

namespace cutback {

/// How many values each rule forbids to recompute, why, and what switches it
/// off; then all of these values in program order with their rules, the one
/// that decides first.
std::string bansText(const PartitionResult &result);

/// The same as one JSON object on one line, schema 1.
std::string bansJson(const PartitionResult &result);

/// Lines of `explain`: the rules that forbid to recompute `value`, one a line;
/// empty if it may be recomputed.
std::string bansOfValue(const PartitionResult &result, uint32_t value);

} // namespace cutback

#endif // CUTBACK_REPORT_BANS_H

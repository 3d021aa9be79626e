// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The step of a plan as a trace, for viewers of traces.
#ifndef CUTBACK_REPORT_TRACEEXPORT_H
#define CUTBACK_REPORT_TRACEEXPORT_H

#include "cutback/Report/Report.h"

namespace cutback {

/// The trace of a plan: one JSON object of the Trace Event Format, which
/// Perfetto and chrome://tracing open. A track a half, with a slice a kernel of
/// fused ops (times of the cost model, in whole nanoseconds), and counters of
/// the bytes in the arena. Times add up to those of the report, and the largest
/// count is its peak of live bytes. `extras` belongs to `result`, which has
/// figures. On failure `error` says what is wrong. Equal plans give equal
/// bytes. O(n log n).
std::optional<std::string> traceJson(const PartitionResult &result,
                                     const ReportExtras &extras,
                                     llvm::StringRef title, std::string &error);

} // namespace cutback

#endif // CUTBACK_REPORT_TRACEEXPORT_H

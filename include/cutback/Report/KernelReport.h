// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launches of a plan, in text and JSON.
#ifndef CUTBACK_REPORT_KERNELREPORT_H
#define CUTBACK_REPORT_KERNELREPORT_H

#include "cutback/Planner/PartitionPipeline.h"

#include "llvm/Support/JSON.h"

#include <string>

namespace cutback {

/// "75 launches: 40 of generated kernels, 35 calls of …", and what they move;
/// empty for a plan without kernels.
std::string kernelsText(const PartitionResult &result);
/// The same of each segment of an optimizer, beside its name; empty where there
/// is none.
std::vector<std::pair<std::string, std::string>>
updateTexts(const PartitionResult &result);

/// Why the update of a plan that has one comes after the backward, the end of
/// a sentence; empty where it is inside, or that was not asked for.
std::string whyUpdateAfter(const PartitionResult &result);

/// The object "kernels": counts, bytes and time of the step, and of each
/// segment, that of an update among them. Nothing for a plan without kernels.
void writeKernels(llvm::json::OStream &json, const PartitionResult &result);

/// The list "segments": each with its launches, in the order in which they run.
/// The time of a launch is max(flops_ps, moved_bytes / bytes_per_ps) +
/// launch_ps, with the rates in "kernels"; of a call that runs graphs the sum
/// of `times` * `ps` over "nested"; that of a segment is their sum.
void writeSegments(llvm::json::OStream &json, const PartitionResult &result);

} // namespace cutback

#endif // CUTBACK_REPORT_KERNELREPORT_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The front of time and memory in a report.
#ifndef CUTBACK_REPORT_FRONTREPORT_H
#define CUTBACK_REPORT_FRONTREPORT_H

#include "cutback/Report/Report.h"

namespace cutback {

/// A row a plan, this one and PyTorch's decision among them.
std::string frontText(const PartitionResult &result,
                      const ReportExtras &extras);

} // namespace cutback

#endif // CUTBACK_REPORT_FRONTREPORT_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The front of time and memory in a report: rows by memory, from the largest
// plan to the smallest, with what each step down saves and costs against the
// plan of the report. Others beside it stand where their peak is.

#include "cutback/Report/FrontReport.h"

#include "cutback/Support/Text.h"

namespace cutback {

std::string frontText(const PartitionResult &result,
                      const ReportExtras &extras) {
  struct Row {
    int64_t peakBytes, pricedPs;
    std::string limit, note;
  };
  std::vector<Row> rows;
  for (const FrontPoint &point : extras.front)
    rows.push_back(
        {point.peakBytes, point.pricedPs, formatBytes(point.limitBytes), ""});
  rows.push_back({result.peak.bytes, result.pricedPs, "", "this plan"});
  if (extras.torch && extras.torch->possible && !extras.torch->chosen)
    rows.push_back(
        {extras.torch->peakBytes, extras.torch->extraPs, "", "torch.compile"});
  std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return a.peakBytes > b.peakBytes;
  });
  TextTable table(
      {TextTable::Right, TextTable::Right, TextTable::Right, TextTable::Left});
  table.add({"--memory-limit", "peak", "extra time", ""});
  for (const Row &row : rows)
    table.add({row.limit, formatBytes(row.peakBytes),
               formatPicoseconds(row.pricedPs), row.note});
  return table.str();
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether all ranks are about to run the same.
#ifndef CUTBACK_RUNTIME_PIPELINE_AGREEMENT_H
#define CUTBACK_RUNTIME_PIPELINE_AGREEMENT_H

#include "cutback/Runtime/Executor.h"
#include "cutback/Runtime/Pipeline/Transport.h"
#include "cutback/Runtime/TensorFiles.h"

#include <string>
#include <utility>
#include <vector>

namespace cutback::pipeline {

/// What a rank is about to run: names of things and their checksums, in one
/// order on all ranks.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// What all ranks do: go on where the code is 0, else end with it.
struct Verdict {
  int code = 0;
  StepError why;
};

/// All ranks call this, each with its own error, of exit code `code`, or 0. The
/// first rank with an error, or whose field differs from that of rank 0, is
/// named to all. Of `width` ranks that share a row, each may have other
/// `ofMembers`: those of rank r are compared with those of rank r % width.
Verdict agree(Waiter &waiter, int code, const StepError &error,
              const Fields &fields, const Fields &ofMembers = {},
              int width = 1);

/// Of the tensors of a file: names, types, sizes, and the first 4 KiB of each.
/// All of a large file would be read by each rank for this.
std::string sampleOf(const TensorFiles &files);

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_AGREEMENT_H

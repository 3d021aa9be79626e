// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of a micro-batch as sizes of a program, and two sizes of a stage.
#ifndef CUTBACK_PIPELINING_BATCHSIZES_H
#define CUTBACK_PIPELINING_BATCHSIZES_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Runtime/Pipeline/Pipeline.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <string>

namespace cutback {

/// Adds to `symbols` those under which a micro-batch of `graph`, a forward
/// program, has `rows` rows: what inputs that ops read have along the dimension
/// by which they are split, 0 unless `splitDims` says another one by name in
/// files (-1: none). Fails with an error at the graph where that is another
/// number, or no symbol of its own; where the symbol has a value in `symbols`
/// already, or was exported for other sizes; and where no input is split.
/// Linear in the arguments.
mlir::LogicalResult fixRows(joint::GraphOp graph,
                            const std::map<std::string, int64_t> &splitDims,
                            int64_t rows, llvm::StringMap<int64_t> &symbols);

/// Whether a stage, as it is for micro-batches of two sizes, takes parts of
/// inputs and makes parts of outputs: their sizes may differ along the
/// dimension by which they are divided or joined. An empty string, or what is
/// wrong, with the next step in `next`.
std::string compareSizes(const PipelineStage &larger,
                         const PipelineStage &smaller, std::string &next);

} // namespace cutback

#endif // CUTBACK_PIPELINING_BATCHSIZES_H

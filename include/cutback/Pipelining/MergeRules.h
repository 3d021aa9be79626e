// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the results of micro-batches become one.
#ifndef CUTBACK_PIPELINING_MERGERULES_H
#define CUTBACK_PIPELINING_MERGERULES_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Runtime/Pipeline/Pipeline.h"

#include <map>
#include <string>

namespace cutback {

struct MergeRule {
  PipelineOutput::Merge merge = PipelineOutput::Concatenate;
  int64_t dim = 0; ///< of Concatenate
};
/// By the name of a result: "output.1".
using MergeRules = std::map<std::string, MergeRule>;

/// "output.1=mean,output.2=cat:1": `cat` is cat:0, others are mean, sum, equal.
/// An empty string, or what is wrong.
std::string parseMergeRules(llvm::StringRef text, MergeRules &rules);

/// The rules for the outputs of `program`, whose sizes are those of a
/// micro-batch: of `asked`, else
///
///   one element      float: mean; else: equal, and an error when it is not
///   with dimensions  joined along the first one, if that is a multiple of the
///                    rows of a micro-batch, else along the only one that is
///                    those rows
///
/// Rows are those of the inputs along `splitDims` (0 for one that is not
/// there, -1: not split); where inputs have different ones, or one row, results
/// are joined along their first dimension. Fails with an error at `program` for
/// a result that none of this fits, for a rule that does not fit its result,
/// and for a name that no output has. Linear, up to look-ups by name.
mlir::FailureOr<MergeRules>
findMergeRules(joint::GraphOp program, const MergeRules &asked,
               const std::map<std::string, int64_t> &splitDims,
               llvm::StringRef loss);

} // namespace cutback

#endif // CUTBACK_PIPELINING_MERGERULES_H

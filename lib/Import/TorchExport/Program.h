// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One exported program becomes one `joint.graph`.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_PROGRAM_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_PROGRAM_H

#include "GraphReader.h"

#include "cutback/Import/Weights.h"

namespace cutback::pt2 {

struct ProgramRequest {
  fx::SourceText source;               ///< the JSON text
  llvm::StringRef symbolName;          ///< of the graph
  const WeightFile *weights = nullptr; ///< says which parameters are tied
  bool isStrict = false;               ///< see ImportOptions::strict
};

/// Reads the program and puts a `joint.graph` where `builder` stands. `kind`
/// becomes Joint if the program has gradients, else Forward.
mlir::FailureOr<joint::GraphOp> importProgram(const ProgramRequest &request,
                                              mlir::OpBuilder &builder,
                                              ImportCounts &counts,
                                              GraphKind &kind);

/// What the program in `text` is, by its output specs; without parsing.
GraphKind sniffProgramKind(llvm::StringRef text);

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_PROGRAM_H

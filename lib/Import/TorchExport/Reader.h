// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs that torch.export.save wrote.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_READER_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_READER_H

#include "cutback/Import/Import.h"

namespace cutback::pt2 {

/// A zip archive, or the JSON of a program.
bool isTorchExport(llvm::StringRef text);

/// `owner`, if it is not null, owns the buffer's memory.
mlir::FailureOr<ImportedModule>
readTorchExport(llvm::MemoryBufferRef buffer,
                std::shared_ptr<llvm::MemoryBuffer> owner,
                mlir::MLIRContext &context, const ImportOptions &options);

mlir::FailureOr<std::vector<GraphInfo>>
listTorchExport(llvm::MemoryBufferRef buffer, mlir::MLIRContext &context);

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_READER_H

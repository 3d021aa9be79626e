// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights and constants of a program, of any container.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_PAYLOADS_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_PAYLOADS_H

#include "Archive.h"

#include "cutback/Import/Weights.h"

namespace cutback::pt2 {

/// Reads the directory of the tensors of `model`; their bytes are not looked
/// at. Null if the archive has no weights at all.
mlir::FailureOr<std::shared_ptr<WeightFile>>
readPayloads(Archive &archive, const Package &package, llvm::StringRef model);

/// Bytes of one element in a storage; 0 if no storage has such elements.
unsigned storedBytes(mlir::Type elementType);

/// Checks that a tensor lies inside of its storage, and notes there how far it
/// reaches. Returns why not, or an empty string.
std::string checkInside(const WeightTensor &tensor);

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_PAYLOADS_H

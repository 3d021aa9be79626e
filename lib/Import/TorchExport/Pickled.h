// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors that torch.save wrote.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_PICKLED_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_PICKLED_H

#include "Payloads.h"

namespace cutback::pt2 {

/// Adds the tensors of the torch.save archive in `entry` to `file`.
mlir::LogicalResult readPickled(Archive &archive, const ZipEntry &entry,
                                bool isConstant, WeightFile &file);

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_PICKLED_H

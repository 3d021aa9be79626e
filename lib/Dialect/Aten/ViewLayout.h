// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What dialect `aten` says about its views.
#ifndef CUTBACK_LIB_DIALECT_ATEN_VIEWLAYOUT_H
#define CUTBACK_LIB_DIALECT_ATEN_VIEWLAYOUT_H

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Aten/Aten.h"

namespace cutback::aten {

std::unique_ptr<ViewLayoutInterface> createViewLayouts(mlir::Dialect *dialect);

} // namespace cutback::aten

#endif // CUTBACK_LIB_DIALECT_ATEN_VIEWLAYOUT_H

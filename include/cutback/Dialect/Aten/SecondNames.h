// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that PyTorch has under two names.
#ifndef CUTBACK_DIALECT_ATEN_SECONDNAMES_H
#define CUTBACK_DIALECT_ATEN_SECONDNAMES_H

#include "llvm/ADT/ArrayRef.h"

namespace cutback::aten {

/// Call targets: `name` does what `meant` does. Parameters have the same names;
/// those that only `name` has do not change what it does.
struct SecondName {
  const char *name, *meant;
};

/// Each name once; none of them is what another one means.
llvm::ArrayRef<SecondName> getSecondNames();

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_SECONDNAMES_H

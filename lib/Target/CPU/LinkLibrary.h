// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object files to a shared library.
#ifndef CUTBACK_LIB_TARGET_CPU_LINKLIBRARY_H
#define CUTBACK_LIB_TARGET_CPU_LINKLIBRARY_H

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace cutback::cpu {

/// Links `objects` (whole files) to a library, `library`, which needs nothing
/// but the C library and libm. The same objects give the same bytes. Returns an
/// empty string, or what went wrong; `log` is then what lld says.
std::string linkLibrary(llvm::ArrayRef<std::string> objects,
                        std::string &library, std::string &log);

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_LINKLIBRARY_H

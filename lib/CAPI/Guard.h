// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The border of the C interface: behind it nothing leaves as an exception, and
// nothing ends the process.
#ifndef CUTBACK_LIB_CAPI_GUARD_H
#define CUTBACK_LIB_CAPI_GUARD_H

#include "Objects.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cutback::capi {

/// Makes fatal errors inside LLVM exceptions that `guarded` catches. Once a
/// process; thread-safe.
void installFatalErrorHandler();

/// Runs `body`. An exception out of it, and a fatal error inside LLVM, become
/// a diagnostic of `context` and CUTBACK_DEFECT; so does any later call with
/// this context. A call that runs out of memory is CUTBACK_WRONG_INPUT itself.
CutbackStatus guarded(CutbackContext &context,
                      llvm::function_ref<CutbackStatus()> body) noexcept;

} // namespace cutback::capi

#endif // CUTBACK_LIB_CAPI_GUARD_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of the command line, as arrays of C strings.
#ifndef CUTBACK_LIB_CAPI_OPTIONS_H
#define CUTBACK_LIB_CAPI_OPTIONS_H

#include "Objects.h"

#include "cutback/Support/CommandLine.h"

namespace cutback::capi {

/// Parses options of a command that has `specs`. Returns nothing after a
/// diagnostic of `context`. The views in the result point into `options`.
std::optional<CommandLine> parseOptions(CutbackContext &context,
                                        std::vector<OptionSpec> specs,
                                        size_t numOptions,
                                        const char *const *options);

/// Reports a wrong use of the interface: `message`, and what to do next.
CutbackStatus wrongUsage(CutbackContext &context, const std::string &message,
                         const char *next);

} // namespace cutback::capi

#endif // CUTBACK_LIB_CAPI_OPTIONS_H

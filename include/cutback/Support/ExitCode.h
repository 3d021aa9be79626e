// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a command, or a call of the C interface, ends.
#ifndef CUTBACK_SUPPORT_EXITCODE_H
#define CUTBACK_SUPPORT_EXITCODE_H

namespace cutback {

/// Exit codes of the command line, and the statuses of the C interface; scripts
/// depend on them.
enum ExitCode {
  Done = 0,
  WrongInput = 1, ///< or holds what cannot be handled
  WrongUsage = 2, ///< the command line
  NoPlan = 3,     ///< or a check failed
  OurDefect = 4,
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_EXITCODE_H

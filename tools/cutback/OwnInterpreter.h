// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter of this program for steps that it runs.
#ifndef CUTBACK_TOOLS_CUTBACK_OWNINTERPRETER_H
#define CUTBACK_TOOLS_CUTBACK_OWNINTERPRETER_H

namespace cutback {

/// From now on it runs the calls of compiled steps that have no machine code.
void useOwnInterpreter();

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_OWNINTERPRETER_H

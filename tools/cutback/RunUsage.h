// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which options of `cutback run` go together.
#ifndef CUTBACK_TOOLS_CUTBACK_RUNUSAGE_H
#define CUTBACK_TOOLS_CUTBACK_RUNUSAGE_H

#include "Session.h"

namespace cutback {

/// Refuses, with what would have had no effect; returns an exit code.
///
/// Of options that only the interpreter has, for a compiled step.
int refuseReferenceOptions(Session &session);
/// Of another target than the one that the line asks for; `isNative`: machine
/// code runs what is no folder.
int refuseOtherTargets(Session &session, bool isNative);
/// Of options that go with another one, which is not there; and of a run
/// without a plan, of how it is planned.
int refuseAlone(Session &session);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_RUNUSAGE_H

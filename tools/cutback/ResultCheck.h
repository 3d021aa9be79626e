// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--check`: whether a step has computed what it should.
#ifndef CUTBACK_TOOLS_CUTBACK_RESULTCHECK_H
#define CUTBACK_TOOLS_CUTBACK_RESULTCHECK_H

#include "Session.h"

#include "cutback/Planner/ReferenceStep.h"

namespace cutback {

/// Compares results with the file of --check, by --rtol, --atol, --tolerances
/// and --exact; adds what it finds to `text`. Exit code, NoPlan for a
/// difference.
int checkResults(Session &session, const ReferenceResult &result,
                 std::string &text);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_RESULTCHECK_H

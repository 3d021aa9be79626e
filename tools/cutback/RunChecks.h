// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `cutback run` is asked to look at while a step runs.
#ifndef CUTBACK_TOOLS_CUTBACK_RUNCHECKS_H
#define CUTBACK_TOOLS_CUTBACK_RUNCHECKS_H

#include "Session.h"

#include "cutback/Interpreter/AnomalyCheck.h"
#include "cutback/Interpreter/RecomputeCheck.h"
#include "cutback/Report/StepTrace.h"

#include <memory>

namespace cutback {

class RunChecks {
public:
  explicit RunChecks(const CommandLine &line);

  /// Whether any is asked for.
  bool any() const { return !observers().empty(); }
  std::vector<interpreter::OpObserver *> observers() const;
  /// After a run that failed: whether a check has stopped it.
  bool hasStopped() const;
  /// After a run that did not: what was looked at, in lines.
  std::string text() const;
  /// Writes the trace, if one is asked for, of what has run. Exit code.
  int writeTrace(Session &session) const;

private:
  std::unique_ptr<interpreter::AnomalyCheck> anomaly;
  std::unique_ptr<interpreter::RecomputeCheck> recompute;
  std::unique_ptr<StepTrace> trace;
};

/// The options, for those of a command: of anomaly mode, and of all.
OptionSpec anomalyOption();
std::vector<OptionSpec> checkOptions();

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_RUNCHECKS_H

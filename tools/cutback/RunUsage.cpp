// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of `cutback run` that go with others, or with another kind of input:
// a graph, stored halves, a compiled step. One that would have no effect is an
// error: who asks for something and hears nothing takes it for done. What a
// stored plan has no use for is said by refusePlanOptions() alone, and what a
// plan has none for where its options are read.

#include "RunUsage.h"

#include "cutback/Planner/PlanOptions.h"
#include "cutback/Report/StoredHalves.h"

namespace cutback {

int refuseReferenceOptions(Session &session) {
  for (const char *name : {"whole", "kernels", "check-kernels"})
    if (session.line.has(name)) {
      session.error(std::string("--") + name + " goes with --reference");
      return WrongUsage;
    }
  return refusePlanOptions(session, session.line, {"hook"});
}

int refuseOtherTargets(Session &session, bool isNative) {
  const CommandLine &line = session.line;
  if (line.has("single-launches")) {
    session.error("--single-launches is of a step for a GPU");
    session.note("give a folder of `compile --target=cuda`");
    return WrongUsage;
  }
  if (line.has("threads")) {
    session.error("--threads is of a compiled step; this one runs on one");
    session.note("give a folder of `compile --target=cpu`");
    return WrongUsage;
  }
  for (const char *other : {"reference", "whole", "check-memory"})
    if (line.has("target") && line.has(other)) {
      session.error("--" + std::string(other) +
                    " is the interpreter's, not of --target=cpu");
      session.note("leave one of the two out");
      return WrongUsage;
    }
  for (const char *name : {"whole", "kernels", "check-kernels", "check-memory"})
    if (isNative && !line.has("target") && line.has(name)) {
      session.error("--" + std::string(name) + " goes with --reference");
      return WrongUsage;
    }
  return Done;
}

/// Refuses what a run of the graph as it is would not look at: how it is
/// planned, and checks of that plan.
static int refuseOfWhole(Session &session) {
  const CommandLine &line = session.line;
  auto refuse = [&](std::string_view name) {
    session.error("--" + std::string(name) +
                  " has no effect with --whole, which runs the graph without a "
                  "plan");
    session.note("leave one of the two out");
    return WrongUsage;
  };
  for (const char *name :
       {"kernels", "check-kernels", "check-memory", "check-recompute"})
    if (line.has(name))
      return refuse(name);
  for (const OptionSpec &option : planOptions())
    if (line.has(option.name) && option.name != "sym")
      return refuse(option.name);
  return Done;
}

int refuseAlone(Session &session) {
  const CommandLine &line = session.line;
  for (const char *name : {"rtol", "atol", "tolerances", "exact"})
    if (line.has(name) && !line.has("check")) {
      session.error("--" + std::string(name) + " goes with --check=F");
      return WrongUsage;
    }
  return line.has("whole") && !line.has("target") ? refuseOfWhole(session)
                                                  : int(Done);
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options that look on while a step runs, from the command line to the
// observers of the interpreter. A check that stops the run has printed why, and
// is exit code 3: the input can be read, the step does not hold what is asked.
// One that has not says what it has looked at, so that nobody takes a check of
// nothing for a check.

#include "RunChecks.h"

#include "ArtifactRun.h"

#include "cutback/Support/Text.h"

using namespace cutback::interpreter;

namespace cutback {

OptionSpec anomalyOption() {
  return {"anomaly", OptionSpec::Flag, "",
          "stop at the first NaN or infinity in a gradient, exit\n"
          "code 3: names the op, its op of the forward, and what\n"
          "was finite before. Launches of the backward run again\n"
          "op by op for that. Slow"};
}

std::vector<OptionSpec> checkOptions() {
  return {
      anomalyOption(),
      {"check-recompute", OptionSpec::Flag, "",
       "compare each recomputed value with the forward's:\n"
       "type, sizes, bits; exit code 3 at the first that\n"
       "differs. Takes the memory of --strategy=save-all"},
      {"trace", OptionSpec::Text, "F.json",
       "what ran when, for a viewer of Chrome traces: both\n"
       "halves, each op with its number and region,\n"
       "recomputed ones marked. Each of these three implies\n"
       "--reference for IN"},
  };
}

RunChecks::RunChecks(const CommandLine &line) {
  if (line.has("anomaly"))
    anomaly = std::make_unique<AnomalyCheck>();
  if (line.has("check-recompute"))
    recompute = std::make_unique<RecomputeCheck>();
  if (line.has("trace"))
    trace = std::make_unique<StepTrace>(line.arguments[0]);
}

std::vector<OpObserver *> RunChecks::observers() const {
  std::vector<OpObserver *> list;
  // It measures the op, not the checks behind it.
  if (trace)
    list.push_back(trace.get());
  if (anomaly)
    list.push_back(anomaly.get());
  if (recompute)
    list.push_back(recompute.get());
  return list;
}

bool RunChecks::hasStopped() const {
  return (anomaly && anomaly->anomaly()) ||
         (recompute && recompute->hasDiffered());
}

int RunChecks::writeTrace(Session &session) const {
  return trace ? session.write(session.line.get("trace"), trace->json()) : Done;
}

std::string RunChecks::text() const {
  std::string text;
  if (anomaly)
    text += "all gradients are finite: " +
            formatCount(anomaly->numLooked(), "tensor") +
            " of the backward looked at\n";
  if (!recompute)
    return text;
  if (uint64_t compared = recompute->numCompared())
    text += formatCount(compared, "recomputed value") +
            " compared with the forward's, all bits equal; " +
            formatBytes(recompute->keptBytes()) + " kept for that\n";
  if (uint64_t unseen = recompute->numUnseen())
    text += formatCount(unseen, "recomputed value") +
            " not compared, in no memory; --reference compares all\n";
  if (recompute->numCompared() + recompute->numUnseen() == 0)
    text += "no value is recomputed\n";
  return text;
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback compile --to=partition`: writes joint.mlir, forward.mlir,
// backward.mlir and plan.json into a folder, all of them or none. With the
// options of a report, so that what is written is what was reported; other
// phases than the partition are refused until there are any, because a script
// that asks for them must not take what it gets for them.

#include "PlanRun.h"

#include "cutback/Report/PartitionFiles.h"

namespace cutback {

CommandSpec compileSpec() {
  CommandSpec spec;
  spec.name = "compile";
  spec.arguments = "IN -o DIR --to=partition";
  spec.summary = "Plan, and write the two halves.\n\n"
                 "DIR gets joint.mlir, forward.mlir, backward.mlir and "
                 "plan.json.";
  spec.options = withPlanOptions({
      {"o", OptionSpec::Text, "DIR", "the folder of the results"},
      {"to", OptionSpec::Choice, "partition", "the phase to stop after"},
  });
  spec.examples = {
      "compile joint.txt -o out --to=partition",
      "compile trace.log --graph=0 -o out --to=partition --strategy=eager",
  };
  return spec;
}

int runCompile(const CommandLine &line) {
  Session session("compile", line);
  if (!line.has("o")) {
    session.error("expected -o DIR");
    session.note("the two halves and the plan go into that folder");
    return WrongUsage;
  }
  if (!line.has("to")) {
    session.error("expected --to=partition");
    session.note("later phases are not in this version");
    return WrongUsage;
  }
  PlanRun run;
  if (int code = run.load(session, importOptionsOf(line)))
    return code;
  if (int code = run.plan(session, /*memory=*/true))
    return code;
  session.progress.step("writing");
  std::string error =
      writePartition(run.imported.graph, *run.result,
                     collectExtras(*run.result), std::string(*line.get("o")));
  return error.empty() ? Done : session.failedWrite(error);
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback compile`: writes joint.mlir, forward.mlir, backward.mlir and
// plan.json into a folder, and with --to=kernels kernels.mlir, all of them or
// none. With the
// options of a report, so that what is written is what was reported; other
// phases than the partition are refused until there are any, because a script
// that asks for them must not take what it gets for them.

#include "PlanRun.h"

#include "cutback/Lowering/FormKernels.h"
#include "cutback/Report/PartitionFiles.h"

using namespace mlir;

namespace cutback {

CommandSpec compileSpec() {
  CommandSpec spec;
  spec.name = "compile";
  spec.arguments = "IN -o DIR --to=PHASE";
  spec.summary = "Plan, and write the two halves.\n\n"
                 "DIR gets joint.mlir, forward.mlir, backward.mlir and "
                 "plan.json; with\n--to=kernels also kernels.mlir: both "
                 "halves as launches in one arena,\nand what each kernel "
                 "computes.";
  spec.options = withPlanOptions({
      {"o", OptionSpec::Text, "DIR", "the folder of the results"},
      {"to", OptionSpec::Choice, "partition|kernels",
       "the phase to stop after"},
  });
  spec.examples = {
      "compile joint.txt -o out --to=partition",
      "compile model.pt2 -o out --to=kernels",
      "compile trace.log --graph=0 -o out --to=partition --strategy=eager",
  };
  return spec;
}

/// The kernels of the plan, and in a line how many there are.
static int formKernels(Session &session, PlanRun &run,
                       std::optional<KernelModule> &kernels) {
  const PartitionResult &plan = *run.result;
  if (!plan.memory || !plan.kernelPlan) {
    session.error("the step has no memory plan: " + plan.memoryProblem);
    session.note("kernels lie in an arena of known size; give sizes with "
                 "--sym, or stop with --to=partition");
    return NoPlan;
  }
  session.progress.step("forming kernels");
  FailureOr<KernelModule> formed =
      cutback::formKernels(plan.partition.link, *plan.kernelPlan, *plan.memory);
  if (failed(formed) || failed(verifyKernels(plan.view.graph, *formed)))
    return NoPlan;
  kernels = std::move(*formed);
  return Done;
}

int runCompile(const CommandLine &line) {
  Session session("compile", line);
  if (!line.has("o")) {
    session.error("expected -o DIR");
    session.note("the two halves and the plan go into that folder");
    return WrongUsage;
  }
  if (!line.has("to")) {
    session.error("expected --to=partition or --to=kernels");
    session.note("later phases are not in this version");
    return WrongUsage;
  }
  PlanRun run;
  if (int code = run.load(session, importOptionsOf(line)))
    return code;
  bool toKernels = line.get("to") == "kernels";
  run.options.decompose |= toKernels;
  if (int code = run.plan(session, /*memory=*/true))
    return code;
  std::optional<KernelModule> kernels;
  if (toKernels)
    if (int code = formKernels(session, run, kernels))
      return code;
  session.progress.step("writing");
  std::string error = writePartition(
      run.imported.graph, *run.result, collectExtras(*run.result),
      std::string(*line.get("o")), kernels ? *kernels->module : ModuleOp());
  return error.empty() ? Done : session.failedWrite(error);
}

} // namespace cutback

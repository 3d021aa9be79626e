// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback compile --to=partition`: writes joint.mlir, forward.mlir,
// backward.mlir and plan.json into a folder, all of them or none. The graph is
// written as it was prepared, so that the certificate can be asked again from
// the files alone. plan.json is the object of `report --json` without times:
// two runs write equal bytes.

#include "PlanRun.h"

#include "cutback/Report/Report.h"
#include "cutback/Support/SafeFile.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

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
      "compile trace.log --graph=0 -o out --to=partition --strategy=save-all",
  };
  return spec;
}

static std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo();
  op->print(os, flags);
  os << "\n";
  return text;
}

/// Moves `op` into a module of its own and prints it.
static std::string printAlone(Operation *op) {
  OpBuilder builder(op->getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  op->remove();
  module->push_back(op);
  return print(*module);
}

int runCompile(const CommandLine &line) {
  Session session("compile", line);
  if (!line.has("o")) {
    session.error("expected -o DIR");
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
  if (int code = run.plan(session))
    return code;
  session.progress.step("writing");
  ReportExtras extras = collectExtras(*run.result);
  std::string plan = reportJson(*run.result, extras, /*withTimes=*/false);
  Partition &partition = run.result->partition;
  partition.link->erase();
  std::string forward = printAlone(partition.forward);
  std::string backward = printAlone(partition.backward);
  std::string joint = printAlone(run.imported.graph);
  std::string error = writeFolderSafely(std::string(*line.get("o")),
                                        {{"joint.mlir", joint},
                                         {"forward.mlir", forward},
                                         {"backward.mlir", backward},
                                         {"plan.json", plan}});
  if (error.empty())
    return Done;
  session.error(error);
  return WrongInput;
}

} // namespace cutback

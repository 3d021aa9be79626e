// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback report`: plan, compare, explain in one screen.
//
//   1. read the graph, and PyTorch's own halves if the log has them
//   2. the certificate on PyTorch's halves, against the graph as it was read
//   3. prepare, plan and verify by the chosen strategy
//   4. plan by the other three and as PyTorch decides, each as if it had been
//      asked for
//   5. with --optimizer, the launches of the update
//   6. with --trace, the step as a trace
//   7. with --html, more plans, and the page (PageRun.cpp)
//
// A refused partition of somebody else is a finding, not a failure: the exit
// code is 0.

#include "PageRun.h"
#include "StepKernels.h"

#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Report/Bans.h"
#include "cutback/Report/Comparison.h"
#include "cutback/Report/OtherHalves.h"
#include "cutback/Report/TraceExport.h"

using namespace mlir;

namespace cutback {

CommandSpec reportSpec() {
  CommandSpec spec;
  spec.name = "report";
  spec.arguments = "IN";
  spec.summary = "Plan, and explain the plan in one screen.";
  std::vector<OptionSpec> options = {
      {"json", OptionSpec::Flag, "", "print one JSON object (schema 1)"},
      {"bans", OptionSpec::Flag, "",
       "print what may not be recomputed instead, with every\n"
       "rule that forbids it; with --json as JSON"},
      {"html", OptionSpec::Text, "F",
       "write a page for a browser as well: memory over\nthe step, every "
       "decision, and a slider over plans\nfrom fast to small; it needs no "
       "network"},
      {"trace", OptionSpec::Text, "F",
       "write the step as a trace as well, for Perfetto\n(ui.perfetto.dev) or "
       "chrome://tracing: kernels with\nthe times of the cost model, and bytes "
       "in use"},
  };
  options.push_back({"front", OptionSpec::Integer, "N",
                     "also what N limits of memory, from the least peak to\n"
                     "that of this plan, cost in time (2 to 1000)"});
  std::vector<OptionSpec> optimizer = plannedOptimizerOptions();
  options.push_back({"", OptionSpec::Flag, "", "the optimizer"});
  options.insert(options.end(), optimizer.begin(), optimizer.end());
  spec.options = withPlanOptions(std::move(options));
  spec.examples = {
      "report joint.txt",
      "report trace.log --json",
      "report joint.txt --html=report.html",
      "report joint.txt --trace=step.json",
      "report joint.txt --sym s0=64 --device=a100",
      "report joint.txt --cost-model=pytorch --rules=torch-2.3",
      "report joint.txt --policy=addmm_3=must-save",
      "report model.pt2 --optimizer=adamw --clip-norm=1",
      "report model.pt2 --memory-limit=24GiB",
      "report model.pt2 --front=8",
  };
  return spec;
}

/// Writes the files that were asked for beside the report. Returns an exit
/// code.
static int writeFiles(Session &session, PlanRun &run,
                      const ReportExtras &extras,
                      std::optional<PageRun> &page) {
  const CommandLine &line = session.line;
  if (line.has("trace")) {
    std::string error;
    std::string title = titleOf(line.arguments.front(), run.result->graph);
    auto trace = traceJson(*run.result, extras, title, error);
    // The device was read for the plan; it may be gone by now.
    if (!trace) {
      session.error(error);
      return WrongInput;
    }
    if (int code = session.write(line.get("trace"), *trace))
      return code;
  }
  return page ? session.write(line.get("html"), page->make(extras)) : Done;
}

/// The update behind the plan: its launches need those of the step.
static int addUpdate(Session &session, PlanRun &run,
                     const Optimizer &optimizer) {
  std::optional<KernelModule> kernels;
  if (int code =
          formKernels(session, *run.result, /*forAllSizes=*/false, kernels))
    return code;
  return addUpdate(*run.result, *kernels, run.imported.graph, optimizer,
                   optimizerText(session.line))
             ? Done
             : NoPlan;
}

/// A front has objectives of its own.
static int checkFront(Session &session) {
  const CommandLine &line = session.line;
  if (!line.has("front"))
    return Done;
  int64_t count = line.integer("front").value_or(0);
  std::string error;
  if (count < 2 || count > 1000)
    error = "--front is a number of limits, 2 to 1000";
  for (const char *name :
       {"minimize", "memory-limit", "byte-price", "effort", "bans", "html"})
    if (error.empty() && line.has(name))
      error = "--front plans for limits of its own, which --" +
              std::string(name) + " has no effect on: leave one of them out";
  if (error.empty() &&
      (line.get("cost-model").value_or("roofline") != "roofline" ||
       line.get("strategy").value_or("min-cut") != "min-cut"))
    error = "--front needs --cost-model=roofline and --strategy=min-cut";
  if (error.empty() && isStoredPlan(line.arguments.front()))
    error = "--front needs a graph: a stored plan is one plan";
  if (error.empty())
    return Done;
  session.error(error);
  return WrongUsage;
}

static int addFront(Session &session, joint::GraphOp asRead,
                    const PartitionResult &result, ReportExtras &extras) {
  int64_t count = session.line.integer("front").value_or(0);
  if (count == 0)
    return Done;
  auto front =
      planFront(asRead, result.options, static_cast<unsigned>(count),
                [&](unsigned number) {
                  session.progress.step("limit " + std::to_string(number + 1) +
                                        " of " + std::to_string(count));
                });
  if (failed(front))
    return NoPlan;
  extras.front = std::move(*front);
  return Done;
}

/// Options of which one would have no effect beside the other.
static int checkUsage(Session &session) {
  const CommandLine &line = session.line;
  if (int code = checkFront(session))
    return code;
  if (line.get("html") == "-" && line.get("trace") == "-") {
    session.error("--html=- and --trace=- both write to standard output");
    session.note("give one of them the name of a file");
    return WrongUsage;
  }
  for (const char *name : {"html", "trace"})
    if (line.has("json") && line.get(name) == "-") {
      session.error("--json and --" + std::string(name) +
                    "=- both write to standard output");
      session.note("give the other one the name of a file");
      return WrongUsage;
    }
  if (!line.has("bans"))
    return Done;
  if (line.has("html")) {
    session.error("--bans prints a list, --html a page: give one of them");
    return WrongUsage;
  }
  for (const char *name : {"trace", "optimizer"})
    if (line.has(name)) {
      session.error("--bans prints a list, which --" + std::string(name) +
                    " has no effect on: give one of them");
      return WrongUsage;
    }
  return Done;
}

int runReport(const CommandLine &line) {
  Session session("report", line);
  if (int code = checkUsage(session))
    return code;
  std::string wrong;
  std::optional<Optimizer> optimizer = readOptimizer(line, wrong);
  if (!wrong.empty()) {
    session.error(wrong);
    return WrongUsage;
  }
  PlanRun run;
  ImportOptions importOptions = importOptionsOf(line);
  importOptions.torchHalves = true;
  if (int code = run.load(session, importOptions))
    return code;
  if (optimizer && (!run.result || joint::hasInsideUpdate(run.imported.graph)))
    if (int code = placeUpdate(session, run.imported.graph, *optimizer))
      return code;
  std::optional<OtherPartition> other = judgeOther(run.imported, run.options);
  std::optional<PageRun> page;
  if (line.has("html"))
    page.emplace(session, run);
  OwningOpRef<joint::GraphOp> asRead =
      line.has("front") ? cast<joint::GraphOp>(run.imported.graph->clone())
                        : copyToCompare(run.imported.graph);
  if (int code = run.plan(session, /*memory=*/true))
    return code;
  if (line.has("bans"))
    return session.write(std::nullopt, line.has("json")
                                           ? bansJson(*run.result)
                                           : bansText(*run.result));
  if (optimizer)
    if (int code = addUpdate(session, run, *optimizer))
      return code;
  ReportExtras extras = collectExtras(*run.result);
  extras.eager = run.eager;
  if (other) {
    countOther(*run.result, run.imported.torchBackward, *other);
    extras.other = other;
  }
  compareStrategies(asRead.get(), *run.result, extras,
                    isStoredPlan(line.arguments.front()) ? PlannedGraph::Stored
                                                         : PlannedGraph::AsRead,
                    [&](StringRef what) {
                      session.progress.step("comparing with " + what.str());
                    });
  if (int code = addFront(session, asRead.get(), *run.result, extras))
    return code;
  if (int code = writeFiles(session, run, extras, page))
    return code;
  if (line.get("html") == "-" || line.get("trace") == "-")
    return Done;
  return session.write(std::nullopt, line.has("json")
                                         ? reportJson(*run.result, extras)
                                         : reportText(*run.result, extras));
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback schedule`: how the ranks of a pipeline would run.
//
//   1. costs: of a pipeline that `split` wrote, or of the command line
//   2. the schedule: by name, from a file of actions, or searched for
//   3. checks: what is wrong is said with rank, step and the grid
//   4. a simulation, and a bound that no order beats
//   5. text or JSON, and the files that were asked for
//
// Nothing is run.

#include "ScheduleInputs.h"

#include "cutback/Report/SchedulePage.h"
#include "cutback/Runtime/Pipeline/PipelineCosts.h"
#include "cutback/Schedule/Automatic.h"
#include "cutback/Schedule/Csv.h"
#include "cutback/Schedule/Lower.h"
#include "cutback/Schedule/Views.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace cutback {

using namespace pipeline;

/// What is written, and how.
static std::vector<OptionSpec> outputOptions() {
  return {
      {"json", OptionSpec::Flag, "", "print one JSON object (schema 1)"},
      {"svg", OptionSpec::Text, "F", "write a picture as well"},
      {"html", OptionSpec::Text, "F", "write a page for a browser as well"},
      {"trace", OptionSpec::Text, "F",
       "write a trace as well, for Perfetto\n(ui.perfetto.dev) or "
       "chrome://tracing"},
      {"csv", OptionSpec::Text, "F",
       "write the actions as well, in PyTorch's notation"},
      {"transfers", OptionSpec::Flag, "",
       "with --csv: with sends, receives and reductions"},
      {"gathered-stages", OptionSpec::Integer, "K",
       "with --transfers: UNSHARD and RESHARD, so that a rank\nhas K stages at "
       "a time (PyTorch has 3)",
       false, 1},
      {"defer-receives", OptionSpec::Flag, "",
       "with --transfers: receives as late as they may come"},
      {"merge-backwards", OptionSpec::Flag, "",
       "I and W that are neighbours become B"},
  };
}

CommandSpec scheduleSpec() {
  CommandSpec spec;
  spec.name = "schedule";
  spec.arguments = "[P] --schedule=NAME --ranks=N --micro-batches=M";
  spec.summary =
      "Simulate the ranks of a pipeline.\n\n"
      "P is what `split` wrote; without it all stages take the same time. "
      "Schedules\nare GPipe, 1F1B, LoopedBFS, Interleaved1F1B, "
      "InterleavedZeroBubble,\nZBVZeroBubble, DualPipeV, V-Half and V-Min, in "
      "any case, and files of actions\nin PyTorch's notation "
      "(docs/Schedules.md).";
  spec.options = {
      {"schedule", OptionSpec::Text, "NAME|F.csv|auto",
       "a name, a file, or the fastest that is found for\nthese costs within "
       "--memory-limit"},
      {"ranks", OptionSpec::Integer, "N",
       "unless it is a file; default: that of P's stages", false, 1},
      {"micro-batches", OptionSpec::Integer, "M", "unless it is a file", false,
       1},
      {"stages-per-rank", OptionSpec::Integer, "V",
       "default: as many as P has for N ranks, else 1 for\nGPipe, 1F1B and "
       "auto, 2 for the others",
       false, 1},
      {"memory-limit", OptionSpec::Text, "BYTES",
       "of each rank, as 4096, 1.5MiB or 24GiB"},
      {"forward-only", OptionSpec::Flag, "", "for evaluation: no backwards"},
  };
  for (const auto &more : {outputOptions(), scheduleInputOptions()})
    spec.options.insert(spec.options.end(), more.begin(), more.end());
  spec.examples = {
      "schedule --schedule=1F1B --ranks=4 --micro-batches=8",
      "schedule --schedule=V-Half --ranks=4 --micro-batches=8 --times=F=1,I=2",
      "schedule --schedule=GPipe --ranks=2 --micro-batches=4 --csv=f.csv",
      "schedule --schedule=f.csv --json --bytes=F=120MiB,I=196MiB",
      "schedule P --schedule=ZBVZeroBubble --micro-batches=16 --html=f.html",
      "schedule P --schedule=auto --ranks=2 --micro-batches=8 --bandwidth=50",
      "schedule P --schedule=auto --ranks=2 --micro-batches=8 --latency-us=5",
  };
  spec.minArguments = 0;
  return spec;
}

namespace {
class ScheduleRun {
public:
  explicit ScheduleRun(const CommandLine &line)
      : session("schedule", line), line(line) {}

  int run() {
    if (int code = checkUsage())
      return code;
    if (int code = readMemoryLimit(session, memoryLimit))
      return code;
    if (!line.arguments.empty())
      if (int code = readPipeline())
        return code;
    if (int code = readSchedule())
      return code;
    if (int code = prepare())
      return code;
    ScheduleError error;
    auto simulation = simulate(schedule, costs, error);
    if (!simulation)
      return reportError(session, error);
    if (int code = checkMemory(*simulation))
      return code;
    Problem problem = problemOf(schedule, costs);
    problem.memoryLimit = memoryLimit;
    ScheduleView view{schedule, costs, *simulation, boundMakespan(problem)};
    if (found)
      view.bound = found->bound;
    return write(view);
  }

private:
  int checkUsage() {
    if (!line.has("schedule")) {
      session.error("no --schedule");
      session.note("give a name or a file of actions; "
                   "see `cutback schedule --help`");
      return WrongUsage;
    }
    int toOutput = line.has("json");
    for (const char *name : {"svg", "html", "trace", "csv"})
      toOutput += line.get(name) == "-";
    if (toOutput > 1) {
      session.error("several results go to standard output");
      session.note("give all but one of them the name of a file");
      return WrongUsage;
    }
    for (const char *name : {"gathered-stages", "defer-receives"})
      if (line.has(name) && !line.has("transfers")) {
        session.error("--" + std::string(name) + " needs --transfers");
        session.note("it is about lists that are ready to run");
        return WrongUsage;
      }
    if (line.has("transfers") && !line.has("csv")) {
      session.error("--transfers needs --csv=F");
      session.note("sends and receives are written there");
      return WrongUsage;
    }
    return Done;
  }

  int readPipeline() {
    pipeline.emplace();
    StepError error;
    if (readPipelineFolder(line.arguments[0], *pipeline, error))
      return Done;
    return reportError(session, {error.what, error.next});
  }

  bool isFile() const {
    StringRef name(line.get("schedule")->data(), line.get("schedule")->size());
    return name.ends_with(".csv") || name == "-";
  }

  int readSchedule() {
    std::string name(*line.get("schedule"));
    if (!isFile())
      return name == "auto" ? searchAutomatic() : generateNamed(name);
    for (const char *option : {"ranks", "micro-batches", "stages-per-rank"})
      if (line.has(option)) {
        session.error("--" + std::string(option) + " beside a file");
        session.note("the file has ranks, stages and micro-batches");
        return WrongUsage;
      }
    std::string text;
    if (int code =
            readText(session, name, text,
                     "a schedule is a name, or a file that ends in .csv"))
      return code;
    ScheduleError error;
    auto read = readCsv(text, name == "-" ? "<stdin>" : name, error);
    if (!read)
      return reportError(session, error);
    schedule = *read;
    return Done;
  }

  /// Sizes from the command line. Exit code.
  int readShape(const std::string &name, Shape &shape) {
    bool hasStages = pipeline.has_value();
    for (const char *option : {"ranks", "micro-batches"})
      if (!line.has(option) &&
          !(hasStages && std::string_view(option) == "ranks")) {
        session.error("no --" + std::string(option));
        session.note("a schedule has any number of them");
        return WrongUsage;
      }
    auto sizeOf = [&](const char *option) {
      return static_cast<int>(
          std::min<int64_t>(line.integer(option).value_or(1), kMostSize));
    };
    shape.ranks = sizeOf("ranks");
    if (hasStages && !line.has("ranks")) {
      int stages = static_cast<int>(pipeline->stages.size());
      int each = usualStagesPerRank(name);
      shape.ranks = stages % each == 0 ? stages / each : stages;
    }
    shape.microBatches = sizeOf("micro-batches");
    shape.isForwardOnly = line.has("forward-only");
    return findStagesPerRank(name, shape);
  }

  int generateNamed(const std::string &name) {
    Shape shape;
    if (findScheduleName(name))
      if (int code = readShape(name, shape))
        return code;
    ScheduleError error;
    auto made = generate(name, shape, error);
    if (!made)
      return reportError(session, error, WrongUsage);
    schedule = *made;
    return Done;
  }

  int searchAutomatic() {
    AutomaticRequest request;
    if (int code = readShape("auto", request.shape))
      return code;
    const Shape &shape = request.shape;
    // As of a named one, which has any number of stages.
    ScheduleError error;
    if (!generate("LoopedBFS", shape, error))
      return reportError(session, error, WrongUsage);
    int stages = shape.ranks * shape.stagesPerRank;
    bool hasBackward = !shape.isForwardOnly;
    if (int code = findCosts(
            {size_t(stages), {true, hasBackward, hasBackward, hasBackward}}))
      return code;
    if (memoryLimit != kNoMemoryLimit && !hasBytes()) {
      session.error("--memory-limit without bytes");
      session.note("say what a micro-batch keeps by --bytes=F=N,I=N, or "
                   "give a pipeline that was split");
      return WrongUsage;
    }
    request.costs = costs;
    request.memoryLimit = memoryLimit;
    if (pipeline)
      for (const PipelineStage &stage : pipeline->stages)
        request.splitsBackwards &= stage.phases[PipelineStage::Input] ||
                                   stage.phases[PipelineStage::Weight];
    session.progress.step("searching");
    found = findSchedule(request, error);
    if (!found)
      return reportError(session, error, NoPlan);
    schedule = found->schedule;
    return Done;
  }

  bool hasBytes() const {
    bool found = false;
    for (const StageCosts &stage : costs.stages)
      found |= stage.untilInputs > 0 || stage.untilWeights > 0;
    return found;
  }

  int checkMemory(const Simulation &simulation) {
    std::string limit(line.get("memory-limit").value_or(""));
    for (size_t rank = 0; rank < simulation.ranks.size(); ++rank) {
      int64_t peak = simulation.ranks[rank].peakBytes;
      if (peak <= memoryLimit)
        continue;
      session.error("rank " + std::to_string(rank) + " needs " +
                    formatBytes(peak) + ", more than --memory-limit=" + limit);
      session.note("--schedule=auto looks for one within it; V-Half and V-Min "
                   "hold a half and a third of what 1F1B does");
      return NoPlan;
    }
    return Done;
  }

  int findStagesPerRank(const std::string &name, Shape &shape) {
    shape.stagesPerRank = usualStagesPerRank(name);
    if (pipeline) {
      int stages = static_cast<int>(pipeline->stages.size());
      if (stages % shape.ranks != 0) {
        session.error(std::to_string(stages) + " stages on " +
                      std::to_string(shape.ranks) +
                      " ranks: each rank has equally many");
        session.note("take a number of ranks that divides the stages, or give "
                     "--schedule=F.csv, which puts stages anywhere");
        return WrongUsage;
      }
      shape.stagesPerRank = stages / shape.ranks;
    }
    if (auto given = line.integer("stages-per-rank"))
      shape.stagesPerRank =
          static_cast<int>(std::min<int64_t>(*given, kMostSize));
    return Done;
  }

  /// `kinds` of actions that run, by stage.
  int findCosts(const std::vector<std::array<bool, 4>> &kinds) {
    costs = pipeline ? costsOf(*pipeline)
                     : equalCosts(static_cast<int>(kinds.size()));
    return readCosts(session, {kinds, pipeline.has_value()}, costs);
  }

  /// Costs, and checks with them.
  int prepare() {
    if (pipeline)
      if (auto error = checkPhases(schedule, *pipeline))
        return reportError(session, *error);
    if (!found)
      if (int code = findCosts(kindsOf(
              line.has("forward-only") ? forwardOnly(schedule) : schedule)))
        return code;
    ListForm form = ListForm::Compute;
    for (const Row &row : schedule.rows)
      for (const auto &action : row)
        if (action && !isCompute(action->kind))
          form = ListForm::WithTransfers;
    if (auto error = checkActions(schedule, costs.crossings, form))
      return reportError(session, *error);
    if (isFile() && line.has("forward-only"))
      schedule = forwardOnly(schedule);
    return lowerActions();
  }

  /// The lists for --csv, and compute actions for the simulation.
  int lowerActions() {
    LowerOptions options;
    options.mergesBackwards = line.has("merge-backwards");
    options.defersReceives = line.has("defer-receives");
    options.gatheredStages = static_cast<int>(std::min<int64_t>(
        line.integer("gathered-stages").value_or(0), schedule.stages));
    ScheduleError error;
    auto made = lower(schedule, costs.crossings, options, error);
    if (!made)
      return reportError(session, error);
    lists = *made;
    schedule = computeOnly(lists);
    return Done;
  }

  int write(const ScheduleView &view) {
    if (auto path = line.get("csv"))
      if (int code = session.write(
              path, writeCsv(line.has("transfers") ? lists : schedule)))
        return code;
    if (auto path = line.get("svg"))
      if (int code = session.write(path, writeScheduleSvg(view)))
        return code;
    if (auto path = line.get("html"))
      if (int code = session.write(path, writeSchedulePage(view)))
        return code;
    if (auto path = line.get("trace"))
      if (int code = session.write(path, writeScheduleTrace(view)))
        return code;
    for (const char *name : {"svg", "html", "trace", "csv"})
      if (line.get(name) == "-")
        return Done;
    if (line.has("json"))
      return session.write(std::nullopt, writeScheduleJson(view));
    return session.write(std::nullopt, formatTimeline(view) + describeSizes());
  }

  /// Of which size of a micro-batch the manifest's numbers are.
  std::string describeSizes() const {
    if (!pipeline || pipeline->smaller.empty())
      return "";
    return std::string("\n") +
           (line.has("times") ? "bytes" : "times and bytes") +
           " are the most of two sizes of a micro-batch\n";
  }

  static constexpr int64_t kMostSize = int64_t(1) << 24;

  Session session;
  const CommandLine &line;
  int64_t memoryLimit = kNoMemoryLimit;
  std::optional<Pipeline> pipeline;
  std::optional<AutomaticSchedule> found;
  Costs costs;
  Schedule schedule, lists;
};
} // namespace

int runSchedule(const CommandLine &line) { return ScheduleRun(line).run(); }

} // namespace cutback

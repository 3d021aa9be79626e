// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback schedule`: how the ranks of a pipeline would run.
//
//   1. costs: of a pipeline that `split` wrote, or of the command line
//   2. the schedule: by name, or from a file of actions
//   3. checks: what is wrong is said with rank, step and the grid
//   4. a simulation, and a bound that no order beats
//   5. text or JSON, and the files that were asked for
//
// Nothing is run.

#include "ScheduleInputs.h"

#include "cutback/Runtime/Pipeline/PipelineCosts.h"
#include "cutback/Schedule/Csv.h"
#include "cutback/Schedule/Lower.h"
#include "cutback/Schedule/Views.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace cutback {

using namespace pipeline;

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
      {"schedule", OptionSpec::Text, "NAME|F.csv", "a name, or a file"},
      {"ranks", OptionSpec::Integer, "N", "of a named schedule", false, 1},
      {"micro-batches", OptionSpec::Integer, "M", "of a named schedule", false,
       1},
      {"stages-per-rank", OptionSpec::Integer, "V",
       "default: as many as P has for N ranks, else 1 for\nGPipe and 1F1B, 2 "
       "for the others",
       false, 1},
      {"forward-only", OptionSpec::Flag, "", "for evaluation: no backwards"},
      {"json", OptionSpec::Flag, "", "print one JSON object (schema 1)"},
      {"svg", OptionSpec::Text, "F", "write a picture as well"},
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
  std::vector<OptionSpec> inputs = scheduleInputOptions();
  spec.options.insert(spec.options.end(), inputs.begin(), inputs.end());
  spec.examples = {
      "schedule --schedule=1F1B --ranks=4 --micro-batches=8",
      "schedule --schedule=zbvzerobubble --ranks=8 --micro-batches=32 "
      "--times=F=1,I=1.2,W=0.8",
      "schedule --schedule=V-Half --ranks=4 --micro-batches=16 "
      "--bytes=F=120MiB,I=196MiB",
      "schedule P --schedule=InterleavedZeroBubble --ranks=4 "
      "--micro-batches=8 --latency-us=5 --bandwidth=50",
      "schedule --schedule=1F1B --ranks=2 --micro-batches=4 --csv=f.csv "
      "--transfers",
      "schedule --schedule=f.csv --json",
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
    ScheduleView view{schedule, costs, *simulation,
                      boundMakespan(problemOf(schedule, costs))};
    return write(view);
  }

private:
  int wrongUsage(const std::string &what, const std::string &next) {
    session.error(what);
    session.note(next);
    return WrongUsage;
  }

  int checkUsage() {
    if (!line.has("schedule"))
      return wrongUsage("no --schedule", "give a name or a file of actions; "
                                         "see `cutback schedule --help`");
    int toOutput = line.has("json");
    for (const char *name : {"svg", "trace", "csv"})
      toOutput += line.get(name) == "-";
    if (toOutput > 1)
      return wrongUsage("several results go to standard output",
                        "give all but one of them the name of a file");
    for (const char *name : {"gathered-stages", "defer-receives"})
      if (line.has(name) && !line.has("transfers"))
        return wrongUsage("--" + std::string(name) + " needs --transfers",
                          "it is about lists that are ready to run");
    if (line.has("transfers") && !line.has("csv"))
      return wrongUsage("--transfers needs --csv=F",
                        "sends and receives are written there");
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
      return generateNamed(name);
    for (const char *option : {"ranks", "micro-batches", "stages-per-rank"})
      if (line.has(option))
        return wrongUsage("--" + std::string(option) + " beside a file",
                          "the file has ranks, stages and micro-batches");
    std::string text;
    if (int code = readText(session, name, text))
      return code;
    ScheduleError error;
    auto read = readCsv(text, name == "-" ? "<stdin>" : name, error);
    if (!read)
      return reportError(session, error);
    schedule = *read;
    return Done;
  }

  int generateNamed(const std::string &name) {
    ScheduleError error;
    Shape shape;
    if (findScheduleName(name)) {
      for (const char *option : {"ranks", "micro-batches"})
        if (!line.has(option))
          return wrongUsage("no --" + std::string(option),
                            "a named schedule has any number of them");
      auto sizeOf = [&](const char *option) {
        return static_cast<int>(std::min<int64_t>(
            line.integer(option).value_or(1), int64_t(1) << 24));
      };
      shape.ranks = sizeOf("ranks");
      shape.microBatches = sizeOf("micro-batches");
      shape.isForwardOnly = line.has("forward-only");
      if (int code = findStagesPerRank(name, shape))
        return code;
    }
    auto made = generate(name, shape, error);
    if (!made)
      return reportError(session, error, WrongUsage);
    schedule = *made;
    return Done;
  }

  int findStagesPerRank(const std::string &name, Shape &shape) {
    shape.stagesPerRank = usualStagesPerRank(name);
    if (pipeline) {
      int stages = static_cast<int>(pipeline->stages.size());
      if (stages % shape.ranks != 0)
        return wrongUsage(
            std::to_string(stages) + " stages on " +
                std::to_string(shape.ranks) +
                " ranks: each rank has equally many",
            "take a number of ranks that divides the stages, or give "
            "--schedule=F.csv, which puts stages anywhere");
      shape.stagesPerRank = stages / shape.ranks;
    }
    if (auto given = line.integer("stages-per-rank"))
      shape.stagesPerRank =
          static_cast<int>(std::min<int64_t>(*given, int64_t(1) << 24));
    return Done;
  }

  /// Costs, and checks with them.
  int prepare() {
    if (pipeline) {
      if (auto error = checkPhases(schedule, *pipeline))
        return reportError(session, *error);
      costs = costsOf(*pipeline);
    } else {
      costs = equalCosts(schedule.stages);
    }
    if (int code = readCosts(session, costs))
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
    if (auto path = line.get("trace"))
      if (int code = session.write(path, writeScheduleTrace(view)))
        return code;
    for (const char *name : {"svg", "trace", "csv"})
      if (line.get(name) == "-")
        return Done;
    return session.write(std::nullopt, line.has("json")
                                           ? writeScheduleJson(view)
                                           : formatTimeline(view));
  }

  Session session;
  const CommandLine &line;
  std::optional<Pipeline> pipeline;
  Costs costs;
  Schedule schedule, lists;
};
} // namespace

int runSchedule(const CommandLine &line) { return ScheduleRun(line).run(); }

} // namespace cutback

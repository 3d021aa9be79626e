// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of a pipeline's run. Each rank is this program, started by mpirun; or
// ranks are threads of it, which needs no MPI and serves tests and small
// machines.

#include "PipelineCommand.h"

#include "cutback/Runtime/Pipeline/PipelineRun.h"
#include "cutback/Support/ExitCode.h"

#include <csignal>
#include <cstdio>

using namespace cutback;

std::vector<OptionSpec> cutback::pipelineOptions() {
  return {
      {"schedule", OptionSpec::Text, "NAME|F",
       "of a pipeline: 1F1B (default), GPipe, ZBVZeroBubble, ...,\n"
       "or a .csv file in PyTorch's notation"},
      {"micro-batches", OptionSpec::Integer, "N",
       "of a pipeline: parts of the batch; default 1", false, 1},
      {"forward-only", OptionSpec::Flag, "",
       "of a pipeline: no gradients, nothing is kept"},
      {"ranks", OptionSpec::Integer, "N",
       "of a pipeline: N ranks as threads of this process;\n"
       "without it those that mpirun -n N has started",
       false, 1},
      {"mpi", OptionSpec::Choice, "openmpi|mpich",
       "which MPI; default: that of the mpirun"},
      {"timeout", OptionSpec::Number, "SECONDS",
       "of a pipeline: when one rank has waited so long for\n"
       "another one, all end, with exit code 3; default 600",
       false, 0},
      {"trace", OptionSpec::Text, "F",
       "of a pipeline: when each action ran, for Perfetto or\n"
       "chrome://tracing"},
  };
}

static void complain(const std::string &what, const std::string &next) {
  std::fprintf(stderr, "cutback-run: error: %s\ncutback-run: note: %s\n",
               what.c_str(), next.c_str());
  std::fflush(stderr);
}

int cutback::runPipelineCommand(const CommandLine &line) {
  pipeline::PipelineRunOptions options;
  auto text = [&](const char *name) {
    return std::string(line.get(name).value_or(""));
  };
  options.folder = line.arguments.front();
  options.inputs = text("inputs");
  options.weights = text("weights");
  options.outputs = text("outputs");
  options.trace = text("trace");
  options.mpi = text("mpi");
  if (line.get("schedule"))
    options.schedule = text("schedule");
  options.microBatches =
      static_cast<int>(line.integer("micro-batches").value_or(1));
  options.isForwardOnly = line.has("forward-only");
  options.ranks = static_cast<int>(line.integer("ranks").value_or(0));
  options.seed = line.integer("seed").value_or(0);
  options.threads = static_cast<unsigned>(line.integer("threads").value_or(1));
  options.timeoutSeconds = line.number("timeout").value_or(600);
  options.print = [](const std::string &one) {
    std::printf("%s\n", one.c_str());
  };
  options.complain = complain;
  for (const char *other : {"check-memory", "hook", "anomaly"})
    if (line.has(other)) {
      complain(std::string("--") + other + " is for a step of one process",
               "leave it out, or run the model without cutting it");
      return WrongUsage;
    }
  pipeline::Peers::endOn(SIGTERM);
  return pipeline::runPipeline(options);
}

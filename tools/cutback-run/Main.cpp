// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback-run`: one training step of a compiled folder, on a machine without a
// compiler. It has no MLIR or LLVM in it.
//
//   1. the folder is opened and checked (Runtime/StepFolder.h)
//   2. arguments are found by name in safetensors files; what kernels read
//      sixteen bytes at a time is copied to where it may be
//   3. the step
//   4. results, and arguments that it wrote, to a safetensors file
//
// Exit codes are those of `cutback`.

#include "GradientCheck.h"
#include "PipelineCommand.h"
#include "StepTensors.h"

#include "cutback/Runtime/HookOption.h"
#include "cutback/Runtime/Pipeline/PipelineRun.h"
#include "cutback/Runtime/StepFolder.h"
#include "cutback/Runtime/StepSizes.h"
#include "cutback/Support/CommandLine.h"
#include "cutback/Support/ExitCode.h"
#include "cutback/Support/Progress.h"
#include "cutback/Support/SafeFile.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

using namespace cutback;

static CommandSpec spec() {
  CommandSpec spec;
  spec.name = "";
  spec.arguments = "DIR";
  spec.summary =
      "Run one training step of a folder that `cutback compile --target=...`\n"
      "wrote, or of a pipeline of `cutback split`, by all of its ranks: loss,\n"
      "outputs, gradients, buffers. Tensors are called input.N, param.NAME,\n"
      "buffer.NAME, tangent.N; loss, output.N, grad.NAME.";
  spec.options = {
      {"inputs", OptionSpec::Text, "F", "safetensors file with the arguments"},
      {"weights", OptionSpec::Text, "F",
       "safetensors file with parameters and buffers; without\n"
       "it, DIR/weights.safetensors, if `compile --weights`\n"
       "wrote that"},
      {"outputs", OptionSpec::Text, "F", "write results to a safetensors file"},
      {"seed", OptionSpec::Integer, "N", "of random ops; default 0", false, 0,
       "", INT64_MAX},
      {"threads", OptionSpec::Integer, "N",
       "of this machine that run a compiled step; default:\n"
       "one a processor. Results have the same bits",
       false, 1},
      {"check-memory", OptionSpec::Flag, "",
       "give each operand memory of its own, and check that\n"
       "only what a kernel writes changes"},
      hookOption(),
      {"anomaly", OptionSpec::Flag, "",
       "exit code 3 if a gradient has a NaN or an infinity,\n"
       "with its place; `cutback run --anomaly` names the op"},
  };
  for (const OptionSpec &option : pipelineOptions())
    spec.options.push_back(option);
  spec.examples = {
      "out --inputs=batch.safetensors",
      "out --weights=model.safetensors --inputs=batch.safetensors "
      "--outputs=results.safetensors",
      "P --ranks=2 --micro-batches=4 --inputs=batch.safetensors",
  };
  return spec;
}

static int fail(int code, const std::string &what, const std::string &next) {
  std::fprintf(stderr, "cutback-run: error: %s\ncutback-run: note: %s\n",
               what.c_str(), next.c_str());
  return code;
}

/// All files of tensors. Exit code.
static int openFiles(const CommandLine &line, const std::string &folder,
                     const Artifact &artifact, StepTensors &tensors) {
  for (const char *option : {"inputs", "weights"}) {
    auto path = line.get(option);
    if (!path)
      continue;
    std::string error = tensors.addFile(std::string(*path));
    if (!error.empty())
      return fail(WrongInput, error,
                  std::string("--") + option + " takes a safetensors file");
  }
  if (line.get("weights"))
    return Done;
  std::string error = tensors.addOwnWeights(folder, artifact);
  return error.empty() ? Done
                       : fail(NoPlan, error,
                              "compile the model again with --weights, or give "
                              "--weights=FILE");
}

/// Memory for every argument, in `tensors`. Of a step for all sizes `folder`
/// and `artifact` become those for the sizes of the inputs. Exit code.
static int bind(const CommandLine &line, std::string &folder,
                Artifact &artifact, StepTensors &tensors) {
  StepError why;
  std::vector<int64_t> values;
  auto sizesOf = [&](const std::string &name) { return tensors.sizesOf(name); };
  if (!bindSizes(artifact, sizesOf, values, why))
    return fail(WrongInput, why.what, why.next);
  if (!findSized(folder, artifact, values, why))
    return fail(NoPlan, why.what, why.next);
  std::string unknown = tensors.findUnknownInput(artifact);
  std::string next = "the manifest lists what it takes";
  if (!unknown.empty())
    return fail(WrongInput,
                "there is a tensor '" + unknown +
                    "', and the step takes nothing of that name",
                next);
  for (const ArtifactArgument &argument : artifact.arguments) {
    StepError error;
    // Segments that `run` leaves out take no memory here.
    if (!tensors.bind(argument, line.integer("seed").value_or(0),
                      argument.segment.empty(), error))
      return fail(WrongInput, error.what, error.next);
  }
  return Done;
}

/// The functions of --hook. Exit code.
static int addHooks(const CommandLine &line, HookTable &table) {
  std::vector<HookOption> options;
  std::string wrong;
  if (!readHookOptions(line, options, wrong))
    return fail(WrongUsage, wrong, "cutback-run --help shows all options");
  wrong = addHooks(options, table, [](const std::string &text) {
    std::printf("%s\n", text.c_str());
  });
  return wrong.empty()
             ? Done
             : fail(WrongInput, wrong, "--hook takes [KIND:]NAME[:FUNCTION]");
}

/// The first option that a step of one process does not have; empty for none.
static std::string findPipelineOption(const CommandLine &line) {
  for (const OptionSpec &option : pipelineOptions())
    if (line.has(option.name))
      return std::string(option.name);
  return "";
}

static std::string refuseFor(const std::string &option,
                             const std::string &folder) {
  return "--" + option + " is for a pipeline, and '" + folder + "' is none";
}

static int run(const CommandLine &line) {
  if (pipeline::isPipelineFolder(line.arguments.front()))
    return runPipelineCommand(line);
  if (std::string option = findPipelineOption(line); !option.empty())
    return fail(WrongUsage, refuseFor(option, line.arguments.front()),
                "`cutback split` writes a pipeline");
  Progress progress("cutback-run", false);
  progress.step("opening");
  std::string folder(line.arguments.front());
  Artifact artifact;
  StepError error;
  if (!readStepFolder(folder, artifact, error))
    return fail(NoPlan, error.what, error.next);
  StepTensors tensors;
  if (int code = openFiles(line, folder, artifact, tensors))
    return code;
  if (int code = bind(line, folder, artifact, tensors))
    return code;
  StepOptions options;
  options.checkMemory = line.has("check-memory");
  auto executor = openStep(folder, options, artifact, error);
  if (!executor)
    return fail(NoPlan, error.what, error.next);
  for (const std::string &note : executor->notes())
    std::fprintf(stderr, "cutback-run: note: %s\n", note.c_str());
  if (auto threads = line.integer("threads"))
    executor->setThreads(static_cast<unsigned>(*threads));
  HookTable hooks(hookPointsOf(artifact));
  if (int code = addHooks(line, hooks))
    return code;
  executor->setHooks(&hooks);
  progress.step("running");
  std::string what =
      executor->run(artifact.stepSegments(), tensors.arguments());
  if (what.empty() && line.has("anomaly")) {
    what = findWrongGradient(artifact, *executor, tensors.arguments());
    if (!what.empty())
      return fail(NoPlan, what,
                  "`cutback run` with --anomaly names the op that made it");
  }
  std::string file;
  auto outputs = line.get("outputs");
  if (what.empty() && outputs)
    what = tensors.writeResults(artifact, *executor, file);
  if (!what.empty())
    return fail(NoPlan, what, "nothing was written");
  std::string loss = describeLoss(artifact, *executor, tensors.arguments());
  std::printf("%s%zu results, arena %lld bytes\n", loss.c_str(),
              artifact.results.size(),
              static_cast<long long>(artifact.arenaBytes));
  if (outputs) {
    what = writeFileSafely(std::string(*outputs), file);
    if (!what.empty())
      return fail(WrongInput, what, "--outputs takes a place to write to");
  }
  return Done;
}

/// A function of --hook that ends the process is named.
static void onSignal(int number) {
  if (const char *hook = hookAtWork()) {
    for (const char *part :
         {"cutback-run: error: ", hook,
          " ends the process\ncutback-run: note: its function is that of "
          "--hook, not of cutback\n"}) {
      ssize_t ignored = ::write(STDERR_FILENO, part, std::strlen(part));
      (void)ignored;
    }
    ::_exit(NoPlan);
  }
  ::signal(number, SIG_DFL);
  ::raise(number);
}

int main(int argc, char **argv) {
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::signal(number, onSignal);
  std::vector<std::string_view> args(argv + 1, argv + argc);
  CommandSpec command = spec();
  std::string error;
  auto line = parseCommandLine(command, args, error);
  if (!line)
    return fail(WrongUsage, error, "cutback-run --help shows all options");
  if (line->help) {
    std::fputs(commandHelp("cutback-run", command).c_str(), stdout);
    return Done;
  }
  try {
    return run(*line);
  } catch (const std::bad_alloc &) {
    std::string next =
        "the step needs its arguments, results and arena at once";
    return fail(WrongInput, "out of memory", next);
  }
}

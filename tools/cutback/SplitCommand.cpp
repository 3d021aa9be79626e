// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback split`: cuts a model into the stages of a pipeline, plans each, and
// writes them with machine code for their phases.
//
//   P/pipeline.json             what crosses between stages, and their phases
//   P/stageK/joint.mlir ...     each stage as `compile` writes a model, or
//                               joint.mlirbc
//   P/stageK/PHASE/...          each phase as `compile --target` writes a step
//   P/stageK/smaller/PHASE/...  for micro-batches with a row less, if there are
//   P/stageK/weights.safetensors    what this stage alone reads

#include "PlanRun.h"
#include "SplitProgram.h"

#include "cutback/Report/PartitionFiles.h"
#include "cutback/Support/SafeFile.h"
#include "cutback/Support/Text.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace cutback {

CommandSpec splitSpec() {
  CommandSpec spec;
  spec.name = "split";
  spec.arguments = "IN -o P [--stages=N | --split-spec=SPEC]";
  spec.summary =
      "Cut a model into the stages of a pipeline.\n\n"
      "Stages are cut at markers in IN (`pipe_split()` of PyTorch), at modules "
      "of\n--split-spec, or by --stages=N so that the slowest takes the least "
      "time. Each is\ndifferentiated and planned by itself; `cutback schedule "
      "P` shows how they would\nrun, `cutback run P --local` runs them in one "
      "process, `mpirun -n N cutback-run P`\non several.";
  std::vector<OptionSpec> options = splitOptions();
  for (const OptionSpec &option : optimizerOptions())
    if (option.name != kAccumulate && option.name != kUpdate)
      options.push_back(option);
  spec.options = withPlanOptions(std::move(options));
  for (OptionSpec &option : spec.options)
    if (option.name == "minimize") {
      option.value = "time|peak|makespan";
      option.help = "makespan: of all schedules and plans of stages within\n"
                    "--stage-memory the fastest pipeline; time, peak: of a\n"
                    "stage, with --backward=whole";
    }
  spec.examples = {
      "split model.pt2 -o P --stages=4",
      "split model.pt2 -o P --split-spec=layers.4=begin,layers.8=end",
      "split model.pt2 -o P --stages=2 --multi-use=transmit",
      "split model.pt2 -o P --stages=2 --batch=13 --micro-batches=4",
      "split model.pt2 -o P --stages=2 --target=reference",
      "split model.pt2 -o P --stages=4 --stage-memory=8GiB --schedule=1F1B",
      "split model.pt2 -o P --stages=4 --minimize=makespan",
      "split model.pt2 -o P --stages=4 --optimizer=adamw --clip-norm=1",
  };
  return spec;
}

/// A table of the stages, and what crosses between them.
static std::string describeSplit(const SplitProgram &program) {
  using T = TextTable;
  T table({T::Left, T::Right, T::Right, T::Right, T::Right, T::Right});
  table.add({"stage", "parameters", "receives", "sends", "kept", "ms"});
  for (const PipelineStage &stage : program.pipeline.stages) {
    int64_t received = 0, sent = 0, ps = 0;
    for (const PipelineReceive &value : stage.receives)
      received += bytesOf(value);
    for (const PipelineSend &value : stage.sends)
      sent += bytesOf(value);
    for (auto kind : {PipelineStage::Forward, PipelineStage::Backward})
      ps += stage.phases[kind].picoseconds;
    table.add({stage.name, std::to_string(stage.parameters.size()),
               formatBytes(received), formatBytes(sent),
               formatBytes(stage.forwardSavedBytes),
               formatFixed(static_cast<double>(ps) * 1e-9, 3)});
  }
  std::string text = table.str(0);
  if (!program.pipeline.smaller.empty())
    text += llvm::formatv("\nmicro-batches of {0}, as above, and of {1}\n",
                          formatCount(program.batch->rows, "row"),
                          program.batch->rows - 1);
  if (program.peaks.empty())
    return text;
  text += llvm::formatv(
      "\n{0}, makespan {1} ms; byte prices {2:$[, ]}\n", program.schedule,
      formatFixed(program.makespanPs * 1e-9, 3),
      llvm::make_range(program.prices.begin(), program.prices.end()));
  text += program.alikePs
              ? "with one price for all stages: makespan " +
                    formatFixed(*program.alikePs * 1e-9, 3) + " ms\n"
              : "with one price for all stages: none fits\n";
  for (auto [rank, bytes] : llvm::enumerate(program.peaks))
    text += llvm::formatv("rank {0}: peak {1}\n", rank, formatBytes(bytes));
  return text;
}

/// Graphs of a split before, in the other form, that new ones replace.
static void removeOtherGraphs(const std::string &folder,
                              const std::vector<NamedFile> &files) {
  for (const NamedFile &file : files) {
    StringRef name = file.name;
    bool isText = name.consume_back(kPartitionFiles[0]);
    if (isText || name.consume_back(kBytecodeFile))
      (void)llvm::sys::fs::remove(
          folder + "/" + name.str() +
          (isText ? kBytecodeFile : kPartitionFiles[0]));
  }
}

int runSplit(const CommandLine &line) {
  Session session("split", line);
  SplitRequest request;
  if (int code = readSplitRequest(session, request))
    return code;
  double seconds = 0;
  FailureOr<ImportedModule> imported =
      session.loadJoint(line.arguments[0], importOptionsOf(line), seconds);
  if (failed(imported))
    return WrongInput;
  SplitProgram program;
  if (int code = splitModel(session, *imported, request, program))
    return code;
  session.progress.step("writing");
  std::vector<NamedFile> files;
  for (const auto &[name, data] : program.files)
    files.push_back({name, data});
  std::string error = writeFolderSafely(std::string(*line.get("o")), files);
  if (!error.empty())
    return session.failedWrite(error);
  removeOtherGraphs(std::string(*line.get("o")), files);
  return session.write(std::nullopt, describeSplit(program));
}

} // namespace cutback

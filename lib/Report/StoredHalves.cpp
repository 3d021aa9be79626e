// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halves from files, whoever made them: which values are saved, and which
// result is whose gradient, is read from the places and names of arguments and
// results, not from a plan. The command line and the C interface share this:
// what is shown or run has been proved before, and nothing is made up where a
// file does not say it.
//
// A folder that `compile` wrote is one thing: its plan is made again from
// joint.mlir, and each of the four files must be what that says.

#include "cutback/Report/StoredHalves.h"

#include "cutback/Planner/PlanOptions.h"
#include "cutback/Planner/PlanRecord.h"
#include "cutback/Planner/Runnable.h"
#include "cutback/Report/PartitionFiles.h"
#include "cutback/Transforms/SplitCheck.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace cutback {

bool isStoredPlan(const std::string &path) {
  return llvm::sys::fs::is_directory(path);
}

FailureOr<ImportedModule>
StoredHalvesClient::read(const std::string &path,
                         const ImportOptions &options) {
  return readInput(StringRef(path), context, options);
}

int refusePlanOptions(StoredHalvesClient &client, const CommandLine &line,
                      ArrayRef<std::string_view> allowed) {
  std::vector<OptionSpec> deciding = planOptions();
  llvm::erase_if(deciding,
                 [](const OptionSpec &option) { return !isOfPlan(option); });
  llvm::append_range(deciding, gradientOptions());
  for (const OptionSpec &option : inputOptions())
    if (option.name != "progress")
      deciding.push_back(option);
  for (const OptionSpec &option : deciding)
    if (line.has(option.name) && !llvm::is_contained(allowed, option.name)) {
      client.error("--" + std::string(option.name) +
                   " has no effect on a plan that is stored");
      client.note("give the graph to plan it again: the input of `cutback "
                  "compile`, or joint.mlir of the folder");
      return WrongUsage;
    }
  return Done;
}

/// The only function of an input, whatever its format.
static func::FuncOp functionOf(ImportedModule &module) {
  if (module.function)
    return module.function;
  auto functions = module.module->getOps<func::FuncOp>();
  return functions.empty() ? func::FuncOp() : *functions.begin();
}

static int loadHalf(StoredHalvesClient &client, const std::string &path,
                    ImportOptions options, GraphKind kind,
                    ImportedModule &module, func::FuncOp &function) {
  options.graph.clear();
  options.forwardOutputs.reset();
  options.kind = kind;
  FailureOr<ImportedModule> read = client.read(path, options);
  if (failed(read))
    return WrongInput;
  module = std::move(*read);
  function = functionOf(module);
  if (function)
    return Done;
  client.error("no function in '" + path + "'");
  client.note("a half is a `func.func`, or FX text");
  return WrongInput;
}

/// All files of a stored partition have to be there; what is no file (a
/// pipe, a device behind a link) is not read.
static int checkFiles(StoredHalvesClient &client, const std::string &folder) {
  for (const char *name : kPartitionFiles) {
    std::string path = folder + "/" + name;
    if (llvm::sys::fs::is_regular_file(path))
      continue;
    if (llvm::sys::fs::exists(path))
      client.error("'" + path + "' is no regular file");
    else
      client.error("no " + std::string(name) + " in the folder '" + folder +
                   "'");
    client.note("a folder that `cutback compile` wrote has joint.mlir, "
                "forward.mlir, backward.mlir and plan.json; halves without a "
                "plan are given as three files: JOINT FORWARD BACKWARD");
    return WrongInput;
  }
  return Done;
}

int StoredHalves::loadFolder(StoredHalvesClient &client,
                             const ImportOptions &options) {
  if (int code = checkFiles(client, folder))
    return code;
  std::string path = folder + "/";
  return load(client,
              {path + kPartitionFiles[0], path + kPartitionFiles[1],
               path + kPartitionFiles[2]},
              options);
}

int StoredHalves::load(StoredHalvesClient &client,
                       std::vector<std::string> paths, ImportOptions options) {
  if (paths.size() == 1 && isStoredPlan(paths[0])) {
    folder = paths[0];
    return loadFolder(client, options);
  }
  if (paths.size() == 2) {
    client.error("expected a folder, a log, or three files");
    client.note("give three files: JOINT FORWARD BACKWARD");
    return WrongUsage;
  }
  options.torchHalves = paths.size() == 1;
  FailureOr<ImportedModule> read = client.readJoint(paths[0], options);
  if (failed(read))
    return WrongInput;
  joint = std::move(*read);
  graph = joint.graph;
  if (paths.size() == 3) {
    if (int code = loadHalf(client, paths[1], options, GraphKind::Forward,
                            first, forward))
      return code;
    return loadHalf(client, paths[2], options, GraphKind::Backward, second,
                    backward);
  }
  forward = joint.torchForward;
  backward = joint.torchBackward;
  ofLog = true;
  if (forward && backward)
    return Done;
  client.error("no forward and backward graph in '" + paths[0] + "'");
  client.note("give three files: JOINT FORWARD BACKWARD");
  return WrongInput;
}

/// Says which part of a folder does not belong to the others.
static int refusePart(StoredHalvesClient &client, const std::string &folder,
                      const PartMismatch &mismatch) {
  client.error("refused: " + folder + "/" + mismatch.file +
               (mismatch.isUnreadable ? ": "
                                      : " does not belong to the other "
                                        "files of its folder: ") +
               mismatch.message);
  client.note("store the plan again with `cutback compile`; halves without a "
              "plan are given as three files: JOINT FORWARD BACKWARD");
  return mismatch.isUnreadable ? WrongInput : NoPlan;
}

/// Of a plan whose ops run in parts: that they compute what the whole graph
/// does, which is stored beside it.
static int verifyParts(StoredHalvesClient &client, const std::string &folder,
                       joint::GraphOp graph) {
  if (!graph->hasAttr(kSplitRecord))
    return Done;
  std::string path = folder + "/" + kWholeFile;
  if (!llvm::sys::fs::is_regular_file(path)) {
    client.error("no " + std::string(kWholeFile) + " in the folder '" + folder +
                 "', whose ops run in parts");
    client.note("store the plan again with `cutback compile`");
    return WrongInput;
  }
  FailureOr<ImportedModule> whole = client.read(path, {});
  if (failed(whole))
    return WrongInput;
  if (whole->graph && splitRecordOf(graph) &&
      succeeded(verifySplit(whole->graph, graph)))
    return Done;
  client.error("refused: joint.mlir does not compute in parts what " +
               std::string(kWholeFile) + " computes");
  return NoPlan;
}

int StoredHalves::verifyPlan(StoredHalvesClient &client) {
  if (int code = verifyParts(client, folder, graph))
    return code;
  client.step("making the plan again");
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> buffers;
  std::vector<StringRef> files;
  for (const char *name : kPartitionFiles) {
    auto buffer = llvm::MemoryBuffer::getFile(folder + "/" + name);
    if (!buffer) {
      client.error("cannot read '" + folder + "/" + name +
                   "': " + buffer.getError().message());
      return WrongInput;
    }
    buffers.push_back(std::move(*buffer));
    files.push_back(buffers.back()->getBuffer());
  }
  auto planned = planAsRecorded(graph);
  if (failed(planned)) {
    client.error("refused: " + folder +
                 "/joint.mlir does not say how its plan is made");
    return NoPlan;
  }
  std::vector<std::string> optimizer = storedOptimizer(files[3]);
  if (!optimizer.empty())
    if (int code = client.planUpdate(**planned, graph, optimizer))
      return code;
  if (auto mismatch = comparePartition(**planned, forward, backward, files))
    return refusePart(client, folder, *mismatch);
  plan = std::move(*planned);
  return Done;
}

int StoredHalves::verify(StoredHalvesClient &client) {
  client.step("verifying");
  FailureOr<HalvesSignature> derived =
      deriveSignature(graph, forward, backward);
  // Inductor logs the graph, then rewrites it.
  if (succeeded(derived))
    derived->isRewritten = folder.empty();
  std::optional<CoreGraph> core;
  if (isPlannedInCoreOps(graph))
    core = makeCoreGraph(GraphView::build(graph));
  if (failed(derived) ||
      failed(verifyHalves(core ? *core->graph : graph, forward, backward,
                          *derived, &stats))) {
    // Of a log it is open whose fault that is, and whether it is one.
    if (ofLog) {
      client.error("refused: the halves are not proved: where they differ from "
                   "the joint graph they were rewritten, after it was logged, "
                   "in a way that is not known");
      client.note("whether the values are equal nevertheless is open; compile "
                  "with backend=\"aot_eager\" for a log of PyTorch's "
                  "partitioner alone, which rewrites nothing");
    } else {
      client.error("refused: the halves do not compute what the joint graph "
                   "computes");
    }
    return NoPlan;
  }
  signature = std::move(*derived);
  return folder.empty() ? Done : verifyPlan(client);
}

} // namespace cutback

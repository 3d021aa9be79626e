// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halves from files, whoever made them: which values are saved, and which
// result is whose gradient, is read from the names of arguments and results,
// not from a plan. `verify` and `run` share this: what runs has been proved
// before, and nothing is made up where a file does not say it.

#include "StoredHalves.h"

#include "cutback/Transforms/FoldViews.h"

#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace cutback {

bool isStoredPair(const std::string &path) {
  return llvm::sys::fs::is_directory(path) &&
         llvm::sys::fs::exists(path + "/forward.mlir") &&
         llvm::sys::fs::exists(path + "/backward.mlir");
}

/// The only function of an input, whatever its format.
static func::FuncOp functionOf(ImportedModule &module) {
  if (module.function)
    return module.function;
  auto functions = module.module->getOps<func::FuncOp>();
  return functions.empty() ? func::FuncOp() : *functions.begin();
}

static int loadHalf(Session &session, const std::string &path, GraphKind kind,
                    ImportedModule &module, func::FuncOp &function) {
  ImportOptions options = importOptionsOf(session.line);
  options.graph.clear();
  options.forwardOutputs.reset();
  options.kind = kind;
  double seconds = 0;
  FailureOr<ImportedModule> read = session.load(path, options, seconds);
  if (failed(read))
    return WrongInput;
  module = std::move(*read);
  function = functionOf(module);
  if (function)
    return Done;
  session.error("no function in '" + path + "'");
  session.note("a half is a `func.func`, or FX text");
  return WrongInput;
}

int StoredHalves::load(Session &session, std::vector<std::string> paths) {
  bool folder = llvm::sys::fs::is_directory(paths[0]);
  if (paths.size() == 2) {
    session.error("expected a folder, a log, or three files");
    session.note("give three files: JOINT FORWARD BACKWARD");
    return WrongUsage;
  }
  if (folder && paths.size() == 1 && !isStoredPair(paths[0])) {
    session.error("no two halves in the folder '" + paths[0] + "'");
    session.note("give a folder that `cutback compile` wrote, a log, or three "
                 "files: JOINT FORWARD BACKWARD");
    return WrongInput;
  }
  if (folder && paths.size() == 1)
    paths = {paths[0] + "/joint.mlir", paths[0] + "/forward.mlir",
             paths[0] + "/backward.mlir"};
  ImportOptions options = importOptionsOf(session.line);
  options.torchHalves = paths.size() == 1;
  double seconds = 0;
  FailureOr<ImportedModule> read =
      session.loadJoint(paths[0], options, seconds);
  if (failed(read))
    return WrongInput;
  joint = std::move(*read);
  graph = joint.graph;
  if (paths.size() == 3) {
    if (int code =
            loadHalf(session, paths[1], GraphKind::Forward, first, forward))
      return code;
    return loadHalf(session, paths[2], GraphKind::Backward, second, backward);
  }
  forward = joint.torchForward;
  backward = joint.torchBackward;
  ofLog = !folder;
  if (forward && backward)
    return Done;
  session.error("no forward and backward graph in '" + paths[0] + "'");
  session.note("give three files: JOINT FORWARD BACKWARD");
  return WrongInput;
}

int StoredHalves::verify(Session &session) {
  session.progress.step("verifying");
  FailureOr<HalvesSignature> derived =
      deriveSignature(graph, forward, backward);
  // Inductor logs the graph, then takes out views that cancel each other.
  if (ofLog)
    for (Block *block : {&graph.getBlock(), &forward.getBody().front(),
                         &backward.getBody().front()})
      foldViews(*block);
  if (failed(derived) ||
      failed(verifyHalves(graph, forward, backward, *derived, &stats))) {
    session.error("refused: the halves do not compute what the "
                  "joint graph computes");
    if (ofLog)
      session.note("Inductor logs a joint graph, then rewrites it (attention, "
                   "constants), and partitions what comes of it; compile with "
                   "backend=\"aot_eager\" for a log of "
                   "PyTorch's partitioner alone");
    return NoPlan;
  }
  signature = std::move(*derived);
  return Done;
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback verify`: the certificate on stored results, whoever made them. It
// trusts nothing but the three functions: which values are saved, and which
// result is whose gradient, is read from the names of arguments and results,
// not from a plan.
//
// Three files, a folder that `compile` wrote, or a trace log that holds all
// three graphs.

#include "Session.h"

#include "cutback/Partition/Certificate.h"
#include "cutback/Support/Text.h"

#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace cutback {

CommandSpec verifySpec() {
  CommandSpec spec;
  spec.name = "verify";
  spec.arguments = "DIR | LOG | JOINT FORWARD BACKWARD";
  spec.summary = "Prove that two halves compute what a joint graph computes.\n"
                 "\nExit code 3 if they do not.";
  spec.options = inputOptions();
  spec.minArguments = 1;
  spec.maxArguments = 3;
  spec.examples = {
      "verify out",
      "verify trace.log",
      "verify joint.txt forward.txt backward.txt",
  };
  return spec;
}

namespace {
struct Halves3 {
  ImportedModule joint, first, second;
  joint::GraphOp graph;
  func::FuncOp forward, backward;
};
} // namespace

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

static int loadAll(Session &session, Halves3 &halves) {
  std::vector<std::string> paths = session.line.arguments;
  bool folder = llvm::sys::fs::is_directory(paths[0]);
  if (paths.size() == 2) {
    session.error("expected a folder, a log, or three files");
    session.note("cutback verify JOINT FORWARD BACKWARD");
    return WrongUsage;
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
  halves.joint = std::move(*read);
  halves.graph = halves.joint.graph;
  if (paths.size() == 3) {
    if (int code = loadHalf(session, paths[1], GraphKind::Forward, halves.first,
                            halves.forward))
      return code;
    return loadHalf(session, paths[2], GraphKind::Backward, halves.second,
                    halves.backward);
  }
  halves.forward = halves.joint.torchForward;
  halves.backward = halves.joint.torchBackward;
  if (halves.forward && halves.backward)
    return Done;
  session.error("no forward and backward graph in '" + paths[0] + "'");
  session.note("give three files: JOINT FORWARD BACKWARD");
  return WrongInput;
}

int runVerify(const CommandLine &line) {
  Session session("verify", line);
  Halves3 halves;
  if (int code = loadAll(session, halves))
    return code;
  session.progress.step("verifying");
  CertificateStats stats;
  FailureOr<HalvesSignature> signature =
      deriveSignature(halves.graph, halves.forward, halves.backward);
  if (failed(signature) ||
      failed(verifyHalves(halves.graph, halves.forward, halves.backward,
                          *signature, &stats))) {
    session.error("refused: the halves do not compute what the "
                  "joint graph computes");
    return NoPlan;
  }
  return session.write(
      std::nullopt,
      "verified: " + formatCount(stats.classes) + " value classes, " +
          formatCount(signature->saved.size(), "saved value") + ", " +
          formatCount(stats.recomputedOps, "op") + " recomputed\n");
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From kernels to the files of a target: text, what the compilers of others
// make of it, and what the manifest says, with a checksum of each file. A
// compiler that is missing is an error with what to do; one that refuses our
// text has found a defect of ours.

#include "TargetFiles.h"

#include "cutback/Runtime/Contract.h"
#include "cutback/Support/Checksum.h"
#include "cutback/Target/CPU/CompileStep.h"
#include "cutback/Target/CUDA/LibraryProducts.h"
#include "cutback/Target/CUDA/Toolchain.h"

using namespace mlir;

namespace cutback {

/// A compiler of others has refused our text, or could not run.
static int toolFailed(Session &session, const ToolResult &result) {
  session.error(result.error);
  if (!result.log.empty())
    session.note(result.log);
  if (!result.isRejected)
    return NoPlan;
  session.note("the text is cutback's, so this is a defect of cutback; please "
               "report it");
  return OurDefect;
}

bool checkNvcc(Session &session) {
  bool isThere = !findNvcc().empty();
  if (!isThere)
    session.note("no nvcc is found (CUDACXX, CUDA_HOME, PATH): the folder gets "
                 "the text of the kernels, without machine code");
  return isThere;
}

static int buildForGpu(Session &session, CudaStep &step) {
  if (!checkNvcc(session))
    return Done;
  session.progress.step("compiling kernels");
  ToolResult built =
      buildFatBinaries(findNvcc(), step.files, step.artifact.architectures);
  if (!built.error.empty())
    return toolFailed(session, built);
  step.files.insert(step.files.end(), built.files.begin(), built.files.end());
  return Done;
}

static int buildForHost(Session &session, CudaStep &step) {
  std::string compiler = findHostCompiler();
  if (compiler.empty()) {
    session.error("no C++ compiler is found for this machine");
    session.note("install g++ or clang++, or name one in CXX");
    return NoPlan;
  }
  std::vector<TextFile> host = emitCudaHost(step);
  step.files.insert(step.files.end(), host.begin(), host.end());
  session.progress.step("compiling kernels");
  ToolResult built = buildHostLibrary(compiler, step.files);
  if (!built.error.empty())
    return toolFailed(session, built);
  step.files.insert(step.files.end(), built.files.begin(), built.files.end());
  return Done;
}

/// Kernels for a GPU, or the same for this machine.
static int emitCuda(Session &session, joint::GraphOp graph,
                    const KernelModule &kernels, const TargetChoice &choice,
                    Artifact &artifact, std::vector<TextFile> &files) {
  if (choice.useLibrary &&
      failed(placeWorkspaces(*kernels.module,
                             workspaceBytesOf(choice.architectures))))
    return WrongInput;
  CudaOptions options;
  options.tf32 = choice.tf32;
  FailureOr<CudaStep> step =
      emitCudaStep(kernels, graph, StepKernels::HaveText, options);
  if (failed(step))
    return WrongInput;
  bool isHost = choice.target == "cuda-host";
  step->artifact.target = choice.target;
  step->artifact.tf32 = choice.tf32;
  if (!isHost)
    step->artifact.architectures = choice.architectures;
  if (isHost && !choice.compiles)
    llvm::append_range(step->files, emitCudaHost(*step));
  else if (int code = !choice.compiles ? Done
                      : isHost         ? buildForHost(session, *step)
                                       : buildForGpu(session, *step))
    return code;
  artifact = std::move(step->artifact);
  files = std::move(step->files);
  return Done;
}

/// Says in one warning which ops have sizes that data decide, where there are
/// several: all for the same reason. Whether it did.
static bool summarizeSizedByData(Session &session, const CpuStep &step) {
  std::vector<const InterpretedOp *> ops;
  int64_t calls = 0;
  for (const InterpretedOp &op : step.interpreted)
    if (op.reason == kSizedByData) {
      ops.push_back(&op);
      calls += op.count;
    }
  if (ops.size() < 2)
    return false;
  constexpr size_t most = 6;
  std::string names;
  for (size_t i = 0; i < std::min(ops.size(), most); ++i)
    names += (i ? ", '" : "'") + ops[i]->op + "'";
  if (ops.size() > most)
    names += " and " + std::to_string(ops.size() - most) + " others";
  session.warning(names +
                  " have sizes that data decide: the step calls the "
                  "interpreter for their " +
                  std::to_string(calls) + " calls");
  if (!ops.front()->place.empty())
    session.note("the first is in " + ops.front()->place);
  return true;
}

/// Says which ops have no machine code. Returns an exit code.
static int reportInterpreted(Session &session, const CpuStep &step,
                             bool isStrict) {
  bool isSummarized = !isStrict && summarizeSizedByData(session, step);
  for (const InterpretedOp &op : step.interpreted) {
    if (isSummarized && op.reason == kSizedByData)
      continue;
    std::string what =
        "'" + op.op + "' " + op.reason + ", as " + op.types +
        (isStrict ? "" : ": the step calls the interpreter for it");
    isStrict ? session.error(what) : session.warning(what);
    if (!op.place.empty())
      session.note("it is in " + op.place);
    if (op.count > 1)
      session.note("it is the first of " + std::to_string(op.count) +
                   " such calls of the step");
  }
  if (step.interpreted.empty())
    return Done;
  session.note(isStrict ? "leave --strict out: then the interpreter runs it, "
                          "slowly, between launches of machine code"
                        : "its results are right, and slow; --strict makes it "
                          "an error");
  return isStrict ? WrongInput : Done;
}

/// Machine code for this processor.
static int emitCpu(Session &session, joint::GraphOp graph,
                   const KernelModule &kernels, const TargetChoice &choice,
                   Artifact &artifact, std::vector<TextFile> &files) {
  session.progress.step("compiling kernels");
  FailureOr<CpuStep> step = compileCpuStep(
      kernels, graph,
      choice.testsAccesses ? AccessTests::OfAll : AccessTests::OfData,
      choice.hasGroup);
  if (failed(step))
    return WrongInput;
  if (int code = reportInterpreted(session, *step, choice.isStrict))
    return code;
  if (!step->problem.empty()) {
    session.error(step->problem);
    if (!step->log.empty())
      session.note(step->log);
    return NoPlan;
  }
  artifact = std::move(step->artifact);
  files = std::move(step->files);
  return Done;
}

int readArchitectures(Session &session,
                      std::vector<std::string> &architectures) {
  SmallVector<StringRef> names;
  std::string text(session.line.get("arch").value_or("sm_90"));
  StringRef(text).split(names, ',');
  for (StringRef name : names) {
    if (!isArchitecture(name)) {
      session.error("unknown architecture '" + name.str() + "'");
      session.note("--arch takes sm_80, sm_86, sm_89, sm_90, sm_100, sm_120, "
                   "several with commas");
      return WrongUsage;
    }
    if (!llvm::is_contained(architectures, name))
      architectures.push_back(name.str());
  }
  return Done;
}

std::string deviceOf(StringRef architecture) {
  if (architecture == "sm_80")
    return "a100";
  if (architecture == "sm_89")
    return "l4";
  return "h100";
}

TargetChoice choiceOf(const Artifact &artifact) {
  return {artifact.target, artifact.architectures, artifact.tf32,
          artifact.hasProducts(), artifact.testsAccesses};
}

ArtifactFile describeFile(const std::string &name, StringRef data) {
  return {name, static_cast<int64_t>(data.size()), checksumOf(data), nullptr};
}

int emitTarget(Session &session, joint::GraphOp graph,
               const KernelModule &kernels, const TargetChoice &choice,
               Artifact &artifact, std::vector<TextFile> &files) {
  session.progress.step("writing kernels");
  int code = choice.target == kCpuTarget
                 ? emitCpu(session, graph, kernels, choice, artifact, files)
                 : emitCuda(session, graph, kernels, choice, artifact, files);
  if (code)
    return code;
  files.emplace_back(kContractFile, contractOf(artifact));
  for (const auto &[name, data] : files)
    artifact.files.push_back(describeFile(name, data));
  return Done;
}

} // namespace cutback

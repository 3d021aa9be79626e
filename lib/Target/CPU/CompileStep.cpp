// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1. Places, arguments, results and launches are those of any target
//      (Target/CUDA/EmitStep.h); calls have their text from there too.
//   2. Kernels become one object file, the code that `run --target=cpu` has.
//      It has the descriptions of precompiled calls too (Precompiled.h).
//   3. Meanwhile other calls become others by compilers of the host, one for
//      each segment that has any: without a compiler the first of them is an
//      error, with its place.
//   4. lld makes a library of all.
//
// Grids and blocks are in the code: the manifest has ones.

#include "cutback/Target/CPU/CompileStep.h"

#include "LinkLibrary.h"
#include "Precompiled.h"

#include "cutback/Runtime/CpuFeatures.h"
#include "cutback/Target/CPU/NativeKernels.h"

#include "llvm/Support/raw_ostream.h"

#include <future>

using namespace mlir;
using namespace cutback;

/// Of the first call that a compiler is needed for: "aten.mm, blocks.0.fc";
/// empty where there is none.
static std::string firstCall(const Artifact &artifact) {
  for (const ArtifactSegment &segment : artifact.segments)
    for (const ArtifactLaunch &launch : segment.launches)
      if (artifact.kernels[launch.kernel].file != kHostLibrary)
        return "'" + launch.op + "'" +
               (launch.place.empty() ? "" : " (" + launch.place + ")");
  return "";
}

namespace {
/// Compilers of the calls, which run while kernels become machine code.
class CallCompilers {
public:
  /// Starts one for each file of calls; `made` gets all that they read.
  void start(const CudaStep &step, const std::string &compiler, CpuStep &made) {
    CpuCalls calls = emitCpuCalls(step);
    llvm::append_range(made.files, step.files);
    llvm::append_range(made.files, calls.sources);
    llvm::append_range(made.files, calls.headers);
    for (const TextFile &source : calls.sources)
      running.push_back(
          std::async(std::launch::async, [files = made.files, compiler,
                                          name = source.first] {
            return buildCallsObject(compiler, files, name, cpuFeatures());
          }));
  }

  /// Waits for all; the first that failed, or else their object files.
  ToolResult finish() {
    ToolResult all;
    for (std::future<ToolResult> &result : running) {
      ToolResult one = result.get();
      if (!all.error.empty())
        continue;
      if (!one.error.empty())
        all = std::move(one);
      else
        all.files.push_back(std::move(one.files.front()));
    }
    return all;
  }

private:
  std::vector<std::future<ToolResult>> running;
};
} // namespace

/// By the names of their kernels.
static NamedCalls precompiledCalls(const CudaStep &step) {
  NamedCalls calls;
  for (auto [kernel, call] :
       llvm::zip_equal(step.artifact.kernels, step.precompiled))
    if (call)
      calls.emplace_back(kernel.name, *call);
  return calls;
}

/// What a runtime needs to know of code: nothing of a device.
static void describeCode(Artifact &artifact, const KernelObject &object) {
  artifact.target = kCpuTarget;
  artifact.machine = machineName();
  artifact.features = cpuFeatures();
  for (ArtifactKernel &kernel : artifact.kernels) {
    kernel.waits = false;
    auto found = object.bounds.find(kernel.name);
    if (kernel.file == kHostLibrary && found != object.bounds.end())
      kernel.bounds = found->second;
  }
  for (ArtifactSegment &segment : artifact.segments)
    for (ArtifactLaunch &launch : segment.launches) {
      launch.grid = launch.block = {1, 1, 1};
      launch.sharedBytes = 0;
    }
}

FailureOr<CpuStep> cutback::compileCpuStep(const KernelModule &kernels,
                                           joint::GraphOp graph,
                                           AccessTests tests) {
  FailureOr<CudaStep> step =
      emitCudaStep(kernels, graph, StepKernels::AreMachineCode);
  if (failed(step))
    return failure();
  CpuStep made;
  CallCompilers compilers;
  std::string first = firstCall(step->artifact);
  std::string compiler = first.empty() ? "" : findHostCompiler();
  if (!compiler.empty())
    compilers.start(*step, compiler, made);
  NamedCalls calls = precompiledCalls(*step);
  FailureOr<KernelObject> object =
      compileKernelObject(*kernels.module, calls, tests);
  if (failed(object))
    return failure();
  if (!first.empty() && compiler.empty()) {
    made.tool.error = "no C++ compiler is found for this machine";
    made.next = first + " is compiled by one: install g++ or clang++, or name "
                        "one in CXX";
    return made;
  }
  made.tool = compilers.finish();
  if (!made.tool.error.empty())
    return made;
  std::vector<std::string> objects = {std::move(object->bytes)};
  for (TextFile &file : made.tool.files)
    objects.push_back(std::move(file.second));
  if (!calls.empty())
    for (StringRef object : cpu::precompiledObjects())
      objects.push_back(object.str());
  std::string library;
  made.tool.error = cpu::linkLibrary(objects, library, made.tool.log);
  made.next = "they have the C library and libm: leave out of CXXFLAGS what "
              "asks for more";
  if (!made.tool.error.empty())
    return made;
  made.files.emplace_back(kHostLibrary, std::move(library));
  made.artifact = std::move(step->artifact);
  made.artifact.testsAccesses = tests == AccessTests::OfAll;
  describeCode(made.artifact, *object);
  return made;
}

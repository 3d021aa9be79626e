// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1. Places, arguments, results and launches are those of any target
//      (Target/CUDA/EmitStep.h); calls have their text from there too.
//   2. Kernels become one object file, the code that `run --target=cpu` has.
//   3. Calls become another one by the compiler of the host, where there are
//      any: without one the first of them is an error, with its place.
//   4. lld makes a library of both.
//
// Grids and blocks are in the code: the manifest has ones.

#include "cutback/Target/CPU/CompileStep.h"

#include "LinkLibrary.h"

#include "cutback/Runtime/CpuFeatures.h"
#include "cutback/Target/CPU/NativeKernels.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cutback;

/// Of the first call: "aten.mm, blocks.0.fc".
static std::string firstCall(const Artifact &artifact) {
  for (const ArtifactSegment &segment : artifact.segments)
    for (const ArtifactLaunch &launch : segment.launches)
      if (artifact.kernels[launch.kernel].file != kHostLibrary)
        return "'" + launch.op + "'" +
               (launch.place.empty() ? "" : " (" + launch.place + ")");
  return "";
}

/// The object file of the calls, in `objects`. False if there is none.
static bool compileCalls(const CudaStep &step, CpuStep &made,
                         std::vector<std::string> &objects) {
  std::string compiler = findHostCompiler();
  if (compiler.empty()) {
    made.tool.error = "no C++ compiler is found for this machine";
    made.next = firstCall(step.artifact) +
                " is compiled by one: install g++ or clang++, or name one in "
                "CXX";
    return false;
  }
  made.files.insert(made.files.end(), step.files.begin(), step.files.end());
  std::vector<TextFile> calls = emitCpuCalls(step);
  made.files.insert(made.files.end(), calls.begin(), calls.end());
  made.tool = buildCallsObject(compiler, made.files, cpuFeatures());
  if (!made.tool.error.empty())
    return false;
  objects.push_back(std::move(made.tool.files.front().second));
  return true;
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
                                           joint::GraphOp graph) {
  FailureOr<CudaStep> step =
      emitCudaStep(kernels, graph, StepKernels::AreMachineCode);
  if (failed(step))
    return failure();
  FailureOr<KernelObject> object = compileKernelObject(*kernels.module);
  if (failed(object))
    return failure();
  CpuStep made;
  std::vector<std::string> objects = {std::move(object->bytes)};
  if (step->numCalls && !compileCalls(*step, made, objects))
    return made;
  std::string library;
  made.tool.error = cpu::linkLibrary(objects, library, made.tool.log);
  made.next = "they have the C library and libm: leave out of CXXFLAGS what "
              "asks for more";
  if (!made.tool.error.empty())
    return made;
  made.files.emplace_back(kHostLibrary, std::move(library));
  made.artifact = std::move(step->artifact);
  describeCode(made.artifact, *object);
  return made;
}

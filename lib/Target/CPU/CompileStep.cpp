// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1. Places, arguments, results and launches are those of any target
//      (Target/CUDA/EmitStep.h), and so is what calls are told.
//   2. Kernels become one object file, the code that `run --target=cpu` has.
//      It has the descriptions of calls too (Precompiled.h).
//   3. lld makes a library of it and the functions that calls name.
//
// Grids and blocks are in the code: the manifest has ones.

#include "cutback/Target/CPU/CompileStep.h"

#include "LinkLibrary.h"
#include "Precompiled.h"

#include "cutback/Runtime/CpuFeatures.h"
#include "cutback/Target/CPU/NativeKernels.h"

using namespace mlir;
using namespace cutback;

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
  NamedCalls calls = precompiledCalls(*step);
  FailureOr<KernelObject> object =
      compileKernelObject(*kernels.module, calls, tests);
  if (failed(object))
    return failure();
  std::vector<std::string> objects = {std::move(object->bytes)};
  if (!calls.empty())
    cpu::addPrecompiledObjects(objects);
  CpuStep made;
  std::string library;
  made.problem = cpu::linkLibrary(objects, library, made.log);
  if (!made.problem.empty())
    return made;
  made.files.emplace_back(kHostLibrary, std::move(library));
  made.artifact = std::move(step->artifact);
  made.artifact.testsAccesses = tests == AccessTests::OfAll;
  describeCode(made.artifact, *object);
  return made;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1. Places, arguments, results and launches are those of any target
//      (Target/CUDA/EmitStep.h), and so is what calls are told.
//   2. Kernels become one object file, the code that `run --target=cpu` has.
//      It has the descriptions of calls too (Precompiled.h).
//   3. lld makes a library of it and the functions that calls name.
//   4. Calls without machine code go into a file of their own, for the
//      interpreter (Target/CUDA/InterpretedCalls.h).
//
// Grids and blocks are in the code: the manifest has ones.

#include "cutback/Target/CPU/CompileStep.h"

#include "LinkLibrary.h"
#include "Precompiled.h"

#include "cutback/Runtime/CpuFeatures.h"
#include "cutback/Target/CPU/NativeKernels.h"
#include "cutback/Target/CUDA/InterpretedCalls.h"

using namespace mlir;
using namespace cutback;

/// By the names of their kernels.
static NamedCalls precompiledCalls(const CudaStep &step) {
  NamedCalls calls;
  for (auto [kernel, call] :
       llvm::zip_equal(step.artifact.kernels, step.precompiled))
    if (call && !isInterpreted(*call))
      calls.emplace_back(kernel.name, *call);
  return calls;
}

/// Those of the interpreter: into a file, whose name their kernels get, and
/// into `made.interpreted`.
static void writeInterpreted(CudaStep &step, CpuStep &made) {
  std::string text;
  std::vector<std::string> types(step.artifact.kernels.size());
  for (auto [i, call] : llvm::enumerate(step.precompiled)) {
    if (!call || !isInterpreted(*call))
      continue;
    ArtifactKernel &kernel = step.artifact.kernels[i];
    text += functionOf(*call, kernel.name);
    kernel.file = kCallsFile;
    types[i] = operandTypesOf(*call);
  }
  if (text.empty())
    return;
  made.files.emplace_back(kCallsFile, std::move(text));
  for (const ArtifactSegment &segment : step.artifact.segments)
    for (const ArtifactLaunch &launch : segment.launches) {
      if (types[launch.kernel].empty())
        continue;
      auto found =
          llvm::find_if(made.interpreted, [&](const InterpretedOp &one) {
            return one.op == launch.op;
          });
      if (found != made.interpreted.end())
        ++found->count;
      else
        made.interpreted.push_back(
            {launch.op, types[launch.kernel], launch.place,
             step.precompiled[launch.kernel]->reason, 1});
    }
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
                                           AccessTests tests, bool hasGroup) {
  CudaOptions options;
  options.hasGroup = hasGroup;
  FailureOr<CudaStep> step =
      emitCudaStep(kernels, graph, StepKernels::AreMachineCode, options);
  if (failed(step))
    return failure();
  CpuStep made;
  writeInterpreted(*step, made);
  NamedCalls calls = precompiledCalls(*step);
  FailureOr<KernelObject> object =
      compileKernelObject(*kernels.module, calls, tests);
  if (failed(object))
    return failure();
  std::vector<std::string> objects = {std::move(object->bytes)};
  if (!calls.empty())
    cpu::addPrecompiledObjects(objects);
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

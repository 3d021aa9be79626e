// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same text for this machine: one more file that includes those of all
// segments behind a header in which CUDA's threads are fibers. Kernels keep
// their parameters; each gets a function that takes them as a list of pointers,
// behind them the address of a mark where it checks indices. One function
// launches a kernel by its number.

#include "cutback/Target/CUDA/EmitStep.h"

#include "DeviceFiles.h"

#include "llvm/ADT/STLExtras.h"

using namespace cutback;
using namespace cutback::cuda;

/// "void call_NAME(void *given)": the kernel on the pointers that are given.
static std::string callText(const CudaStep &step, size_t number) {
  const ArtifactKernel &kernel = step.artifact.kernels[number];
  std::string text = "\nvoid call_" + kernel.name +
                     "(void *given) {\n"
                     "  void **operand = static_cast<void **>(given);\n  " +
                     kernel.name + "(";
  const auto &parameters = step.parameters[number];
  for (auto [i, parameter] : llvm::enumerate(parameters))
    text += (i ? ",\n      " : "") + ("static_cast<" + parameter.first) +
            " *>(operand[" + std::to_string(i) + "])";
  if (kernel.checks)
    text += ", static_cast<int *>(operand[" +
            std::to_string(parameters.size()) + "])";
  return text + ");\n}\n";
}

std::vector<TextFile> cutback::emitCudaHost(const CudaStep &step) {
  std::string text =
      "// The kernels of the step as functions of the host, by number.\n"
      "#include \"" +
      std::string(hostFile().name) + "\"\n";
  for (const ArtifactSegment &segment : step.artifact.segments)
    text += "#include \"" + segment.name + ".cu\"\n";
  text += "\nnamespace {\n";
  std::string table;
  for (auto [number, kernel] : llvm::enumerate(step.artifact.kernels)) {
    text += callText(step, number);
    table += "    {call_" + kernel.name +
             (kernel.waits ? ", true},\n" : ", false},\n");
  }
  text += "\nstruct Kernel {\n  void (*run)(void *);\n  bool waits;\n};\n"
          "const Kernel kernels[] = {\n" +
          table +
          "};\n\n} // namespace\n\n"
          "extern \"C\" void cutback_launch(int kernel, const unsigned *grid,\n"
          "                               const unsigned *block,\n"
          "                               unsigned sharedBytes, void "
          "**operands) {\n"
          "  cutback_host::launch(grid, block, sharedBytes, "
          "kernels[kernel].waits,\n"
          "                       kernels[kernel].run, operands);\n}\n";
  return {{"host.cpp", text}, {hostFile().name, hostFile().text}};
}

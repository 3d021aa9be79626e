// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same text for this machine: one more file that includes those of all
// segments behind a header in which CUDA's threads are fibers. Kernels keep
// their parameters; each gets a function that takes them as a list of pointers.
//
//   "cuda-host": one function by which a kernel is launched by its number.
//   "cpu": calls alone, each under its name, with the launch that it is
//          written for. Products, attention and sums of rows are
//          loops there (Device/cutback_cpu.h).

#include "cutback/Target/CUDA/EmitStep.h"

#include "DeviceFiles.h"

#include "llvm/ADT/STLExtras.h"

using namespace cutback;
using namespace cutback::cuda;

/// A header, and the text of segments.
static std::string openHostFile(llvm::ArrayRef<ArtifactSegment> segments,
                                llvm::StringRef what, llvm::StringRef header) {
  std::string text = ("// " + what + "\n#include \"" + header + "\"\n").str();
  for (const ArtifactSegment &segment : segments)
    text += "#include \"" + segment.name + ".cu\"\n";
  return text + "\nnamespace {\n";
}

/// "void call_NAME(void *given)": the kernel on the pointers that `operand`
/// gives, and `mark` behind them.
static std::string callText(const CudaStep &step, size_t number,
                            const std::string &operand,
                            const std::string &mark) {
  const ArtifactKernel &kernel = step.artifact.kernels[number];
  std::string text = "\nvoid call_" + kernel.name +
                     "(void *given) {\n"
                     "  void **operand = " +
                     operand + ";\n  " + kernel.name + "(";
  const auto &parameters = step.parameters[number];
  for (auto [i, parameter] : llvm::enumerate(parameters))
    text += (i ? ",\n      " : "") + ("static_cast<" + parameter.first) +
            " *>(operand[" + std::to_string(i) + "])";
  if (kernel.checks)
    text += ", " + mark;
  return text + ");\n}\n";
}

std::vector<TextFile> cutback::emitCudaHost(const CudaStep &step) {
  std::string text = openHostFile(
      step.artifact.segments,
      "The kernels of the step as functions of the host, by number.",
      hostFile().name);
  std::string table;
  for (auto [number, kernel] : llvm::enumerate(step.artifact.kernels)) {
    text += callText(step, number, "static_cast<void **>(given)",
                     "static_cast<int *>(operand[" +
                         std::to_string(step.parameters[number].size()) + "])");
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

static std::string threeText(const std::array<int64_t, 3> &three) {
  return "{" + std::to_string(three[0]) + ", " + std::to_string(three[1]) +
         ", " + std::to_string(three[2]) + "}";
}

/// A function under the name by which the runtime finds it.
static std::string entryText(const CudaStep &step, size_t number) {
  const std::string &name = step.artifact.kernels[number].name;
  const KernelGrid &shape = step.grids[number];
  std::string text = "\nCUTBACK_ENTRY(run_" + name + ", \"" + name +
                     kCodeSuffix + "\") {\n  Given given = {operands, 0};\n";
  if (shape.runs)
    text += "  cutback_host::" +
            std::string(shape.isProduct ? "runProducts(" : "runBodies(") +
            std::to_string(shape.runs) + ", call_" + name +
            ", &given, cells);\n";
  else
    text += "  const unsigned grid[3] = " + threeText(shape.grid) +
            ", block[3] = " + threeText(shape.block) +
            ";\n"
            "  cutback_host::launch(grid, block, " +
            std::to_string(shape.sharedBytes) + ", " +
            (step.artifact.kernels[number].waits ? "true" : "false") +
            ", call_" + name + ",\n                       &given, cells[" +
            std::to_string(kPartCell) + "], cells[" +
            std::to_string(kPartsCell) + "]);\n";
  return text + "  cells[0] = given.mark;\n}\n";
}

/// The calls whose text is that of `segment`; nothing where there are none.
static std::string callsText(const CudaStep &step,
                             const ArtifactSegment &segment) {
  std::string text = openHostFile(
      segment, "Calls of the step as functions of this machine, by name.",
      cpuFiles().front().name);
  text += "\nstruct Given {\n  void **operands;\n  int mark;\n};\n";
  std::string entries;
  bool areThreads = true;
  for (auto [number, kernel] : llvm::enumerate(step.artifact.kernels)) {
    if (kernel.file != segment.name + ".cu")
      continue;
    areThreads &= step.grids[number].runs == 0;
    text += callText(step, number, "static_cast<Given *>(given)->operands",
                     "&static_cast<Given *>(given)->mark");
    entries += entryText(step, number);
  }
  if (entries.empty())
    return "";
  return (areThreads ? "#define CUTBACK_THREADS_ALONE 1\n" : "") + text +
         "\n} // namespace\n" + entries;
}

CpuCalls cutback::emitCpuCalls(const CudaStep &step) {
  CpuCalls calls;
  for (const ArtifactSegment &segment : step.artifact.segments)
    if (std::string text = callsText(step, segment); !text.empty())
      calls.sources.emplace_back("calls_" + segment.name + ".cpp", text);
  calls.headers.emplace_back(hostFile().name, hostFile().text);
  for (const DeviceFile &file : cpuFiles())
    calls.headers.emplace_back(file.name, file.text);
  return calls;
}

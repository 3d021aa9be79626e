// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As a step of one segment: the text of each function, the headers of the
// device and the host's table of kernels become one library, whose file goes
// once it is loaded. It stays loaded.

#include "HostKernels.h"

#include "Target/CUDA/DeviceFiles.h"
#include "Target/CUDA/KernelText.h"
#include "cutback/Runtime/Executor.h"
#include "cutback/Target/CUDA/Toolchain.h"

#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fstream>

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

test::HostLaunch test::buildAndLoad(const std::vector<TextFile> &files) {
  // Bits are those of any optimization, and most of the time is the compiler's;
  // as for a user it is run by the tests of folders.
  ::setenv("CXXFLAGS", "-O0", /*replace=*/0);
  ToolResult built = buildHostLibrary(findHostCompiler(), files);
  EXPECT_EQ(built.error, "") << built.log;
  llvm::SmallString<128> path;
  if (built.files.empty() ||
      llvm::sys::fs::createTemporaryFile("cutback", "so", path))
    return nullptr;
  std::ofstream(path.c_str(), std::ios::binary) << built.files[0].second;
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove(path);
  EXPECT_TRUE(library) << ::dlerror();
  return library
             ? reinterpret_cast<HostLaunch>(::dlsym(library, "cutback_launch"))
             : nullptr;
}

bool test::HostKernels::build(ModuleOp module) {
  CudaStep step;
  std::string cuda = "#include \"cutback_cuda.cuh\"\n";
  for (auto function : module.getOps<kernel::FuncOp>()) {
    std::vector<std::string> names;
    for (size_t i = 0; i < function.getBody().getNumArguments(); ++i)
      names.push_back("m" + std::to_string(i));
    std::string problem;
    std::optional<KernelText> text = writeKernel(function, names, problem);
    EXPECT_TRUE(text) << problem;
    if (!text)
      return false;
    cuda += text->print();
    step.artifact.kernels.push_back(
        {text->name, "forward.cu", text->waits, text->checks, {}});
    step.parameters.emplace_back();
    for (const Parameter &parameter : text->parameters)
      step.parameters.back().emplace_back(
          (parameter.isWritten ? "" : "const ") + parameter.type,
          parameter.name);
    Shape shape = {};
    for (int axis = 0; axis < 3; ++axis) {
      shape.grid[axis] = static_cast<unsigned>(text->shape.grid[axis]);
      shape.block[axis] = static_cast<unsigned>(text->shape.block[axis]);
    }
    shape.sharedBytes = static_cast<unsigned>(text->shape.sharedBytes);
    shapes.push_back(shape);
    functions.push_back(function);
  }
  step.artifact.segments = {{"forward", {}, {}}};
  std::vector<TextFile> files = {{"forward.cu", cuda}};
  for (const DeviceFile &file : deviceFiles())
    files.emplace_back(file.name, file.text);
  for (TextFile &file : emitCudaHost(step))
    files.push_back(std::move(file));
  entry = buildAndLoad(files);
  return entry != nullptr;
}

int test::HostKernels::run(size_t k, std::vector<void *> memory) const {
  KernelMark problem;
  memory.push_back(&problem);
  entry(static_cast<int>(k), shapes[k].grid, shapes[k].block,
        shapes[k].sharedBytes, memory.data());
  return problem.kind;
}

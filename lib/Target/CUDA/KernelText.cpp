// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function around the nests of a kernel: its parameters, the bound of its
// launch, and which block runs which nest. One nest has all blocks; of several
// each has blocks of its own, in their order, and all blocks are as large as
// the largest. Lines of parameters are broken; statements stay one a line,
// however long.

#include "KernelText.h"
#include "ScalarText.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

/// Columns of a line of parameters.
static constexpr size_t kLineLength = 80;
/// Half of a multiprocessor's.
static constexpr int64_t kThreadsAtOnce = 1024;

std::string KernelText::print() const {
  int64_t threads = shape.block[0] * shape.block[1] * shape.block[2];
  std::string text =
      comment + "extern \"C\" __global__ void __launch_bounds__(" +
      std::to_string(threads) +
      (blocksAtOnce > 1 ? ", " + std::to_string(blocksAtOnce) : "") + ")\n";
  std::string line = name + "(", indent(name.size() + 1, ' ');
  auto add = [&](const std::string &parameter, bool isLast) {
    std::string part = parameter + (isLast ? ") {" : ",");
    if (line.size() + part.size() + 1 > kLineLength &&
        line.find_first_not_of(' ') != std::string::npos &&
        line != name + "(") {
      text += line + "\n";
      line = indent + part;
      return;
    }
    line += (line.back() == '(' || line.back() == ' ' ? "" : " ") + part;
  };
  const char *pointer = mayOverlap ? " *" : " *__restrict__ ";
  for (size_t i = 0; i < parameters.size(); ++i)
    add((parameters[i].isWritten ? "" : "const ") + parameters[i].type +
            pointer + parameters[i].name,
        i + 1 == parameters.size() && !checks);
  if (checks)
    add("int *problem", true);
  return text + line + "\n" + body + "}\n";
}

/// The function without its text; nothing if a type has none.
static std::optional<KernelText> beginKernel(kernel::FuncOp function,
                                             ArrayRef<std::string> names,
                                             std::string &problem) {
  KernelText kernel;
  kernel.name = function.getSymName();
  for (BlockArgument memory : function.getBody().getArguments()) {
    Type type = cast<MemRefType>(memory.getType()).getElementType();
    if (typeText(type).empty()) {
      problem = "'" + kernel.name + "' has elements of a type without text";
      return std::nullopt;
    }
    kernel.parameters.push_back(
        {typeText(type), names[memory.getArgNumber()],
         memory.getArgNumber() >=
             static_cast<size_t>(function.getNumInputs())});
  }
  return kernel;
}

/// Nests side by side in one function.
static bool writeNests(ArrayRef<kernel::NestOp> nests,
                       ArrayRef<std::string> names, KernelText &kernel,
                       std::string &problem) {
  int64_t blocks = 0, threads = 0;
  bool isOne = nests.size() == 1;
  for (kernel::NestOp nest : nests)
    threads = std::max(threads, scheduleNest(nest).blockThreads);
  for (kernel::NestOp nest : nests) {
    NestSchedule schedule = scheduleNest(nest);
    schedule.setBlock(threads);
    std::string block = "blockIdx.x";
    if (blocks)
      block = "(blockIdx.x - " + std::to_string(blocks) + ")";
    std::optional<NestText> text =
        writeNest(nest, schedule, names, block, isOne ? 2 : 4, problem);
    if (!text)
      return false;
    blocks += schedule.blocks;
    if (isOne)
      kernel.body = text->text;
    else
      kernel.body += (nest == nests.front() ? "  if (" : " else if (") +
                     ("blockIdx.x < " + std::to_string(blocks) + ") {\n") +
                     text->text + (nest == nests.back() ? "  }\n" : "  }");
    kernel.shape.sharedBytes =
        std::max(kernel.shape.sharedBytes, text->sharedBytes);
    kernel.checks |= text->checks;
    kernel.waits |= schedule.mapping != NestSchedule::Elements;
  }
  kernel.shape.grid = {blocks, 1, 1};
  kernel.shape.block = {threads, 1, 1};
  kernel.blocksAtOnce = kThreadsAtOnce / threads;
  return true;
}

std::optional<KernelText> cuda::writeKernel(kernel::FuncOp function,
                                            ArrayRef<std::string> names,
                                            std::string &problem) {
  std::optional<KernelText> kernel = beginKernel(function, names, problem);
  auto nests = llvm::to_vector(function.getBody().getOps<kernel::NestOp>());
  if (!kernel || !writeNests(nests, names, *kernel, problem))
    return std::nullopt;
  return kernel;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who reads the text of a kernel wants to know what it stands for, so in front
// of it stand lines like these:
//
//   // First of fc1, model.py:12
//   // add, mul, sum
//   // Loops: 128 x 64 summed; rows. Operands 32768 bytes, results 512 bytes
//
// Names of ops are wrapped behind a comma; ops that compute nothing are left
// out. Equal launches share one text, and so the comment of the first.

#include "LaunchComment.h"

#include "MissingKernels.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Lowering/KernelBody.h"

using namespace mlir;
using namespace cutback;

std::string cutback::cuda::commentOf(kernel::LaunchOp launch,
                                     kernel::FuncOp function) {
  std::string ops, loops;
  for (Operation &op : launch.getBlock().without_terminator())
    if (!isFree(&op))
      ops += (ops.empty() ? "" : ", ") + shortOpName(&op);
  for (auto nest : function.getBody().getOps<kernel::NestOp>()) {
    std::string axes;
    for (auto [extent, reduces] :
         llvm::zip_equal(nest.getExtents(), nest.getReduced()))
      axes += (axes.empty() ? "" : " x ") + std::to_string(extent) +
              (reduces ? " summed" : "");
    loops += (loops.empty() ? "" : ", ") + axes;
  }
  int64_t read = 0, written = 0;
  for (BlockArgument memory : function.getBody().getArguments()) {
    auto type = cast<MemRefType>(memory.getType());
    int64_t bytes =
        type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
    (memory.getArgNumber() < static_cast<uint64_t>(function.getNumInputs())
         ? read
         : written) += bytes;
  }
  std::string text;
  if (std::string where = launchText(launch.getLoc()); !where.empty())
    text += "// First of " + where + "\n";
  for (size_t begin = 0; begin < ops.size();) {
    size_t end =
        ops.size() - begin <= 74 ? ops.size() : ops.rfind(", ", begin + 74) + 2;
    if (end <= begin + 2)
      end = ops.size();
    text += (begin ? "//   " : "// ") +
            StringRef(ops).slice(begin, end).rtrim().str() + "\n";
    begin = end;
  }
  return text + "// Loops: " + loops + "; " + function.getSchedule().str() +
         ". Operands " + std::to_string(read) + " bytes, results " +
         std::to_string(written) + "\n";
}

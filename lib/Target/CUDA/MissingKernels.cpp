// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model that one op keeps from a GPU has that op in every layer, and its
// gradient too: one error for each op and reason, at its first call, with the
// number of the others. In the order of the first calls, so that the output is
// the same each time. A lookup a call.

#include "MissingKernels.h"

#include "cutback/Analysis/Names.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

std::string cuda::whereText(Location location) {
  std::string module;
  location->walk([&](Location part) {
    auto fused = dyn_cast<FusedLoc>(part);
    auto name = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata())
                      : StringAttr();
    if (!name)
      return WalkResult::advance();
    module = name.getValue().str();
    return WalkResult::interrupt();
  });
  std::string line = lineText(location);
  return module + (module.empty() || line.empty() ? "" : ", ") + line;
}

void MissingKernels::add(Operation *op, const std::string &problem) {
  auto [found, isNew] =
      numbers.try_emplace(shortOpName(op) + " " + problem, calls.size());
  if (isNew)
    calls.push_back({op, problem, 0});
  ++calls[found->second].count;
}

void MissingKernels::report() const {
  for (const Calls &entry : calls) {
    auto diag = entry.first->emitError("'")
                << shortOpName(entry.first) << "' " << entry.problem;
    std::string where = whereText(entry.first->getLoc());
    if (!where.empty())
      diag.attachNote() << "it stands in " << where;
    if (entry.count > 1)
      diag.attachNote() << "it is the first of " << entry.count
                        << " such calls of the step";
    diag.attachNote() << "run the step with --reference, or leave the op out "
                         "of the model";
  }
}

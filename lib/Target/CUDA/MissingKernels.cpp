// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model that one op keeps from a GPU has that op in every layer, and its
// gradient too: one error for each op and reason, at its first call, with the
// number of the others. In the order of the first calls, so that the output is
// the same each time. A lookup a call.

#include "MissingKernels.h"

#include "CallDescription.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Dialect/Joint/BackwardKey.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

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

std::string cuda::launchText(Location location) {
  std::string text = whereText(location);
  std::optional<BackwardKey> key;
  location->walk([&](Location part) {
    key = BackwardKey::read(part);
    return key ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!key)
    return text;
  llvm::raw_string_ostream out(text);
  out << (text.empty() ? "" : ", ") << "backward of " << key->of << " ("
      << key->number;
  if (!key->region.empty()) {
    out << ", region ";
    llvm::interleave(key->region, out, ".");
  }
  out << ")";
  return text;
}

std::string cuda::noMachineCodeText(Operation *op) {
  SmallVector<Value> all(op->getOperands());
  llvm::append_range(all, op->getResults());
  for (Value value : all) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    if (type.getRank() > precompiled::kMostDims)
      return "has a tensor of " + std::to_string(type.getRank()) +
             " dimensions, of which the machine code of calls takes " +
             std::to_string(precompiled::kMostDims);
  }
  return "has sizes or arguments that the machine code of calls does not take";
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
    std::string types;
    llvm::raw_string_ostream out(types);
    out << "(";
    llvm::interleaveComma(entry.first->getOperandTypes(), out);
    out << ") -> ";
    llvm::interleaveComma(entry.first->getResultTypes(), out);
    auto diag = entry.first->emitError("'")
                << shortOpName(entry.first) << "' " << entry.problem << ", as "
                << types;
    std::string where = whereText(entry.first->getLoc());
    if (!where.empty())
      diag.attachNote() << "it stands in " << where;
    if (entry.count > 1)
      diag.attachNote() << "it is the first of " << entry.count
                        << " such calls of the step";
    diag.attachNote() << "run the step with cutback run --target=cpu, which "
                         "interprets it, or with --reference, or leave the op "
                         "out of the model";
  }
}

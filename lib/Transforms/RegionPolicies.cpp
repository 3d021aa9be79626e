// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selective checkpointing: a table from names of ops to policies, over the tags
// of regions. A name is that of an op as the framework calls it ("gelu"), with
// its namespace ("aten.gelu"), or "matmul", which is every product of matrices
// or vectors, whatever ops the framework makes of them. `must_save` wins over
// other entries and over the region; an op that carries a policy of its own
// which is not to recompute keeps it. Linear.

#include "RegionPolicies.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

struct Entry {
  StringRef policy, name;
  PolicyKind kind = PolicyKind::MustSave;
  bool fits = false;
};

} // namespace

static std::optional<PolicyKind> kindOf(StringRef word) {
  return llvm::StringSwitch<std::optional<PolicyKind>>(word)
      .Cases({"save", "must-save"}, PolicyKind::MustSave)
      .Case("prefer-save", PolicyKind::PreferSave)
      .Case("must-recompute", PolicyKind::MustRecompute)
      .Cases({"recompute", "prefer-recompute"}, PolicyKind::PreferRecompute)
      .Default(std::nullopt);
}

/// Products as users of selective checkpointing list them.
static bool isProduct(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"mm", "addmm", "bmm", "baddbmm", "addbmm", "matmul", "linear"},
             true)
      .Cases({"mv", "addmv", "dot", "vdot", "inner", "einsum", "chain_matmul"},
             true)
      .Cases({"_scaled_mm", "_grouped_mm", "_int_mm"}, true)
      .Default(false);
}

static std::string wholeName(Operation *op) {
  if (auto call = dyn_cast<FrameworkCallOpInterface>(op))
    return call.getPacketName().str();
  return op->getName().getStringRef().str();
}

static LogicalResult readTable(GraphOp graph, ArrayRef<std::string> table,
                               SmallVectorImpl<Entry> &entries) {
  for (StringRef text : table) {
    auto [policy, name] = text.split(':');
    std::optional<PolicyKind> kind = kindOf(policy);
    if (!kind || name.empty()) {
      auto diag = graph.emitError("'")
                  << text << "' is no policy of an op of checkpoint regions";
      diag.attachNote() << "it is written POLICY:OP, as save:matmul; policies "
                           "are save, recompute, must-save, prefer-save, "
                           "must-recompute and prefer-recompute";
      return diag;
    }
    for (const Entry &other : entries)
      if (other.name == name && other.kind != *kind)
        return graph.emitError("'")
               << name << "' has two policies in checkpoint regions: '"
               << other.policy << "' and '" << policy << "'";
    entries.push_back({policy, name, *kind});
  }
  return success();
}

/// Nothing in a region is called so.
static LogicalResult reportUnknown(GraphOp graph, StringRef name,
                                   const llvm::StringMap<unsigned> &names) {
  auto diag = graph.emitError("no op of a checkpoint region is called '")
              << name << "'";
  if (names.empty()) {
    diag.attachNote() << "the graph has no checkpoint regions; --checkpoint "
                         "makes some";
    return diag;
  }
  std::vector<std::string_view> candidates;
  for (StringRef known : names.keys())
    candidates.emplace_back(known.data(), known.size());
  llvm::sort(candidates);
  std::vector<std::string> near =
      nearestNames(std::string_view(name.data(), name.size()), candidates, 3);
  if (near.empty())
    for (std::string_view known : ArrayRef(candidates).take_front(3))
      near.emplace_back(known);
  diag.attachNote() << "there are " << llvm::join(near, ", ");
  return diag;
}

LogicalResult cutback::applyRegionPolicies(GraphOp graph,
                                           ArrayRef<std::string> table) {
  if (table.empty())
    return success();
  SmallVector<Entry> entries;
  if (failed(readTable(graph, table, entries)))
    return failure();
  llvm::StringMap<unsigned> names;
  for (Operation &op : graph.getBlock()) {
    PolicyAttr policy = policyOf(&op);
    if (!policy || policy.getRegion().empty())
      continue;
    std::string name = shortOpName(&op), whole = wholeName(&op);
    ++names[name];
    std::optional<PolicyKind> kind;
    for (Entry &entry : entries)
      if (entry.name == name || entry.name == whole ||
          (entry.name == "matmul" && isProduct(name))) {
        entry.fits = true;
        if (kind != PolicyKind::MustSave)
          kind = entry.kind;
      }
    if (kind && policy.asksToRecompute())
      op.setAttr(JointDialect::kPolicy,
                 PolicyAttr::get(op.getContext(), *kind, policy.getRegion(),
                                 policy.getRun()));
  }
  for (const Entry &entry : entries)
    if (!entry.fits)
      return reportUnknown(graph, entry.name, names);
  return success();
}

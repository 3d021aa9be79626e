// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report shows beside a result: modules, source lines and kinds of ops,
// read from the graph once. Text and JSON are written from this and the result
// alone, so that both can be tested on results made by hand.
//
// The saved values of a graph whose parameters have names are grouped by
// module; otherwise by source line, of which the ops of equal blocks share one.

#include "cutback/Report/Report.h"

#include "cutback/Analysis/Modules.h"
#include "cutback/Analysis/Names.h"
#include "cutback/Planner/Reasons.h"

using namespace mlir;
using llvm::StringRef;

namespace cutback {

StringRef describe(Strategy strategy) {
  switch (strategy) {
  case Strategy::MinCut:
    return "saves or recomputes each value, whichever costs less";
  case Strategy::Eager:
    return "saves what the decomposed backward reads, as AOTAutograd's default "
           "partitioner";
  case Strategy::Precompute:
    return "as eager, but does in the forward all that needs no gradient";
  case Strategy::RecomputeAll:
    break;
  }
  return "saves inputs alone, as a checkpoint around the model";
}

StringRef spell(SavedValue::Kind kind) {
  switch (kind) {
  case SavedValue::Tensor:
    return "tensor";
  case SavedValue::Size:
    return "size";
  case SavedValue::Seed:
    break;
  }
  return "seed";
}

StrategyLine strategyLine(const PartitionResult &result, bool chosen) {
  StrategyLine line;
  line.strategy = result.choice.strategy;
  line.chosen = chosen;
  line.savedBytes = result.savedBytes;
  line.peakBytes = result.peak.bytes;
  line.isPlanned = result.peak.isPlanned;
  line.recomputed = result.recomputed.size();
  line.extraPs = result.pricedPs;
  return line;
}

/// Symbols with the sizes that the plan was made for.
static void collectSymbols(const PartitionResult &result,
                           ReportExtras &extras) {
  joint::GraphOp graph = result.view.graph;
  DictionaryAttr symbols = graph.getSymbolsAttr();
  if (!symbols)
    return;
  for (NamedAttribute entry : symbols) {
    StringRef name = entry.getName().getValue();
    auto symbol = dyn_cast<joint::SymbolAttr>(entry.getValue());
    auto given = result.options.symbols.find(name);
    if (given != result.options.symbols.end())
      extras.symbols.emplace_back(name.str(), given->second);
    else if (symbol && symbol.getHint())
      extras.symbols.emplace_back(name.str(), *symbol.getHint());
    else
      extras.unknownSymbols.push_back(name.str());
  }
}

std::vector<std::string> valueModules(const GraphView &view) {
  ModuleFacts facts = collectModuleFacts(view);
  for (const std::string &module : facts.argModule)
    if (!module.empty()) {
      std::vector<std::string> byOp = deriveModules(view, facts);
      std::vector<std::string> out = facts.argModule;
      out.resize(view.numValues());
      for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
        out[value] = byOp[view.definer[value]];
      return out;
    }
  return {};
}

/// Sets the bytes that each value adds to `saved_bytes`, and tells those that
/// the forward returns, which are there for nothing.
static void countOwnBytes(const PartitionResult &result,
                          std::vector<FoldItem> &items) {
  const GraphView &view = result.view;
  std::vector<uint8_t> there(view.numValues(), 0), returned(there);
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    there[arg] = 1;
  for (uint32_t value : view.forwardResults())
    returned[result.storage[value]] = 1;
  for (size_t i = 0; i < items.size(); ++i) {
    const SavedValue &saved = result.saved[i];
    uint32_t base = result.storage[saved.value];
    if (returned[base] && !saved.argument)
      items[i].reason = reasons::kResult.str();
    bool adds =
        saved.kind != SavedValue::Size && !there[base] && !returned[base];
    items[i].bytes = adds ? result.bytes[base] : 0;
    there[base] = 1;
  }
}

/// Whether an op has a tag that asks for its recomputation.
static bool hasCheckpoints(const GraphView &view) {
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (!view.traits[op].annotated)
      continue;
    auto policy = view.ops[op]->getAttrOfType<joint::PolicyAttr>(
        joint::JointDialect::kPolicy);
    if (policy && policy.asksToRecompute())
      return true;
  }
  return false;
}

ReportExtras collectExtras(PartitionResult &result) {
  ReportExtras extras;
  const GraphView &view = result.view;
  std::vector<std::string> modules = valueModules(view);
  extras.modules = !modules.empty();
  for (SavedValue &saved : result.saved) {
    if (saved.module.empty() && extras.modules)
      saved.module = modules[saved.value];
    FoldItem item;
    item.reason = saved.reason;
    if (view.isArg(saved.value)) {
      item.what = "argument";
      item.place = saved.module.empty() ? "(inputs)" : saved.module;
    } else {
      Operation *op = view.ops[view.definer[saved.value]];
      item.what = shortOpName(op);
      item.place = extras.modules ? saved.module : lineText(op->getLoc());
    }
    if (item.place.empty())
      item.place = extras.modules ? "(no module)" : "(no source line)";
    extras.items.push_back(std::move(item));
  }
  countOwnBytes(result, extras.items);
  collectSymbols(result, extras);
  extras.isCheckpointed = hasCheckpoints(view);
  if (extras.modules)
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
      if (view.name(value) == result.peak.at)
        extras.peakModule = modules[value];
  // Of sizes that nobody said, nothing follows.
  if (extras.unknownSymbols.empty())
    extras.fit = fitDevice(result);
  return extras;
}

} // namespace cutback

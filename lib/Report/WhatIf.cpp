// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The opposite choice for one value, and what it would change. Where there is
// no opposite, the rule that decides is named: a policy, with where it stands;
// an op that must not run twice; a view, whose base is what can be saved; an
// argument, which nothing computes. Only what is left is worth a second plan.
//
// The second plan is asked for by a policy, as `--policy` would, so that its
// figures are those of the report that `--policy` gives. Linear, and the plan.

#include "cutback/Report/WhatIf.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Planner/Reasons.h"
#include "cutback/Support/Text.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using llvm::StringRef;

namespace cutback {

//===----------------------------------------------------------------------===//
// The opposite
//===----------------------------------------------------------------------===//

/// What asks for the fate of an op, or nothing.
static std::string policyText(const PartitionResult &result, uint32_t op) {
  const GraphView &view = result.view;
  for (uint32_t v = view.resultBegin[op]; v < view.resultBegin[op + 1]; ++v) {
    std::string name = view.name(v);
    if (auto it = result.options.policies.find(name);
        it != result.options.policies.end())
      return "--policy=" + name + "=" + it->second;
  }
  auto tag = view.ops[op]->getAttrOfType<joint::PolicyAttr>(
      joint::JointDialect::kPolicy);
  if (!tag)
    return "";
  std::string text =
      "the tag " + joint::stringifyPolicyKind(tag.getKind()).str();
  if (!tag.getRegion().empty())
    text += " of checkpoint region " + joint::regionText(tag.getRegion());
  return text;
}

static bool asksToSave(const std::string &policy) {
  return StringRef(policy).contains("save");
}

/// Why an op must not run twice; empty if it may.
static std::string runsOnce(const PartitionResult &result, uint32_t op) {
  const OpTraits &traits = result.view.traits[op];
  std::string kind = shortOpName(result.view.ops[op]);
  if (traits.random)
    return kind + " is random: a second run gives other numbers";
  if (traits.ordered)
    return kind + " has effects and runs once";
  if (!traits.recomputable)
    return kind + " is not known to give the same result twice";
  return "";
}

/// Of a saved value: why it cannot be recomputed; empty if nothing is known to
/// stand against it.
static std::string whyNotRecomputed(const PartitionResult &result,
                                    const SavedValue &saved, uint32_t op) {
  if (std::string once = runsOnce(result, op); !once.empty())
    return once;
  std::string policy = policyText(result, op);
  if (!policy.empty() && asksToSave(policy))
    return policy + " decides; take it away first";
  if (saved.reason == reasons::kPolicy)
    return "the policy of a view of it decides; take it away first";
  bool isRule = result.options.costModel == CostModel::PyTorch &&
                saved.kind == SavedValue::Tensor &&
                saved.reason != reasons::kTorchCheaper;
  if (isRule)
    return "PyTorch's rules never recompute it: " +
           phraseOfReason(saved.reason);
  return "";
}

/// Of a value that is not saved: why it cannot be.
static std::string whyNotSaved(const PartitionResult &result, uint32_t value) {
  const GraphView &view = result.view;
  uint32_t op = view.definer[value];
  std::string policy = policyText(result, op);
  if (!policy.empty() && !asksToSave(policy))
    return policy + " decides; take it away first";
  if (view.traits[op].view && view.baseOf(op) != GraphView::kNone &&
      result.choice.costModel == CostModel::Roofline)
    return "it is a view of %" + view.name(view.baseOf(op)) +
           ": ask about that one";
  return "";
}

static std::string whyNot(const PartitionResult &result, const Fates &fates,
                          uint32_t value) {
  const GraphView &view = result.view;
  if (view.isArg(value))
    return "it is an argument: nothing computes it, so it cannot be "
           "recomputed";
  uint32_t op = view.definer[value];
  switch (fates.of(value)) {
  case Fate::Saved:
    return whyNotRecomputed(result, result.saved[fates.savedIndex(value)], op);
  case Fate::SavedStorage:
    return "its storage is saved as %" +
           view.name(fates.savedInStorage(value)) + ": ask about that one";
  case Fate::ForwardOnly:
    return "the backward does not need it: saving it would only take memory";
  case Fate::BackwardOnly:
    if (result.sets && result.sets->ops[op] == GraphSet::Backward)
      return "it depends on a gradient, which the forward does not have";
    return whyNotSaved(result, value);
  case Fate::Recomputed:
    return whyNotSaved(result, value);
  case Fate::BackwardInput:
  case Fate::Argument:
    break;
  }
  return "";
}

Opposite oppositeOf(const PartitionResult &result, uint32_t value) {
  Fates fates(result);
  Opposite opposite;
  opposite.name = result.view.name(value);
  opposite.save = fates.of(value) != Fate::Saved;
  opposite.whyNot = whyNot(result, fates, value);
  if (const auto &given = result.given; given && opposite.whyNot.empty()) {
    uint32_t decided = given->numberOf[value];
    if (decided == GraphView::kNone)
      opposite.whyNot = "it is a part of an op that PyTorch's rules decide on "
                        "as a whole";
    else
      opposite.name = given->view.name(decided);
  }
  return opposite;
}

mlir::FailureOr<CopiedPlan> planOpposite(joint::GraphOp asRead,
                                         const PartitionResult &result,
                                         const Opposite &opposite) {
  PartitionOptions options = result.options;
  options.policies[opposite.name] = opposite.policy();
  options.dumpNetwork.clear();
  return planCopy(asRead, options);
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

const char *spell(Fate fate) {
  switch (fate) {
  case Fate::Saved:
    return "saved";
  case Fate::SavedStorage:
    return "in a saved storage";
  case Fate::Recomputed:
    return "recomputed";
  case Fate::ForwardOnly:
    return "in the forward only";
  case Fate::BackwardOnly:
    return "in the backward only";
  case Fate::BackwardInput:
    return "an input of the backward";
  case Fate::Argument:
    break;
  }
  return "an argument that the backward does not read";
}

std::vector<FateChange> changedFates(const PartitionResult &before,
                                     const PartitionResult &after,
                                     uint32_t except) {
  Fates left(before), right(after);
  llvm::StringMap<uint32_t> numbers;
  for (uint32_t value = 0; value < after.view.numValues(); ++value)
    numbers.try_emplace(after.view.name(value), value);
  std::vector<FateChange> changes;
  for (uint32_t value = 0; value < before.view.numValues(); ++value) {
    auto found = numbers.find(before.view.name(value));
    if (found == numbers.end() || value == except)
      continue;
    if (Fate a = left.of(value), b = right.of(found->second); a != b)
      changes.push_back({value, a, b});
  }
  return changes;
}

namespace {
/// One figure of both plans.
struct Figure {
  const char *name, *key;
  int64_t before, after;
  std::string (*format)(int64_t);

  std::string difference() const {
    if (before == after)
      return "no change";
    int64_t by = after - before;
    return (by > 0 ? "+" : "-") + format(std::abs(by));
  }
};
} // namespace

static std::string timeText(int64_t ps) {
  return ps < 0 ? "-" + formatPicoseconds(-static_cast<double>(ps))
                : formatPicoseconds(ps);
}

static std::string countText(int64_t count) { return formatCount(count); }

static std::vector<Figure> figuresOf(const PartitionResult &before,
                                     const PartitionResult &after) {
  return {
      {"saved", "saved_bytes", before.savedBytes, after.savedBytes,
       formatBytes},
      {"peak of the step", "peak_bytes", before.peak.bytes, after.peak.bytes,
       formatBytes},
      {"saving and recomputing take", "priced_ps", before.pricedPs,
       after.pricedPs, timeText},
      {"values saved", "saved_values", int64_t(before.saved.size()),
       int64_t(after.saved.size()), countText},
      {"ops recomputed", "recomputed", int64_t(before.recomputed.size()),
       int64_t(after.recomputed.size()), countText},
  };
}

static std::string changesText(const PartitionResult &before,
                               const PartitionResult &after, uint32_t value) {
  std::vector<FateChange> changes = changedFates(before, after, value);
  if (changes.empty())
    return "  no other value changes\n";
  std::string out = "  " + formatCount(changes.size(), "other value") +
                    (changes.size() == 1 ? " changes:\n" : " change:\n");
  TextTable table({TextTable::Left, TextTable::Left});
  size_t shown = std::min<size_t>(changes.size(), 12);
  for (size_t i = 0; i < shown; ++i)
    table.add({"%" + before.view.name(changes[i].value),
               std::string(spell(changes[i].before)) + " -> " +
                   spell(changes[i].after)});
  table.fit(kScreenWidth - 4, {{0, 20}});
  out += table.str(4);
  if (shown < changes.size())
    out += "    and " + formatCount(changes.size() - shown) + " more\n";
  return out;
}

static const char *choiceText(const Opposite &opposite) {
  return opposite.save ? "saved" : "recomputed";
}

std::string whatIfText(const PartitionResult &before,
                       const PartitionResult *after, const Opposite &opposite,
                       uint32_t value) {
  if (!after)
    return wrapText("what if not:", opposite.whyNot, 4);
  std::string out = std::string("what if it were ") + choiceText(opposite) +
                    " (--policy=" + opposite.name + "=" + opposite.policy() +
                    "):\n";
  using T = TextTable;
  T table({T::Left, T::Right, T::Left, T::Right, T::Right});
  for (const Figure &figure : figuresOf(before, *after))
    table.add({figure.name, figure.format(figure.before), "->",
               figure.format(figure.after), figure.difference()});
  return out + table.str(2) + changesText(before, *after, value);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

using llvm::json::OStream;

static void writeText(OStream &json, StringRef key, StringRef text) {
  json.attribute(key, llvm::json::isUTF8(text) ? text.str()
                                               : llvm::json::fixUTF8(text));
}

static void writeCost(OStream &json, StringRef key,
                      const std::vector<int64_t> &costs, uint32_t index) {
  if (index < costs.size() && costs[index] >= 0)
    json.attribute(key, costs[index]);
  else
    json.attribute(key, nullptr);
}

static void writeValue(OStream &json, const PartitionResult &result,
                       uint32_t value, const std::string &module) {
  const GraphView &view = result.view;
  Fates fates(result);
  json.attribute("schema", 1);
  writeText(json, "value", view.name(value));
  writeText(json, "type", typeText(mlir::Value(view.values[value]).getType()));
  json.attribute("bytes", result.bytes[value]);
  json.attribute("argument", view.isArg(value));
  uint32_t op = view.definer[value];
  writeText(json, "op", view.isArg(value) ? "" : shortOpName(view.ops[op]));
  writeText(json, "location",
            view.isArg(value) ? "" : placeText(view.ops[op]->getLoc()));
  writeText(json, "module", module);
  writeText(json, "fate", spell(fates.of(value)));
  bool isSaved = fates.of(value) == Fate::Saved;
  writeText(json, "reason",
            isSaved ? result.saved[fates.savedIndex(value)].reason : "");
  writeCost(json, "save_ps", result.saveCost, value);
  writeCost(json, "recompute_ps", result.recomputeCost, op);
}

static void writeWhatIf(OStream &json, const PartitionResult &before,
                        const PartitionResult *after, const Opposite &opposite,
                        uint32_t value) {
  json.attribute("possible", after != nullptr);
  if (!after) {
    writeText(json, "why_not", opposite.whyNot);
    return;
  }
  json.attribute("choice", choiceText(opposite));
  writeText(json, "option",
            "--policy=" + opposite.name + "=" + opposite.policy());
  for (const Figure &figure : figuresOf(before, *after))
    json.attributeObject(figure.key, [&] {
      json.attribute("before", figure.before);
      json.attribute("after", figure.after);
    });
  json.attributeArray("changes", [&] {
    for (const FateChange &change : changedFates(before, *after, value))
      json.object([&] {
        writeText(json, "value", before.view.name(change.value));
        json.attribute("before", spell(change.before));
        json.attribute("after", spell(change.after));
      });
  });
}

std::string explainJson(const PartitionResult &before,
                        const PartitionResult *after, const Opposite *opposite,
                        uint32_t value, const std::string &module,
                        std::optional<Fate> inTorch) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OStream json(os, 2);
  json.object([&] {
    writeValue(json, before, value, module);
    if (inTorch)
      json.attribute("torch_compile", spell(*inTorch));
    if (opposite)
      json.attributeObject("what_if", [&] {
        writeWhatIf(json, before, after, *opposite, value);
      });
  });
  os << "\n";
  return text;
}

} // namespace cutback

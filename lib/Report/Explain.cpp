// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why one value is saved, recomputed, or neither: the numbers that the
// partitioner decided by, beside each other. A reader sees at once whether the
// plan follows a rule (a policy, an op that must not run twice) or a price
// (saving costs less than recomputing, or the other way round; the cut weighs
// whole chains, so a single value may look the wrong way: the text names what
// recomputing it would need in turn).

#include "cutback/Report/Explain.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Planner/OptionText.h"
#include "cutback/Planner/Reasons.h"
#include "cutback/Report/Bans.h"
#include "cutback/Support/Text.h"

#include <algorithm>

using llvm::StringRef;

namespace cutback {

std::optional<uint32_t> findValue(const GraphView &view, StringRef name) {
  name.consume_front("%");
  for (uint32_t value = 0; value < view.numValues(); ++value)
    if (StringRef(view.name(value)).ltrim('%') == name)
      return value;
  return std::nullopt;
}

std::vector<std::string> namesNear(const GraphView &view, StringRef name,
                                   size_t count) {
  name.consume_front("%");
  std::vector<std::string> all;
  for (uint32_t value = 0; value < view.numValues(); ++value)
    all.push_back(view.name(value));
  std::vector<std::string_view> views(all.begin(), all.end());
  return nearestNames(std::string_view(name.data(), name.size()), views, count);
}

//===----------------------------------------------------------------------===//
// Fates
//===----------------------------------------------------------------------===//

static uint32_t storageOf(const PartitionResult &result, uint32_t value) {
  return value < result.storage.size() ? result.storage[value] : value;
}

Fates::Fates(const PartitionResult &result)
    : result(result), forward(result.view.numOps(), 0),
      backward(result.view.numOps(), 0),
      saved(result.view.numValues(), GraphView::kNone),
      savedStorage(result.view.numValues(), GraphView::kNone) {
  for (uint32_t op : result.halves.forwardOps)
    forward[op] = 1;
  for (uint32_t op : result.halves.backwardOps)
    backward[op] = 1;
  for (size_t i = 0; i < result.saved.size(); ++i) {
    uint32_t value = result.saved[i].value;
    saved[value] = i;
    savedStorage[storageOf(result, value)] = value;
  }
}

uint32_t Fates::savedInStorage(uint32_t value) const {
  return savedStorage[storageOf(result, value)];
}

bool Fates::isReadInBackward(uint32_t value) const {
  return llvm::any_of(result.view.users(value), [&](uint32_t user) {
    return user != result.view.numOps() && inBackward(user);
  });
}

Fate Fates::of(uint32_t value) const {
  if (saved[value] != GraphView::kNone)
    return Fate::Saved;
  if (result.view.isArg(value)) {
    if (isReadInBackward(value))
      return Fate::BackwardInput;
    return savedInStorage(value) != GraphView::kNone ? Fate::SavedStorage
                                                     : Fate::Argument;
  }
  uint32_t op = result.view.definer[value];
  if (forward[op] && backward[op])
    return Fate::Recomputed;
  if (!forward[op])
    return Fate::BackwardOnly;
  if (savedInStorage(value) != GraphView::kNone)
    return Fate::SavedStorage;
  return Fate::ForwardOnly;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string listNames(const std::vector<std::string> &names) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < 8; ++i)
    out += (i ? ", %" : "%") + names[i];
  if (names.size() > 8)
    out += ", and " + formatCount(names.size() - 8) + " more";
  return out.empty() ? "no op" : out;
}

/// A price of the roofline, whatever model the plan was made by.
static std::string costText(const PartitionResult &result,
                            const std::vector<int64_t> &costs, uint32_t index) {
  if (index >= costs.size())
    return "not weighed";
  if (costs[index] < 0)
    return "never";
  return formatPicoseconds(costs[index]);
}

/// Its time, and what its bytes are worth to the cut.
static std::string saveCostText(const PartitionResult &result, uint32_t value) {
  std::string text = costText(result, result.saveCost, value);
  double price = result.bytePricePs;
  if (price <= 0 || value >= result.saveCost.size() ||
      result.saveCost[value] < 0)
    return text;
  double worth = price * static_cast<double>(result.sizes->bytes[value]);
  return text + ", and " + formatPicoseconds(static_cast<int64_t>(worth)) +
         " for its bytes at " + spellPrice(price) + " ps each";
}

static std::string opName(const GraphView &view, uint32_t op) {
  if (view.numResults(op) == 0)
    return shortOpName(view.ops[op]);
  return view.name(view.resultBegin[op]);
}

/// What an argument is for.
static std::string roleText(const GraphView &view, uint32_t value) {
  joint::GraphOp graph = view.graph;
  joint::RoleAttr role = graph.getRole(value);
  if (!role)
    return "";
  std::string name =
      role.getName() ? " " + role.getName().getValue().str() : "";
  switch (role.getKind()) {
  case joint::RoleKind::Param:
    return "parameter" + name;
  case joint::RoleKind::Tangent:
  case joint::RoleKind::GradSeed: {
    std::string out = "gradient of forward result ";
    llvm::ArrayRef<uint32_t> results = view.forwardResults();
    if (role.getOf() < 0 || size_t(role.getOf()) >= results.size())
      return "gradient of a forward result";
    return out + std::to_string(role.getOf()) + ", %" +
           view.name(results[role.getOf()]);
  }
  case joint::RoleKind::RngSeed:
    return "seed of random numbers" + name;
  case joint::RoleKind::RngOffset:
    return "offset of random numbers" + name;
  default:
    return joint::stringifyRoleKind(role.getKind()).str() + name;
  }
}

static std::string headText(const PartitionResult &result, uint32_t value,
                            const std::string &module) {
  const GraphView &view = result.view;
  mlir::Value ir = view.values[value];
  std::string out = typeText(ir.getType());
  if (value < result.bytes.size())
    out += ", " + formatBytes(result.bytes[value]);
  if (view.isArg(value)) {
    std::string role = roleText(view, value);
    out += role.empty() ? ", an argument" : ", an argument: " + role;
  } else {
    mlir::Operation *op = view.ops[view.definer[value]];
    out += ", computed by " + op->getName().getStringRef().str();
    std::string place = placeText(op->getLoc());
    if (!place.empty())
      out += " at " + place;
    if (!module.empty())
      out += " (" + module + ")";
  }
  return wrapText("%" + view.name(value) + ":", out, 4);
}

static std::string fateText(const PartitionResult &result, const Fates &fates,
                            uint32_t value) {
  switch (fates.of(value)) {
  case Fate::Saved: {
    const SavedValue &saved = result.saved[fates.savedIndex(value)];
    std::string out = result.view.isArg(value) ? "read by the backward"
                                               : "saved for the backward";
    return saved.reason.empty() ? out
                                : out + ": " + phraseOfReason(saved.reason);
  }
  case Fate::SavedStorage:
    return "not saved by itself: its storage is, as %" +
           result.view.name(fates.savedInStorage(value));
  case Fate::Recomputed:
    return "recomputed: the forward frees it, the backward computes it again";
  case Fate::ForwardOnly:
    return "used in the forward only: the backward does not need it";
  case Fate::BackwardOnly:
    return "computed in the backward only";
  case Fate::BackwardInput: {
    joint::GraphOp graph = result.view.graph;
    joint::RoleAttr role = graph.getRole(value);
    return role && role.getKind() == joint::RoleKind::Constant
               ? "a part of both halves, so nothing saves it"
               : "an input of the backward: given to it, so nothing saves it";
  }
  case Fate::Argument:
    break;
  }
  return "an argument that the backward does not read";
}

/// A line of the table below the fate.
static std::string factText(const char *name, const std::string &fact) {
  return wrapText("  " + std::string(name), fact, 28);
}

static std::string usersText(const PartitionResult &result, const Fates &fates,
                             uint32_t value) {
  const GraphView &view = result.view;
  std::vector<std::string> forward, backward;
  bool returned = false;
  for (uint32_t user : view.users(value)) {
    if (user == view.numOps()) {
      returned = true;
      continue;
    }
    if (fates.inForward(user))
      forward.push_back(opName(view, user));
    if (fates.inBackward(user))
      backward.push_back(opName(view, user));
  }
  std::string out = factText("used in the forward by", listNames(forward)) +
                    factText("used in the backward by", listNames(backward));
  if (returned)
    out += factText("returned", "as a result of the step");
  return out;
}

/// The operands that a recomputation needs, and where they come from.
static std::string needsText(const PartitionResult &result, const Fates &fates,
                             uint32_t op) {
  std::vector<std::string> there, again;
  for (uint32_t operand : result.view.operands(op)) {
    Fate fate = fates.of(operand);
    bool there1 = fate == Fate::Saved || fate == Fate::SavedStorage;
    auto &list = there1 ? there : again;
    std::string name = result.view.name(operand);
    if (std::find(list.begin(), list.end(), name) == list.end())
      list.push_back(name);
  }
  std::string out;
  if (!there.empty())
    out += factText("recomputing needs, saved", listNames(there));
  if (!again.empty())
    out += factText("recomputing needs also", listNames(again));
  return out;
}

std::string explainValue(const PartitionResult &result, uint32_t value,
                         const std::string &module) {
  const GraphView &view = result.view;
  Fates fates(result);
  std::string out = headText(result, value, module);
  out += wrapText("", fateText(result, fates, value), 2);
  if (view.isArg(value))
    return out + bansOfValue(result, value) + usersText(result, fates, value);
  if (value < result.distance.size() && result.distance[value] >= 0)
    out += factText("distance to the backward",
                    formatFixed(result.distance[value], 0) + " ops");
  out += factText("saving costs", saveCostText(result, value));
  uint32_t op = view.definer[value];
  out +=
      factText("recomputing costs", costText(result, result.recomputeCost, op));
  out += bansOfValue(result, value) + needsText(result, fates, op);
  if (auto policy = view.ops[op]->getAttrOfType<joint::PolicyAttr>(
          joint::JointDialect::kPolicy)) {
    std::string text = joint::stringifyPolicyKind(policy.getKind()).str();
    if (!policy.getRegion().empty())
      text += ", checkpoint region " + joint::regionText(policy.getRegion());
    if (policy.getRun())
      text += ", run " + std::to_string(policy.getRun());
    out += factText("policy", text);
  }
  return out + usersText(result, fates, value);
}

} // namespace cutback

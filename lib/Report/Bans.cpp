// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the bans of a plan. PyTorch's partitioner asks its rules in order and
// stops at the first that forbids; who wants to know what a flag would change
// needs the others too. So a value has all of its rules here, and a summary in
// front counts how often each one applies and how often it decides.
//
// Names of values and files are input and may hold anything: JSON gets them as
// UTF-8. Linear.

#include "cutback/Report/Bans.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace cutback {

using llvm::StringRef;

namespace {
/// A rule in words, and the flag of PyTorch that switches it off.
struct Rule {
  StringRef name, cause, flag;
};

struct RuleCount {
  uint64_t applies = 0, decides = 0;
};
} // namespace

static constexpr unsigned kNumRules = 32;

/// The rule of one bit of BannedOp::rules.
static Rule ruleOfBit(unsigned bit) {
  switch (1u << bit) {
  case BannedOp::ByPolicy:
    return {"must be saved by policy", "", ""};
  case BannedOp::Random:
    return {"random", "a second run gives other numbers", ""};
  case BannedOp::OnlyOnce:
    return {"may run only once", "it has an effect, or may have one", ""};
  default:
    break;
  }
  auto reason = static_cast<BanReason>(bit);
  BanRule rule = ruleOf(reason);
  auto ref = [](std::string_view text) {
    return StringRef(text.data(), text.size());
  };
  return {ref(describeBanReason(reason)), ref(rule.cause), ref(rule.flag)};
}

/// Calls `use` with each rule, the one that decides first.
template <typename Use> static void forRules(const BannedOp &banned, Use use) {
  for (uint32_t rest = banned.rules; rest; rest &= rest - 1)
    use(llvm::countr_zero(rest));
}

static std::string nameOf(const GraphView &view, const BannedOp &banned) {
  if (banned.value != GraphView::kNone)
    return view.name(banned.value);
  mlir::Operation *op = view.ops[banned.op];
  if (auto call = op->getAttrOfType<mlir::StringAttr>("joint.call"))
    return call.str();
  return view.numResults(banned.op) ? view.name(view.resultBegin[banned.op])
                                    : op->getName().getStringRef().str();
}

static std::string placeOf(const GraphView &view, const BannedOp &banned) {
  return banned.op == GraphView::kNone
             ? std::string()
             : placeText(view.ops[banned.op]->getLoc());
}

static std::string causeText(const Rule &rule) {
  if (rule.flag.empty())
    return rule.cause.str();
  return rule.cause.str() + " (flag " + rule.flag.str() + ")";
}

/// The table in front: how often each rule applies, how often it decides.
static std::string countsText(const PartitionResult &result) {
  RuleCount counts[kNumRules];
  for (const BannedOp &banned : result.banned) {
    forRules(banned, [&](unsigned bit) { ++counts[bit].applies; });
    ++counts[llvm::countr_zero(banned.rules)].decides;
  }
  std::string out = "applies   decides  rule\n";
  for (unsigned bit = 0; bit < kNumRules; ++bit) {
    if (!counts[bit].applies)
      continue;
    Rule rule = ruleOfBit(bit);
    out +=
        llvm::formatv("{0,7}   {1,7}  {2}\n", formatCount(counts[bit].applies),
                      formatCount(counts[bit].decides), rule.name)
            .str();
    if (std::string cause = causeText(rule); !cause.empty())
      out += std::string(19, ' ') + cause + "\n";
  }
  return out;
}

std::string bansText(const PartitionResult &result) {
  std::string out =
      formatCount(result.banned.size()) + " values may not be recomputed\n";
  if (result.banned.empty())
    return out;
  out += "\n" + countsText(result) + "\n";
  for (const BannedOp &banned : result.banned) {
    out += "%" + nameOf(result.decidedView(), banned);
    if (std::string place = placeOf(result.decidedView(), banned);
        !place.empty())
      out += "  " + place;
    forRules(banned, [&](unsigned bit) {
      out += "\n    " + ruleOfBit(bit).name.str();
    });
    out += "\n";
  }
  return out;
}

std::string bansJson(const PartitionResult &result) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  auto writeBanned = [&](const BannedOp &banned) {
    json.attribute("value",
                   llvm::json::fixUTF8(nameOf(result.decidedView(), banned)));
    json.attribute("location",
                   llvm::json::fixUTF8(placeOf(result.decidedView(), banned)));
    json.attributeArray("rules", [&] {
      forRules(banned, [&](unsigned bit) {
        Rule rule = ruleOfBit(bit);
        json.object([&] {
          json.attribute("name", rule.name);
          json.attribute("cause", rule.cause);
          json.attribute("flag", rule.flag);
        });
      });
    });
  };
  json.object([&] {
    json.attribute("schema", 1);
    json.attributeArray("banned", [&] {
      for (const BannedOp &banned : result.banned)
        json.object([&] { writeBanned(banned); });
    });
  });
  return text + "\n";
}

std::string bansOfValue(const PartitionResult &result, uint32_t value) {
  const GraphView &view = result.decidedView();
  if (result.given)
    value = result.given->numberOf[value];
  if (value == GraphView::kNone)
    return "";
  uint32_t op = view.isArg(value) ? GraphView::kNone : view.definer[value];
  std::string out;
  for (const BannedOp &banned : result.banned) {
    bool isItsCall = banned.value == GraphView::kNone && banned.op == op;
    if (banned.value != value && !isItsCall)
      continue;
    forRules(banned, [&](unsigned bit) {
      Rule rule = ruleOfBit(bit);
      out += out.empty() ? "  may not be recomputed     "
                         : "                            ";
      out += rule.name;
      if (std::string cause = causeText(rule); !cause.empty())
        out += ": " + cause;
      out += "\n";
    });
  }
  return out;
}

} // namespace cutback

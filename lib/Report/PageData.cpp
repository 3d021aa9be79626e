// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data of a page: one JSON object, small enough to sit in the page.
//
//   * every text once, every value once, in the order of the model
//   * ascending lists of numbers, and series over time, as differences; where
//     memory does not change that is a zero
//   * what a plan saves and recomputes as the difference from the plan before
//     it: what to drop, what to add
//   * the arena as columns; where bytes follow from the value they are left out
//   * saved bytes over time in at most seven groups, by kind of op and by
//     module, with block numbers replaced by a star
//
// Names come from outside: "<" is written as an escape, so no name can end the
// script element that holds the object, and what is not UTF-8 is replaced.

#include "PageWriter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using llvm::StringRef;

namespace cutback {

std::string validText(StringRef text) {
  return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
}

/// "blocks.3.attn" → "blocks.*.attn".
static std::string starred(StringRef path) {
  std::string out;
  while (!path.empty()) {
    auto [part, rest] = path.split('.');
    bool isNumber =
        part.find_first_not_of("0123456789") == StringRef::npos && !out.empty();
    out += (out.empty() ? "" : ".") + (isNumber ? "*" : part.str());
    path = rest;
  }
  return out;
}

PageWriter::PageWriter(const Page &page) : page(page) {
  order.resize(page.items.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::stable_sort(order, [&](uint32_t a, uint32_t b) {
    return page.items[a].order < page.items[b].order;
  });
  number.resize(order.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    number[order[i]] = i;
  kinds = group([&](const PageItem &item) { return page.texts[item.op]; });
  places = group(
      [&](const PageItem &item) { return starred(page.texts[item.module]); });
  chooseTraces();
}

/// The plan that was asked for first, then from the first on.
void PageWriter::chooseTraces() {
  hasTrace.assign(page.plans.size(), false);
  size_t total = 0;
  auto take = [&](size_t plan) {
    size_t bytes = page.plans[plan].trace.size();
    if (bytes == 0 || hasTrace[plan] || total + bytes > Page::kTraceBytes)
      return;
    total += bytes;
    hasTrace[plan] = true;
  };
  if (page.chosen < page.plans.size())
    take(page.chosen);
  for (size_t plan = 0; plan < page.plans.size(); ++plan)
    take(plan);
}

/// Groups all items by `label`; the six with most saved bytes in the plans over
/// the price of a byte, or in all if there are none, are told apart.
PageWriter::Groups
PageWriter::group(llvm::function_ref<std::string(const PageItem &)> label) {
  std::map<std::string, uint32_t> numbers;
  std::vector<std::string> names;
  std::vector<uint32_t> ofItem;
  for (const PageItem &item : page.items) {
    auto [it, isNew] = numbers.try_emplace(label(item), names.size());
    if (isNew)
      names.push_back(it->first);
    ofItem.push_back(it->second);
  }
  auto isPrice = [](const PagePlan &plan) {
    return plan.name.kind == PagePlanName::Price;
  };
  bool hasPrices = llvm::any_of(page.plans, isPrice);
  // What only other plans save comes behind all that these do.
  std::vector<int64_t> most(names.size(), 0);
  for (const PagePlan &plan : page.plans)
    for (const PageSpan &span : plan.spans)
      most[ofItem[span.item]] +=
          isPrice(plan) || !hasPrices ? span.bytes : int64_t(span.bytes > 0);
  std::vector<uint32_t> byBytes;
  for (uint32_t i = 0; i < names.size(); ++i)
    if (most[i] > 0)
      byBytes.push_back(i);
  llvm::sort(byBytes, [&](uint32_t a, uint32_t b) {
    return std::pair(-most[a], names[a]) < std::pair(-most[b], names[b]);
  });
  Groups groups;
  size_t shown = byBytes.size() > 7 ? 6 : byBytes.size();
  std::vector<uint32_t> groupOf(names.size(), shown);
  for (size_t i = 0; i < shown; ++i) {
    groupOf[byBytes[i]] = i;
    groups.names.push_back(names[byBytes[i]]);
  }
  if (shown < byBytes.size())
    groups.names.push_back("others");
  for (uint32_t name : ofItem)
    groups.ofItem.push_back(groupOf[name]);
  return groups;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

void PageWriter::column(StringRef key, const std::vector<int64_t> &values) {
  json.attributeArray(key, [&] {
    for (int64_t value : values)
      json.value(value);
  });
}

void PageWriter::differences(StringRef key,
                             const std::vector<int64_t> &values) {
  json.attributeArray(key, [&] { differencesOf(values); });
}

void PageWriter::differencesOf(const std::vector<int64_t> &values) {
  int64_t last = 0;
  for (int64_t value : values) {
    json.value(value - last);
    last = value;
  }
}

void PageWriter::textAttribute(StringRef key, StringRef text) {
  json.attribute(key, validText(text));
}

void PageWriter::textList(StringRef key,
                          const std::vector<std::string> &texts) {
  json.attributeArray(key, [&] {
    for (const std::string &text : texts)
      json.value(validText(text));
  });
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

void PageWriter::writeItems() {
  auto all = [&](StringRef key, auto field) {
    std::vector<int64_t> values;
    for (uint32_t i : order)
      values.push_back(field(page.items[i]));
    column(key, values);
  };
  json.attributeArray("name", [&] {
    for (uint32_t i : order)
      json.value(validText(page.items[i].name));
  });
  all("op", [](const PageItem &item) { return item.op; });
  all("module", [](const PageItem &item) { return item.module; });
  all("place", [](const PageItem &item) { return item.place; });
  all("type", [](const PageItem &item) { return item.type; });
  all("bytes", [](const PageItem &item) { return item.bytes; });
  all("save_ps", [](const PageItem &item) { return item.savePs; });
  all("recompute_ps", [](const PageItem &item) { return item.recomputePs; });
  all("argument", [](const PageItem &item) { return item.argument; });
  all("first", [&](const PageItem &item) {
    return int64_t(number[item.first]) -
           int64_t(number[&item - &page.items[0]]);
  });
  json.attributeArray("needs", [&] {
    for (uint32_t i : order)
      json.array([&] {
        for (uint32_t need : page.items[i].needs)
          json.value(number[need]);
      });
  });
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

void PageWriter::writeSaved(const PagePlan &plan, const PagePlan *before) {
  std::map<uint32_t, const PageSaved *> old;
  if (before)
    for (const PageSaved &saved : before->saved)
      old[number[saved.item]] = &saved;
  std::map<uint32_t, const PageSaved *> now;
  for (const PageSaved &saved : plan.saved)
    now[number[saved.item]] = &saved;
  std::vector<int64_t> drop, add, own, reason;
  for (auto &[item, saved] : old)
    if (!now.count(item))
      drop.push_back(item);
  for (auto &[item, saved] : now) {
    auto it = old.find(item);
    if (it != old.end() && it->second->ownBytes == saved->ownBytes &&
        it->second->reason == saved->reason)
      continue;
    add.push_back(item);
    own.push_back(saved->ownBytes);
    reason.push_back(saved->reason);
  }
  json.attributeObject("saved", [&] {
    differences("drop", drop);
    differences("add", add);
    column("own", own);
    column("reason", reason);
  });
}

void PageWriter::writeRecomputed(const PagePlan &plan, const PagePlan *before) {
  auto numbersOf = [&](const PagePlan &of) {
    std::vector<int64_t> numbers;
    for (uint32_t item : of.recomputed)
      numbers.push_back(number[item]);
    llvm::sort(numbers);
    return numbers;
  };
  std::vector<int64_t> old, now = numbersOf(plan), drop, add;
  if (before)
    old = numbersOf(*before);
  std::set_difference(old.begin(), old.end(), now.begin(), now.end(),
                      std::back_inserter(drop));
  std::set_difference(now.begin(), now.end(), old.begin(), old.end(),
                      std::back_inserter(add));
  json.attributeObject("recomputed", [&] {
    differences("drop", drop);
    differences("add", add);
  });
}

void PageWriter::writeGroups(StringRef key, const PagePlan &plan,
                             const Groups &groups) {
  std::vector<std::vector<int64_t>> sums(
      groups.names.size(), std::vector<int64_t>(plan.moments.size() + 1, 0));
  for (const PageSpan &span : plan.spans) {
    sums[groups.ofItem[span.item]][span.begin] += span.bytes;
    sums[groups.ofItem[span.item]][span.end] -= span.bytes;
  }
  // Changes from moment to moment are what is written.
  json.attributeArray(key, [&] {
    for (std::vector<int64_t> &sum : sums) {
      sum.pop_back();
      json.array([&] {
        for (int64_t change : sum)
          json.value(change);
      });
    }
  });
}

void PageWriter::writeMoments(const PagePlan &plan) {
  auto all = [&](StringRef key, auto field) {
    std::vector<int64_t> values;
    for (const PageMoment &moment : plan.moments)
      values.push_back(field(moment));
    differences(key, values);
  };
  all("step", [](const PageMoment &moment) { return moment.step; });
  all("item", [&](const PageMoment &moment) { return number[moment.item]; });
  differences("time_ps", plan.timesPs);
  // What is saved stands in groups below.
  for (LiveKind kind : {LiveKind::Result, LiveKind::Gradient,
                        LiveKind::Recomputed, LiveKind::Temporary})
    all(spell(kind), [&](const PageMoment &moment) {
      return moment.bytes[static_cast<unsigned>(kind)];
    });
  writeGroups("saved_by_kind", plan, kinds);
  writeGroups("saved_by_module", plan, places);
  if (plan.arena.problem.empty())
    return;
  json.attributeArray("largest", [&] {
    for (const PageMoment &moment : plan.moments)
      json.array([&] {
        for (uint32_t item : moment.largest)
          json.value(number[item]);
      });
  });
}

void PageWriter::writePlaced(const PageArena &arena) {
  auto all = [&](auto field) {
    std::vector<int64_t> values;
    for (const PagePlaced &placed : arena.placed)
      values.push_back(field(placed));
    return values;
  };
  differences("item", all([&](const PagePlaced &placed) {
                return number[placed.item];
              }));
  differences("begin",
              all([](const PagePlaced &placed) { return placed.begin; }));
  column("steps", all([](const PagePlaced &placed) {
           return placed.end - placed.begin;
         }));
  // Many values lie in one place after another.
  std::vector<int64_t> offsets = all([&](const PagePlaced &placed) {
    return placed.offset / arena.alignment;
  });
  std::vector<int64_t> places = offsets;
  llvm::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (int64_t &offset : offsets)
    offset = llvm::lower_bound(places, offset) - places.begin();
  differences("offsets", places);
  column("place", offsets);
  std::string kinds;
  for (const PagePlaced &placed : arena.placed)
    kinds += static_cast<char>('0' + static_cast<int>(placed.kind));
  json.attribute("kind", kinds);
  // Of most, the bytes are those of the item, rounded up.
  json.attributeArray("sizes", [&] {
    for (auto [i, placed] : llvm::enumerate(arena.placed))
      if (placed.bytes != static_cast<int64_t>(llvm::alignTo(
                              page.items[placed.item].bytes, arena.alignment)))
        json.array([&, i = i, &placed = placed] {
          json.value(int64_t(i));
          json.value(placed.bytes);
        });
  });
}

void PageWriter::writeArena(const PageArena &arena) {
  if (!arena.problem.empty()) {
    textAttribute("problem", arena.problem);
    return;
  }
  json.attribute("bytes", arena.bytes);
  json.attribute("alignment", arena.alignment);
  writePlaced(arena);
  json.attribute("num_small", arena.numSmall);
  json.attribute("largest_small", arena.largestSmall);
  auto small = [&](StringRef key, auto field) {
    std::vector<int64_t> values;
    for (const PageSmall &run : arena.small)
      values.push_back(field(run));
    differences(key, values);
  };
  small("small_row", [](const PageSmall &run) { return run.row; });
  small("small_begin", [](const PageSmall &run) { return run.begin; });
  small("small_end", [](const PageSmall &run) { return run.end; });
}

void PageWriter::writePlan(size_t index) {
  const PagePlan &plan = page.plans[index];
  const PagePlan *before = index ? &page.plans[index - 1] : nullptr;
  static constexpr const char *kKinds[] = {"price", "strategy", "rules"};
  json.attribute("kind", kKinds[plan.name.kind]);
  textAttribute("label", plan.name.label);
  textAttribute("options", plan.name.options);
  textAttribute("headline", page.headline(index));
  json.attribute("saved_bytes", plan.savedBytes);
  json.attribute("peak_bytes", plan.peakBytes);
  json.attribute("lower_bound", plan.lowerBound);
  textAttribute("peak_at", plan.peakAt);
  json.attribute("peak_half", plan.peakInBackward ? "backward" : "forward");
  json.attributeArray("peak_parts", [&] {
    for (int64_t part : plan.peakParts)
      json.value(part);
  });
  json.attribute("model_ps", plan.modelPs);
  json.attribute("priced_ps", plan.pricedPs);
  json.attribute("recomputed_ops", plan.recomputedOps);
  json.attribute("kernels", plan.kernels);
  json.attribute("verified", plan.verified);
  json.attribute("forward_ops", plan.forwardOps);
  json.attribute("ops", plan.numOps);
  writeSaved(plan, before);
  writeRecomputed(plan, before);
  json.attributeObject("moments", [&] { writeMoments(plan); });
  json.attributeObject("arena", [&] { writeArena(plan.arena); });
  if (hasTrace[index])
    json.attribute("trace", llvm::encodeBase64(plan.trace));
}

void PageWriter::writeOther(const OtherPartition &other) {
  json.attributeObject("other", [&] {
    textAttribute("origin", other.origin);
    json.attribute("saved_bytes", other.savedBytes);
    if (other.peakBytes)
      json.attribute("peak_bytes", *other.peakBytes);
    if (other.pricedPs)
      json.attribute("priced_ps", *other.pricedPs);
    json.attribute("recomputed_ops", other.recomputed);
    json.attribute("verified", other.accepted);
    textAttribute("verdict", other.verdict);
  });
}

std::string PageWriter::data() {
  json.object([&] {
    json.attribute("schema", 1);
    textAttribute("graph", page.graph);
    json.attribute("chosen", page.chosen);
    for (auto [key, strategy] :
         {std::pair("eager", Strategy::Eager),
          std::pair("recompute_all", Strategy::RecomputeAll)})
      if (const PagePlan *plan =
              page.find(PagePlanName::Strategy, spell(strategy)))
        json.attribute(key, plan - page.plans.data());
    json.attribute("modules", page.modules);
    json.attribute("rows", Page::kRows);
    json.attribute("parameter_bytes", page.parameterBytes);
    json.attribute("input_bytes", page.inputBytes);
    if (page.other)
      writeOther(*page.other);
    textList("texts", page.texts);
    json.attributeObject("items", [&] { writeItems(); });
    textList("kinds", kinds.names);
    textList("places", places.names);
    json.attributeArray("plans", [&] {
      for (size_t i = 0; i < page.plans.size(); ++i)
        json.object([&] { writePlan(i); });
    });
  });
  json.flush();
  std::string out;
  out.reserve(text.size());
  for (char c : text)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

std::string Page::data() const { return PageWriter(*this).data(); }

} // namespace cutback

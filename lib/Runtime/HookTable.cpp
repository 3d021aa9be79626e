// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions at hook points. A step looks a point up by its key, which is its
// number in all steps that we write, and goes over a list that is mostly empty:
// a point without functions costs a comparison.
//
// A function may add and delete others while it runs. What is added waits, and
// what is deleted is marked, until the next run begins, so that a step has one
// set of functions from its first launch to its last.

#include "cutback/Runtime/HookTable.h"

#include <algorithm>

using namespace cutback;

std::string cutback::describeHook(const HookPoint &point) {
  return point.name + " (" + std::string(nameOf(point.kind)) + ")";
}

HookTable::HookTable(std::vector<HookPoint> points)
    : all(std::move(points)), entries(all.size()), waiting(all.size()) {}

uint64_t HookTable::add(size_t point, HookFunction function) {
  auto &list = isRunning ? waiting[point] : entries[point];
  list.push_back({nextKey, std::move(function)});
  return nextKey++;
}

bool HookTable::remove(uint64_t key) {
  for (auto *lists : {&entries, &waiting})
    for (std::vector<Entry> &list : *lists) {
      auto found = std::find_if(list.begin(), list.end(), [&](const Entry &e) {
        return e.key == key && !e.isRemoved;
      });
      if (found == list.end())
        continue;
      // A function that runs stays until the step is over.
      if (isRunning && lists == &entries)
        found->isRemoved = true;
      else
        list.erase(found);
      return true;
    }
  return false;
}

void HookTable::beginRun() { isRunning = true; }

void HookTable::endRun() {
  isRunning = false;
  for (size_t point = 0; point < all.size(); ++point) {
    std::vector<Entry> &list = entries[point];
    list.erase(std::remove_if(list.begin(), list.end(),
                              [](const Entry &e) { return e.isRemoved; }),
               list.end());
    for (Entry &entry : waiting[point])
      list.push_back(std::move(entry));
    waiting[point].clear();
  }
}

const std::vector<HookTable::Entry> *HookTable::entriesOf(int64_t key) const {
  auto isPoint = [&](size_t i) { return i < all.size() && all[i].key == key; };
  auto point = static_cast<size_t>(key);
  if (!isPoint(point))
    for (point = 0; point < all.size() && !isPoint(point);)
      ++point;
  return point < all.size() ? &entries[point] : nullptr;
}

bool HookTable::hasFunctions(int64_t key) const {
  const std::vector<Entry> *list = entriesOf(key);
  return list && !list->empty();
}

/// Functions of ours get a copy of what lies on a device.
int64_t HookTable::call(const HookFunction &function, const HookPoint &point,
                        const HookBuffer &buffer, std::string &why) {
  if (!function.own)
    return function.call(buffer.data, buffer.bytes, buffer.type,
                         static_cast<int32_t>(buffer.sizes->size()),
                         buffer.sizes->data(), function.userData,
                         buffer.stream);
  if (!buffer.copy)
    return function.own(point, buffer, why);
  std::vector<char> host(static_cast<size_t>(buffer.bytes));
  HookBuffer copy = {host.data(), buffer.bytes, buffer.type, buffer.sizes};
  why = buffer.copy(host.data(), false);
  int64_t changed = why.empty() ? function.own(point, copy, why) : -1;
  if (changed > 0)
    why = buffer.copy(host.data(), true);
  return why.empty() ? changed : -1;
}

std::string HookTable::run(int64_t key, const HookBuffer &buffer) const {
  const std::vector<Entry> *list = entriesOf(key);
  if (!list || list->empty())
    return "";
  const HookPoint &point = all[static_cast<size_t>(list - entries.data())];
  for (const Entry &entry : *list) {
    std::string why;
    int64_t changed = call(entry.function, point, buffer, why);
    std::string where = "the hook on " + describeHook(point);
    if (changed < 0)
      return where + (why.empty() ? " stops the step: it returns " +
                                        std::to_string(changed)
                                  : ": " + why);
    if (changed != 0 && changed != buffer.bytes)
      return where + " returns a gradient of " + std::to_string(changed) +
             " bytes in place of one of " + std::to_string(buffer.bytes);
    if (changed != 0 && !point.replaces)
      return where + " returns a gradient, and hooks of this kind only see it";
  }
  return "";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions at hook points. A step looks a point up by its key, which is its
// number in all steps that we write, and goes over a list that is mostly empty:
// a point without functions costs a comparison.
//
// A function may add and delete others while it runs. What is added waits, and
// what is deleted is marked, until the next run begins, so that a step has one
// set of functions from its first launch to its last.
//
// A function may throw, which is an error of the step; it may leave with a
// longjmp, and then the next run finds that this one is over; and it may not
// run the step that calls it.

#include "cutback/Runtime/HookTable.h"

#include <algorithm>
#include <cstdio>
#include <cxxabi.h>
#include <exception>

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

/// A copy: a function that leaves with a longjmp takes the original with it.
static thread_local char atWork[256];

const char *cutback::hookAtWork() { return *atWork ? atWork : nullptr; }

/// Whether a function that run() has called is still at work. It may have left
/// with a longjmp: then frames below are others, or this one is above.
/// Not for AddressSanitizer, which puts locals elsewhere: the frame may be
/// gone.
__attribute__((no_sanitize("address"))) bool HookTable::isInFunction() const {
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return frame && caller == std::this_thread::get_id() &&
         here < reinterpret_cast<uintptr_t>(frame) && frame->mark == mark;
}

bool HookTable::beginRun() {
  if (isRunning && frame && caller == std::this_thread::get_id()) {
    if (isInFunction())
      return false;
    frame = nullptr;
    endRun();
  }
  isRunning = true;
  return true;
}

void HookTable::endRun() {
  *atWork = 0;
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

/// A function of the user. An exception of it ends here: what is between knows
/// of none. (The end of a thread, which looks like one, goes on.)
static int64_t callGuarded(const HookFunction &function,
                           const HookBuffer &buffer, std::string &why) {
  try {
    return function.call(buffer.data, buffer.bytes, buffer.type,
                         static_cast<int32_t>(buffer.sizes->size()),
                         buffer.sizes->data(), function.userData,
                         buffer.stream);
  } catch (const std::exception &exception) {
    why = std::string("it throws an exception: ") + exception.what();
  } catch (abi::__forced_unwind &) {
    throw;
  } catch (...) {
    why = "it throws an exception";
  }
  return -1;
}

/// Functions of ours get a copy of what lies on a device.
static int64_t call(const HookFunction &function, const HookPoint &point,
                    const HookBuffer &buffer, std::string &why) {
  if (!function.own)
    return callGuarded(function, buffer, why);
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

__attribute__((no_sanitize("address"))) std::string
HookTable::run(int64_t key, const HookBuffer &buffer) const {
  const std::vector<Entry> *list = entriesOf(key);
  if (!list || list->empty())
    return "";
  const HookPoint &point = all[static_cast<size_t>(list - entries.data())];
  // Nothing that a longjmp would leave allocated.
  auto where = [&] { return "the hook on " + describeHook(point); };
  volatile Frame own = {};
  own.mark = mark += 0x9E3779B97F4A7C15u;
  caller = std::this_thread::get_id();
  frame = &own;
  std::string problem;
  for (const Entry &entry : *list) {
    std::string why;
    std::snprintf(atWork, sizeof atWork, "%s", where().c_str());
    int64_t changed = call(entry.function, point, buffer, why);
    *atWork = 0;
    if (changed < 0)
      problem = where() + (why.empty() ? " stops the step: it returns " +
                                             std::to_string(changed)
                                       : ": " + why);
    else if (changed != 0 && changed != buffer.bytes)
      problem = where() + " returns a gradient of " + std::to_string(changed) +
                " bytes in place of one of " + std::to_string(buffer.bytes);
    else if (changed != 0 && !point.replaces)
      problem =
          where() + " returns a gradient, and hooks of this kind only see it";
    if (!problem.empty())
      break;
  }
  own.mark = 0;
  frame = nullptr;
  return problem;
}

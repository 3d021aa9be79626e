// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Saved values by module, with the repetition of equal blocks folded.
//
//   1. cut each path behind its first numeric component: head, index, rest
//   2. items with equal head and index are one instance; its signature is the
//      sorted list of (rest, kind of op)
//   3. instances with equal head and signature become one group, and their
//      values are divided again by the rest of the path
//
// Sizes are no part of the signature: blocks of a network that shrinks from
// stage to stage still read as one line. O(n log n) in the number of items.

#include "cutback/Report/Folding.h"

#include <algorithm>
#include <map>

namespace cutback {

static bool isNumber(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

NumberedPath splitNumberedPath(std::string_view path) {
  size_t begin = 0;
  while (begin < path.size()) {
    size_t end = std::min(path.find('.', begin), path.size());
    if (begin > 0 && isNumber(path.substr(begin, end - begin)))
      return {path.substr(0, begin - 1), path.substr(begin, end - begin),
              path.substr(end)};
    begin = end + 1;
  }
  return {path, {}, {}};
}

std::string formatRanges(const std::vector<uint64_t> &ascending) {
  std::string out;
  for (size_t i = 0; i < ascending.size();) {
    size_t j = i;
    while (j + 1 < ascending.size() && ascending[j + 1] == ascending[j] + 1)
      ++j;
    if (!out.empty())
      out += ",";
    out += std::to_string(ascending[i]);
    if (j > i)
      out += "–" + std::to_string(ascending[j]);
    i = j + 1;
  }
  return out;
}

namespace {
struct Instance {
  std::string head, index;
  std::vector<const FoldItem *> items;
  std::vector<std::pair<std::string, std::string>> signature;
};
} // namespace

static std::vector<Instance> collect(const std::vector<FoldItem> &items) {
  std::vector<Instance> instances;
  std::map<std::pair<std::string, std::string>, size_t> numbers;
  for (const FoldItem &item : items) {
    NumberedPath path = splitNumberedPath(item.place);
    auto key = std::make_pair(std::string(path.head), std::string(path.index));
    auto [it, added] = numbers.try_emplace(key, instances.size());
    if (added)
      instances.push_back({key.first, key.second, {}, {}});
    Instance &instance = instances[it->second];
    instance.items.push_back(&item);
    instance.signature.emplace_back(std::string(path.rest), item.what);
  }
  for (Instance &instance : instances)
    std::sort(instance.signature.begin(), instance.signature.end());
  return instances;
}

/// Fills everything but label and parts; `items` are those of all repetitions.
static FoldedGroup summarize(const std::vector<const FoldItem *> &items,
                             uint64_t times) {
  FoldedGroup group;
  group.times = times;
  group.values = items.size() / times;
  std::map<std::string, uint64_t> kinds;
  std::map<std::string, int64_t> reasons;
  for (const FoldItem *item : items) {
    group.bytes += item->bytes;
    ++kinds[item->what];
    reasons[item->reason] += item->bytes;
  }
  for (auto &[kind, count] : kinds)
    group.kinds.emplace_back(kind, count / times);
  std::stable_sort(group.kinds.begin(), group.kinds.end(),
                   [](auto &a, auto &b) { return a.second > b.second; });
  int64_t most = -1;
  for (auto &[reason, bytes] : reasons)
    if (bytes > most) {
      most = bytes;
      group.reason = reason;
    }
  return group;
}

/// The parts of a numbered group, by the rest of the path.
static std::vector<FoldedGroup>
partsOf(const std::vector<const FoldItem *> &items, uint64_t times) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const FoldItem *>> byRest;
  for (const FoldItem *item : items) {
    std::string rest(splitNumberedPath(item->place).rest);
    auto &list = byRest[rest];
    if (list.empty())
      order.push_back(rest);
    list.push_back(item);
  }
  std::vector<FoldedGroup> parts;
  for (const std::string &rest : order) {
    FoldedGroup part = summarize(byRest[rest], times);
    part.label = rest.empty() ? "(itself)" : rest;
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<FoldedGroup> foldByModule(const std::vector<FoldItem> &items) {
  std::vector<Instance> instances = collect(items);
  std::vector<std::vector<size_t>> groups;
  using Signature = std::vector<std::pair<std::string, std::string>>;
  std::map<std::pair<std::string, Signature>, size_t> numbers;
  for (size_t i = 0; i < instances.size(); ++i) {
    Instance &instance = instances[i];
    auto key = std::make_pair(instance.head, instance.signature);
    auto it = numbers.find(key);
    if (instance.index.empty() || it == numbers.end()) {
      if (!instance.index.empty())
        numbers.emplace(key, groups.size());
      groups.push_back({i});
    } else {
      groups[it->second].push_back(i);
    }
  }
  std::vector<FoldedGroup> out;
  for (const std::vector<size_t> &members : groups) {
    std::vector<const FoldItem *> all;
    std::vector<uint64_t> indices;
    for (size_t member : members) {
      const Instance &instance = instances[member];
      all.insert(all.end(), instance.items.begin(), instance.items.end());
      if (!instance.index.empty())
        indices.push_back(std::stoull(instance.index));
    }
    FoldedGroup group = summarize(all, members.size());
    for (const FoldItem *item : all)
      group.members.push_back(item - items.data());
    std::sort(group.members.begin(), group.members.end());
    group.label = instances[members[0]].head;
    if (!indices.empty()) {
      std::sort(indices.begin(), indices.end());
      group.label += "." + formatRanges(indices);
      group.parts = partsOf(all, members.size());
    }
    out.push_back(std::move(group));
  }
  return out;
}

} // namespace cutback

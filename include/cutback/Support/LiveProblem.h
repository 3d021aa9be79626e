// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is live while a straight-line program runs. Numbers alone: the simulated
// peak of a plan and the search for an order with few live bytes are both
// problems of this kind.
#ifndef CUTBACK_SUPPORT_LIVEPROBLEM_H
#define CUTBACK_SUPPORT_LIVEPROBLEM_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace cutback {

/// Rows of numbers of different lengths.
struct Rows {
  std::vector<uint32_t> begin{0}, list;

  void add(uint32_t number) { list.push_back(number); }
  void endRow() { begin.push_back(list.size()); }
  uint32_t size() const { return begin.size() - 1; }

  struct Row {
    const uint32_t *first, *last;
    const uint32_t *begin() const { return first; }
    const uint32_t *end() const { return last; }
    size_t size() const { return last - first; }
    uint32_t operator[](size_t i) const { return first[i]; }
  };
  Row operator[](uint32_t i) const {
    return {list.data() + begin[i], list.data() + begin[i + 1]};
  }
};

/// Ops 0 … n-1 in their present order, and the storages that they work on.
struct LiveProblem {
  Rows reads; ///< by op: storages that it reads, each once
  Rows makes; ///< by op: storages that it makes
  /// By op: storages whose place its result takes if nobody reads them later;
  /// all as large as the result.
  Rows replaces;
  std::vector<int64_t> bytes;   ///< by storage
  std::vector<uint8_t> isGiven; ///< by storage: live at the start
  std::vector<uint8_t> isKept;  ///< by storage: live at the end

  uint32_t numOps() const { return reads.size(); }

  /// What is wrong with the problem; empty if nothing is. Linear.
  std::string check() const {
    size_t count = bytes.size();
    if (isGiven.size() != count || isKept.size() != count)
      return "has other numbers of storages";
    if (makes.size() != numOps() || replaces.size() != numOps())
      return "has other numbers of ops";
    for (const Rows *rows : {&reads, &makes, &replaces})
      for (uint32_t storage : rows->list)
        if (storage >= count)
          return "names a storage that there is not";
    std::vector<uint8_t> isMade = isGiven;
    for (uint32_t op = 0; op < numOps(); ++op) {
      for (uint32_t storage : reads[op])
        if (!isMade[storage])
          return "reads a storage that nobody has made";
      for (uint32_t storage : makes[op])
        if (isMade[storage]++)
          return "makes a storage twice";
      for (uint32_t storage : replaces[op])
        if (std::find(reads[op].begin(), reads[op].end(), storage) ==
            reads[op].end())
          return "replaces a storage that it does not read";
    }
    return "";
  }
};

/// Runs ops one by one. `left` counts, by storage, the readers to come, and
/// one more if it is kept. Keeps a reference.
class LiveSimulation {
public:
  explicit LiveSimulation(const LiveProblem &problem) : problem(problem) {}

  /// Bytes while `op` runs; afterwards `live` is what is live behind it.
  int64_t run(uint32_t op, std::vector<uint32_t> &left, int64_t &live) const {
    for (uint32_t storage : problem.makes[op])
      live += problem.bytes[storage];
    for (uint32_t storage : problem.reads[op])
      --left[storage];
    int64_t during = live;
    for (uint32_t storage : problem.replaces[op])
      if (left[storage] == 0) {
        during -= problem.bytes[storage];
        break;
      }
    for (uint32_t storage : problem.reads[op])
      if (left[storage] == 0)
        live -= problem.bytes[storage];
    for (uint32_t storage : problem.makes[op])
      if (left[storage] == 0)
        live -= problem.bytes[storage];
    return during;
  }

  std::vector<uint32_t> countReaders() const {
    std::vector<uint32_t> left(problem.isKept.begin(), problem.isKept.end());
    for (uint32_t storage : problem.reads.list)
      ++left[storage];
    return left;
  }

  int64_t liveAtStart(const std::vector<uint32_t> &left) const {
    int64_t live = 0;
    for (uint32_t storage = 0; storage < left.size(); ++storage)
      if (problem.isGiven[storage] && left[storage])
        live += problem.bytes[storage];
    return live;
  }

private:
  const LiveProblem &problem;
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_LIVEPROBLEM_H

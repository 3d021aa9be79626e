// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers by keys that lie near something with a number of its own: an op by
// the newest of its operands, say. Keys near the same thing form a short list,
// so who meets keys in the order of a graph walks through memory in that order,
// too, where a hash table would miss the cache at every step. What has more
// keys near it than a list should hold goes on in a hash table.
#ifndef CUTBACK_SUPPORT_NEARINDEX_H
#define CUTBACK_SUPPORT_NEARINDEX_H

#include "cutback/Support/FlatIndex.h"

namespace cutback {

class NearIndex {
public:
  static constexpr uint32_t kNone = FlatIndex::kNone;

  void reset() {
    lists.clear();
    entries.clear();
    rest.reset(0);
  }

  /// A number that was inserted with `near` and `tag` and for which
  /// `isEqual(number)` holds, or kNone. `tag` is any number that equal keys
  /// have in common; `hash()`, asked for seldom, is as in FlatIndex. `near` may
  /// be kNone.
  template <typename IsEqual, typename Hash>
  uint32_t find(uint32_t near, uint32_t tag, IsEqual isEqual, Hash hash) const {
    if (near != kNone) {
      if (near >= lists.size())
        return kNone;
      for (uint32_t number = lists[near].first; number != kNone;
           number = entries[number].next)
        if (entries[number].tag == tag && isEqual(number))
          return number;
      if (lists[near].length < kMost)
        return kNone;
    }
    return rest.find(hash(), isEqual);
  }

  /// Takes memory for all numbers up to `number` and all things up to `near`.
  template <typename Hash>
  void insert(uint32_t near, uint32_t tag, uint32_t number, Hash hash) {
    if (near == kNone)
      return rest.insert(hash(), number);
    if (near >= lists.size())
      lists.resize(size_t(near) + 1);
    List &list = lists[near];
    if (list.length == kMost)
      return rest.insert(hash(), number);
    if (number >= entries.size())
      entries.resize(size_t(number) + 1);
    entries[number] = {tag, list.first};
    list.first = number;
    ++list.length;
  }

private:
  static constexpr uint32_t kMost = 8;
  struct List {
    uint32_t first = kNone, length = 0;
  };
  struct Entry {
    uint32_t tag = 0, next = kNone;
  };

  std::vector<List> lists;    ///< by what keys are near
  std::vector<Entry> entries; ///< by number, of those in a list
  FlatIndex rest;
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_NEARINDEX_H

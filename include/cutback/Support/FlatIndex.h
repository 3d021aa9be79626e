// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash table of numbers: open addressing in one array of eight bytes an
// entry. What the numbers stand for, and when two of them are equal, is the
// user's: no key is copied, and a lookup allocates nothing.
#ifndef CUTBACK_SUPPORT_FLATINDEX_H
#define CUTBACK_SUPPORT_FLATINDEX_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cutback {

/// Places are found by the upper half of a hash, which is also compared before
/// the user is asked; so hashes should be well mixed there. Not more than half
/// of the places are ever taken.
class FlatIndex {
public:
  static constexpr uint32_t kNone = ~uint32_t(0);

  /// With room for `expected` numbers; more make it grow.
  explicit FlatIndex(size_t expected = 0) { reset(expected); }

  void reset(size_t expected) {
    size_t capacity = 16;
    while (capacity < 2 * expected)
      capacity *= 2;
    slots.assign(capacity, Slot());
    mask = capacity - 1;
    numUsed = 0;
  }

  /// The first number that was inserted with this hash and for which
  /// `isEqual(number)` holds, or kNone.
  template <typename IsEqual>
  uint32_t find(uint64_t hash, IsEqual isEqual) const {
    auto tag = static_cast<uint32_t>(hash >> 32);
    for (size_t at = tag & mask; slots[at].number != kNone;
         at = (at + 1) & mask)
      if (slots[at].tag == tag && isEqual(slots[at].number))
        return slots[at].number;
    return kNone;
  }

  /// As find(), but what is there can be replaced; null instead of kNone.
  template <typename IsEqual>
  uint32_t *findPlace(uint64_t hash, IsEqual isEqual) {
    auto tag = static_cast<uint32_t>(hash >> 32);
    for (size_t at = tag & mask; slots[at].number != kNone;
         at = (at + 1) & mask)
      if (slots[at].tag == tag && isEqual(slots[at].number))
        return &slots[at].number;
    return nullptr;
  }

  void insert(uint64_t hash, uint32_t number) {
    if (2 * ++numUsed > slots.size())
      grow();
    place({static_cast<uint32_t>(hash >> 32), number});
  }

private:
  struct Slot {
    uint32_t tag = 0, number = kNone;
  };

  void place(Slot slot) {
    size_t at = slot.tag & mask;
    while (slots[at].number != kNone)
      at = (at + 1) & mask;
    slots[at] = slot;
  }

  void grow() {
    std::vector<Slot> old = std::move(slots);
    slots.assign(old.size() * 4, Slot());
    mask = slots.size() - 1;
    for (Slot slot : old)
      if (slot.number != kNone)
        place(slot);
  }

  std::vector<Slot> slots;
  size_t mask = 0, numUsed = 0;
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_FLATINDEX_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hash tables of the import: names of values, and keys of pointers.
#ifndef CUTBACK_LIB_IMPORT_NAMETABLE_H
#define CUTBACK_LIB_IMPORT_NAMETABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

#include <cstdint>
#include <vector>

namespace cutback::fx {

/// Numbers names in the order in which they are added. Open addressing; names
/// stay in the text.
class NameTable {
public:
  static constexpr uint32_t kNone = ~uint32_t(0);

  NameTable() : slots(1024) {}

  uint32_t size() const { return names.size(); }
  llvm::StringRef name(uint32_t number) const { return names[number]; }
  /// The number of `name`, or kNone.
  uint32_t find(llvm::StringRef name) const {
    uint32_t hash = hashOf(name);
    for (size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot &slot = slots[i];
      if (!slot.number)
        return kNone;
      if (slot.hash == hash && names[slot.number - 1] == name)
        return slot.number - 1;
    }
  }
  /// The number of `name`, and whether it is new.
  std::pair<uint32_t, bool> insert(llvm::StringRef name) {
    if (names.size() * 2 >= slots.size())
      grow();
    uint32_t hash = hashOf(name);
    for (size_t i = hash & mask();; i = (i + 1) & mask()) {
      Slot &slot = slots[i];
      if (!slot.number) {
        names.push_back(name);
        slot = {hash, static_cast<uint32_t>(names.size())};
        return {slot.number - 1, true};
      }
      if (slot.hash == hash && names[slot.number - 1] == name)
        return {slot.number - 1, false};
    }
  }

private:
  struct Slot {
    uint32_t hash = 0, number = 0; ///< number + 1; 0 is empty
  };
  static uint32_t hashOf(llvm::StringRef name) {
    return static_cast<uint32_t>(llvm::xxh3_64bits(name));
  }
  size_t mask() const { return slots.size() - 1; }
  void grow() {
    std::vector<Slot> old(slots.size() * 2);
    old.swap(slots);
    for (const Slot &slot : old) {
      if (!slot.number)
        continue;
      size_t i = slot.hash & mask();
      while (slots[i].number)
        i = (i + 1) & mask();
      slots[i] = slot;
    }
  }

  std::vector<Slot> slots;
  std::vector<llvm::StringRef> names;
};

/// Numbers lists of pointers (a call's schema and arguments, say) in the order
/// in which they are added.
class KeyTable {
public:
  KeyTable() : slots(1024) {}

  /// The number of `key`, and whether it is new.
  std::pair<uint32_t, bool> insert(llvm::ArrayRef<const void *> key) {
    if (keys.size() * 2 >= slots.size())
      grow();
    uint32_t hash = hashOf(key);
    for (size_t i = hash & mask();; i = (i + 1) & mask()) {
      Slot &slot = slots[i];
      if (!slot.number) {
        keys.push_back({pool.size(), key.size()});
        pool.insert(pool.end(), key.begin(), key.end());
        slot = {hash, static_cast<uint32_t>(keys.size())};
        return {slot.number - 1, true};
      }
      if (slot.hash == hash && keyAt(slot.number - 1) == key)
        return {slot.number - 1, false};
    }
  }

private:
  struct Slot {
    uint32_t hash = 0, number = 0;
  };
  struct Range {
    size_t begin, size;
  };
  static uint32_t hashOf(llvm::ArrayRef<const void *> key) {
    // A multiply and a fold for each pointer; their low bits are alignment.
    uint64_t hash = 0x9E3779B97F4A7C15ull;
    for (const void *pointer : key) {
      hash ^= reinterpret_cast<uintptr_t>(pointer) >> 3;
      hash *= 0xD6E8FEB86659FD93ull;
      hash ^= hash >> 32;
    }
    return static_cast<uint32_t>(hash ^ (hash >> 29));
  }
  llvm::ArrayRef<const void *> keyAt(uint32_t number) const {
    return llvm::ArrayRef(pool).slice(keys[number].begin, keys[number].size);
  }
  size_t mask() const { return slots.size() - 1; }
  void grow() {
    std::vector<Slot> old(slots.size() * 2);
    old.swap(slots);
    for (const Slot &slot : old) {
      if (!slot.number)
        continue;
      size_t i = slot.hash & mask();
      while (slots[i].number)
        i = (i + 1) & mask();
      slots[i] = slot;
    }
  }

  std::vector<Slot> slots;
  std::vector<Range> keys;
  std::vector<const void *> pool;
};

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_NAMETABLE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hash tables of the import: names of values, and keys of pointers.
#ifndef CUTBACK_LIB_IMPORT_NAMETABLE_H
#define CUTBACK_LIB_IMPORT_NAMETABLE_H

#include "cutback/Support/FlatIndex.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

#include <cstdint>
#include <vector>

namespace cutback::fx {

/// Numbers names in the order in which they are added. Names stay in the text.
class NameTable {
public:
  static constexpr uint32_t kNone = FlatIndex::kNone;

  uint32_t size() const { return names.size(); }
  llvm::StringRef name(uint32_t number) const { return names[number]; }
  /// The number of `name`, or kNone.
  uint32_t find(llvm::StringRef name) const {
    return find(name, llvm::xxh3_64bits(name));
  }
  /// The number of `name`, and whether it is new.
  std::pair<uint32_t, bool> insert(llvm::StringRef name) {
    uint64_t hash = llvm::xxh3_64bits(name);
    if (uint32_t known = find(name, hash); known != kNone)
      return {known, false};
    names.push_back(name);
    index.insert(hash, names.size() - 1);
    return {names.size() - 1, true};
  }

private:
  uint32_t find(llvm::StringRef name, uint64_t hash) const {
    return index.find(hash, [&](uint32_t i) { return names[i] == name; });
  }

  FlatIndex index{512};
  std::vector<llvm::StringRef> names;
};

/// Numbers lists of pointers (a call's schema and arguments, say) in the order
/// in which they are added.
class KeyTable {
public:
  /// The number of `key`, and whether it is new.
  std::pair<uint32_t, bool> insert(llvm::ArrayRef<const void *> key) {
    uint64_t hash = hashOf(key);
    uint32_t known =
        index.find(hash, [&](uint32_t i) { return keyAt(i) == key; });
    if (known != FlatIndex::kNone)
      return {known, false};
    auto number = static_cast<uint32_t>(keys.size());
    keys.push_back({pool.size(), key.size()});
    pool.insert(pool.end(), key.begin(), key.end());
    index.insert(hash, number);
    return {number, true};
  }

private:
  struct Range {
    size_t begin, size;
  };
  static uint64_t hashOf(llvm::ArrayRef<const void *> key) {
    // A multiply and a fold for each pointer; their low bits are alignment.
    uint64_t hash = 0x9E3779B97F4A7C15ull;
    for (const void *pointer : key) {
      hash ^= reinterpret_cast<uintptr_t>(pointer) >> 3;
      hash *= 0xD6E8FEB86659FD93ull;
      hash ^= hash >> 32;
    }
    return hash * 0x9E3779B97F4A7C15ull;
  }
  llvm::ArrayRef<const void *> keyAt(uint32_t number) const {
    return llvm::ArrayRef(pool).slice(keys[number].begin, keys[number].size);
  }

  FlatIndex index{512};
  std::vector<Range> keys;
  std::vector<const void *> pool;
};

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_NAMETABLE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers of a model repeat: of a million calls a few hundred differ in what
// their loops depend on, which are their name, their arguments, and types and
// layouts of what they read and give. What was found for one call serves all
// that are like it.
#ifndef CUTBACK_LIB_KERNELS_CALLLOOPS_H
#define CUTBACK_LIB_KERNELS_CALLLOOPS_H

#include "cutback/Kernels/KernelProblem.h"
#include "cutback/Support/FlatIndex.h"

#include "llvm/ADT/Hashing.h"

namespace cutback {

/// How much of a tensor a read touches.
enum class Touch : uint8_t {
  All,
  AsGiven, ///< as much as the op gives, at most
  Nothing, ///< its sizes alone
};

/// What KernelProblem says of an op, by operands rather than values.
struct CallLoops {
  struct Read {
    uint32_t operand = 0;
    Touch touch = Touch::All;
    IndexMaps::Id map = IndexMaps::kNone;
    IndexMaps::Id mapOfResult = IndexMaps::kNone;
  };
  /// Of a result: the operand that it is a view of, and its layout.
  struct View {
    uint32_t operand = 0, layout = 0;
  };

  LoopKind kind = LoopKind::None;
  uint32_t pattern = IndexMaps::kNoPattern;
  int64_t iterations = 0;
  llvm::SmallVector<Read, 4> reads;
  llvm::SmallVector<View, 1> views; ///< of all results, or of none
};

/// CallLoops by keys, which are numbers in a row.
class CallLoopsTable {
public:
  using Key = llvm::ArrayRef<uint64_t>;

  /// Null of a key that is new.
  const CallLoops *find(Key key) const {
    uint32_t number = index.find(hashOf(key), [&](uint32_t other) {
      return Key(calls[other].first) == key;
    });
    return number == FlatIndex::kNone ? nullptr : &calls[number].second;
  }

  /// Of a key that is new.
  void insert(Key key, CallLoops loops) {
    index.insert(hashOf(key), calls.size());
    calls.emplace_back(key, std::move(loops));
  }

private:
  static uint64_t hashOf(Key key) {
    return llvm::hash_combine_range(key.begin(), key.end());
  }

  FlatIndex index;
  std::vector<std::pair<llvm::SmallVector<uint64_t, 12>, CallLoops>> calls;
};

} // namespace cutback

#endif // CUTBACK_LIB_KERNELS_CALLLOOPS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem of the memory plan: which storages of a step are live when, and
// which of them may take the place of another.
#ifndef CUTBACK_MEMORYPLAN_STEPMEMORY_H
#define CUTBACK_MEMORYPLAN_STEPMEMORY_H

#include "cutback/MemoryPlan/ArenaLayout.h"
#include "cutback/MemoryPlan/StepView.h"

namespace cutback {

/// Why a storage is there.
enum class StorageUse : uint8_t {
  Outside,   ///< an argument's, of no bytes, or inside one launch: not in the
             ///< arena
  Temporary, ///< dead when its half ends
  Saved,     ///< handed to the backward, dead after its last use there
  Result,    ///< a forward result: kept to the end of the step
  Gradient,  ///< kept to the end of the step
};

/// "saved", as reports spell it.
const char *spell(StorageUse use);

/// The live range of a storage: it holds its values while ops begin … end-1
/// run, whole launches.
struct StorageRange {
  StorageUse use = StorageUse::Outside;
  uint32_t begin = 0, end = 0;
  /// The storage whose bytes it takes over, at the op that uses that one last.
  uint32_t inPlaceOf = StepView::kNone;
  /// Storages of one buffer lie in one place, one after the other.
  uint32_t buffer = StepView::kNone;
};

struct StepMemoryOptions {
  bool inPlace = true; ///< results may take the place of dying operands
};

class StepMemory {
public:
  /// Finds live ranges and chooses what happens in place. Linear.
  StepMemory(const StepView &program, const StepMemoryOptions &options = {});

  /// Fails, with an error at the op, if the program is none that can be
  /// planned: an operand that no earlier op defines, a value that reaches out
  /// of its storage, more bytes than 62 bits count. Linear.
  mlir::LogicalResult check() const;

  /// By storage.
  const std::vector<StorageRange> &liveRanges() const { return ranges; }
  /// One a buffer: what `layoutArena` places.
  const std::vector<ArenaInterval> &buffers() const { return intervals; }

  /// Proves a layout by running the program on bytes that have an owner: a
  /// result takes its bytes over, and every op must find its operands' bytes
  /// owned by them; what is kept must be there at the end. Fails with an error
  /// at the op that would read or overwrite what it must not. Uses the
  /// program, the offsets and `inPlaceOf` alone. O(n log n).
  mlir::LogicalResult verify(const ArenaLayout &layout,
                             int64_t alignment) const;

private:
  void findRanges();
  void findBuffers(bool inPlace);
  bool isInside(uint32_t storage) const;
  void findDying(const StepLaunch &launch);
  uint32_t findDyingOperand(uint32_t op, uint32_t result) const;

  const StepView &program;
  std::vector<StorageRange> ranges;
  /// Of the launch at work: ops, and storages that they are the first to read
  /// of those that the launch reads last.
  std::vector<std::pair<uint32_t, uint32_t>> dying;
  std::vector<uint32_t> seenIn; ///< by storage: end of the last such launch
  std::vector<ArenaInterval> intervals;
};

/// True if `op` can write `result` over `storage`, which its launch reads: a
/// pointwise op (or one that updates what lies there) of one result, equal
/// types, both contiguous, and nothing in the launch reads the storage another
/// way, or after the op. Says nothing about live ranges.
bool mayReplace(const StepView &program, uint32_t op, uint32_t storage,
                uint32_t result);

/// The step of a partition if all its sizes are known and can be added up. Else
/// nothing, and `problem` says why: that is no error, for such a step can run,
/// only without a plan of its bytes. `graph` may be null. Linear.
std::optional<StepView> sizedStep(joint::PartitionOp partition,
                                  joint::GraphOp graph,
                                  const llvm::StringMap<int64_t> &symbols,
                                  std::string &problem);

} // namespace cutback

#endif // CUTBACK_MEMORYPLAN_STEPMEMORY_H

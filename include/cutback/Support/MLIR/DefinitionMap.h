// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operation* → number, for the ops of one function. Ops that lie close together
// in memory, as ops made one after the other do, have slots close together:
// kilobytes are hashed, places within one are kept. Walking a function in order
// meets the slots nearly in order.
#ifndef CUTBACK_SUPPORT_MLIR_DEFINITIONMAP_H
#define CUTBACK_SUPPORT_MLIR_DEFINITIONMAP_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mlir {
class Operation;
} // namespace mlir

namespace cutback {

/// Mostly the number of an op's first result; those of the others follow it.
class DefinitionMap {
public:
  static constexpr uint32_t kNone = ~uint32_t(0);

  /// Empty, with room for `numOps` ops; more make it grow.
  void reset(size_t numOps) {
    size_t capacity = 64;
    while (capacity < 2 * numOps)
      capacity *= 2;
    slots.assign(capacity, Slot{nullptr, kNone});
    mask = capacity - 1;
    numUsed = 0;
  }

  /// `op` must not be there yet.
  void insert(mlir::Operation *op, uint32_t number) {
    if (2 * ++numUsed > slots.size())
      grow();
    place({op, number});
  }

  /// kNone for an op that was not inserted.
  uint32_t lookup(mlir::Operation *op) const {
    uint64_t at = slotOf(op);
    while (slots[at].op && slots[at].op != op)
      at = (at + 1) & mask;
    return slots[at].op ? slots[at].number : kNone;
  }

private:
  struct Slot {
    mlir::Operation *op;
    uint32_t number;
  };

  uint64_t slotOf(mlir::Operation *op) const {
    uint64_t line = reinterpret_cast<uintptr_t>(op) >> 6;
    uint64_t part = (line >> 4) * 0x9E3779B97F4A7C15ull >> 32;
    return (part * 16 + (line & 15)) & mask;
  }

  void place(Slot slot) {
    uint64_t at = slotOf(slot.op);
    while (slots[at].op)
      at = (at + 1) & mask;
    slots[at] = slot;
  }

  void grow() {
    std::vector<Slot> old = std::move(slots);
    slots.assign(old.size() * 2, Slot{nullptr, kNone});
    mask = slots.size() - 1;
    for (Slot slot : old)
      if (slot.op)
        place(slot);
  }

  std::vector<Slot> slots;
  uint64_t mask = 0, numUsed = 0;
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_MLIR_DEFINITIONMAP_H

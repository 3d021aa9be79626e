// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves of an op or a few past the op at the peak.
//
//   later    an op that the peak does not need moves behind it, with what
//            depends on it, alone or with what is computed for these only
//   sooner   an op moves in front of the peak, with what it depends on
//   exactly  all orders of a few neighbours, by branch and bound
//
// What makes the stretch's own peak smaller, or rarer, is kept. A try costs the
// length of the stretch alone: a storage of the stretch dies inside exactly if
// nobody behind it reads it.
#ifndef CUTBACK_LIB_MEMORYPLAN_LOCALMOVES_H
#define CUTBACK_LIB_MEMORYPLAN_LOCALMOVES_H

#include "RunningOrder.h"

#include <array>

namespace cutback {

/// Keeps a reference to the order.
class LocalMoves {
public:
  explicit LocalMoves(RunningOrder &now)
      : now(now), left(now.problem.bytes.size(), 0),
        users(now.problem.numOps()) {
    for (uint32_t op = 0; op < now.problem.numOps(); ++op)
      for (uint32_t other : now.problem.depends[op])
        users[other].push_back(op);
  }

  /// One move that helps. The order is not simulated again.
  bool improve();
  /// A move that does no harm, and then one that helps.
  bool improveTwice();

private:
  static constexpr uint32_t kWindow = 96, kExact = 7;

  bool isLower(uint32_t first, const Order &ops, const Height &old);
  void prepare(uint32_t first, const Order &ops);
  bool take(uint32_t first, const Order &ops);
  bool moveLater(uint32_t at);
  bool servesMarked(uint32_t op, uint32_t begin) const;
  bool moveMarked(uint32_t first);
  bool moveSooner(uint32_t at);

  /// A few neighbours, all orders of which are tried. What is live behind a
  /// set of them does not depend on their order, so a set is left the second
  /// time unless it is reached lower.
  struct Neighbours {
    uint32_t count = 0;
    std::array<uint32_t, kExact> ops;
    std::array<uint32_t, kExact> needs; ///< sets: what must run before
    std::array<Height, 1u << kExact> reached;
    Height best;
    std::array<uint8_t, kExact> partial, found;
    bool isFound = false;
  };
  bool searchExactly(uint32_t first, uint32_t size);
  void search(Neighbours &near, uint32_t done, uint32_t depth, int64_t live,
              Height height);

  RunningOrder &now;
  std::vector<uint32_t> left; ///< by storage: readers to come, in a stretch
  std::vector<uint8_t> marks; ///< of a stretch that ends at the peak
  std::vector<Order> users;   ///< by op
  bool isNeutral = false;     ///< take what is no higher
};

} // namespace cutback

#endif // CUTBACK_LIB_MEMORYPLAN_LOCALMOVES_H

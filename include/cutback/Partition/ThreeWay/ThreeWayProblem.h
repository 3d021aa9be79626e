// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forward | input gradients | weight gradients as plain data: which ops run in
// which of the three phases, and which values cross the two borders between
// them (docs/Rationale/ThreeWayCut.md).
#ifndef CUTBACK_PARTITION_THREEWAY_THREEWAYPROBLEM_H
#define CUTBACK_PARTITION_THREEWAY_THREEWAYPROBLEM_H

#include <cstdint>
#include <string>
#include <vector>

namespace cutback {

/// Ops and values are numbered in an order in which all comes after what it
/// reads. Costs have one unit, which is the caller's; `kNever` forbids.
struct ThreeWayProblem {
  static constexpr int64_t kNever = -1;
  static constexpr uint32_t kNone = ~uint32_t(0);
  /// What all finite costs may add up to.
  static constexpr int64_t kLargestSum = int64_t(1) << 52;

  enum class Kind : uint8_t {
    Forward, ///< runs in the first phase, and again where that is cheaper
    Input,   ///< runs in the second, and again in the third
    Weight   ///< runs in one of the second and the third
  };
  struct Op {
    Kind kind = Kind::Forward;
    int64_t againInInput = kNever;  ///< of Forward
    int64_t againInWeight = kNever; ///< of Forward and Input
    int64_t early = kNever;         ///< of Weight: to run in the second phase
  };
  struct Value {
    /// The op that gives it; kNone for what is there when the first phase ends.
    uint32_t definer = kNone;
    int64_t toInput = 0;  ///< to be there from the first phase to the second
    int64_t toWeight = 0; ///< and from the second to the third
  };
  std::vector<Op> ops;
  std::vector<Value> values;
  /// Operands of op i: operandList[operandBegin[i]] … [operandBegin[i+1]-1].
  std::vector<uint32_t> operandBegin = {0}, operandList;

  uint32_t numOps() const { return static_cast<uint32_t>(ops.size()); }
  uint32_t numValues() const { return static_cast<uint32_t>(values.size()); }
  struct Range {
    const uint32_t *first, *last;
    const uint32_t *begin() const { return first; }
    const uint32_t *end() const { return last; }
  };
  Range operands(uint32_t op) const {
    return {operandList.data() + operandBegin[op],
            operandList.data() + operandBegin[op + 1]};
  }
  /// There when the first phase ends, or made by an op of it.
  bool isOfForward(uint32_t value) const {
    uint32_t op = values[value].definer;
    return op == kNone || ops[op].kind == Kind::Forward;
  }

  uint32_t addOp(const Op &op, const std::vector<uint32_t> &operands);
  uint32_t addValue(uint32_t definer, int64_t toInput, int64_t toWeight);

  /// What is wrong, or empty: an operand that comes later, a forward op that
  /// reads what a later phase makes, an input op that reads what a weight op
  /// makes, a cost below 0, costs of more than kLargestSum. Linear.
  std::string check() const;
};

/// Which ops run where: by op, 0 or 1. All forward ops run in the first phase.
struct ThreeWaySolution {
  std::vector<uint8_t> inInput, inWeight;
  int64_t cost = 0;
};

/// What follows from a solution.
struct ThreeWayCrossings {
  /// By value: it crosses the border, for it is read or handed on after it and
  /// not made there.
  std::vector<uint8_t> toInput, toWeight;
  int64_t cost = 0;
};

/// The definition of cost. What is wrong with `solution` as a text, or empty:
/// an op that runs where it may not, an input op that does not run in the
/// second phase, a weight op that runs in none or both, a value that crosses
/// where it may not. Linear.
std::string evaluate(const ThreeWayProblem &problem,
                     const ThreeWaySolution &solution,
                     ThreeWayCrossings &crossings);

/// evaluate(), and the cost is what `solution` says.
std::string verify(const ThreeWayProblem &problem,
                   const ThreeWaySolution &solution);

} // namespace cutback

#endif // CUTBACK_PARTITION_THREEWAY_THREEWAYPROBLEM_H

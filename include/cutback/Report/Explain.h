// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why one value is saved, recomputed, or neither.
#ifndef CUTBACK_REPORT_EXPLAIN_H
#define CUTBACK_REPORT_EXPLAIN_H

#include "cutback/Planner/PartitionPipeline.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cutback {

/// The number of the value called `name` (a leading % is allowed).
std::optional<uint32_t> findValue(const GraphView &view, llvm::StringRef name);

/// Values with names near `name`, nearest first.
std::vector<std::string> namesNear(const GraphView &view, llvm::StringRef name,
                                   size_t count);

/// What happens to a value under a plan.
enum class Fate {
  Saved,         ///< handed to the backward
  SavedStorage,  ///< another value in its storage is
  Recomputed,    ///< both halves compute it
  ForwardOnly,   ///< the backward does not need it
  BackwardOnly,  ///< the backward computes it, and only it does
  BackwardInput, ///< an argument that the backward gets from outside
  Argument,      ///< an argument that the backward does not read
};

/// What each value's fate is; found once for all values.
class Fates {
public:
  explicit Fates(const PartitionResult &result);
  Fate of(uint32_t value) const;
  /// Whether an op of the backward has it as operand.
  bool isReadInBackward(uint32_t value) const;
  bool inForward(uint32_t op) const { return forward[op]; }
  bool inBackward(uint32_t op) const { return backward[op]; }
  /// Index in `result.saved`, or kNone.
  uint32_t savedIndex(uint32_t value) const { return saved[value]; }
  /// The saved value that lies in the storage of `value`, or kNone.
  uint32_t savedInStorage(uint32_t value) const;

private:
  const PartitionResult &result;
  std::vector<uint8_t> forward, backward; ///< by op
  std::vector<uint32_t> saved;            ///< by value
  std::vector<uint32_t> savedStorage;     ///< by storage
};

/// Text about one value: what it is, what happens to it and why, what saving
/// and recomputing cost, who uses it in each half. `module` may be empty.
std::string explainValue(const PartitionResult &result, uint32_t value,
                         const std::string &module);

} // namespace cutback

#endif // CUTBACK_REPORT_EXPLAIN_H

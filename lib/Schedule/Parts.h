// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row as the compute actions in it, and what these need of other stages.
#ifndef CUTBACK_LIB_SCHEDULE_PARTS_H
#define CUTBACK_LIB_SCHEDULE_PARTS_H

#include "cutback/Schedule/Simulate.h"

namespace cutback::pipeline {

/// A compute action of a row, which must outlive it.
struct Part {
  int step;
  const Action *place;
  const Action &action() const { return *place; }
};

/// The compute actions of a row, overlaps as their parts.
std::vector<Part> computeParts(const Row &row);

/// What passes between stages: of each crossing and micro-batch its values, and
/// its gradients. Schedule and crossings must outlive it.
class Edges {
public:
  /// Values, or gradients, of one crossing.
  struct Need {
    size_t crossing;
    bool isBackward;
  };

  Edges(const Schedule &schedule, const std::vector<Crossing> &crossings);

  /// What an action waits for: F for values, I and B for gradients.
  const std::vector<Need> &needs(const Action &action) const {
    return select(action, valuesIn, gradientsIn);
  }
  /// What other stages get of it.
  const std::vector<Need> &makes(const Action &action) const {
    return select(action, valuesOut, gradientsOut);
  }

  /// Messages of all micro-batches, of which index() is a number.
  size_t count() const { return 2 * crossings.size() * schedule.microBatches; }
  size_t index(const Need &need, int microBatch) const {
    return (2 * need.crossing + need.isBackward) * schedule.microBatches +
           microBatch;
  }

  /// The stages that make and use it, and their ranks.
  int maker(const Need &need) const {
    const Crossing &crossing = crossings[need.crossing];
    return need.isBackward ? crossing.to : crossing.from;
  }
  int user(const Need &need) const {
    const Crossing &crossing = crossings[need.crossing];
    return need.isBackward ? crossing.from : crossing.to;
  }
  int sender(const Need &need) const {
    return schedule.rankOfStage[maker(need)];
  }
  int receiver(const Need &need) const {
    return schedule.rankOfStage[user(need)];
  }
  /// Whether it is handed over, on one rank.
  bool isLocal(const Need &need) const {
    return sender(need) == receiver(need);
  }
  int64_t bytesOf(const Need &need) const {
    const Crossing &crossing = crossings[need.crossing];
    return need.isBackward ? crossing.gradientBytes : crossing.bytes;
  }

  /// The actions that send and receive it.
  Action sendOf(const Need &need, int microBatch) const;
  Action receiveOf(const Need &need, int microBatch) const;

private:
  using Lists = std::vector<std::vector<Need>>; // by stage
  const std::vector<Need> &select(const Action &action, const Lists &values,
                                  const Lists &gradients) const {
    if (action.kind == ActionKind::Forward)
      return values[action.stage];
    return makesInputGradients(action.kind) ? gradients[action.stage] : none;
  }

  const Schedule &schedule;
  const std::vector<Crossing> &crossings;
  Lists valuesIn, valuesOut, gradientsIn, gradientsOut;
  std::vector<Need> none;
};

} // namespace cutback::pipeline

#endif // CUTBACK_LIB_SCHEDULE_PARTS_H

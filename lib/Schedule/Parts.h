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
inline std::vector<Part> computeParts(const Row &row) {
  std::vector<Part> parts;
  for (size_t step = 0; step < row.size(); ++step)
    if (row[step] && isCompute(row[step]->kind))
      forEachPart(*row[step], [&](const Action &part) {
        parts.push_back({static_cast<int>(step), &part});
      });
  return parts;
}

/// Crossings by stage.
class Edges {
public:
  /// Values, or gradients, of one crossing.
  struct Need {
    size_t crossing;
    bool isBackward;
  };

  Edges(const Schedule &schedule, const std::vector<Crossing> &crossings)
      : valuesIn(schedule.stages), valuesOut(schedule.stages),
        gradientsIn(schedule.stages), gradientsOut(schedule.stages) {
    for (size_t i = 0; i < crossings.size(); ++i) {
      valuesOut[crossings[i].from].push_back({i, false});
      valuesIn[crossings[i].to].push_back({i, false});
      if (!crossings[i].hasGradient)
        continue;
      gradientsIn[crossings[i].from].push_back({i, true});
      gradientsOut[crossings[i].to].push_back({i, true});
    }
  }

  /// What an action waits for: F for values, I and B for gradients.
  const std::vector<Need> &needs(const Action &action) const {
    return select(action, valuesIn, gradientsIn);
  }
  /// What other stages get of it.
  const std::vector<Need> &makes(const Action &action) const {
    return select(action, valuesOut, gradientsOut);
  }

private:
  using Lists = std::vector<std::vector<Need>>; // by stage
  const std::vector<Need> &select(const Action &action, const Lists &values,
                                  const Lists &gradients) const {
    if (action.kind == ActionKind::Forward)
      return values[action.stage];
    return makesInputGradients(action.kind) ? gradients[action.stage] : none;
  }

  Lists valuesIn, valuesOut, gradientsIn, gradientsOut;
  std::vector<Need> none;
};

} // namespace cutback::pipeline

#endif // CUTBACK_LIB_SCHEDULE_PARTS_H

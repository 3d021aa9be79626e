// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of a schedule, seen from what its stages exchange: which values and
// gradients an action waits for and makes, who sends them to whom, and as what
// action. Tables by stage are built once, in time linear in crossings; a
// message's number is that of its crossing, direction and micro-batch.

#include "Parts.h"

namespace cutback::pipeline {

std::vector<Part> computeParts(const Row &row) {
  std::vector<Part> parts;
  for (size_t step = 0; step < row.size(); ++step)
    if (row[step] && isCompute(row[step]->kind))
      forEachPart(*row[step], [&](const Action &part) {
        parts.push_back({static_cast<int>(step), &part});
      });
  return parts;
}

Edges::Edges(const Schedule &schedule, const std::vector<Crossing> &crossings)
    : schedule(schedule), crossings(crossings), valuesIn(schedule.stages),
      valuesOut(schedule.stages), gradientsIn(schedule.stages),
      gradientsOut(schedule.stages) {
  for (size_t i = 0; i < crossings.size(); ++i) {
    valuesOut[crossings[i].from].push_back({i, false});
    valuesIn[crossings[i].to].push_back({i, false});
    if (!crossings[i].hasGradient)
      continue;
    gradientsIn[crossings[i].from].push_back({i, true});
    gradientsOut[crossings[i].to].push_back({i, true});
  }
}

static Action transfer(ActionKind kind, int stage, int peer, int microBatch) {
  Action action = makeAction(stage, kind, microBatch);
  action.peer = peer;
  return action;
}

Action Edges::sendOf(const Need &need, int microBatch) const {
  return transfer(need.isBackward ? ActionKind::SendBackward
                                  : ActionKind::SendForward,
                  maker(need), user(need), microBatch);
}

Action Edges::receiveOf(const Need &need, int microBatch) const {
  return transfer(need.isBackward ? ActionKind::RecvBackward
                                  : ActionKind::RecvForward,
                  user(need), maker(need), microBatch);
}

} // namespace cutback::pipeline

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is wrong with a schedule.
//
// 1. Every action of every list, in order: is it of a stage and a micro-batch
//    that there are, on the rank of its stage, and has what it follows come
//    before it? A stage is on one rank, so its actions are in one list.
// 2. What has not come at all, by stage.
// 3. Sends and receives (TransferCheck.cpp).
// 4. Progress: the simulation with equal times, or the lists with transfers,
//    get to their ends.
//
// What came is kept by stage and micro-batch in a map, not a table: the numbers
// of a damaged file are large and its lists are not. Linear.

#include "cutback/Schedule/Check.h"

#include "Faults.h"
#include "TransferCheck.h"

#include "cutback/Support/Text.h"

#include <unordered_map>

namespace cutback::pipeline {

namespace {
/// What has come of one stage and micro-batch.
struct Done {
  bool forward = false, full = false, inputs = false, weights = false;
};

class ActionCheck {
public:
  ActionCheck(const Schedule &schedule, ListForm form)
      : schedule(schedule), form(form), hasBackward(schedule.hasBackward()),
        complete(schedule.stages) {}

  std::optional<ScheduleError> run() {
    if (std::max(schedule.ranks, schedule.stages) > kMostStages)
      return ScheduleError{
          formatCount(std::max(schedule.ranks, schedule.stages)) +
              " ranks or stages are more than " + formatCount(kMostStages),
          "take fewer; stages are counted from 0 without gaps"};
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      bool computes = false;
      for (size_t step = 0; step < schedule.rows[rank].size(); ++step) {
        const auto &action = schedule.rows[rank][step];
        if (!action)
          continue;
        computes |= isCompute(action->kind);
        if (auto error = check(*action, rank, static_cast<int>(step)))
          return error;
      }
      if (!computes)
        return ScheduleError{"rank " + std::to_string(rank) + " has no actions",
                             "each of " + std::to_string(schedule.ranks) +
                                 " ranks needs a stage\n" +
                                 formatGrid(schedule, rank, 0)};
    }
    return findMissing();
  }

private:
  std::optional<ScheduleError> check(const Action &action, int rank, int step) {
    Place place{schedule, rank, step};
    if (action.kind != ActionKind::Overlap)
      return checkOne(action, place);
    if (action.parts.empty())
      return fault(place, "an overlap of nothing",
                   "write its parts: (0F1;1B0)OVERLAP_F_B");
    for (const Action &part : action.parts) {
      if (!isCompute(part.kind) || part.kind == ActionKind::Overlap)
        return fault(place,
                     format(part) + " is in an overlap, which takes F, B, I "
                                    "and W",
                     "put it before or after the overlap");
      if (auto error = checkOne(part, place))
        return error;
    }
    return std::nullopt;
  }

  std::optional<ScheduleError> checkOne(const Action &action,
                                        const Place &place) {
    if (!isCompute(action.kind) && form == ListForm::Compute)
      return fault(place,
                   format(action) + " is communication, in a list of compute "
                                    "actions",
                   "leave it out, it is added; or give the list as one with "
                   "communication");
    if (action.stage < 0 || action.stage >= schedule.stages)
      return fault(place,
                   format(action) + " is of no stage: there are " +
                       std::to_string(schedule.stages),
                   "stages are counted from 0");
    if (isOfMicroBatch(action.kind) &&
        (action.microBatch < 0 || action.microBatch >= schedule.microBatches))
      return fault(place,
                   format(action) + " is of no micro-batch: there are " +
                       std::to_string(schedule.microBatches),
                   "micro-batches are counted from 0");
    if (int other = schedule.rankOfStage[action.stage]; other != place.rank)
      return fault(place,
                   "stage " + std::to_string(action.stage) + " is on rank " +
                       std::to_string(other) + " and, by " + format(action) +
                       ", on rank " + std::to_string(place.rank),
                   "move " + format(action) + " to rank " +
                       std::to_string(other));
    return isCompute(action.kind) ? follow(action, place) : std::nullopt;
  }

  static int64_t keyOf(int stage, int microBatch) {
    return static_cast<int64_t>(stage) << 32 | microBatch;
  }

  std::optional<ScheduleError> follow(const Action &action,
                                      const Place &place) {
    Done &done = all[keyOf(action.stage, action.microBatch)];
    ActionKind first = ActionKind::Forward;
    bool isThere = done.forward, isTwice = false;
    switch (action.kind) {
    case ActionKind::Forward:
      isTwice = done.forward;
      isThere = done.forward = true;
      break;
    case ActionKind::WeightGradients:
      first = ActionKind::InputGradients;
      isThere = done.inputs;
      isTwice = done.weights;
      done.weights = true;
      break;
    default:
      isTwice = done.full || done.inputs;
      (action.kind == ActionKind::Backward ? done.full : done.inputs) = true;
    }
    if (isTwice)
      return fault(place,
                   format(action) + " comes after " +
                       (action.kind == ActionKind::Forward ||
                                action.kind == ActionKind::WeightGradients
                            ? "itself"
                            : "the input gradients were made") +
                       ": each is made once",
                   "leave one of them out");
    Action needed = action;
    needed.kind = first;
    if (!isThere)
      return fault(place,
                   format(action) + " comes without " + format(needed) +
                       " before it",
                   "put " + format(needed) + " before it");
    complete[action.stage] +=
        hasBackward ? makesWeightGradients(action.kind) : 1;
    return std::nullopt;
  }

  /// Of the first stage that lacks something.
  std::optional<ScheduleError> findMissing() const {
    for (int stage = 0; stage < schedule.stages; ++stage)
      for (int i = 0;
           complete[stage] < schedule.microBatches && i < schedule.microBatches;
           ++i) {
        auto found = all.find(keyOf(stage, i));
        Done done = found == all.end() ? Done() : found->second;
        if (!done.forward || (hasBackward && !done.full && !done.weights))
          return missing(stage, i, done);
      }
    return std::nullopt;
  }

  ScheduleError missing(int stage, int microBatch, const Done &done) const {
    int rank = schedule.rankOfStage[stage];
    if (rank < 0)
      return {"stage " + std::to_string(stage) + " is on no rank",
              "stages are counted from 0 without gaps; there are " +
                  std::to_string(schedule.stages)};
    std::string of = std::to_string(stage), batch = std::to_string(microBatch);
    std::string what = !done.forward ? of + "F" + batch
                       : done.inputs
                           ? of + "W" + batch
                           : of + "B" + batch + " or " + of + "I" + batch;
    int end = static_cast<int>(schedule.rows[rank].size());
    return fault({schedule, rank, end}, "the list ends without " + what,
                 "each of " + std::to_string(schedule.microBatches) +
                     " micro-batches goes through each of " +
                     std::to_string(schedule.stages) + " stages");
  }

  const Schedule &schedule;
  ListForm form;
  bool hasBackward;
  std::vector<int> complete;             ///< micro-batches, by stage
  std::unordered_map<int64_t, Done> all; ///< by stage and micro-batch
};
} // namespace

std::optional<ScheduleError>
checkActions(const Schedule &schedule, const std::vector<Crossing> &crossings,
             ListForm form, Transfers transfers) {
  if (auto error = ActionCheck(schedule, form).run())
    return error;
  if (form == ListForm::WithTransfers)
    return checkTransfers(schedule, crossings, transfers);
  Costs costs = equalCosts(schedule.stages);
  costs.crossings = crossings;
  ScheduleError error;
  if (simulate(schedule, costs, error))
    return std::nullopt;
  return error;
}

} // namespace cutback::pipeline

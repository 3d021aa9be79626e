// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compute actions to lists that are ready to run.
#ifndef CUTBACK_SCHEDULE_LOWER_H
#define CUTBACK_SCHEDULE_LOWER_H

#include "cutback/Schedule/Simulate.h"

namespace cutback::pipeline {

struct LowerOptions {
  /// I and W of a micro-batch that are neighbours become B: less to keep, but
  /// earlier stages wait for the W.
  bool mergesBackwards = false;
  /// A REDUCE_GRAD of each stage after its last B or W.
  bool reducesGradients = true;
  /// How many stages of a rank are gathered at a time, for UNSHARD and RESHARD;
  /// 0: all stay gathered, without these actions. PyTorch has 3.
  int gatheredStages = 0;
  /// Receives come as late as they may instead of right when a sender sends: a
  /// receive comes before what uses it, and on the lower of two ranks before
  /// what it sends to that other.
  bool defersReceives = false;
};

/// The compute actions of `schedule`, which must pass checkActions(), with all
/// others, and no bubbles. The sender puts its send after the action that makes
/// the values and the receive at the end of what the other rank has so far, so
/// that sends and receives that wait for each other end (unless deferred). What
/// is made and used on one rank is handed over. Nothing, with `error` set, if
/// an overlap needs what only its own part makes possible. Linear in actions
/// times ranks.
std::optional<Schedule> lower(const Schedule &schedule,
                              const std::vector<Crossing> &crossings,
                              const LowerOptions &options,
                              ScheduleError &error);

/// The compute actions of lists with all others. Merged B stay merged.
Schedule computeOnly(const Schedule &schedule);

/// The same, where I and W of a micro-batch that are neighbours become B.
Schedule mergeBackwards(const Schedule &schedule);

} // namespace cutback::pipeline

#endif // CUTBACK_SCHEDULE_LOWER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules as files that PyTorch writes and reads.
#ifndef CUTBACK_SCHEDULE_CSV_H
#define CUTBACK_SCHEDULE_CSV_H

#include "cutback/Schedule/Schedule.h"

namespace cutback::pipeline {

/// A schedule of `text`: a line for each rank, a cell for each step, an empty
/// cell for a bubble; cells as format() writes them, with spaces around. Stages
/// and micro-batches are as many as the largest numbers say, and each stage is
/// on the rank of its first compute action (-1: none has one). Whether it is a
/// schedule that can run is for checkActions(). Nothing, with `error` set to a
/// sentence that says `file`, line and cell, for other text. Linear.
std::optional<Schedule> readCsv(std::string_view text, const std::string &file,
                                ScheduleError &error);

/// One action: "2F0", "(0F3;3B1)OVERLAP_F_B". Nothing, with `message` set, for
/// other text.
std::optional<Action> parseAction(std::string_view text, std::string &message);

/// The lists of `schedule`, bubbles as empty cells.
std::string writeCsv(const Schedule &schedule);

} // namespace cutback::pipeline

#endif // CUTBACK_SCHEDULE_CSV_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a training says of each step: a line of text, and one of JSON.
#ifndef CUTBACK_TOOLS_CUTBACK_TRAINLINES_H
#define CUTBACK_TOOLS_CUTBACK_TRAINLINES_H

#include "Session.h"

#include "cutback/Training/Trainer.h"

namespace cutback {

/// A step that has run.
struct TrainedStep {
  int64_t number = 0, steps = 0; ///< from 1 on, of so many
  double learningRate = 0, lossScale = 1;
  int64_t skipped = 0; ///< steps of the whole training
  TrainingResult result;
  int64_t tokens = 0; ///< of all its micro-batches
  double seconds = 0;
  std::optional<double> held; ///< the loss of an evaluation
  double secondsLeft = 0;     ///< to the end of this run
};

std::string lineOf(const TrainedStep &step);
/// A line of --log.
std::string jsonOf(const TrainedStep &step);

/// Elements of the first input, if they are integers: tokens.
int64_t tokensOf(const TrainingInputs &inputs);

/// The file of --log; -1 for none. Exit code.
int openLog(Session &session, int &file);
int writeLog(Session &session, int log, const std::string &text);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_TRAINLINES_H

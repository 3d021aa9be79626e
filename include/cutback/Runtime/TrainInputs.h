// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the batches of a training come from: options, and which inputs take
// tokens.
#ifndef CUTBACK_RUNTIME_TRAININPUTS_H
#define CUTBACK_RUNTIME_TRAININPUTS_H

#include "cutback/Runtime/Executor.h"
#include "cutback/Runtime/Tokens.h"
#include "cutback/Support/CommandLine.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cutback {

struct TrainInputOptions {
  std::string tokens, heldInputs, heldTokens; ///< paths; empty: none
  std::string tokenInputs; ///< "input.0,input.1+1"; empty: the only one
  TokenBatches::Width width = TokenBatches::Width::U16;
  bool isShuffled = false;         ///< of `tokens` alone
  int64_t evalEvery = 0;           ///< steps; 0: never
  int64_t evalBatches = INT64_MAX; ///< at most

  bool isDue(int64_t step, int64_t steps) const {
    return evalEvery && (step % evalEvery == 0 || step == steps);
  }
};

/// --valid-tokens.
OptionSpec validTokensOption();
/// The others, but for --inputs.
std::vector<OptionSpec> batchOptions();
/// Reads these. An empty string, or what is wrong with the command line.
std::string readBatchOptions(const CommandLine &line,
                             TrainInputOptions &options);

/// An input of a step, with the sizes that it is asked for.
struct StepInput : ArtifactTensor {
  bool isSized = true; ///< else a symbol has no value
};

/// Opens --tokens, or --eval-tokens, if it is given: `batches` has inputs then.
/// Inputs of `inputs` take tokens that are named, or the only one of integers
/// that is not in the file of tensors. Exit code; `error` is set.
int openTokens(const TrainInputOptions &options, bool isHeld,
               const std::vector<StepInput> &inputs,
               const std::function<bool(const std::string &)> &isInFile,
               std::optional<TokenBatches> &batches, StepError &error);

/// Tensors of `option` by name and number of rows: batch i has row i of each,
/// so they have equally many, or one that is in every batch. Exit code; `error`
/// is set.
int checkRowCounts(const char *option,
                   const std::vector<std::pair<std::string, int64_t>> &rows,
                   StepError &error);
/// What a training takes, and what is held out, must have the same names.
/// Exit code; `error` is set.
int checkHeld(const std::vector<std::string> &names,
              const std::vector<std::string> &held, int64_t heldCount,
              StepError &error);
/// --micro-batches, or --accumulate, is no more than there are batches. Exit
/// code; `error` is set.
int checkBatchCount(const char *option, int64_t microBatches, int64_t batches,
                    StepError &error);

} // namespace cutback

#endif // CUTBACK_RUNTIME_TRAININPUTS_H

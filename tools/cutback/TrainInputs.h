// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the steps of a training take: rows of files of tensors, and tokens.
#ifndef CUTBACK_TOOLS_CUTBACK_TRAININPUTS_H
#define CUTBACK_TOOLS_CUTBACK_TRAININPUTS_H

#include "PlanRun.h"

#include "cutback/Interpreter/TensorFile.h"
#include "cutback/Runtime/MicroBatches.h"
#include "cutback/Runtime/TrainInputs.h"

namespace cutback {

/// The options of `train` that say where inputs are from.
std::vector<OptionSpec> trainInputOptions();

/// The inputs of a model, and of a folder that was compiled.
std::vector<StepInput> inputsOf(joint::GraphOp graph,
                                const llvm::StringMap<int64_t> &symbols);
int inputsOf(Session &session, const std::string &folder,
             std::vector<StepInput> &inputs);

/// Batches by number: rows of the tensors in a file, and of a file of tokens
/// what the other does not have.
class TrainBatches {
public:
  /// The tensor of batch number `batch`; nothing if there is none of that name.
  std::optional<interpreter::Tensor> find(llvm::StringRef name, int64_t batch,
                                          int64_t seed);
  std::vector<interpreter::NamedTensor> at(int64_t batch, int64_t seed);
  /// Until one is seen for the second time: the fewest rows or windows.
  int64_t count() const;
  /// Sorted.
  std::vector<std::string> names() const;

  interpreter::TensorFile rows;
  std::optional<TokenBatches> tokens;
};

/// How a step is made of batches.
struct MicroBatches {
  int64_t count = 1; ///< of a step; number i of step k is batch k * count + i
  std::optional<ValidTokens> valid; ///< what their losses are means over

  /// What each one of step number `step` is of its loss: 0 for one that is
  /// passed over. An empty string, or what is wrong.
  std::string findShares(int64_t step, TrainBatches &batches, int64_t seed,
                         std::vector<double> &shares) const;
};

/// Reads --accumulate and --valid-tokens; then asks whether `batches` are such.
/// Exit codes.
int readMicroBatches(Session &session, MicroBatches &micro);
int checkMicroBatches(Session &session, const MicroBatches &micro,
                      TrainBatches &batches);

/// Opens --tokens for `batches`, whose rows are open, and what --eval-inputs
/// and --eval-tokens give for `held`; `options` is what was asked for. Exit
/// code.
int openTrainInputs(Session &session, const std::vector<StepInput> &inputs,
                    TrainBatches &batches, TrainBatches &held,
                    TrainInputOptions &options);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_TRAININPUTS_H

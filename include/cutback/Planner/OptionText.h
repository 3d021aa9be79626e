// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words of the command line for plan options, shared by driver and passes.
// Each parser returns false with `error` set to what is wrong and which words
// there are.
#ifndef CUTBACK_PLANNER_OPTIONTEXT_H
#define CUTBACK_PLANNER_OPTIONTEXT_H

#include "cutback/Planner/PartitionPipeline.h"

#include "llvm/ADT/ArrayRef.h"

namespace cutback {

/// How the command line spells a choice.
llvm::StringRef spell(Strategy strategy);
llvm::StringRef spell(CostModel model);
llvm::StringRef spell(Rules rules);
/// A price of a byte, as `--byte-price` takes it.
std::string spellPrice(double bytePricePs);

bool parseStrategy(llvm::StringRef text, Strategy &value, std::string &error);
bool parseCostModel(llvm::StringRef text, CostModel &value, std::string &error);
bool parseRules(llvm::StringRef text, Rules &value, std::string &error);
bool parseSolver(llvm::StringRef text, Solver &value, std::string &error);
/// "auto", "none", or positions: "0,2,5-22".
bool parseFreeParameters(llvm::StringRef text, FreeParameters &value,
                         std::string &error);
/// "NAME=VALUE", a flag of PyTorch's partitioner as torch._functorch.config has
/// it: "aggressive_recomputation=true", "max_dist_from_bw=3". Under rules that
/// do not know the flag it is an error.
bool parseTorchConfig(llvm::StringRef text, PartitionOptions &options,
                      std::string &error);
/// A fraction, and "dp", "greedy" or "ilp".
bool parseActivationBudget(llvm::StringRef fraction, llvm::StringRef solver,
                           std::optional<TorchBudget> &value,
                           std::string &error);
llvm::StringRef spell(BudgetSolver solver);
/// An op of the user's, "mylib.gelu" or "mylib.gelu.default".
bool parseRecomputable(llvm::StringRef text, PartitionOptions &options,
                       std::string &error);
/// The flags that parseTorchConfig knows, sorted.
std::vector<std::string> torchConfigNames();
/// "time", "peak" or "": what the plan is best at; with a price of a byte the
/// plan is the minimum cut under it.
bool readObjective(llvm::StringRef minimize, bool hasBytePrice,
                   PartitionOptions &options, std::string &error);
/// "s0=24"
bool parseSymbols(llvm::ArrayRef<std::string> texts,
                  llvm::StringMap<int64_t> &values, std::string &error);

} // namespace cutback

#endif // CUTBACK_PLANNER_OPTIONTEXT_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words of the command line for plan options, shared by driver and passes.
// Each parser returns false with `error` set to what is wrong and which words
// there are.
#ifndef CUTBACK_PIPELINES_OPTIONTEXT_H
#define CUTBACK_PIPELINES_OPTIONTEXT_H

#include "cutback/Pipelines/PartitionPipeline.h"

#include "llvm/ADT/ArrayRef.h"

namespace cutback {

bool parseStrategy(llvm::StringRef text, Strategy &value, std::string &error);
bool parseCostModel(llvm::StringRef text, CostModel &value, std::string &error);
bool parseRules(llvm::StringRef text, Rules &value, std::string &error);
bool parseSolver(llvm::StringRef text, Solver &value, std::string &error);
/// "auto", "none", or positions: "0,2,5-22".
bool parseFreeParameters(llvm::StringRef text, FreeParameters &value,
                         std::string &error);
/// "s0=24"
bool parseSymbols(llvm::ArrayRef<std::string> texts,
                  llvm::StringMap<int64_t> &values, std::string &error);

} // namespace cutback

#endif // CUTBACK_PIPELINES_OPTIONTEXT_H

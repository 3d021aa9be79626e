// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--hook=[KIND:]NAME[:FUNCTION]`: where a function of the user runs, and
// which.
#ifndef CUTBACK_RUNTIME_HOOKOPTION_H
#define CUTBACK_RUNTIME_HOOKOPTION_H

#include "cutback/Runtime/HookTable.h"
#include "cutback/Support/CommandLine.h"

#include <string>
#include <string_view>
#include <vector>

namespace cutback {

/// What a user asks for.
struct HookOption {
  HookKind kind = HookKind::TensorPre;
  std::string name; ///< of what the gradient is of, or a pattern of parameters
  enum Function {
    None,        ///< a point alone
    LogNorm,     ///< "log-norm"
    ClipNorm,    ///< "clip-norm=X"
    CheckFinite, ///< "check-finite"
    Library      ///< "LIB.so:SYMBOL"
  } function = None;
  double limit = 0; ///< of "clip-norm"
  std::string library, symbol;
};

/// `--hook` of all commands that make or fill points.
OptionSpec hookOption();

/// All that a command line has; readHookOption() of each.
bool readHookOptions(const CommandLine &line, std::vector<HookOption> &options,
                     std::string &error);

/// Reads one. False, with `error` set, if it is malformed.
bool readHookOption(std::string_view text, HookOption &option,
                    std::string &error);

/// Where lines of "log-norm" go.
using HookLog = std::function<void(const std::string &line)>;

/// Puts the functions of `options` at the points of `table`. An empty string,
/// or what is wrong: a point that the step does not have (with the nearest
/// names), a library or a symbol that cannot be loaded.
std::string addHooks(const std::vector<HookOption> &options, HookTable &table,
                     const HookLog &log);

} // namespace cutback

#endif // CUTBACK_RUNTIME_HOOKOPTION_H

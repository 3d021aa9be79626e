// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which module of the model an op belongs to.
#ifndef CUTBACK_ANALYSIS_MODULES_H
#define CUTBACK_ANALYSIS_MODULES_H

#include "cutback/Analysis/GraphView.h"

#include <string>
#include <vector>

namespace cutback {

/// What the derivation knows of a graph, besides who uses what.
struct ModuleFacts {
  /// By argument: the module of a parameter or buffer, "blocks.3.attn.qkv";
  /// empty for other arguments.
  std::vector<std::string> argModule;
  /// By op: equal numbers for equal source lines; 0 = not known.
  std::vector<uint32_t> line;
};

/// Reads roles and locations. Linear.
ModuleFacts collectModuleFacts(const GraphView &view);

/// The module of each op, or empty where nothing tells it: see the start of
/// Modules.cpp for the rules. Only the numbers of `view` are used, not its
/// ops. Linear.
std::vector<std::string> deriveModules(const GraphView &view,
                                       const ModuleFacts &facts);

/// The module of each op: as the exporter has recorded it in locations, or
/// where it has recorded none, as deriveModules() does. Linear.
std::vector<std::string> findModules(const GraphView &view);

/// For a message that no module is called `name`: names near it, or the first
/// ones that there are.
std::string describeModulesNear(const std::vector<std::string> &modules,
                                llvm::StringRef name);

/// The module that the parameter called `name` belongs to: all but the last
/// component; a name without a dot is its own module.
std::string moduleOfParameter(llvm::StringRef name);

/// The longest common prefix, by components: ("a.b.c", "a.b.d") → "a.b".
llvm::StringRef commonModule(llvm::StringRef a, llvm::StringRef b);

} // namespace cutback

#endif // CUTBACK_ANALYSIS_MODULES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of modules that a model repeats: where checkpoint regions suggest
// themselves.
#ifndef CUTBACK_TRANSFORMS_MODULELISTS_H
#define CUTBACK_TRANSFORMS_MODULELISTS_H

#include "cutback/Dialect/Joint/Joint.h"

#include <string>
#include <vector>

namespace cutback {

/// Modules that a program has a numbered list of, by depth.
struct ModuleLists {
  /// By count of numbers in a path, less one: patterns of at least two modules,
  /// "layers.*" and "layers.*.blocks.*", by name.
  std::vector<std::vector<std::string>> patterns;
  unsigned longest = 0; ///< modules of the longest list
};

/// Of those whose values the backward reads. Linear.
ModuleLists findModuleLists(joint::GraphOp graph);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_MODULELISTS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbered lists of modules, which a model repeats: "layers.0" … "layers.11" is
// the list "layers.*". A list in modules of another one has two stars. Only
// modules count of which the backward reads something. Linear, besides a map of
// the paths.

#include "cutback/Transforms/ModuleLists.h"

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Analysis/Modules.h"

#include "llvm/ADT/StringExtras.h"

#include <map>
#include <set>

using namespace mlir;
using namespace cutback;

static bool isReadByBackward(const GraphView &view, const GraphSets &sets,
                             uint32_t op) {
  for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
    for (uint32_t user : view.users(r))
      if (user < view.numOps() && sets.ops[user] != GraphSet::Forward)
        return true;
  return false;
}

/// Each prefix of `module` that ends in a number: pattern and path.
static void
addLists(StringRef module,
         std::vector<std::map<std::string, std::set<std::string>>> &modulesOf) {
  SmallVector<StringRef> path;
  module.split(path, '.');
  SmallVector<StringRef> pattern;
  size_t stars = 0;
  for (size_t depth = 0; depth < path.size(); ++depth) {
    bool isNumber = llvm::all_of(path[depth], llvm::isDigit);
    pattern.push_back(isNumber ? "*" : path[depth]);
    if (!isNumber || path[depth].empty())
      continue;
    if (++stars > modulesOf.size())
      modulesOf.emplace_back();
    modulesOf[stars - 1][llvm::join(pattern, ".")].insert(
        llvm::join(ArrayRef(path).take_front(depth + 1), "."));
  }
}

ModuleLists cutback::findModuleLists(joint::GraphOp graph) {
  ModuleLists lists;
  GraphView view = GraphView::build(graph);
  FailureOr<GraphSets> sets = GraphSets::compute(view);
  if (failed(sets))
    return lists;
  std::vector<std::string> modules = findModules(view);
  std::vector<std::map<std::string, std::set<std::string>>> modulesOf;
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (sets->ops[op] == GraphSet::Forward && !modules[op].empty() &&
        isReadByBackward(view, *sets, op))
      addLists(modules[op], modulesOf);
  for (const auto &ofDepth : modulesOf) {
    std::vector<std::string> &patterns = lists.patterns.emplace_back();
    for (const auto &[pattern, paths] : ofDepth)
      if (paths.size() > 1) {
        patterns.push_back(pattern);
        lists.longest =
            std::max(lists.longest, static_cast<unsigned>(paths.size()));
      }
  }
  return lists;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boundaries that a user has chosen. A marker is an op without operands and
// results; a module is known by its ops (Analysis/Modules.h): a run of ops
// whose modules have its name as a prefix, by components, is a call of it. Ops
// whose module is not known belong to the run that they are inside of.

#include "cutback/Pipelining/StageBoundaries.h"

#include "cutback/Analysis/GraphView.h"
#include "cutback/Analysis/Modules.h"
#include "cutback/Dialect/Aten/AtenOps.h"

#include <set>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

bool cutback::parseSplitSpec(StringRef text, std::vector<SplitPoint> &points,
                             std::string &error) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  std::set<std::string> seen;
  for (StringRef part : parts) {
    auto [module, place] = part.trim().rsplit('=');
    if (module.empty() || (place != "begin" && place != "end")) {
      error = "--split-spec takes MODULE=begin or MODULE=end, several with "
              "commas, not '" +
              part.str() + "'";
      return false;
    }
    if (!seen.insert(part.trim().str()).second) {
      error = "--split-spec names '" + part.trim().str() + "' twice";
      return false;
    }
    points.push_back({module.str(), place == "end"});
  }
  return true;
}

/// Sorted, each once, and only where both sides have ops.
static std::vector<unsigned> cleanBegins(std::set<unsigned> begins,
                                         unsigned numOps) {
  begins.erase(0);
  begins.erase(begins.lower_bound(numOps), begins.end());
  return {begins.begin(), begins.end()};
}

FailureOr<std::vector<unsigned>> cutback::takeMarkers(GraphOp graph) {
  SmallVector<aten::PipeSplitOp> markers;
  graph->walk([&](aten::PipeSplitOp marker) { markers.push_back(marker); });
  for (aten::PipeSplitOp marker : markers)
    if (marker->getParentOp() != graph) {
      auto diagnostic = marker->emitError(
          "a stage would begin inside of a region, which runs whole");
      diagnostic.attachNote(marker->getParentOp()->getLoc())
          << "this one; move the marker before or after it";
      return diagnostic;
    }
  std::set<unsigned> begins;
  unsigned number = 0;
  for (Operation &op : graph.getBlock().without_terminator())
    if (isa<aten::PipeSplitOp>(op))
      begins.insert(number);
    else
      ++number;
  for (aten::PipeSplitOp marker : markers)
    marker->erase();
  return cleanBegins(std::move(begins), number);
}

/// Whether module `inner` is `outer`, or inside of it.
static bool isInside(StringRef inner, StringRef outer) {
  return inner.consume_front(outer) &&
         (inner.empty() || inner.starts_with("."));
}

FailureOr<std::vector<unsigned>>
cutback::findSplitPoints(GraphOp graph, ArrayRef<SplitPoint> points) {
  GraphView view = GraphView::build(graph);
  std::vector<std::string> modules = findModules(view);
  std::set<unsigned> begins;
  for (const SplitPoint &point : points) {
    bool isFound = false;
    int64_t last = -1; // op of the call that goes on
    for (uint32_t op = 0; op <= view.numOps(); ++op) {
      bool isEnd = op == view.numOps();
      // Writes of buffers are at the end, wherever their module is called.
      if (!isEnd && (modules[op].empty() || isa<WriteOp>(view.ops[op])))
        continue;
      bool isIn = !isEnd && isInside(modules[op], point.module);
      if (isIn && last < 0 && !point.isEnd)
        begins.insert(op);
      if (!isIn && last >= 0 && point.isEnd)
        begins.insert(static_cast<unsigned>(last) + 1);
      isFound |= isIn;
      last = isIn ? static_cast<int64_t>(op) : -1;
    }
    if (!isFound) {
      auto diagnostic = graph.emitError("no op belongs to a module called '")
                        << point.module << "', which --split-spec names";
      diagnostic.attachNote() << describeModulesNear(modules, point.module);
      return diagnostic;
    }
  }
  return cleanBegins(std::move(begins), view.numOps());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every algorithm needs of the residual graph: emptying it with its memory
// kept, the flow that crosses one vertex only, and the sink side of the cut.
//
// The sink side is found by a search backwards from the sink over half arcs
// with something left on them. It is the smallest sink side of all minimum
// cuts, whichever maximum flow the graph holds: a vertex that reaches the sink
// in one residual graph is on the sink side of every minimum cut. Linear.

#include "cutback/Partition/MaxFlow/ResidualGraph.h"

#include <algorithm>

using namespace cutback;

void ResidualGraph::clear(uint32_t numVertices) {
  begin.assign(numVertices + 1, 0);
  arcs.clear();
  sourceCapacity.assign(numVertices, 0);
  sourceResidual.clear();
  sinkResidual.assign(numVertices, 0);
  flow = 0;
}

void ResidualGraph::truncate(uint32_t numVertices) {
  begin.resize(numVertices + 1);
  sourceCapacity.resize(numVertices);
  sinkResidual.resize(numVertices);
}

void ResidualGraph::cancelTerminals() {
  for (uint32_t v = 0, e = numVertices(); v < e; ++v) {
    int64_t both = std::min(sourceResidual[v], sinkResidual[v]);
    sourceResidual[v] -= both;
    sinkResidual[v] -= both;
    flow += both;
  }
}

void ResidualGraph::markSinkSide(std::vector<uint8_t> &onSinkSide,
                                 std::vector<uint32_t> &queue) const {
  onSinkSide.assign(numVertices(), 0);
  queue.clear();
  for (uint32_t v = 0, e = numVertices(); v < e; ++v)
    if (sinkResidual[v] > 0) {
      onSinkSide[v] = 1;
      queue.push_back(v);
    }
  for (size_t next = 0; next < queue.size(); ++next) {
    uint32_t v = queue[next];
    for (uint32_t a = begin[v], e = begin[v + 1]; a < e; ++a) {
      uint32_t w = arcs[a].head;
      if (onSinkSide[w] || arcs[arcs[a].twin].residual == 0)
        continue;
      onSinkSide[w] = 1;
      queue.push_back(w);
    }
  }
}

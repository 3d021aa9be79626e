// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The residual graph as a Boost compressed_sparse_row_graph, and back.
//
//   1. Vertices keep their numbers; source and sink come last. The half arcs of
//      a vertex stay together and in order, each followed at the end by its
//      arcs at source and sink, in both directions. So a vertex' edges are
//      sorted as the constructor wants them.
//   2. Capacity = what is left, so the copy starts from the flow that is there.
//   3. Residuals are copied back by position.
//
// Push-relabel adds up all capacities of the source's edges: contraction has
// made these finite, and their sum is below 2^63.

#include "cutback/Partition/MaxFlow/BoostMaxFlow.h"

#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

using namespace cutback;

using Csr =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property,
                                       boost::no_property, boost::no_property,
                                       uint32_t, uint32_t>;
using Edge = boost::graph_traits<Csr>::edge_descriptor;

/// The copy with its arrays by edge.
struct BoostMaxFlow::Copy {
  explicit Copy(const ResidualGraph &g);
  void addEdge(uint32_t from, uint32_t to, int64_t capacity);
  template <typename T> auto byEdge(std::vector<T> &values) {
    return boost::make_iterator_property_map(values.begin(),
                                             get(boost::edge_index, csr));
  }
  template <typename T> auto byVertex(std::vector<T> &values) {
    return boost::make_iterator_property_map(values.begin(),
                                             get(boost::vertex_index, csr));
  }

  uint32_t n, source, sink;
  std::vector<std::pair<uint32_t, uint32_t>> ends;
  std::vector<int64_t> capacity, residual;
  std::vector<uint32_t> twinOf;
  std::vector<Edge> reverse;
  /// By vertex: its first edge, its edge to the source, to the sink.
  std::vector<uint32_t> first, toSource, toSink;
  Csr csr;
  int64_t found = 0;
};

void BoostMaxFlow::Copy::addEdge(uint32_t from, uint32_t to, int64_t left) {
  ends.push_back({from, to});
  capacity.push_back(left);
  twinOf.push_back(0);
}

BoostMaxFlow::Copy::Copy(const ResidualGraph &g)
    : n(g.numVertices()), source(n), sink(n + 1), first(n), toSource(n),
      toSink(n) {
  for (uint32_t v = 0; v < n; ++v) {
    first[v] = static_cast<uint32_t>(ends.size());
    for (uint32_t a = g.begin[v]; a < g.begin[v + 1]; ++a)
      addEdge(v, g.arcs[a].head, g.arcs[a].residual);
    toSource[v] = static_cast<uint32_t>(ends.size());
    addEdge(v, source, 0);
    toSink[v] = static_cast<uint32_t>(ends.size());
    addEdge(v, sink, g.sinkResidual[v]);
  }
  for (uint32_t v = 0; v < n; ++v)
    for (uint32_t a = g.begin[v]; a < g.begin[v + 1]; ++a) {
      uint32_t w = g.arcs[a].head;
      twinOf[first[v] + a - g.begin[v]] =
          first[w] + g.arcs[a].twin - g.begin[w];
    }
  for (uint32_t v = 0; v < n; ++v) {
    twinOf[toSource[v]] = static_cast<uint32_t>(ends.size());
    addEdge(source, v, g.sourceResidual[v]);
    twinOf.back() = toSource[v];
  }
  for (uint32_t v = 0; v < n; ++v) {
    twinOf[toSink[v]] = static_cast<uint32_t>(ends.size());
    addEdge(sink, v, 0);
    twinOf.back() = toSink[v];
  }
  csr = Csr(boost::edges_are_sorted, ends.begin(), ends.end(), n + 2);
  residual = capacity;
  for (uint32_t e = 0; e < ends.size(); ++e)
    reverse.push_back(Edge(ends[twinOf[e]].first, twinOf[e]));
}

BoostMaxFlow::BoostMaxFlow(const ResidualGraph &graph)
    : copy(std::make_unique<Copy>(graph)) {}
BoostMaxFlow::~BoostMaxFlow() = default;

void BoostMaxFlow::runBoykovKolmogorov() {
  std::vector<Edge> predecessor(copy->n + 2);
  std::vector<boost::default_color_type> color(copy->n + 2);
  std::vector<int64_t> distance(copy->n + 2);
  copy->found = boost::boykov_kolmogorov_max_flow(
      copy->csr, copy->byEdge(copy->capacity), copy->byEdge(copy->residual),
      copy->byEdge(copy->reverse), copy->byVertex(predecessor),
      copy->byVertex(color), copy->byVertex(distance),
      get(boost::vertex_index, copy->csr), copy->source, copy->sink);
}

void BoostMaxFlow::runPushRelabel() {
  copy->found = boost::push_relabel_max_flow(
      copy->csr, copy->source, copy->sink, copy->byEdge(copy->capacity),
      copy->byEdge(copy->residual), copy->byEdge(copy->reverse),
      get(boost::vertex_index, copy->csr));
}

void BoostMaxFlow::copyBack(ResidualGraph &g) const {
  for (uint32_t v = 0; v < copy->n; ++v) {
    for (uint32_t a = g.begin[v]; a < g.begin[v + 1]; ++a)
      g.arcs[a].residual = copy->residual[copy->first[v] + a - g.begin[v]];
    g.sourceResidual[v] = copy->residual[copy->twinOf[copy->toSource[v]]];
    g.sinkResidual[v] = copy->residual[copy->toSink[v]];
  }
  g.flow += copy->found;
}

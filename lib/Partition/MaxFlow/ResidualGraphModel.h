// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A residual graph as Boost.Graph wants to see one: a model of its concepts
// over the arrays that are there. Nothing is copied.
//
// Vertices keep their numbers; source and sink come behind them. With n
// vertices and m half arcs, edges are numbered
//
//   0 ..           half arcs
//   m ..           source -> v
//   m + n ..       sink -> v
//   m + 2n ..      v -> source
//   m + 3n ..      v -> sink
//
// What is left on the arc from the sink is always 0: no flow that came there
// ever leaves, so no algorithm needs to know how much did.
#ifndef CUTBACK_LIB_PARTITION_MAXFLOW_RESIDUALGRAPHMODEL_H
#define CUTBACK_LIB_PARTITION_MAXFLOW_RESIDUALGRAPHMODEL_H

#include "cutback/Partition/MaxFlow/ResidualGraph.h"

#include <boost/graph/graph_traits.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>

#include <numeric>

namespace cutback {

/// Which out-edges a vertex between source and sink has.
enum class OutEdges {
  /// All of them.
  All,
  /// Its half arcs only. That is enough for Boykov-Kolmogorov: a vertex with
  /// something left on its arc to a terminal hangs on that arc until nothing
  /// is, so looking along it never finds anything. The terminals have theirs.
  Inner
};

/// An edge; `from` saves a look at the opposite half arc.
struct ModelEdge {
  uint32_t from = 0, number = 0;
  friend bool operator==(ModelEdge a, ModelEdge b) {
    return a.number == b.number;
  }
  friend bool operator!=(ModelEdge a, ModelEdge b) { return !(a == b); }
};

template <OutEdges outEdges> class ResidualGraphModel {
public:
  explicit ResidualGraphModel(ResidualGraph &graph)
      : graph(graph), n(graph.numVertices()), m(graph.numHalfArcs()),
        left(leftAtSource()) {}

  class EdgeIterator
      : public boost::iterator_facade<EdgeIterator, ModelEdge,
                                      boost::forward_traversal_tag, ModelEdge> {
  public:
    EdgeIterator() = default;
    EdgeIterator(const ResidualGraphModel &model, uint32_t number)
        : model(&model), number(number) {}

  private:
    friend class boost::iterator_core_access;
    ModelEdge dereference() const { return model->edge(number); }
    bool equal(const EdgeIterator &other) const {
      return number == other.number;
    }
    void increment() { ++number; }

    const ResidualGraphModel *model = nullptr;
    uint32_t number = 0;
  };

  class OutEdgeIterator
      : public boost::iterator_facade<OutEdgeIterator, ModelEdge,
                                      boost::forward_traversal_tag, ModelEdge> {
  public:
    OutEdgeIterator() = default;
    OutEdgeIterator(const ResidualGraphModel &model, uint32_t from,
                    uint32_t position)
        : model(&model), from(from), position(position) {}

  private:
    friend class boost::iterator_core_access;
    ModelEdge dereference() const {
      if constexpr (outEdges == OutEdges::Inner)
        return {from, position};
      if (from >= model->n)
        return {from, position};
      uint32_t end = model->graph.begin[from + 1];
      return {from, position < end
                        ? position
                        : model->m + (2 + position - end) * model->n + from};
    }
    bool equal(const OutEdgeIterator &other) const {
      return position == other.position;
    }
    void increment() { ++position; }

    const ResidualGraphModel *model = nullptr;
    /// The position is a number of an edge; behind the last half arc of a
    /// vertex follow its arcs to source and sink.
    uint32_t from = 0, position = 0;
  };

  struct Category : boost::vertex_list_graph_tag,
                    boost::edge_list_graph_tag,
                    boost::incidence_graph_tag {};
  // What boost::graph_traits looks for.
  using vertex_descriptor = uint32_t;
  using edge_descriptor = ModelEdge;
  using vertex_iterator = boost::counting_iterator<uint32_t>;
  using edge_iterator = EdgeIterator;
  using out_edge_iterator = OutEdgeIterator;
  using directed_category = boost::directed_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  using traversal_category = Category;
  using vertices_size_type = uint32_t;
  using edges_size_type = uint32_t;
  using degree_size_type = uint32_t;
  static vertex_descriptor null_vertex() { return UINT32_MAX; }

  uint32_t source() const { return n; }
  uint32_t sink() const { return n + 1; }
  bool isHalfArc(ModelEdge e) const { return e.number < m; }
  bool isFromSource(ModelEdge e) const { return e.number - m < n; }

  ModelEdge edge(uint32_t number) const {
    if (number < m)
      return {graph.arcs[graph.arcs[number].twin].head, number};
    auto [kind, v] = terminalArc(number);
    return {kind < 2 ? n + kind : v, number};
  }
  uint32_t head(ModelEdge e) const {
    if (e.number < m)
      return graph.arcs[e.number].head;
    auto [kind, v] = terminalArc(e.number);
    return kind < 2 ? v : n + kind - 2;
  }
  ModelEdge reverse(ModelEdge e) const {
    if (e.number < m)
      return {graph.arcs[e.number].head, graph.arcs[e.number].twin};
    bool isOfTerminal = e.from >= n;
    return {head(e), isOfTerminal ? e.number + 2 * n : e.number - 2 * n};
  }
  int64_t residual(ModelEdge e) const {
    if (e.number < m)
      return graph.arcs[e.number].residual;
    auto [kind, v] = terminalArc(e.number);
    switch (kind) {
    case 0:
      return graph.sourceResidual[v];
    case 1:
      return 0;
    case 2:
      return graph.sourceCapacity[v] - graph.sourceResidual[v];
    default:
      return graph.sinkResidual[v];
    }
  }
  /// What follows from the opposite direction is not set.
  void setResidual(ModelEdge e, int64_t left) const {
    if (e.number < m)
      graph.arcs[e.number].residual = left;
    else if (isFromSource(e))
      graph.sourceResidual[e.number - m] = left;
    else if (e.number >= m + 3 * n)
      graph.sinkResidual[e.number - m - 3 * n] = left;
  }
  /// After a solver: what has left the source since this model was made has
  /// arrived.
  void addFlow() {
    int64_t now = leftAtSource();
    graph.flow += left - now;
    left = now;
  }

  friend uint32_t num_vertices(const ResidualGraphModel &model) {
    return model.n + 2;
  }
  friend uint32_t num_edges(const ResidualGraphModel &model) {
    return model.m + 4 * model.n;
  }
  friend std::pair<vertex_iterator, vertex_iterator>
  vertices(const ResidualGraphModel &model) {
    return {vertex_iterator(0), vertex_iterator(model.n + 2)};
  }
  friend std::pair<EdgeIterator, EdgeIterator>
  edges(const ResidualGraphModel &model) {
    return {EdgeIterator(model, 0), EdgeIterator(model, num_edges(model))};
  }
  friend std::pair<OutEdgeIterator, OutEdgeIterator>
  out_edges(uint32_t v, const ResidualGraphModel &model) {
    uint32_t begin, end;
    if (v < model.n) {
      begin = model.graph.begin[v];
      end = model.graph.begin[v + 1] + (outEdges == OutEdges::All ? 2 : 0);
    } else {
      begin = model.m + (v - model.n) * model.n;
      end = begin + model.n;
    }
    return {OutEdgeIterator(model, v, begin), OutEdgeIterator(model, v, end)};
  }
  friend uint32_t out_degree(uint32_t v, const ResidualGraphModel &model) {
    if (v >= model.n)
      return model.n;
    return model.graph.begin[v + 1] - model.graph.begin[v] +
           (outEdges == OutEdges::All ? 2 : 0);
  }
  friend uint32_t source(ModelEdge e, const ResidualGraphModel &) {
    return e.from;
  }
  friend uint32_t target(ModelEdge e, const ResidualGraphModel &model) {
    return model.head(e);
  }

  /// Edges between two vertices; without this one Boost looks through all of a
  /// vertex.
  friend std::pair<ModelEdge, bool>
  lookup_edge(uint32_t from, uint32_t to, const ResidualGraphModel &model) {
    if (outEdges == OutEdges::All || from >= model.n || to < model.n)
      for (auto [it, end] = out_edges(from, model); it != end; ++it)
        if (model.head(*it) == to)
          return {*it, true};
    return {ModelEdge(), false};
  }

private:
  /// The kind of an edge at a terminal, in the order above, and its vertex.
  std::pair<uint32_t, uint32_t> terminalArc(uint32_t number) const {
    uint32_t kind = 0, v = number - m;
    for (; v >= n; v -= n)
      ++kind;
    return {kind, v};
  }

  int64_t leftAtSource() const {
    return std::accumulate(graph.sourceResidual.begin(),
                           graph.sourceResidual.end(), int64_t(0));
  }

  ResidualGraph &graph;
  uint32_t n, m;
  int64_t left; ///< on all arcs of the source, the last time it was asked
};

/// The opposite edge.
template <typename Model> struct ReverseMap {
  using key_type = ModelEdge;
  using value_type = ModelEdge;
  using reference = ModelEdge;
  using category = boost::readable_property_map_tag;

  const Model *model;
  friend ModelEdge get(const ReverseMap &map, ModelEdge e) {
    return map.model->reverse(e);
  }
};

/// What is left, as the capacity of an edge: so an algorithm goes on from the
/// flow that is there. Algorithms begin by writing the capacity of each edge as
/// what is left on it; by its type that is known to change nothing.
struct Unchanged {
  int64_t left;
  operator int64_t() const { return left; }
};

template <typename Model> struct CapacityMap {
  using key_type = ModelEdge;
  using value_type = int64_t;
  using reference = Unchanged;
  using category = boost::readable_property_map_tag;

  const Model *model;
  friend Unchanged get(const CapacityMap &map, ModelEdge e) {
    return {map.model->residual(e)};
  }
};

} // namespace cutback

#endif // CUTBACK_LIB_PARTITION_MAXFLOW_RESIDUALGRAPHMODEL_H

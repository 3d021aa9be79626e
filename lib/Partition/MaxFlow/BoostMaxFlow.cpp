// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boost.Graph's algorithms, called as they are, through property maps that do a
// little more than read and write.
//
// Boykov-Kolmogorov is fast where paths are short and ruinous where they are
// long, and Boost's has no limit. The maps have one:
//
//   1. The map of what is left counts: a look is a `get`, a push along a path a
//      `put` at a half arc, an augmentation a `put` at an arc of the source,
//      for each path has one.
//   2. The map of the trees throws, in `get`, once that is too much. Boost asks
//      for the tree of a vertex while it grows and repairs trees, but not
//      between the first and the last push of an augmentation; so what is left
//      on the arcs is a valid flow, from which another algorithm goes on.
//   3. The value of the flow, which Boost's sum has not told by then, is added
//      up anew, at the arcs of the source.
//
// Worst case O(V^2 E C) as published, with C the value of the cut; push-relabel
// O(V^3).

#include "cutback/Partition/MaxFlow/BoostMaxFlow.h"

#include "ResidualGraphModel.h"

#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <boost/property_map/function_property_map.hpp>

using namespace cutback;

using Tree = BoostBoykovKolmogorov::Tree;

/// Boost's names for the trees.
template <> struct boost::color_traits<Tree> {
  static Tree gray() { return BoostBoykovKolmogorov::Free; }
  static Tree black() { return BoostBoykovKolmogorov::FromSource; }
  static Tree white() { return BoostBoykovKolmogorov::ToSink; }
};

namespace {
/// Thrown where patience ends.
struct OutOfPatience {};
} // namespace

class BoostBoykovKolmogorov::Search {
public:
  using Model = ResidualGraphModel<OutEdges::Inner>;

  Search(ResidualGraph &graph, std::vector<Node> &nodes, Patience patience)
      : model(graph), nodes(nodes.data()), mayLook(patience.scans),
        perPath(2 * patience.meanPathLength),
        mayPush(perPath * (patience.longPaths + 1)) {}

  /// False if patience ended.
  bool run() {
    bool isDone = true;
    try {
      boost::boykov_kolmogorov_max_flow(
          model, CapacityMap<Model>{&model}, ResidualMap{this},
          ReverseMap<Model>{&model}, ParentMap{this}, TreeMap{this},
          DistanceMap{this}, boost::identity_property_map(), model.source(),
          model.sink());
    } catch (const OutOfPatience &) {
      isDone = false;
    }
    model.addFlow();
    return isDone;
  }

  uint64_t scans() const { return looks; }

private:
  // Friends of a map are none of Search: they speak to members of the map.
  struct ByVertex {
    using key_type = uint32_t;
    using category = boost::read_write_property_map_tag;
    Search *search;
    Node &node(uint32_t v) const { return search->nodes[v]; }
  };

  struct ResidualMap {
    using key_type = ModelEdge;
    using value_type = int64_t;
    using reference = int64_t;
    using category = boost::read_write_property_map_tag;
    Search *search;

    int64_t read(ModelEdge e) const {
      search->looks += search->model.isHalfArc(e);
      return search->model.residual(e);
    }
    void write(ModelEdge e, int64_t left) const {
      if (search->model.isHalfArc(e))
        ++search->pushes;
      else if (search->model.isFromSource(e))
        search->mayPush += search->perPath;
      search->model.setResidual(e, left);
    }
    friend int64_t get(const ResidualMap &map, ModelEdge e) {
      return map.read(e);
    }
    friend void put(const ResidualMap &map, ModelEdge e, int64_t left) {
      map.write(e, left);
    }
    friend void put(const ResidualMap &, ModelEdge, Unchanged) {}
  };

  struct ParentMap : ByVertex {
    using value_type = ModelEdge;
    using reference = ModelEdge;
    friend ModelEdge get(const ParentMap &map, uint32_t v) {
      const auto &node = map.node(v);
      return {node.parentFrom, node.parentNumber};
    }
    friend void put(const ParentMap &map, uint32_t v, ModelEdge e) {
      map.node(v).parentFrom = e.from;
      map.node(v).parentNumber = e.number;
    }
  };

  struct TreeMap : ByVertex {
    using value_type = Tree;
    using reference = Tree;
    Tree read(uint32_t v) const {
      if (search->looks > search->mayLook || search->pushes >= search->mayPush)
        throw OutOfPatience();
      return node(v).tree;
    }
    friend Tree get(const TreeMap &map, uint32_t v) { return map.read(v); }
    friend void put(const TreeMap &map, uint32_t v, Tree tree) {
      map.node(v).tree = tree;
    }
  };

  struct DistanceMap : ByVertex {
    using value_type = uint32_t;
    using reference = uint32_t;
    friend uint32_t get(const DistanceMap &map, uint32_t v) {
      return map.node(v).distance;
    }
    friend void put(const DistanceMap &map, uint32_t v, uint32_t distance) {
      map.node(v).distance = distance;
    }
  };

  Model model;
  Node *nodes;
  uint64_t looks = 0, mayLook;
  /// A push along a half arc writes both directions: two for each of a path.
  uint64_t pushes = 0, perPath, mayPush;
};

bool BoostBoykovKolmogorov::run(ResidualGraph &graph, Patience patience) {
  nodes.assign(graph.numVertices() + 2, Node{0, 0, 0, Free});
  Search search(graph, nodes, patience);
  bool isDone = search.run();
  scans = search.scans();
  return isDone;
}

void BoostBoykovKolmogorov::markSinkTree(
    std::vector<uint8_t> &onSinkSide) const {
  onSinkSide.resize(nodes.size() - 2);
  for (size_t v = 0; v < onSinkSide.size(); ++v)
    onSinkSide[v] = nodes[v].tree == ToSink;
}

namespace {

/// What is left, without more.
struct PlainResidualMap {
  using Model = ResidualGraphModel<OutEdges::All>;
  using key_type = ModelEdge;
  using value_type = int64_t;
  using reference = int64_t;
  using category = boost::read_write_property_map_tag;

  const Model *model;
  friend int64_t get(const PlainResidualMap &map, ModelEdge e) {
    return map.model->residual(e);
  }
  friend void put(const PlainResidualMap &map, ModelEdge e, int64_t left) {
    map.model->setResidual(e, left);
  }
};

} // namespace

void BoostPushRelabel::run(ResidualGraph &graph) {
  using Model = PlainResidualMap::Model;
  Model model(graph);
  // It asks for capacities to the end: what was left at the beginning, but
  // nothing on the way back to the source, by which it knows that way.
  std::vector<int64_t> capacity(num_edges(model));
  for (auto [it, end] = edges(model); it != end; ++it)
    if (model.head(*it) != model.source())
      capacity[(*it).number] = model.residual(*it);
  boost::push_relabel_max_flow(
      model, model.source(), model.sink(),
      boost::make_function_property_map<ModelEdge>(
          [&](ModelEdge e) { return capacity[e.number]; }),
      PlainResidualMap{&model}, ReverseMap<Model>{&model},
      boost::identity_property_map());
  model.addFlow();
}

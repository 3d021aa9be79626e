// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pictures op by op.
//
//   1. instances: every op once for each half that runs it, and the arguments
//   2. which of them to show: all, those of one half, or a neighbourhood
//   3. chains of views with one reader each become one box
//   4. edges between boxes, saved ones marked
//
// A neighbourhood is found by breadth-first search over edges in both
// directions; its radius shrinks until at most 150 boxes are left, which is
// about what a screen can show.

#include "DrawingModel.h"

#include "cutback/Report/Names.h"
#include "cutback/Support/Text.h"

#include <algorithm>
#include <map>

namespace cutback {

static constexpr uint32_t kNone = GraphView::kNone;
static constexpr size_t kOpByOp = 120, kNeighbourhood = 150;

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

namespace {
struct InstanceBuilder {
  const PartitionResult &result;
  const Fates &fates;
  InstanceGraph graph;

  uint32_t add(uint32_t op, uint32_t value, bool backward) {
    graph.instances.push_back({op, value, backward});
    return graph.instances.size() - 1;
  }
  void addInstances();
  void addEdges(uint32_t reader);
  InstanceGraph::Edge source(uint32_t reader, uint32_t value) const;
};
} // namespace

void InstanceBuilder::addInstances() {
  const GraphView &view = result.view;
  std::vector<uint8_t> backwardArg(view.numArgs, 0);
  for (uint32_t arg : result.halves.backwardArgs)
    backwardArg[arg] = 1;
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    add(kNone, arg, backwardArg[arg]);
  auto firstResult = [&](uint32_t op) {
    return view.numResults(op) ? view.resultBegin[op] : kNone;
  };
  graph.forwardOf.assign(view.numOps(), kNone);
  graph.backwardOf.assign(view.numOps(), kNone);
  for (uint32_t op : result.halves.forwardOps)
    graph.forwardOf[op] = add(op, firstResult(op), false);
  for (uint32_t op : result.halves.backwardOps)
    graph.backwardOf[op] = add(op, firstResult(op), true);
}

/// The edge over which `reader` gets `value`.
InstanceGraph::Edge InstanceBuilder::source(uint32_t reader,
                                            uint32_t value) const {
  bool backward = graph.instances[reader].backward;
  uint32_t definer = result.view.definer[value];
  bool saved = backward && fates.savedIndex(value) != kNone;
  if (definer == kNone)
    return {value, reader, value, saved};
  if (!backward || saved || graph.backwardOf[definer] == kNone)
    return {graph.forwardOf[definer], reader, value, backward};
  return {graph.backwardOf[definer], reader, value, false};
}

void InstanceBuilder::addEdges(uint32_t reader) {
  size_t begin = graph.edges.size();
  for (uint32_t value : result.view.operands(graph.instances[reader].op)) {
    InstanceGraph::Edge edge = source(reader, value);
    bool known = edge.from == kNone;
    for (size_t i = begin; i < graph.edges.size(); ++i)
      known |= graph.edges[i].value == value;
    if (!known)
      graph.edges.push_back(edge);
  }
}

InstanceGraph InstanceGraph::build(const PartitionResult &result,
                                   const Fates &fates) {
  InstanceBuilder builder{result, fates, {}};
  builder.addInstances();
  for (uint32_t i = result.view.numArgs; i < builder.graph.instances.size();
       ++i)
    builder.addEdges(i);
  return std::move(builder.graph);
}

//===----------------------------------------------------------------------===//
// What to show
//===----------------------------------------------------------------------===//

static bool inHalf(const Instance &instance, DrawOptions::What what) {
  if (what == DrawOptions::Forward)
    return !instance.backward;
  if (what == DrawOptions::Backward)
    return instance.backward;
  return true;
}

/// In the network, what depends on tangents is one vertex, the sink: its ops
/// are left out. An op that both halves run is one vertex: its forward stands
/// for it.
static bool inNetwork(const PartitionResult &result, const InstanceGraph &graph,
                      const Instance &instance) {
  if (!result.sets)
    return true;
  if (instance.op == kNone)
    return result.sets->values[instance.value] != GraphSet::Backward;
  return result.sets->ops[instance.op] != GraphSet::Backward &&
         (!instance.backward || graph.forwardOf[instance.op] == kNone);
}

static std::vector<uint8_t> wholeGraph(const PartitionResult &result,
                                       const DrawOptions &options,
                                       const InstanceGraph &graph) {
  std::vector<uint8_t> shown(graph.instances.size(), 0), read(shown);
  for (const InstanceGraph::Edge &edge : graph.edges)
    read[edge.from] = 1;
  for (size_t i = 0; i < shown.size(); ++i) {
    const Instance &instance = graph.instances[i];
    shown[i] =
        inHalf(instance, options.what) && (instance.op != kNone || read[i]);
    if (options.what == DrawOptions::Network)
      shown[i] &= inNetwork(result, graph, instance);
  }
  return shown;
}

static std::vector<uint8_t> neighbourhood(const PartitionResult &result,
                                          const DrawOptions &options,
                                          const InstanceGraph &graph,
                                          unsigned radius) {
  std::vector<uint8_t> allowed = wholeGraph(result, options, graph);
  std::vector<uint8_t> shown(graph.instances.size(), 0);
  uint32_t definer = result.view.definer[*options.around];
  for (size_t i = 0; i < shown.size(); ++i) {
    const Instance &instance = graph.instances[i];
    shown[i] = definer == kNone
                   ? instance.op == kNone && instance.value == *options.around
                   : instance.op == definer;
    // The value asked for is shown whatever half was asked for.
    allowed[i] |= shown[i];
  }
  for (unsigned step = 0; step < radius; ++step) {
    std::vector<uint8_t> next = shown;
    for (const InstanceGraph::Edge &edge : graph.edges) {
      if (!allowed[edge.from] || !allowed[edge.to])
        continue;
      next[edge.from] |= shown[edge.to];
      next[edge.to] |= shown[edge.from];
    }
    shown.swap(next);
  }
  return shown;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

namespace {
struct OpPicture {
  const PartitionResult &result;
  const Fates &fates;
  const DrawOptions &options;
  const InstanceGraph &graph;
  const std::vector<uint8_t> &shown;
  std::vector<uint32_t> boxOf; ///< by instance
  Picture picture;

  void foldViews();
  void fillBox(uint32_t box, uint32_t instance);
  void addEdges();
  std::string tooltip(uint32_t instance) const;
  bool isRecomputed(const Instance &of) const {
    bool both =
        graph.forwardOf[of.op] != kNone && graph.backwardOf[of.op] != kNone;
    return both && (of.backward || options.what == DrawOptions::Network);
  }
  bool isSaved(uint32_t op) const;
};
} // namespace

bool OpPicture::isSaved(uint32_t op) const {
  const GraphView &view = result.view;
  for (uint32_t v = view.resultBegin[op]; v < view.resultBegin[op + 1]; ++v)
    if (fates.savedIndex(v) != kNone)
      return true;
  return false;
}

/// A view joins the box of the view that it reads if nobody else does.
void OpPicture::foldViews() {
  const GraphView &view = result.view;
  std::vector<uint32_t> readers(graph.instances.size(), 0);
  for (const InstanceGraph::Edge &edge : graph.edges)
    if (shown[edge.from] && shown[edge.to])
      ++readers[edge.from];
  boxOf.assign(graph.instances.size(), kNone);
  std::vector<uint32_t> joined(graph.instances.size(), kNone);
  auto isView = [&](uint32_t i) {
    uint32_t op = graph.instances[i].op;
    return op != kNone && view.traits[op].view;
  };
  for (const InstanceGraph::Edge &edge : graph.edges)
    if (shown[edge.from] && shown[edge.to] && !edge.saved &&
        isView(edge.from) && isView(edge.to) && readers[edge.from] == 1)
      joined[edge.to] = edge.from;
  for (uint32_t i = 0; i < graph.instances.size(); ++i) {
    if (!shown[i])
      continue;
    if (joined[i] != kNone && boxOf[joined[i]] != kNone) {
      boxOf[i] = boxOf[joined[i]];
    } else {
      boxOf[i] = picture.nodes.size();
      picture.nodes.emplace_back();
    }
    fillBox(boxOf[i], i);
  }
}

std::string OpPicture::tooltip(uint32_t instance) const {
  const GraphView &view = result.view;
  const Instance &of = graph.instances[instance];
  std::string text;
  if (of.value != kNone)
    text = "%" + view.name(of.value) + ": " +
           typeText(mlir::Value(view.values[of.value]).getType());
  if (of.op == kNone)
    return text + ", argument";
  text += (text.empty() ? "" : " = ") +
          view.ops[of.op]->getName().getStringRef().str();
  std::string place = placeText(view.ops[of.op]->getLoc());
  return place.empty() ? text : text + ", " + place;
}

void OpPicture::fillBox(uint32_t box, uint32_t instance) {
  const GraphView &view = result.view;
  const Instance &of = graph.instances[instance];
  DrawNode &node = picture.nodes[box];
  std::string kind = of.op == kNone ? "" : shortOpName(view.ops[of.op]);
  if (node.lines.empty()) {
    node.column = of.backward ? DrawNode::Right : DrawNode::Left;
    node.argument = of.op == kNone;
    node.lines = {"", ""};
    node.lines[1] = kind;
    node.tooltip = tooltip(instance);
  } else {
    node.lines[1] += ", " + kind;
    node.tooltip += "\n" + tooltip(instance);
  }
  if (of.value != kNone)
    node.lines[0] = "%" + view.name(of.value);
  else
    node.lines[0] = kind;
  if (of.op != kNone)
    node.recomputed |= isRecomputed(of);
  if (options.around && of.value != kNone)
    node.focus |= view.definer[*options.around] == of.op &&
                  (of.op != kNone || of.value == *options.around);
  if (of.op != kNone && options.what == DrawOptions::Network)
    node.saved |= isSaved(of.op);
  if (of.op == kNone)
    node.lines.resize(1);
  if (options.what == DrawOptions::Network && of.op != kNone &&
      of.op < result.recomputeCost.size())
    node.lines.push_back(
        "recompute " + (result.recomputeCost[of.op] < 0
                            ? std::string("never")
                            : formatPicoseconds(result.recomputeCost[of.op])));
}

void OpPicture::addEdges() {
  const GraphView &view = result.view;
  std::map<std::pair<uint32_t, uint32_t>, size_t> known;
  for (const InstanceGraph::Edge &edge : graph.edges) {
    if (!shown[edge.from] || !shown[edge.to] ||
        boxOf[edge.from] == boxOf[edge.to])
      continue;
    auto key = std::make_pair(boxOf[edge.from], boxOf[edge.to]);
    auto [it, added] = known.try_emplace(key, picture.edges.size());
    if (added)
      picture.edges.push_back({key.first, key.second, false, "", ""});
    DrawEdge &out = picture.edges[it->second];
    out.saved |= edge.saved;
    int64_t bytes =
        edge.value < result.bytes.size() ? result.bytes[edge.value] : 0;
    if (edge.saved)
      out.label += (out.label.empty() ? "" : ", ") + formatBytes(bytes);
    if (options.what == DrawOptions::Network &&
        edge.value < result.saveCost.size() && out.label.empty() &&
        result.saveCost[edge.value] >= 0)
      out.label = "save " + formatPicoseconds(result.saveCost[edge.value]);
    out.tooltip += (out.tooltip.empty() ? "%" : "\n%") + view.name(edge.value) +
                   ", " + formatBytes(bytes);
  }
}

/// The graph of the network: readers and definers by the vertex that stands
/// for them.
static void mergeTwins(InstanceGraph &graph) {
  auto standsFor = [&](uint32_t i) {
    const Instance &of = graph.instances[i];
    if (of.op == kNone || graph.forwardOf[of.op] == kNone)
      return i;
    return graph.forwardOf[of.op];
  };
  for (InstanceGraph::Edge &edge : graph.edges) {
    edge.from = standsFor(edge.from);
    edge.to = standsFor(edge.to);
    edge.saved &= graph.instances[edge.to].backward;
  }
}

static Picture opByOp(const PartitionResult &result, const Fates &fates,
                      const DrawOptions &options, const InstanceGraph &graph,
                      const std::vector<uint8_t> &shown) {
  OpPicture drawing{result, fates, options, graph, shown, {}, {}};
  drawing.foldViews();
  drawing.addEdges();
  return std::move(drawing.picture);
}

Picture makePicture(const PartitionResult &result, const DrawOptions &options) {
  Fates fates(result);
  InstanceGraph graph = InstanceGraph::build(result, fates);
  if (options.what == DrawOptions::Network)
    mergeTwins(graph);
  Picture picture;
  if (options.around) {
    unsigned radius = options.radius;
    do
      picture = opByOp(result, fates, options, graph,
                       neighbourhood(result, options, graph, radius));
    while (picture.nodes.size() > kNeighbourhood && --radius > 0);
    picture.title = result.graph + " around %" +
                    result.view.name(*options.around) + ", radius " +
                    std::to_string(radius);
    return picture;
  }
  std::vector<uint8_t> shown = wholeGraph(result, options, graph);
  size_t ops = 0;
  for (size_t i = 0; i < shown.size(); ++i)
    ops += shown[i] && graph.instances[i].op != kNone;
  picture = ops <= kOpByOp ? opByOp(result, fates, options, graph, shown)
                           : makeOverview(result, options, graph);
  static constexpr const char *names[] = {"", ", forward", ", backward",
                                          ", flow network"};
  picture.title = result.graph + names[options.what] + ": saved " +
                  formatBytes(result.savedBytes) + ", " +
                  formatCount(result.recomputed.size(), "op") + " recomputed";
  return picture;
}

} // namespace cutback

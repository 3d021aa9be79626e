// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pictures op by op.
//
//   1. instances: every op once for each half that runs it, and the arguments
//   2. which of them to show: all, those of one half, or a neighbourhood
//   3. chains of views with one reader each become one box
//   4. edges between boxes with their bytes, saved ones marked; and how many
//      lead out of the picture
//
// A neighbourhood is found by breadth-first search over edges in both
// directions; its depth shrinks until at most 60 boxes are left, which is about
// what a screen can show. A network has one box for all of the backward, and
// its columns are the sides of the cut.

#include "DrawingModel.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Support/Text.h"

#include <algorithm>
#include <map>
#include <set>

namespace cutback {

static constexpr uint32_t kNone = GraphView::kNone;
static constexpr size_t kOpByOp = 120, kNeighbourhood = 60;

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
                                          unsigned depth) {
  std::vector<uint8_t> allowed = wholeGraph(result, options, graph);
  std::vector<uint8_t> shown(graph.instances.size(), 0);
  uint32_t definer = result.view.definer[*options.around];
  for (size_t i = 0; i < shown.size(); ++i) {
    const Instance &instance = graph.instances[i];
    shown[i] = definer == kNone
                   ? instance.op == kNone && instance.value == *options.around
                   : instance.op == definer;
    // In a network the forward run of an op stands for both.
    if (options.what == DrawOptions::Network && shown[i])
      shown[i] = inNetwork(result, graph, instance) ||
                 (!instance.backward && instance.op != kNone);
    // The value asked for is shown whatever half was asked for.
    allowed[i] |= shown[i];
  }
  for (unsigned step = 0; step < depth; ++step) {
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
  std::set<std::pair<uint32_t, bool>> labelled; ///< values, by saved or not

  void foldViews();
  void fillBox(uint32_t box, uint32_t instance);
  void addEdges();
  void labelEdge(DrawEdge &out, const InstanceGraph::Edge &edge);
  void countHidden();
  void addSink();
  bool isNetwork() const { return options.what == DrawOptions::Network; }
  std::string tooltip(uint32_t instance) const;
  bool isRecomputed(const Instance &of) const {
    bool both =
        graph.forwardOf[of.op] != kNone && graph.backwardOf[of.op] != kNone;
    return both && (of.backward || isNetwork());
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
    bool isRight = isNetwork()
                       ? of.op != kNone && (of.backward || isRecomputed(of))
                       : of.backward;
    node.column = isRight ? DrawNode::Right : DrawNode::Left;
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
  if (of.op != kNone && !of.backward)
    node.saved |= isSaved(of.op);
  if (of.op == kNone)
    node.saved |= fates.savedIndex(of.value) != kNone;
  node.lines.resize(of.op == kNone ? 1 : 2);
  if (of.value != kNone)
    node.lines.push_back(
        typeText(mlir::Value(view.values[of.value]).getType()));
  if (isNetwork() && of.op != kNone && of.op < result.recomputeCost.size())
    node.lines.push_back(
        "recompute: " + (result.recomputeCost[of.op] < 0
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
    bool crosses =
        picture.nodes[key.first].column != picture.nodes[key.second].column;
    bool isCut = crosses && fates.savedIndex(edge.value) != kNone;
    out.saved |= isNetwork() ? isCut : edge.saved;
    labelEdge(out, edge);
    int64_t bytes =
        edge.value < result.bytes.size() ? result.bytes[edge.value] : 0;
    out.tooltip += (out.tooltip.empty() ? "%" : "\n%") + view.name(edge.value) +
                   ", " + formatBytes(bytes);
  }
}

/// Bytes, and in a network what saving costs: once for each value, and once
/// more where it crosses.
void OpPicture::labelEdge(DrawEdge &out, const InstanceGraph::Edge &edge) {
  if (edge.value >= result.bytes.size() ||
      !labelled.emplace(edge.value, out.saved).second)
    return;
  std::string text = formatBytes(result.bytes[edge.value]);
  if (isNetwork() && edge.value < result.saveCost.size() &&
      result.saveCost[edge.value] >= 0)
    text += ", save " + formatPicoseconds(result.saveCost[edge.value]);
  out.label += (out.label.empty() ? "" : "; ") + text;
}

/// Distinct neighbours that are not shown.
void OpPicture::countHidden() {
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const InstanceGraph::Edge &edge : graph.edges) {
    bool sinks =
        isNetwork() && !inNetwork(result, graph, graph.instances[edge.to]);
    if (shown[edge.from] == shown[edge.to] || sinks ||
        !seen.emplace(edge.from, edge.to).second)
      continue;
    if (shown[edge.from])
      ++picture.nodes[boxOf[edge.from]].hiddenReaders;
    else
      ++picture.nodes[boxOf[edge.to]].hiddenOperands;
  }
}

/// One box for the ops of the backward that depend on gradients.
void OpPicture::addSink() {
  std::map<uint32_t, std::map<uint32_t, std::set<uint32_t>>> readers;
  for (const InstanceGraph::Edge &edge : graph.edges)
    if (shown[edge.from] && !inNetwork(result, graph, graph.instances[edge.to]))
      readers[boxOf[edge.from]][edge.value].insert(edge.to);
  if (readers.empty())
    return;
  std::set<uint32_t> all;
  uint32_t sink = picture.nodes.size();
  for (const auto &[box, values] : readers)
    for (const auto &[value, ops] : values) {
      all.insert(ops.begin(), ops.end());
      DrawEdge edge{box, sink, false, "", "%" + result.view.name(value)};
      edge.saved = fates.savedIndex(value) != kNone;
      labelEdge(edge, {0, 0, value, edge.saved});
      picture.edges.push_back(std::move(edge));
    }
  DrawNode node;
  node.column = DrawNode::Right;
  node.sink = true;
  node.lines = {"the backward", formatCount(all.size(), "op") +
                                    (all.size() == 1 ? " reads" : " read") +
                                    " what is here"};
  picture.nodes.push_back(std::move(node));
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
  OpPicture drawing{result, fates, options, graph, shown, {}, {}, {}};
  drawing.picture.network = drawing.isNetwork();
  drawing.foldViews();
  drawing.addEdges();
  if (drawing.isNetwork())
    drawing.addSink();
  if (options.around)
    drawing.countHidden();
  return std::move(drawing.picture);
}

Picture makePicture(const PartitionResult &result, const DrawOptions &options) {
  Fates fates(result);
  InstanceGraph graph = InstanceGraph::build(result, fates);
  if (options.what == DrawOptions::Network)
    mergeTwins(graph);
  Picture picture;
  if (options.around) {
    unsigned depth = options.depth;
    do
      picture = opByOp(result, fates, options, graph,
                       neighbourhood(result, options, graph, depth));
    while (picture.nodes.size() > kNeighbourhood && --depth > 0);
    picture.title = result.graph + " around %" +
                    result.view.name(*options.around) + ", depth " +
                    std::to_string(depth);
    if (depth < options.depth)
      picture.title +=
          " (of " + std::to_string(options.depth) + ": more would not fit)";
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The picture of a large graph: one box for each module and half.
//
//   1. a place for every instance: module, or source line without modules
//   2. coarsen: cut paths behind their first number, then before it, until at
//      most 48 places are left; what is still too much becomes "(others)"
//   3. one row a place, in the order of the first op; the forward's box left,
//      the backward's right, so that what is saved crosses in its own row
//   4. edges carry the bytes that they move
//
// Arguments are no boxes: parameters belong to every module.

#include "DrawingModel.h"

#include "cutback/Analysis/Modules.h"
#include "cutback/Analysis/Names.h"
#include "cutback/Report/Folding.h"
#include "cutback/Support/Text.h"

#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>
#include <map>
#include <set>

namespace cutback {

static constexpr uint32_t kNone = GraphView::kNone;
static constexpr size_t kPlaces = 48;

std::vector<std::string> placesOfInstances(const PartitionResult &result,
                                           const InstanceGraph &graph) {
  const GraphView &view = result.view;
  ModuleFacts facts = collectModuleFacts(view);
  bool modules = std::any_of(facts.argModule.begin(), facts.argModule.end(),
                             [](auto &name) { return !name.empty(); });
  std::vector<std::string> byOp;
  if (modules)
    byOp = deriveModules(view, facts);
  else
    for (mlir::Operation *op : view.ops)
      byOp.push_back(lineText(op->getLoc()));
  std::vector<std::string> out;
  for (const Instance &instance : graph.instances)
    out.push_back(instance.op == kNone ? "" : byOp[instance.op]);
  return out;
}

namespace {
struct Overview {
  const PartitionResult &result;
  const DrawOptions &options;
  const InstanceGraph &graph;
  std::vector<std::string> place; ///< by instance
  std::vector<uint32_t> boxOf;    ///< by instance
  struct Box {
    uint64_t ops = 0, recomputed = 0;
    int64_t recomputePs = 0;
    std::map<std::string, uint64_t> kinds;
  };
  std::vector<Box> boxes;
  Picture picture;

  bool shown(uint32_t instance) const;
  size_t numPlaces() const;
  void coarsen();
  void makeBoxes();
  void labelBoxes();
  void makeEdges();
};
} // namespace

bool Overview::shown(uint32_t instance) const {
  const Instance &of = graph.instances[instance];
  if (of.op == kNone)
    return false;
  if (options.what == DrawOptions::Forward)
    return !of.backward;
  if (options.what == DrawOptions::Backward)
    return of.backward;
  return true;
}

size_t Overview::numPlaces() const {
  std::set<std::string> distinct(place.begin(), place.end());
  return distinct.size();
}

void Overview::coarsen() {
  for (bool keepNumber : {true, false}) {
    if (numPlaces() <= kPlaces)
      return;
    for (std::string &name : place) {
      NumberedPath path = splitNumberedPath(name);
      if (path.index.empty())
        continue;
      std::string cut(path.head);
      if (keepNumber)
        cut += "." + std::string(path.index);
      name = cut;
    }
  }
  std::map<std::string, uint64_t> counts;
  for (uint32_t i = 0; i < place.size(); ++i)
    if (shown(i))
      ++counts[place[i]];
  std::vector<std::pair<uint64_t, std::string>> order;
  for (auto &[name, count] : counts)
    order.emplace_back(count, name);
  std::stable_sort(order.begin(), order.end(),
                   [](auto &a, auto &b) { return a.first > b.first; });
  order.resize(std::min(order.size(), kPlaces));
  std::set<std::string> kept;
  for (auto &[count, name] : order)
    kept.insert(name);
  for (std::string &name : place)
    if (!kept.count(name))
      name = "(others)";
}

void Overview::makeBoxes() {
  const GraphView &view = result.view;
  boxOf.assign(graph.instances.size(), kNone);
  std::map<std::pair<std::string, bool>, uint32_t> numbers;
  std::map<std::string, unsigned> rows;
  for (uint32_t i = 0; i < graph.instances.size(); ++i) {
    if (!shown(i))
      continue;
    const Instance &of = graph.instances[i];
    unsigned row = rows.try_emplace(place[i], rows.size()).first->second;
    auto key = std::make_pair(place[i], of.backward);
    auto [it, added] = numbers.try_emplace(key, picture.nodes.size());
    if (added) {
      boxes.emplace_back();
      picture.nodes.emplace_back();
      DrawNode &node = picture.nodes.back();
      node.column = of.backward ? DrawNode::Right : DrawNode::Left;
      node.row = row;
      node.lines = {place[i].empty() ? "(elsewhere)" : place[i]};
    }
    boxOf[i] = it->second;
    Box &box = boxes[it->second];
    ++box.ops;
    ++box.kinds[shortOpName(view.ops[of.op])];
    bool twice = of.backward && graph.forwardOf[of.op] != kNone;
    box.recomputed += twice;
    if (twice && of.op < result.recomputeCost.size())
      box.recomputePs += std::max<int64_t>(result.recomputeCost[of.op], 0);
  }
}

void Overview::labelBoxes() {
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Box &box = boxes[i];
    DrawNode &node = picture.nodes[i];
    node.lines.push_back(formatCount(box.ops, "op"));
    if (box.recomputed)
      node.lines.back() += ", " + formatCount(box.recomputed) + " recomputed";
    if (box.recomputed && options.what == DrawOptions::Network)
      node.lines.push_back("recomputing " + formatPicoseconds(box.recomputePs));
    node.recomputed = box.recomputed != 0;
    for (auto &[kind, count] : box.kinds)
      node.tooltip +=
          (node.tooltip.empty() ? "" : "\n") + formatCount(count) + " " + kind;
  }
}

void Overview::makeEdges() {
  struct Sum {
    int64_t bytes = 0, savePs = 0;
    std::set<uint32_t> values, storages;
  };
  std::map<std::pair<uint32_t, uint32_t>, Sum> sums[2];
  for (const InstanceGraph::Edge &edge : graph.edges) {
    if (boxOf[edge.from] == kNone || boxOf[edge.to] == kNone ||
        boxOf[edge.from] == boxOf[edge.to])
      continue;
    // Sizes would add an arrow between nearly any two modules.
    mlir::Value value = result.view.values[edge.value];
    if (!mlir::isa<mlir::ShapedType>(value.getType()))
      continue;
    Sum &sum = sums[edge.saved][{boxOf[edge.from], boxOf[edge.to]}];
    uint32_t storage = edge.value < result.storage.size()
                           ? result.storage[edge.value]
                           : edge.value;
    if (sum.storages.insert(storage).second && storage < result.bytes.size())
      sum.bytes += result.bytes[storage];
    if (sum.values.insert(edge.value).second &&
        edge.value < result.saveCost.size())
      sum.savePs += std::max<int64_t>(result.saveCost[edge.value], 0);
  }
  for (bool saved : {false, true})
    for (auto &[boxes, sum] : sums[saved]) {
      DrawEdge edge{boxes.first, boxes.second, saved, "", ""};
      edge.tooltip = formatCount(sum.values.size(), "value") + ", " +
                     formatBytes(sum.bytes);
      // In its own row an arrow has room for a label; so has the largest.
      bool ownRow = picture.nodes[edge.from].row == picture.nodes[edge.to].row;
      if (saved && (ownRow || sum.bytes * 20 >= result.savedBytes))
        edge.label = options.what == DrawOptions::Network
                         ? "save " + formatPicoseconds(sum.savePs)
                         : formatBytes(sum.bytes);
      picture.edges.push_back(std::move(edge));
    }
}

Picture makeOverview(const PartitionResult &result, const DrawOptions &options,
                     const InstanceGraph &graph) {
  Overview overview{result, options, graph, placesOfInstances(result, graph),
                    {},     {},      {}};
  overview.coarsen();
  overview.makeBoxes();
  overview.labelBoxes();
  overview.makeEdges();
  overview.picture.overview = true;
  return std::move(overview.picture);
}

} // namespace cutback

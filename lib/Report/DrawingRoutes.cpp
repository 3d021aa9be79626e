// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where edges run. Boxes are in rows, and nothing is between two rows, so an
// edge leaves its box into the gap at the side where its column goes on, and
// reaches its reader from the gap before that. From one row to the next that is
// all. Any other edge changes gaps in a lane of its own where no box is: beside
// its column, or between the two columns if it crosses. Edges in one lane do
// not meet: lanes are given out as the intervals of rows come, the first free
// one. O(edges × lanes).

#include "DrawingRoutes.h"

#include <algorithm>
#include <numeric>

namespace cutback {

/// Whether a column goes on below.
static bool runsDown(const Picture &picture, const DrawNode &node) {
  return picture.network || node.column == DrawNode::Left;
}

/// The gaps that an edge leaves into and comes from: gap i is above row i.
static std::pair<unsigned, unsigned> gapsOf(const Picture &picture,
                                            const DrawEdge &edge) {
  const DrawNode &from = picture.nodes[edge.from], &to = picture.nodes[edge.to];
  return {runsDown(picture, from) ? from.row + 1 : from.row,
          runsDown(picture, to) ? to.row : to.row + 1};
}

DrawLanes::DrawLanes(const Picture &picture) : ofEdge(picture.edges.size()) {
  std::vector<size_t> order(picture.edges.size());
  std::iota(order.begin(), order.end(), 0);
  auto spanOf = [&](size_t i) {
    auto [from, to] = gapsOf(picture, picture.edges[i]);
    return std::make_pair(std::min(from, to), std::max(from, to));
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return spanOf(a).first < spanOf(b).first;
  });
  std::vector<unsigned> endOf[3]; // by lane: the last gap that is taken
  for (size_t i : order) {
    const DrawNode &from = picture.nodes[picture.edges[i].from];
    const DrawNode &to = picture.nodes[picture.edges[i].to];
    auto [begin, end] = spanOf(i);
    bool crosses = from.column != to.column;
    if (!crosses && begin == end)
      continue;
    std::vector<unsigned> &lanes = endOf[crosses                         ? 2
                                         : from.column == DrawNode::Left ? 0
                                                                         : 1];
    auto lane = std::find_if(lanes.begin(), lanes.end(),
                             [&](unsigned last) { return last < begin; });
    if (lane == lanes.end())
      lane = lanes.insert(lanes.end(), end);
    *lane = end;
    ofEdge[i] = {crosses ? Between : Outside,
                 static_cast<unsigned>(lane - lanes.begin())};
  }
  left = endOf[0].size();
  right = endOf[1].size();
  between = endOf[2].size();
}

namespace {
class Router {
public:
  explicit Router(const Picture &picture)
      : picture(picture), lanes(picture), leaving(picture.nodes.size(), 0),
        entering(picture.nodes.size(), 0) {
    unsigned rows = 0;
    for (const DrawNode &node : picture.nodes)
      rows = std::max(rows, node.row + 1);
    tops.assign(rows, 1e9);
    bottoms.assign(rows, 0);
    for (const DrawNode &node : picture.nodes) {
      tops[node.row] = std::min(tops[node.row], node.y);
      bottoms[node.row] = std::max(bottoms[node.row], node.y + node.height);
    }
    // Rows without a box are nowhere: the gaps around them are one.
    for (unsigned row = 0; row < rows; ++row)
      if (bottoms[row] == 0)
        bottoms[row] = row ? bottoms[row - 1] : 0;
    for (unsigned row = rows; row-- > 1;)
      tops[row - 1] = std::min(tops[row - 1], tops[row]);
    for (const DrawEdge &edge : picture.edges) {
      ++leaving[edge.from];
      ++entering[edge.to];
    }
    used.assign(picture.nodes.size(), {0, 0});
  }

  std::vector<std::pair<double, double>> route(size_t number) {
    const DrawEdge &edge = picture.edges[number];
    const DrawNode &from = picture.nodes[edge.from];
    const DrawNode &to = picture.nodes[edge.to];
    bool downFrom = runsDown(picture, from), downTo = runsDown(picture, to);
    // Each edge of a box has a place of its own on its side.
    double x1 = from.x + from.width * ++used[edge.from].first /
                             (leaving[edge.from] + 1.0);
    double x2 =
        to.x + to.width * ++used[edge.to].second / (entering[edge.to] + 1.0);
    double y1 = downFrom ? from.y + from.height : from.y;
    double y2 = downTo ? to.y : to.y + to.height;
    auto [gap1, gap2] = gapsOf(picture, edge);
    double level1 = levelOf(gap1, /*isLeaving=*/true, number);
    double level2 = levelOf(gap2, /*isLeaving=*/false, number);
    const DrawLanes::Lane &lane = lanes.ofEdge[number];
    if (lane.side == DrawLanes::None)
      return {{x1, y1}, {x1, level1}, {x2, level1}, {x2, y2}};
    double x = laneAt(lane, from.column);
    return {{x1, y1},    {x1, level1}, {x, level1},
            {x, level2}, {x2, level2}, {x2, y2}};
  }

private:
  /// A height in a gap; edges spread over it, those that leave in its half at
  /// the row above, so that lines of different edges seldom lie on each other.
  double levelOf(unsigned gap, bool isLeaving, size_t number) const {
    double above = gap == 0 ? tops.front() - 30 : bottoms[gap - 1];
    double below = gap == tops.size() ? bottoms.back() + 30 : tops[gap];
    double part = (isLeaving ? 0.2 : 0.6) + 0.05 * double(number % 5);
    return above + (below - above) * part;
  }

  double laneAt(const DrawLanes::Lane &lane, DrawNode::Column column) const {
    double offset = kLaneWidth * (lane.number + 1);
    const DrawBand &first = picture.bands.front(), &last = picture.bands.back();
    if (lane.side == DrawLanes::Between)
      return first.x + first.width + offset;
    return column == DrawNode::Left && first.column == DrawNode::Left
               ? first.x - offset
               : last.x + last.width + offset;
  }

  const Picture &picture;
  DrawLanes lanes;
  std::vector<double> tops, bottoms; ///< by row
  std::vector<unsigned> leaving, entering;
  std::vector<std::pair<unsigned, unsigned>> used;
};
} // namespace

std::vector<std::vector<std::pair<double, double>>>
routeEdges(const Picture &picture) {
  std::vector<std::vector<std::pair<double, double>>> routes;
  if (picture.nodes.empty())
    return routes;
  Router router(picture);
  for (size_t i = 0; i < picture.edges.size(); ++i)
    routes.push_back(router.route(i));
  return routes;
}

} // namespace cutback

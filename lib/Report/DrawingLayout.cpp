// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places for boxes. The forward is a column on the left that runs downwards,
// the backward a column on the right that runs upwards, so that saved values
// cross from left to right, as a training step is usually drawn. In a network
// both sides of the cut run downwards, and rows go through both columns.
//
// An overview comes with its rows. Otherwise rows are layers: the longest path
// within the half (the graph of boxes has no cycles there, and edges go from
// smaller to larger numbers in each half). Within a layer boxes are ordered by
// the mean place of their neighbours in the layer before (the barycenter
// heuristic of Sugiyama et al.), four sweeps, ties by number. O(sweeps ×
// edges).

#include "DrawingRoutes.h"

#include "cutback/Support/Text.h"

#include <algorithm>

namespace cutback {

static constexpr double kCharWidth = 7.3, kLineHeight = 15.0, kPad = 8.0,
                        kGapX = 24.0, kGapY = 44.0, kMargin = 24.0,
                        kTop = 104.0, kBetween = 190.0, kHeading = 150.0;

static void sizeBoxes(Picture &picture) {
  for (DrawNode &node : picture.nodes) {
    size_t widest = 4;
    for (std::string &line : node.lines) {
      line = shorten(line, 34);
      widest = std::max(widest, displayWidth(line));
    }
    node.width = widest * kCharWidth + 2 * kPad;
    node.height = node.lines.size() * kLineHeight + kPad;
  }
}

/// Layers by longest path; the backward's count from the bottom.
static void layer(Picture &picture) {
  // Kahn's algorithm, since folded boxes need not be numbered in order.
  size_t count = picture.nodes.size();
  std::vector<unsigned> waiting(count, 0);
  std::vector<std::vector<uint32_t>> readers(count);
  for (const DrawEdge &edge : picture.edges)
    if (picture.network ||
        picture.nodes[edge.from].column == picture.nodes[edge.to].column) {
      ++waiting[edge.to];
      readers[edge.from].push_back(edge.to);
    }
  std::vector<uint32_t> ready;
  for (uint32_t i = 0; i < count; ++i)
    if (waiting[i] == 0)
      ready.push_back(i);
  for (size_t next = 0; next < ready.size(); ++next)
    for (uint32_t reader : readers[ready[next]]) {
      unsigned row = picture.nodes[ready[next]].row + 1;
      picture.nodes[reader].row = std::max(picture.nodes[reader].row, row);
      if (--waiting[reader] == 0)
        ready.push_back(reader);
    }
  // What reads nothing in its half stands right before its first reader.
  for (uint32_t i = 0; i < count; ++i) {
    DrawNode &node = picture.nodes[i];
    if (node.row != 0 || readers[i].empty())
      continue;
    unsigned first = ~0u;
    for (uint32_t reader : readers[i])
      first = std::min(first, picture.nodes[reader].row);
    node.row = first - 1;
  }
  unsigned last = 0;
  for (const DrawNode &node : picture.nodes)
    last = std::max(last, node.row);
  for (DrawNode &node : picture.nodes)
    if (node.sink)
      node.row = last;
    else if (node.column == DrawNode::Right && !picture.network)
      node.row = last - node.row;
}

/// Boxes of one column by row, in the order they are placed.
using Rows = std::vector<std::vector<uint32_t>>;

static Rows rowsOf(const Picture &picture, DrawNode::Column column) {
  Rows rows;
  for (uint32_t i = 0; i < picture.nodes.size(); ++i) {
    const DrawNode &node = picture.nodes[i];
    if (node.column != column)
      continue;
    if (rows.size() <= node.row)
      rows.resize(node.row + 1);
    rows[node.row].push_back(i);
  }
  return rows;
}

static void order(const Picture &picture, Rows &rows) {
  std::vector<double> place(picture.nodes.size(), 0);
  std::vector<std::vector<uint32_t>> neighbours(picture.nodes.size());
  for (const DrawEdge &edge : picture.edges)
    if (picture.nodes[edge.from].column == picture.nodes[edge.to].column) {
      neighbours[edge.from].push_back(edge.to);
      neighbours[edge.to].push_back(edge.from);
    }
  auto number = [&](const std::vector<uint32_t> &row) {
    for (size_t i = 0; i < row.size(); ++i)
      place[row[i]] = i - (row.size() - 1) / 2.0;
  };
  for (auto &row : rows)
    number(row);
  for (int sweep = 0; sweep < 4; ++sweep)
    for (size_t i = 0; i < rows.size(); ++i) {
      auto &row = rows[sweep % 2 ? rows.size() - 1 - i : i];
      std::vector<std::pair<double, uint32_t>> keyed;
      for (uint32_t node : row) {
        double sum = 0;
        for (uint32_t other : neighbours[node])
          sum += place[other];
        size_t degree = neighbours[node].size();
        keyed.emplace_back(degree ? sum / degree : place[node], node);
      }
      std::stable_sort(keyed.begin(), keyed.end());
      for (size_t j = 0; j < row.size(); ++j)
        row[j] = keyed[j].second;
      number(row);
    }
}

static double rowWidth(const Picture &picture,
                       const std::vector<uint32_t> &row) {
  double width = row.empty() ? 0 : -kGapX;
  for (uint32_t node : row)
    width += picture.nodes[node].width + kGapX;
  return width;
}

void layoutPicture(Picture &picture) {
  sizeBoxes(picture);
  if (!picture.overview)
    layer(picture);
  std::vector<double> heights;
  for (const DrawNode &node : picture.nodes) {
    if (heights.size() <= node.row)
      heights.resize(node.row + 1, 0);
    heights[node.row] = std::max(heights[node.row], node.height);
  }
  std::vector<double> tops(heights.size() + 1, kTop);
  for (size_t i = 0; i < heights.size(); ++i)
    tops[i + 1] = tops[i] + (heights[i] ? heights[i] + kGapY : 0);
  // Room for the edges that are not from one row to the next.
  DrawLanes lanes(picture);
  double left = kMargin + lanes.left * kLaneWidth;
  // Room for the labels of what crosses.
  size_t longest = 0;
  for (const DrawEdge &edge : picture.edges)
    if (picture.nodes[edge.from].column != picture.nodes[edge.to].column)
      longest = std::max(longest, displayWidth(edge.label));
  double between = std::max(kBetween, longest * kCharWidth + 60) +
                   lanes.between * kLaneWidth;
  picture.bands.clear();
  for (DrawNode::Column column : {DrawNode::Left, DrawNode::Right}) {
    Rows rows = rowsOf(picture, column);
    order(picture, rows);
    double widest = 0;
    for (const auto &row : rows)
      widest = std::max(widest, rowWidth(picture, row));
    double column0 = std::max(widest, widest > 0 ? kHeading : 0);
    for (const auto &row : rows) {
      double x = left + (column0 - rowWidth(picture, row)) / 2;
      for (uint32_t i : row) {
        DrawNode &node = picture.nodes[i];
        node.x = x;
        node.y = tops[node.row] + (heights[node.row] - node.height) / 2;
        x += node.width + kGapX;
      }
    }
    if (widest > 0) {
      widest = std::max(widest, kHeading);
      picture.bands.push_back({column, left - kPad, widest + 2 * kPad});
      left += widest + between;
    }
  }
  double title = displayWidth(picture.title) * kCharWidth * 1.2 + 2 * kMargin;
  picture.width = std::max(
      {left - between + kMargin + 60 + lanes.right * kLaneWidth, title, 760.0});
  picture.height = tops.back() + kMargin;
}

} // namespace cutback

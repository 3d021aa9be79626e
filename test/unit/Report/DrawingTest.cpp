// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Report/Drawing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

using namespace cutback;

namespace {

DrawNode node(const std::string &name, DrawNode::Column column) {
  DrawNode out;
  out.lines = {name, "mul"};
  out.tooltip = "%" + name + " & <more>";
  out.column = column;
  return out;
}

/// a → b, c → d in the forward; d → e → f in the backward; b is saved for f.
Picture example() {
  Picture picture;
  picture.title = "example";
  for (const char *name : {"a", "b", "c", "d"})
    picture.nodes.push_back(node(name, DrawNode::Left));
  for (const char *name : {"e", "f"})
    picture.nodes.push_back(node(name, DrawNode::Right));
  picture.edges = {{0, 1, false, "", ""},        {0, 2, false, "", ""},
                   {1, 3, false, "", ""},        {2, 3, false, "", ""},
                   {3, 4, true, "1.0 MiB", ""},  {4, 5, false, "", ""},
                   {1, 5, true, "2.0 MiB", "%b"}};
  return picture;
}

bool overlap(const DrawNode &a, const DrawNode &b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
         b.y < a.y + a.height;
}

} // namespace

TEST(Drawing, boxesDoNotOverlapAndStayInside) {
  Picture picture = example();
  layoutPicture(picture);
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    const DrawNode &box = picture.nodes[i];
    EXPECT_GE(box.x, 0);
    EXPECT_LE(box.x + box.width, picture.width);
    EXPECT_LE(box.y + box.height, picture.height);
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(overlap(box, picture.nodes[j])) << i << " " << j;
  }
}

TEST(Drawing, theForwardRunsDownAndTheBackwardUp) {
  Picture picture = example();
  layoutPicture(picture);
  const auto &nodes = picture.nodes;
  EXPECT_LT(nodes[0].y, nodes[1].y);
  EXPECT_EQ(nodes[1].row, nodes[2].row);
  EXPECT_LT(nodes[2].y, nodes[3].y);
  EXPECT_GT(nodes[4].y, nodes[5].y);
  EXPECT_LT(nodes[3].x + nodes[3].width, nodes[4].x);
}

TEST(Drawing, svgEscapesAndMarksWhatIsSaved) {
  Picture picture = example();
  picture.nodes[0].recomputed = true;
  picture.nodes[1].focus = true;
  layoutPicture(picture);
  std::string svg = writeSvg(picture);
  EXPECT_EQ(svg.rfind("<svg ", 0), 0u);
  EXPECT_NE(svg.find("<title>%a &amp; &lt;more&gt;</title>"),
            std::string::npos);
  EXPECT_NE(svg.find("class=\"s\""), std::string::npos);
  EXPECT_NE(svg.find("2.0 MiB</text>"), std::string::npos);
  EXPECT_NE(svg.find("class=\"r\""), std::string::npos);
  EXPECT_NE(svg.find("class=\"f focus\""), std::string::npos);
  Picture again = example();
  again.nodes[0].recomputed = true;
  again.nodes[1].focus = true;
  layoutPicture(again);
  EXPECT_EQ(svg, writeSvg(again)) << "equal pictures give equal bytes";
}

/// The ways of edges in `svg`, as corners.
static std::vector<std::vector<std::pair<double, double>>>
waysIn(const std::string &svg) {
  std::vector<std::vector<std::pair<double, double>>> ways;
  const std::string mark = "marker-end=\"url(#";
  for (size_t at = svg.find(mark); at != std::string::npos;
       at = svg.find(mark, at + 1)) {
    size_t begin = svg.find(" d=\"M", at) + 5;
    std::istringstream text(svg.substr(begin, svg.find('"', begin) - begin));
    ways.emplace_back();
    double x, y;
    char letter;
    for (text >> x >> y; text; text >> letter >> x >> y)
      ways.back().emplace_back(x, y);
  }
  return ways;
}

/// Random pictures: edges from earlier to later boxes, of each column and from
/// left to right.
static Picture randomPicture(unsigned seed) {
  std::mt19937 random(seed);
  Picture picture;
  unsigned left = 2 + random() % 12, right = random() % 12;
  for (unsigned i = 0; i < left + right; ++i)
    picture.nodes.push_back(node("n" + std::string(random() % 20, 'x'),
                                 i < left ? DrawNode::Left : DrawNode::Right));
  for (unsigned to = 1; to < left + right; ++to)
    for (unsigned count = random() % 4; count > 0; --count) {
      unsigned from = random() % to;
      picture.edges.push_back({from, to, (from < left) != (to < left), "", ""});
    }
  picture.network = seed % 3 == 0;
  return picture;
}

TEST(Drawing, noEdgeRunsThroughABox) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Picture picture = seed ? randomPicture(seed) : example();
    layoutPicture(picture);
    auto ways = waysIn(writeSvg(picture));
    ASSERT_EQ(ways.size(), picture.edges.size());
    for (const auto &way : ways)
      for (size_t i = 0; i + 1 < way.size(); ++i)
        for (const DrawNode &box : picture.nodes) {
          auto [x1, x2] = std::minmax(way[i].first, way[i + 1].first);
          auto [y1, y2] = std::minmax(way[i].second, way[i + 1].second);
          EXPECT_FALSE(x1 < box.x + box.width - 0.2 && x2 > box.x + 0.2 &&
                       y1 < box.y + box.height - 0.2 && y2 > box.y + 0.2)
              << "seed " << seed << ", box " << box.lines[0];
          EXPECT_TRUE(x1 >= 0 && x2 <= picture.width) << "seed " << seed;
        }
  }
}

/// An edge leaves where its column goes on, and comes from where it came.
TEST(Drawing, edgesHaveTheDirectionOfTheirColumn) {
  for (unsigned seed = 1; seed < 30; ++seed) {
    Picture picture = randomPicture(seed);
    layoutPicture(picture);
    for (const auto &way : waysIn(writeSvg(picture))) {
      ASSERT_GE(way.size(), 4u);
      for (size_t end : {size_t(0), way.size() - 2}) {
        bool isRight =
            std::any_of(picture.nodes.begin(), picture.nodes.end(),
                        [&, x = way[end].first](const DrawNode &box) {
                          return box.column == DrawNode::Right && box.x <= x &&
                                 x <= box.x + box.width;
                        });
        bool isDown = way[end].second <= way[end + 1].second;
        EXPECT_EQ(isDown, picture.network || !isRight) << "seed " << seed;
      }
    }
  }
}

TEST(Drawing, dotHasBothHalves) {
  std::string dot = writeDot(example());
  EXPECT_NE(dot.find("subgraph cluster_forward"), std::string::npos);
  EXPECT_NE(dot.find("n1 -> n5 [tooltip=\"%b\", label=\"2.0 MiB\", color=red"),
            std::string::npos)
      << dot;
  EXPECT_NE(dot.find("[label=\"a\\nmul\""), std::string::npos) << dot;
}

TEST(Drawing, nothingToDrawIsAPictureToo) {
  Picture picture;
  layoutPicture(picture);
  EXPECT_NE(writeSvg(picture).find("</svg>"), std::string::npos);
}

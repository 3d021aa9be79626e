// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Report/Drawing.h"

#include <gtest/gtest.h>

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

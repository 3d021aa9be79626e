// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes pictures. SVG: boxes with text, curves with arrow heads, tooltips in
// <title> elements, colours in one style sheet at the start; viewers zoom and
// search. Numbers have one digit behind the point, so that bytes do not depend
// on the machine. DOT: the same boxes and edges for those who have Graphviz
// and want another layout.

#include "cutback/Report/Drawing.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace cutback {

//===----------------------------------------------------------------------===//
// SVG
//===----------------------------------------------------------------------===//

static const char *const kStyle =
    "text{font:12px monospace;fill:#222}"
    ".title{font:bold 15px sans-serif}.legend{font:12px sans-serif}"
    ".name{font-weight:bold}"
    "rect{stroke-width:1}"
    ".f{fill:#e8f0fe;stroke:#4a6fa5}.b{fill:#fdf0e0;stroke:#b07a30}"
    ".a{fill:#f2f2f2;stroke:#999}"
    ".r{fill:#fdf0e0;stroke:#b07a30;stroke-dasharray:5 3}"
    ".focus{stroke-width:3;stroke:#222}"
    "path{fill:none;stroke:#999;stroke-width:1}"
    "path.s{stroke:#c0392b;stroke-width:2}"
    ".bytes{fill:#c0392b;font-size:11px}";

static std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f", value);
  return buffer;
}

/// Escapes text for XML; what XML cannot hold becomes "?".
static std::string escapeXml(const std::string &text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? '?' : c;
  }
  return out;
}

static std::string textAt(double x, double y, const std::string &cssClass,
                          const std::string &text) {
  std::string attribute = cssClass.empty() ? "" : " class=\"" + cssClass + "\"";
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\"" + attribute +
         ">" + escapeXml(text) + "</text>\n";
}

static std::string box(const DrawNode &node) {
  std::string kind = node.argument                    ? "a"
                     : node.recomputed                ? "r"
                     : node.column == DrawNode::Right ? "b"
                                                      : "f";
  if (node.focus)
    kind += " focus";
  std::string out = "<g><title>" + escapeXml(node.tooltip) + "</title>";
  out += "<rect class=\"" + kind + "\" x=\"" + number(node.x) + "\" y=\"" +
         number(node.y) + "\" width=\"" + number(node.width) + "\" height=\"" +
         number(node.height) + "\" rx=\"4\"/>\n";
  for (size_t i = 0; i < node.lines.size(); ++i)
    out += textAt(node.x + 8, node.y + 16 + 15.0 * i, i == 0 ? "name" : "",
                  node.lines[i]);
  return out + "</g>\n";
}

/// A curve between two boxes: from side to side between the halves, from
/// bottom to top (or top to bottom, in the backward) within one.
static std::string curve(const Picture &picture, const DrawEdge &edge) {
  const DrawNode &from = picture.nodes[edge.from];
  const DrawNode &to = picture.nodes[edge.to];
  double x1, y1, x2, y2, dx = 0, dy = 0;
  if (from.column != to.column) {
    bool right = to.column == DrawNode::Right;
    x1 = right ? from.x + from.width : from.x;
    x2 = right ? to.x : to.x + to.width;
    y1 = from.y + from.height / 2;
    y2 = to.y + to.height / 2;
    dx = (x2 - x1) / 2;
  } else {
    bool down = to.y >= from.y;
    x1 = from.x + from.width / 2;
    x2 = to.x + to.width / 2;
    y1 = down ? from.y + from.height : from.y;
    y2 = down ? to.y : to.y + to.height;
    dy = (y2 - y1) / 2;
    // Past other boxes: around them, on the outer side.
    if (picture.overview && std::abs(int(from.row) - int(to.row)) > 1)
      dx = from.column == DrawNode::Left ? -60 : 60;
  }
  double bend = from.column == to.column ? dx : -dx;
  return "M" + number(x1) + " " + number(y1) + " C" + number(x1 + dx) + " " +
         number(y1 + dy) + " " + number(x2 + bend) + " " + number(y2 - dy) +
         " " + number(x2) + " " + number(y2);
}

static std::string edgeText(const Picture &picture, const DrawEdge &edge) {
  std::string out = "<g><title>" + escapeXml(edge.tooltip) + "</title><path" +
                    (edge.saved ? " class=\"s\" marker-end=\"url(#saved)\""
                                : " marker-end=\"url(#flow)\"") +
                    " d=\"" + curve(picture, edge) + "\"/></g>\n";
  if (edge.label.empty())
    return out;
  const DrawNode &from = picture.nodes[edge.from];
  const DrawNode &to = picture.nodes[edge.to];
  double x = (from.x + from.width / 2 + to.x + to.width / 2) / 2 + 6;
  double y = (from.y + from.height / 2 + to.y + to.height / 2) / 2 - 4;
  if (from.column != to.column)
    x = from.x + from.width + 10,
    y = from.y + from.height / 2 + (to.y - from.y) * 0.06 - 4;
  return out + textAt(x, y, edge.saved ? "bytes" : "", edge.label);
}

static std::string marker(const char *name, const char *colour) {
  return std::string("<marker id=\"") + name +
         "\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\""
         " markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
         "<path d=\"M0 0 L8 4 L0 8 z\" style=\"fill:" +
         colour + ";stroke:none\"/></marker>";
}

std::string writeSvg(const Picture &picture) {
  std::string size = "width=\"" + number(picture.width) + "\" height=\"" +
                     number(picture.height) + "\" viewBox=\"0 0 " +
                     number(picture.width) + " " + number(picture.height) +
                     "\"";
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size +
                    ">\n<style>" + kStyle + "</style>\n<defs>" +
                    marker("flow", "#999") + marker("saved", "#c0392b") +
                    "</defs>\n<rect width=\"100%\" height=\"100%\""
                    " style=\"fill:#fff;stroke:none\"/>\n";
  out += textAt(24, 26, "title", picture.title);
  out +=
      textAt(24, 46, "legend",
             "forward: left, downwards; backward: right, upwards; red: saved "
             "for the backward; dashed: recomputed");
  for (bool saved : {false, true})
    for (const DrawEdge &edge : picture.edges)
      if (edge.saved == saved)
        out += edgeText(picture, edge);
  for (const DrawNode &node : picture.nodes)
    out += box(node);
  return out + "</svg>\n";
}

//===----------------------------------------------------------------------===//
// DOT
//===----------------------------------------------------------------------===//

static std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

static std::string dotBoxes(const Picture &picture, DrawNode::Column column) {
  std::string out;
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    const DrawNode &node = picture.nodes[i];
    if (node.column != column)
      continue;
    std::string label;
    for (const std::string &line : node.lines)
      label += (label.empty() ? "" : "\n") + line;
    out += "    n" + std::to_string(i) + " [label=" + quoted(label) +
           ", tooltip=" + quoted(node.tooltip);
    if (node.recomputed)
      out += ", style=dashed";
    if (node.focus)
      out += ", penwidth=3";
    out += "];\n";
  }
  return out;
}

std::string writeDot(const Picture &picture) {
  std::string out = "digraph cutback {\n  label=" + quoted(picture.title) +
                    ";\n  node [shape=box, fontname=monospace];\n";
  out += "  subgraph cluster_forward {\n    label=forward;\n" +
         dotBoxes(picture, DrawNode::Left) + "  }\n";
  out += "  subgraph cluster_backward {\n    label=backward;\n" +
         dotBoxes(picture, DrawNode::Right) + "  }\n";
  for (const DrawEdge &edge : picture.edges) {
    out += "  n" + std::to_string(edge.from) + " -> n" +
           std::to_string(edge.to) + " [tooltip=" + quoted(edge.tooltip);
    if (!edge.label.empty())
      out += ", label=" + quoted(edge.label);
    if (edge.saved)
      out += ", color=red, penwidth=2, constraint=false";
    out += "];\n";
  }
  return out + "}\n";
}

} // namespace cutback

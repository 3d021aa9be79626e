// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes pictures. SVG: boxes with text, lines with arrow heads, tooltips in
// <title> elements, colours in one style sheet at the start; viewers zoom and
// search. Numbers have one digit behind the point, so that bytes do not depend
// on the machine. DOT: the same boxes and edges for those who have Graphviz
// and want another layout.

#include "DrawingRoutes.h"

#include "cutback/Support/Text.h"

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
    ".kept{stroke-width:2;stroke:#c0392b}"
    ".focus{stroke-width:3;stroke:#222}"
    "path{fill:none;stroke:#999;stroke-width:1;stroke-linejoin:round}"
    "path.s{stroke:#c0392b;stroke-width:2}"
    ".label{font-size:11px;fill:#666;paint-order:stroke;stroke:#fff;"
    "stroke-width:4px;stroke-linejoin:round}"
    "text.bytes{fill:#c0392b;font-weight:bold}"
    ".band{stroke:none}.band.f{fill:#f6f9fe}.band.b{fill:#fef9f2}"
    ".head{font:bold 12px sans-serif;fill:#666}"
    ".k{fill:#fff;stroke:#b07a30;stroke-width:2}"
    ".cut{stroke:#c0392b;stroke-width:2;stroke-dasharray:9 6}"
    ".more{stroke-dasharray:2 3}.count{font:italic 11px sans-serif;fill:#777}";

static std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f", value);
  return buffer;
}

static std::string textAt(double x, double y, const std::string &cssClass,
                          const std::string &text) {
  std::string attribute = cssClass.empty() ? "" : " class=\"" + cssClass + "\"";
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\"" + attribute +
         ">" + escapeXml(text) + "</text>\n";
}

static std::string box(const DrawNode &node) {
  std::string kind = node.sink                        ? "k"
                     : node.argument                  ? "a"
                     : node.recomputed                ? "r"
                     : node.column == DrawNode::Right ? "b"
                                                      : "f";
  if (node.saved)
    kind += " kept";
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

/// A dotted line that leaves a box, and how many it stands for.
static std::string stub(double x, double y, double to,
                        const std::string &text) {
  return "<path class=\"more\" d=\"M" + number(x) + " " + number(y) + " L" +
         number(x) + " " + number(to) + "\"/>\n" +
         textAt(x + 4, (y + to) / 2 + 4, "count", text);
}

/// What is left out, where it would be: operands where edges come in, readers
/// where they go out.
static std::string stubs(const Picture &picture, const DrawNode &node) {
  bool down = picture.network || node.column == DrawNode::Left;
  double top = node.y, bottom = node.y + node.height;
  double x = node.x + node.width - 14;
  std::string out;
  if (node.hiddenOperands)
    out += stub(x, down ? top : bottom, down ? top - 16 : bottom + 16,
                "reads " + std::to_string(node.hiddenOperands) + " more");
  if (node.hiddenReaders)
    out += stub(x, down ? bottom : top, down ? bottom + 16 : top - 16,
                "read by " + std::to_string(node.hiddenReaders) + " more");
  return out;
}

/// The columns with their headings, and the cut between them.
static std::string bands(const Picture &picture) {
  std::string out;
  for (const DrawBand &band : picture.bands) {
    bool left = band.column == DrawNode::Left;
    out += std::string("<rect class=\"band ") + (left ? "f" : "b") + "\" x=\"" +
           number(band.x) + "\" y=\"58\" width=\"" + number(band.width) +
           "\" height=\"" + number(picture.height - 66) + "\" rx=\"8\"/>\n";
    const char *text = picture.network
                           ? (left ? "stays in the forward" : "in the backward")
                           : (left ? "forward" : "backward");
    out += textAt(band.x + 8, 76, "head", text);
  }
  if (!picture.network || picture.bands.size() != 2)
    return out;
  double x =
      (picture.bands[0].x + picture.bands[0].width + picture.bands[1].x) / 2;
  out += "<path class=\"cut\" d=\"M" + number(x) + " 84 L" + number(x) + " " +
         number(picture.height - 8) + "\"/>\n";
  return out + textAt(x - 38, 76, "head", "minimum cut");
}

using Route = std::vector<std::pair<double, double>>;

static std::string edgeText(const DrawEdge &edge, const Route &route) {
  std::string path;
  for (auto [x, y] : route)
    path += (path.empty() ? "M" : " L") + number(x) + " " + number(y);
  return "<g><title>" + escapeXml(edge.tooltip) + "</title><path" +
         (edge.saved ? " class=\"s\" marker-end=\"url(#saved)\""
                     : " marker-end=\"url(#flow)\"") +
         " d=\"" + path + "\"/></g>\n";
}

/// The label is where edges keep clear of boxes and of each other: behind the
/// box that computes the value, and before the reader where an edge crosses
/// from one column to the other.
static std::string labelText(const Picture &picture, const DrawEdge &edge,
                             const Route &route) {
  bool crosses =
      picture.nodes[edge.from].column != picture.nodes[edge.to].column;
  auto [x, y] =
      crosses && !picture.overview ? route[route.size() - 2] : route[1];
  return textAt(x + 4, y - 3, edge.saved ? "label bytes" : "label", edge.label);
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
  out += textAt(24, 46, "legend",
                picture.network
                    ? "both run downwards; red: saved, the minimum cut; "
                      "dashed: recomputed; thick: in the middle"
                    : "forward: left, downwards; backward: right, upwards; "
                      "red: saved for the backward; dashed: recomputed");
  out += bands(picture);
  std::vector<Route> routes = routeEdges(picture);
  for (bool saved : {false, true})
    for (size_t i = 0; i < picture.edges.size(); ++i)
      if (picture.edges[i].saved == saved)
        out += edgeText(picture.edges[i], routes[i]);
  for (const DrawNode &node : picture.nodes)
    out += box(node);
  for (const DrawNode &node : picture.nodes)
    out += stubs(picture, node);
  for (size_t i = 0; i < picture.edges.size(); ++i)
    if (!picture.edges[i].label.empty())
      out += labelText(picture, picture.edges[i], routes[i]);
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
    if (node.hiddenOperands)
      label += "\nreads " + std::to_string(node.hiddenOperands) + " more";
    if (node.hiddenReaders)
      label += "\nread by " + std::to_string(node.hiddenReaders) + " more";
    out += "    n" + std::to_string(i) + " [label=" + quoted(label) +
           ", tooltip=" + quoted(node.tooltip);
    if (node.recomputed)
      out += ", style=dashed";
    if (node.saved)
      out += ", color=red";
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

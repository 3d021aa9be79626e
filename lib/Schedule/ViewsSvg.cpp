// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A simulated schedule as a picture.
//
// A row of bars for each rank, time from left to right; a bar's colour is its
// kind, its number the micro-batch, where there is room, and its title says all
// of it. A stage of a rank after its first has a stripe at the bottom. Below
// the bars of a rank a line is its memory, from 0 to the largest peak of all,
// so that ranks compare. Colours are those of Okabe and Ito, as on the report's
// page. Numbers have one digit after the point, so that bytes do not depend on
// the machine.
//
// Linear. Bars narrower than a tenth of a unit are still drawn, without number.

#include "cutback/Schedule/Views.h"

#include "cutback/Support/Text.h"

#include <algorithm>
#include <cstdio>

namespace cutback::pipeline {

static constexpr double kLeft = 100, kTop = 64, kBar = 24, kGap = 8,
                        kCurve = 30;

static const char *const kStyle =
    "<style>text{font:11px sans-serif;fill:#1b1f24}"
    ".t{font-weight:bold;font-size:14px}.q{fill:#57606a}"
    ".F{fill:#56b4e9}.B{fill:#e69f00}.I{fill:#f0e442}.W{fill:#009e73}"
    ".n{text-anchor:middle;pointer-events:none}.s{fill:#1b1f24;opacity:.45}"
    ".m{fill:none;stroke:#0072b2;stroke-width:1.5}"
    ".a{stroke:#d5d9df;stroke-width:1}</style>\n";

static std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f", value);
  return buffer;
}

namespace {
class SvgWriter {
public:
  explicit SvgWriter(const ScheduleView &view)
      : view(view), hasMemory(view.simulation.peakBytes() > 0) {
    const Simulation &simulation = view.simulation;
    // An action of usual length has room for its number.
    size_t actions = 1;
    for (const RankResult &rank : simulation.ranks)
      actions = std::max(actions, rank.actions.size());
    width = std::clamp(24.0 * static_cast<double>(actions), 600.0, 12000.0);
    scale = simulation.makespan > 0
                ? width / static_cast<double>(simulation.makespan)
                : 0;
    height = kBar + kGap + (hasMemory ? kCurve : 0);
  }

  std::string write(bool isPart) {
    double fullWidth = kLeft + width + 40;
    double fullHeight = kTop + height * view.schedule.ranks + 26;
    double above = isPart ? kTop - 24 : 0; // a page has a title of its own
    std::string high = number(fullHeight - above);
    text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
           number(fullWidth) + "\" height=\"" + high + "\" viewBox=\"0 " +
           number(above) + " " + number(fullWidth) + " " + high +
           "\" role=\"img\" class=\"schedule\">\n<title>" +
           escapeXml(titleOf(view.schedule)) + "</title>\n";
    if (!isPart) {
      text += kStyle;
      line(kLeft, 20, "t", titleOf(view.schedule));
      line(kLeft, 36, "q", summaryOf(view));
    }
    addLegend();
    for (int rank = 0; rank < view.schedule.ranks; ++rank)
      addRank(rank);
    addAxis(fullHeight - 10);
    return text + "</svg>\n";
  }

private:
  double x(int64_t time) const {
    return kLeft + static_cast<double>(time) * scale;
  }

  void line(double left, double bottom, const char *style,
            const std::string &words) {
    text += "<text x=\"" + number(left) + "\" y=\"" + number(bottom) +
            "\" class=\"" + style + "\">" + escapeXml(words) + "</text>\n";
  }

  void box(double left, double top, double wide, double high,
           std::string_view style) {
    text += "<rect x=\"" + number(left) + "\" y=\"" + number(top) +
            "\" width=\"" + number(wide) + "\" height=\"" + number(high) +
            "\" class=\"" + std::string(style) + "\"/>";
  }

  void addLegend() {
    const std::pair<const char *, const char *> kinds[] = {
        {"F", "forward"},
        {"B", "backward"},
        {"I", "input gradients"},
        {"W", "weight gradients"}};
    double left = kLeft;
    for (auto [kind, words] : kinds) {
      box(left, 46, 10, 10, kind);
      line(left + 14, 55, "q", std::string(kind) + " " + words);
      left += 130;
    }
  }

  void addRank(int number) {
    const RankResult &rank = view.simulation.ranks[number];
    double top = kTop + height * number;
    line(8, top + kBar - 8, "q", "rank " + std::to_string(number));
    std::vector<int> stages = view.schedule.stagesOf(number);
    for (const Placed &placed : rank.actions)
      addBar(placed, top, !stages.empty() && placed.action.stage != stages[0]);
    if (hasMemory)
      addCurve(rank, top + kBar + 2);
  }

  void addBar(const Placed &placed, double top, bool isLater) {
    double left = x(placed.start), wide = x(placed.end) - left;
    text += "<g><title>" + format(placed.action) + ", " +
            formatPicoseconds(static_cast<double>(placed.start)) + " to " +
            formatPicoseconds(static_cast<double>(placed.end)) + "</title>";
    box(left, top, std::max(0.1, wide - 0.6), kBar,
        spelling(placed.action.kind));
    if (isLater)
      box(left, top + kBar - 3, std::max(0.1, wide - 0.6), 3, "s");
    std::string label = std::to_string(placed.action.microBatch);
    if (wide >= 7.0 * static_cast<double>(label.size()) + 2)
      text += "<text x=\"" + number(left + wide / 2) + "\" y=\"" +
              number(top + kBar / 2 + 4) + "\" class=\"n\">" + label +
              "</text>";
    text += "</g>\n";
  }

  void addCurve(const RankResult &rank, double top) {
    double most = static_cast<double>(view.simulation.peakBytes());
    auto y = [&](int64_t bytes) {
      return top + (kCurve - 6) * (1 - static_cast<double>(bytes) / most);
    };
    std::string path;
    for (const MemoryPoint &point : rank.memory)
      path += path.empty()
                  ? "M" + number(x(point.time)) + " " + number(y(point.bytes))
                  : "H" + number(x(point.time)) + "V" + number(y(point.bytes));
    text += "<g><title>at most " + formatBytes(rank.peakBytes) +
            "</title><path class=\"m\" d=\"" + path + "H" +
            number(x(view.simulation.makespan)) + "\"/></g>\n";
    line(8, top + kCurve - 12, "q", formatBytes(rank.peakBytes));
  }

  void addAxis(double bottom) {
    for (int i = 0; i <= 4; ++i) {
      int64_t time = view.simulation.makespan / 4 * i;
      double left = x(time);
      text += "<path class=\"a\" d=\"M" + number(left) + " " +
              number(kTop - 4) + "V" + number(bottom - 12) + "\"/>\n";
      text += "<text x=\"" + number(left) + "\" y=\"" + number(bottom) +
              "\" class=\"q n\">" +
              formatPicoseconds(static_cast<double>(time)) + "</text>\n";
    }
  }

  const ScheduleView &view;
  bool hasMemory;
  double width, scale, height;
  std::string text;
};
} // namespace

std::string writeScheduleSvg(const ScheduleView &view, bool isPart) {
  return SvgWriter(view).write(isPart);
}

} // namespace cutback::pipeline

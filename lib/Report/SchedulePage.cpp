// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page of a schedule: PageAssets/schedule.html with the figures put in, in
// the style of the report.
//
// All of it is plain HTML and SVG: what a bar is is said in its title, which
// browsers show. So the page's own policy forbids scripts, and allows its style
// by hash.

#include "cutback/Report/SchedulePage.h"

#include "PageWriter.h"

#include "cutback/Support/Text.h"

namespace cutback {

using namespace pipeline;

static const char kTemplate[] =
#include "schedule.html.inc"
    ;
static const char kStyle[] =
#include "schedule.css.inc"
    ;

static std::string figure(const char *title, const std::string &value,
                          const std::string &note) {
  return std::string("<div class=\"figure\"><span class=\"figure-title\">") +
         title + "</span><strong>" + escapeHtml(value) +
         "</strong><span class=\"figure-note\">" + escapeHtml(note) +
         "</span></div>\n";
}

static std::string figures(const ScheduleView &view) {
  const Simulation &simulation = view.simulation;
  auto time = [](int64_t picoseconds) {
    return formatPicoseconds(static_cast<double>(picoseconds));
  };
  double share = simulation.makespan == 0
                     ? 0
                     : 100.0 * static_cast<double>(simulation.largestBubble()) /
                           static_cast<double>(simulation.makespan);
  std::string text = figure("makespan", time(simulation.makespan),
                            "at least " + time(view.bound.makespan));
  text += figure("largest bubble", time(simulation.largestBubble()),
                 formatFixed(share, 1) + " % of the makespan");
  text += figure("in flight", formatFixed(simulation.inFlightOfRank(), 1),
                 "micro-batches on the rank with most");
  if (simulation.peakBytes() > 0)
    text += figure("peak", formatBytes(simulation.peakBytes()),
                   "of the rank with most");
  return text;
}

static std::string rows(const ScheduleView &view) {
  std::string text;
  for (int i = 0; i < view.schedule.ranks; ++i) {
    const RankResult &rank = view.simulation.ranks[i];
    std::string stages;
    for (int stage : view.schedule.stagesOf(i))
      stages += (stages.empty() ? "" : ", ") + std::to_string(stage);
    text += "<tr><th scope=\"row\">" + std::to_string(i) + "</th>";
    for (const std::string &cell :
         {stages, formatPicoseconds(static_cast<double>(rank.busy)),
          formatPicoseconds(static_cast<double>(rank.bubble)),
          formatFixed(rank.inFlightOfRank(), 1), formatBytes(rank.slotBytes),
          formatBytes(rank.arenaBytes), formatBytes(rank.keptBytes),
          formatBytes(rank.peakBytes)})
      text += "<td>" + escapeHtml(cell) + "</td>";
    text += "</tr>\n";
  }
  return text;
}

std::string writeSchedulePage(const ScheduleView &view) {
  return fillTemplate(
      kTemplate,
      {{"title", escapeHtml(titleOf(view.schedule))},
       {"style-hash", policyHash(kStyle)},
       {"style", kStyle},
       {"headline", escapeHtml(summaryOf(view))},
       {"subtitle",
        escapeHtml("No order ends before " +
                   formatPicoseconds(static_cast<double>(view.bound.makespan)) +
                   ": " + view.bound.reason + ".")},
       {"figures", figures(view)},
       {"picture", writeScheduleSvg(view, /*isPart=*/true)},
       {"rows", rows(view)}});
}

} // namespace cutback

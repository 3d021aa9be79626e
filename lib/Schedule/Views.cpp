// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A simulated schedule as text, as JSON and as a trace.
//
// The text has one row a rank. Where all times are multiples of one unit and a
// row has room, a cell says kind and micro-batch of each action; else a column
// is a part of the time, with a letter for what the rank does most of it. The
// kinds of a rank's first stage are capital letters, those of later ones small.
//
// Linear; JSON and traces have a line for each action.

#include "cutback/Schedule/Views.h"

#include "cutback/Support/Json.h"
#include "cutback/Support/Text.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace cutback::pipeline {

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

std::string titleOf(const Schedule &schedule) {
  std::string title =
      schedule.name + ": " + formatCount(schedule.ranks, "rank") + ", " +
      formatCount(schedule.stages, "stage") + ", " +
      formatCount(schedule.microBatches, "micro-batch", "micro-batches");
  return schedule.hasBackward() ? title : title + ", forward only";
}

/// That of all stages, or 0 where they differ.
static int64_t equalForward(const Costs &costs) {
  int64_t forward = costs.stages.empty() ? 0 : costs.stages[0].forward;
  for (const StageCosts &stage : costs.stages)
    if (stage.forward != forward)
      return 0;
  return forward;
}

/// A number with at most two digits after the point.
static std::string plainNumber(double value) {
  std::string text = formatFixed(value, 2);
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text;
}

std::string summaryOf(const ScheduleView &view) {
  auto makespan = static_cast<double>(view.simulation.makespan);
  auto bubble = static_cast<double>(view.simulation.largestBubble());
  std::string text = "makespan " + formatPicoseconds(makespan) +
                     ", largest bubble " + formatPicoseconds(bubble);
  if (makespan > 0) {
    text += " (" + formatFixed(100 * bubble / makespan, 1) + " %";
    if (int64_t unit = equalForward(view.costs)) {
      double forwards = bubble / static_cast<double>(unit);
      text += ", " + plainNumber(forwards) +
              (forwards == 1 ? " forward" : " forwards") + " of a stage";
    }
    text += ")";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static constexpr int kColumns = 68; ///< what a row has for time

namespace {
/// The letters of a rank's actions.
struct Letters {
  int firstStage;
  explicit Letters(const std::vector<int> &stages)
      : firstStage(stages.empty() ? 0 : stages.front()) {}
  char of(const Action &action) const {
    char letter = spelling(action.kind)[0];
    return static_cast<char>(action.stage == firstStage ? letter
                                                        : std::tolower(letter));
  }
};
} // namespace

/// The largest time that all times are multiples of.
static int64_t commonUnit(const Simulation &simulation) {
  int64_t unit = simulation.makespan;
  for (const RankResult &rank : simulation.ranks)
    for (const Placed &placed : rank.actions)
      unit = std::gcd(unit, std::gcd(placed.start, placed.end));
  return unit;
}

/// A cell for each unit of time: "F3", dashes while it goes on, dots for none.
static std::string labelledRow(const RankResult &rank, const Letters &letters,
                               int64_t unit, int64_t units, size_t width) {
  std::string row;
  for (int64_t i = 0; i < units; ++i)
    row += "." + std::string(width - 1, ' ');
  for (const Placed &placed : rank.actions) {
    if (placed.start == placed.end)
      continue;
    size_t first = placed.start / unit * width,
           last = placed.end / unit * width;
    std::string label =
        letters.of(placed.action) + std::to_string(placed.action.microBatch);
    row.replace(first, last - first - 1,
                label + std::string(last - first - 1 - label.size(), '-'));
  }
  return row;
}

/// A letter for each column, of what takes most of its time.
static std::string scaledRow(const RankResult &rank, const Letters &letters,
                             int64_t makespan, int64_t columns) {
  std::string row;
  size_t next = 0;
  double width = static_cast<double>(makespan) / static_cast<double>(columns);
  for (int64_t i = 0; i < columns; ++i) {
    double begin = width * static_cast<double>(i), end = begin + width;
    while (next < rank.actions.size() &&
           static_cast<double>(rank.actions[next].end) <= begin)
      ++next;
    double most = 0, used = 0;
    char letter = '.';
    for (size_t j = next; j < rank.actions.size() &&
                          static_cast<double>(rank.actions[j].start) < end;
         ++j) {
      const Placed &placed = rank.actions[j];
      double share = std::min(end, static_cast<double>(placed.end)) -
                     std::max(begin, static_cast<double>(placed.start));
      used += share;
      if (share > most) {
        most = share;
        letter = letters.of(placed.action);
      }
    }
    row += width - used > most ? '.' : letter;
  }
  return row;
}

static std::string formatRows(const ScheduleView &view) {
  const Simulation &simulation = view.simulation;
  int64_t unit = commonUnit(simulation);
  int64_t units = unit > 0 ? simulation.makespan / unit : 0;
  size_t width =
      2 + std::to_string(std::max(0, view.schedule.microBatches - 1)).size();
  bool isLabelled =
      units > 0 && units * static_cast<int64_t>(width) <= kColumns;
  int64_t columns = std::min<int64_t>(units, kColumns);
  std::string text;
  size_t digits = std::to_string(view.schedule.ranks - 1).size();
  for (int rank = 0; rank < view.schedule.ranks; ++rank) {
    std::string number = std::to_string(rank);
    std::string row =
        "  rank " + std::string(digits - number.size(), ' ') + number + "  ";
    Letters letters(view.schedule.stagesOf(rank));
    const RankResult &result = simulation.ranks[rank];
    row += isLabelled
               ? labelledRow(result, letters, unit, units, width)
               : scaledRow(result, letters, simulation.makespan, columns);
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text + "  a column is " +
         formatPicoseconds(isLabelled || columns == 0
                               ? static_cast<double>(unit)
                               : static_cast<double>(simulation.makespan) /
                                     static_cast<double>(columns)) +
         "; F, I, W, B of a rank's first stage are capital letters\n";
}

static bool hasBytes(const Simulation &simulation) {
  return simulation.peakBytes() > 0;
}

static std::string stageList(const std::vector<int> &stages) {
  std::string text;
  for (int stage : stages)
    text += (text.empty() ? "" : ",") + std::to_string(stage);
  return text;
}

static std::string formatRanks(const ScheduleView &view) {
  bool bytes = hasBytes(view.simulation);
  using Align = TextTable::Align;
  TextTable table(std::vector<Align>(bytes ? 9 : 5, Align::Right));
  std::vector<std::string> head{"rank", "stages", "busy", "bubble",
                                "in flight"};
  if (bytes)
    head.insert(head.end(), {"slots", "arena", "kept", "peak"});
  table.add(head);
  for (int i = 0; i < view.schedule.ranks; ++i) {
    const RankResult &rank = view.simulation.ranks[i];
    std::vector<std::string> cells{
        std::to_string(i), stageList(view.schedule.stagesOf(i)),
        formatPicoseconds(static_cast<double>(rank.busy)),
        formatPicoseconds(static_cast<double>(rank.bubble)),
        plainNumber(rank.inFlightOfRank())};
    if (bytes)
      for (int64_t count :
           {rank.slotBytes, rank.arenaBytes, rank.keptBytes, rank.peakBytes})
        cells.push_back(formatBytes(count));
    table.add(cells);
  }
  return table.str();
}

std::string formatTimeline(const ScheduleView &view) {
  std::string text =
      titleOf(view.schedule) + "\n" + wrapText("", summaryOf(view), 0);
  text +=
      wrapText("",
               "no order ends before " +
                   formatPicoseconds(static_cast<double>(view.bound.makespan)) +
                   ": " + view.bound.reason,
               0);
  if (!view.schedule.addsInOrder())
    text += "gradients are not added in the order of micro-batches\n";
  return text + "\n" + formatRows(view) + "\n" + formatRanks(view);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static std::string rankJson(const ScheduleView &view, int number) {
  const RankResult &rank = view.simulation.ranks[number];
  std::string text = "{\"rank\":" + std::to_string(number) + ",\"stages\":[" +
                     stageList(view.schedule.stagesOf(number)) + "]";
  auto add = [&](const char *key, int64_t value) {
    text += std::string(",\"") + key + "\":" + std::to_string(value);
  };
  add("busy", rank.busy);
  add("bubble", rank.bubble);
  add("peak_bytes", rank.peakBytes);
  add("slot_bytes", rank.slotBytes);
  add("arena_bytes", rank.arenaBytes);
  add("kept_bytes", rank.keptBytes);
  text +=
      ",\"in_flight\":" + plainNumber(rank.inFlightOfRank()) + ",\"actions\":[";
  const char *separator = "\n    ";
  for (const Placed &placed : rank.actions) {
    text += separator + ("[" + quoteJson(format(placed.action))) + "," +
            std::to_string(placed.start) + "," + std::to_string(placed.end) +
            "]";
    separator = ",\n    ";
  }
  return text + "]}";
}

std::string writeScheduleJson(const ScheduleView &view) {
  std::string text =
      "{\"schema\":1,\"schedule\":" + quoteJson(view.schedule.name);
  auto add = [&](const char *key, int64_t value) {
    text += std::string(",\n \"") + key + "\":" + std::to_string(value);
  };
  add("stages", view.schedule.stages);
  add("micro_batches", view.schedule.microBatches);
  add("makespan", view.simulation.makespan);
  add("bubble", view.simulation.largestBubble());
  if (int64_t unit = equalForward(view.costs))
    text += ",\n \"bubble_in_forwards\":" +
            plainNumber(static_cast<double>(view.simulation.largestBubble()) /
                        static_cast<double>(unit));
  add("bound", view.bound.makespan);
  text += ",\n \"bound_reason\":" + quoteJson(view.bound.reason);
  text += std::string(",\n \"adds_in_order\":") +
          (view.schedule.addsInOrder() ? "true" : "false");
  add("peak_bytes", view.simulation.peakBytes());
  text += ",\n \"in_flight\":" + plainNumber(view.simulation.inFlightOfRank()) +
          ",\n \"ranks\":[";
  for (int rank = 0; rank < view.schedule.ranks; ++rank)
    text += (rank == 0 ? "\n  " : ",\n  ") + rankJson(view, rank);
  return text + "\n]}\n";
}

//===----------------------------------------------------------------------===//
// Trace
//===----------------------------------------------------------------------===//

/// Microseconds, as the format wants them.
static std::string microseconds(int64_t picoseconds) {
  std::string digits = std::to_string(picoseconds % 1000000);
  return std::to_string(picoseconds / 1000000) + "." +
         std::string(6 - digits.size(), '0') + digits;
}

std::string writeScheduleTrace(const ScheduleView &view) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
                     "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,"
                     "\"args\":{\"name\":" +
                     quoteJson(titleOf(view.schedule)) + "}}";
  for (int i = 0; i < view.schedule.ranks; ++i) {
    std::string track = "\"pid\":0,\"tid\":" + std::to_string(i);
    std::string name = "rank " + std::to_string(i);
    text += ",\n{\"name\":\"thread_name\",\"ph\":\"M\"," + track +
            ",\"args\":{\"name\":\"" + name + "\"}}";
    const RankResult &rank = view.simulation.ranks[i];
    for (const Placed &placed : rank.actions)
      text += ",\n{\"name\":" + quoteJson("PP:" + format(placed.action)) +
              ",\"cat\":\"" + std::string(spelling(placed.action.kind)) +
              "\",\"ph\":\"X\"," + track +
              ",\"ts\":" + microseconds(placed.start) +
              ",\"dur\":" + microseconds(placed.end - placed.start) + "}";
    if (!hasBytes(view.simulation))
      continue;
    for (const MemoryPoint &point : rank.memory)
      text += ",\n{\"name\":\"" + name + " memory\",\"ph\":\"C\"," + track +
              ",\"ts\":" + microseconds(point.time) +
              ",\"args\":{\"bytes\":" + std::to_string(point.bytes) + "}}";
  }
  return text + "\n]}\n";
}

} // namespace cutback::pipeline

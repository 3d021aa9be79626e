// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes lists of actions as PyTorch's CSV files.
//
// A cell is a number, a word and, for a word that has one, a number, and
// nothing else: PyTorch's own reader takes 2F0x for 2F0. Overlaps hold several,
// but no overlap. Cells may be in quotes, lines may end as on Windows. Numbers
// have six digits at most, so that tables by number stay small whatever the
// file holds.
//
// Linear.

#include "cutback/Schedule/Csv.h"

#include "cutback/Support/Text.h"

#include <algorithm>

namespace cutback::pipeline {

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

static std::string_view trim(std::string_view text) {
  constexpr std::string_view spaces = " \t\r";
  size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

/// A word of a message: what a file holds may be long, or no text at all.
static std::string quote(std::string_view text) {
  std::string shown;
  for (char c : text.substr(0, 40))
    shown += c >= ' ' && c <= '~' ? c : '?';
  return "'" + shown + (text.size() > 40 ? "..." : "") + "'";
}

static constexpr size_t kMostDigits = 6;

/// Takes a number off the front of `rest`, the end of `cell`. Nothing, with
/// `message` set, if there is none, which is `missing`, or a larger one.
static std::optional<int> takeNumber(std::string_view &rest,
                                     std::string_view cell, const char *missing,
                                     std::string &message) {
  size_t digits = 0;
  int value = 0;
  for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9';
       ++digits) {
    if (digits == kMostDigits) {
      message = quote(cell) + " has a number of more than six digits";
      return std::nullopt;
    }
    value = value * 10 + (rest[digits] - '0');
  }
  rest.remove_prefix(digits);
  if (digits > 0)
    return value;
  message = quote(cell) + missing;
  return std::nullopt;
}

/// Takes a word off the front.
static std::string_view takeWord(std::string_view &text) {
  size_t size = 0;
  while (size < text.size() &&
         ((text[size] >= 'A' && text[size] <= 'Z') || text[size] == '_'))
    ++size;
  std::string_view word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

/// The stage at the other end: the neighbour, or the one that is named.
static std::optional<int> takePeer(std::string_view &rest,
                                   std::string_view cell, const Action &action,
                                   std::string &message) {
  bool isSent = isSend(action.kind);
  if (rest.empty() || rest[0] != (isSent ? '>' : '<'))
    return neighbourOf(action);
  rest.remove_prefix(1);
  return takeNumber(rest, cell, " names no stage at its other end", message);
}

static std::optional<Action> parseSingle(std::string_view cell,
                                         std::string &message) {
  std::string_view rest = cell;
  Action action;
  auto stage = takeNumber(
      rest, cell, " does not begin with the number of a stage", message);
  if (!stage)
    return std::nullopt;
  action.stage = *stage;
  auto kind = findActionKind(takeWord(rest));
  if (!kind || *kind == ActionKind::Overlap) {
    message = quote(cell) + " has no kind of action after its stage";
    return std::nullopt;
  }
  action.kind = *kind;
  if (isOfMicroBatch(action.kind)) {
    auto batch = takeNumber(
        rest, cell, " has no number of a micro-batch at its end", message);
    if (!batch)
      return std::nullopt;
    action.microBatch = *batch;
  }
  if (isSend(action.kind) || isRecv(action.kind)) {
    auto peer = takePeer(rest, cell, action, message);
    if (!peer)
      return std::nullopt;
    action.peer = *peer;
  }
  if (rest.empty())
    return action;
  message = quote(cell) + " goes on after its end: " + quote(rest);
  return std::nullopt;
}

static std::optional<Action> parseOverlap(std::string_view text,
                                          std::string &message) {
  size_t end = text.find(')');
  if (end == std::string_view::npos ||
      trim(text.substr(end + 1)) != spelling(ActionKind::Overlap)) {
    message = quote(text) + " does not end with )OVERLAP_F_B";
    return std::nullopt;
  }
  Action action;
  action.kind = ActionKind::Overlap;
  std::string_view parts = text.substr(1, end - 1);
  while (true) {
    size_t size = parts.find(';');
    auto part = parseSingle(trim(parts.substr(0, size)), message);
    if (!part)
      return std::nullopt;
    action.parts.push_back(*part);
    if (size == std::string_view::npos)
      return action;
    parts.remove_prefix(size + 1);
  }
}

std::optional<Action> parseAction(std::string_view text, std::string &message) {
  return !text.empty() && text[0] == '(' ? parseOverlap(text, message)
                                         : parseSingle(text, message);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static constexpr const char *kNotation =
    "a cell is a stage, F, B, I, W, SEND_F, RECV_F, SEND_B, RECV_B, UNSHARD, "
    "RESHARD or REDUCE_GRAD, and a micro-batch (2F0, 3SEND_F1, 1REDUCE_GRAD), "
    "(0F3;3B1)OVERLAP_F_B, or nothing";

/// One line of a file.
static std::optional<Row>
readRow(std::string_view line, const std::string &place, ScheduleError &error) {
  Row row;
  for (size_t cell = 1; !line.empty(); ++cell) {
    size_t size = std::min(line.find(','), line.size());
    std::string_view text = trim(line.substr(0, size));
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
      text = trim(text.substr(1, text.size() - 2));
    row.emplace_back();
    std::string message;
    if (!text.empty() && !(row.back() = parseAction(text, message))) {
      error = {place + ", cell " + std::to_string(cell) + ": " + message,
               kNotation};
      return std::nullopt;
    }
    // A comma at the end begins a cell as any other.
    if (size + 1 == line.size())
      row.emplace_back();
    line.remove_prefix(std::min(size + 1, line.size()));
  }
  return row;
}

/// Counts stages and micro-batches, and finds the ranks of stages.
static void count(Schedule &schedule) {
  auto forEach = [&](auto &&run) {
    for (size_t rank = 0; rank < schedule.rows.size(); ++rank)
      for (const auto &action : schedule.rows[rank])
        if (action)
          forEachPart(*action, [&](const Action &part) {
            run(static_cast<int>(rank), part);
          });
  };
  forEach([&](int, const Action &part) {
    schedule.stages = std::max(schedule.stages, part.stage + 1);
    schedule.microBatches =
        std::max(schedule.microBatches, part.microBatch + 1);
  });
  schedule.rankOfStage.assign(schedule.stages, -1);
  forEach([&](int rank, const Action &part) {
    int &known = schedule.rankOfStage[part.stage];
    if (known < 0 && isCompute(part.kind))
      known = rank;
  });
}

std::optional<Schedule> readCsv(std::string_view text, const std::string &file,
                                ScheduleError &error) {
  Schedule schedule;
  schedule.name = file;
  text = withoutByteOrderMark(text);
  for (size_t line = 1; !text.empty(); ++line) {
    size_t size = std::min(text.find('\n'), text.size());
    auto row = readRow(trim(text.substr(0, size)),
                       file + ", line " + std::to_string(line), error);
    if (!row)
      return std::nullopt;
    schedule.rows.push_back(std::move(*row));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  if (schedule.rows.empty()) {
    error = {file + " has no line: a schedule has one for each rank",
             kNotation};
    return std::nullopt;
  }
  schedule.ranks = static_cast<int>(schedule.rows.size());
  count(schedule);
  return schedule;
}

std::string writeCsv(const Schedule &schedule) {
  std::string text;
  for (const Row &row : schedule.rows) {
    for (size_t step = 0; step < row.size(); ++step) {
      if (step > 0)
        text += ',';
      if (row[step])
        text += format(*row[step]);
    }
    text += '\n';
  }
  return text;
}

} // namespace cutback::pipeline

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of a schedule, and its grid for messages.
//
// Actions are written as PyTorch 2.13 writes them (`2F0`, `3SEND_F1`,
// `(0F3;3B1)OVERLAP_F_B`), so that lists can be exchanged. It has no word for a
// send to a stage that is no neighbour; such an action names the other stage.
//
// A grid shows a window of steps around the marked one: the lists of a large
// pipeline have thousands, and a message has to be read. Linear in what is
// shown.

#include "cutback/Schedule/Schedule.h"

#include "cutback/Support/Text.h"

#include <algorithm>
#include <iterator>

namespace cutback::pipeline {

static constexpr std::string_view kSpellings[] = {
    "F",      "B",      "I",       "W",       "SEND_F",      "RECV_F",
    "SEND_B", "RECV_B", "UNSHARD", "RESHARD", "REDUCE_GRAD", "OVERLAP_F_B"};
static_assert(std::size(kSpellings) == kActionKinds);

std::string_view spelling(ActionKind kind) {
  return kSpellings[static_cast<unsigned>(kind)];
}

std::optional<ActionKind> findActionKind(std::string_view spelling) {
  for (unsigned i = 0; i < kActionKinds; ++i)
    if (kSpellings[i] == spelling)
      return static_cast<ActionKind>(i);
  return std::nullopt;
}

bool Action::operator==(const Action &other) const {
  return stage == other.stage && kind == other.kind &&
         microBatch == other.microBatch && peer == other.peer &&
         parts == other.parts;
}

Action makeAction(int stage, ActionKind kind, int microBatch) {
  Action action;
  action.stage = stage;
  action.kind = kind;
  action.microBatch = microBatch;
  return action;
}

int neighbourOf(const Action &action) {
  bool isToLater = action.kind == ActionKind::SendForward ||
                   action.kind == ActionKind::RecvBackward;
  return action.stage + (isToLater ? 1 : -1);
}

std::string format(const Action &action) {
  std::string text;
  if (action.kind == ActionKind::Overlap) {
    for (const Action &part : action.parts)
      text += (text.empty() ? "(" : ";") + format(part);
    return (text.empty() ? "(" : text) + ")" +
           std::string(spelling(action.kind));
  }
  text = std::to_string(action.stage) + std::string(spelling(action.kind));
  if (isOfMicroBatch(action.kind))
    text += std::to_string(action.microBatch);
  bool hasPeer = isSend(action.kind) || isRecv(action.kind);
  if (hasPeer && action.peer != neighbourOf(action))
    text += (isSend(action.kind) ? ">" : "<") + std::to_string(action.peer);
  return text;
}

std::vector<int> Schedule::stagesOf(int rank) const {
  std::vector<int> found;
  for (size_t stage = 0; stage < rankOfStage.size(); ++stage)
    if (rankOfStage[stage] == rank)
      found.push_back(static_cast<int>(stage));
  return found;
}

bool Schedule::hasBackward() const {
  for (const Row &row : rows)
    for (const auto &action : row) {
      bool found = false;
      if (action)
        forEachPart(*action, [&](const Action &part) {
          found |= part.kind != ActionKind::Forward && isCompute(part.kind);
        });
      if (found)
        return true;
    }
  return false;
}

bool Schedule::addsInOrder() const {
  std::vector<int> last(stages, -1);
  bool isInOrder = true;
  for (const Row &row : rows)
    for (const auto &action : row)
      if (action)
        forEachPart(*action, [&](const Action &part) {
          if (!makesWeightGradients(part.kind))
            return;
          isInOrder &= part.microBatch > last[part.stage];
          last[part.stage] = part.microBatch;
        });
  return isInOrder;
}

//===----------------------------------------------------------------------===//
// Grid
//===----------------------------------------------------------------------===//

static constexpr int kShownSteps = 12;
static constexpr int kShownRanks = 16;

namespace {
/// The part of a range of `count` that shows `mark`, at most `most` long.
struct Window {
  int first, last;
  Window(int count, int mark, int most)
      : first(std::clamp(mark - most / 2, 0, std::max(0, count - most))),
        last(std::min(count, first + most)) {}
};
} // namespace

static std::string formatCell(const Row &row, int step, bool isMarked) {
  std::string text = ".";
  if (step < static_cast<int>(row.size()) && row[step])
    text = format(*row[step]);
  return isMarked ? ">" + text + "<" : text;
}

std::string formatGrid(const Schedule &schedule, int rank, int step) {
  size_t longest = 0;
  for (const Row &row : schedule.rows)
    longest = std::max(longest, row.size());
  // A mark after the end of a list is where something is missing.
  int steps = std::max(static_cast<int>(longest), step + 1);
  Window shown(steps, step, kShownSteps);
  Window ranks(static_cast<int>(schedule.rows.size()), rank, kShownRanks);
  TextTable table(std::vector<TextTable::Align>(shown.last - shown.first + 1,
                                                TextTable::Left));
  std::vector<std::string> head{"step"};
  for (int i = shown.first; i < shown.last; ++i)
    head.push_back(std::to_string(i));
  table.add(head);
  for (int r = ranks.first; r < ranks.last; ++r) {
    std::vector<std::string> cells{"rank " + std::to_string(r)};
    for (int i = shown.first; i < shown.last; ++i)
      cells.push_back(formatCell(schedule.rows[r], i, r == rank && i == step));
    table.add(cells);
  }
  return table.str();
}

} // namespace cutback::pipeline

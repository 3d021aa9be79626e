// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ranks of a pipeline do, in which order.
#ifndef CUTBACK_SCHEDULE_SCHEDULE_H
#define CUTBACK_SCHEDULE_SCHEDULE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cutback::pipeline {

/// Why there is no schedule, or what is wrong with one.
struct ScheduleError {
  std::string message; ///< lower case, without a full stop
  std::string note;    ///< the next step; may be of several lines, with a grid
};

enum class ActionKind : uint8_t {
  Forward,         ///< F
  Backward,        ///< B: gradients of inputs and of weights
  InputGradients,  ///< I
  WeightGradients, ///< W
  SendForward,     ///< SEND_F: values, to the stage `peer`
  RecvForward,     ///< RECV_F: values, of the stage `peer`
  SendBackward,    ///< SEND_B: gradients of values, to the stage `peer`
  RecvBackward,    ///< RECV_B: gradients of values, of the stage `peer`
  Unshard,         ///< UNSHARD: the parameters of a stage are gathered
  Reshard,         ///< RESHARD: and let go
  ReduceGradients, ///< REDUCE_GRAD: over the replicas of a stage, once a step
  Overlap,         ///< OVERLAP_F_B: `parts`, which may run at one time
};
inline constexpr unsigned kActionKinds = 12;

/// "F", "SEND_F": as PyTorch writes it.
std::string_view spelling(ActionKind kind);
/// The kind of `spelling`, of the case given there; nothing for another word.
std::optional<ActionKind> findActionKind(std::string_view spelling);

/// F, B, I, W, or several of them.
constexpr bool isCompute(ActionKind kind) {
  return kind <= ActionKind::WeightGradients || kind == ActionKind::Overlap;
}
constexpr bool isSend(ActionKind kind) {
  return kind == ActionKind::SendForward || kind == ActionKind::SendBackward;
}
constexpr bool isRecv(ActionKind kind) {
  return kind == ActionKind::RecvForward || kind == ActionKind::RecvBackward;
}
/// B or I: makes the gradients that earlier stages wait for.
constexpr bool makesInputGradients(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::InputGradients;
}
/// B or W: ends the work on a micro-batch of a stage.
constexpr bool makesWeightGradients(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::WeightGradients;
}
/// Whether an action of this kind is about one micro-batch.
constexpr bool isOfMicroBatch(ActionKind kind) {
  return kind <= ActionKind::RecvBackward;
}

struct Action {
  int32_t stage = -1; ///< that acts, sends or receives; -1 of an overlap
  ActionKind kind = ActionKind::Forward;
  int32_t microBatch = -1;   ///< -1 where `isOfMicroBatch` is false
  int32_t peer = -1;         ///< of sends and receives: the other stage
  std::vector<Action> parts; ///< of an overlap: two or more compute actions

  bool operator==(const Action &other) const;
  bool operator!=(const Action &other) const { return !(*this == other); }
};

Action makeAction(int stage, ActionKind kind, int microBatch = -1);

/// The stage that a send or a receive has at its other end unless it says so.
int neighbourOf(const Action &action);

/// In PyTorch's notation: "2F0", "3SEND_F1", "1REDUCE_GRAD",
/// "(0F3;3B1)OVERLAP_F_B". A send or a receive between stages that are no
/// neighbours names the other one, which that notation has no word for:
/// "0SEND_F1>3", "3RECV_F1<0".
std::string format(const Action &action);

/// `action`, or the parts of an overlap in their order.
template <typename Function>
void forEachPart(const Action &action, Function &&run) {
  if (action.kind != ActionKind::Overlap)
    return run(action);
  for (const Action &part : action.parts)
    run(part);
}

/// Larger schedules are refused: some work is stages times ranks.
inline constexpr int kMostStages = 1 << 14;

/// What a rank does, step by step.
using Row = std::vector<std::optional<Action>>;

struct Schedule {
  std::string name; ///< as in messages: "1F1B", or that of a file
  int ranks = 0, stages = 0, microBatches = 0;
  std::vector<int> rankOfStage; ///< by stage
  /// By rank: what it does, step by step. Nothing in a step is a bubble, which
  /// a generator or a file draws; who runs a list leaves bubbles out.
  std::vector<Row> rows;

  /// The stages of a rank, ascending.
  std::vector<int> stagesOf(int rank) const;
  /// Whether it has a backward; without one it is for evaluation.
  bool hasBackward() const;
  /// Whether each stage adds the gradients of micro-batches in the order 0, 1,
  /// 2, ..., so that sums have the bits of other such schedules.
  bool addsInOrder() const;
};

/// The grid of a schedule, a row a rank and a column a step, with the cell of
/// (`rank`, `step`) marked. Of long rows the part near that step. For messages.
std::string formatGrid(const Schedule &schedule, int rank = -1, int step = -1);

} // namespace cutback::pipeline

#endif // CUTBACK_SCHEDULE_SCHEDULE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sends and receives of lists that are ready to run.
//
// 1. In each list: a send or receive is of a crossing between two ranks (what
//    is on one rank is handed over), comes once, a send after the action that
//    makes its values, a receive before the one that uses them.
// 2. Each receive has its send. That each send has its receive follows: what is
//    not received is missed by the action that uses it.
// 3. Progress: every rank goes on until what it waits for, again and again,
//    until all ended or none moves.
//
// Linear in actions; 3 is that times the ranks at worst.

#include "TransferCheck.h"

#include "Faults.h"
#include "Parts.h"

#include <map>

namespace cutback::pipeline {

namespace {
class TransferCheck {
public:
  TransferCheck(const Schedule &schedule,
                const std::vector<Crossing> &crossings)
      : schedule(schedule), crossings(crossings), edges(schedule, crossings),
        all(edges.count()) {
    for (size_t i = 0; i < crossings.size(); ++i)
      numbers[{crossings[i].from, crossings[i].to}] = i;
  }

  std::optional<ScheduleError> checkLists() {
    for (int rank = 0; rank < schedule.ranks; ++rank)
      for (size_t step = 0; step < schedule.rows[rank].size(); ++step)
        if (const auto &action = schedule.rows[rank][step]) {
          std::optional<ScheduleError> error;
          Place place{schedule, rank, static_cast<int>(step)};
          forEachPart(*action, [&](const Action &part) {
            if (!error)
              error = isCompute(part.kind) ? compute(part, place)
                      : isSend(part.kind) || isRecv(part.kind)
                          ? transfer(part, place)
                          : std::nullopt;
          });
          if (error)
            return error;
        }
    return findUnsent();
  }

  std::optional<ScheduleError> checkProgress(Transfers transfers) {
    next.assign(schedule.ranks, 0);
    for (Message &message : all)
      message.sent = message.made = false;
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < schedule.ranks; ++rank)
        while (skipBubbles(rank) && advance(rank, transfers))
          moved = true;
    }
    for (int rank = 0; rank < schedule.ranks; ++rank)
      if (skipBubbles(rank))
        return fault({schedule, rank, static_cast<int>(next[rank])},
                     format(current(rank)) +
                         " waits forever: the lists make no progress",
                     "put what it waits for earlier in its list");
    return std::nullopt;
  }

private:
  struct Message {
    bool made = false, sent = false, received = false;
    int rank = 0, step = 0; ///< of the receive
  };

  /// What a send or receive is about.
  std::optional<Edges::Need> find(const Action &action) const {
    bool isBackward = action.kind == ActionKind::SendBackward ||
                      action.kind == ActionKind::RecvBackward;
    bool isFromOwn = isSend(action.kind) != isBackward;
    auto found = numbers.find(isFromOwn ? std::pair(action.stage, action.peer)
                                        : std::pair(action.peer, action.stage));
    if (found == numbers.end() ||
        (isBackward && !crossings[found->second].hasGradient))
      return std::nullopt;
    return Edges::Need{found->second, isBackward};
  }
  std::optional<ScheduleError> compute(const Action &action,
                                       const Place &place) {
    for (const Edges::Need &need : edges.needs(action)) {
      if (edges.isLocal(need) ||
          all[edges.index(need, action.microBatch)].received)
        continue;
      Action receive = edges.receiveOf(need, action.microBatch);
      return fault(place,
                   format(action) + " comes without " + format(receive) +
                       " before it",
                   "put " + format(receive) + " before it");
    }
    for (const Edges::Need &made : edges.makes(action))
      all[edges.index(made, action.microBatch)].made = true;
    return std::nullopt;
  }

  std::optional<ScheduleError> transfer(const Action &action,
                                        const Place &place) {
    std::string text = format(action);
    auto need = find(action);
    if (!need)
      return fault(place,
                   text + ": nothing crosses between stages " +
                       std::to_string(action.stage) + " and " +
                       std::to_string(action.peer),
                   "leave it out, or name the stage at its other end: "
                   "0SEND_F1>3, 3RECV_F1<0");
    if (edges.isLocal(*need))
      return fault(place,
                   text + ": both stages are on rank " +
                       std::to_string(place.rank),
                   "leave it out: what stays on a rank is handed over");
    Message &message = all[edges.index(*need, action.microBatch)];
    bool &isDone = isSend(action.kind) ? message.sent : message.received;
    if (isDone)
      return fault(place, text + " comes twice", "leave one of them out");
    isDone = true;
    if (isSend(action.kind) && !message.made)
      return fault(place, text + " comes before what it sends is made",
                   "put it after the action of its stage and micro-batch");
    if (isRecv(action.kind)) {
      message.rank = place.rank;
      message.step = place.step;
    }
    return std::nullopt;
  }

  std::optional<ScheduleError> findUnsent() const {
    for (size_t crossing = 0; crossing < crossings.size(); ++crossing)
      for (bool isBackward : {false, true})
        for (int i = 0; i < schedule.microBatches; ++i) {
          const Message &message = all[edges.index({crossing, isBackward}, i)];
          if (!message.received || message.sent)
            continue;
          Action send = edges.sendOf({crossing, isBackward}, i);
          Action receive = edges.receiveOf({crossing, isBackward}, i);
          return fault({schedule, message.rank, message.step},
                       format(receive) + " has no send: rank " +
                           std::to_string(schedule.rankOfStage[send.stage]) +
                           " never does " + format(send),
                       "put " + format(send) +
                           " after the action that makes it");
        }
    return std::nullopt;
  }

  //===--- Progress -------------------------------------------------------===//

  const Action &current(int rank) const {
    return *schedule.rows[rank][next[rank]];
  }
  /// Whether the rank has an action left.
  bool skipBubbles(int rank) {
    const Row &row = schedule.rows[rank];
    while (next[rank] < row.size() && !row[next[rank]])
      ++next[rank];
    return next[rank] < row.size();
  }

  bool advance(int rank, Transfers transfers) {
    const Action &action = current(rank);
    bool isBlocking = transfers == Transfers::Blocking;
    if (isRecv(action.kind) && isBlocking)
      return false; // its sender moves both
    if (isSend(action.kind) && !send(action, isBlocking))
      return false;
    if (isCompute(action.kind) && !isReady(action, isBlocking))
      return false;
    forEachPart(action, [&](const Action &part) {
      for (const Edges::Need &made : edges.makes(part))
        all[edges.index(made, part.microBatch)].made = true;
    });
    ++next[rank];
    return true;
  }

  bool send(const Action &action, bool isBlocking) {
    Edges::Need need = *find(action);
    if (isBlocking) {
      int peer = schedule.rankOfStage[action.peer];
      if (!skipBubbles(peer) ||
          current(peer) != edges.receiveOf(need, action.microBatch))
        return false;
      ++next[peer];
    }
    all[edges.index(need, action.microBatch)].sent = true;
    return true;
  }

  bool isReady(const Action &action, bool isBlocking) const {
    bool isReady = true;
    forEachPart(action, [&](const Action &part) {
      for (const Edges::Need &need : edges.needs(part)) {
        const Message &message = all[edges.index(need, part.microBatch)];
        // A part may need what an earlier one of its overlap makes.
        bool isWithin = false;
        forEachPart(action, [&](const Action &other) {
          for (const Edges::Need &made : edges.makes(other))
            isWithin |= edges.index(made, other.microBatch) ==
                        edges.index(need, part.microBatch);
        });
        isReady &= edges.isLocal(need) ? message.made || isWithin
                                       : isBlocking || message.sent;
      }
    });
    return isReady;
  }

  const Schedule &schedule;
  const std::vector<Crossing> &crossings;
  Edges edges;
  std::map<std::pair<int, int>, size_t> numbers; ///< by stages of a crossing
  std::vector<Message> all;
  std::vector<size_t> next; ///< by rank
};
} // namespace

std::optional<ScheduleError>
checkTransfers(const Schedule &schedule, const std::vector<Crossing> &crossings,
               Transfers transfers) {
  TransferCheck check(schedule, crossings);
  if (auto error = check.checkLists())
    return error;
  return check.checkProgress(transfers);
}

} // namespace cutback::pipeline

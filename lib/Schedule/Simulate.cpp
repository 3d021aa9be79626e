// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Simulates a schedule.
//
// 1. Times. Each rank runs its list as far as what it needs has been sent, then
//    waits for one message, whose sender wakes it. All times are maxima and
//    sums of earlier ones, and messages of a link go in the order of the
//    sender's list, so no order of wake-ups gives other times.
// 2. Memory. A rank's own events are in the order of its list, so that an
//    action that takes no time (the input gradients of the first stage) does
//    not hide what it holds; transfers are merged by time. At one time what
//    ends is freed before what begins is allocated.
//
// Linear in actions and crossings, but for sorting transfers by time.
// Interference of transfers with compute, or of links with each other, is not
// modelled.

#include "cutback/Schedule/Simulate.h"

#include "Parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace cutback::pipeline {

std::vector<Crossing> chainOf(int stages) {
  std::vector<Crossing> crossings;
  for (int i = 0; i + 1 < stages; ++i) {
    Crossing crossing;
    crossing.from = i;
    crossing.to = i + 1;
    crossings.push_back(crossing);
  }
  return crossings;
}

int64_t StageCosts::time(ActionKind kind) const {
  switch (kind) {
  case ActionKind::Forward:
    return forward;
  case ActionKind::Backward:
    return backward;
  case ActionKind::InputGradients:
    return inputGradients;
  case ActionKind::WeightGradients:
    return weightGradients;
  default:
    return 0;
  }
}

int64_t Link::occupied(int64_t bytes) const {
  if (bytesPerSecond <= 0)
    return 0;
  return static_cast<int64_t>(
      std::ceil(static_cast<double>(bytes) * 1e12 / bytesPerSecond));
}

Costs equalCosts(int stages) {
  Costs costs;
  costs.stages.resize(stages);
  costs.crossings = chainOf(stages);
  return costs;
}

int64_t Simulation::largestBubble() const {
  int64_t largest = 0;
  for (const RankResult &rank : ranks)
    largest = std::max(largest, rank.bubble);
  return largest;
}

int64_t Simulation::peakBytes() const {
  int64_t peak = 0;
  for (const RankResult &rank : ranks)
    peak = std::max(peak, rank.peakBytes);
  return peak;
}

double Simulation::inFlightOfRank() const {
  double most = 0;
  for (const RankResult &rank : ranks)
    most = std::max(most, rank.inFlightOfRank());
  return most;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

namespace {
/// The values, or the gradients, of one micro-batch over one crossing.
struct Message {
  int64_t start = 0, arrival = -1; ///< -1: not sent yet
  int64_t left = 0;                ///< when the sender's link is free again
};

class Engine {
public:
  Engine(const Schedule &schedule, const Costs &costs)
      : schedule(schedule), costs(costs), edges(schedule, costs.crossings),
        messages(edges.count()) {
    for (const Row &row : schedule.rows)
      parts.push_back(computeParts(row));
    cursors.resize(schedule.ranks);
    links.resize(schedule.ranks);
    result.ranks.resize(schedule.ranks);
  }

  /// The first rank that waits forever, or -1.
  int run() {
    for (int rank = schedule.ranks - 1; rank >= 0; --rank)
      ready.push_back(rank);
    while (!ready.empty()) {
      int rank = ready.back();
      ready.pop_back();
      advance(rank);
    }
    for (int rank = 0; rank < schedule.ranks; ++rank)
      if (cursors[rank].next < parts[rank].size())
        return rank;
    return -1;
  }

  const Part &blockedPart(int rank) const {
    return parts[rank][cursors[rank].next];
  }
  const Message &message(const Edges::Need &need, int batch) const {
    return messages[edges.index(need, batch)];
  }

  Simulation result;
  const Edges edges;

private:
  struct Cursor {
    size_t next = 0;
    int64_t time = 0;
    size_t waitsFor = SIZE_MAX; ///< a message
  };

  void advance(int rank) {
    Cursor &cursor = cursors[rank];
    cursor.waitsFor = SIZE_MAX;
    for (; cursor.next < parts[rank].size(); ++cursor.next) {
      const Part &part = parts[rank][cursor.next];
      int64_t start = cursor.time;
      for (const Edges::Need &need : edges.needs(part.action())) {
        size_t number = edges.index(need, part.action().microBatch);
        if (messages[number].arrival < 0) {
          cursor.waitsFor = number;
          return;
        }
        start = std::max(start, messages[number].arrival);
      }
      place(rank, part, start);
    }
  }

  void place(int rank, const Part &part, int64_t start) {
    Cursor &cursor = cursors[rank];
    const Action &action = part.action();
    int64_t time = costs.stages[action.stage].time(action.kind);
    cursor.time = start + time;
    result.ranks[rank].busy += time;
    result.ranks[rank].actions.push_back(
        {part.step, action, start, cursor.time});
    result.makespan = std::max(result.makespan, cursor.time);
    for (const Edges::Need &made : edges.makes(action))
      send(rank, made, action.microBatch, cursor.time);
  }

  void send(int rank, const Edges::Need &made, int batch, int64_t time) {
    int receiver = edges.receiver(made);
    size_t number = edges.index(made, batch);
    Message &message = messages[number];
    if (receiver == rank) {
      message = {time, time, time};
    } else {
      int64_t &isFree = links[rank][receiver];
      message.start = std::max(time, isFree);
      isFree = message.start + costs.link.occupied(edges.bytesOf(made));
      message.left = isFree;
      message.arrival = isFree + costs.link.latency;
    }
    if (cursors[receiver].waitsFor == number)
      ready.push_back(receiver);
  }

  const Schedule &schedule;
  const Costs &costs;
  std::vector<std::vector<Part>> parts; ///< by rank
  std::vector<Message> messages;
  std::vector<Cursor> cursors; ///< by rank
  /// When each is free, by sender and receiver.
  std::vector<std::map<int, int64_t>> links;
  std::vector<int> ready;
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

class MemorySweep {
public:
  MemorySweep(const Schedule &schedule, const Costs &costs,
              const Engine &engine)
      : schedule(schedule), costs(costs), engine(engine), edges(engine.edges),
        keepsSlots(schedule.hasBackward()) {}

  void run(int rank, RankResult &result) {
    events.clear();
    flights = 0;
    for (int stage : schedule.stagesOf(rank)) {
      ++result.stages;
      result.keptBytes += costs.stages[stage].kept;
      if (keepsSlots)
        result.arenaBytes =
            std::max(result.arenaBytes, costs.stages[stage].updateArena);
    }
    for (const Placed &placed : result.actions) {
      addSlots(placed, result);
      addTransfers(rank, placed);
      result.arenaBytes = std::max(result.arenaBytes, arenaOf(placed.action));
    }
    std::stable_sort(
        events.begin(), events.end(), [](const Event &a, const Event &b) {
          return std::tie(a.time, a.order) < std::tie(b.time, b.order);
        });
    int64_t fixed = result.keptBytes + result.arenaBytes, now = 0;
    result.memory.push_back({0, fixed});
    for (const Event &event : events) {
      now += event.bytes;
      result.slotBytes = std::max(result.slotBytes, now);
      if (result.memory.back().time == event.time)
        result.memory.back().bytes = fixed + now;
      else
        result.memory.push_back({event.time, fixed + now});
    }
    result.peakBytes = fixed + result.slotBytes;
  }

private:
  /// What happens at one time: transfers end, the rank's own list goes on,
  /// transfers begin.
  enum Order : uint8_t { TransferEnds, OwnList, TransferBegins };
  struct Event {
    int64_t time;
    Order order;
    int64_t bytes;
  };

  void add(int64_t time, Order order, int64_t bytes) {
    if (bytes != 0)
      events.push_back({time, order, bytes});
  }

  int64_t arenaOf(const Action &action) const {
    return costs.stages[action.stage].arena[static_cast<size_t>(action.kind)];
  }

  void addSlots(const Placed &placed, RankResult &result) {
    const StageCosts &stage = costs.stages[placed.action.stage];
    ActionKind kind = placed.action.kind;
    if (kind == ActionKind::Forward) {
      result.inFlight = std::max(result.inFlight, ++flights);
      add(placed.start, OwnList, keepsSlots ? stage.untilInputs : 0);
    } else if (kind == ActionKind::InputGradients) {
      add(placed.start, OwnList, stage.untilWeights - stage.throughout);
    }
    if (kind == ActionKind::Backward)
      add(placed.end, OwnList, -stage.untilInputs);
    if (kind == ActionKind::InputGradients)
      add(placed.end, OwnList, stage.throughout - stage.untilInputs);
    if (kind == ActionKind::WeightGradients)
      add(placed.end, OwnList, -stage.untilWeights);
    flights -= makesWeightGradients(kind) || !keepsSlots;
  }

  void addTransfers(int rank, const Placed &placed) {
    const Action &action = placed.action;
    for (const Edges::Need &need : edges.needs(action)) {
      int64_t bytes = edges.bytesOf(need);
      add(placed.end, OwnList, -bytes);
      if (!edges.isLocal(need))
        add(engine.message(need, action.microBatch).start, TransferBegins,
            bytes);
    }
    for (const Edges::Need &made : edges.makes(action)) {
      int64_t bytes = edges.bytesOf(made);
      add(placed.end, OwnList, bytes);
      if (!edges.isLocal(made))
        add(engine.message(made, action.microBatch).left, TransferEnds, -bytes);
    }
  }

  const Schedule &schedule;
  const Costs &costs;
  const Engine &engine;
  const Edges &edges;
  bool keepsSlots;
  int flights = 0;
  std::vector<Event> events;
};
} // namespace

/// Whether the sum of all times, which no makespan exceeds, is no time.
static bool lastsTooLong(const Schedule &schedule, const Costs &costs) {
  double sum = 0;
  for (const Row &row : schedule.rows)
    for (const Part &part : computeParts(row)) {
      const Action &action = part.action();
      sum += static_cast<double>(costs.stages[action.stage].time(action.kind));
    }
  double messages = 0;
  for (const Crossing &crossing : costs.crossings) {
    double bytes = static_cast<double>(crossing.bytes) +
                   static_cast<double>(crossing.gradientBytes);
    double rate = costs.link.bytesPerSecond;
    messages += 2.0 * static_cast<double>(costs.link.latency) +
                (rate > 0 ? bytes * 1e12 / rate : 0);
  }
  return sum + messages * schedule.microBatches > std::ldexp(1.0, 62);
}

std::optional<Simulation> simulate(const Schedule &schedule, const Costs &costs,
                                   ScheduleError &error) {
  if (lastsTooLong(schedule, costs)) {
    error = {"the actions last for more than 53 days",
             "give times in microseconds, latency and bandwidth of one link"};
    return std::nullopt;
  }
  Engine engine(schedule, costs);
  if (int rank = engine.run(); rank >= 0) {
    const Part &part = engine.blockedPart(rank);
    error = {"rank " + std::to_string(rank) + ", step " +
                 std::to_string(part.step) + ": " + format(part.action()) +
                 " waits forever: the lists make no progress",
             "what it waits for comes later in a list that waits for it\n" +
                 formatGrid(schedule, rank, part.step)};
    return std::nullopt;
  }
  MemorySweep sweep(schedule, costs, engine);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    RankResult &result = engine.result.ranks[rank];
    result.bubble = engine.result.makespan - result.busy;
    sweep.run(rank, result);
  }
  return std::move(engine.result);
}

} // namespace cutback::pipeline

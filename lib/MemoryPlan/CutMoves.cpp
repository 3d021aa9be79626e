// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One cut lowers one op and may raise another, so cuts come in a row: first
// each between those before, then, from the start again, freely and with local
// moves between them. A row that does not end lower is taken back.
//
// A cut is made for a stretch of the order, as a program of its own: linear in
// the stretch and in the arcs that the solver looks at, which the work pays.

#include "CutMoves.h"

#include "cutback/MemoryPlan/ScheduleBound.h"

#include <set>

using namespace cutback;

/// Ops [first, last) of the present order as a program of their own: what is
/// made in front of them is given, what is read behind them is kept. What is
/// live all along is left out.
ScheduleProblem CutMoves::problemOf(Stretch stretch) {
  uint32_t first = stretch.first, last = stretch.last;
  constexpr uint32_t none = ~uint32_t(0);
  ScheduleProblem part;
  numbers.assign(now.problem.bytes.size(), none);
  auto number = [&](uint32_t storage, bool isGiven) {
    if (numbers[storage] == none) {
      numbers[storage] = part.bytes.size();
      part.bytes.push_back(now.problem.bytes[storage]);
      part.isGiven.push_back(isGiven);
      part.isKept.push_back(now.problem.isKept[storage] ||
                            now.lastReader[storage] >= last);
    }
    return numbers[storage];
  };
  for (uint32_t at = first; at < last; ++at) {
    uint32_t op = now.order[at];
    for (uint32_t other : now.problem.depends[op])
      if (now.position[other] >= first)
        part.depends.add(now.position[other] - first);
    for (uint32_t storage : now.problem.makes[op])
      part.makes.add(number(storage, /*isGiven=*/false));
    for (uint32_t storage : now.problem.reads[op])
      part.reads.add(number(storage, /*isGiven=*/true));
    for (uint32_t storage : now.problem.replaces[op])
      part.replaces.add(number(storage, /*isGiven=*/true));
    part.depends.endRow();
    part.makes.endRow();
    part.reads.endRow();
    part.replaces.endRow();
  }
  return part;
}

/// The stretch that a cut at the peak looks at.
CutMoves::Stretch CutMoves::window() const {
  return {now.peakAt > kWindow ? now.peakAt - kWindow : 0,
          std::min<uint32_t>(now.order.size(), now.peakAt + kWindow + 1)};
}

/// The least bytes of the op at the peak; `runsBefore` gets by place in the
/// window what then runs before it.
int64_t CutMoves::cutAtPeak(Stretch stretch, std::vector<uint8_t> &runsBefore) {
  ScheduleProblem part = problemOf(stretch);
  // What is live all along is what is live in front of the stretch, but for
  // what the stretch knows.
  int64_t passing = now.before[stretch.first];
  for (uint32_t storage = 0; storage < part.bytes.size(); ++storage)
    passing -= part.isGiven[storage] ? part.bytes[storage] : 0;
  ScheduleBound bound(part);
  int64_t bytes = bound.leastBytes(now.peakAt - stretch.first, runsBefore);
  now.pay(bound.arcScans());
  return passing + bytes;
}

/// True if the op at the peak needs as much in every order.
bool CutMoves::isLeast() {
  Stretch all = window();
  if (all.first > 0 || all.last < now.order.size())
    return false;
  if (least.empty())
    least.assign(now.order.size(), -1);
  int64_t &known = least[now.order[now.peakAt]];
  std::vector<uint8_t> runsBefore;
  if (known < 0)
    known = cutAtPeak(all, runsBefore);
  return known >= now.peak.bytes;
}

/// Puts what the cut at the peak says in front of it, the rest behind it.
/// False if that is as it is, or leaves the bytes there as they are.
bool CutMoves::moveByCut(Stretch stretch) {
  std::vector<uint8_t> runsBefore;
  if (cutAtPeak(stretch, runsBefore) >= now.peak.bytes)
    return false;
  auto [first, last] = stretch;
  Order sooner, later;
  for (uint32_t at = first; at < last; ++at)
    if (at != now.peakAt)
      (runsBefore[at - first] ? sooner : later).push_back(now.order[at]);
  sooner.push_back(now.order[now.peakAt]);
  sooner.insert(sooner.end(), later.begin(), later.end());
  bool isMoved =
      !std::equal(sooner.begin(), sooner.end(), now.order.begin() + first);
  std::copy(sooner.begin(), sooner.end(), now.order.begin() + first);
  return isMoved;
}

/// Cuts at one peak after the other, each between those before, until the
/// peak is lower than it was. What a cut has put in place stays there, and
/// nothing is lost by that: minimum cuts of one function nest.
bool CutMoves::improveByNestedCuts() {
  const Order start = now.order;
  const Height high = now.peak;
  std::set<uint32_t> placed; ///< by position
  while (now.work > 0 && !placed.count(now.peakAt)) {
    Stretch free = window();
    auto next = placed.upper_bound(now.peakAt);
    if (next != placed.end())
      free.last = std::min(free.last, *next);
    if (next != placed.begin())
      free.first = std::max(free.first, *std::prev(next) + 1);
    uint32_t op = now.order[now.peakAt];
    if (!moveByCut(free))
      break;
    now.simulate();
    if (now.peak < high)
      return true;
    placed.insert(now.position[op]);
  }
  now.order = start;
  now.simulate();
  return false;
}

/// The same with the other moves between cuts, which then do not nest.
bool CutMoves::improveByCuts() {
  const Order start = now.order;
  const Height high = now.peak;
  for (uint32_t cuts = 0; cuts < kCuts && now.work > 0; ++cuts) {
    if (!moveByCut(window()))
      break;
    do {
      now.simulate();
      if (now.peak < high)
        return true;
    } while (local.improve());
  }
  now.order = start;
  now.simulate();
  return false;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The network of one op:
//
//   source side = runs before the op; the op itself is the sink
//   what an op depends on    infinite arc to it: runs before it
//   storage                  its bytes from the maker (the source, if it is
//                            given) to a vertex of its own, and infinite arcs
//                            from there to its readers: cut if it is made
//                            before and read behind
//   storage that is kept     its bytes from the maker to the sink
//
// What the op itself makes or reads is live in every order. It may take the
// place of a storage of which it is the last reader: then the other readers
// run before it, which is one more cut with infinite arcs to them.

#include "cutback/MemoryPlan/ScheduleBound.h"

#include <algorithm>

using namespace cutback;

static constexpr uint32_t kNone = ~uint32_t(0);
/// Of an order that does not exist.
static constexpr int64_t kNever = INT64_MAX;

static bool contains(Rows::Row row, uint32_t number) {
  return std::find(row.begin(), row.end(), number) != row.end();
}

ScheduleBound::ScheduleBound(const ScheduleProblem &problem)
    : problem(problem), makers(problem.bytes.size(), kNone) {
  int64_t sum = 0;
  for (int64_t bytes : problem.bytes)
    isTooLarge |= __builtin_add_overflow(sum, bytes, &sum) || sum == INT64_MAX;
  std::vector<std::vector<uint32_t>> lists(problem.bytes.size());
  for (uint32_t op = 0; op < problem.numOps(); ++op) {
    for (uint32_t storage : problem.makes[op])
      makers[storage] = op;
    for (uint32_t storage : problem.reads[op])
      lists[storage].push_back(op);
  }
  for (const std::vector<uint32_t> &list : lists) {
    for (uint32_t op : list)
      readers.add(op);
    readers.endRow();
  }
}

int64_t ScheduleBound::leastBytes(uint32_t op, std::vector<uint8_t> &before) {
  scans = 0;
  if (isTooLarge) {
    before.assign(problem.numOps(), 0);
    std::fill(before.begin(), before.begin() + op, 1);
    return 0;
  }
  int64_t least = kNever;
  auto attempt = [&](uint32_t replaced) {
    network.clear(2 + problem.numOps());
    always = 0;
    addOrder(op);
    addStorages(op);
    if (replaced != kNone) {
      always -= problem.bytes[replaced];
      for (uint32_t reader : readers[replaced])
        if (reader != op)
          network.addInfiniteArc(kSource, 2 + reader);
    }
    int64_t bytes = solve();
    if (bytes >= least)
      return;
    least = bytes;
    before.resize(problem.numOps());
    for (uint32_t other = 0; other < problem.numOps(); ++other)
      before[other] = !cut.onSinkSide[2 + other];
  };
  attempt(kNone);
  for (uint32_t storage : problem.replaces[op])
    if (!problem.isKept[storage])
      attempt(storage);
  return least;
}

void ScheduleBound::addOrder(uint32_t op) {
  network.addInfiniteArc(2 + op, kSink);
  for (uint32_t needed : problem.depends[op])
    network.addInfiniteArc(kSource, 2 + needed);
  for (uint32_t other = 0; other < problem.numOps(); ++other)
    if (other != op)
      for (uint32_t needed : problem.depends[other])
        network.addInfiniteArc(2 + other, 2 + needed);
}

void ScheduleBound::addStorages(uint32_t op) {
  for (uint32_t storage = 0; storage < problem.bytes.size(); ++storage) {
    int64_t bytes = problem.bytes[storage];
    bool isGiven = problem.isGiven[storage], isKept = problem.isKept[storage];
    Rows::Row row = readers[storage];
    if (makers[storage] == op || contains(row, op) || (isGiven && isKept)) {
      always += bytes;
      continue;
    }
    VertexId maker = isGiven ? kSource : 2 + makers[storage];
    if (isKept) {
      network.addArc(maker, kSink, bytes);
    } else if (row.end() - row.begin() == 1) {
      network.addArc(maker, 2 + *row.begin(), bytes);
    } else if (row.begin() != row.end()) {
      VertexId live = network.addVertex();
      network.addArc(maker, live, bytes);
      for (uint32_t reader : row)
        network.addInfiniteArc(live, 2 + reader);
    }
  }
}

int64_t ScheduleBound::solve() {
  if (network.finish() || solver.solve(network, cut) != MinCutStatus::Solved)
    return kNever;
  scans += network.numArcs() + solver.stats().arcScans;
  return always + cut.value;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is live at a place is counted once, by the values that others read, and
// follows each move. Near linear: a move looks at what its kernel reads and
// makes, and at the places on its way.
//
// Readers of a value are gone through only where these are few: else its last
// use stays where it was, which counts too much, never too little.

#include "KernelMoves.h"

#include "cutback/Support/LiveSweep.h"

#include <numeric>

using namespace cutback;

/// Readers of a value beyond which nobody looks for the last but one.
static constexpr size_t kFewReaders = 16;

KernelMoves::KernelMoves(const KernelProblem &problem, const GraphView &view,
                         const ValueSizes &sizes, const KernelLimits &limits,
                         const SegmentFacts &facts, const MergeRoom &room,
                         SegmentKernels &segment)
    : problem(problem), view(view), sizes(sizes), limits(limits), facts(facts),
      room(room), kernels(segment.kernels), kernelOf(segment.kernelOf),
      marks(kernels.size()), atFull(segment.atFull), combines(segment.combines),
      placeOf(kernels.size()), lastUse(view.numValues(), 0),
      during(kernels.size() + 1, 0) {
  std::iota(placeOf.begin(), placeOf.end(), 0);
  markKernels();
  countLive();
}

uint32_t KernelMoves::firstPlace(uint32_t number, uint32_t maker) const {
  uint32_t first = 0;
  for (uint32_t op : kernels[number].ops)
    for (const KernelProblem::Read &read : problem.readsOf(op))
      if (isMade(read))
        if (uint32_t def = kernelOf[view.definer[read.root]];
            def != number && def != maker)
          first = std::max(first, def + 1);
  return first;
}

uint32_t KernelMoves::lastPlace(uint32_t number, uint32_t other) const {
  uint32_t last = kNone;
  for (uint32_t op : kernels[number].ops)
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      for (uint32_t reader : readersOf(r))
        if (reader != number && reader != other)
          last = std::min(last, reader);
  return last;
}

llvm::SmallVector<uint32_t, 8> KernelMoves::readersOf(uint32_t root) const {
  llvm::SmallVector<uint32_t, 8> list;
  for (uint32_t number : problem.readersOf(root)) {
    const KernelProblem::Read &read = problem.reads[number];
    bool isOther = facts.isGiven[read.value] && !view.isArg(root);
    if (!isOther && facts.places[read.op] != kNone &&
        kernelOf[read.op] != kNone)
      list.push_back(kernelOf[read.op]);
  }
  return list;
}

bool KernelMoves::hasEffectBetween(uint32_t from, uint32_t to) const {
  if (marks[from].hasEffect)
    for (uint32_t k = std::min(from, to) + 1; k < std::max(from, to); ++k)
      if (marks[k].hasEffect)
        return true;
  return false;
}

bool KernelMoves::keepsWrites(uint32_t from, uint32_t to, bool inStep) const {
  auto staysAside = [&](uint32_t other) {
    return other == from ||
           (other == to ? inStep : (other < from) == (other < to));
  };
  auto isAside = [&](uint32_t root) {
    uint32_t written = problem.writeOf[root];
    return written == kNone ||
           llvm::all_of(problem.writes[written].second, [&](uint32_t write) {
             return facts.places[write] == kNone || staysAside(kernelOf[write]);
           });
  };
  for (uint32_t op : kernels[from].ops) {
    for (const KernelProblem::Read &read : problem.readsOf(op))
      if (!isAside(read.root))
        return false;
    if (!problem.isWrite[op])
      continue;
    uint32_t argument = problem.root[view.resultBegin[op]];
    if (!isAside(argument) || !llvm::all_of(readersOf(argument), staysAside))
      return false;
  }
  return true;
}

void KernelMoves::changesOf(uint32_t from, uint32_t to,
                            llvm::SmallVectorImpl<int64_t> &change) const {
  uint32_t first = std::min(from, to);
  change.assign(std::max(from, to) - first + 1, 0);
  auto add = [&](uint32_t begin, uint32_t end, int64_t bytes) {
    for (uint32_t k = begin; k < end; ++k)
      change[k - first] += bytes;
  };
  forEachMade(from, [&](uint32_t root) {
    if (to < from)
      add(to, from, sizes.bytes[root]);
    else
      add(from, to, -sizes.bytes[root]);
  });
  forEachRead(from, [&](uint32_t root) {
    uint32_t last = lastUse[root];
    if (to > from && last < to)
      add(last + 1, to + 1, sizes.bytes[root]);
    else if (to < from && last == from)
      add(std::max(lastBut(root, from), to) + 1, from + 1, -sizes.bytes[root]);
  });
}

uint32_t KernelMoves::lastBut(uint32_t root, uint32_t number) const {
  if (problem.readersOf(root).size() > kFewReaders)
    return number;
  uint32_t last = isMade(root) ? kernelOf[view.definer[root]] : 0;
  for (uint32_t read : problem.readersOf(root))
    if (uint32_t op = problem.reads[read].op; facts.places[op] != kNone &&
                                              kernelOf[op] != kNone &&
                                              kernelOf[op] != number)
      last = std::max(last, kernelOf[op]);
  return last;
}

void KernelMoves::move(uint32_t from, uint32_t to) {
  llvm::SmallVector<int64_t, kWindow + 1> change;
  changesOf(from, to, change);
  uint32_t first = std::min(from, to);
  for (auto [i, bytes] : llvm::enumerate(change))
    during[first + i] += bytes;
  forEachRead(from, [&](uint32_t root) {
    if (to > from)
      lastUse[root] = std::max(lastUse[root], to);
    else if (lastUse[root] == from)
      lastUse[root] = std::max(lastBut(root, from), to);
  });
  absorb(kernels[to], kernels[from]);
  for (uint32_t op : kernels[from].ops)
    kernelOf[op] = to;
  kernels[from].ops.clear();
  placeOf[from] = to;
  marks[to].hasEffect |= marks[from].hasEffect;
  marks[to].seesWritten |= marks[from].seesWritten;
  marks[to].reads += marks[from].reads;
  marks[from] = Mark();
}

void KernelMoves::takeEmptyOut() {
  llvm::erase_if(kernels,
                 [](const Kernel &kernel) { return kernel.ops.empty(); });
  for (auto [number, kernel] : llvm::enumerate(kernels))
    for (uint32_t op : kernel.ops)
      kernelOf[op] = number;
}

void KernelMoves::markKernels() {
  for (auto [number, kernel] : llvm::enumerate(kernels)) {
    Mark &mark = marks[number];
    for (uint32_t op : kernel.ops) {
      mark.hasEffect |= view.traits[op].ordered;
      mark.seesWritten |= problem.isWrite[op] != 0;
      for (const KernelProblem::Read &read : problem.readsOf(op)) {
        mark.seesWritten |= problem.writeOf[read.root] != kNone;
        mark.reads +=
            !isMade(read) || kernelOf[view.definer[read.root]] != number;
      }
    }
  }
}

void KernelMoves::countLive() {
  auto end = static_cast<uint32_t>(kernels.size());
  for (uint32_t number = 0; number < end; ++number)
    for (uint32_t op : kernels[number].ops)
      for (const KernelProblem::Read &read : problem.readsOf(op))
        lastUse[read.root] = std::max(lastUse[read.root], number);
  LiveSweep<> sweep(end + 1);
  for (uint32_t v = 0; v < view.numValues(); ++v) {
    if (view.isArg(v) || problem.root[v] != v || sizes.bytes[v] == 0)
      continue;
    bool isOwn = isMade(v);
    if (facts.isKept[v])
      lastUse[v] = end;
    if (!isOwn && lastUse[v] == 0)
      continue;
    uint32_t born = isOwn ? kernelOf[view.definer[v]] : 0;
    if (isOwn && lastUse[v] <= born)
      continue; // in registers
    sweep.add(born, lastUse[v] + 1, sizes.bytes[v]);
  }
  llvm::transform(std::move(sweep).run(), during.begin(),
                  [](const LiveSweep<>::Bytes &bytes) { return bytes[0]; });
  peak = during.empty() ? 0 : *llvm::max_element(during);
  if (isMeasured())
    llvm::copy(room.live, during.begin());
}

void KernelMoves::absorb(Kernel &into, const Kernel &from) const {
  llvm::SmallVector<uint8_t> numberOf;
  for (const KernelNest &nest : from.nests) {
    auto same = llvm::find_if(into.nests, [&](const KernelNest &mine) {
      return isSameNest(into, mine, nest);
    });
    numberOf.push_back(same - into.nests.begin());
    if (same == into.nests.end())
      into.nests.push_back(nest);
  }
  std::vector<uint32_t> ops;
  std::vector<uint8_t> nestOf;
  size_t a = 0, b = 0;
  while (a < into.ops.size() || b < from.ops.size()) {
    bool isOwn = b == from.ops.size() ||
                 (a < into.ops.size() &&
                  facts.places[into.ops[a]] < facts.places[from.ops[b]]);
    ops.push_back(isOwn ? into.ops[a] : from.ops[b]);
    nestOf.push_back(isOwn ? into.nestOf[a] : numberOf[from.nestOf[b]]);
    ++(isOwn ? a : b);
  }
  into.ops = std::move(ops);
  into.nestOf = std::move(nestOf);
  into.isAligned &= from.isAligned;
  into.flopsPs += from.flopsPs;
}

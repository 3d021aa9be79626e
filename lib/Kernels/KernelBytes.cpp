// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A storage is read once a nest, however many ops of it read it: different
// parts of it each, at most the whole. A long row is read in each pass that
// needs it: what a reduction gives is known in the next one. Parts of a
// concatenation have iterations of their own: what two of them read is read
// twice. A call that runs graphs costs what their launches do.

#include "KernelBytes.h"

#include "llvm/ADT/STLExtras.h"

using namespace cutback;

namespace {

constexpr uint32_t kNone = SegmentKernels::kNone;

class ByteCount {
public:
  ByteCount(const KernelProblem &problem, const GraphView &view,
            const ValueSizes &sizes, const SegmentOps &segment,
            const KernelRates &rates, const SegmentFacts &facts,
            SegmentKernels &kernels)
      : problem(problem), view(view), sizes(sizes), segment(segment),
        rates(rates), facts(facts), kernels(kernels), level(view.numOps(), 0),
        counted(view.numValues(), kNone), bytesOf(view.numValues(), 0),
        mapOf(view.numValues(), 0) {}

  void run() {
    kernels.givenReads.clear();
    for (uint32_t number = 0; number < kernels.kernels.size(); ++number)
      count(number);
  }

private:
  bool isInside(const KernelProblem::Read &read, uint32_t number) const {
    uint32_t def = view.definer[read.root];
    return def != GraphView::kNone && kernels.kernelOf[def] == number &&
           !facts.isGiven[read.value];
  }

  bool isWritten(uint32_t value, uint32_t number) const {
    if (problem.isWrite[view.definer[value]])
      return true;
    if (facts.isGiven[value])
      return false;
    if (facts.isKept[value])
      return true;
    return llvm::any_of(problem.readersOf(value), [&](uint32_t reader) {
      const KernelProblem::Read &read = problem.reads[reader];
      return facts.places[read.op] != kNone && !facts.isGiven[read.value] &&
             kernels.kernelOf[read.op] != number;
    });
  }

  void count(uint32_t number) {
    Kernel &kernel = kernels.kernels[number];
    int64_t written = 0;
    uint32_t last = 0; // pass
    for (uint32_t op : kernel.ops) {
      uint32_t known = 0;
      for (const KernelProblem::Read &read : problem.readsOf(op))
        if (isInside(read, number))
          known = std::max(known, level[view.definer[read.root]]);
      level[op] = known + kernels.combines[op];
      bool isOut = false;
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1];
           ++r) {
        if (!isWritten(r, number))
          continue;
        isOut = true;
        written += sizes.bytes[r];
      }
      if (kernels.combines[op] || (isOut && kernels.atFull[op]))
        last = std::max(last, known);
    }
    bool isLong = kernel.schedule == KernelSchedule::LongRow;
    kernel.passes = isLong ? last + 1 : 1;
    kernel.borderBytes = kernel.movedBytes = written;
    for (size_t nest = 0; nest < kernel.nests.size(); ++nest, ++numNests)
      for (auto [op, nestOfOp] : llvm::zip_equal(kernel.ops, kernel.nestOf))
        if (nestOfOp == nest)
          countReads(kernel, number, op);
    kernel.ps = rates.timeOf(kernel.flopsPs, kernel.movedBytes);
    if (const NestedCall *call = problem.nestedOf(kernel.anchor())) {
      kernel.borderBytes = call->borderBytes;
      kernel.movedBytes = call->movedBytes;
      kernel.flopsPs = call->flopsPs;
      kernel.ps = call->ps;
    }
  }

  void countReads(Kernel &kernel, uint32_t number, uint32_t op) {
    for (const KernelProblem::Read &read : problem.readsOf(op)) {
      uint32_t root = read.root, def = view.definer[root];
      if (isInside(read, number))
        continue;
      int64_t before = counted[root] == numNests ? bytesOf[root] : 0;
      if (before && mapOf[root] == read.map)
        continue;
      int64_t now = std::min(before + read.bytes, sizes.bytes[root]);
      counted[root] = numNests;
      bytesOf[root] = now;
      mapOf[root] = read.map;
      bool isRow = kernels.atFull[op] || kernels.combines[op];
      uint32_t from = level[op] - kernels.combines[op];
      int64_t times = isRow && kernel.passes > from ? kernel.passes - from : 1;
      bool isPart = kernel.schedule == KernelSchedule::Concat;
      int64_t moved = (isPart ? read.bytes : now - before) * times;
      if (segment.isGiven &&
          (def == GraphView::kNone || facts.places[def] == kNone)) {
        kernels.givenReads.push_back({number, root, moved});
        continue;
      }
      kernel.borderBytes += now - before;
      kernel.movedBytes += moved;
    }
  }

  const KernelProblem &problem;
  const GraphView &view;
  const ValueSizes &sizes;
  const SegmentOps &segment;
  const KernelRates &rates;
  const SegmentFacts &facts;
  SegmentKernels &kernels;
  /// By op: reductions of its kernel that its results depend on, in a row.
  std::vector<uint32_t> level;
  uint32_t numNests = 0; ///< behind the one at work
  /// By root: the nest that counted it last, how much of it, and the map.
  std::vector<uint32_t> counted;
  std::vector<int64_t> bytesOf;
  std::vector<IndexMaps::Id> mapOf;
};

} // namespace

SegmentFacts::SegmentFacts(const KernelProblem &problem, const GraphView &view,
                           const SegmentOps &segment)
    : places(view.numOps(), kNone), isKept(view.numValues(), 0),
      isGiven(problem.findGiven(view, segment.given)) {
  for (auto [place, op] : llvm::enumerate(segment.order))
    places[op] = place;
  for (llvm::ArrayRef<uint32_t> list : segment.kept)
    for (uint32_t value : list)
      isKept[problem.root[value]] = 1;
}

void cutback::countBytes(const KernelProblem &problem, const GraphView &view,
                         const ValueSizes &sizes, const SegmentOps &segment,
                         const KernelRates &rates, const SegmentFacts &facts,
                         SegmentKernels &kernels) {
  ByteCount(problem, view, sizes, segment, rates, facts, kernels).run();
}

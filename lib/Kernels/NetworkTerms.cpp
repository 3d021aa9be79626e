// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A term of the network must not depend on the plan, and a kernel does. What
// every plan has is the backward without copies: its kernels are formed once,
// with all values of the forward given.
//
//   1. Reading a given value: what the kernel's time grows by, divided among
//      all that it is given. A product computes longer than it reads: nothing.
//      Whoever reads a value in three kernels reads it three times.
//   2. A copy has a home: a kernel that reads it and can take it in, one of the
//      backward's if there is one, else that of another copy, else its own.
//      There it costs its FLOPs, as far as they take longer than what the
//      kernel moves; in its own also a launch, and what goes through memory.
//      Other kernels read what the home writes. A kernel of copies becomes one
//      with a kernel of the same loops that makes what they read, element by
//      element.
//   3. The first copy of a home that reads a value has that read, if the price
//      of saving the value does not include it.
//   4. What the home makes too is read only if it is saved (CopyRead); kernels
//      that became one around it are two then.
// Near linear.

#include "cutback/Kernels/NetworkTerms.h"

#include "PlainHalves.h"

#include "cutback/Kernels/Formation.h"

#include "llvm/ADT/DenseSet.h"

#include <cmath>

using namespace cutback;
using llvm::ArrayRef;

namespace {

constexpr uint32_t kNone = SegmentKernels::kNone;
using Read = KernelProblem::Read;

class Terms {
public:
  Terms(RooflineCosts &costs, const KernelProblem &problem,
        const GraphView &view, const GraphSets &sets, const ValueSizes &sizes,
        const Device &device)
      : costs(costs), problem(problem), view(view), sets(sets), sizes(sizes),
        device(device), home(view.numOps(), kNone) {}

  void run() {
    priceCopyingViews();
    isWanted = findWantedOps(problem, view, sets);
    formHalves();
    findReadTimes();
    sumUp();
    findHomes();
    for (uint32_t op = view.numOps(); op-- > 0;) {
      if (isCopy(op))
        priceCopy(op);
      else if (problem.kind[op] == LoopKind::None && costs.recomputePs[op] > 0)
        costs.recomputePs[op] = 0; // nothing runs
    }
    for (uint32_t v = 0; v < view.numValues(); ++v)
      priceSaved(v);
  }

private:
  bool isForward(uint32_t op) const {
    return sets.ops[op] == GraphSet::Forward;
  }
  /// An op of the forward that the backward may run again, and is no view.
  bool isCopy(uint32_t op) const {
    return isForward(op) && isWanted[op] &&
           problem.kind[op] != LoopKind::None &&
           costs.recomputePs[op] != RooflineCosts::kNever;
  }
  bool isView(uint32_t value) const {
    return !view.isArg(value) && view.traits[view.definer[value]].view;
  }
  bool isTensor(uint32_t value) const {
    return problem.root[value] == value && sizes.bytes[value] > 0 &&
           !sizes.isScalar(value);
  }
  double fullPs(uint32_t value) const {
    return static_cast<double>(sizes.bytes[value]) / device.bandwidth;
  }
  static int64_t round(double ps) {
    return static_cast<int64_t>(std::min(std::ceil(ps), 1e15));
  }

  /// A view that is a copy in memory costs what other values do, if somebody's
  /// plan saves it.
  void priceCopyingViews() {
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value) {
      uint32_t op = view.definer[value];
      if (view.traits[op].view && problem.kind[op] != LoopKind::None &&
          isTensor(value) && isForward(op) &&
          costs.savePs[value] == RooflineCosts::kNever) {
        costs.saveBytes[value] = sizes.bytes[value];
        costs.savePs[value] = round(2 * fullPs(value));
      }
    }
  }

  //===--- The backward ---------------------------------------------------===//

  void formHalves() {
    std::vector<uint32_t> first, second;
    for (uint32_t op = 0; op < view.numOps(); ++op)
      (isForward(op) ? first : second).push_back(op);
    KernelRates rates{device.bandwidth, device.launchPs, &costs.flopsPs};
    KernelLimits apart;
    apart.nests = 0;
    forward =
        formKernels(problem, view, sizes,
                    {first, {view.forwardResults()}, {}, false}, rates, apart);
    backward =
        formKernels(problem, view, sizes,
                    {second, {view.gradients()}, {}, true}, rates, apart);
    isResult = findForwardResults(problem, view);
    patternOf.reserve(backward.kernels.size());
    for (const Kernel &kernel : backward.kernels) {
      patternOf.push_back(kernel.nests.front().pattern);
      uint32_t ready = 0, number = readyAt.size();
      for (uint32_t op : kernel.ops)
        for (const Read &read : problem.readsOf(op))
          if (uint32_t def = view.definer[read.root];
              def != GraphView::kNone && backward.kernelOf[def] != kNone &&
              backward.kernelOf[def] != number)
            ready = std::max(ready, backward.kernelOf[def] + 1);
      readyAt.push_back(ready);
    }
  }

  /// By root: kernels that read it, and what that takes.
  void findReadTimes() {
    std::vector<double> given(backward.kernels.size(), 0);
    for (const GivenRead &read : backward.givenReads)
      given[read.kernel] += static_cast<double>(read.bytes);
    begin.assign(view.numValues() + 1, 0);
    for (const GivenRead &read : backward.givenReads)
      ++begin[read.root + 1];
    for (uint32_t v = 0; v < view.numValues(); ++v)
      begin[v + 1] += begin[v];
    reads.resize(backward.givenReads.size());
    std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
    for (const GivenRead &read : backward.givenReads) {
      const Kernel &kernel = backward.kernels[read.kernel];
      double moved = static_cast<double>(kernel.movedBytes);
      double all = given[read.kernel];
      double more = std::max(kernel.flopsPs, (moved + all) / device.bandwidth) -
                    std::max(kernel.flopsPs, moved / device.bandwidth);
      double ps = all > 0 ? more * static_cast<double>(read.bytes) / all : 0;
      reads[next[read.root]++] = {read.kernel, ps};
    }
    slackPs.reserve(given.size());
    for (auto [kernel, bytes] : llvm::zip_equal(backward.kernels, given))
      slackPs.push_back(
          std::max(0.0, (static_cast<double>(kernel.movedBytes) + bytes) /
                                device.bandwidth -
                            kernel.flopsPs));
  }

  void sumUp() {
    size_t launches = forward.kernels.size() + backward.kernels.size();
    costs.stepPs = forward.apartPs + backward.apartPs;
    costs.launchesPs = static_cast<double>(launches) * device.launchPs;
    costs.givenBytes = 0;
    for (uint32_t v = 0; v < view.numValues(); ++v)
      if (!readsOf(v).empty() && sets.values[v] == GraphSet::Forward)
        costs.givenBytes += static_cast<double>(costs.saveBytes[v]);
  }

  struct KernelRead {
    uint32_t kernel;
    double ps;
  };
  ArrayRef<KernelRead> readsOf(uint32_t root) const {
    return ArrayRef(reads).slice(begin[root], begin[root + 1] - begin[root]);
  }
  bool isReadIn(uint32_t root, uint32_t kernel) const {
    ArrayRef<KernelRead> kernels = readsOf(root); // ascending
    const KernelRead *found = llvm::partition_point(
        kernels, [&](const KernelRead &read) { return read.kernel < kernel; });
    return found != kernels.end() && found->kernel == kernel;
  }

  //===--- Homes ----------------------------------------------------------===//

  bool isOwn(uint32_t kernel) const {
    return kernel >= backward.kernels.size();
  }

  /// Whether a kernel that reads the op so can compute it.
  bool canJoin(uint32_t op, uint32_t kernel, const Read &read) const {
    LoopKind kind = problem.kind[op];
    if (kind == LoopKind::Call || kind == LoopKind::Concat ||
        read.map == IndexMaps::kNone || problem.kind[read.op] == LoopKind::Call)
      return false;
    if (kind == LoopKind::Elementwise)
      return true;
    uint32_t pattern = problem.pattern[op];
    const LoopPattern &loops = problem.maps.pattern(pattern);
    if (!loops.isRows() || problem.kind[read.op] == LoopKind::Concat)
      return false;
    return patternOf[kernel] == IndexMaps::kNoPattern ||
           patternOf[kernel] == pattern;
  }

  uint32_t kernelOf(uint32_t reader) {
    return isForward(reader) ? resolve(home[reader])
                             : backward.kernelOf[reader];
  }

  /// A kernel of copies alone.
  struct Own {
    uint32_t place = 0; ///< see placeOf
    int64_t iterations = 0;
    uint32_t into = kNone; ///< the kernel that it became one with
  };
  Own &ownOf(uint32_t kernel) { return own[kernel - backward.kernels.size()]; }
  const Own &ownOf(uint32_t kernel) const {
    return own[kernel - backward.kernels.size()];
  }
  uint32_t resolve(uint32_t kernel) {
    auto isGone = [&](uint32_t k) {
      return k != kNone && isOwn(k) && ownOf(k).into != kNone;
    };
    while (isGone(kernel)) {
      uint32_t into = ownOf(kernel).into;
      if (isGone(into)) // shorter for the next one
        ownOf(kernel).into = ownOf(into).into;
      kernel = into;
    }
    return kernel;
  }
  int64_t iterationsOf(uint32_t kernel) const {
    return isOwn(kernel) ? ownOf(kernel).iterations
                         : backward.kernels[kernel].nests.front().iterations;
  }

  /// The part of a concatenation that a reader works for; 0 of other kernels.
  uint32_t partOfRead(const Read &read) const {
    return problem.kind[read.op] == LoopKind::Concat ? read.map
                                                     : partOf[read.op];
  }

  /// Where a kernel runs, as a number of one of the backward without copies.
  uint32_t placeOf(uint32_t kernel) const {
    return isOwn(kernel) ? ownOf(kernel).place : kernel;
  }
  /// Not counted: copies of calls, of which a plan makes few in a row.
  uint32_t firstReader(uint32_t op) {
    uint32_t first = kNone;
    forEachReader(op, [&](const Read &read, uint32_t kernel) {
      if (!isForward(read.op) || problem.kind[read.op] != LoopKind::Call)
        first = std::min(first, placeOf(kernel));
    });
    return first;
  }

  template <typename Visit> void forEachReader(uint32_t op, Visit visit) {
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      for (uint32_t index : problem.readersOf(r)) {
        const Read &read = problem.reads[index];
        if (uint32_t kernel = kernelOf(read.op); kernel != kNone)
          visit(read, kernel);
      }
  }

  /// The kernel of the backward that reads the op first and can compute it,
  /// else that of a copy, else kNone.
  uint32_t findReader(uint32_t op) {
    uint32_t best = kNone;
    forEachReader(op, [&](const Read &read, uint32_t kernel) {
      if (kernel < best && canJoin(op, kernel, read))
        best = kernel;
    });
    if (best == kNone)
      return kNone;
    // One element of a concatenation is computed in one part.
    bool isFirst = true, isOnePart = true;
    forEachReader(op, [&](const Read &read, uint32_t kernel) {
      if (kernel != best || !canJoin(op, kernel, read))
        return;
      isOnePart &= isFirst || partOf[op] == partOfRead(read);
      partOf[op] = partOfRead(read);
      isFirst = false;
    });
    return isOnePart ? best : kNone;
  }

  /// The op's results are at hand where each element of `kernel` is computed.
  bool isInStep(uint32_t op, uint32_t kernel, const Read &read) const {
    if (read.map != IndexMaps::kIdentity ||
        problem.kind[read.op] == LoopKind::Call ||
        problem.kind[read.op] == LoopKind::Concat ||
        problem.iterations[op] != iterationsOf(kernel))
      return false;
    if (isForward(read.op))
      return true;
    KernelSchedule schedule = backward.kernels[kernel].schedule;
    return (schedule == KernelSchedule::Pointwise ||
            schedule == KernelSchedule::Row) &&
           (backward.atFull[read.op] || backward.combines[read.op]);
  }

  /// Kernels of copies that read the op too, element by element of the same
  /// loops as those of its home, become one with that if it can run before
  /// what they make is read.
  void takeReadersIn(uint32_t op, uint32_t into) {
    // What a third kernel reads is made for that one.
    bool isAtHand = false, isShared = false;
    forEachReader(op, [&](const Read &read, uint32_t kernel) {
      isAtHand |= kernel == into && isInStep(op, kernel, read);
      isShared |= kernel != into && !isOwn(kernel);
    });
    if (!isAtHand || isShared)
      return;
    forEachReader(op, [&](const Read &read, uint32_t kernel) {
      uint32_t pattern = patternOf[kernel], other = patternOf[into];
      if (kernel == into || !isOwn(kernel) || !isInStep(op, kernel, read) ||
          (pattern != other && pattern != IndexMaps::kNoPattern &&
           other != IndexMaps::kNoPattern))
        return;
      uint32_t place = ownOf(kernel).place;
      if (!isOwn(into) && readyAt[into] > place)
        return;
      ownOf(kernel).into = into;
      costs.copyReads.push_back(
          {read.root, read.op, round(device.launchPs + fullPs(read.root))});
      if (isOwn(into))
        ownOf(into).place = std::min(ownOf(into).place, place);
      if (other == IndexMaps::kNoPattern)
        patternOf[into] = pattern;
    });
  }

  void findHomes() {
    partOf.assign(view.numOps(), 0);
    for (uint32_t op = view.numOps(); op-- > 0;) {
      if (!isForward(op) && backward.kernelOf[op] != kNone) {
        findPart(op);
        continue;
      }
      if (!isCopy(op))
        continue;
      uint32_t best = findReader(op);
      if (best == kNone) {
        best = patternOf.size();
        patternOf.push_back(IndexMaps::kNoPattern);
        own.push_back({firstReader(op), problem.iterations[op], kNone});
        slackPs.push_back(0);
        partOf[op] = 0;
      } else if (problem.kind[op] == LoopKind::Elementwise) {
        takeReadersIn(op, best);
      }
      home[op] = best;
      if (problem.kind[op] == LoopKind::Reduction ||
          problem.kind[op] == LoopKind::Pick)
        patternOf[best] = problem.pattern[op];
    }
    for (uint32_t op = view.numOps(); op-- > 0;)
      if (home[op] != kNone && isOwn(home[op] = resolve(home[op])))
        lastOf.try_emplace(home[op], op);
  }

  /// Of an op of the backward.
  void findPart(uint32_t op) {
    uint32_t kernel = backward.kernelOf[op];
    if (backward.kernels[kernel].schedule != KernelSchedule::Concat)
      return;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      for (uint32_t index : problem.readersOf(r))
        if (const Read &read = problem.reads[index];
            kernelOf(read.op) == kernel)
          partOf[op] = partOfRead(read);
  }

  //===--- Prices ---------------------------------------------------------===//

  /// The op's copy has a home that can hold its results in registers.
  bool hasHome(uint32_t op) const {
    return op != GraphView::kNone && isCopy(op) &&
           problem.kind[op] != LoopKind::Call;
  }
  /// Of a copy that reads `bytes`: long rows are read in each pass.
  double readPs(uint32_t kernel, int64_t bytes) const {
    uint32_t passes = isOwn(kernel) ? 1 : backward.kernels[kernel].passes;
    return static_cast<double>(bytes) * passes / device.bandwidth;
  }

  /// What other kernels of the backward take to read the results, and the home
  /// to write them.
  double resultsPs(uint32_t op) const {
    double ps = 0;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r) {
      bool isRead = false;
      for (const KernelRead &read : readsOf(r))
        if (read.kernel != home[op]) {
          ps += read.ps;
          isRead = true;
        }
      if (isRead)
        ps += fullPs(r);
    }
    return ps;
  }

  /// Reads that the home has because of this copy.
  double operandsPs(uint32_t op) {
    double ps = 0;
    for (const Read &read : problem.readsOf(op)) {
      uint32_t root = read.root, def = view.definer[root];
      if (read.bytes == 0 || sets.values[root] != GraphSet::Forward ||
          isReadIn(root, home[op]) || !charged.insert({home[op], root}).second)
        continue;
      double full = readPs(home[op], read.bytes);
      if (hasHome(def) && home[def] == home[op]) {
        costs.copyReads.push_back({root, op, round(full)});
        continue;
      }
      // Saving what is never computed again pays for the first one.
      bool isAgain = def != GraphView::kNone && isCopy(def);
      bool isPaid = readsOf(root).empty() && !isAgain &&
                    costs.savePs[root] > 0 && !isView(root) &&
                    paid.try_emplace(root, full).second;
      if (!isPaid)
        ps += full;
      if (hasHome(def))
        ps += fullPs(root);
    }
    return ps;
  }

  /// What `flopsPs` more take in a kernel that moves `movedPs` more: it
  /// computes while it moves.
  double notHidden(uint32_t kernel, double flopsPs, double movedPs) {
    double &slack = slackPs[kernel];
    double hidden = std::min(flopsPs, slack + movedPs);
    slack += movedPs - hidden;
    return flopsPs - hidden;
  }

  void priceCopy(uint32_t op) {
    double results = resultsPs(op);
    double operands = operandsPs(op);
    bool isLaunch = isOwn(home[op]) && lastOf.lookup(home[op]) == op;
    double ps = costs.flopsPs[op];
    if (problem.kind[op] == LoopKind::Call) {
      double read = 0, written = 0;
      for (const Read &r : problem.readsOf(op))
        read += static_cast<double>(r.bytes) / device.bandwidth;
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        written += fullPs(r);
      // Those that are not its own are paid for by what is saved.
      ps = std::max(0.0, std::max(ps, read + written) - (read - operands));
      // What launches of graphs read, the kernel plan counts whole.
      if (const NestedCall *call = problem.nestedOf(op)) {
        ps = call->ps;
        isLaunch = false;
      }
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        for (const KernelRead &other : readsOf(r))
          ps += other.ps;
    } else {
      double moved = results + operands;
      // A row that is combined again makes passes of its own.
      bool isHidden = problem.kind[op] == LoopKind::Elementwise;
      ps = moved + (isHidden ? notHidden(home[op], ps, moved) : ps);
    }
    costs.recomputePs[op] = round(ps + (isLaunch ? device.launchPs : 0));
  }

  void priceSaved(uint32_t value) {
    // What neither half claims is made where it is read, unless it is saved.
    if (costs.savePs[value] <= 0 || !isTensor(value) ||
        sets.values[value] != GraphSet::Forward)
      return;
    double ps = isWrittenAnyway(value) ? 0 : fullPs(value);
    for (const KernelRead &read : readsOf(value))
      ps += read.ps;
    if (auto first = paid.find(value); first != paid.end())
      ps += first->second;
    costs.savePs[value] = std::max<int64_t>(1, round(ps));
  }

  /// By a kernel of the forward for another one, or for its caller.
  bool isWrittenAnyway(uint32_t value) const {
    uint32_t def = view.definer[value];
    if (def == GraphView::kNone || forward.kernelOf[def] == kNone ||
        isResult[value])
      return true;
    return llvm::any_of(problem.readersOf(value), [&](uint32_t read) {
      uint32_t op = problem.reads[read].op;
      return forward.kernelOf[op] != kNone &&
             forward.kernelOf[op] != forward.kernelOf[def];
    });
  }

  RooflineCosts &costs;
  const KernelProblem &problem;
  const GraphView &view;
  const GraphSets &sets;
  const ValueSizes &sizes;
  const Device &device;
  SegmentKernels forward, backward; ///< without a plan
  std::vector<uint8_t> isWanted;    ///< by op
  std::vector<uint8_t> isResult;    ///< by root
  std::vector<uint32_t> partOf;     ///< by op, in its kernel
  /// By kernel: those of the backward, and of copies alone behind them.
  std::vector<uint32_t> patternOf;
  std::vector<uint32_t> readyAt; ///< by kernel of the backward: behind these
  std::vector<Own> own;
  llvm::DenseMap<uint32_t, uint32_t> lastOf; ///< of copies: the last op
  /// By kernel: that it moves bytes longer than it computes.
  std::vector<double> slackPs;
  std::vector<uint32_t> begin;
  std::vector<KernelRead> reads; ///< by root, from `begin` on
  std::vector<uint32_t> home;    ///< by op
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> charged; ///< kernel, root
  /// By root: the read that saving it pays for, where the backward has none.
  llvm::DenseMap<uint32_t, double> paid;
};

} // namespace

void cutback::refineByKernels(RooflineCosts &costs,
                              const KernelProblem &problem,
                              const GraphView &view, const GraphSets &sets,
                              const ValueSizes &sizes, const Device &device) {
  Terms(costs, problem, view, sets, sizes, device).run();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of both halves without copies are formed once, as for NetworkTerms.
// Here each term is the least that it can be, whatever else the plan does:
//
//   1. Kernels of the backward, and kernels of copies alone, that have the same
//      loops and could have a copy in common may become one: a *group*. It
//      reads a value once, and has the launches of one kernel.
//   2. A saved value is read by each group with an op of every plan's backward
//      that reads it, and written unless the forward does so anyway. A kernel's
//      time grows by what it would for this value alone: together no less.
//   3. A call reads from memory whatever it reads. Of calls of the backward
//      every plan pays that; a copy of a call pays for it, its results, its
//      launch.
//   4. Another copy is free in the kernel that reads it; written and read where
//      several groups or a call do. A kernel of copies pays for a launch, and
//      of the ways back to memory for the one with the fewest bytes.
//   5. A group with a kernel of the backward reads what copies in it read and
//      it does not otherwise, if that is saved. An op of X is such a copy where
//      it runs in the backward.

#include "cutback/Kernels/LowerTerms.h"

#include "PlainHalves.h"

#include "cutback/Kernels/Formation.h"

#include "llvm/ADT/DenseMap.h"

#include <cmath>

using namespace cutback;
using llvm::ArrayRef;

namespace {

constexpr uint32_t kNone = SegmentKernels::kNone;
constexpr double kUnlimited = 1e15;
using Read = KernelProblem::Read;

class Terms {
public:
  Terms(LowerTerms &lower, const RooflineCosts &given,
        const KernelProblem &problem, const GraphView &view,
        const GraphSets &sets, const ValueSizes &sizes, const Device &device)
      : lower(lower), costs(lower.costs), problem(problem), view(view),
        sets(sets), sizes(sizes), device(device),
        inBackward(sets.findBackwardOps(view)), homes(view.numOps()),
        needBytes(view.numOps(), 0), coneFlopsPs(given.flopsPs) {
    costs.flopsPs = given.flopsPs;
    costs.recomputePs = given.recomputePs;
    costs.savePs = given.savePs;
    costs.saveBytes = given.saveBytes;
  }

  void run() {
    allowCopiedViews();
    isWanted = findWantedOps(problem, view, sets);
    formHalves();
    findLoops();
    findAlways();
    for (uint32_t op = view.numOps(); op-- > 0;)
      if (isCopy(op) && problem.kind[op] != LoopKind::Call)
        findHomes(op);
    countGroups();
    findReads();
    for (uint32_t op = 0; op < view.numOps(); ++op)
      if (isCopy(op) || isEither(op))
        findNeed(op);
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      if (!isInNetwork(op))
        continue;
      costs.recomputePs[op] = isCopy(op) ? round(copyPs(op)) : 0;
      if (isEither(op))
        addReadsOfEither(op);
    }
    for (uint32_t value = 0; value < view.numValues(); ++value)
      if (costs.savePs[value] > 0)
        costs.savePs[value] = round(savedPs(value));
  }

private:
  static int64_t round(double ps) {
    return static_cast<int64_t>(std::min(std::floor(ps), 1e15));
  }
  bool isForward(uint32_t op) const {
    return sets.ops[op] == GraphSet::Forward;
  }
  /// The op runs in one of the halves.
  bool isEither(uint32_t op) const { return !isForward(op) && !inBackward[op]; }
  bool isCopy(uint32_t op) const {
    return isForward(op) && isWanted[op] &&
           problem.kind[op] != LoopKind::None &&
           costs.recomputePs[op] != RooflineCosts::kNever;
  }
  bool isTensor(uint32_t value) const {
    return problem.root[value] == value && sizes.bytes[value] > 0 &&
           !sizes.isScalar(value);
  }
  double psOf(int64_t bytes) const {
    return static_cast<double>(bytes) / device.bandwidth;
  }

  /// A plan of the caller's may save what is a copy in memory.
  void allowCopiedViews() {
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value) {
      uint32_t op = view.definer[value];
      if (sets.values[value] != GraphSet::Backward && view.traits[op].view &&
          problem.kind[op] != LoopKind::None && isTensor(value) &&
          costs.savePs[value] == RooflineCosts::kNever) {
        costs.saveBytes[value] = sizes.bytes[value];
        costs.savePs[value] = 1;
      }
    }
  }

  /// Both, and what they would take less if no op stayed apart for the memory's
  /// sake: what is saved lies there anyway, so a plan may spare as much.
  void formHalves() {
    std::vector<uint32_t> first, second;
    for (uint32_t op = 0; op < view.numOps(); ++op)
      (isForward(op) ? first : second).push_back(op);
    SegmentOps ofForward{first, {view.forwardResults()}, {}, false},
        ofBackward{second, {view.gradients()}, {}, true};
    KernelRates rates{device.bandwidth, device.launchPs, &costs.flopsPs};
    auto form = [&](const SegmentOps &segment, bool sparesMemory) {
      KernelLimits apart;
      apart.nests = 0;
      apart.sparesMemory = sparesMemory;
      return formKernels(problem, view, sizes, segment, rates, apart);
    };
    forward = form(ofForward, true);
    backward = form(ofBackward, true);
    double spared =
        std::max(0.0, forward.apartPs - form(ofForward, false).apartPs) +
        std::max(0.0, backward.apartPs - form(ofBackward, false).apartPs);
    lower.everyPlanPs = -static_cast<int64_t>(std::ceil(spared));
    isResult = findForwardResults(problem, view);
    into.resize(backward.kernels.size() + view.numOps());
    for (auto [kernel, to] : llvm::enumerate(into))
      to = kernel;
  }

  bool isCall(uint32_t kernel) const {
    return backward.kernels[kernel].schedule == KernelSchedule::Call;
  }

  /// Bytes that each kernel of the backward reads under every plan.
  void findAlways() {
    alwaysBytes.assign(backward.kernels.size(), 0);
    for (const GivenRead &read : backward.givenReads)
      if (isAlways(read) && isSurelyRead(read.root, read.kernel))
        alwaysBytes[read.kernel] += read.bytes;
    double sum = 0;
    for (auto [kernel, bytes] : llvm::zip_equal(backward.kernels, alwaysBytes))
      sum += growth(kernel.flopsPs, kernel.movedBytes, bytes);
    lower.everyPlanPs += round(sum);
  }
  bool isAlways(const GivenRead &read) const {
    return view.isArg(read.root) || isCall(read.kernel);
  }

  /// What `bytes` more take in a kernel that computes and moves already.
  double growth(double flopsPs, int64_t moved, int64_t bytes) const {
    return std::max(flopsPs, psOf(moved + bytes)) -
           std::max(flopsPs, psOf(moved));
  }
  double growthIn(uint32_t kernel, int64_t bytes) const {
    const Kernel &there = backward.kernels[kernel];
    return growth(there.flopsPs, there.movedBytes + alwaysBytes[kernel], bytes);
  }

  /// An op that runs in the backward under every plan reads the root in that
  /// kernel.
  bool isSurelyRead(uint32_t root, uint32_t kernel) const {
    return llvm::any_of(problem.readersOf(root), [&](uint32_t index) {
      uint32_t op = problem.reads[index].op;
      return inBackward[op] && backward.kernelOf[op] == kernel;
    });
  }

  //===--- Kernels that copies can be in ----------------------------------===//

  bool isOwn(uint32_t kernel) const {
    return kernel >= backward.kernels.size();
  }
  uint32_t ownOf(uint32_t op) const { return backward.kernels.size() + op; }

  uint32_t groupOf(uint32_t kernel) {
    while (into[kernel] != kernel)
      kernel = into[kernel] = into[into[kernel]];
    return kernel;
  }

  /// Whether whoever reads the op so can compute it on the way.
  bool canJoin(uint32_t op, const Read &read) const {
    LoopKind kind = problem.kind[op], reader = problem.kind[read.op];
    return kind != LoopKind::Call && kind != LoopKind::Concat &&
           !isPartial(op) && read.map != IndexMaps::kNone &&
           reader != LoopKind::Call;
  }

  /// Of sums of sums: a kernel of its own, as formKernels() has it.
  bool isPartial(uint32_t op) const {
    if (problem.kind[op] != LoopKind::Reduction)
      return false;
    const LoopPattern &loops = problem.maps.pattern(problem.pattern[op]);
    KernelLimits limits;
    return !loops.isRows() || loops.reduced > limits.rowOfBlock;
  }

  /// Two groups that can have the same loops may become one.
  bool canBecomeOne(uint32_t a, uint32_t b) const {
    return llvm::any_of(loops[a], [&](int64_t count) {
      return llvm::is_contained(loops[b], count);
    });
  }
  /// The only group is that of both then.
  uint32_t unite(uint32_t a, uint32_t b) {
    // The number of a kernel of the backward is the smaller one.
    uint32_t to = std::min(a, b), from = std::max(a, b);
    into[from] = to;
    for (int64_t count : loops[from])
      addLoops(to, count);
    return to;
  }
  void addLoops(uint32_t group, int64_t count) {
    if (!llvm::is_contained(loops[group], count))
      loops[group].push_back(count);
  }
  int64_t iterationsOf(uint32_t kernel) const {
    return isOwn(kernel) ? problem.iterations[kernel - backward.kernels.size()]
                         : backward.kernels[kernel].nests.front().iterations;
  }
  /// Which loops each kernel can have; none where it becomes one with no other.
  void findLoops() {
    loops.resize(into.size());
    for (uint32_t kernel = 0; kernel < into.size(); ++kernel) {
      bool canChange =
          isOwn(kernel)
              ? !isPartial(kernel - backward.kernels.size())
              : backward.kernels[kernel].schedule ==
                        KernelSchedule::Pointwise ||
                    backward.kernels[kernel].schedule == KernelSchedule::Row;
      if (canChange)
        loops[kernel].push_back(iterationsOf(kernel));
    }
  }

  template <typename Visit> void forEachRead(uint32_t op, Visit visit) const {
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      for (uint32_t index : problem.readersOf(r))
        visit(problem.reads[index]);
  }

  /// The groups that can have the copy, which make some of them one.
  void findHomes(uint32_t op) {
    llvm::SmallVector<uint32_t, 4> found;
    bool isSure = false; // an op of every plan's backward reads it
    auto add = [&](uint32_t kernel) {
      kernel = groupOf(kernel);
      for (uint32_t &other : found) {
        other = groupOf(other);
        if (other == kernel)
          return;
        if (canBecomeOne(other, kernel)) {
          other = unite(other, kernel);
          return;
        }
      }
      found.push_back(kernel);
    };
    forEachRead(op, [&](const Read &read) {
      if (!canJoin(op, read))
        return;
      if (!isForward(read.op)) {
        add(backward.kernelOf[read.op]);
        isSure |= inBackward[read.op];
      } else if (isCopy(read.op)) {
        for (uint32_t kernel : homes[read.op])
          add(kernel);
      }
    });
    if (found.empty() || (!isSure && isReadByCall(op)))
      add(ownOf(op));
    homes[op].assign(found.begin(), found.end());
    // Rows that are combined in a kernel are its loops then.
    if (problem.kind[op] == LoopKind::Reduction ||
        problem.kind[op] == LoopKind::Pick)
      for (uint32_t kernel : found)
        if (!loops[groupOf(kernel)].empty())
          addLoops(groupOf(kernel), problem.iterations[op]);
  }
  bool isReadByCall(uint32_t op) const {
    bool isRead = false;
    forEachRead(op, [&](const Read &read) { isRead |= !canJoin(op, read); });
    return isRead;
  }

  /// The only group that can have the copy, or kNone.
  uint32_t homeOf(uint32_t op) {
    uint32_t home = kNone;
    for (uint32_t kernel : homes[op]) {
      uint32_t group = groupOf(kernel);
      if (home != kNone && home != group)
        return kNone;
      home = group;
    }
    return home;
  }
  /// No reader can have the copy in its kernel.
  bool isLast(uint32_t op) const {
    bool isJoined = false;
    forEachRead(op, [&](const Read &read) {
      isJoined |= canJoin(op, read) && (!isForward(read.op) || isCopy(read.op));
    });
    return !isJoined;
  }

  /// Kernels of the backward that become one spare launches.
  void countGroups() {
    for (uint32_t kernel = 0; kernel < backward.kernels.size(); ++kernel)
      if (groupOf(kernel) != kernel)
        lower.everyPlanPs -= static_cast<int64_t>(std::ceil(device.launchPs));
    lastOfGroup.assign(into.size(), 0);
    for (uint32_t op = 0; op < view.numOps(); ++op)
      if (isCopy(op) && problem.kind[op] != LoopKind::Call && isLast(op))
        ++lastOfGroup[groupOf(ownOf(op))];
  }

  //===--- Reads of the backward ------------------------------------------===//

  struct GroupRead {
    uint32_t group;
    double ps;
    bool isSure;
  };

  /// By root: groups that read it.
  void findReads() {
    reads.resize(view.numValues());
    for (const GivenRead &read : backward.givenReads) {
      bool isSure = isSurelyRead(read.root, read.kernel);
      double ps =
          isSure && !isAlways(read) ? growthIn(read.kernel, read.bytes) : 0;
      uint32_t group = groupOf(read.kernel);
      auto *known = llvm::find_if(reads[read.root], [&](const GroupRead &r) {
        return r.group == group;
      });
      if (known == reads[read.root].end()) {
        reads[read.root].push_back({group, ps, isSure});
      } else {
        known->ps = std::max(known->ps, ps);
        known->isSure |= isSure;
      }
    }
  }
  bool isReadIn(uint32_t root, uint32_t group) const {
    return llvm::any_of(reads[root], [&](const GroupRead &read) {
      return read.isSure && read.group == group;
    });
  }

  /// Bytes that a kernel reads at least which has the op: of its reads the
  /// largest, each from memory or from what it is made of there.
  void findNeed(uint32_t op) {
    int64_t most = 0;
    double flops = costs.flopsPs[op];
    for (const Read &read : problem.readsOf(op)) {
      most = std::max(most, needOf(op, read));
      if (uint32_t def = view.definer[read.root];
          def != GraphView::kNone && canJoin(def, read))
        flops += coneFlopsPs[def];
    }
    needBytes[op] = most;
    coneFlopsPs[op] = std::min(flops, kUnlimited);
  }
  int64_t needOf(uint32_t op, const Read &read) const {
    uint32_t def = view.definer[read.root];
    if (def == GraphView::kNone || !isForward(def))
      return view.isArg(read.root) ? read.bytes : 0;
    bool isWithin =
        problem.kind[op] != LoopKind::Call && isCopy(def) && canJoin(def, read);
    if (!isWithin)
      return problem.kind[def] == LoopKind::None ? 0 : read.bytes;
    // Else a part of it may be computed for this reader.
    return problem.maps.map(read.map).coversAll
               ? std::min(read.bytes, needBytes[def])
               : 0;
  }

  //===--- Terms ----------------------------------------------------------===//

  bool isHardRead(uint32_t op, uint32_t root, uint32_t group) {
    return llvm::any_of(problem.readersOf(root), [&](uint32_t index) {
      const Read &read = problem.reads[index];
      return inBackward[read.op] &&
             groupOf(backward.kernelOf[read.op]) == group && !canJoin(op, read);
    });
  }

  /// What other groups take to read a copy's results, and it to write them.
  double resultsPs(uint32_t op, bool isWritten) {
    double ps = 0;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r) {
      double all = 0, most = 0;
      uint32_t groups = 0;
      bool isHard = isWritten && view.numResults(op) == 1;
      for (const GroupRead &read : reads[r]) {
        groups += read.isSure;
        all += read.ps;
        if (isHardRead(op, r, read.group))
          isHard = true;
        else
          most = std::max(most, read.ps);
      }
      ps += all - most + (isHard || groups > 1 ? psOf(sizes.bytes[r]) : 0);
    }
    return ps;
  }

  double callPs(uint32_t op) const {
    double ps = 0, moved = 0;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      for (const GroupRead &read : reads[r])
        ps += read.ps;
    if (const NestedCall *call = problem.nestedOf(op))
      return ps + call->ps;
    llvm::ArrayRef<Read> operands = problem.readsOf(op);
    for (size_t i = 0; i < operands.size(); ++i) // each root once
      if (llvm::none_of(operands.take_front(i), [&](const Read &before) {
            return before.root == operands[i].root;
          }))
        moved += psOf(operands[i].bytes);
    if (view.numResults(op) == 1)
      moved += psOf(sizes.bytes[view.resultBegin[op]]);
    return ps + std::max(costs.flopsPs[op], moved) + device.launchPs;
  }

  double copyPs(uint32_t op) {
    if (problem.kind[op] == LoopKind::Call)
      return callPs(op);
    bool isEnd = isLast(op);
    double ps = resultsPs(op, isEnd);
    uint32_t home = homeOf(op);
    if (home == kNone)
      addSureReads(op);
    else if (!isOwn(home))
      addReads(op, home, false, kUnlimited);
    else if (isEnd)
      // Each of those that end kernels of a group has a part of the first.
      ps += (device.launchPs + psOf(needBytes[op])) /
            std::max<uint32_t>(1, lastOfGroup[home]);
    return ps;
  }

  /// Of a copy that several groups can have: if one alone is there under every
  /// plan, that one computes it, or reads it after another has written it.
  void addSureReads(uint32_t op) {
    uint32_t group = kNone, count = 0;
    double most = 0;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      for (const GroupRead &read : reads[r])
        if (read.isSure && !isHardRead(op, r, read.group)) {
          count += read.group != group;
          group = read.group;
          most = read.ps + psOf(sizes.bytes[r]);
        }
    if (count == 1 && view.numResults(op) == 1)
      addReads(op, group, true, most);
  }

  /// How often the kernel goes through what the copy, which computes from
  /// nothing else, reads there.
  int64_t passesOf(uint32_t op, uint32_t kernel) const {
    return problem.kind[op] == LoopKind::Elementwise &&
                   problem.readsOf(op).size() == 1 &&
                   problem.readsOf(op)[0].map == IndexMaps::kIdentity &&
                   problem.iterations[op] == iterationsOf(kernel)
               ? backward.kernels[kernel].passes
               : 1;
  }

  bool isInNetwork(uint32_t op) const {
    return isWanted[op] && costs.recomputePs[op] != RooflineCosts::kNever;
  }

  /// Reads that a group has because of the op: what can be computed in it, only
  /// if that is saved. `isSure`: the op may be in another group, which takes
  /// `most` at least then.
  void addReads(uint32_t op, uint32_t group, bool isSure, double most) {
    for (const Read &read : problem.readsOf(op)) {
      uint32_t root = read.root, def = view.definer[root];
      bool hasMaker = def != GraphView::kNone;
      if (read.bytes == 0 || sets.values[root] == GraphSet::Backward ||
          (hasMaker && inBackward[def]) || isReadIn(root, group))
        continue;
      bool isThere =
          hasMaker && (isEither(def) || (isCopy(def) && canJoin(def, read)));
      auto [entry, isNew] =
          charged.try_emplace({group, root}, lower.relaxation.shared.size());
      if (isNew) {
        double more =
            std::min(most, growthIn(group, read.bytes * passesOf(op, group)));
        most -= more;
        lower.relaxation.shared.push_back(
            {isThere ? root : GraphView::kNone, round(more)});
      }
      Relaxation::SharedCost &cost = lower.relaxation.shared[entry->second];
      if (isNew || (!isSure && (isThere ? cost.value == root : true)))
        cost.ops.push_back(op);
    }
  }

  /// Of an op of either half, if it runs in the backward.
  void addReadsOfEither(uint32_t op) {
    uint32_t kernel = backward.kernelOf[op];
    if (kernel != kNone && !isCall(kernel))
      addReads(op, groupOf(kernel), false, kUnlimited);
  }

  double savedPs(uint32_t value) {
    if (!isTensor(value))
      return 0;
    if (sets.values[value] == GraphSet::Unclaimed)
      return savedEitherPs(value);
    double ps = writePs(value);
    for (const GroupRead &read : reads[value])
      ps += read.ps;
    return ps;
  }

  /// Of a value that either half may make: the forward does.
  double savedEitherPs(uint32_t value) {
    uint32_t def = view.definer[value];
    if (def == GraphView::kNone || problem.kind[def] == LoopKind::None)
      return 0;
    llvm::SmallVector<std::pair<uint32_t, double>, 2> found; // by group
    bool isWritten = false; // for others of the forward, perhaps
    for (uint32_t index : problem.readersOf(value)) {
      const Read &read = problem.reads[index];
      isWritten |= isEither(read.op);
      if (!inBackward[read.op])
        continue;
      uint32_t kernel = backward.kernelOf[read.op], group = groupOf(kernel);
      // Where the backward makes it, a call's bytes include it.
      const Kernel &there = backward.kernels[kernel];
      int64_t without = std::max<int64_t>(0, there.movedBytes - read.bytes);
      double ps = isCall(kernel) ? growth(there.flopsPs, without, read.bytes)
                                 : growthIn(kernel, read.bytes);
      auto *known = llvm::find_if(
          found, [&](const auto &entry) { return entry.first == group; });
      if (known == found.end())
        found.emplace_back(group, ps);
      else
        known->second = std::max(known->second, ps);
    }
    double ps = isWritten || problem.kind[def] == LoopKind::Call
                    ? 0
                    : std::max(0.0, psOf(sizes.bytes[value] + needBytes[def]) -
                                        std::max(psOf(needBytes[def]),
                                                 coneFlopsPs[def]));
    for (auto [group, more] : found)
      ps += more;
    return ps;
  }

  /// Of the forward's kernel, if no other one and no caller reads the value.
  double writePs(uint32_t value) const {
    uint32_t def = view.definer[value];
    if (def == GraphView::kNone || forward.kernelOf[def] == kNone ||
        isResult[value])
      return 0;
    uint32_t number = forward.kernelOf[def];
    for (uint32_t index : problem.readersOf(value)) {
      uint32_t op = problem.reads[index].op;
      bool mayBeThere =
          forward.kernelOf[op] != kNone || (!isForward(op) && !inBackward[op]);
      if (mayBeThere && forward.kernelOf[op] != number)
        return 0;
    }
    const Kernel &kernel = forward.kernels[number];
    return growth(kernel.flopsPs, kernel.movedBytes, sizes.bytes[value]);
  }

  LowerTerms &lower;
  RooflineCosts &costs;
  const KernelProblem &problem;
  const GraphView &view;
  const GraphSets &sets;
  const ValueSizes &sizes;
  const Device &device;
  std::vector<uint8_t> inBackward; ///< by op
  SegmentKernels forward, backward;
  std::vector<int64_t> alwaysBytes; ///< by kernel of the backward
  std::vector<uint8_t> isWanted;    ///< by op
  std::vector<uint8_t> isResult;    ///< by root
  /// By kernel of the backward, and of copies of an op alone after them: one
  /// of its group, itself if that is the group's number.
  std::vector<uint32_t> into;
  std::vector<llvm::SmallVector<int64_t, 2>> loops; ///< by group
  std::vector<uint32_t>
      lastOfGroup; ///< by group: copies that no kernel takes in
  std::vector<llvm::SmallVector<uint32_t, 2>> homes; ///< by op
  std::vector<int64_t> needBytes;                    ///< by op: see findNeed
  /// By op: FLOPs of all that its kernel may compute for it, at most.
  std::vector<double> coneFlopsPs;
  std::vector<llvm::SmallVector<GroupRead, 1>> reads; ///< by root
  /// By group and root: the number of what its read costs.
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, size_t> charged;
};

} // namespace

LowerTerms cutback::lowerTerms(const RooflineCosts &costs,
                               const KernelProblem &problem,
                               const GraphView &view, const GraphSets &sets,
                               const ValueSizes &sizes, const Device &device) {
  LowerTerms lower;
  Terms(lower, costs, problem, view, sets, sizes, device).run();
  return lower;
}

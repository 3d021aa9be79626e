// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order of launches is unknown, but one that depends on another comes after
// it. So at the launch of a call
//
//   * all that it reads and writes is in the arena;
//   * what comes from before it (its ancestors make it) and is read after it
//     (by descendants) is in the arena: forward values in the forward, and in
//     the backward those of ops that run there under every plan;
//   * a forward value is, if it is saved: in the forward if an ancestor makes
//     it, in the backward if an op that runs there anyway, and is a descendant,
//     reads it;
//   * a gradient is kept, so a call beside it, which makes one of what an
//     ancestor gives, has run and its result is there, or it has not, and what
//     it reads is.
//
// Between the halves all saved values and the forward's results are live, at
// the end the gradients and these. Kernels of loops keep what they make in
// registers, so their launches are no moments.

#include "StepMoments.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace cutback;

namespace {

constexpr uint32_t kNone = GraphView::kNone;
/// Ops looked at for all calls, and moments that are kept.
constexpr uint64_t kWork = 30'000'000;
constexpr size_t kMoments = 24;

using Read = KernelProblem::Read;

class Moments {
public:
  Moments(const KernelProblem &problem, const GraphView &view,
          const GraphSets &sets, const std::vector<int64_t> &bytes)
      : problem(problem), view(view), sets(sets), bytes(bytes),
        inBackward(sets.findBackwardOps(view)), isKept(view.numValues(), 0),
        isResult(view.numValues(), 0), mark(view.numOps(), 0),
        state(view.numValues(), 0), claimed(view.numOps(), 0) {
    for (uint32_t value : view.forwardResults())
      isResult[problem.root[value]] = 1;
    for (uint32_t value : view.gradients())
      isKept[problem.root[value]] = 1;
  }

  std::vector<StepMoment> run() {
    std::vector<StepMoment> all;
    for (uint32_t op : largestCalls())
      all.push_back(atCall(op));
    std::vector<StepMoment> found = choose(std::move(all));
    found.push_back(between());
    found.push_back(atEnd());
    return found;
  }

private:
  enum : uint8_t { kBefore = 1, kAfter = 2 };
  enum State : uint8_t { kFree, kFixed, kCharged };

  //===--- Calls ----------------------------------------------------------===//

  std::vector<uint32_t> largestCalls() {
    std::vector<std::pair<int64_t, uint32_t>> calls;
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      bool isSure = sets.ops[op] == GraphSet::Forward || inBackward[op];
      if (problem.kind[op] != LoopKind::Call || !isSure)
        continue;
      int64_t sum = 0;
      for (uint32_t root : workingSet(op))
        sum += bytes[root];
      if (sum > 0)
        calls.emplace_back(-sum, op);
    }
    llvm::sort(calls);
    size_t most = kWork / std::max<uint64_t>(1, view.numOps());
    std::vector<uint32_t> ops;
    for (auto [sum, op] : ArrayRef(calls).take_front(std::max<size_t>(8, most)))
      ops.push_back(op);
    return ops;
  }

  /// Roots that lie in the arena while the call runs; it may write its result
  /// over an operand of as many bytes unless it is a product.
  SmallVector<uint32_t, 8> workingSet(uint32_t op) const {
    SmallVector<uint32_t, 8> roots;
    auto add = [&](uint32_t root) {
      if (bytes[root] > 0 && !llvm::is_contained(roots, root))
        roots.push_back(root);
    };
    for (const Read &read : problem.readsOf(op))
      if (read.bytes > 0)
        add(read.root);
    bool isOverwriting = !view.traits[op].computeIntensive ||
                         isa<DestinationStyleOpInterface>(view.ops[op]);
    size_t numRead = roots.size();
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r) {
      bool isOver =
          isOverwriting &&
          llvm::any_of(ArrayRef(roots).take_front(numRead),
                       [&](uint32_t root) { return bytes[root] == bytes[r]; });
      if (problem.root[r] == r && !isOver)
        add(r);
    }
    return roots;
  }

  void markRelatives(uint32_t call) {
    std::fill(mark.begin(), mark.end(), 0);
    SmallVector<uint32_t> stack{call};
    while (!stack.empty()) {
      uint32_t op = stack.pop_back_val();
      for (uint32_t value : view.operands(op))
        if (uint32_t def = view.definer[value];
            def != kNone && !(mark[def] & kBefore)) {
          mark[def] |= kBefore;
          stack.push_back(def);
        }
    }
    stack.push_back(call);
    while (!stack.empty()) {
      uint32_t op = stack.pop_back_val();
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        for (uint32_t user : view.users(r))
          if (user < view.numOps() && !(mark[user] & kAfter)) {
            mark[user] |= kAfter;
            stack.push_back(user);
          }
    }
  }

  template <typename Test> bool isReadBy(uint32_t root, Test test) const {
    return llvm::any_of(problem.readersOf(root), [&](uint32_t index) {
      const Read &read = problem.reads[index];
      return read.bytes > 0 && test(read.op);
    });
  }
  bool isMadeBefore(uint32_t root) const {
    uint32_t def = view.definer[root];
    return def != kNone && (mark[def] & kBefore) &&
           problem.kind[def] != LoopKind::None;
  }

  /// Of a root that is not in the working set.
  State inForward(uint32_t root) const {
    if (sets.values[root] != GraphSet::Forward || !isMadeBefore(root))
      return kFree;
    bool isNeeded =
        isResult[root] || isReadBy(root, [&](uint32_t op) {
          return (mark[op] & kAfter) && sets.ops[op] == GraphSet::Forward;
        });
    return isNeeded ? kFixed : kCharged;
  }
  State inSecondHalf(uint32_t root) const {
    if (isResult[root])
      return kFixed;
    bool isReadAfter = isReadBy(root, [&](uint32_t op) {
      return (mark[op] & kAfter) && inBackward[op];
    });
    if (sets.values[root] == GraphSet::Forward)
      return isReadAfter ? kCharged : kFree;
    if (isMadeBefore(root) && (isReadAfter || isKept[root]))
      return kFixed;
    return isReadAfter && sets.values[root] == GraphSet::Unclaimed ? kCharged
                                                                   : kFree;
  }

  StepMoment atCall(uint32_t op) {
    StepMoment moment;
    moment.op = op;
    markRelatives(op);
    std::fill(state.begin(), state.end(), kFree);
    for (uint32_t root : workingSet(op))
      state[root] = kFixed;
    bool isForward = sets.ops[op] == GraphSet::Forward;
    for (uint32_t root = view.numArgs; root < view.numValues(); ++root) {
      if (bytes[root] == 0)
        continue;
      if (state[root] != kFixed)
        state[root] = isForward ? inForward(root) : inSecondHalf(root);
      if (state[root] == kFixed) {
        moment.fixed.push_back(root);
        moment.fixedBytes += bytes[root];
      } else if (state[root] == kCharged) {
        moment.charged.push_back(root);
      }
    }
    if (!isForward)
      moment.fixedBytes += gradientBytes(op);
    return moment;
  }

  //===--- Gradients ------------------------------------------------------===//

  /// Of those made beside the call: what they, or what makes them, take.
  int64_t gradientBytes(uint32_t call) {
    std::fill(claimed.begin(), claimed.end(), 0);
    claimed[call] = 1;
    int64_t sum = 0;
    for (uint32_t root = view.numArgs; root < view.numValues(); ++root) {
      if (bytes[root] == 0 || state[root] == kFixed || !isMadeBefore(root) ||
          !inBackward[view.definer[root]])
        continue;
      int64_t least = 0;
      for (uint32_t index : problem.readersOf(root)) {
        const Read &read = problem.reads[index];
        if (read.bytes > 0 && inBackward[read.op] && mark[read.op] == 0)
          least = std::max(least, madeOf(read.op, 0));
      }
      sum += std::min(bytes[root], least);
    }
    return sum;
  }

  /// Bytes that are live behind the op and before all ops that depend on it are
  /// done, and then; 0 if somebody else counts them.
  int64_t madeOf(uint32_t op, unsigned depth) {
    constexpr unsigned kDeep = 8;
    if (claimed[op] || depth > kDeep || view.numResults(op) != 1 ||
        problem.kind[op] == LoopKind::None)
      return 0;
    claimed[op] = 1;
    uint32_t root = problem.root[view.resultBegin[op]];
    if (isKept[root] || state[root] == kFixed)
      return state[root] == kFixed ? 0 : bytes[root];
    int64_t then = 0;
    for (uint32_t index : problem.readersOf(root)) {
      const Read &read = problem.reads[index];
      if (read.bytes > 0 && inBackward[read.op])
        then =
            std::max(then, mark[read.op] & kAfter ? bytes[root]
                                                  : madeOf(read.op, depth + 1));
    }
    return std::min(bytes[root], then);
  }

  //===--- All ------------------------------------------------------------===//

  StepMoment between() {
    StepMoment moment;
    moment.kind = StepMoment::Between;
    for (uint32_t root = view.numArgs; root < view.numValues(); ++root) {
      if (bytes[root] == 0)
        continue;
      if (isResult[root])
        addFixed(moment, root);
      else if (sets.values[root] != GraphSet::Backward)
        moment.charged.push_back(root);
    }
    return moment;
  }

  StepMoment atEnd() {
    StepMoment moment;
    moment.kind = StepMoment::End;
    for (uint32_t root = view.numArgs; root < view.numValues(); ++root)
      if (bytes[root] > 0 && (isResult[root] || isKept[root]))
        addFixed(moment, root);
    return moment;
  }

  void addFixed(StepMoment &moment, uint32_t root) const {
    moment.fixed.push_back(root);
    moment.fixedBytes += bytes[root];
  }

  /// Those with the most bytes whatever is saved, and those with the most that
  /// can be, without those that another one is above of.
  std::vector<StepMoment> choose(std::vector<StepMoment> all) const {
    auto chargedBytes = [&](const StepMoment &moment) {
      int64_t sum = 0;
      for (uint32_t root : moment.charged)
        sum += bytes[root];
      return sum;
    };
    std::vector<StepMoment> found;
    for (bool isOfAll : {true, false}) {
      std::vector<std::pair<int64_t, uint32_t>> order;
      for (auto [i, moment] : llvm::enumerate(all))
        order.emplace_back(
            -moment.fixedBytes - (isOfAll ? chargedBytes(moment) : 0), i);
      llvm::sort(order);
      size_t most = isOfAll ? kMoments / 2 : kMoments;
      for (auto &[sum, number] : order) {
        uint32_t i = number;
        if (found.size() >= most)
          break;
        bool isBelow = llvm::any_of(found, [&](const StepMoment &other) {
          return isWithin(all[i], other);
        });
        if (!isBelow)
          found.push_back(all[i]);
      }
    }
    return found;
  }

  /// No plan has more live at `a` than at `b`.
  static bool isWithin(const StepMoment &a, const StepMoment &b) {
    auto isIn = [](ArrayRef<uint32_t> list, uint32_t value) {
      return std::binary_search(list.begin(), list.end(), value);
    };
    return a.fixedBytes <= b.fixedBytes &&
           llvm::all_of(a.charged,
                        [&](uint32_t value) { return isIn(b.charged, value); });
  }

  const KernelProblem &problem;
  const GraphView &view;
  const GraphSets &sets;
  const std::vector<int64_t> &bytes;
  std::vector<uint8_t> inBackward;       ///< by op
  std::vector<uint8_t> isKept, isResult; ///< by root
  /// Of the call at work: by op, its relation to it; by root; by op, whose
  /// result is counted.
  std::vector<uint8_t> mark, state, claimed;
};

} // namespace

std::vector<int64_t> cutback::arenaBytes(const KernelProblem &problem,
                                         const GraphView &view,
                                         const ValueSizes &sizes) {
  std::vector<int64_t> bytes(view.numValues(), 0);
  for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
    if (problem.root[value] == value && !sizes.isScalar(value) &&
        sizes.kind[value] == ValueKind::Tensor && !sizes.unknown[value])
      bytes[value] = sizes.bytes[value];
  return bytes;
}

std::vector<StepMoment>
cutback::findMoments(const KernelProblem &problem, const GraphView &view,
                     const GraphSets &sets, const std::vector<int64_t> &bytes) {
  return Moments(problem, view, sets, bytes).run();
}

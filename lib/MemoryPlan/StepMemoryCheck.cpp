// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a step can be planned, and the proof of a plan.
//
// The proof does not look at live ranges or buffers. It runs the program on
// bytes that have an owner (a map from the first byte of each owned range):
// each op must find the storages of its operands owned whole, then its results
// take their bytes over from whoever has them. A plan that frees too early, or
// that puts two live storages on the same bytes, fails at the op that reads
// what is gone. A launch runs its ops in any order: none must write over what
// another reads, but in place as `mayReplace` allows; and what has no place is
// read where it was made. O(n log n).

#include "cutback/MemoryPlan/StepMemory.h"
#include "cutback/Support/MLIR/TensorBytes.h"

#include <map>

using namespace mlir;
using namespace cutback;

static constexpr uint32_t kNone = StepView::kNone;

/// True if all elements of `value` lie inside its storage.
static bool staysInside(const StepView &program, const StepValue &value) {
  const Layout &layout = program.layouts[value.layout];
  // What is hidden is looked at when it runs.
  if (!layout.isKnown() || layout.numel() == 0)
    return true;
  int64_t first = layout.offset, last = layout.offset;
  for (auto [size, stride] : llvm::zip(layout.sizes, layout.strides))
    (stride < 0 ? first : last) += (size - 1) * stride;
  int64_t bytes = elementBytes(cast<ShapedType>(value.type).getElementType());
  return first >= 0 &&
         (last + 1) * bytes <= program.storages[value.storage].bytes;
}

LogicalResult StepMemory::check() const {
  for (uint32_t op = 0; op < program.numOps(); ++op) {
    for (uint32_t value : program.operands(op))
      if (value >= *program.results(op).begin())
        return program.op(op)->emitOpError("reads a value that no earlier op "
                                           "of the step defines");
    for (uint32_t r : program.results(op))
      if (program.values[r].storage != kNone &&
          !staysInside(program, program.values[r]))
        return program.op(op)->emitOpError("makes '")
               << program.name(r) << "', which reaches out of its storage";
  }
  if (std::optional<ArenaFault> fault = checkArena(intervals, 256))
    return program.op(intervals[fault->first].begin)
        ->emitOpError("makes the step's storages larger than 62 bits count");
  return success();
}

namespace {

class Proof {
public:
  Proof(const StepView &program, const std::vector<StorageRange> &ranges,
        const ArenaLayout &layout)
      : program(program), ranges(ranges), layout(layout),
        maker(program.storages.size(), kNone) {
    for (uint32_t storage = 0; storage < program.storages.size(); ++storage)
      if (program.storages[storage].isScratch)
        scratchOf.emplace(program.maker(storage), storage);
  }

  LogicalResult run() {
    for (uint32_t op = 0; op < program.numOps(); ++op) {
      if (op == program.launch(op).begin)
        enter(program.launch(op));
      for (uint32_t value : program.operands(op))
        if (failed(checkRead(op, value)))
          return failure();
      if (failed(takeScratch(op)))
        return failure();
      for (uint32_t r : program.results(op))
        if (failed(write(op, r)))
          return failure();
    }
    uint32_t last = program.numOps() - 1;
    for (uint32_t value : program.forwardResults)
      if (failed(checkRead(last, value)))
        return failure();
    for (uint32_t value : program.gradients)
      if (failed(checkRead(last, value)))
        return failure();
    return success();
  }

private:
  /// A storage of the step itself, with bytes.
  bool isOwn(uint32_t storage) const {
    return storage != kNone && !program.storages[storage].isOutside &&
           program.storages[storage].bytes > 0;
  }
  bool isInArena(uint32_t storage) const {
    return isOwn(storage) && ranges[storage].buffer != kNone;
  }

  /// Finds what the launch reads, each storage once.
  void enter(const StepLaunch &launch) {
    reads.clear();
    for (uint32_t op = launch.begin; op < launch.end; ++op)
      for (uint32_t value : program.operands(op)) {
        uint32_t storage = program.values[value].storage;
        if (isInArena(storage))
          reads.push_back(value);
      }
    auto storageOf = [&](uint32_t value) {
      return program.values[value].storage;
    };
    llvm::sort(reads, [&](uint32_t a, uint32_t b) {
      return std::pair(storageOf(a), a) < std::pair(storageOf(b), b);
    });
    reads.erase(std::unique(reads.begin(), reads.end(),
                            [&](uint32_t a, uint32_t b) {
                              return storageOf(a) == storageOf(b);
                            }),
                reads.end());
  }
  int64_t offsetOf(uint32_t storage) const {
    return layout.offsets[ranges[storage].buffer];
  }

  LogicalResult checkRead(uint32_t op, uint32_t value) {
    uint32_t storage = program.values[value].storage;
    if (!isOwn(storage))
      return success();
    if (!isInArena(storage)) {
      bool isHere = maker[storage] != kNone &&
                    program.launchOf[maker[storage]] == program.launchOf[op] &&
                    maker[storage] < op;
      if (isHere)
        return success();
      return program.op(op)->emitOpError("would read '")
             << program.name(value) << "', which has no place";
    }
    auto owner = owners.find(offsetOf(storage));
    if (owner != owners.end() && owner->second == storage)
      return success();
    return program.op(op)->emitOpError("would read '")
           << program.name(value) << "' where something else lies by then";
  }

  bool overlap(uint32_t a, uint32_t b) const {
    return offsetOf(a) < offsetOf(b) + program.storages[b].bytes &&
           offsetOf(b) < offsetOf(a) + program.storages[a].bytes;
  }

  /// Graphs of a call write over their scratch before and while results are
  /// made.
  LogicalResult takeScratch(uint32_t op) {
    auto [begin, end] = scratchOf.equal_range(op);
    for (auto it = begin; it != end; ++it) {
      uint32_t storage = it->second;
      auto fail = [&](uint32_t value) {
        return program.op(op)->emitOpError("would use the bytes of '")
               << program.name(value) << "' as scratch";
      };
      for (uint32_t operand : reads)
        if (overlap(storage, program.values[operand].storage))
          return fail(operand);
      for (uint32_t r : program.results(op))
        if (uint32_t other = program.values[r].storage;
            isInArena(other) && overlap(storage, other))
          return fail(r);
      take(offsetOf(storage),
           offsetOf(storage) + program.storages[storage].bytes, storage);
    }
    return success();
  }

  LogicalResult write(uint32_t op, uint32_t result) {
    uint32_t storage = program.values[result].storage;
    if (!isOwn(storage) || !program.makesStorage(result))
      return success();
    maker[storage] = op;
    if (!isInArena(storage))
      return success();
    int64_t begin = offsetOf(storage);
    int64_t end = begin + program.storages[storage].bytes;
    for (uint32_t operand : reads) {
      uint32_t other = program.values[operand].storage;
      if (other == storage || !overlap(storage, other) ||
          (offsetOf(other) == begin && mayReplace(program, op, other, result)))
        continue;
      return program.op(op)->emitOpError("would write '")
             << program.name(result) << "' over its operand '"
             << program.name(operand) << "'";
    }
    uint32_t first = *program.results(program.launch(op).begin).begin();
    for (uint32_t r : llvm::seq(first, result))
      if (uint32_t other = program.values[r].storage; isInArena(other) &&
                                                      program.makesStorage(r) &&
                                                      overlap(storage, other))
        return program.op(op)->emitOpError("would write '")
               << program.name(result) << "' over its result '"
               << program.name(r) << "'";
    take(begin, end, storage);
    return success();
  }

  /// Whoever owns a byte of the range loses all of his.
  void take(int64_t begin, int64_t end, uint32_t storage) {
    auto first = owners.upper_bound(begin);
    if (first != owners.begin())
      if (auto before = std::prev(first);
          before->first + program.storages[before->second].bytes > begin)
        first = before;
    auto last = owners.lower_bound(end);
    owners.erase(first, last);
    owners[begin] = storage;
  }

  const StepView &program;
  const std::vector<StorageRange> &ranges;
  const ArenaLayout &layout;
  std::map<int64_t, uint32_t> owners; ///< first byte → storage
  std::vector<uint32_t> maker;        ///< by storage: the op that made it
  std::multimap<uint32_t, uint32_t> scratchOf; ///< from op to storage
  std::vector<uint32_t> reads; ///< of the launch at work: values
};

} // namespace

LogicalResult StepMemory::verify(const ArenaLayout &layout,
                                 int64_t alignment) const {
  if (std::optional<ArenaFault> fault =
          verifyArena(intervals, layout, alignment)) {
    Operation *op = program.op(fault->kind == ArenaFault::WrongCount
                                   ? 0
                                   : intervals[fault->second].begin);
    return op->emitOpError("has no valid place in the arena for its result");
  }
  return Proof(program, ranges, layout).run();
}

std::optional<StepView>
cutback::sizedStep(joint::PartitionOp partition, joint::GraphOp graph,
                   const llvm::StringMap<int64_t> &symbols,
                   std::string &problem) {
  ScopedDiagnosticHandler handler(partition.getContext(),
                                  [&problem](Diagnostic &diagnostic) {
                                    if (problem.empty())
                                      problem = diagnostic.str();
                                  });
  FailureOr<StepView> step = StepView::ofPartition(partition, graph, symbols);
  std::optional<StepView> sized;
  // What takes whose place does not matter to it.
  StepMemoryOptions apart;
  apart.inPlace = false;
  if (succeeded(step) && succeeded(StepMemory(*step, apart).check()))
    sized.emplace(std::move(*step));
  return sized;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verifier of `kernel.arena`: a proof from the functions and the offsets
// alone, when each op by itself is known to be right. O(n log n) for n results.
//
//   1. Each result with an offset is a stretch of bytes, written at its launch
//      and held until the last op that reads it or a view of it; a result of
//      the step, to the end. What one segment hands to another is one
//      value.
//   2. The scratch of a call is held while the call runs. In it the launches of
//      each graph are proved as those of a segment are.
//   3. Launches in their order: what one writes must not overlap what is held
//      behind it. The bytes of what it reads for the last time may become those
//      of a result of as many bytes at the same offset, if the kernel reads
//      each element where it writes it, or an op without a kernel says so.

#include "cutback/Dialect/Kernel/Kernel.h"

#include "EffectProof.h"
#include "Segments.h"
#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/IterationSpace.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Joint/Literal.h"
#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Support/MLIR/TensorBytes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

#include <limits>
#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::kernel;

namespace {

struct Stretch {
  int64_t begin = 0, end = 0; ///< bytes
  size_t born = 0, dies = 0;  ///< at which op it is written, and read last
  Operation *launch = nullptr;
  Value root; ///< the tensor that lies there; null: scratch of a call
};

class Proof {
public:
  Proof(const StepSegments &step, int64_t bytes, StringRef memory = "the arena")
      : step(step), bytes(bytes), memory(memory) {}

  LogicalResult run() {
    return success(succeeded(collect()) && succeeded(sweep()));
  }

  /// Of a graph of a call, in its scratch of `bytes`.
  LogicalResult run(Block &graph) {
    if (failed(addBlock(graph)))
      return failure();
    for (Value result : graph.getTerminator()->getOperands())
      use(result, ops.size());
    return sweep();
  }

  std::vector<HeldBytes> listHeld() {
    std::vector<HeldBytes> held;
    if (succeeded(collect()))
      for (const Stretch &stretch : stretches)
        held.push_back(
            {stretch.begin, stretch.end, stretch.launch,
             stretch.dies < ops.size() ? ops[stretch.dies] : nullptr});
    return held;
  }

private:
  LogicalResult collect() {
    for (func::FuncOp function : step.functions)
      if (failed(addBlock(function.front())))
        return failure();
    size_t end = ops.size();
    for (size_t i = 0; i < step.ops.size(); ++i) {
      func::FuncOp function = step.functions[i];
      SegmentOp segment = step.ops[i];
      for (Value result :
           function.front().getTerminator()->getOperands().take_front(
               segment.getKept()))
        use(result, end);
    }
    return success();
  }

  LogicalResult addBlock(Block &block) {
    for (Operation &op : block.without_terminator()) {
      size_t now = ops.size();
      ops.push_back(&op);
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          use(operand, now);
      });
      auto launch = dyn_cast<LaunchOp>(op);
      if (!launch)
        continue;
      if (failed(checkWrites(launch)) || failed(addScratch(launch, now)))
        return failure();
      for (auto [result, at] : llvm::zip_equal(op.getResults(), launch.getAt()))
        if (at >= 0 ? failed(addResult(launch, result, at, now))
                    : failed(checkOutside(launch, result, at)))
          return failure();
    }
    return success();
  }

  /// A kernel that stores into an argument reads nothing else of it than the
  /// element that it stores then.
  LogicalResult checkWrites(LaunchOp launch) {
    if (!launch.getKernelAttr())
      return success();
    auto kernel = SymbolTable::lookupNearestSymbolFrom<FuncOp>(
        launch, launch.getKernelAttr());
    for (auto [i, number] : llvm::enumerate(launch.getOutputs())) {
      Value written = insideOf(launch.getResult(number));
      if (!kernel || !written.getDefiningOp<joint::WriteOp>())
        continue;
      Value output = kernel.getBody().getArgument(kernel.getNumInputs() + i);
      for (auto [k, buffer] : llvm::enumerate(launch.getBuffers()))
        if (rootOf(buffer) == rootOf(written) &&
            !readsWhereWritten(kernel.getBody().getArgument(k), output))
          return launch.emitOpError("reads elements of '")
                 << joint::getValueName(rootOf(written))
                 << "' that it has written";
    }
    return success();
  }

  /// The graphs of a call have its scratch for themselves, one after the other.
  LogicalResult addScratch(LaunchOp launch, size_t now) {
    int64_t size = static_cast<int64_t>(launch.getScratch().value_or(0));
    int64_t at = static_cast<int64_t>(launch.getScratchAt().value_or(0));
    if (size < 0 || at < 0 || size > bytes - at)
      return launch.emitOpError("has scratch beyond ")
             << memory << " of " << bytes << " bytes";
    for (auto call : launch.getBlock().getOps<joint::NestedOp>())
      for (Region &graph : call.getGraphs())
        if (failed(Proof(step, size, "the scratch of its call")
                       .run(graph.front())))
          return failure();
    if (size > 0)
      stretches.push_back({at, at + size, now, now, launch, Value()});
    return success();
  }

  /// What is not in the arena, and is no view of it, has a buffer if its size
  /// depends on data.
  LogicalResult checkOutside(LaunchOp launch, OpResult result, int64_t at) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    Value inside = insideOf(result);
    if (!type || type.hasStaticShape())
      return success();
    bool isView = rootOf(result) != inside;
    if (at == LaunchOp::kOwn && isView)
      return launch.emitOpError("has a buffer of its own for '")
             << joint::getValueName(inside) << "', which is a view";
    if (at != LaunchOp::kOwn && !isView && !isa<BlockArgument>(inside) &&
        !joint::isLiteral(inside.getDefiningOp()))
      return launch.emitOpError("has no buffer for '")
             << joint::getValueName(inside) << "', whose size depends on data";
    return success();
  }

  LogicalResult addResult(LaunchOp launch, OpResult result, int64_t at,
                          size_t now) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    Value root = type && type.hasStaticShape() ? rootOf(result) : Value();
    if (!root || root != insideOf(result))
      return launch.emitOpError("has a place for '")
             << joint::getValueName(insideOf(result))
             << "', which is no tensor of its own";
    int64_t size = elementBytes(type.getElementType());
    if (__builtin_mul_overflow(size, type.getNumElements(), &size) ||
        size > bytes - at)
      return launch.emitOpError("writes '")
             << joint::getValueName(root) << "' beyond " << memory << " of "
             << bytes << " bytes";
    stretchOf[root] = stretches.size();
    stretches.push_back({at, at + size, now, now, launch, root});
    return success();
  }

  /// Looks through what is handed over, too.
  Value rootOf(Value value) {
    Value root = locate(value).root;
    while (Value from = step.handed.lookup(root))
      root = locate(from).root;
    return root;
  }

  void use(Value value, size_t now) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    if (auto found = stretchOf.find(rootOf(value)); found != stretchOf.end())
      stretches[found->second].dies =
          std::max(stretches[found->second].dies, now);
  }

  /// Whether the launch of `written` reads an element of `read` only where it
  /// writes that one.
  bool mayReplace(const Stretch &written, const Stretch &read) {
    if (written.begin != read.begin || written.end != read.end ||
        !written.root || !read.root)
      return false;
    auto launch = cast<LaunchOp>(written.launch);
    if (!launch.getKernelAttr())
      return updatesInPlace(written.root.getDefiningOp());
    auto kernel = SymbolTable::lookupNearestSymbolFrom<FuncOp>(
        launch, launch.getKernelAttr());
    if (!kernel)
      return false;
    Value output;
    for (auto [i, number] : llvm::enumerate(launch.getOutputs()))
      if (insideOf(launch.getResult(number)) == written.root)
        output = kernel.getBody().getArgument(kernel.getNumInputs() + i);
    for (auto [i, buffer] : llvm::enumerate(launch.getBuffers()))
      if (rootOf(buffer) == read.root &&
          !readsWhereWritten(kernel.getBody().getArgument(i), output))
        return false;
    return output != nullptr;
  }

  static bool readsWhereWritten(Value input, Value output) {
    return output && llvm::all_of(input.getUsers(), [&](Operation *reader) {
             auto load = dyn_cast<LoadOp>(reader);
             return load &&
                    llvm::any_of(output.getUsers(), [&](Operation *writer) {
                      auto store = dyn_cast<StoreOp>(writer);
                      return store && store->getBlock() == load->getBlock() &&
                             store.getMap() == load.getMap() &&
                             store.getIndices() == load.getIndices() &&
                             writesOnce(store);
                    });
           });
  }

  /// Another iteration of the kept axes writes another element.
  static bool writesOnce(StoreOp store) {
    auto nest = cast<NestOp>(store->getParentOp());
    for (BlockArgument axis : nest.getBody().getArguments())
      if (!nest.getReduced()[axis.getArgNumber()] &&
          !llvm::is_contained(store.getIndices(), axis))
        return false;
    return true;
  }

  /// An op that runs as it stands: one element from the same place of each
  /// operand, or an update of what lies there.
  static bool updatesInPlace(Operation *op) {
    auto fusible = dyn_cast_if_present<joint::FusibleOpInterface>(op);
    if (!fusible)
      return false;
    SmallVector<ArrayRef<int64_t>> shapes;
    auto addShapes = [&](TypeRange types) {
      for (Type type : types) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        shapes.push_back(tensor ? tensor.getShape() : ArrayRef<int64_t>());
      }
    };
    addShapes(op->getOperandTypes());
    addShapes(op->getResultTypes());
    joint::IterationSpace space;
    return fusible.getFusionKind() == joint::FusionKind::Pointwise ||
           (fusible.getIterationSpace(shapes, space) && space.updated >= 0);
  }

  LogicalResult sweep() {
    // Held stretches by their first byte: they do not overlap.
    std::map<int64_t, const Stretch *> held;
    std::vector<std::vector<const Stretch *>> births(ops.size() + 1),
        deaths(ops.size() + 1);
    for (const Stretch &stretch : stretches) {
      births[stretch.born].push_back(&stretch);
      deaths[stretch.dies].push_back(&stretch);
    }
    for (size_t now = 0; now < ops.size(); ++now) {
      for (const Stretch *stretch : births[now])
        if (failed(write(*stretch, now, held)))
          return failure();
      for (const Stretch *stretch : deaths[now])
        if (auto at = held.find(stretch->begin);
            at != held.end() && at->second == stretch)
          held.erase(at);
    }
    return success();
  }

  LogicalResult write(const Stretch &stretch, size_t now,
                      std::map<int64_t, const Stretch *> &held) {
    if (stretch.begin == stretch.end)
      return success();
    auto next = held.lower_bound(stretch.begin);
    if (next != held.begin() && std::prev(next)->second->end > stretch.begin)
      --next;
    while (next != held.end() && next->second->begin < stretch.end) {
      const Stretch &other = *next->second;
      if (other.dies != now || other.born == now ||
          !mayReplace(stretch, other)) {
        InFlightDiagnostic diagnostic =
            stretch.launch->emitOpError("writes bytes ")
            << stretch.begin << " to " << stretch.end - 1 << " of " << memory
            << ", and bytes " << other.begin << " to " << other.end - 1
            << " are still read";
        diagnostic.attachNote(other.launch->getLoc())
            << "they were written here";
        return diagnostic;
      }
      next = held.erase(next);
    }
    held[stretch.begin] = &stretch;
    return success();
  }

  const StepSegments &step;
  int64_t bytes;
  StringRef memory;             ///< what it is called
  std::vector<Operation *> ops; ///< of all segments, in their order
  std::vector<Stretch> stretches;
  llvm::DenseMap<Value, size_t> stretchOf; ///< by root
};

} // namespace

std::vector<HeldBytes> kernel::findHeldBytes(ArenaOp arena) {
  FailureOr<StepSegments> step = findSegments(arena);
  if (failed(step))
    return {};
  return Proof(*step, std::numeric_limits<int64_t>::max()).listHeld();
}

LogicalResult ArenaOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  auto link = symbolTables.lookupNearestSymbolFrom<joint::PartitionOp>(
      *this, getPartitionAttr());
  if (!link)
    return emitOpError("names no joint.partition: ") << getPartitionAttr();
  FailureOr<StepSegments> step = findSegments(*this);
  return success(
      succeeded(step) && succeeded(verifyHalves(*this, link, *step)) &&
      succeeded(verifyEffectOrder(*step)) &&
      (getSymbolsAttr() || succeeded(Proof(*step, getBytes()).run())));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each launch is a slice of its half. From it, in this order: the kernel that
// computes what others read of it (KernelBody.h); its name, or that of an equal
// one; the op `kernel.launch` around the slice, with the offsets of the memory
// plan. A slice without a kernel is a call, and runs as it stands. Before that,
// the order of writes and draws is written into the half.
//
// A call of graphs has launches in these, made the same way.
//
// All launches are prepared on halves of known sizes. Of a step that stays open
// (FormLaunches.h), what takes sizes gets them back between that and the ops
// `kernel.launch`, and values get their types back at the end.

#include "FormLaunches.h"

#include "RepeatLiterals.h"
#include "SpecializeSizes.h"
#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/Literal.h"
#include "cutback/Lowering/KernelBody.h"
#include "cutback/MemoryPlan/NestedPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

/// What is known of a launch before it is one.
struct Prepared {
  std::vector<Operation *> ops; ///< from the first that runs on
  SmallVector<Value> results;
  std::optional<KernelBody> body;
};

class Former {
public:
  explicit Former(const FormRequest &request)
      : request(request), partition(request.partition),
        module(ModuleOp::create(partition.getLoc())) {
    context()->loadDialect<kernel::KernelDialect>();
    step.formed.module = module;
  }

  FailureOr<FormedStep> run() {
    func::FuncOp forward = copyHalf(partition.getForwardAttr(), 0);
    func::FuncOp backward = copyHalf(partition.getBackwardAttr(), 1);
    readOffsets();
    handOverRoots(forward, backward);
    if (failed(formHalf(forward, 0)) || failed(formHalf(backward, 1)))
      return failure();
    if (request.staysOpen)
      open.restoreTypes(forward, backward, partition.getSaved().size());
    KernelModule &formed = step.formed;
    formed.link = cast<PartitionOp>(partition->clone());
    formed.link.removeGraphAttr(); // it stays in its own module
    module.getBody()->push_front(formed.link);
    OpBuilder builder(formed.link);
    builder.setInsertionPointAfter(formed.link);
    auto arena = kernel::ArenaOp::create(
        builder, partition.getLoc(),
        request.memory ? request.memory->arenaBytes() : ShapedType::kDynamic,
        formed.link.getSymName(), request.symbols);
    kernel::addHalves(arena, formed.link);
    for (auto &entry : refused)
      formed.refused.emplace_back(entry.first, entry.second);
    // An open step is none before its kernels are for all sizes.
    if (!request.staysOpen && failed(verify(module)))
      return failure();
    return std::move(step);
  }

private:
  MLIRContext *context() { return module.getContext(); }

  func::FuncOp copyHalf(FlatSymbolRefAttr name, unsigned segment) {
    auto half =
        SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(partition, name);
    auto copy = cast<func::FuncOp>(half->clone(copies));
    module.push_back(copy);
    if (request.staysOpen)
      open.remember(copy);
    specializeSizes(copy, request.program, segment, copies, reals);
    return copy;
  }

  /// Without a memory plan, what has a place has one that is not known yet.
  void readOffsets() {
    const StepView &program = request.program;
    for (auto [number, storage] : llvm::enumerate(program.storages)) {
      Value copy = copies.lookupOrNull(program.value(storage.value));
      if (storage.isOfUnknownSize && copy && copy.getDefiningOp()) {
        ++step.formed.ownBuffers;
        offsetOf[copy] = kernel::LaunchOp::kOwn;
        mostOf[copy] = storage.mostBytes;
      }
      if (storage.isOutside)
        continue;
      if (storage.isScratch) {
        if (request.memory)
          scratchOf[copy.getDefiningOp()] = {
              request.memory->storages[number].offset, storage.bytes};
        continue;
      }
      if (!request.memory)
        offsetOf[copy] = ShapedType::kDynamic;
      else if (request.memory->liveRanges[number].buffer != StepView::kNone)
        offsetOf[copy] = request.memory->storages[number].offset;
    }
  }

  /// A saved view that is not all of its memory in its order is made again in
  /// the backward: what lies there is handed over. So every argument of a half
  /// is memory in the order of its elements.
  void handOverRoots(func::FuncOp forward, func::FuncOp backward) {
    Operation *output = forward.front().getTerminator();
    unsigned saved = partition.getSaved().size();
    unsigned first = output->getNumOperands() - saved;
    for (unsigned i = 0; i < saved; ++i) {
      Value value = output->getOperand(first + i);
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || !type.hasStaticShape())
        continue;
      kernel::Place place = kernel::locate(value);
      if (!place.isKnown)
        continue;
      auto rootType = cast<RankedTensorType>(place.root.getType());
      if (place.layout.offset == 0 && place.layout.isContiguous() &&
          type.getNumElements() == rootType.getNumElements())
        continue;
      SmallVector<Operation *> views;
      for (Value at = value; at != place.root;) {
        Operation *op = at.getDefiningOp();
        views.push_back(op);
        at = op->getOperand(
            getViewedOperand(op, cast<OpResult>(at).getResultNumber()));
      }
      if (llvm::any_of(views, [&](Operation *op) {
            return op->getNumOperands() != 1 || open.tookSizes(op);
          }))
        continue; // by numbers that the backward need not have
      BlockArgument argument = backward.getArgument(i);
      IRMapping again;
      again.map(place.root, argument);
      OpBuilder builder = OpBuilder::atBlockBegin(&backward.front());
      for (Operation *op : llvm::reverse(views))
        handedViews.insert(builder.clone(*op, again));
      Value made = again.lookup(value);
      argument.replaceUsesWithIf(made, [&](OpOperand &use) {
        return !handedViews.contains(use.getOwner());
      });
      argument.setType(rootType);
      output->setOperand(first + i, place.root);
    }
    for (func::FuncOp half : {forward, backward})
      half.setType(FunctionType::get(
          context(), half.front().getArgumentTypes(),
          TypeRange(half.front().getTerminator()->getOperands())));
  }

  LogicalResult formHalf(func::FuncOp half, unsigned number) {
    if (auto forced = findForcedCopies(half); !forced.empty())
      return forced.front().getDefiningOp()->emitError(
          "is a view of an argument that is written before it is read last, "
          "and no copy of it was planned");
    auto sizes = half->getAttrOfType<DenseI32ArrayAttr>(kLaunches);
    markEffects(half.front());
    std::vector<Operation *> ops;
    for (Operation &op : half.front().without_terminator())
      if (!handedViews.contains(&op))
        ops.push_back(&op);
    int64_t total = 0;
    for (int32_t size : sizes ? sizes.asArrayRef() : ArrayRef<int32_t>())
      total += std::abs(size);
    if (!sizes || total != static_cast<int64_t>(ops.size()))
      return half.emitError("has other ops than its launches");
    half->removeAttr(kLaunches);
    auto launches = divide(ops, sizes.asArrayRef());
    std::vector<Prepared> prepared =
        prepareAll(launches, request.schedules[number]);
    if (request.staysOpen) {
      open.restoreOperands(half);
      for (Prepared &launch : prepared)
        addSizes(launch);
    }
    for (Prepared &launch : prepared)
      step.launches[number].push_back(launch.ops.empty() ? kernel::LaunchOp()
                                                         : wrap(launch));
    return success();
  }

  std::vector<Prepared>
  prepareAll(std::vector<std::vector<Operation *>> &launches,
             ArrayRef<std::string> schedules) {
    repeatLiterals(launches);
    std::vector<Prepared> prepared;
    for (auto [i, launch] : llvm::enumerate(launches))
      prepared.push_back(prepare(launch, i < schedules.size()
                                             ? StringRef(schedules[i])
                                             : spell(KernelSchedule::Call)));
    return prepared;
  }

  /// The launches of `ops`, by the sizes of `joint.launches`.
  static std::vector<std::vector<Operation *>> divide(ArrayRef<Operation *> ops,
                                                      ArrayRef<int32_t> sizes) {
    std::vector<std::vector<Operation *>> launches;
    const auto *next = ops.data();
    for (int32_t signedSize : sizes) {
      launches.emplace_back(next, next + std::abs(signedSize));
      next += std::abs(signedSize);
    }
    return launches;
  }

  //===--- Graphs of calls ------------------------------------------------===//

  /// Forms launches in the graphs of a call whose scratch has a place.
  void formGraphs(NestedOp call) {
    std::optional<NestedPlan> plan;
    if (scratchOf.contains(call))
      plan = planNested(call);
    if (!plan)
      return;
    for (auto [graph, planned] :
         llvm::zip_equal(call.getGraphs(), plan->graphs))
      formGraph(graph.front(), planned);
  }

  /// Ops remember their numbers, so that the graph can be given back.
  void formGraph(Block &graph, const NestedGraphPlan &plan) {
    std::vector<Operation *> given, ops;
    Builder builder(context());
    for (Operation &op : graph.without_terminator()) {
      op.setAttr(kernel::kGivenNumber, builder.getI64IntegerAttr(given.size()));
      given.push_back(&op);
    }
    for (auto [op, offsets] : llvm::zip_equal(given, plan.offsets))
      for (auto [result, offset] : llvm::zip(op->getResults(), offsets))
        if (offset >= 0)
          offsetOf[result] = offset;
    for (auto [number, place] : plan.scratch)
      scratchOf[given[number]] = place;
    for (uint32_t number : plan.order) {
      given[number]->moveBefore(graph.getTerminator());
      ops.push_back(given[number]);
    }
    auto launches = divide(ops, plan.launchSizes);
    for (Prepared &launch : prepareAll(launches, plan.schedules))
      if (!launch.ops.empty())
        wrap(launch);
  }

  /// Lets who reads an argument behind a write read the result of the write,
  /// and numbers draws: the order of both is part of the module then.
  void markEffects(Block &block) {
    llvm::DenseMap<Value, Value> written;
    Builder builder(context());
    for (Operation &op : block) {
      op.walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (Value now = written.lookup(operand.get());
              now && !(isa<WriteOp>(inner) && operand.getOperandNumber() == 0))
            operand.set(now);
        auto model = dyn_cast<RematerializableOpInterface>(inner);
        if (model && model.isRandom() && !model.isRecomputable())
          inner->setAttr(kernel::kDrawNumber,
                         builder.getI64IntegerAttr(draws++));
      });
      if (auto write = dyn_cast<WriteOp>(op))
        written[write.getDestination()] = write.getResult();
    }
  }

  Prepared prepare(std::vector<Operation *> &given, StringRef schedule) {
    Prepared launch;
    // What is free in front of the first op that runs stays outside.
    ArrayRef<Operation *> ops = given;
    while (!ops.empty() && isFree(ops.front()) &&
           isMemoryEffectFree(ops.front()))
      ops = ops.drop_front();
    if (ops.empty())
      return launch;
    launch.ops = ops;
    llvm::DenseSet<Operation *> inside(ops.begin(), ops.end());
    SmallVector<Value> roots;
    findResults(ops, inside, launch.results, roots);
    if (schedule == spell(KernelSchedule::Call))
      return launch;
    addWritten(ops, launch.results, roots);
    std::string problem;
    launch.body = buildKernelBody(ops, roots, schedule, problem);
    if (!launch.body)
      ++refused[problem];
    return launch;
  }

  /// Sizes that only ops in other launches take; and what stands in front of
  /// the sizes that it takes, a literal, moves behind them.
  static void addSizes(Prepared &launch) {
    if (launch.ops.empty())
      return;
    llvm::DenseSet<Operation *> inside(launch.ops.begin(), launch.ops.end());
    Block *block = launch.ops.front()->getBlock();
    for (Operation *op : llvm::reverse(launch.ops)) {
      bool isEarly = llvm::any_of(op->getOperands(), [&](Value operand) {
        Operation *definer = operand.getDefiningOp();
        return definer && inside.contains(definer) &&
               op->isBeforeInBlock(definer);
      });
      if (!isEarly)
        continue;
      Operation *first = nullptr;
      for (Operation *user : op->getUsers()) {
        Operation *reader = block->findAncestorOpInBlock(*user);
        if (!first || reader->isBeforeInBlock(first))
          first = reader;
      }
      op->moveBefore(first);
    }
    llvm::sort(launch.ops, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    for (Operation *op : launch.ops)
      for (Value value : op->getResults())
        if (!isa<ShapedType>(value.getType()) &&
            !llvm::is_contained(launch.results, value) &&
            llvm::any_of(value.getUsers(), [&](Operation *user) {
              return !inside.contains(block->findAncestorOpInBlock(*user));
            }))
          launch.results.push_back(value);
  }

  /// Values that others read, then the roots of such that nobody reads
  /// directly.
  static void findResults(ArrayRef<Operation *> ops,
                          const llvm::DenseSet<Operation *> &inside,
                          SmallVectorImpl<Value> &results,
                          SmallVectorImpl<Value> &roots) {
    Block *block = ops.front()->getBlock();
    auto isOutside = [&](Operation *user) {
      return !inside.contains(block->findAncestorOpInBlock(*user));
    };
    SmallVector<Value> behind;
    for (Operation *op : ops)
      for (Value value : op->getResults()) {
        if (!llvm::any_of(value.getUsers(), isOutside))
          continue;
        results.push_back(value);
        if (!isa<RankedTensorType>(value.getType()))
          continue;
        Value root = kernel::locate(value).root;
        if (root.getDefiningOp() && inside.contains(root.getDefiningOp()) &&
            !llvm::is_contained(roots, root))
          roots.push_back(root);
      }
    for (Value root : roots)
      if (!llvm::is_contained(results, root))
        results.push_back(root);
  }

  /// Arguments that the kernel stores into.
  static void addWritten(ArrayRef<Operation *> ops,
                         SmallVectorImpl<Value> &results,
                         SmallVectorImpl<Value> &roots) {
    for (Operation *op : ops)
      if (auto write = dyn_cast<WriteOp>(op)) {
        if (!llvm::is_contained(results, write.getResult()))
          results.push_back(write.getResult());
        roots.push_back(write.getResult());
      }
  }

  kernel::LaunchOp wrap(Prepared &prepared) {
    ArrayRef<Operation *> ops = prepared.ops;
    ArrayRef<Value> results = prepared.results;
    std::optional<KernelBody> &body = prepared.body;
    llvm::DenseSet<Operation *> inside(ops.begin(), ops.end());
    OpBuilder builder(ops.front());
    SmallVector<Value> buffers;
    SmallVector<int32_t> outputs;
    FlatSymbolRefAttr name;
    if (body) {
      name = nameOf(*body, ops);
      for (Value root : body->inputs)
        buffers.push_back(outerOf.lookup_or(root, root));
      for (Value root : body->outputs)
        outputs.push_back(
            std::distance(results.begin(), llvm::find(results, root)));
    }
    SmallVector<int64_t> at, most;
    SmallVector<Location> locations;
    for (Value value : results) {
      auto found = offsetOf.find(value);
      at.push_back(found == offsetOf.end() ? -1 : found->second);
      auto bound = mostOf.find(value);
      most.push_back(bound == mostOf.end() ? kNoBound : bound->second);
    }
    for (Operation *op : ops)
      if (!isFree(op))
        locations.push_back(op->getLoc());
    auto launch = kernel::LaunchOp::create(
        builder, FusedLoc::get(context(), locations), TypeRange(results), name,
        buffers, outputs, at, /*sizes=*/ArrayAttr(), boundsAttr(most),
        /*scratch=*/IntegerAttr(), /*scratch_at=*/IntegerAttr());
    for (Operation *op : ops)
      if (auto found = scratchOf.find(op); found != scratchOf.end()) {
        launch.setScratchAt(found->second.first);
        launch.setScratch(found->second.second);
        formGraphs(cast<NestedOp>(op));
      }
    Block &block = launch.getBody().emplaceBlock();
    for (auto [value, outer] : llvm::zip_equal(results, launch.getResults())) {
      Block *parent = launch->getBlock();
      Value(value).replaceUsesWithIf(outer, [&](OpOperand &use) {
        return !inside.contains(parent->findAncestorOpInBlock(*use.getOwner()));
      });
      outerOf[value] = outer;
    }
    for (Operation *op : ops)
      op->moveBefore(&block, block.end());
    builder.setInsertionPointToEnd(&block);
    kernel::YieldOp::create(builder, launch.getLoc(), results);
    ++step.formed.launches;
    step.formed.calls += !body;
    return launch;
  }

  static constexpr int64_t kNoBound = kernel::LaunchOp::kNoBound;

  DenseI64ArrayAttr boundsAttr(ArrayRef<int64_t> most) {
    return llvm::all_of(most, [](int64_t one) { return one == kNoBound; })
               ? DenseI64ArrayAttr()
               : DenseI64ArrayAttr::get(context(), most);
  }

  //===--- Names ----------------------------------------------------------===//

  FlatSymbolRefAttr nameOf(KernelBody &body, ArrayRef<Operation *> ops) {
    std::string text;
    llvm::raw_string_ostream os(text);
    body.function->print(os, OpPrintingFlags().assumeVerified());
    auto [it, isNew] = names.try_emplace(text);
    if (!isNew)
      return it->second;
    std::string name = describe(ops);
    if (unsigned earlier = namesUsed[name]++)
      name += "_" + std::to_string(earlier + 1);
    body.function->setSymName(name);
    ++step.formed.kernels;
    module.push_back(body.function.release());
    return it->second = FlatSymbolRefAttr::get(context(), name);
  }

  /// What a body yields says more than that it is a body.
  static StringRef nameOf(Operation *op) {
    if (auto call = dyn_cast<FrameworkCallOpInterface>(op))
      return call.getPacketName();
    if (op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock() &&
        op->getRegion(0).front().mightHaveTerminator())
      if (Operation *last = op->getRegion(0).front().getTerminator();
          last->getNumOperands() && last->getOperand(0).getDefiningOp())
        return last->getOperand(0).getDefiningOp()->getName().getStringRef();
    return op->getName().getStringRef();
  }

  /// The last ops that run, each once: "mean_sub_mul".
  static std::string describe(ArrayRef<Operation *> ops) {
    constexpr size_t kOps = 4;
    SmallVector<std::string> parts;
    for (Operation *op : llvm::reverse(ops)) {
      if (isFree(op) || isLiteral(op))
        continue;
      std::string part = nameOf(op).rsplit('.').second.str();
      for (char &c : part)
        c = llvm::isAlnum(c) ? c : '_';
      if (!llvm::is_contained(parts, part) && parts.size() < kOps)
        parts.push_back(part);
    }
    std::reverse(parts.begin(), parts.end());
    return "k_" + llvm::join(parts, "_");
  }

  const FormRequest &request;
  PartitionOp partition;
  ModuleOp module;
  llvm::DenseMap<Value, int64_t> offsetOf;
  llvm::DenseMap<Value, int64_t> mostOf; ///< of buffers outside of the arena
  /// By call of graphs: begin and bytes.
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> scratchOf;
  llvm::DenseMap<Value, Value> outerOf;     ///< of what launches hold
  llvm::StringMap<FlatSymbolRefAttr> names; ///< by text of the kernel
  llvm::StringMap<unsigned> namesUsed;
  std::map<std::string, uint64_t> refused;
  IRMapping copies; ///< from the given halves
  int64_t draws = 0;
  llvm::DenseSet<Operation *> handedViews; ///< see handOverRoots()
  OpenSizes open;                          ///< of a step that stays open
  KnownReals reals;                        ///< of halves so far
  FormedStep step;
};

} // namespace

FailureOr<FormedStep> cutback::formLaunches(const FormRequest &request) {
  return Former(request).run();
}

FailureOr<KernelModule> cutback::formKernels(PartitionOp partition,
                                             const KernelPlan &kernels,
                                             const MemoryPlan &memory) {
  FormRequest request{partition, memory.program, &memory};
  request.schedules[0] = schedulesOf(kernels.forward());
  request.schedules[1] = schedulesOf(kernels.backward());
  FailureOr<FormedStep> step = formLaunches(request);
  if (failed(step))
    return failure();
  return std::move(step->formed);
}

std::vector<std::string> cutback::schedulesOf(const SegmentKernels &segment) {
  std::vector<std::string> schedules;
  for (const Kernel &kernel : segment.kernels)
    schedules.emplace_back(spell(kernel.schedule));
  return schedules;
}

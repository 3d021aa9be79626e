// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An optimizer's segments become kernels as every graph does: planned as a step
// of one half, formed, proved. Then launches move into the module of the step:
//
//   * places: as one stretch, in the first gap of the arena where no result of
//     the step lies, else behind it
//   * kernels: one that the step has is that one, others keep their names if
//     these are free
//   * the first of them takes the gradients from the backward; of one that is a
//     view (the transpose of a product) the memory, and makes the view again.
//     An update after segment `accumulate` has sums as arguments instead
//
// The verifier proves the arena of the whole. Linear.

#include "cutback/Training/Update.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Lowering/SymbolicKernels.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Runtime/Artifact.h"
#include "cutback/Support/Text.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cutback;

/// Multiples of which the arena's places are for every target.
static constexpr int64_t kAlignment = 256;

/// By the name of a gradient: the number of the backward's result that is
/// taken.
using TakenResults = llvm::StringMap<int32_t>;

/// The kernels of a segment, as a step of their own, and a list of them.
static FailureOr<KernelModule> formSegment(UpdateGraph &update,
                                           const PartitionOptions &given,
                                           ListedSegment &listed) {
  PartitionOptions options;
  options.strategy = Strategy::Eager;
  options.device = given.device;
  options.withinTorchPeak = false;
  options.figures = false;
  options.mayLackGradients = true;
  options.memory.emplace();
  auto plan = planStep(update.graph, options);
  if (failed(plan))
    return failure();
  if (!(*plan)->memory || !(*plan)->kernelPlan)
    return update.graph.emitError("has no memory plan: ")
           << (*plan)->memoryProblem;
  FailureOr<KernelModule> formed = formKernels(
      (*plan)->partition.link, *(*plan)->kernelPlan, *(*plan)->memory);
  if (failed(formed) || failed(verifyKernels(update.graph, *formed)))
    return failure();
  listed = listLaunches(update.segment, (*plan)->kernelPlan->forward(),
                        *(*plan)->kernelProblem, (*plan)->view);
  return formed;
}

//===----------------------------------------------------------------------===//
// Gradients that are views
//===----------------------------------------------------------------------===//

namespace {

/// Views from the memory of a gradient to the gradient, the last one first;
/// empty where it is all of that memory in its order.
struct GradientViews {
  Value root; ///< result of a launch
  SmallVector<Operation *> views;
};

} // namespace

/// Nothing where the update has to take a copy: views by numbers that the
/// update does not have, of arguments, or of a part of the memory.
static std::optional<GradientViews> findViews(Value gradient) {
  kernel::Place place = kernel::locate(gradient);
  auto type = cast<RankedTensorType>(gradient.getType());
  auto rootType = cast<RankedTensorType>(place.root.getType());
  GradientViews found;
  if (place.layout.isContiguous() || !place.root.getDefiningOp() ||
      type.getNumElements() != rootType.getNumElements())
    return std::nullopt;
  for (Value at = kernel::insideOf(gradient); at != place.root;) {
    Operation *op = at.getDefiningOp();
    if (op->getNumOperands() != 1 || op->getNumResults() != 1)
      return std::nullopt;
    found.views.push_back(op);
    at = kernel::insideOf(op->getOperand(0));
  }
  auto launch =
      dyn_cast<kernel::LaunchOp>(place.root.getDefiningOp()->getParentOp());
  if (!launch)
    return std::nullopt;
  for (auto [inside, result] :
       llvm::zip_equal(launch.getYield().getOperands(), launch.getResults()))
    if (inside == place.root)
      found.root = result;
  return found.root ? std::optional(std::move(found)) : std::nullopt;
}

/// Lets the segment take the memory of gradients that are views. What is taken,
/// of old results and new ones.
static TakenResults takeRoots(KernelModule &step, UpdateGraph &update) {
  auto backward = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      step.link, step.link.getBackwardAttr());
  Operation *output = backward.front().getTerminator();
  Block &block = update.graph.getBlock();
  TakenResults taken;
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (const UpdatedParameter &parameter : update.parameters) {
    int32_t &number = taken[parameter.gradientName];
    number = static_cast<int32_t>(parameter.gradient);
    std::optional<GradientViews> found =
        findViews(output->getOperand(parameter.gradient));
    if (!found)
      continue;
    for (BlockArgument argument : block.getArguments()) {
      if (joint::getValueName(argument) != parameter.gradientName)
        continue;
      Value made = argument;
      SmallPtrSet<Operation *, 4> clones;
      for (Operation *view : llvm::reverse(found->views)) {
        IRMapping again;
        again.map(view->getOperand(0), made);
        Operation *clone = builder.clone(*view, again);
        clones.insert(clone);
        made = clone->getResult(0);
      }
      argument.setType(found->root.getType());
      argument.replaceAllUsesExcept(made, clones);
    }
    number = static_cast<int32_t>(output->getNumOperands());
    output->insertOperands(output->getNumOperands(), found->root);
  }
  backward.setType(FunctionType::get(backward.getContext(),
                                     backward.getArgumentTypes(),
                                     TypeRange(output->getOperands())));
  update.graph.setFunctionType(
      FunctionType::get(update.graph.getContext(), block.getArgumentTypes(),
                        update.graph.getFunctionType().getResults()));
  return taken;
}

namespace {

class Merger {
public:
  Merger(KernelModule &step, KernelModule &update)
      : step(step), update(update), arena(kernel::findArena(step.link)) {}

  LogicalResult run(const UpdateGraph &graph, const TakenResults &taken) {
    int64_t bytes = arenaBytes(update);
    place(bytes);
    moveKernels();
    func::FuncOp function = moveFunction();
    addSegment(function, graph, taken);
    step.launches += update.launches;
    step.calls += update.calls;
    for (auto &refused : update.refused)
      step.refused.push_back(refused);
    return verify(*step.module);
  }

private:
  /// The first gap between results of the step; what later segments take are
  /// gradients, or views of their memory.
  void place(int64_t bytes) {
    std::vector<std::pair<int64_t, int64_t>> kept;
    for (const kernel::HeldBytes &held : kernel::findHeldBytes(arena))
      if (!held.dies)
        kept.emplace_back(held.begin, held.end);
    llvm::sort(kept);
    for (auto [begin, end] : kept) {
      if (base + bytes <= begin)
        break;
      base = std::max(
          base, static_cast<int64_t>(llvm::alignTo(uint64_t(end), kAlignment)));
    }
    auto whole = static_cast<int64_t>(arena.getBytes());
    arena.setBytes(std::max(whole, bytes ? base + bytes : 0));
  }

  static std::string textOf(kernel::FuncOp function) {
    std::string text, name = function.getSymName().str();
    function.setSymName("");
    llvm::raw_string_ostream os(text);
    function->print(os, OpPrintingFlags().assumeVerified());
    function.setSymName(name);
    return text;
  }

  void moveKernels() {
    llvm::StringMap<StringAttr> byText;
    for (auto function : step.module->getOps<kernel::FuncOp>())
      byText[textOf(function)] = function.getSymNameAttr();
    SymbolTable symbols(*step.module);
    llvm::DenseMap<Attribute, FlatSymbolRefAttr> names;
    for (auto function :
         llvm::make_early_inc_range(update.module->getOps<kernel::FuncOp>())) {
      StringAttr before = function.getSymNameAttr();
      auto found = byText.find(textOf(function));
      if (found == byText.end()) {
        function->remove();
        symbols.insert(function, step.module->getBody()->end());
        ++step.kernels;
      }
      names[before] = FlatSymbolRefAttr::get(
          found == byText.end() ? function.getSymNameAttr() : found->second);
    }
    update.module->walk([&](kernel::LaunchOp launch) {
      if (FlatSymbolRefAttr name = launch.getKernelAttr())
        launch.setKernelAttr(names.lookup(name.getAttr()));
      SmallVector<int64_t> at(launch.getAt());
      for (int64_t &offset : at)
        offset += offset >= 0 ? base : 0;
      launch.setAt(at);
    });
  }

  func::FuncOp moveFunction() {
    auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        update.link, update.link.getForwardAttr());
    function->remove();
    StringRef name = function.getSymName();
    name.consume_back("_forward");
    function.setSymName(name.str());
    func::FuncOp last;
    for (kernel::SegmentOp segment : arena.getSegments())
      last = segment.getFunctionOp();
    SymbolTable(*step.module)
        .insert(function, std::next(Block::iterator(last)));
    return function;
  }

  void addSegment(func::FuncOp function, const UpdateGraph &graph,
                  const TakenResults &taken) {
    OpBuilder builder = OpBuilder::atBlockEnd(&arena.getBody().front());
    SmallVector<int32_t> results, arguments;
    for (BlockArgument argument : function.getArguments())
      if (auto found = taken.find(joint::getValueName(argument));
          found != taken.end()) {
        results.push_back(found->second);
        arguments.push_back(static_cast<int32_t>(argument.getArgNumber()));
      }
    SmallVector<Attribute> from(results.size(),
                                builder.getStringAttr(kernel::kBackward));
    auto segment = kernel::SegmentOp::create(
        builder, arena.getLoc(), graph.segment, function.getSymName(),
        function.getFunctionType().getNumResults(), builder.getArrayAttr(from),
        results, arguments);
    SmallVector<StringRef> undecayed;
    for (const UpdatedParameter &parameter : graph.parameters)
      if (!parameter.decays && graph.segment == kUpdateSegment)
        undecayed.push_back(parameter.argumentName);
    if (!undecayed.empty())
      segment->setAttr(kUndecayed, builder.getStrArrayAttr(undecayed));
  }

  KernelModule &step, &update;
  kernel::ArenaOp arena;
  int64_t base = 0; ///< of the segment's places
};

} // namespace

/// Adds `graph` as the last segment. `taken` are gradients of the backward that
/// it has for arguments.
static FailureOr<ListedSegment> addSegment(KernelModule &kernels,
                                           UpdateGraph &graph,
                                           const TakenResults &taken,
                                           const PartitionOptions &options) {
  ListedSegment listed;
  FailureOr<KernelModule> formed = formSegment(graph, options, listed);
  if (failed(formed) || failed(Merger(kernels, *formed).run(graph, taken)))
    return failure();
  return listed;
}

LogicalResult cutback::checkLimit(joint::GraphOp graph,
                                  const PartitionResult &plan,
                                  const KernelModule &kernels) {
  int64_t bytes = arenaBytes(kernels);
  if (!plan.search || !plan.search->limitBytes ||
      bytes <= *plan.search->limitBytes)
    return success();
  auto diagnostic = graph.emitError("the update after the backward needs ")
                    << formatBytes(bytes) << ", more than the limit of "
                    << formatBytes(*plan.search->limitBytes);
  diagnostic.attachNote() << "give a larger limit; without --update=after the "
                             "update is inside of the backward where it may be";
  return diagnostic;
}

FailureOr<std::vector<ListedSegment>>
cutback::addUpdate(KernelModule &kernels, joint::GraphOp graph,
                   const Optimizer &optimizer,
                   const PartitionOptions &options) {
  FailureOr<UpdateGraph> update = buildUpdate(graph, optimizer);
  if (failed(update))
    return failure();
  std::vector<UpdateGraph> segments;
  if (optimizer.accumulates) {
    FailureOr<UpdateGraph> sums = buildAccumulation(graph, optimizer);
    if (failed(sums))
      return failure();
    segments.push_back(std::move(*sums));
  }
  segments.push_back(std::move(*update));
  TakenResults taken = takeRoots(kernels, segments.front());
  std::vector<ListedSegment> all;
  for (UpdateGraph &segment : segments) {
    FailureOr<ListedSegment> listed =
        addSegment(kernels, segment, taken, options);
    if (failed(listed))
      return failure();
    all.push_back(std::move(*listed));
    taken.clear();
  }
  return all;
}

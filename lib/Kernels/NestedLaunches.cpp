// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of a call becomes a `joint.graph` of its own for as long as that is
// needed, and kernels are formed of it as of any segment: all that it gives is
// kept, its arguments are outside. A price is that of the launches, in the
// order of the graphs; of a call in a graph, of its launches in its place.
//
// As much as to form kernels of the ops of all graphs.

#include "cutback/Kernels/NestedLaunches.h"

#include "cutback/Analysis/Roofline.h"

#include "mlir/IR/Builders.h"

#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static bool isSized(Value value) {
  auto shaped = dyn_cast<ShapedType>(value.getType());
  return !shaped || (shaped.hasRank() && shaped.hasStaticShape());
}

static bool areSized(Block &graph) {
  return llvm::all_of(graph.getArguments(), isSized) &&
         llvm::all_of(graph, [](Operation &op) {
           return llvm::all_of(op.getResults(), isSized);
         });
}

std::vector<NestedKernels> cutback::formNestedKernels(NestedOp op) {
  NestedKind kind = *nestedKindOf(op.getCallee());
  std::vector<NestedKernels> list;
  if (kind == NestedKind::FlexAttention ||
      kind == NestedKind::FlexAttentionBackward ||
      !llvm::all_of(op.getGraphs(),
                    [](Region &graph) { return areSized(graph.front()); }))
    return list;
  Device device;
  std::string error;
  Device::load("h100", device, error);
  for (Region &graph : op.getGraphs()) {
    NestedKernels &formed = list.emplace_back();
    formed.module = ModuleOp::create(op.getLoc());
    formed.graph = copyGraph(graph, *formed.module);
    formed.view = GraphView::build(formed.graph);
    formed.sizes = *ValueSizes::computeAll(formed.view, {});
    KernelProblem problem = KernelProblem::build(formed.view, formed.sizes);
    std::vector<double> flopsPs(formed.view.numOps(), 0);
    std::vector<uint32_t> order(formed.view.numOps());
    std::iota(order.begin(), order.end(), 0);
    SegmentOps segment{order, {formed.view.forwardResults()}, {}, false};
    formed.kernels = formKernels(problem, formed.view, formed.sizes, segment,
                                 {device.bandwidth, device.launchPs, &flopsPs});
  }
  return list;
}

namespace {

class Pricer {
public:
  Pricer(const GraphView &view, const ValueSizes &sizes, const Device &device)
      : view(view), sizes(sizes), device(device) {}

  std::vector<NestedCall> run() {
    std::vector<NestedCall> calls;
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      auto nested = dyn_cast<NestedOp>(view.ops[op]);
      if (!nested)
        continue;
      NestedCall call;
      call.op = op;
      if (price(nested, call))
        calls.push_back(std::move(call));
    }
    return calls;
  }

private:
  bool price(NestedOp op, NestedCall &call) {
    std::vector<NestedKernels> graphs = formNestedKernels(op);
    if (graphs.empty())
      return false;
    std::vector<size_t> begin;
    std::vector<double> total;
    for (auto [number, graph] : llvm::enumerate(graphs)) {
      begin.push_back(call.launches.size());
      list(graph, number, call);
      total.push_back(0);
      for (size_t i = begin.back(); i < call.launches.size(); ++i)
        total.back() += timesOf(call.launches[i]) * call.launches[i].ps;
    }
    begin.push_back(call.launches.size());
    for (size_t number = 0; number < graphs.size(); ++number) {
      int64_t times = runsOf(op, number, total, call);
      for (size_t i = begin[number]; i < begin[number + 1]; ++i)
        call.launches[i].times *= times;
    }
    for (const NestedLaunch &launch : call.launches) {
      call.borderBytes += launch.times * launch.borderBytes;
      call.movedBytes += launch.times * launch.movedBytes;
      call.flopsPs += timesOf(launch) * launch.flopsPs;
      call.ps += timesOf(launch) * launch.ps;
    }
    return true;
  }

  static double timesOf(const NestedLaunch &launch) {
    return static_cast<double>(launch.times);
  }

  /// The launches of a graph that runs once.
  void list(const NestedKernels &graph, uint32_t number, NestedCall &call) {
    std::vector<double> flopsPs =
        computeFlopsPs(graph.view, graph.sizes, device);
    std::vector<NestedCall> inside =
        priceNested(graph.view, graph.sizes, device);
    KernelRates rates{device.bandwidth, device.launchPs, nullptr};
    for (const Kernel &kernel : graph.kernels.kernels) {
      if (const NestedCall *found = findNested(inside, kernel.anchor())) {
        call.isCounted &= found->isCounted;
        for (const NestedLaunch &launch : found->launches)
          call.launches.emplace_back(launch).graph = number;
        continue;
      }
      NestedLaunch &launch = call.launches.emplace_back();
      static_cast<ListedLaunch &>(launch) = listLaunch(kernel, graph.view);
      launch.graph = number;
      launch.flopsPs = 0;
      for (uint32_t op : kernel.ops)
        launch.flopsPs += flopsPs[op];
      launch.ps = rates.timeOf(launch.flopsPs, launch.movedBytes);
    }
  }

  /// How often graph `number` of the call runs in a step.
  int64_t runsOf(NestedOp op, size_t number, const std::vector<double> &total,
                 NestedCall &call) const {
    NestedKind kind = *nestedKindOf(op.getCallee());
    if (kind == NestedKind::Cond)
      return (total[0] >= total[1]) == (number == 0);
    SmallVector<ArrayRef<int64_t>> shapes;
    auto add = [&](uint32_t value) {
      auto shaped = dyn_cast<RankedTensorType>(sizes.type[value]);
      shapes.push_back(shaped ? shaped.getShape() : ArrayRef<int64_t>());
    };
    for (uint32_t value :
         view.operands(call.op).take_front(op->getNumOperands()))
      add(value);
    for (uint32_t r = view.resultBegin[call.op];
         r < view.resultBegin[call.op + 1]; ++r)
      add(r);
    std::optional<int64_t> rounds = roundsOf(op, shapes);
    call.isCounted &= rounds.has_value();
    if (!rounds)
      return 1;
    // A loop asks once more than it runs.
    bool isAsked = kind != NestedKind::Scan && number == 0;
    return *rounds + isAsked;
  }

  const GraphView &view;
  const ValueSizes &sizes;
  const Device &device;
};

} // namespace

std::vector<NestedCall> cutback::priceNested(const GraphView &view,
                                             const ValueSizes &sizes,
                                             const Device &device) {
  return Pricer(view, sizes, device).run();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The corners of the hull of time against bytes, by bisection as Eisner and
// Severance do it: the plans at two prices of a byte are joined by a line; the
// plan at the price that is the slope of this line lies either on the line
// (then there is no corner in between) or below it (then it is a corner, and
// both sides are searched). One minimum cut a step; as many steps as two times
// the corners.
//
// Where all blocks are equal, one price moves all of them at once: the corners
// lie far apart and PyTorch's plan may have bytes in between. There the price
// is that of the edge, a little more in front of one point of the program and a
// little less behind it (20-partition §5.2 in small), and the point is found by
// bisection. What comes out is a plan on the edge, or next to it.
//
// Both ends: price 0 gives the fastest plan, a price so high that time does not
// matter the smallest. PyTorch's plan is made on the same prepared graph, and
// all plans are priced by pricePlan on their halves, so that it does not matter
// who made them: a saved view counts as its base, a recomputed op what the
// model says. Parameters that outlive the step weigh nothing, on both sides.
//
// Memory: one network and one cut a time.

#include "Pareto.h"

#include "cutback/Analysis/Roofline.h"
#include "cutback/Import/Import.h"
#include "cutback/Kernels/NetworkTerms.h"
#include "cutback/Partition/MaxFlow/MinCut.h"
#include "cutback/Partition/RooflineProblem.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::bench;

namespace {

class FrontSearch {
public:
  FrontSearch(const GraphView &view, const GraphSets &sets,
              const ValueSizes &sizes, const RooflineCosts &costs)
      : view(view), sets(sets), sizes(sizes), costs(costs),
        policies(view.numOps(), OpPolicy::None),
        problem(view, sets, costs, policies) {}

  bool run(std::vector<ParetoPoint> &corners) {
    std::optional<ParetoPoint> fastest = planAt(0), smallest = planAt(kDear);
    if (!fastest || !smallest)
      return false;
    points = {*fastest, *smallest};
    if (!bisect(*fastest, *smallest, 0))
      return false;
    corners = lowerHull();
    return true;
  }

  /// Plans on the edge between two corners that have fewer bytes than `bytes`,
  /// from where the price changes early in the program and late in it.
  void searchEdge(const ParetoPoint &fast, const ParetoPoint &small,
                  int64_t bytes, std::vector<ParetoPoint> &found) {
    double slope = slopeOf(fast, small);
    for (bool isDearFirst : {true, false}) {
      uint32_t low = 0, high = view.numOps();
      while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        RooflineCosts tilted = tilt(middle, isDearFirst);
        RooflineProblem edge(view, sets, tilted, policies);
        std::optional<ParetoPoint> plan = planAt(edge, slope);
        if (!plan)
          return;
        found.push_back(*plan);
        // The longer the dear part, the fewer bytes.
        bool isLonger = (plan->bytes >= bytes) == isDearFirst;
        (isLonger ? low : high) = middle;
      }
    }
  }

private:
  static constexpr double kTilt = 1e-3;

  /// The costs with other weights of bytes in front of an op and behind it.
  RooflineCosts tilt(uint32_t at, bool isDearFirst) const {
    RooflineCosts tilted = costs;
    for (uint32_t v = 0; v < view.numValues(); ++v) {
      bool isFirst = view.isArg(v) || view.definer[v] < at;
      double factor = isFirst == isDearFirst ? 1 + kTilt : 1 - kTilt;
      tilted.saveBytes[v] =
          std::llround(static_cast<double>(costs.saveBytes[v]) * factor);
    }
    return tilted;
  }

  static double slopeOf(const ParetoPoint &fast, const ParetoPoint &small) {
    return static_cast<double>(small.ps - fast.ps) /
           static_cast<double>(fast.bytes - small.bytes);
  }

  /// Picoseconds a byte: a byte outweighs any time that a step could take.
  static constexpr double kDear = 1e6;

  std::optional<ParetoPoint> planAt(double bytePricePs) {
    return planAt(problem, bytePricePs);
  }

  std::optional<ParetoPoint> planAt(RooflineProblem &problem,
                                    double bytePricePs) {
    if (FlowError error = problem.build(bytePricePs)) {
      llvm::errs() << *error << "\n";
      return std::nullopt;
    }
    MinCut cut;
    if (solver.solve(problem.network(), cut) != MinCutStatus::Solved)
      return std::nullopt;
    FailureOr<Halves> halves = splitGraph(view, sets, problem.plan(cut));
    if (failed(halves))
      return std::nullopt;
    PlanPrice price = pricePlan(view, sets, sizes, costs, *halves);
    return ParetoPoint{price.ps, price.bytes, bytePricePs};
  }

  bool bisect(const ParetoPoint &fast, const ParetoPoint &small,
              unsigned depth) {
    if (fast.bytes <= small.bytes || small.ps <= fast.ps || depth > 40)
      return true;
    double slope = slopeOf(fast, small);
    std::optional<ParetoPoint> between = planAt(slope);
    if (!between)
      return false;
    auto weigh = [&](const ParetoPoint &p) {
      return static_cast<double>(p.ps) + slope * static_cast<double>(p.bytes);
    };
    // Below the line by more than what rounding can do.
    if (weigh(*between) >= weigh(fast) - 1e-6 * std::abs(weigh(fast)) - 100)
      return true;
    points.push_back(*between);
    return bisect(fast, *between, depth + 1) &&
           bisect(*between, small, depth + 1);
  }

  /// Points that no segment between two others passes below, by bytes falling.
  std::vector<ParetoPoint> lowerHull() {
    llvm::sort(points, [](const ParetoPoint &a, const ParetoPoint &b) {
      return std::pair(-a.bytes, a.ps) < std::pair(-b.bytes, b.ps);
    });
    std::vector<ParetoPoint> hull;
    for (const ParetoPoint &p : points) {
      // More bytes and no less time: not on the front.
      while (!hull.empty() && hull.back().ps >= p.ps)
        hull.pop_back();
      if (!hull.empty() && hull.back().bytes == p.bytes)
        continue;
      while (hull.size() >= 2 &&
             !isConvex(hull[hull.size() - 2], hull.back(), p))
        hull.pop_back();
      hull.push_back(p);
    }
    return hull;
  }

  static bool isConvex(const ParetoPoint &a, const ParetoPoint &b,
                       const ParetoPoint &c) {
    double ab = double(b.ps - a.ps) / double(a.bytes - b.bytes);
    double bc = double(c.ps - b.ps) / double(b.bytes - c.bytes);
    return ab < bc;
  }

  const GraphView &view;
  const GraphSets &sets;
  const ValueSizes &sizes;
  const RooflineCosts &costs;
  std::vector<OpPolicy> policies;
  RooflineProblem problem;
  MaxFlowSolver solver;
  std::vector<ParetoPoint> points;
};

/// Time of the hull at so many bytes; outside, that of its nearest end.
double hullTime(const std::vector<ParetoPoint> &hull, int64_t bytes) {
  if (bytes >= hull.front().bytes)
    return hull.front().ps;
  for (size_t i = 1; i < hull.size(); ++i)
    if (bytes >= hull[i].bytes) {
      double part = double(hull[i - 1].bytes - bytes) /
                    double(hull[i - 1].bytes - hull[i].bytes);
      return hull[i - 1].ps + part * double(hull[i].ps - hull[i - 1].ps);
    }
  // Fewer bytes than any plan of ours has.
  return std::numeric_limits<double>::infinity();
}

/// The plan of ours with less time and fewer bytes that saves the largest share
/// of both together.
std::optional<ParetoPoint> findBetter(const ParetoResult &result,
                                      const std::vector<ParetoPoint> &plans) {
  std::optional<ParetoPoint> best;
  double bestShare = 2;
  for (const ParetoPoint &p : plans) {
    if (p.ps >= result.torch.ps || p.bytes >= result.torch.bytes)
      continue;
    double share = double(p.ps) / double(result.torch.ps) +
                   double(p.bytes) / double(result.torch.bytes);
    if (share < bestShare) {
      bestShare = share;
      best = p;
    }
  }
  return best;
}

} // namespace

std::optional<ParetoResult> cutback::bench::findFront(const ParetoCase &which) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  FailureOr<ImportedModule> imported = readInput(which.text, context);
  if (failed(imported) || !imported->graph)
    return std::nullopt;
  PartitionOptions options;
  options.costModel = CostModel::PyTorch;
  options.freeParameters = which.freeParameters;
  options.symbols = which.symbols;
  options.emit = false;
  PhaseSeconds seconds;
  auto prepared = preparePartition(imported->graph, options, seconds);
  if (failed(prepared))
    return std::nullopt;
  auto theirs = partitionGraph(imported->graph, options, std::move(*prepared));
  if (failed(theirs))
    return std::nullopt;
  const GraphView &view = (*theirs)->view;
  const GraphSets &sets = *(*theirs)->sets;
  FailureOr<ValueSizes> sizes = ValueSizes::compute(view, options.symbols);
  Device device;
  std::string error;
  if (failed(sizes) || !Device::load(options.device, device, error))
    return std::nullopt;
  RooflineCosts costs = RooflineCosts::compute(view, sets, *sizes, device);
  refineByKernels(costs, KernelProblem::build(view, *sizes), view, sets, *sizes,
                  device);

  ParetoResult result;
  result.name = which.name;
  result.ops = view.numOps();
  PlanPrice price = pricePlan(view, sets, *sizes, costs, (*theirs)->halves);
  result.torch = {price.ps, price.bytes, 0};
  FrontSearch search(view, sets, *sizes, costs);
  if (!search.run(result.ours))
    return std::nullopt;
  result.abovePs =
      static_cast<double>(price.ps) - hullTime(result.ours, price.bytes);
  result.better = findBetter(result, result.ours);
  for (size_t i = 1; !result.better && i < result.ours.size(); ++i)
    if (result.ours[i - 1].bytes >= price.bytes &&
        result.ours[i].bytes < price.bytes)
      search.searchEdge(result.ours[i - 1], result.ours[i], price.bytes,
                        result.between);
  if (!result.better && (result.better = findBetter(result, result.between)))
    result.isBetween = true;
  return result;
}

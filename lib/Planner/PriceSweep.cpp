// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The corners of the front of time and memory, by bisection of the price.
//
//   1. the cut at price 0 and the cut at a price that outweighs any time
//   2. of all pairs of neighbours, take the one whose triangle below has the
//      largest area: its sides are the prices at which the two were found, and
//      no cut lies below them
//   3. solve at the slope between the two; a cut below their line is a new
//      corner, else the pair is an edge of the hull
//
// Analyses and costs are made once; for each price the network gets new
// capacities and the solver keeps its memory. A corner is the minimum cut for
// all prices between the slopes of its two edges, so the price that is reported
// is the shortest number between them: a third of the way in from both ends,
// since edges that were not searched could lie nearer.

#include "cutback/Planner/PriceSweep.h"

#include "Internal.h"

#include "cutback/Analysis/Device.h"
#include "cutback/Analysis/Roofline.h"
#include "cutback/Partition/RooflineProblem.h"
#include "cutback/Partition/Strategies.h"

#include <cmath>

using namespace mlir;
using namespace cutback;

/// Picoseconds a byte: a byte outweighs any time that a step could take.
static constexpr double kHighestPrice = 1e6;

double cutback::shortestBetween(double low, double high) {
  for (int exponent = 12; exponent >= -12; --exponent) {
    // Powers of ten, and quotients of small numbers by them, are exact or the
    // nearest to what their digits say.
    double unit = std::pow(10.0, std::abs(exponent));
    double count =
        exponent >= 0 ? std::ceil(low / unit) : std::ceil(low * unit);
    double number = exponent >= 0 ? count * unit : count / unit;
    if (number >= low && number <= high && number > 0)
      return number;
  }
  return high;
}

/// A ninth of the step's time for all bytes: see docs/Rationale/Partition.md.
static constexpr double kTimeForAllBytes = 1.0 / 9;
/// Launches count three times: a step of them alone is short, and gives some
/// more of them for its bytes.
static constexpr double kMoreForLaunches = 2;

double cutback::ownBytePrice(const RooflineCosts &costs) {
  if (costs.givenBytes <= 0)
    return 0;
  double time = costs.stepPs + kMoreForLaunches * costs.launchesPs;
  double price = kTimeForAllBytes * time / costs.givenBytes;
  // Short, to be asked for.
  return shortestBetween(0.99 * price, 1.01 * price);
}

namespace {

class Sweep {
public:
  Sweep(joint::GraphOp graph, const PartitionOptions &options,
        const PriceSweepOptions &limits)
      : graph(graph), options(options), limits(limits),
        view(GraphView::build(graph)) {}

  FailureOr<PriceFront> run() {
    if (failed(analyse()))
      return failure();
    problem.emplace(view, *sets, costs, policies);
    FailureOr<PricePoint> fastest = solve(0), smallest = solve(kHighestPrice);
    if (failed(fastest) || failed(smallest))
      return failure();
    corners = {*fastest};
    // One plan may be both.
    if (smallest->bytes < fastest->bytes && smallest->ps > fastest->ps)
      corners.push_back(*smallest);
    isEdge.assign(corners.size(), 0);
    if (failed(search()))
      return failure();
    shortenPrices();
    return PriceFront{std::move(corners), isWhole};
  }

private:
  LogicalResult analyse() {
    FailureOr<GraphSets> computed = GraphSets::compute(view);
    if (failed(computed))
      return failure();
    sets = std::move(*computed);
    FailureOr<ValueSizes> values = ValueSizes::compute(view, options.symbols);
    FailureOr<std::vector<OpPolicy>> asked =
        collectPolicies(view, options.policies);
    if (failed(values) || failed(asked))
      return failure();
    sizes = std::move(*values);
    policies = std::move(*asked);
    Device device;
    std::string error;
    if (!Device::load(options.device, device, error))
      return graph.emitError(error);
    std::shared_ptr<const KernelProblem> kernels;
    costs = networkCosts(view, *sets, sizes, device, options.symbols, kernels);
    return success();
  }

  FailureOr<PricePoint> solve(double bytePricePs) {
    ++solves;
    if (FlowError error = problem->build(bytePricePs, limits.withoutPrice))
      return graph.emitError(*error);
    MinCut cut;
    MinCutStatus status = solver.solve(problem->network(), cut);
    if (status == MinCutStatus::Unbounded)
      return problem->reportUnbounded(solver.unboundedPath());
    auto plan = std::make_shared<const Plan>(problem->plan(cut));
    FailureOr<Halves> halves = splitGraph(view, *sets, *plan);
    if (failed(halves))
      return failure();
    PlanPrice price =
        pricePlan(view, *sets, sizes, costs, *halves, limits.withoutPrice);
    PricePoint point{bytePricePs, price.ps, price.bytes, nullptr};
    if (limits.keepsPlans)
      point.plan = std::move(plan);
    return point;
  }

  static double slope(const PricePoint &fast, const PricePoint &small) {
    return static_cast<double>(small.ps - fast.ps) /
           static_cast<double>(fast.bytes - small.bytes);
  }

  /// Twice the area of the triangle below corners i and i + 1 that the prices
  /// at which they were found leave open.
  double openArea(size_t i) const {
    const PricePoint &fast = corners[i], &small = corners[i + 1];
    double bytes = static_cast<double>(fast.bytes - small.bytes);
    double middle = slope(fast, small);
    double low = fast.bytePricePs, high = small.bytePricePs;
    if (!(low < middle && middle < high))
      return 0;
    // Where the two lines of support meet.
    double left = bytes * (high - middle) / (high - low);
    return bytes * left * (middle - low);
  }

  /// The corner behind which the hull may lie farthest below what is known.
  std::optional<size_t> findWidest() const {
    std::optional<size_t> widest;
    double area = 0;
    for (size_t i = 0; i + 1 < corners.size(); ++i)
      if (!isEdge[i] && openArea(i) > area) {
        area = openArea(i);
        widest = i;
      }
    return widest;
  }

  bool isAtLimit() const {
    return corners.size() >= limits.maxPoints || solves >= limits.maxSolves;
  }

  LogicalResult search() {
    while (std::optional<size_t> widest = findWidest()) {
      isWhole = !isAtLimit();
      if (!isWhole)
        return success();
      if (failed(divide(*widest)))
        return failure();
    }
    return success();
  }

  LogicalResult divide(size_t at) {
    const PricePoint fast = corners[at], small = corners[at + 1];
    double price = slope(fast, small);
    FailureOr<PricePoint> between = solve(price);
    if (failed(between))
      return failure();
    auto weigh = [&](const PricePoint &point) {
      return static_cast<double>(point.ps) +
             price * static_cast<double>(point.bytes);
    };
    // Below the line by more than what rounding can do.
    bool below =
        weigh(*between) < weigh(fast) - 1e-6 * std::abs(weigh(fast)) - 100;
    if (!below || between->bytes >= fast.bytes ||
        between->bytes <= small.bytes) {
      isEdge[at] = 1;
      return success();
    }
    corners.insert(corners.begin() + at + 1, *between);
    isEdge.insert(isEdge.begin() + at + 1, 0);
    return success();
  }

  void shortenPrices() {
    if (corners.size() < 2)
      return;
    size_t last = corners.size() - 1;
    for (size_t i = 1; i < last; ++i) {
      double low = slope(corners[i - 1], corners[i]);
      double high = slope(corners[i], corners[i + 1]);
      double third = (high - low) / 3;
      corners[i].bytePricePs = shortestBetween(low + third, high - third);
    }
    double least = slope(corners[last - 1], corners[last]);
    corners[last].bytePricePs = shortestBetween(10 * least, 100 * least);
  }

  joint::GraphOp graph;
  const PartitionOptions &options;
  const PriceSweepOptions &limits;
  GraphView view;
  std::optional<GraphSets> sets;
  ValueSizes sizes;
  std::vector<OpPolicy> policies;
  RooflineCosts costs;
  std::optional<RooflineProblem> problem;
  MaxFlowSolver solver;
  unsigned solves = 0;
  std::vector<PricePoint> corners;
  bool isWhole = true;
  std::vector<uint8_t> isEdge; ///< by corner: no corner up to the next one
};

} // namespace

FailureOr<PriceFront> cutback::sweepBytePrice(joint::GraphOp graph,
                                              const PartitionOptions &options,
                                              const PriceSweepOptions &sweep) {
  return Sweep(graph, options, sweep).run();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Lagrangian of a cut under limits is a concave function of the prices,
// linear where one cut is the least; each cut gives a plane above it.
//
//   1. Prices 0. If that cut fits, it is the best there is.
//   2. One price, of the moment with least room: the cuts of a price at which
//      it does not fit and of one at which it does meet at a third. One is
//      searched until no cut lies below.
//   3. All prices: the planes so far, less a quadratic term that keeps near the
//      best prices (Lemaréchal's proximal bundle; Hiriart-Urruty and
//      Lemaréchal, "Convex Analysis and Minimization Algorithms II", XV.3). Its
//      dual is over the weights of planes, two of which change at a time.
//
// A flow a step; the rest is planes × moments.

#include "cutback/Partition/MaxFlow/MomentPrices.h"

#include <algorithm>
#include <cmath>

using namespace cutback;

using Vector = std::vector<double>;

MomentPrices::MomentPrices(FlowNetwork given,
                           std::vector<LimitedMoment> limited)
    : network(std::move(given)), moments(std::move(limited)),
      capacity(network.numArcs()), priceOf(network.numArcs(), 0) {
  for (ArcId arc = 0; arc < network.numArcs(); ++arc)
    capacity[arc] = network.arc(arc).capacity;
}

FlowError MomentPrices::evaluate(const Vector &prices, PricedCut &result) {
  // What a product of doubles may be too large.
  constexpr double kDown = 1 - 1e-14;
  double paid = 0;
  for (size_t t = 0; t < moments.size(); ++t) {
    if (prices[t] == 0)
      continue;
    paid += prices[t] * static_cast<double>(moments[t].room);
    for (const LimitedMoment::Charge &charge : moments[t].charges)
      priceOf[charge.arc] += prices[t] * static_cast<double>(charge.bytes);
  }
  for (ArcId arc = 0; arc < network.numArcs(); ++arc) {
    if (capacity[arc] == kInfiniteCapacity)
      continue;
    double more = std::min(std::floor(priceOf[arc] * kDown), 1e17);
    priceOf[arc] = 0;
    int64_t now = capacity[arc] + static_cast<int64_t>(more);
    if (now != network.arc(arc).capacity)
      if (FlowError error = network.setCapacity(arc, now))
        return error;
  }
  if (solver.solve(network, result.cut) != MinCutStatus::Solved)
    return "the network has no finite cut";
  double value = static_cast<double>(result.cut.value) - paid;
  value -= 1 + std::abs(paid) * 1e-14;
  result.bound =
      static_cast<int64_t>(std::floor(std::clamp(value, -1e18, 1e18)));
  result.capacity = 0;
  std::vector<uint8_t> isCut(network.numArcs(), 0);
  for (ArcId arc : result.cut.cutArcs) {
    isCut[arc] = 1;
    result.capacity += capacity[arc];
  }
  result.over.clear();
  for (const LimitedMoment &moment : moments) {
    int64_t over = -moment.room;
    for (const LimitedMoment::Charge &charge : moment.charges)
      over += isCut[charge.arc] ? charge.bytes : 0;
    result.over.push_back(over);
  }
  return std::nullopt;
}

namespace {

/// Of a cut: its value under prices is capacity + Σ price × over.
struct Plane {
  double capacity = 0;
  Vector over;

  double at(const Vector &prices) const {
    double value = capacity;
    for (size_t t = 0; t < prices.size(); ++t)
      value += prices[t] * over[t];
    return value;
  }
};

/// Maximizes the least of some planes, less the squared distance from `center`
/// by 2 × `reach`, over prices ≥ 0.
class Proximal {
public:
  Proximal(const std::vector<Plane> &planes, const Vector &center, double reach)
      : planes(planes), center(center), reach(reach), weights(planes.size(), 0),
        mean(center.size(), 0) {}

  Vector solve(double tolerance) {
    weights.back() = 1;
    mean = planes.back().over;
    Vector prices = pricesOf(mean);
    for (unsigned step = 0; step < kSteps; ++step) {
      size_t low = 0, high = planes.size();
      Vector values(planes.size());
      for (size_t i = 0; i < planes.size(); ++i) {
        values[i] = planes[i].at(prices);
        if (values[i] < values[low])
          low = i;
        if (weights[i] > 0 &&
            (high == planes.size() || values[i] > values[high]))
          high = i;
      }
      if (values[high] - values[low] <= tolerance)
        break;
      shift(high, low);
      prices = pricesOf(mean);
    }
    return prices;
  }

private:
  static constexpr unsigned kSteps = 200, kHalvings = 30;

  Vector pricesOf(const Vector &over) const {
    Vector prices(center.size());
    for (size_t t = 0; t < center.size(); ++t)
      prices[t] = std::max(0.0, center[t] + reach * over[t]);
    return prices;
  }

  /// Moves weight from one plane to another until both are as high, or it has
  /// none left.
  void shift(size_t from, size_t to) {
    double least = 0, most = weights[from];
    auto meanAt = [&](double moved) {
      Vector over = mean;
      for (size_t t = 0; t < over.size(); ++t)
        over[t] += moved * (planes[to].over[t] - planes[from].over[t]);
      return over;
    };
    auto isLower = [&](double moved) {
      Vector prices = pricesOf(meanAt(moved));
      return planes[to].at(prices) < planes[from].at(prices);
    };
    if (isLower(most)) {
      least = most;
    } else {
      for (unsigned i = 0; i < kHalvings; ++i) {
        double middle = (least + most) / 2;
        (isLower(middle) ? least : most) = middle;
      }
    }
    mean = meanAt(least);
    weights[to] += least;
    weights[from] = least == weights[from] ? 0 : weights[from] - least;
  }

  const std::vector<Plane> &planes;
  const Vector &center;
  double reach;
  Vector weights, mean;
};

class Search {
public:
  Search(MomentPrices &prices, const MomentSearch &options,
         const std::function<void(const PricedCut &)> &see)
      : problem(prices), options(options), see(see) {
    best.prices.assign(prices.numMoments(), 0);
  }

  MomentPrices::Result run() {
    if (!evaluate(best.prices))
      return best;
    auto most = std::max_element(planes[0].over.begin(), planes[0].over.end());
    if (most == planes[0].over.end() || *most <= 0)
      return best;
    if (searchLine(most - planes[0].over.begin()))
      searchAll();
    return best;
  }

private:
  bool evaluate(const Vector &prices) {
    if (best.flows == options.maxFlows || problem.evaluate(prices, priced))
      return false;
    ++best.flows;
    planes.push_back({static_cast<double>(priced.capacity),
                      Vector(priced.over.begin(), priced.over.end())});
    last = static_cast<double>(priced.bound);
    if (best.flows == 1 || priced.bound > best.bound) {
      best.bound = std::max<int64_t>(0, priced.bound);
      best.prices = prices;
    }
    if (see)
      see(priced);
    return true;
  }

  /// False if the search must end: no price is high enough, or no flow left.
  bool searchLine(size_t moment) {
    Plane left = planes.back();
    Vector prices(best.prices.size(), 0);
    double high = (left.capacity + 1) / left.over[moment];
    do {
      prices[moment] = high;
      if (high > kHighest || !evaluate(prices))
        return false;
      high *= 8;
    } while (planes.back().over[moment] > 0);
    Plane right = planes.back();
    while (true) {
      double price = (right.capacity - left.capacity) /
                     (left.over[moment] - right.over[moment]);
      double line = left.capacity + price * left.over[moment];
      prices[moment] = std::max(0.0, price);
      if (!evaluate(prices))
        return false;
      const Plane &now = planes.back();
      if (now.capacity + price * now.over[moment] >=
          line - static_cast<double>(options.tolerance) - 1e-9 * line)
        return true;
      (now.over[moment] > 0 ? left : right) = now;
    }
  }

  void searchAll() {
    Vector center = best.prices;
    double value = static_cast<double>(best.bound), widest = 1;
    for (const Plane &plane : planes)
      for (double over : plane.over)
        widest = std::max(widest, std::abs(over));
    double reach =
        10 * *std::max_element(center.begin(), center.end()) / widest;
    while (true) {
      auto tolerance = static_cast<double>(options.tolerance);
      Vector next = Proximal(planes, center, reach).solve(tolerance / 10);
      double model = planes.front().at(next);
      for (const Plane &plane : planes)
        model = std::min(model, plane.at(next));
      double rise = model - value;
      if (rise <= tolerance || !evaluate(next))
        return;
      if (last < value + rise / 10) {
        reach *= 0.7;
        continue;
      }
      if (last > value + rise / 2)
        reach *= 2;
      center = next;
      value = last;
    }
  }

  static constexpr double kHighest = 1e12;

  MomentPrices &problem;
  const MomentSearch &options;
  const std::function<void(const PricedCut &)> &see;
  std::vector<Plane> planes;
  PricedCut priced;
  double last = 0; ///< bound of the last cut
  MomentPrices::Result best;
};

} // namespace

MomentPrices::Result
MomentPrices::maximize(const MomentSearch &search,
                       const std::function<void(const PricedCut &)> &see) {
  return Search(*this, search, see).run();
}

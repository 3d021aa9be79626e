// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact partition of a sequence. Times and bytes of a stage are differences of
// prefix sums, so both limits bound how far back a stage may begin, and that
// bound only moves forward as its end does:
//
//   * whether stages within a time exist: each is made as long as it can be;
//     fewer than asked for can always be cut again where enough boundaries are
//   * the least time: bisection over times
//   * the width: by halving, for times only fall as widths grow
//   * the fewest bytes, then the most even times (least squares): a dynamic
//     program over (stages, end). Squares of sums satisfy the quadrangle
//     inequality, so the best begin only moves forward as the end does, and
//     the ends are halved
//
// BalanceStagesTest compares it with all cuts of small sequences.

#include "cutback/Pipelining/BalanceStages.h"

#include <algorithm>
#include <limits>
#include <utility>

using namespace cutback;

std::string StageCosts::check() const {
  if (bytes.size() != ps.size())
    return "has as many boundaries as ops, the first of them not used";
  if (!memory.empty() && memory.size() != ps.size())
    return "has the memory of each op, or of none";
  auto isNegative = [](int64_t value) { return value < 0; };
  if (std::any_of(ps.begin(), ps.end(), isNegative) ||
      std::any_of(memory.begin(), memory.end(), isNegative))
    return "has a time or a memory below 0";
  return "";
}

namespace {

constexpr int64_t kInfinity = std::numeric_limits<int64_t>::max();

class Balancer {
public:
  Balancer(const StageCosts &costs, const StageRequest &request)
      : costs(costs), request(request) {
    time = sums(costs.ps);
    memory = sums(costs.memory);
    limit = request.memoryLimit && !memory.empty() ? *request.memoryLimit
                                                   : kInfinity;
  }

  std::optional<StageCut> run();

private:
  static std::vector<int64_t> sums(const std::vector<int64_t> &values) {
    std::vector<int64_t> all;
    if (values.empty())
      return all;
    all.push_back(0);
    for (int64_t value : values)
      all.push_back(all.back() + value);
    return all;
  }
  void allow(int64_t width);
  bool fits(size_t begin, size_t end, int64_t most) const {
    return time[end] - time[begin] <= most &&
           (memory.empty() || memory[end] - memory[begin] <= limit);
  }
  bool isPossible(int64_t most) const;
  /// A width of cuts, and the least time of the slowest stage through them.
  struct Width {
    int64_t width = 0, time = kInfinity;
  };
  Width measure(int64_t width) {
    return {width, leastTime(width).value_or(kInfinity)};
  }
  Width chooseWidth(const std::vector<int64_t> &widths);
  std::optional<int64_t> leastTime(int64_t width);
  /// Bytes first, then how uneven the times are.
  struct Cost {
    int64_t bytes = kInfinity;
    double squares = 0;
    bool operator<(const Cost &other) const {
      return bytes != other.bytes ? bytes < other.bytes
                                  : squares < other.squares;
    }
  };
  using Span = std::pair<size_t, size_t>;
  void extendStages(const std::vector<Cost> &best, std::vector<Cost> &next,
                    std::vector<uint32_t> &begins, int64_t most, Span ends,
                    Span candidates) const;
  std::optional<StageCut> fewestBytes(int64_t most) const;
  struct Load;
  Load loadOf(const std::vector<size_t> &cut) const;
  void balanceRanks(StageCut &cut) const;
  StageCut trace(const std::vector<std::vector<uint32_t>> &from) const;

  const StageCosts &costs;
  const StageRequest &request;
  std::vector<int64_t> time, memory;
  int64_t limit = kInfinity;
  /// Where a stage may begin, with 0 and the end.
  std::vector<size_t> places;
};

} // namespace

void Balancer::allow(int64_t width) {
  places = {0};
  for (size_t b = 1; b < costs.numOps(); ++b)
    if (costs.bytes[b] != StageCosts::kNever && costs.bytes[b] <= width)
      places.push_back(b);
  places.push_back(costs.numOps());
}

bool Balancer::isPossible(int64_t most) const {
  if (places.size() - 1 < request.stages)
    return false;
  unsigned used = 0;
  for (size_t begin = 0; begin + 1 < places.size();) {
    size_t end = begin;
    while (end + 1 < places.size() &&
           fits(places[begin], places[end + 1], most))
      ++end;
    if (end == begin || ++used > request.stages)
      return false;
    begin = end;
  }
  return true;
}

std::optional<int64_t> Balancer::leastTime(int64_t width) {
  allow(width);
  int64_t low = 0, high = time.back();
  if (!isPossible(high))
    return std::nullopt;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (isPossible(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

StageCut Balancer::trace(const std::vector<std::vector<uint32_t>> &from) const {
  StageCut cut;
  size_t end = places.size() - 1;
  for (size_t stage = request.stages; stage > 0; --stage) {
    size_t begin = from[stage - 1][end];
    cut.largestPs =
        std::max(cut.largestPs, time[places[end]] - time[places[begin]]);
    if (begin) {
      cut.begins.push_back(static_cast<unsigned>(places[begin]));
      cut.bytes += costs.bytes[places[begin]];
    }
    end = begin;
  }
  std::reverse(cut.begins.begin(), cut.begins.end());
  return cut;
}

/// The best begins for ends from `low` to `high`, which are between `from` and
/// `to`: that of the middle one bounds those on both sides.
void Balancer::extendStages(const std::vector<Cost> &best,
                            std::vector<Cost> &next,
                            std::vector<uint32_t> &begins, int64_t most,
                            Span ends, Span candidates) const {
  if (ends.first >= ends.second)
    return;
  size_t end = (ends.first + ends.second) / 2;
  size_t first = candidates.first;
  Cost least;
  for (size_t begin = candidates.first;
       begin < std::min(end, candidates.second); ++begin) {
    if (best[begin].bytes == kInfinity ||
        !fits(places[begin], places[end], most))
      continue;
    auto ps = static_cast<double>(time[places[end]] - time[places[begin]]);
    Cost cost{best[begin].bytes, best[begin].squares + ps * ps};
    if (cost < least) {
      least = cost;
      first = begin;
    }
  }
  bool isLast = end + 1 == places.size();
  if (least.bytes != kInfinity && !isLast)
    least.bytes += costs.bytes[places[end]];
  next[end] = least;
  begins[end] = static_cast<uint32_t>(first);
  // An end without a begin says nothing of the others.
  bool isBound = least.bytes != kInfinity;
  extendStages(best, next, begins, most, {ends.first, end},
               {candidates.first, isBound ? first + 1 : candidates.second});
  extendStages(best, next, begins, most, {end + 1, ends.second},
               {isBound ? first : candidates.first, candidates.second});
}

/// best[e]: the least cost of cuts of the ops before place e into so many
/// stages as were gone through; `from` has where the last of them begins.
std::optional<StageCut> Balancer::fewestBytes(int64_t most) const {
  size_t count = places.size();
  std::vector<Cost> best(count);
  best[0] = {0, 0};
  std::vector<std::vector<uint32_t>> from;
  for (unsigned stage = 0; stage < request.stages; ++stage) {
    std::vector<Cost> next(count);
    from.emplace_back(count, 0);
    extendStages(best, next, from.back(), most, {1, count}, {0, count});
    best.swap(next);
  }
  if (best.back().bytes == kInfinity)
    return std::nullopt;
  return trace(from);
}

/// Times only fall as widths grow, and what the bytes take only grows: the
/// least of the larger of both is where they cross, and the narrowest width
/// near it is found by halving.
Balancer::Width Balancer::chooseWidth(const std::vector<int64_t> &widths) {
  auto linkPs = [&](int64_t width) {
    return static_cast<double>(width) * request.bytePs;
  };
  auto crossing =
      std::partition_point(widths.begin(), widths.end(), [&](int64_t width) {
        Width one = measure(width);
        return one.time == kInfinity ||
               static_cast<double>(one.time) > linkPs(width);
      });
  double least = std::numeric_limits<double>::infinity();
  if (crossing != widths.end())
    least = linkPs(*crossing);
  if (crossing != widths.begin())
    if (Width before = measure(*std::prev(crossing)); before.time != kInfinity)
      least = std::min(least, static_cast<double>(before.time));
  auto narrowest =
      std::partition_point(widths.begin(), crossing, [&](int64_t width) {
        Width one = measure(width);
        return one.time == kInfinity ||
               static_cast<double>(one.time) > least * (1 + request.slack);
      });
  return narrowest == widths.end() ? Width() : measure(*narrowest);
}

/// Times of ranks: the longest, and how uneven they are.
struct Balancer::Load {
  int64_t most = 0;
  double squares = 0;
  bool operator<(const Load &other) const {
    return most != other.most ? most < other.most : squares < other.squares;
  }
};

/// `cut`: places of all boundaries, with both ends.
Balancer::Load Balancer::loadOf(const std::vector<size_t> &cut) const {
  std::vector<int64_t> ranks(request.stages, 0);
  for (size_t stage = 0; stage + 1 < cut.size(); ++stage)
    ranks[request.rankOf[stage]] +=
        time[places[cut[stage + 1]]] - time[places[cut[stage]]];
  Load load;
  for (int64_t ps : ranks) {
    load.most = std::max(load.most, ps);
    load.squares += static_cast<double>(ps) * static_cast<double>(ps);
  }
  return load;
}

void Balancer::balanceRanks(StageCut &cut) const {
  std::vector<size_t> now = {0};
  for (unsigned begin : cut.begins)
    now.push_back(std::lower_bound(places.begin(), places.end(), begin) -
                  places.begin());
  now.push_back(places.size() - 1);
  Load best = loadOf(now);
  for (bool isBetter = true; isBetter;) {
    isBetter = false;
    for (size_t k = 1; k + 1 < now.size(); ++k) {
      std::vector<size_t> next = now;
      for (size_t place = now[k - 1] + 1; place < now[k + 1]; ++place) {
        next[k] = place;
        Load load = loadOf(next);
        if (!(load < best) ||
            !fits(places[next[k - 1]], places[place], kInfinity) ||
            !fits(places[place], places[next[k + 1]], kInfinity))
          continue;
        best = load;
        now[k] = place;
        isBetter = true;
      }
    }
  }
  cut = {};
  for (size_t k = 1; k < now.size(); ++k) {
    cut.largestPs = std::max(cut.largestPs,
                             time[places[now[k]]] - time[places[now[k - 1]]]);
    if (k + 1 == now.size())
      break;
    cut.begins.push_back(static_cast<unsigned>(places[now[k]]));
    cut.bytes += costs.bytes[places[now[k]]];
  }
}

std::optional<StageCut> Balancer::run() {
  std::vector<int64_t> widths;
  for (size_t b = 1; b < costs.numOps(); ++b)
    if (costs.bytes[b] != StageCosts::kNever)
      widths.push_back(costs.bytes[b]);
  if (request.stages == 1)
    widths.push_back(0);
  std::sort(widths.begin(), widths.end());
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
  if (widths.empty())
    return std::nullopt;
  Width best = chooseWidth(widths);
  if (best.time == kInfinity)
    return std::nullopt;
  allow(best.width);
  std::optional<StageCut> cut = fewestBytes(best.time);
  if (cut && !request.rankOf.empty())
    balanceRanks(*cut);
  return cut;
}

std::optional<StageCut> cutback::balanceStages(const StageCosts &costs,
                                               const StageRequest &request) {
  if (costs.numOps() < request.stages || request.stages == 0 ||
      (!request.rankOf.empty() && request.rankOf.size() != request.stages))
    return std::nullopt;
  return Balancer(costs, request).run();
}

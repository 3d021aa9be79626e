// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What it costs to save a value.
//
// A tensor costs its bytes, times 1.1 to the power of its distance to the
// backward (between 1 and 100 steps), cut to an integer; twice that if nothing
// else writes it to memory. The factor is pow(1.1, k) of the C library in
// double precision, and the product is rounded once: multiplying step by step
// gives other last bits. So the powers are a table made with pow.
//
// A Python object that the graph is given costs nothing.
//
// Limits: factors reach 2 * 13780, so a value of 2^48 bytes still fits 64
// bits; larger ones are reported, not wrapped.
#include "RuleView.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace cutback;
using namespace cutback::torchrules;

int64_t cutback::torchTensorSize(TorchRuleSet rules, int64_t elements,
                                 int64_t itemSize, bool hasUnknownSymbol) {
  if (hasUnknownSymbol)
    elements = rules == TorchRuleSet::Torch23 ? 4098 : 4096;
  int64_t bytes;
  if (__builtin_mul_overflow(elements, itemSize, &bytes))
    return std::numeric_limits<int64_t>::max();
  return bytes;
}

static constexpr unsigned furthest = 100;

static const std::array<double, furthest + 1> &powersOf1Point1() {
  static const std::array<double, furthest + 1> powers = [] {
    std::array<double, furthest + 1> table{};
    for (unsigned k = 0; k <= furthest; ++k)
      table[k] = std::pow(1.1, static_cast<double>(k));
    return table;
  }();
  return powers;
}

bool torchrules::saveCapacity(const RuleView &view, FxNodeId n,
                              int64_t distance, bool isMaterialized,
                              int64_t &capacity) {
  const FxNode &node = view.graph.nodes[n];
  if (node.isSymbolic()) {
    capacity = node.value == FxValue::SymFloat ? 4 : 1;
    return true;
  }
  if (node.value == FxValue::Object) {
    capacity = 0;
    return true;
  }
  if (node.value != FxValue::Tensor) {
    capacity = infiniteCapacity;
    return true;
  }
  if (!view.is23()) {
    if (view.options.freeParameters && node.role == FxRole::Primal &&
        node.has(fxflag::StaticLifetime)) {
      capacity = 0;
      return true;
    }
    if (view.options.recomputeViews && view.is(n, trait::View)) {
      capacity = infiniteCapacity;
      return true;
    }
  }
  auto steps = static_cast<size_t>(
      std::max<int64_t>(std::min<int64_t>(distance, furthest), 1));
  double weight = static_cast<double>(node.size) * powersOf1Point1()[steps];
  // 2^61: doubled it still fits.
  if (!(weight >= 0 && weight < 2305843009213693952.0))
    return false;
  capacity = static_cast<int64_t>(weight);
  if (!isMaterialized)
    capacity *= 2;
  return true;
}

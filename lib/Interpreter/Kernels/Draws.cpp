// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox-4x32-10 (Salmon et al., SC 2011) with the seed as key: word i % 4 of
// counter (i / 4, stream) decides about element i. Its upper 24 bits are a
// uniform number; an element is kept where that is below 1 - p. The stream is
// a hash of the name of the op's first result in the graph, so an op draws the
// same in whichever half it runs, and again where it is recomputed. A number of
// events, or of successes, has 2^24 or 2^31 numbers of a stream to itself.

#include "Draws.h"

#include "cutback/Dialect/Joint/Replay.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

RandomState interpreter::randomState(const KernelCall &call) {
  if (call.replayed)
    return {call.replayed->first, call.replayed->second};
  return {call.options.seed, joint::drawStreamOf(call.op)};
}

std::vector<double> interpreter::keepFactors(const RandomState &state, double p,
                                             int64_t count) {
  std::vector<double> factors;
  if (p == 0)
    return factors;
  factors.reserve(count);
  Philox generator(state.seed, state.stream);
  for (int64_t i = 0; i < count; ++i)
    factors.push_back(generator.uniform(i) < 1 - p ? 1 / (1 - p) : 0);
  return factors;
}

double interpreter::drawPoisson(Philox &generator, uint64_t i, double rate) {
  constexpr int64_t most = int64_t(1) << 24;
  double time = 0;
  int64_t events = -1;
  while (time <= rate && ++events < most)
    time -= std::log(1 - generator.uniform64(i * most + events));
  return events < 0 ? 0.0 : static_cast<double>(events);
}

double interpreter::drawBinomial(Philox &generator, uint64_t i, double trials,
                                 double chance) {
  if (!(trials >= 0 && trials < 0x1p31))
    return std::nan("");
  int64_t successes = 0;
  for (uint64_t k = 0; static_cast<double>(k) < trials; ++k)
    successes += generator.uniform64(i << 31 | k) < chance;
  return static_cast<double>(successes);
}

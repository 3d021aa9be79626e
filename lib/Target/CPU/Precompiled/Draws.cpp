// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random draws: an element of the result for each number, of a distribution
// whose parameters are numbers or tensors, dropout with its mask, slopes, rows
// of places that weights choose, and an order. The functions are those of
// kernels for a device: element i is a function of seed, stream and i, so parts
// of a call draw what all would.

#include "Strided.h"

#include "cutback_random.cuh"

using precompiled::Draw;

template <typename T> static void dropout(const Call &call, const Draw &draw) {
  const Strided input = call.tensor(0), seed = call.tensor(2),
                out = call.tensor(3), mask = call.tensor(4);
  const Strided &some = out ? out : mask;
  const int rank = some.rank();
  const long long key = seed ? *seed.elements<long long>() : 0;
  const T scale = T(draw.first < 1 ? 1 / (1 - draw.first) : 0);
  call.forEach(some.sizes(), rank, [&](int64_t number, const int64_t *at) {
    const bool keeps =
        draw.first > 0 ? randomUniform(key, draw.stream, number / draw.inner,
                                       false) < 1 - draw.first
                       : true;
    T x = input.get<T>(input.begin() + input.offset(at, rank));
    if (draw.first > 0)
      x = x * scale;
    if (out)
      out.set(out.begin() + out.offset(at, rank), keeps ? x : T(0));
    if (mask)
      mask.set(mask.begin() + mask.offset(at, rank), (long long)keeps);
  });
}

static void slopes(const Call &call, const Draw &draw, long long key) {
  const Strided input = call.tensor(0), noise = call.tensor(1),
                out = call.tensor(3), slopes = call.tensor(4);
  const Strided &some = out ? out : slopes;
  const int rank = some.rank();
  call.forEach(some.sizes(), rank, [&](int64_t number, const int64_t *at) {
    const double x = input.get<double>(input.begin() + input.offset(at, rank));
    const double slope =
        randomSlope(key, draw.stream, number, draw.isTraining != 0, x,
                    draw.first, draw.second);
    if (out)
      out.set(out.begin() + out.offset(at, rank), x * slope);
    if (slopes && draw.isTraining)
      slopes.set(slopes.begin() + slopes.offset(at, rank), slope);
    else if (slopes)
      slopes.copy(slopes.begin() + slopes.offset(at, rank), noise,
                  noise.begin() + noise.offset(at, rank));
  });
}

/// Element `number` of distributions of real numbers.
static double realNumber(const Draw &draw, long long key, long long stream,
                         int64_t number, double first, double second) {
  switch (draw.kind) {
  case Draw::Uniform:
    return randomBetween(key, stream, number, draw.isWide != 0, draw.steps,
                         first, second);
  case Draw::Normal:
    return randomNormalOf(key, stream, number, draw.isWide != 0, first, second);
  case Draw::LogNormal:
    return randomLogNormal(key, stream, number, first, second);
  case Draw::Exponential:
    return randomExponential(key, stream, number, first);
  case Draw::Cauchy:
    return randomCauchy(key, stream, number, first, second);
  case Draw::Geometric:
    return randomGeometric(key, stream, number, first);
  case Draw::Poisson:
    return randomPoisson(key, stream, number, first);
  case Draw::Binomial:
    return randomBinomial(key, stream, number, first, second);
  case Draw::Gamma:
    return randomGamma(key, stream, number, first);
  default: // Bernoulli
    return randomUniform(key, stream, number, true) < first ? 1.0 : 0.0;
  }
}

static void elements(const Call &call, const Draw &draw, long long key) {
  const Strided first = call.tensor(0), second = call.tensor(1),
                out = call.tensor(3), round = call.tensor(4);
  const int rank = out.rank();
  const long long stream =
      round ? streamOfRound(draw.stream, *round.elements<long long>())
            : (long long)(draw.stream);
  auto parameter = [&](const Strided &of, const int64_t *at, double all) {
    return of ? of.get<double>(of.place(at, rank)) : all;
  };
  call.forEach(out.sizes(), rank, [&](int64_t number, const int64_t *at) {
    const int64_t to = out.begin() + out.offset(at, rank);
    if (draw.kind == Draw::Integer)
      out.set(to, randomInteger(key, stream, number, draw.low,
                                (unsigned long long)(draw.range)));
    else
      out.set(to, realNumber(draw, key, stream, number,
                             parameter(first, at, draw.first),
                             parameter(second, at, draw.second)));
  });
}

static void places(Call &call, const Draw &draw, long long key) {
  const Strided weights = call.tensor(0), out = call.tensor(3);
  const int last = out.rank() - 1;
  const auto [begin, end] = call.share(out.count(last));
  for (int64_t row = begin; row < end; ++row) {
    const int64_t at = weights.begin() + weights.offsetOf(row, 0, last);
    randomPlaces(
        key, draw.stream, int(row), int(out.size(last)),
        int(weights.size(last)), draw.replaces != 0,
        [&](int i) -> double {
          return weights.get<double>(at + i * weights.stride(last));
        },
        out.elements<long long>() + out.begin() + row * out.size(last),
        &call.problem);
  }
}

CUTBACK_STRIDED_CALL(draw) {
  const auto &draw = call.numbers<Draw>();
  if (draw.kind == Draw::Dropout)
    return withSum(call.tensor(0).type(),
                   [&](auto zero) { dropout<decltype(zero)>(call, draw); });
  const long long key = *call.tensor(2).elements<long long>();
  if (draw.kind == Draw::Slopes)
    return slopes(call, draw, key);
  if (draw.kind == Draw::Places)
    return places(call, draw, key);
  if (draw.kind != Draw::Order)
    return elements(call, draw, key);
  const Strided out = call.tensor(3);
  if (call.isFirst())
    withType(out.type(), out.elements<char>(), [&](auto *elements) {
      randomOrder(key, draw.stream, int(out.count()), elements + out.begin());
    });
}

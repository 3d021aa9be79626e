// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of elements that are sums of as many terms as it takes: those of
// the gamma and the normal distribution.
//
// The functions are those of kernels for a device, in double precision whatever
// the type of the elements.

#include "Strided.h"

#include "cutback_special.cuh"

using precompiled::Special;

/// `function` of all elements of the part.
template <typename Fn>
static void forElements(const Call &call, const Fn &function) {
  const Strided self = call.tensor(0), out = call.tensor(2);
  const int rank = out.rank();
  call.forEach(out.sizes(), rank, [&](int64_t, const int64_t *at) {
    out.set(out.place(at, rank),
            function(self.get<double>(self.place(at, rank)), at));
  });
}

CUTBACK_STRIDED_CALL(special) {
  const auto &told = call.numbers<Special>();
  auto run = [&](double (*function)(double)) {
    forElements(call, [=](double x, const int64_t *) { return function(x); });
  };
  switch (told.kind) {
  case Special::GammaSlope: {
    const Strided drawn = call.tensor(1);
    const int rank = call.tensor(2).rank();
    return forElements(call, [&](double x, const int64_t *at) {
      return gammaSlope(x, drawn.get<double>(drawn.place(at, rank)));
    });
  }
  case Special::Polygamma: {
    const int degree = int(told.degree);
    return forElements(
        call, [=](double x, const int64_t *) { return polygamma(degree, x); });
  }
  case Special::LogGamma:
    return run(logGamma);
  case Special::InverseErf:
    return run(inverseErf);
  case Special::ScaledErfc:
    return run(scaledErfc);
  case Special::LogNormal:
    return run(logNormalBelow);
  default:
    return run(normalQuantile);
  }
}

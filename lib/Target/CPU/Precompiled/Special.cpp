// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of elements that are sums of as many terms as it takes: the slope
// of a draw from a gamma distribution in its shape.
//
// The function is that of kernels for a device, in double precision whatever
// the type of the elements.

#include "Strided.h"

#include "cutback_gamma.cuh"

CUTBACK_STRIDED_CALL(special) {
  const Strided shape = call.tensor(0), drawn = call.tensor(1),
                out = call.tensor(2);
  const int rank = out.rank();
  call.forEach(out.sizes(), rank, [&](int64_t, const int64_t *at) {
    out.set(out.place(at, rank),
            gammaSlope(shape.get<double>(shape.place(at, rank)),
                       drawn.get<double>(drawn.place(at, rank))));
  });
}

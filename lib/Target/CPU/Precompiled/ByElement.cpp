// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of a source under the true elements of a mask, in their order, and
// the gradient; copies and checks: all that has an element of the result for
// each number.
//
// A part of a call counts the true elements in front of its own.

#include "Strided.h"

using precompiled::Elements;

CUTBACK_STRIDED_CALL(masked_scatter) {
  const bool isGradient =
      call.numbers<precompiled::MaskedScatter>().isGradient != 0;
  const Strided self = call.tensor(0), mask = call.tensor(1),
                source = call.tensor(2), out = call.tensor(3);
  // All have the indices of what is masked but the one that is taken in order.
  const Strided &masked = isGradient ? source : out;
  const Strided &ordered = isGradient ? out : source;
  const int64_t count = ordered.count();
  const auto [first, last] = call.share(masked.count());
  const int dims = masked.rank();
  int64_t rank = 0;
  Walk walk(masked.sizes(), dims, 0);
  for (int64_t number = 0; number < last; ++number, walk.next()) {
    const bool isTrue =
        mask.get<long long>(mask.begin() + mask.offset(walk.index, dims)) != 0;
    const int64_t own = masked.begin() + masked.offset(walk.index, dims);
    if (number >= first && !isTrue && !isGradient)
      out.copy(own, self, self.begin() + self.offset(walk.index, dims));
    if (number >= first && isTrue) {
      const int64_t other =
          ordered.offsetOf(checked(rank, count, &call.problem));
      if (count && isGradient)
        out.copy(other, source, own);
      else if (count)
        out.copy(own, source, other);
    }
    rank += isTrue;
  }
}

/// Whether elements lie in their order, with nothing between them.
static bool isDense(const Strided &tensor) {
  int64_t apart = 1;
  for (int dim = tensor.rank(); dim-- > 0; apart *= tensor.size(dim))
    if (tensor.size(dim) > 1 && tensor.stride(dim) != apart)
      return false;
  return true;
}

CUTBACK_STRIDED_CALL(elements) {
  const Strided from = call.tensor(0), to = call.tensor(1);
  const Strided &all = to ? to : from;
  const int rank = all.rank();
  const int64_t kind = call.numbers<Elements>().kind;
  if (kind == Elements::Copy && isDense(from) && isDense(to)) {
    const auto [first, last] = call.share(to.count());
    const int64_t bytes = to.bytes();
    std::memcpy(to.elements<char>() + (to.begin() + first) * bytes,
                from.elements<char>() + (from.begin() + first) * bytes,
                size_t((last - first) * bytes));
    return;
  }
  call.forEach(all.sizes(), rank, [&](int64_t, const int64_t *at) {
    const int64_t fromAt = from ? from.begin() + from.offset(at, rank) : 0;
    if (kind == Elements::Copy)
      to.copy(to.begin() + to.offset(at, rank), from, fromAt);
    else if (kind == Elements::Zero)
      to.set(to.begin() + to.offset(at, rank), 0ll);
    else if (!from.get<bool>(fromAt))
      call.problem = std::max(call.problem, kCheckFailed);
  });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The norm of gradients that several graphs have. No compiler in it.
#ifndef CUTBACK_RUNTIME_GRADIENTNORM_H
#define CUTBACK_RUNTIME_GRADIENTNORM_H

#include <cmath>
#include <cstddef>
#include <vector>

namespace cutback {

/// The norm of all gradients from the sums of squares of each, in the order of
/// parameters; `Float` is their type. Added in pairs, with the bits of a
/// compiled update. 0 of none. Linear.
template <typename Float> Float combineSquares(std::vector<Float> squares) {
  if (squares.empty())
    return 0;
  while (squares.size() > 1) {
    size_t pairs = squares.size() / 2;
    for (size_t i = 0; i < pairs; ++i)
      squares[i] = squares[2 * i] + squares[2 * i + 1];
    if (squares.size() % 2)
      squares[pairs++] = squares.back();
    squares.resize(pairs);
  }
  return std::sqrt(squares.front());
}

} // namespace cutback

#endif // CUTBACK_RUNTIME_GRADIENTNORM_H

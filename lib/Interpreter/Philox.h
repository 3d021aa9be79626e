// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers as a pure function of a seed, a stream and a place.
#ifndef CUTBACK_LIB_INTERPRETER_PHILOX_H
#define CUTBACK_LIB_INTERPRETER_PHILOX_H

#include "cutback/Interpreter/Tensor.h"

#include <array>

namespace cutback::interpreter {

/// Words 2 and 3 of the counter: the low halves of stream and round.
inline uint64_t streamOfRound(uint64_t stream, int64_t round) {
  return (stream & 0xFFFFFFFF) | static_cast<uint64_t>(round) << 32;
}

/// Philox-4x32-10 (Salmon et al., SC 2011): the seed is the key; a counter
/// holds a number in words 0 and 1 and the stream in words 2 and 3, and gives
/// four words.
class Philox {
public:
  Philox(uint64_t seed, uint64_t stream) : seed(seed), stream(stream) {}

  /// Word i % 4 of counter i / 4.
  uint32_t word(uint64_t i);
  /// Words 2 (i % 2) and behind of counter i / 2.
  uint64_t word64(uint64_t i);
  /// In [0, 1): a multiple of 2^-24, or of 2^-53.
  double uniform(uint64_t i) { return (word(i) >> 8) * 0x1p-24; }
  double uniform64(uint64_t i) {
    return static_cast<double>(word64(i) >> 11) * 0x1p-53;
  }
  /// Number i of the tensor that `type` is the element type of.
  double uniform(DType type, uint64_t i) {
    return type == DType::F64 ? uniform64(i) : uniform(i);
  }
  /// Mean 0, variance 1: Box and Muller's transform of the uniform numbers 2k
  /// and 2k + 1 gives the normal ones 2k (cosine) and 2k + 1 (sine).
  double normal(DType type, uint64_t i);

  using Words = std::array<uint32_t, 4>;
  /// The words of counter `number`.
  const Words &block(uint64_t number);

private:
  uint64_t seed, stream;
  uint64_t cached = ~0ull; ///< the number of `words`
  Words words = {};
};

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_PHILOX_H

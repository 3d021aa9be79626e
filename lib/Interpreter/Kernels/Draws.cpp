// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox-4x32-10 (Salmon et al., SC 2011) with the seed as key: word i % 4 of
// counter (i / 4, stream) decides about element i. Its upper 24 bits are a
// uniform number; an element is kept where that is below 1 - p. The stream is
// a hash of the name of the op's first result, so an op draws the same in
// whichever half it runs.

#include "Draws.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "llvm/Support/xxhash.h"

#include <array>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

using Words = std::array<uint32_t, 4>;

static Words philox(Words counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * counter[0];
    uint64_t b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key0,
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key1,
               static_cast<uint32_t>(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

RandomState interpreter::randomState(const KernelCall &call) {
  llvm::StringRef name = joint::getValueName(call.op->getResult(0));
  return {call.options.seed, llvm::xxh3_64bits(name)};
}

std::vector<double> interpreter::keepFactors(const RandomState &state, double p,
                                             int64_t count) {
  std::vector<double> factors;
  if (p == 0)
    return factors;
  factors.reserve(count);
  Words words = {};
  for (int64_t i = 0; i < count; ++i) {
    uint64_t block = static_cast<uint64_t>(i) / 4;
    if (i % 4 == 0)
      words = philox({static_cast<uint32_t>(block),
                      static_cast<uint32_t>(block >> 32),
                      static_cast<uint32_t>(state.stream),
                      static_cast<uint32_t>(state.stream >> 32)},
                     static_cast<uint32_t>(state.seed),
                     static_cast<uint32_t>(state.seed >> 32));
    double uniform = (words[i % 4] >> 8) * 0x1p-24;
    factors.push_back(uniform < 1 - p ? 1 / (1 - p) : 0);
  }
  return factors;
}

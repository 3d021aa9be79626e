// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composite ops against torch, with one number for each call.
//
// Calls are written as in InferHarness.h. Element i of tensor operand k is
//   floats  sin(0.9 i + 1.7 k + 0.3); with "+" before the call, its absolute
//           value plus 0.2
//   complex that and, as imaginary part, cos(0.7 i + k)
//   ints    (7 i + 3 k) mod 3; of `i64s`, 2 i (offsets of bags)
//   bools   (5 i + k) mod 3 is not 1
// and the number is the sum of all results' elements, the j-th of them times
// cos(0.37 j + 1); complex numbers count as two elements. Of bags of
// embeddings, the first result alone.
#ifndef CUTBACK_TEST_UNIT_DECOMPOSE_COMPOSITECHECK_H
#define CUTBACK_TEST_UNIT_DECOMPOSE_COMPOSITECHECK_H

#include <string>
#include <utility>
#include <vector>

namespace cutback::test {

/// Each call, decomposed until no op with a rule is left, has the number that
/// stands beside it; also after the second level's rules, and again with an
/// unknown first dimension of each tensor, where the rule can do without it.
void check(const std::vector<std::pair<const char *, double>> &table);

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_DECOMPOSE_COMPOSITECHECK_H

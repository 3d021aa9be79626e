// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random tensors of calls over strided elements: dimensions in any order, with
// gaps, backwards, and where they are only read broadcast. A call is made in
// parts, which have any order.
#ifndef CUTBACK_TEST_UNIT_TARGET_CPU_PRECOMPILED_STRIDEDTEST_H
#define CUTBACK_TEST_UNIT_TARGET_CPU_PRECOMPILED_STRIDEDTEST_H

#include "LevelTest.h"

#include "Target/CPU/Precompiled/Strided.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace cutback::test {

/// A tensor and all memory that it lies in.
struct Random {
  precompiled::StridedTensor layout;
  std::vector<char> memory;
};

class StridedTest : public LevelTest {
protected:
  using Sizes = std::vector<int64_t>;
  using Function = void (*)(void **, int64_t *,
                            const precompiled::StridedCall *);

  int below(int count) { return int(generator() % unsigned(count)); }
  bool oneIn(int count) { return below(count) == 0; }
  int64_t pick(const Sizes &from) { return from[below(int(from.size()))]; }
  int64_t anyType() {
    using namespace precompiled;
    return pick(
        {F32, F32, F64, BF16, F16, Bool, I32, I64, I8, I16, U8, U16, U32, U64});
  }
  static bool isFloat(int64_t type) { return type <= precompiled::F16; }
  int64_t anyFloat() {
    using namespace precompiled;
    return pick({F32, F32, F64, BF16, F16});
  }
  /// What an operand beside one of this type may have: sums of both are alike.
  int64_t floatBeside(int64_t type) {
    using namespace precompiled;
    return type == F64 || !oneIn(6) ? type : pick({F32, BF16, F16});
  }
  /// Few are large, and fewer empty.
  int64_t anySize() {
    return oneIn(40)   ? 0
           : oneIn(12) ? 250 + below(300)
           : oneIn(5)  ? 1
           : oneIn(5)  ? 8 + below(30)
                       : 1 + below(7);
  }
  Sizes anySizes(int rank) {
    Sizes sizes(rank);
    for (int64_t &size : sizes)
      size = anySize();
    return sizes;
  }
  static int64_t countOf(const Sizes &sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                           std::multiplies<>());
  }

  Random tensor(int64_t type, const Sizes &sizes, bool isRead);
  /// One that lies in one piece.
  Random dense(int64_t type, const Sizes &sizes);
  /// Values with many equals, zeros of both signs, and NaN.
  void fill(Random &tensor);
  /// Floats whose sums tell their order, with few that are whole, zeros of both
  /// signs, and in some tensors those that are not finite.
  void fillFloats(Random &tensor);
  /// Indices of `size` rows, some of them from the end, and few beside it.
  void fillIndices(Random &tensor, int64_t size, bool countsFromEnd,
                   bool hasWrong);

  template <typename Numbers>
  int64_t run(Function function, std::vector<Random> &tensors,
              const Numbers &numbers);
  /// Runs `function`, and `expect` on equal memory, which it is given as
  /// tensors, as Strided: the same in all of it.
  template <typename Numbers, typename Expect>
  void compare(Function function, std::vector<Random> &tensors,
               const Numbers &numbers, Expect expect);
  /// Of no number there are many.
  static bool haveSame(const Random &a, const Random &b);
  /// The operands are the tensors that there are, in their order.
  static void number(std::vector<Random> &tensors) {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].layout.operand >= 0)
        tensors[i].layout.operand = int64_t(i);
  }
  /// In place of a tensor that a call has not.
  static Random none() { return {}; }
  static std::vector<void *> operandsOf(std::vector<Random> &tensors) {
    std::vector<void *> operands;
    for (Random &tensor : tensors)
      operands.push_back(tensor.memory.data());
    return operands;
  }
  static Sizes joined(Sizes sizes, const Sizes &others) {
    sizes.insert(sizes.end(), others.begin(), others.end());
    return sizes;
  }

  std::mt19937 generator{11};
};

inline Random StridedTest::tensor(int64_t type, const Sizes &sizes,
                                  bool isRead) {
  Random result;
  precompiled::StridedTensor &layout = result.layout;
  layout.operand = 0;
  layout.type = type;
  layout.rank = int64_t(sizes.size());
  std::vector<int> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  if (oneIn(2))
    std::shuffle(order.begin(), order.end(), generator);
  int64_t stride = 1, last = below(3);
  for (int dim : order) {
    stride *= oneIn(6) ? 2 : 1;
    const bool isBroadcast = sizes[dim] == 1 || (isRead && oneIn(4));
    layout.sizes[dim] = sizes[dim];
    layout.strides[dim] = isBroadcast ? 0 : oneIn(6) ? -stride : stride;
    const int64_t reach =
        layout.strides[dim] * std::max<int64_t>(sizes[dim] - 1, 0);
    layout.at += reach < 0 ? -reach : 0;
    last += std::abs(reach);
    stride *= std::max<int64_t>(sizes[dim], 1);
  }
  void *none = nullptr;
  result.memory.resize(size_t(last + 1) *
                       size_t(Strided(layout, &none).bytes()));
  return result;
}

inline Random StridedTest::dense(int64_t type, const Sizes &sizes) {
  Random result;
  precompiled::StridedTensor &layout = result.layout;
  void *none = nullptr;
  layout.operand = 0;
  layout.type = type;
  layout.at = below(3);
  layout.rank = int64_t(sizes.size());
  int64_t stride = 1;
  for (int dim = int(sizes.size()); dim-- > 0; stride *= sizes[dim]) {
    layout.sizes[dim] = sizes[dim];
    layout.strides[dim] = sizes[dim] == 1 ? 0 : stride;
  }
  result.memory.resize(size_t(layout.at + stride) *
                       size_t(Strided(layout, &none).bytes()));
  return result;
}

inline void StridedTest::fill(Random &tensor) {
  void *memory = tensor.memory.data();
  const Strided all(tensor.layout, &memory);
  const auto count = int64_t(tensor.memory.size()) / all.bytes();
  const bool hasNan = oneIn(2);
  for (int64_t i = 0; i < count; ++i)
    if (!isFloat(all.type()))
      all.set<long long>(i, below(7) - (oneIn(2) ? 3 : 0));
    else if (hasNan && oneIn(12))
      all.set<double>(i, std::numeric_limits<double>::quiet_NaN());
    else
      all.set<double>(i, oneIn(3)   ? (below(5) - 2) * 0.5
                         : oneIn(4) ? -0.0
                                    : (below(2000) - 1000) / 512.0);
}

inline void StridedTest::fillFloats(Random &tensor) {
  void *memory = tensor.memory.data();
  const Strided all(tensor.layout, &memory);
  const auto count = int64_t(tensor.memory.size()) / all.bytes();
  const double infinity = std::numeric_limits<double>::infinity();
  const bool areFinite = !oneIn(3);
  for (int64_t i = 0; i < count; ++i) {
    const double x = double(generator()) / 0x1p30 - 2;
    const int kind = below(160);
    if (kind > 3 || areFinite)
      all.set<double>(i, kind < 24 ? std::round(x) : x);
    else
      all.set<double>(i, kind == 0   ? infinity
                         : kind == 1 ? -infinity
                                     : infinity - infinity);
  }
}

inline void StridedTest::fillIndices(Random &tensor, int64_t size,
                                     bool countsFromEnd, bool hasWrong) {
  void *memory = tensor.memory.data();
  const Strided all(tensor.layout, &memory);
  const auto count = int64_t(tensor.memory.size()) / all.bytes();
  for (int64_t i = 0; i < count; ++i) {
    int64_t index = below(int(size)) - (countsFromEnd && oneIn(3) ? size : 0);
    if (hasWrong && oneIn(20))
      index = oneIn(2) ? size : -size - 1;
    all.set<long long>(i, index);
  }
}

template <typename Numbers>
int64_t StridedTest::run(Function function, std::vector<Random> &tensors,
                         const Numbers &numbers) {
  std::vector<int64_t> told;
  auto append = [&](const auto &part) {
    static_assert(sizeof(part) % sizeof(int64_t) == 0);
    told.resize(told.size() + sizeof(part) / sizeof(int64_t));
    std::memcpy(&told.back() + 1 - sizeof(part) / sizeof(int64_t), &part,
                sizeof(part));
  };
  append(precompiled::StridedCall{int64_t(tensors.size())});
  for (const Random &tensor : tensors)
    append(tensor.layout);
  append(numbers);
  std::vector<void *> operands = operandsOf(tensors);
  const int64_t parts = 1 + below(4);
  int64_t problem = 0;
  for (int64_t part = parts; part-- > 0;) {
    int64_t cells[5] = {0, 0, part, parts};
    function(operands.data(), cells,
             reinterpret_cast<const precompiled::StridedCall *>(told.data()));
    problem = std::max(problem, cells[0]);
  }
  return problem;
}

inline bool StridedTest::haveSame(const Random &a, const Random &b) {
  if (a.memory == b.memory)
    return true;
  bool areSame = a.memory.size() == b.memory.size();
  auto *memory = const_cast<char *>(a.memory.data());
  withType(a.layout.type, memory, [&](const auto *x) {
    const auto *y = reinterpret_cast<decltype(x)>(b.memory.data());
    const size_t count = areSame ? a.memory.size() / sizeof(*x) : 0;
    for (size_t i = 0; i < count; ++i) {
      const auto f = heldAs<double>(x[i]), g = heldAs<double>(y[i]);
      areSame &=
          std::memcmp(x + i, y + i, sizeof(*x)) == 0 || (f != f && g != g);
    }
  });
  return areSame;
}

template <typename Numbers, typename Expect>
void StridedTest::compare(Function function, std::vector<Random> &tensors,
                          const Numbers &numbers, Expect expect) {
  number(tensors);
  std::vector<Random> expected = tensors;
  std::vector<void *> operands = operandsOf(expected);
  std::vector<Strided> all;
  for (Random &tensor : expected)
    all.emplace_back(tensor.layout, operands.data());
  expect(all);
  ASSERT_EQ(run(function, tensors, numbers), 0);
  for (size_t i = 0; i < tensors.size(); ++i)
    ASSERT_TRUE(haveSame(tensors[i], expected[i]))
        << "tensor " << i << " of type " << tensors[i].layout.type;
}

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_TARGET_CPU_PRECOMPILED_STRIDEDTEST_H

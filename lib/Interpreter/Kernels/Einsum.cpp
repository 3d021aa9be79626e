// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Einstein summation.
//
// 1. Each operand's subscripts become labels, one a dimension; the dimensions
//    of an ellipsis get labels of their own, counted from the right, so that
//    they broadcast.
// 2. The result has the labels behind `->`, or without it those of the
//    ellipsis and then those that occur once, in alphabetical order.
// 3. Every assignment of positions to labels adds one product of elements: the
//    labels of the result in row-major order, the others inside. A label that
//    an operand has twice is a diagonal; a size of 1 broadcasts.
// Exponential in the number of labels: n operands are not multiplied pairwise.

#include "Kernels.h"
#include "Values.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Letters by their code; dimensions of the ellipsis from kEllipsis on, the
/// last one first.
using Label = int;
using Labels = SmallVector<Label, 8>;
constexpr Label kEllipsis = 256;

struct Equation {
  std::vector<Labels> operands;
  Labels result;
};

} // namespace

/// The labels of one term; `dots` dimensions stand for an ellipsis.
static Labels labelsOf(StringRef term, int64_t dots) {
  Labels labels;
  while (!term.empty()) {
    if (term.consume_front("..."))
      for (int64_t i = dots; i-- > 0;)
        labels.push_back(kEllipsis + static_cast<Label>(i));
    else if (llvm::isAlpha(term.front()))
      labels.push_back(term.front()), term = term.drop_front();
    else
      term = term.drop_front(); // a blank
  }
  return labels;
}

static int64_t lettersIn(StringRef term) {
  return llvm::count_if(term, [](char c) { return llvm::isAlpha(c); });
}

/// The labels of a result that is not written down.
static Labels impliedResult(const Equation &equation, int64_t dots) {
  Labels result = labelsOf("...", dots);
  for (Label letter = 0; letter < kEllipsis; ++letter) {
    int64_t count = 0;
    for (const Labels &labels : equation.operands)
      count += llvm::count(labels, letter);
    if (count == 1)
      result.push_back(letter);
  }
  return result;
}

static Equation parse(StringRef text, ArrayRef<Tensor> tensors) {
  bool isExplicit = text.contains("->");
  auto [left, right] = text.split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  Equation equation;
  int64_t most = 0;
  for (auto [term, tensor] : llvm::zip(terms, tensors)) {
    int64_t dots = term.contains("...") ? tensor.rank() - lettersIn(term) : 0;
    most = std::max(most, dots);
    equation.operands.push_back(labelsOf(term, dots));
  }
  equation.result =
      isExplicit ? labelsOf(right, most) : impliedResult(equation, most);
  return equation;
}

namespace {

/// All labels, those of the result first, with their sizes and the stride of
/// each in each operand.
struct Space {
  Labels labels;
  Sizes sizes;
  std::vector<Sizes> strides;
  int64_t results = 0; ///< labels of the result
};

} // namespace

static Space spaceOf(const Equation &equation, ArrayRef<Tensor> tensors) {
  Space space;
  space.labels = equation.result;
  space.results = static_cast<int64_t>(space.labels.size());
  for (const Labels &labels : equation.operands)
    for (Label label : labels)
      if (!llvm::is_contained(space.labels, label))
        space.labels.push_back(label);
  space.sizes.assign(space.labels.size(), 1);
  for (auto [labels, tensor] : llvm::zip(equation.operands, tensors)) {
    Sizes natural = rowMajor(tensor.sizes), strides(space.labels.size(), 0);
    for (auto [label, size, stride] :
         llvm::zip(labels, tensor.sizes, natural)) {
      size_t at = llvm::find(space.labels, label) - space.labels.begin();
      if (size == 1)
        continue;
      space.sizes[at] = size;
      strides[at] += stride;
    }
    space.strides.push_back(strides);
  }
  return space;
}

template <typename T>
static std::vector<T> contract(const Space &space, ArrayRef<Tensor> tensors) {
  ArrayRef<int64_t> sizes = space.sizes;
  std::vector<std::vector<T>> values;
  std::vector<std::vector<int64_t>> outer, inner;
  for (auto [tensor, strides] : llvm::zip(tensors, space.strides)) {
    values.push_back(load<T>(tensor));
    ArrayRef<int64_t> all = strides;
    outer.push_back(offsetsOf(sizes.take_front(space.results),
                              all.take_front(space.results)));
    inner.push_back(offsetsOf(sizes.drop_front(space.results),
                              all.drop_front(space.results)));
  }
  std::vector<T> result(product(sizes.take_front(space.results)));
  int64_t terms = product(sizes.drop_front(space.results));
  for (size_t i = 0; i < result.size(); ++i)
    for (int64_t j = 0; j < terms; ++j) {
      T factor = T(1);
      for (size_t k = 0; k < values.size(); ++k)
        factor *= values[k][outer[k][i] + inner[k][j]];
      result[i] += factor;
    }
  return result;
}

static LogicalResult einsum(const KernelCall &call) {
  std::vector<Tensor> tensors = call.tensors("tensors");
  Equation equation = parse(call.string("equation"), tensors);
  Space space = spaceOf(equation, tensors);
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values = contract<T>(space, tensors);
    ArrayRef<int64_t> sizes = space.sizes;
    store<T>(call.make(0, sizes.take_front(space.results)), values);
    return success();
  });
}

const KernelFn kernels::einsum = ::einsum;

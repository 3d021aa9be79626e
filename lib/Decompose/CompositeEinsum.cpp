// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// einsum and what is one: factors are contracted two at a time, from the left.
//
//   1. A label that an operand repeats: its diagonal. An ellipsis becomes
//      labels of its own, aligned at the right.
//   2. A label that only one operand has, and that the result lacks: its sum.
//   3. Two operands: labels that both have and somebody still needs are the
//      batch; labels that both have and nobody needs are contracted; the rest
//      are rows of the left or columns of the right. One `bmm`, or `mm` without
//      a batch, or a product with broadcasting where nothing is contracted.
//   4. The order of the result by `permute`.
//
// A path given by the caller is not followed: it changes rounding only.

#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

namespace {

/// Labels of dimensions: letters, and numbers from 256 on for an ellipsis.
using Labels = SmallVector<int, 6>;

struct Factor {
  Value value;
  Labels labels;

  int64_t find(int label) const {
    auto it = llvm::find(labels, label);
    return it == labels.end() ? -1 : it - labels.begin();
  }
};

/// Contracts the factors of one einsum.
class Contraction {
public:
  Contraction(CallBuilder &b, std::vector<Factor> factors, Labels result)
      : b(b), factors(std::move(factors)), wanted(std::move(result)) {}
  Value run();

private:
  void takeDiagonals(Factor &factor);
  bool isNeeded(int label, size_t after) const;
  void sumOut(Factor &factor, size_t after, const Factor *other);
  void dropOnes(Factor &a, Factor &other);
  Factor contract(Factor left, Factor right, size_t after);
  Factor multiply(const Factor &left, const Factor &right);
  Value arrange(const Factor &factor, ArrayRef<int> order);
  Value group(const Factor &factor, ArrayRef<ArrayRef<int>> groups);

  CallBuilder &b;
  std::vector<Factor> factors;
  Labels wanted;
};

} // namespace

void Contraction::takeDiagonals(Factor &factor) {
  for (size_t i = 0; i < factor.labels.size(); ++i)
    for (size_t j = i + 1; j < factor.labels.size(); ++j) {
      if (factor.labels[i] != factor.labels[j])
        continue;
      int label = factor.labels[i];
      factor.value =
          b.call(op::diagonal, {factor.value, 0, int64_t(i), int64_t(j)});
      factor.labels.erase(factor.labels.begin() + j);
      factor.labels.erase(factor.labels.begin() + i);
      factor.labels.push_back(label);
      return takeDiagonals(factor);
    }
}

/// The result or a factor from `after` on has the label.
bool Contraction::isNeeded(int label, size_t after) const {
  if (llvm::is_contained(wanted, label))
    return true;
  for (size_t i = after; i < factors.size(); ++i)
    if (factors[i].find(label) >= 0)
      return true;
  return false;
}

void Contraction::sumOut(Factor &factor, size_t after, const Factor *other) {
  SmallVector<int64_t> dims;
  Labels kept;
  for (auto [i, label] : llvm::enumerate(factor.labels)) {
    if (isNeeded(label, after) || (other && other->find(label) >= 0))
      kept.push_back(label);
    else
      dims.push_back(static_cast<int64_t>(i));
  }
  if (!dims.empty())
    factor.value = b.call(op::sum_dim_IntList, {factor.value, dims});
  factor.labels = kept;
}

/// A dimension of size 1 broadcasts to the other factor's: it goes.
void Contraction::dropOnes(Factor &a, Factor &other) {
  for (size_t i = a.labels.size(); i-- > 0;) {
    int64_t at = other.find(a.labels[i]);
    if (at < 0 || b.failed() || shapeOf(a.value)[i] != 1 ||
        shapeOf(other.value)[at] == 1)
      continue;
    a.value = b.call(op::squeeze_dim, {a.value, int64_t(i)});
    a.labels.erase(a.labels.begin() + i);
  }
}

Value Contraction::arrange(const Factor &factor, ArrayRef<int> order) {
  SmallVector<int64_t> dims;
  for (int label : order)
    dims.push_back(factor.find(label));
  if (llvm::is_sorted(dims) && dims.size() == factor.labels.size())
    return factor.value;
  return b.call(op::permute, {factor.value, dims});
}

/// The dimensions in the order of `groups`, each group as one dimension.
Value Contraction::group(const Factor &factor, ArrayRef<ArrayRef<int>> groups) {
  Labels order;
  std::vector<Arg> sizes;
  for (ArrayRef<int> labels : groups) {
    Arg size(int64_t(1));
    for (int label : labels) {
      order.push_back(label);
      size = b.times(size, b.size(factor.value, factor.find(label)));
    }
    sizes.push_back(size);
  }
  Value value = arrange(factor, order);
  bool same =
      order.size() == sizes.size() &&
      llvm::all_of(groups, [](auto labels) { return labels.size() == 1; });
  if (same)
    return value;
  // A permuted tensor of several dimensions a group has to be copied.
  return value == factor.value ? viewAs(b, value, sizes)
                               : b.call(op::reshape, {value, sizes});
}

/// Nothing is contracted: a product with broadcasting.
Factor Contraction::multiply(const Factor &left, const Factor &right) {
  Labels labels = left.labels;
  for (int label : right.labels)
    if (left.find(label) < 0)
      labels.push_back(label);
  auto spread = [&](const Factor &factor) {
    Labels own;
    std::vector<Arg> sizes;
    for (int label : labels) {
      int64_t at = factor.find(label);
      if (at >= 0)
        own.push_back(label);
      sizes.push_back(at < 0 ? Arg(int64_t(1)) : b.size(factor.value, at));
    }
    // Dimensions in front are added by the product itself.
    size_t front = 0;
    while (front < labels.size() && factor.find(labels[front]) < 0)
      ++front;
    sizes.erase(sizes.begin(), sizes.begin() + front);
    return viewAs(b, arrange(factor, own), sizes);
  };
  return {b.call(op::mul_Tensor, {spread(left), spread(right)}), labels};
}

Factor Contraction::contract(Factor left, Factor right, size_t after) {
  dropOnes(left, right);
  dropOnes(right, left);
  sumOut(left, after, &right);
  sumOut(right, after, &left);
  Labels batch, inner, rows, columns;
  for (int label : left.labels) {
    bool shared = right.find(label) >= 0;
    (!shared ? rows : isNeeded(label, after) ? batch : inner).push_back(label);
  }
  for (int label : right.labels)
    if (left.find(label) < 0)
      columns.push_back(label);
  if (inner.empty() || b.failed())
    return multiply(left, right);
  std::vector<Arg> sizes;
  Factor result;
  for (auto [factor, labels] :
       {std::pair(&left, &batch), std::pair(&left, &rows),
        std::pair(&right, &columns)})
    for (int label : *labels) {
      sizes.push_back(b.size(factor->value, factor->find(label)));
      result.labels.push_back(label);
    }
  if (batch.empty()) {
    Value a = group(left, {rows, inner}), c = group(right, {inner, columns});
    result.value = b.call(op::mm, {a, c});
  } else {
    Value a = group(left, {batch, rows, inner});
    Value c = group(right, {batch, inner, columns});
    result.value = b.call(op::bmm, {a, c});
  }
  if (!b.failed())
    result.value = viewAs(b, result.value, sizes);
  return result;
}

Value Contraction::run() {
  for (Factor &factor : factors)
    takeDiagonals(factor);
  Factor product = factors.front();
  for (size_t i = 1; i < factors.size() && !b.failed(); ++i)
    product = contract(product, factors[i], i + 1);
  if (b.failed())
    return {};
  sumOut(product, factors.size(), nullptr);
  return b.failed() ? Value() : arrange(product, wanted);
}

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

/// Labels of "ab...c" for a tensor of `rank` dimensions (`rank` < 0: of the
/// result, whose ellipsis has `ellipsis` dimensions).
static Labels readLabels(StringRef text, int64_t rank, int64_t &ellipsis) {
  Labels labels;
  int64_t letters = 0;
  for (char letter : text)
    letters += letter != '.';
  int64_t dots = rank < 0 ? ellipsis : std::max<int64_t>(rank - letters, 0);
  if (rank >= 0)
    ellipsis = std::max(ellipsis, dots);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '.') {
      labels.push_back(static_cast<unsigned char>(text[i]));
      continue;
    }
    i += 2;
    for (int64_t k = dots; k > 0; --k)
      labels.push_back(256 + static_cast<int>(k));
  }
  return labels;
}

/// Without "->": labels that occur once, in order of the alphabet, behind the
/// ellipsis.
static Labels implicitResult(ArrayRef<Factor> factors, int64_t ellipsis) {
  Labels labels, all;
  for (int64_t k = ellipsis; k > 0; --k)
    labels.push_back(256 + static_cast<int>(k));
  for (const Factor &factor : factors)
    llvm::append_range(all, factor.labels);
  llvm::sort(all);
  for (int label : all)
    if (label < 256 && llvm::count(all, label) == 1)
      labels.push_back(label);
  return labels;
}

static Value einsum(Rewrite &c) {
  std::string equation;
  for (char letter : c.r.string("equation"))
    if (letter != ' ')
      equation += letter;
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> texts;
  left.split(texts, ',');
  std::vector<Arg> operands = c.r.list("tensors");
  std::vector<Factor> factors;
  int64_t ellipsis = 0;
  for (auto [text, operand] : llvm::zip(texts, operands)) {
    Value value = operand.getValue();
    factors.push_back({value, readLabels(text, rankOf(value), ellipsis)});
  }
  Labels result = StringRef(equation).contains("->")
                      ? readLabels(right, -1, ellipsis)
                      : implicitResult(factors, ellipsis);
  return Contraction(c.b, std::move(factors), result).run();
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

/// Labels 1, 2, … for the dimensions of `value`, after `first`.
static Labels number(Value value, int first) {
  Labels labels;
  for (int64_t i = 0; i < rankOf(value); ++i)
    labels.push_back(first + static_cast<int>(i));
  return labels;
}

/// Contracts dimension `a[i]` of `left` with `c[i]` of `right`.
static Value contractDims(CallBuilder &b, Value left, Value right,
                          ArrayRef<int64_t> a, ArrayRef<int64_t> c) {
  Labels ofLeft = number(left, 1), ofRight = number(right, 100), result;
  for (auto [i, j] : llvm::zip(a, c))
    ofRight[wrapDim(j, rankOf(right))] = ofLeft[wrapDim(i, rankOf(left))];
  for (int label : ofLeft)
    if (!llvm::is_contained(ofRight, label))
      result.push_back(label);
  for (int label : ofRight)
    if (!llvm::is_contained(ofLeft, label))
      result.push_back(label);
  return Contraction(b, {{left, ofLeft}, {right, ofRight}}, result).run();
}

/// One element along a dimension stands for all: what it is multiplied with is
/// summed first.
static Value tensordot(Rewrite &c) {
  Value left = c.r.value("self"), right = c.r.value("other");
  auto ofLeft = c.r.integers("dims_self").value_or(SmallVector<int64_t>());
  auto ofRight = c.r.integers("dims_other").value_or(SmallVector<int64_t>());
  auto lengthOf = [](Value value, int64_t dim) {
    return shapeOf(value)[wrapDim(dim, rankOf(value))];
  };
  auto sum = [&](Value value, int64_t dim) {
    return c.b.call(op::sum_dim_IntList, {value, ArrayRef<int64_t>(dim), true});
  };
  for (auto [i, j] : llvm::zip(ofLeft, ofRight)) {
    int64_t m = lengthOf(left, i), n = lengthOf(right, j);
    if (m == 1 && n != 1)
      right = sum(right, j);
    else if (n == 1 && m != 1)
      left = sum(left, i);
    if (c.b.failed())
      return {};
  }
  return contractDims(c.b, left, right, ofLeft, ofRight);
}

static Value inner(Rewrite &c) {
  Value a = c.r.value(0), other = c.r.value(1);
  if (rankOf(a) == 0 || rankOf(other) == 0)
    return c.b.call(op::mul_Tensor, {a, other});
  return contractDims(c.b, a, other, {-1}, {-1});
}

/// y[.., o] = x1[.., m] W[o, m, n] x2[.., n] + b[o]
static Value bilinear(Rewrite &c) {
  Value a = c.r.value("input1"), other = c.r.value("input2");
  Value weight = c.r.value("weight"), bias = c.r.value("bias");
  Labels rows = number(a, 1);
  int m = rows.pop_back_val(), n = 101, o = 100;
  Labels left = rows, right = rows, result = rows;
  left.push_back(m);
  right.push_back(n);
  result.push_back(o);
  Value product =
      Contraction(c.b, {{a, left}, {weight, {o, m, n}}, {other, right}}, result)
          .run();
  return bias ? c.b.call(op::add_Tensor, {product, bias}) : product;
}

/// The sum of the products of three factors: two of them first, then einsum's
/// way to the third.
static Value trilinear(Rewrite &c) {
  auto labelled = [&](const char *factor, const char *ones) {
    Value value = c.r.value(factor);
    SmallVector<int64_t> added =
        c.r.integers(ones).value_or(SmallVector<int64_t>());
    auto rank = static_cast<int>(rankOf(value) + added.size());
    Labels labels;
    for (int dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(added, dim))
        labels.push_back(dim);
    return Factor{value, labels};
  };
  Factor first = labelled("i1", "expand1");
  int64_t rank =
      rankOf(first.value) +
      static_cast<int64_t>(
          c.r.integers("expand1").value_or(SmallVector<int64_t>()).size());
  SmallVector<int64_t> summed =
      c.r.integers("sumdim").value_or(SmallVector<int64_t>());
  for (int64_t &dim : summed)
    dim = wrapDim(dim, rank);
  Labels result;
  for (int dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(summed, dim))
      result.push_back(dim);
  return Contraction(
             c.b, {first, labelled("i2", "expand2"), labelled("i3", "expand3")},
             result)
      .run();
}

const DecomposeFn decompositions::einsum = one<::einsum>;
const DecomposeFn decompositions::tensordot = one<::tensordot>;
const DecomposeFn decompositions::inner = one<::inner>;
const DecomposeFn decompositions::bilinear = one<::bilinear>;
const DecomposeFn decompositions::trilinear = one<::trilinear>;

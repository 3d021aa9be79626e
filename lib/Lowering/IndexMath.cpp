// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Division of sums by what is known of their terms.
//
// A sum is a constant and terms factor * atom; an atom is an axis, or a
// quotient or remainder that the extents do not answer. (a / c) * c * f + (a %
// c) * f is put together again as a * f.

#include "IndexMath.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
using namespace cutback;

struct IndexMath::Sum {
  struct Term {
    AffineExpr atom;
    int64_t factor;
  };
  SmallVector<Term, 6> terms; ///< of distinct atoms, no factor is 0
  int64_t constant = 0;

  void add(AffineExpr atom, int64_t factor) {
    for (Term &term : terms)
      if (term.atom == atom) {
        term.factor += factor;
        return;
      }
    terms.push_back({atom, factor});
  }
  void add(const Sum &other, int64_t factor) {
    constant += other.constant * factor;
    for (const Term &term : other.terms)
      add(term.atom, term.factor * factor);
  }
};

IndexMath::Sum IndexMath::sumOf(AffineExpr expr) const {
  Sum sum;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    sum.constant = constant.getValue();
  } else if (expr.getKind() == AffineExprKind::Add) {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    sum = sumOf(binary.getLHS());
    sum.add(sumOf(binary.getRHS()), 1);
  } else if (expr.getKind() == AffineExprKind::Mul) {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    sum.add(sumOf(binary.getLHS()),
            cast<AffineConstantExpr>(binary.getRHS()).getValue());
  } else {
    sum.add(expr, 1);
  }
  llvm::erase_if(sum.terms, [](const Sum::Term &t) { return t.factor == 0; });
  return sum;
}

/// Joins quotients with their remainders.
AffineExpr IndexMath::exprOf(const Sum &given) const {
  Sum sum = given;
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    auto quotient = sum.terms[i];
    if (quotient.atom.getKind() != AffineExprKind::FloorDiv)
      continue;
    auto binary = cast<AffineBinaryOpExpr>(quotient.atom);
    int64_t divisor = cast<AffineConstantExpr>(binary.getRHS()).getValue();
    auto *rest = llvm::find_if(sum.terms, [&](const Sum::Term &term) {
      return term.atom == binary.getLHS() % divisor &&
             term.factor * divisor == quotient.factor;
    });
    if (rest == sum.terms.end())
      continue;
    int64_t factor = rest->factor;
    sum.terms.erase(rest);
    llvm::erase_if(sum.terms, [&](const Sum::Term &term) {
      return term.atom == quotient.atom;
    });
    sum.add(sumOf(binary.getLHS()), factor);
    return exprOf(sum);
  }
  // Axes in their order, whatever led here: equal sums are equal expressions.
  llvm::stable_sort(sum.terms, [](const Sum::Term &a, const Sum::Term &b) {
    auto key = [](const Sum::Term &term) {
      auto dim = dyn_cast<AffineDimExpr>(term.atom);
      return dim ? dim.getPosition() : ~0u;
    };
    return key(a) < key(b);
  });
  AffineExpr expr = getAffineConstantExpr(0, context);
  for (const Sum::Term &term : sum.terms)
    if (term.factor != 0)
      expr = expr + term.atom * term.factor;
  return expr + sum.constant;
}

int64_t IndexMath::greatest(AffineExpr atom) const {
  if (auto dim = dyn_cast<AffineDimExpr>(atom))
    return extents[dim.getPosition()] - 1;
  auto binary = cast<AffineBinaryOpExpr>(atom);
  int64_t by = cast<AffineConstantExpr>(binary.getRHS()).getValue();
  Sum sum = sumOf(binary.getLHS());
  int64_t most = sum.constant;
  for (const Sum::Term &term : sum.terms)
    most += term.factor * greatest(term.atom);
  return atom.getKind() == AffineExprKind::FloorDiv ? most / by
                                                    : std::min(most, by - 1);
}

std::pair<AffineExpr, AffineExpr> IndexMath::divide(AffineExpr expr,
                                                    int64_t divisor) const {
  Sum sum = sumOf(expr), quotient, rest;
  quotient.constant = sum.constant / divisor;
  rest.constant = sum.constant % divisor;
  int64_t most = rest.constant, shared = std::gcd(rest.constant, divisor);
  for (const Sum::Term &term : sum.terms) {
    if (term.factor % divisor == 0) {
      quotient.add(term.atom, term.factor / divisor);
      continue;
    }
    rest.add(term.atom, term.factor);
    most += term.factor * greatest(term.atom);
    shared = std::gcd(shared, term.factor);
  }
  if (most < divisor)
    return {exprOf(quotient), exprOf(rest)};
  // What all terms and the divisor share divides out.
  Sum small;
  small.constant = rest.constant / shared;
  for (const Sum::Term &term : rest.terms)
    small.add(term.atom, term.factor / shared);
  AffineExpr inner = exprOf(small);
  Sum remainder;
  quotient.add(sumOf(inner.floorDiv(divisor / shared)), 1);
  remainder.add(sumOf(inner % (divisor / shared)), shared);
  return {exprOf(quotient), exprOf(remainder)};
}

AffineExpr IndexMath::linearize(ArrayRef<AffineExpr> indices,
                                ArrayRef<int64_t> strides,
                                int64_t offset) const {
  Sum sum;
  sum.constant = offset;
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    sum.add(sumOf(index), stride);
  return exprOf(sum);
}

IndexMath::Indices IndexMath::delinearize(AffineExpr linear,
                                          ArrayRef<int64_t> sizes) const {
  Indices indices(sizes.size(), getAffineConstantExpr(0, context));
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1)
      continue;
    auto [quotient, rest] = divide(linear, sizes[i]);
    indices[i] = rest;
    linear = quotient;
  }
  return indices;
}

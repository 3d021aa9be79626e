// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// einsum: sizes by subscript letter.
//
// 1. Each operand's subscripts are read against its dimensions; sizes of one
//    letter broadcast. `...` takes the dimensions that no letter names, and
//    these broadcast with those of the other operands from the right.
// 2. The result has the letters after `->`. Without `->` it is the dimensions
//    of `...`, then the letters that occur once, in alphabetical order.
// Linear in the equation's length.

#include "Common.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

namespace {

class Einsum {
public:
  explicit Einsum(const InferCall &call) : call(call) {}
  LogicalResult addOperand(StringRef subscripts, const TensorShape &shape);
  LogicalResult getResult(StringRef subscripts, Dims &dims) const;
  std::string getImplicitResult() const;

private:
  struct Letter {
    Dims size; ///< one size, kept as a shape for broadcasting
    unsigned uses = 0;
  };
  static bool isLetter(char c) { return llvm::isAlpha(c); }

  const InferCall &call;
  Letter letters[128];
  Dims ellipsis;
};

} // namespace

LogicalResult Einsum::addOperand(StringRef subscripts,
                                 const TensorShape &shape) {
  size_t named = llvm::count_if(subscripts, isLetter);
  bool hasEllipsis = subscripts.contains("...");
  if (named > shape.dims.size() || (!hasEllipsis && named < shape.dims.size()))
    return call.error("subscripts '", subscripts, "' name ", named,
                      " dimensions of a tensor of rank ", shape.rank());
  size_t rest = shape.dims.size() - named, at = 0;
  ArrayRef<int64_t> dims = shape.dims;
  while (!subscripts.empty()) {
    if (subscripts.consume_front("...")) {
      if (!hasEllipsis)
        return call.error("'...' occurs twice in one operand");
      hasEllipsis = false;
      if (failed(broadcastInto(call, ellipsis, dims.slice(at, rest))))
        return failure();
      at += rest;
      continue;
    }
    char c = subscripts.front();
    subscripts = subscripts.drop_front();
    if (!isLetter(c))
      return call.error("subscript '", StringRef(&c, 1), "' is no letter");
    Letter &letter = letters[static_cast<unsigned char>(c)];
    ++letter.uses;
    if (failed(broadcastInto(call, letter.size, dims.slice(at++, 1))))
      return failure();
  }
  return success();
}

LogicalResult Einsum::getResult(StringRef subscripts, Dims &dims) const {
  while (!subscripts.empty()) {
    if (subscripts.consume_front("...")) {
      dims.append(ellipsis);
      continue;
    }
    char c = subscripts.front();
    subscripts = subscripts.drop_front();
    if (!isLetter(c) || letters[static_cast<unsigned char>(c)].uses == 0)
      return call.error("subscript '", StringRef(&c, 1),
                        "' of the result is in no operand");
    dims.append(letters[static_cast<unsigned char>(c)].size);
  }
  return success();
}

std::string Einsum::getImplicitResult() const {
  std::string result = "...";
  for (int c = 'A'; c <= 'z'; ++c)
    if (letters[c].uses == 1)
      result += static_cast<char>(c);
  return result;
}

LogicalResult infer::einsum(const InferCall &call, Results &results) {
  StringRef given;
  SmallVector<TensorShape> tensors;
  if (failed(call.string("equation", given)) ||
      failed(call.tensors("tensors", tensors)))
    return failure();
  std::string equation;
  for (char c : given)
    if (c != ' ')
      equation += c;
  auto [left, right] = StringRef(equation).split("->");
  bool isExplicit = StringRef(equation).contains("->");
  SmallVector<StringRef> operands;
  left.split(operands, ',');
  if (operands.size() != tensors.size() || tensors.empty())
    return call.error("the equation has ", operands.size(), " operands, ",
                      tensors.size(), " given");
  Einsum sum(call);
  for (auto [subscripts, shape] : llvm::zip_equal(operands, tensors))
    if (failed(sum.addOperand(subscripts, shape)))
      return failure();
  Dims dims;
  std::string implicitResult = sum.getImplicitResult();
  if (failed(
          sum.getResult(isExplicit ? right : StringRef(implicitResult), dims)))
    return failure();
  return push(call, results, dims, promoteTypes(tensors));
}

LogicalResult infer::trilinear(const InferCall &call, Results &results) {
  constexpr const char *factors[] = {"i1", "i2", "i3"};
  constexpr const char *ones[] = {"expand1", "expand2", "expand3"};
  Dims dims;
  Type element;
  for (auto [factor, one] : llvm::zip_equal(factors, ones)) {
    TensorShape shape;
    SmallVector<int64_t> added;
    if (failed(call.tensor(factor, shape)) || failed(call.integers(one, added)))
      return failure();
    for (int64_t dim : added) {
      if (dim < 0 || dim > shape.rank())
        return call.error(one, " puts a dimension at ", dim, " of ",
                          shape.rank());
      shape.dims.insert(shape.dims.begin() + dim, 1);
    }
    if (element && failed(broadcastInto(call, dims, shape.dims)))
      return failure();
    if (!element)
      dims = shape.dims;
    element = shape.element;
  }
  llvm::SmallBitVector summed;
  if (failed(getDims(call, "sumdim", static_cast<int64_t>(dims.size()), summed,
                     /*emptyIsAll=*/false)))
    return failure();
  return push(call, results, reduceShape(dims, summed, false), element);
}

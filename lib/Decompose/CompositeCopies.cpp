// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of views, and parts whose bounds tensors hold.
//
// In a graph without writes a copy of a view cannot be told from the view, so
// it becomes that: whoever plans memory knows that a view costs none. A part
// that begins at a place in a tensor is read by index, and pieces end at
// numbers that are read from the tensor one by one. What is resized keeps the
// elements that it has room for.

#include "FactorRules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

/// The view that the op is a copy of.
static Values viewOf(Rewrite &c) {
  std::string name = c.op.getInfo().torchName;
  name.erase(name.find("_copy"), StringRef("_copy").size());
  SmallVector<NamedArg> args;
  for (auto [i, param] : llvm::enumerate(c.op.getSchema().params))
    args.push_back({param.name, c.r.arg(static_cast<int>(i))});
  return c.b.callMany(name, {}, args);
}

/// Elements start, start + 1, ...; a negative start counts from the end.
static Value narrowAt(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  int64_t dim = wrapDim(*c.r.integer("dim"), rankOf(self));
  Value start = castTo(b, c.r.value("start"), b.i64());
  Value fromEnd = b.call(op::add_Scalar, {start, b.size(self, dim)});
  Value isNegative = b.call(op::lt_Scalar, {start, 0});
  start = b.call(op::where_self, {isNegative, fromEnd, start});
  Value places = b.call(op::arange, {c.r.arg("length")}, {{"dtype", b.i64()}});
  places = b.call(op::add_Tensor, {places, start});
  return b.call(op::index_select, {self, dim, places});
}

static Values splitAtPlaces(Rewrite &c) {
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  Value places = c.r.value("tensor_indices_or_sections");
  int64_t dim = wrapDim(c.r.integer("dim").value_or(0), rankOf(self));
  std::vector<Arg> ends;
  for (int64_t i = 0; i < shapeOf(places)[0] && !b.failed(); ++i)
    ends.push_back(b.call(op::item, {b.call(op::select_int, {places, 0, i})}));
  return b.callMany(op::tensor_split_indices, {self, ends, dim});
}

Value decompose::resized(CallBuilder &b, const CallReader &call, Value self) {
  Value other = call.value(optional("the_template"));
  std::optional<SmallVector<int64_t>> sizes;
  if (other)
    sizes = SmallVector<int64_t>(shapeOf(other));
  else
    sizes = call.integers("size");
  if (!sizes || llvm::any_of(*sizes, ShapedType::isDynamic)) {
    b.error("a tensor is resized to sizes that are not known");
    return {};
  }
  SmallVector<int64_t> strides(sizes->size(), 1);
  for (size_t i = sizes->size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>((*sizes)[i], 1);
  return b.call(op::as_strided, {self, *sizes, strides});
}

static Value resized(Rewrite &c) {
  return decompose::resized(c.b, c.r, c.r.value("self"));
}

const DecomposeFn decompositions::viewOf = many<::viewOf>;
const DecomposeFn decompositions::resize = one<::resized>;
const DecomposeFn decompositions::narrowAt = one<::narrowAt>;
const DecomposeFn decompositions::splitAtPlaces = many<::splitAtPlaces>;

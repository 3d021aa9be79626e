// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// New tensors, and data movement that makes a larger one of others: cat,
// stack, pad, repeat.
//
// A created tensor has the sizes in its arguments and the element type
// `dtype`; without one, f32 (torch's default dtype), or that of the number
// that fills it: i64 for ints, i1 for bools.

#include "Common.h"

#include <cmath>

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

LogicalResult infer::create(const InferCall &call, Results &results) {
  Dims sizes;
  Type type;
  if (failed(getSizes(call, "size", sizes)) ||
      failed(getDtype(call, floatType(call), type)))
    return failure();
  return push(call, results, sizes, type);
}

/// f64 stands for a Python float, which makes a tensor of the default dtype.
static Type filledType(const InferCall &call, Type scalar) {
  return isa<FloatType>(scalar) ? floatType(call) : scalar;
}

LogicalResult infer::full(const InferCall &call, Results &results) {
  Dims sizes;
  Type scalar, type;
  if (failed(getSizes(call, "size", sizes)) ||
      failed(call.scalarType("fill_value", scalar)) ||
      failed(getDtype(call, filledType(call, scalar), type)))
    return failure();
  return push(call, results, sizes, type);
}

LogicalResult infer::scalarTensor(const InferCall &call, Results &results) {
  Type scalar, type;
  if (failed(call.scalarType("s", scalar)) ||
      failed(getDtype(call, floatType(call), type)))
    return failure();
  return push(call, results, {}, type);
}

LogicalResult infer::createLike(const InferCall &call, Results &results) {
  return toDtype(call, results);
}

LogicalResult infer::createNew(const InferCall &call, Results &results) {
  TensorShape self;
  Dims sizes;
  Type type;
  if (failed(getSelf(call, self)) || failed(getSizes(call, "size", sizes)) ||
      failed(getDtype(call, self.element, type)))
    return failure();
  return push(call, results, sizes, type);
}

LogicalResult infer::randint(const InferCall &call, Results &results) {
  Dims sizes;
  Type type;
  if (failed(getSizes(call, "size", sizes)) ||
      failed(getDtype(call, intType(call), type)))
    return failure();
  return push(call, results, sizes, type);
}

LogicalResult infer::randperm(const InferCall &call, Results &results) {
  int64_t n = 0;
  Type type;
  if (failed(call.integer("n", n)) ||
      failed(getDtype(call, intType(call), type)))
    return failure();
  return push(call, results, {n}, type);
}

LogicalResult infer::eye(const InferCall &call, Results &results) {
  int64_t n = 0, m = 0;
  Type type;
  if (failed(call.integer("n", n)))
    return failure();
  m = n;
  if (!call.isNone(optional("m")) && failed(call.integer(optional("m"), m)))
    return failure();
  if (failed(getDtype(call, floatType(call), type)))
    return failure();
  return push(call, results, {n, m}, type);
}

LogicalResult infer::sizesOfInput(const InferCall &call, Results &results) {
  TensorShape gradient;
  Dims sizes;
  if (failed(call.tensor(0, gradient)) ||
      failed(getSizes(call, "input_sizes", sizes)))
    return failure();
  return push(call, results, sizes, gradient.element);
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// ceil((end - start) / step): exact for ints, in double as torch for floats.
static LogicalResult countSteps(const InferCall &call, bool isFloat,
                                int64_t &count) {
  std::optional<double> start = 0.0, end, step = 1.0;
  if ((!call.isNone(optional("start")) &&
       failed(call.number(optional("start"), start))) ||
      failed(call.number("end", end)) ||
      (!call.isNone(optional("step")) &&
       failed(call.number(optional("step"), step))))
    return failure();
  if (step && *step == 0.0)
    return call.error("the step is 0");
  count = kUnknown;
  if (!start || !end || !step)
    return success();
  double steps = std::ceil((*end - *start) / *step);
  if (!(steps >= 0.0 && steps < 9.0e18))
    return call.error("no sequence from ", *start, " to ", *end, " by ", *step);
  count = static_cast<int64_t>(steps);
  int64_t first = 0, last = 0, by = 1;
  if (isFloat)
    return success();
  if ((!call.isNone(optional("start")) &&
       failed(call.integer(optional("start"), first))) ||
      failed(call.integer("end", last)) ||
      (!call.isNone(optional("step")) &&
       failed(call.integer(optional("step"), by))))
    return failure();
  if (first == kUnknown || last == kUnknown || by == kUnknown) {
    count = kUnknown;
    return success();
  }
  int64_t distance = addSizes(by > 0 ? last : first, by > 0 ? -first : -last);
  count = ceilDivSize(distance, by > 0 ? by : -by);
  return success();
}

LogicalResult infer::arange(const InferCall &call, Results &results) {
  bool isFloat = false;
  for (const char *name : {"start", "end", "step"}) {
    Type scalar;
    if (call.isNone(optional(name)))
      continue;
    if (failed(call.scalarType(name, scalar)))
      return failure();
    isFloat |= isa<FloatType>(scalar);
  }
  Type type;
  int64_t count = 0;
  if (failed(getDtype(call, isFloat ? floatType(call) : intType(call), type)) ||
      failed(countSteps(call, isFloat, count)))
    return failure();
  return push(call, results, {count}, type);
}

LogicalResult infer::range(const InferCall &call, Results &results) {
  std::optional<double> start, end, step = 1;
  Type type;
  if (failed(call.number(optional("start"), start)) ||
      failed(call.number("end", end)) ||
      (!call.isNone(optional("step")) &&
       failed(call.number(optional("step"), step))) ||
      failed(getDtype(call, floatType(call), type)))
    return failure();
  if (!start || !end || !step)
    return push(call, results, {kUnknown}, type);
  double count = std::floor((*end - *start) / *step) + 1;
  if (!(count >= 1 && count < 1e15))
    return call.error("there is no step of ", *step, " from ", *start, " to ",
                      *end);
  return push(call, results, {static_cast<int64_t>(count)}, type);
}

LogicalResult infer::linspace(const InferCall &call, Results &results) {
  int64_t steps = 0;
  TensorShape start, end;
  Type type = floatType(call);
  if (failed(call.integer("steps", steps)) ||
      failed(call.tensorOrNumber("start", start)) ||
      failed(call.tensorOrNumber("end", end)))
    return failure();
  if (isa<ComplexType>(start.element) || isa<ComplexType>(end.element))
    type = complexType(type);
  if (failed(getDtype(call, type, type)))
    return failure();
  return push(call, results, {steps}, type);
}

LogicalResult infer::seeds(const InferCall &call, Results &results) {
  if (call.isNone(optional("count")))
    return push(call, results, {}, intType(call));
  int64_t count = 0;
  if (failed(call.integer(optional("count"), count)))
    return failure();
  return push(call, results, {count}, intType(call));
}

LogicalResult infer::iota(const InferCall &call, Results &results) {
  int64_t length = 0;
  Type type;
  if (failed(call.integer("length", length)) ||
      failed(getDtype(call, intType(call), type)))
    return failure();
  return push(call, results, {length}, type);
}

//===----------------------------------------------------------------------===//
// Several tensors
//===----------------------------------------------------------------------===//

/// At least one tensor, and the promoted type of all.
static LogicalResult getTensors(const InferCall &call,
                                SmallVectorImpl<TensorShape> &tensors) {
  if (failed(call.tensors("tensors", tensors)))
    return failure();
  return tensors.empty() ? call.error("no tensors given") : success();
}

LogicalResult infer::cat(const InferCall &call, Results &results) {
  SmallVector<TensorShape> tensors;
  if (failed(getTensors(call, tensors)))
    return failure();
  // A 1-d tensor without elements goes with everything, for old programs.
  TensorShape *first = nullptr;
  auto isOldEmpty = [](const TensorShape &t) {
    return t.rank() == 1 && t.dims[0] == 0;
  };
  for (TensorShape &t : tensors)
    if (!first && !isOldEmpty(t))
      first = &t;
  Type type = promoteTypes(tensors);
  if (!first)
    return push(call, results, {0}, type);
  int64_t dim = 0;
  if (failed(call.dimension("dim", first->rank(), dim)))
    return failure();
  if (first->dims.empty())
    return call.error("tensors without dimensions cannot be concatenated");
  Dims dims = first->dims;
  int64_t total = 0;
  for (const TensorShape &t : tensors) {
    if (isOldEmpty(t))
      continue;
    if (t.rank() != first->rank())
      return call.error("tensors of rank ", first->rank(), " and ", t.rank(),
                        " cannot be concatenated");
    total = addSizes(total, t.dims[dim]);
    for (auto [i, size] : llvm::enumerate(t.dims)) {
      if (static_cast<int64_t>(i) == dim)
        continue;
      if (failed(checkSame(call, "sizes of tensors to join", dims[i], size)))
        return failure();
      dims[i] = mergeSizes(dims[i], size);
    }
  }
  dims[dim] = total;
  return push(call, results, dims, type);
}

LogicalResult infer::stack(const InferCall &call, Results &results) {
  SmallVector<TensorShape> tensors;
  int64_t dim = 0;
  if (failed(getTensors(call, tensors)) ||
      failed(call.dimension("dim", tensors.front().rank() + 1, dim)))
    return failure();
  Dims dims = tensors.front().dims;
  for (const TensorShape &t : tensors) {
    if (t.rank() != static_cast<int64_t>(dims.size()))
      return call.error("tensors of rank ", dims.size(), " and ", t.rank(),
                        " cannot be stacked");
    for (auto [i, size] : llvm::enumerate(t.dims)) {
      if (failed(checkSame(call, "sizes of tensors to stack", dims[i], size)))
        return failure();
      dims[i] = mergeSizes(dims[i], size);
    }
  }
  dims.insert(dims.begin() + dim, static_cast<int64_t>(tensors.size()));
  return push(call, results, dims, promoteTypes(tensors));
}

LogicalResult infer::broadcastTensors(const InferCall &call, Results &results) {
  SmallVector<TensorShape> tensors;
  Dims dims;
  if (failed(getTensors(call, tensors)))
    return failure();
  for (const TensorShape &t : tensors)
    if (failed(broadcastInto(call, dims, t.dims)))
      return failure();
  for (const TensorShape &t : tensors)
    if (failed(push(call, results, dims, t.element)))
      return failure();
  return success();
}

LogicalResult infer::meshgrid(const InferCall &call, Results &results) {
  SmallVector<TensorShape> tensors;
  StringRef indexing;
  Dims dims;
  if (failed(getTensors(call, tensors)) ||
      failed(call.string(optional("indexing"), indexing)))
    return failure();
  for (const TensorShape &t : tensors) {
    if (t.rank() > 1)
      return call.error("grid axes have one dimension, not ", t.rank());
    dims.push_back(t.dims.empty() ? 1 : t.dims[0]);
  }
  if (indexing == "xy" && dims.size() > 1)
    std::swap(dims[0], dims[1]);
  for (const TensorShape &t : tensors)
    if (failed(push(call, results, dims, t.element)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// One tensor, larger
//===----------------------------------------------------------------------===//

LogicalResult infer::padNd(const InferCall &call, Results &results) {
  TensorShape self;
  Dims pad;
  int param = call.getSchema().find("pad");
  if (failed(getSelf(call, self)) ||
      failed(call.integers(param < 0 ? ParamRef("padding") : ParamRef(param),
                           pad)))
    return failure();
  if (pad.size() % 2 != 0 || pad.size() > 2 * self.dims.size())
    return call.error(pad.size(), " paddings for a tensor of rank ",
                      self.rank());
  // The first pair is for the last dimension.
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t &size = self.dims[self.dims.size() - 1 - i];
    size = addSizes(addSizes(size, pad[2 * i]), pad[2 * i + 1]);
  }
  return push(call, results, self);
}

/// Multiplies sizes by `repeats`, with leading ones where it is longer.
static LogicalResult pushRepeated(const InferCall &call, Results &results,
                                  TensorShape self, ArrayRef<int64_t> repeats) {
  self.dims.insert(self.dims.begin(), repeats.size() - self.dims.size(), 1);
  for (auto [size, times] : llvm::zip_equal(self.dims, repeats))
    size = mulSizes(size, times);
  return push(call, results, self);
}

LogicalResult infer::repeat(const InferCall &call, Results &results) {
  TensorShape self;
  Dims repeats;
  if (failed(getSelf(call, self)) || failed(getSizes(call, "repeats", repeats)))
    return failure();
  if (repeats.size() < self.dims.size())
    return call.error(repeats.size(), " repeats for a tensor of rank ",
                      self.rank());
  return pushRepeated(call, results, self, repeats);
}

LogicalResult infer::tile(const InferCall &call, Results &results) {
  TensorShape self;
  Dims repeats;
  if (failed(getSelf(call, self)) || failed(getSizes(call, "dims", repeats)))
    return failure();
  if (repeats.size() < self.dims.size())
    repeats.insert(repeats.begin(), self.dims.size() - repeats.size(), 1);
  return pushRepeated(call, results, self, repeats);
}

LogicalResult infer::repeatInterleave(const InferCall &call, Results &results) {
  TensorShape self;
  std::optional<int64_t> known;
  int selfIndex = call.getSchema().find("self");
  if (failed(call.tensor(0, self)) ||
      failed(call.optionalInteger("output_size", known)))
    return failure();
  // Without `self` the result is the indices to repeat.
  if (selfIndex < 0)
    return push(call, results, {known.value_or(kUnknown)}, self.element);
  if (call.isNone(optional("dim")))
    self.dims = {countElements(self.dims)};
  int64_t dim = 0;
  if (!call.isNone(optional("dim")) &&
      failed(call.dimension(optional("dim"), self.rank(), dim)))
    return failure();
  if (self.dims.empty())
    self.dims.push_back(1);
  int64_t times = kUnknown;
  int repeats = call.getSchema().find("repeats");
  if (repeats >= 0 &&
      call.getSchema().params[repeats].kind != ParamKind::Tensor &&
      failed(call.integer("repeats", times)))
    return failure();
  self.dims[dim] = known ? *known : mulSizes(self.dims[dim], times);
  return push(call, results, self);
}

LogicalResult infer::oneHot(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t classes = -1;
  if (failed(getSelf(call, self)) ||
      failed(call.integer("num_classes", classes)))
    return failure();
  self.dims.push_back(classes == -1 ? kUnknown : classes);
  return push(call, results, self.dims, intType(call));
}

LogicalResult infer::multinomial(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t samples = 0;
  if (failed(getSelf(call, self)) ||
      failed(call.integer("num_samples", samples)))
    return failure();
  if (self.rank() != 1 && self.rank() != 2)
    return call.error("probabilities have 1 or 2 dimensions, not ",
                      self.rank());
  self.dims.back() = samples;
  return push(call, results, self.dims, intType(call));
}

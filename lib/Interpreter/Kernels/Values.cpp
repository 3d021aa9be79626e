// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements and positions for the heavy kernels.
//
// A kernel loads its operands into vectors, computes in double (integers in
// int64_t, so that they are exact), and stores the results, where they are
// rounded once. That costs 8 bytes an element for the time of one op, and
// keeps every kernel free of element types. Ops that only move elements copy
// bits instead: what they move may be an integer beyond 2^53 or a NaN.

#include "Values.h"

#include "../IndexSource.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

int64_t interpreter::product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

Sizes interpreter::rowMajor(ArrayRef<int64_t> sizes) {
  Sizes strides(sizes.size(), 1);
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * sizes[i + 1];
  return strides;
}

int64_t interpreter::wrapped(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + std::max<int64_t>(rank, 1) : dim;
}

Sizes interpreter::perDim(ArrayRef<int64_t> values, size_t count) {
  return values.size() == 1 ? Sizes(count, values[0]) : Sizes(values);
}

Sizes interpreter::broadcastSizes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Sizes result(a);
  size_t extra = a.size() - b.size();
  for (auto [i, size] : llvm::enumerate(b))
    if (result[extra + i] == 1)
      result[extra + i] = size;
  return result;
}

std::vector<int64_t> interpreter::broadcastMap(ArrayRef<int64_t> from,
                                               ArrayRef<int64_t> to) {
  // Stride 0 where a size is broadcast, or does not fit (which inference
  // refuses).
  Sizes strides(to.size(), 0), natural = rowMajor(from);
  if (from.size() > to.size())
    return offsetsOf(to, strides);
  size_t extra = to.size() - from.size();
  for (auto [i, size] : llvm::enumerate(from))
    strides[extra + i] = size == to[extra + i] ? natural[i] : 0;
  return offsetsOf(to, strides);
}

std::vector<int64_t> interpreter::offsetsOf(ArrayRef<int64_t> sizes,
                                            ArrayRef<int64_t> strides) {
  std::vector<int64_t> offsets(product(sizes));
  Sizes index(sizes.size(), 0);
  for (int64_t &offset : offsets) {
    offset = 0;
    for (auto [i, stride] : llvm::zip_equal(index, strides))
      offset += i * stride;
    advance(index, sizes);
  }
  return offsets;
}

Along::Along(ArrayRef<int64_t> sizes, int64_t dim) {
  if (sizes.empty())
    return;
  dim = wrapped(dim, static_cast<int64_t>(sizes.size()));
  outer = product(sizes.take_front(dim));
  length = sizes[dim];
  inner = product(sizes.drop_front(dim + 1));
}

bool interpreter::advance(MutableArrayRef<int64_t> index,
                          ArrayRef<int64_t> sizes) {
  for (size_t i = sizes.size(); i-- > 0;) {
    if (++index[i] < sizes[i])
      return true;
    index[i] = 0;
  }
  return false;
}

void interpreter::copyRun(const Tensor &source, int64_t from,
                          const Tensor &target, int64_t to, int64_t count) {
  int64_t bytes = itemSize(source.type);
  if (count > 0)
    std::memcpy(target.data() + to * bytes, source.data() + from * bytes,
                count * bytes);
}

LogicalResult interpreter::checkGroups(const KernelCall &call, int64_t channels,
                                       int64_t groups) {
  if (groups > 0 && channels % groups == 0)
    return success();
  return call.error(Twine(channels) + " channels cannot be divided into " +
                    Twine(groups) + " groups");
}

LogicalResult interpreter::checkCount(const KernelCall &call,
                                      aten::ParamRef param, int64_t given,
                                      int64_t wanted) {
  if (given == wanted)
    return success();
  return call.error("'" + param.getName() + "' has " + Twine(given) +
                    " elements, not " + Twine(wanted));
}

std::vector<double> interpreter::doubles(const KernelCall &call,
                                         aten::ParamRef param, int64_t count) {
  std::vector<double> values;
  if (!call.isNone(param)) {
    Tensor tensor = call.tensor(param);
    if (isComplex(tensor.type))
      (void)call.error("is executed for real numbers only");
    values = tensor.doubles();
  }
  if (failed(
          checkCount(call, param, static_cast<int64_t>(values.size()), count)))
    values.assign(count, 0);
  return values;
}

std::vector<double> interpreter::optionalDoubles(const KernelCall &call,
                                                 aten::ParamRef param,
                                                 int64_t count) {
  return call.isNone(param) ? std::vector<double>()
                            : doubles(call, param, count);
}

std::vector<int64_t> interpreter::ints(const KernelCall &call,
                                       aten::ParamRef param, int64_t count) {
  std::vector<int64_t> values = call.tensor(param).ints();
  if (failed(
          checkCount(call, param, static_cast<int64_t>(values.size()), count)))
    values.assign(count, 0);
  return values;
}

/// Says which indices there are, and where this one came from.
static LogicalResult indexError(const KernelCall &call, int64_t index,
                                int64_t least, int64_t size) {
  Operation *op = call.op.getOperation();
  InFlightDiagnostic diag =
      op->emitError() << StringRef(call.op.getInfo().torchName) << ": index "
                      << index << " is out of range for a dimension of size "
                      << size;
  Diagnostic &note = diag.attachNote();
  StringRef name =
      op->getNumResults() ? joint::getValueName(op->getResult(0)) : StringRef();
  note << "'" << (name.empty() ? op->getName().getStringRef() : name)
       << "' takes ";
  if (size > 0)
    note << "indices from " << least << " to " << size - 1;
  else
    note << "no index at all";
  std::vector<std::string> sources = findIndexSources(op);
  if (sources.empty()) {
    note << "; this one does not come from an input: check what the graph "
            "computes it from";
    return diag;
  }
  note << "; this one comes from ";
  llvm::interleave(
      sources, [&](const std::string &name) { note << "'" << name << "'"; },
      [&] { note << ", "; });
  note << ": correct it in the file of --inputs";
  return diag;
}

LogicalResult interpreter::checkIndex(const KernelCall &call, int64_t index,
                                      int64_t size) {
  if (index >= 0 && index < size)
    return success();
  return indexError(call, index, 0, size);
}

LogicalResult interpreter::wrapIndex(const KernelCall &call, int64_t &index,
                                     int64_t size) {
  int64_t given = index;
  if (index < 0)
    index += size;
  if (index >= 0 && index < size)
    return success();
  return indexError(call, given, -size, size);
}

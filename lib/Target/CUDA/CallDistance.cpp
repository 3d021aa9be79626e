// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distances of points (rows): of each of x1 to each of x2, and of each to those
// behind it; and their gradients. A thread has one element of the result and
// goes over what is added into it, in its order. With d = x1 - x2 and D the
// distance the gradient is g * sign(d) * (|d| / D)^(p - 1): 0 for p = 0 and
// where d or D is 0; for p = infinity g * sign(d) where |d| is D.

#include "CallDescription.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

namespace {

struct Distance {
  double p;
  std::string type; ///< of sums

  /// What `apart`, which is not below 0, adds to `sum`.
  std::string addText() const {
    if (p == 0)
      return "sum += apart != 0 ? 1 : 0;";
    if (std::isinf(p))
      return "sum = Max()(sum, apart);";
    if (p == 1)
      return "sum += apart;";
    return "sum += " +
           (p == 2 ? std::string("apart * apart") : power("apart", p)) + ";";
  }
  std::string distanceText() const {
    if (p == 0 || p == 1 || std::isinf(p))
      return "sum";
    return p == 2 ? "rootOf(sum)" : power("sum", 1 / p);
  }
  /// The derivative of distance `whole` in `d`, as elements `of` have it.
  std::string slopeText(Value of) const {
    std::string sign = "(d > 0 ? 1 : d < 0 ? -1 : 0)";
    if (p == 0)
      return "0";
    if (std::isinf(p))
      return "(toFloat(" + stored(of, "absolute(d)") + ") == whole ? " + sign +
             " : 0)";
    std::string slope = sign;
    if (p == 2)
      slope = "d / whole";
    else if (p != 1)
      slope = sign + " * " + power("(absolute(d) / whole)", p - 1);
    return "(d == 0 || whole == 0 ? " + type + "(0) : " + slope + ")";
  }

private:
  /// In double precision, as all rare functions.
  std::string power(const std::string &base, double exponent) const {
    std::string number;
    llvm::raw_string_ostream(number) << llvm::format("%.17g", exponent);
    return type + "(pow(double(" + base + "), double(" + number + ")))";
  }
};

/// The last indices of `at`, one for each dimension of a tensor that
/// broadcasts.
Indices ownIndices(Value tensor, ArrayRef<std::string> batch,
                   ArrayRef<std::string> row) {
  Indices at(batch.take_back(sizesOf(tensor).size() - 2));
  at.append(row.begin(), row.end());
  return at;
}

/// What a CPU is told: tensors of batches have the dimensions of `batch` in
/// front of their last two.
void describe(CallWriter &text, precompiled::Distances::Kind kind, double p,
              ArrayRef<int64_t> batch = {}) {
  std::vector<std::optional<precompiled::StridedTensor>> tensors;
  for (const char *name : {"a", "b", "gradient", "distances", "out"}) {
    std::optional<precompiled::StridedTensor> own = text.strided(name);
    tensors.push_back(own);
    if (!own || own->operand < 0 || batch.empty())
      continue;
    SmallVector<StridedDim> dims;
    auto missing = static_cast<int64_t>(batch.size()) + 2 - own->rank;
    for (int64_t dim = 0; dim < static_cast<int64_t>(batch.size()) + 2; ++dim)
      if (dim < missing)
        dims.push_back({batch[dim], 0});
      else
        dims.push_back(
            {own->sizes[dim - missing], own->strides[dim - missing]});
    tensors.back() = withDims(own, dims);
  }
  precompiled::Distances distances;
  distances.kind = kind;
  distances.p = p;
  text.kernel().precompiled =
      describeCall("cutback_distances", tensors, distances);
}

std::string apartText(Value a, Value b, ArrayRef<std::string> ofA,
                      ArrayRef<std::string> ofB) {
  return "toFloat(" + CallWriter::element(a, "a", ofA) + ") - toFloat(" +
         CallWriter::element(b, "b", ofB) + ")";
}

CallResult writeDistances(aten::CallOp op) {
  aten::CallReader call(op);
  Value a = call.value("x1"), b = call.value("x2"), out = op->getResult(0);
  if (!isFloatTensor(a) || !isFloatTensor(b))
    return CallResult::failed("has points of other elements than floats");
  Distance distance{call.number(aten::optional("p")).value_or(2),
                    sumTypeText(a)};
  CallWriter text("distances");
  text.comment("[" + sizesText(sizesOf(a)) + "] to [" + sizesText(sizesOf(b)) +
               "]");
  text.read(a, "a");
  text.read(b, "b");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out));
  ArrayRef<std::string> batch = ArrayRef(at).drop_back(2);
  Indices ofA = ownIndices(a, batch, {at[at.size() - 2], "e"});
  Indices ofB = ownIndices(b, batch, {at[at.size() - 1], "e"});
  text.line(distance.type + " sum = 0;");
  text.line("for (int e = 0; e < " + std::to_string(sizesOf(a).back()) +
            "; ++e) {");
  text.line("  const " + distance.type + " apart = absolute(" +
            apartText(a, b, ofA, ofB) + ");");
  text.line("  " + distance.addText());
  text.line("}");
  text.line(CallWriter::element(out, "out", at) + " = " +
            stored(out, distance.distanceText()) + ";");
  describe(text, precompiled::Distances::Forward, distance.p,
           sizesOf(out).drop_back(2));
  return CallResult::of(text);
}

CallResult writeDistancesGradient(aten::CallOp op) {
  aten::CallReader call(op);
  Value a = call.value("x1"), b = call.value("x2"), out = op->getResult(0);
  Value gradient = call.value("grad"), whole = call.value("cdist");
  if (!isFloatTensor(a) || !isFloatTensor(b) || !isFloatTensor(gradient))
    return CallResult::failed("has points of other elements than floats");
  Distance distance{call.number("p").value_or(2), sumTypeText(a)};
  CallWriter text("distances_gradient");
  text.comment("[" + sizesText(sizesOf(a)) + "] to [" + sizesText(sizesOf(b)) +
               "]");
  text.read(gradient, "gradient");
  text.read(a, "a");
  text.read(b, "b");
  text.read(whole, "distances");
  text.write(out, "out");
  text.openElements(productOf(sizesOf(out)));
  Indices at = indicesOf("element", sizesOf(out));
  if (productOf(sizesOf(gradient)) == 0) { // it has the shape of x1 then
    text.line(CallWriter::element(out, "out", at) + " = " +
              stored(out, "0.0f") + ";");
    text.kernel().precompiled =
        describeCall("cutback_elements", text, {"from", "out"},
                     precompiled::Elements{precompiled::Elements::Zero});
    return CallResult::of(text);
  }
  ArrayRef<std::string> batch = ArrayRef(at).drop_back(2);
  std::string row = at[at.size() - 2], e = at.back();
  Indices ofA = ownIndices(a, batch, {row, e});
  Indices ofB = ownIndices(b, batch, {"other", e});
  Indices pair = ownIndices(gradient, batch, {row, "other"});
  Indices wholePair = ownIndices(whole, batch, {row, "other"});
  text.line(distance.type + " sum = 0;");
  text.line("for (int other = 0; other < " +
            std::to_string(sizesOf(b)[sizesOf(b).size() - 2]) + "; ++other) {");
  text.line("  const " + distance.type + " d = " + apartText(a, b, ofA, ofB) +
            ";");
  text.line("  const " + distance.type + " whole = toFloat(" +
            CallWriter::element(whole, "distances", wholePair) + ");");
  text.line("  sum += toFloat(" +
            CallWriter::element(gradient, "gradient", pair) + ") * " +
            distance.slopeText(whole) + ";");
  text.line("}");
  text.line(CallWriter::element(out, "out", at) + " = " + stored(out, "sum") +
            ";");
  describe(text, precompiled::Distances::Gradient, distance.p,
           sizesOf(out).drop_back(2));
  return CallResult::of(text);
}

/// Pair (i, j) of `rows` points, i < j, is number i * (2 * rows - i - 1) / 2 +
/// j - i - 1.
std::string pairText(int64_t rows, const std::string &i, const std::string &j) {
  return i + " * (" + std::to_string(2 * rows - 1) + " - " + i + ") / 2 + " +
         j + " - " + i + " - 1";
}

/// The matrix of points, if a kernel can take it.
std::string problemOfPoints(Value self) {
  if (!isFloatTensor(self) || sizesOf(self).size() != 2)
    return "has no matrix of points that are floats";
  return sizesOf(self)[0] * sizesOf(self)[0] > INT32_MAX
             ? "has more than 46,340 points"
             : "";
}

CallResult writeDistancesWithin(aten::CallOp op) {
  aten::CallReader call(op);
  Value self = call.value("self"), out = op->getResult(0);
  if (std::string why = problemOfPoints(self); !why.empty())
    return CallResult::failed(why);
  int64_t rows = sizesOf(self)[0];
  std::string rowsText = std::to_string(rows);
  Distance distance{call.number("p").value_or(2), sumTypeText(self)};
  std::string type = distance.type;
  CallWriter text("distances_within");
  text.comment("[" + sizesText(sizesOf(self)) + "]");
  text.read(self, "a");
  text.write(out, "out");
  text.openElements(rows * rows);
  text.line("const int i = element / " + rowsText + ", j = element % " +
            rowsText + ";");
  text.line("if (i >= j)");
  text.line("  return;");
  text.line(type + " sum = 0;");
  text.line("for (int e = 0; e < " + std::to_string(sizesOf(self)[1]) +
            "; ++e) {");
  std::string b = CallWriter::element(self, "a", {"j", "e"});
  text.line("  const " + type + " apart = absolute(toFloat(" +
            CallWriter::element(self, "a", {"i", "e"}) + ") - toFloat(" + b +
            "));");
  text.line("  " + distance.addText());
  text.line("}");
  text.line(
      CallWriter::element(out, "out", {"(" + pairText(rows, "i", "j") + ")"}) +
      " = " + stored(out, distance.distanceText()) + ";");
  describe(text, precompiled::Distances::Within, distance.p);
  return CallResult::of(text);
}

CallResult writeDistancesWithinGradient(aten::CallOp op) {
  aten::CallReader call(op);
  Value self = call.value("self"), out = op->getResult(0);
  if (std::string why = problemOfPoints(self); !why.empty())
    return CallResult::failed(why);
  int64_t rows = sizesOf(self)[0], width = sizesOf(self)[1];
  Distance distance{call.number("p").value_or(2), sumTypeText(self)};
  std::string type = distance.type;
  Value gradient = call.value("grad"), whole = call.value("pdist");
  CallWriter text("distances_within_gradient");
  text.comment("[" + sizesText(sizesOf(self)) + "]");
  text.read(self, "a");
  text.read(gradient, "gradient");
  text.read(whole, "distances");
  text.write(out, "out");
  text.openElements(rows * width);
  text.line("const int row = element / " + std::to_string(width) +
            ", e = element % " + std::to_string(width) + ";");
  text.line(type + " sum = 0;");
  text.line("for (int other = 0; other < " + std::to_string(rows) +
            "; ++other) {");
  text.line("  if (other == row)");
  text.line("    continue;");
  text.line("  const int i = Min()(row, other), j = Max()(row, other);");
  text.line("  const int pair = " + pairText(rows, "i", "j") + ";");
  text.line("  const " + type + " d = toFloat(" +
            CallWriter::element(self, "a", {"row", "e"}) + ") - toFloat(" +
            CallWriter::element(self, "a", {"other", "e"}) + ");");
  text.line("  const " + type + " whole = toFloat(" +
            CallWriter::element(whole, "distances", {"pair"}) + ");");
  text.line("  sum += toFloat(" +
            CallWriter::element(gradient, "gradient", {"pair"}) + ") * " +
            distance.slopeText(whole) + ";");
  text.line("}");
  text.line(CallWriter::element(out, "out", {"row", "e"}) + " = " +
            stored(out, "sum") + ";");
  describe(text, precompiled::Distances::WithinGradient, distance.p);
  return CallResult::of(text);
}

} // namespace

CallResult cuda::writeDistanceCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  if (name == "aten.cdist" || name == "aten._cdist_forward" ||
      name == "aten._euclidean_dist")
    return writeDistances(op);
  if (name == "aten._cdist_backward")
    return writeDistancesGradient(op);
  if (name == "aten._pdist_forward")
    return writeDistancesWithin(op);
  if (name == "aten._pdist_backward")
    return writeDistancesWithinGradient(op);
  return {};
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of planes that were padded by reflection or with their border, of
// one to three dimensions. A thread has one element of the result and adds up
// the gradients of its copies, in their order: at most three along an axis that
// was reflected; of a border all that stand beside it.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

using Indices = SmallVector<std::string>;

static const char *const kPlaces[] = {"i", "j", "k"};

/// Opens the loop over the copies of element `at` of an axis: of `size`
/// elements, in front of which `before` are, `count` with those.
static void openCopies(CallWriter &text, const std::string &indent,
                       const std::string &place, bool isReflected,
                       int64_t before, int64_t size, int64_t count) {
  std::string numbers = "at_" + place + ", " + std::to_string(before) + ", " +
                        std::to_string(size) + ", " + std::to_string(count) +
                        ")";
  if (isReflected) {
    text.line(indent + "for (int copy_" + place + " = 0; copy_" + place +
              " < 3; ++copy_" + place + ") {");
    text.line(indent + "  const int " + place + " = reflectedCopy(copy_" +
              place + ", " + numbers + ";");
    text.line(indent + "  if (" + place + " < 0)");
    text.line(indent + "    continue;");
    return;
  }
  text.line(indent + "const Span over_" + place + " = borderCopies(" + numbers +
            ";");
  text.line(indent + "for (int " + place + " = over_" + place + ".begin; " +
            place + " < over_" + place + ".end; ++" + place + ") {");
}

static CallResult writePadGradient(aten::CallOp op, bool isReflected) {
  aten::CallReader call(op);
  Value gradient = call.value("grad_output"), out = op->getResult(0);
  auto padding = call.integers("padding");
  ArrayRef<int64_t> sizes = sizesOf(out);
  if (!padding || !isFloatTensor(gradient))
    return CallResult::failed("pads other elements than floats, or by sizes "
                              "that are not known");
  size_t rank = padding->size() / 2, lead = sizes.size() - rank;
  CallWriter text(isReflected ? "reflection_gradient" : "border_gradient");
  text.comment("[" + sizesText(sizes) + "] from [" +
               sizesText(sizesOf(gradient)) + "]");
  text.read(gradient, "gradient");
  text.write(out, "out");
  text.openElements(productOf(sizes));
  Indices at = indicesOf("element", sizes), from = at;
  for (size_t axis = 0; axis < rank; ++axis) {
    from[lead + axis] = kPlaces[axis];
    text.line("const int at_" + from[lead + axis] + " = " + at[lead + axis] +
              ";");
  }
  text.line(sumTypeText(gradient) + " sum = 0;");
  std::string indent;
  // The last axis is padded by the first two numbers.
  for (size_t axis = 0; axis < rank; ++axis, indent += "  ")
    openCopies(text, indent, kPlaces[axis], isReflected,
               (*padding)[2 * (rank - 1 - axis)], sizes[lead + axis],
               sizesOf(gradient)[lead + axis]);
  text.line(indent + "sum += toFloat(" +
            CallWriter::element(gradient, "gradient", from) + ");");
  for (size_t axis = rank; axis-- > 0;)
    text.line(std::string(2 * axis, ' ') + "}");
  text.line(CallWriter::element(out, "out", at) + " = " + stored(out, "sum") +
            ";");
  precompiled::ColumnWindows all;
  all.kind = isReflected ? precompiled::ColumnWindows::Reflected
                         : precompiled::ColumnWindows::Border;
  all.rank = static_cast<int64_t>(rank);
  for (size_t axis = 0; axis < rank; ++axis)
    all.axes[axis].padding = (*padding)[2 * (rank - 1 - axis)];
  text.kernel().precompiled =
      describeCall("cutback_windows", text, {"gradient", "out"}, all);
  return CallResult::of(text);
}

CallResult cuda::writePaddingCall(aten::CallOp op) {
  StringRef name = op.getPacketName();
  bool isReflected = name.consume_front("aten.reflection_pad");
  if (!isReflected && !name.consume_front("aten.replication_pad"))
    return {};
  if (name != "1d_backward" && name != "2d_backward" && name != "3d_backward")
    return {};
  return writePadGradient(op, isReflected);
}

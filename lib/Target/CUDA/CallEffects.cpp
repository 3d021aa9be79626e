// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of the step itself: writes into arguments, checks, and the copy of a
// saved view with strides for the backward, which takes its elements in their
// order. A thread has an element. A check that does not hold marks the problem
// that a wrong index marks, with another number: the runtime says which check
// it was, and the step writes nothing.

#include "CallDescription.h"

#include "cutback/Dialect/Joint/Joint.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

/// What a CPU is told, of parameters `from` and `to`.
static void describe(CallWriter &text, const char *from,
                     std::optional<precompiled::StridedTensor> to,
                     precompiled::Elements::Kind kind) {
  text.kernel().precompiled =
      describeCall("cutback_elements", {text.strided(from), to},
                   precompiled::Elements{kind});
}

/// Each element of `from` to where `to` has it; both have the same sizes.
static void copyElements(CallWriter &text, Value from, const Layout &to) {
  text.openElements(productOf(to.sizes));
  SmallVector<std::string> at = indicesOf("element", to.sizes);
  text.line(CallWriter::element(to, "to", at) + " = " +
            CallWriter::element(from, "from", at) + ";");
  // Of the same type; a copy of a view has no tensor yet.
  std::optional<precompiled::StridedTensor> own = describeStrided(from, 1);
  SmallVector<StridedDim> dims;
  for (size_t dim = 0; dim < to.sizes.size(); ++dim)
    dims.push_back({to.sizes[dim], strideOf(to, dim)});
  if (own)
    own->at = to.offset;
  describe(text, "from", withDims(own, dims), precompiled::Elements::Copy);
}

static CallResult writeWrite(joint::WriteOp write) {
  Value to = write->getOperand(0), from = write->getOperand(1);
  if (sizesOf(to) != sizesOf(from) ||
      elementTypeText(to) != elementTypeText(from))
    return CallResult::failed("writes a tensor of another type or size");
  CallWriter text("copy");
  text.comment("[" + sizesText(sizesOf(to)) + "] into an argument");
  text.read(from, "from");
  text.write(to, "to");
  copyElements(text, from, kernel::locate(to).layout);
  return CallResult::of(text);
}

/// A thread an element; the runtime says what was checked.
static CallResult writeAssert(joint::AssertOp op) {
  Value condition = op.getCondition();
  if (!isa<RankedTensorType>(condition.getType()))
    return CallResult::failed("checks what is no tensor");
  CallWriter text("check");
  text.comment(op.getMessage().str());
  text.read(condition, "condition");
  ArrayRef<int64_t> sizes = sizesOf(condition);
  text.openElements(productOf(sizes));
  text.line(
      "if (!" +
      CallWriter::element(condition, "condition", indicesOf("element", sizes)) +
      ")");
  text.line("  atomicMax(problem, kCheckFailed);");
  text.kernel().checks = true;
  describe(text, "condition", text.strided("none"),
           precompiled::Elements::Check);
  return CallResult::of(text);
}

CallResult cuda::writeEffectCall(Operation *op) {
  if (auto write = dyn_cast<joint::WriteOp>(op))
    return writeWrite(write);
  if (auto assertion = dyn_cast<joint::AssertOp>(op))
    return writeAssert(assertion);
  return {};
}

CallKernel cuda::writeDenseCopy(Value tensor) {
  CallWriter text("copy");
  text.comment("[" + sizesText(sizesOf(tensor)) +
               "], a saved view with strides, for the backward");
  text.read(tensor, "from");
  text.kernel().parameters.push_back({elementTypeText(tensor), "to", true});
  copyElements(text, tensor, Layout::contiguous(sizesOf(tensor)));
  return text.take();
}

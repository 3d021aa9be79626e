// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the families of calls share: parameters, indices of strided tensors, and
// the question which family knows an op. A view is no copy: its strides and its
// offset stand in the index. Indices are `int`: a tensor of 2^31 elements is
// refused.

#include "CallText.h"
#include "ScalarText.h"

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

std::string cuda::elementTypeText(Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    element = IntegerType::get(element.getContext(), integer.getWidth());
  return typeText(element);
}

std::string cuda::sumTypeText(Value tensor) {
  return elementTypeText(tensor) == "double" ? "double" : "float";
}

ArrayRef<int64_t> cuda::sizesOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

std::string cuda::sizesText(ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text.empty() ? "1" : text;
}

bool cuda::isFloatTensor(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && isa<FloatType>(type.getElementType()) &&
         !elementTypeText(tensor).empty();
}

void CallWriter::add(Value tensor, const std::string &name, bool isWritten) {
  call.kernel.parameters.push_back({elementTypeText(tensor), name, isWritten});
  call.roots.push_back(kernel::locate(tensor).root);
  call.tensors.push_back(tensor);
}

std::string CallWriter::element(const Layout &layout, const std::string &name,
                                ArrayRef<std::string> indices) {
  if (indices.size() != layout.sizes.size())
    llvm::reportFatalInternalError("an element of " + Twine(name) +
                                   " has too few or too many indices");
  std::string sum;
  for (auto [index, size, stride] :
       llvm::zip_equal(indices, layout.sizes, layout.strides)) {
    if (size == 1 || stride == 0 || index.empty())
      continue;
    bool isName = llvm::all_of(
        index, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    std::string text = isName || stride == 1 ? index : "(" + index + ")";
    sum += (sum.empty() ? "" : " + ") + text +
           (stride == 1 ? "" : " * " + std::to_string(stride));
  }
  if (layout.offset || sum.empty())
    sum += (sum.empty() ? "" : " + ") + std::to_string(layout.offset);
  return name + "[" + sum + "]";
}

std::string CallWriter::element(Value tensor, const std::string &name,
                                ArrayRef<std::string> indices) {
  return element(kernel::locate(tensor).layout, name, indices);
}

SmallVector<std::string> cuda::indicesOf(const std::string &number,
                                         ArrayRef<int64_t> sizes) {
  SmallVector<std::string> indices(sizes.size());
  int64_t stride = 1, all = 1;
  for (int64_t size : sizes)
    all *= size;
  for (size_t i = sizes.size(); i-- > 0;) {
    indices[i] = number;
    if (stride > 1)
      indices[i] += " / " + std::to_string(stride);
    if (stride * sizes[i] < all)
      indices[i] += " % " + std::to_string(sizes[i]);
    stride *= sizes[i];
  }
  return indices;
}

int64_t cuda::productOf(ArrayRef<int64_t> sizes) {
  int64_t all = 1;
  for (int64_t size : sizes)
    all *= size;
  return all;
}

std::optional<size_t> cuda::axisOf(const aten::CallReader &call, size_t rank) {
  std::optional<int64_t> dim = call.integer("dim");
  if (!dim || rank == 0)
    return std::nullopt;
  return *dim < 0 ? *dim + rank : *dim;
}

/// "unsigned char" where elements are such, whose memory is typed as signed.
static std::string unsignedText(Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (!element.isUnsignedInteger())
    return "";
  switch (element.getIntOrFloatBitWidth()) {
  case 8:
    return "unsigned char";
  case 16:
    return "unsigned short";
  case 32:
    return "unsigned";
  default:
    return "unsigned long long";
  }
}

std::string cuda::heldType(Value tensor) {
  if (isFloatTensor(tensor))
    return sumTypeText(tensor);
  return unsignedText(tensor) == "unsigned long long" ? "unsigned long long"
                                                      : "long long";
}
std::string cuda::held(Value tensor, const std::string &element) {
  if (isFloatTensor(tensor))
    return "toFloat(" + element + ")";
  std::string type = unsignedText(tensor);
  return type.empty() ? element : "(" + type + ")" + element;
}
std::string cuda::stored(Value tensor, const std::string &value) {
  return isFloatTensor(tensor)
             ? "to<" + elementTypeText(tensor) + ">(" + value + ")"
             : "(" + elementTypeText(tensor) + ")(" + value + ")";
}

std::string cuda::checkedText(CallWriter &text, const std::string &index,
                              int64_t size) {
  text.kernel().checks = true;
  return "checked(" + index + ", " + std::to_string(size) + ", problem)";
}

void CallWriter::openElements(int64_t count) {
  line("const int element = blockIdx.x * 256 + threadIdx.x;");
  if (count % 256) {
    line("if (element >= " + std::to_string(count) + ")");
    line("  return;");
  }
  shape({(count + 255) / 256, 1, 1}, {256, 1, 1});
}

void CallWriter::openRows(int64_t rows, int64_t columns) {
  line("const int row = rowOfWarp();");
  if (rows % 4) {
    line("if (row >= " + std::to_string(rows) + ")");
    line("  return;");
  }
  shape({(rows + 3) / 4, (columns + 127) / 128, 1}, {128, 1, 1});
  kernel().waits = true;
}

static std::string noElementsText(Value tensor) {
  std::string text;
  llvm::raw_string_ostream(text)
      << "has elements of type "
      << cast<RankedTensorType>(tensor.getType()).getElementType()
      << ", which kernels do not have";
  return text;
}

/// A marker, or what computes and changes no element: there is nothing to
/// launch.
static bool isNothing(Operation *op) {
  auto isEmpty = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && type.getNumElements() == 0;
  };
  if (auto write = dyn_cast<joint::WriteOp>(op))
    return isEmpty(write->getOperand(0));
  auto call = dyn_cast<aten::CallOp>(op);
  if (call && call.getPacketName() == "pippy._pipe_split")
    return true;
  return op->getNumResults() && isMemoryEffectFree(op) &&
         llvm::all_of(op->getResults(), isEmpty);
}

/// Why no family knows the op.
static std::string missingText(Operation *op) {
  SmallVector<Value> all(op->getOperands());
  llvm::append_range(all, op->getResults());
  for (Value value : all)
    if (isa<RankedTensorType>(value.getType()) &&
        elementTypeText(value).empty())
      return noElementsText(value);
  return "has no kernel yet";
}

std::vector<CallKernel> cuda::writeCall(Operation *op, std::string &problem,
                                        CallOptions options) {
  if (isNothing(op))
    return {};
  CallResult result = writeEffectCall(op);
  if (!result.isKnown)
    result = writeSeededDraw(op);
  if (auto call = dyn_cast<aten::CallOp>(op)) {
    for (auto family :
         {writeProductCall, writeConvolutionCall, writeAttentionCall})
      if (!result.isKnown)
        result = family(call, options);
    for (auto family :
         {writeGroupedCall, writeRowsCall, writeBagCall, writeScatterCall,
          writeIndexPutCall, writeOrderCall, writeWindowsCall, writePoolCall,
          writeResampleCall, writePaddingCall, writeSelectCall, writeMaskedCall,
          writeGridCall, writeDistanceCall, writeDrawCall, writeSpecialCall})
      if (!result.isKnown)
        result = family(call);
  }
  problem = result.isKnown ? result.problem : missingText(op);
  for (const CallKernel &call : result.kernels)
    for (Value root : call.roots)
      if (!root)
        continue;
      else if (elementTypeText(root).empty())
        problem = noElementsText(root);
      else if (cast<RankedTensorType>(root.getType()).getNumElements() >
               INT32_MAX)
        problem = "has a tensor of more than 2^31 elements";
  // Of no elements there is nothing to launch.
  llvm::erase_if(result.kernels, [](const CallKernel &call) {
    return llvm::is_contained(call.kernel.shape.grid, 0);
  });
  return problem.empty() ? std::move(result.kernels)
                         : std::vector<CallKernel>();
}

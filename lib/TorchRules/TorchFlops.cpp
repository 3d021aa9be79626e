// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FLOPs as torch.utils.flop_counter has them (2.13). It has formulas for a list
// of packets, two for a multiplication as our cost model has, and calls that
// are no part of the list, nor made of such, count nothing. Three differences
// to our own count (Flops.cpp): the gradient of a bias is free, masks and
// grouped heads change nothing in either, and attention for CPUs is not in the
// list. Constant time a call.
#include "cutback/TorchRules/TorchFlops.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Nested.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// Those of the list that can be in a graph, and those that PyTorch takes apart
/// into one of it.
static bool isCounted(StringRef packet) {
  static const llvm::StringSet<> packets = {
      "mm",
      "addmm",
      "bmm",
      "baddbmm",
      "_scaled_mm",
      "matmul",
      "linear",
      "convolution",
      "_convolution",
      "cudnn_convolution",
      "_slow_conv2d_forward",
      "convolution_overrideable",
      "conv1d",
      "conv2d",
      "conv3d",
      "convolution_backward",
      "_scaled_dot_product_efficient_attention",
      "_scaled_dot_product_flash_attention",
      "_scaled_dot_product_cudnn_attention",
      "_scaled_dot_product_efficient_attention_backward",
      "_scaled_dot_product_flash_attention_backward",
      "_scaled_dot_product_cudnn_attention_backward",
      "_flash_attention_forward",
      "_efficient_attention_forward",
      "_flash_attention_backward",
      "_efficient_attention_backward"};
  return packet.consume_front("aten.") && packets.contains(packet);
}

/// The gradient of a convolution's bias, which is in our count.
static double flopsOfBias(Operation *op, ArrayRef<int64_t> gradient) {
  auto args = op->getAttrOfType<ArrayAttr>("args");
  auto mask = args && !args.empty() ? dyn_cast<ArrayAttr>(args[args.size() - 1])
                                    : ArrayAttr();
  auto wanted =
      mask && mask.size() == 3 ? dyn_cast<BoolAttr>(mask[2]) : BoolAttr();
  if (!wanted || !wanted.getValue())
    return 0;
  double elements = 1;
  for (int64_t size : gradient)
    elements *= static_cast<double>(size);
  return elements;
}

std::optional<int64_t> cutback::countTorchFlops(const GraphView &view,
                                                const ValueSizes &sizes,
                                                uint32_t op, std::string &why) {
  if (isa<NestedOp>(view.ops[op])) {
    why = "PyTorch has no count of the FLOPs of a call that runs graphs";
    return std::nullopt;
  }
  auto call = dyn_cast<FrameworkCallOpInterface>(view.ops[op]);
  if (!call || !isCounted(call.getPacketName()))
    return 1;
  auto model = dyn_cast<CostModelOpInterface>(view.ops[op]);
  if (!model || isa<OpaqueOp>(view.ops[op])) {
    why = "'" + call.getPacketName().str() +
          "' has FLOPs by PyTorch's count, which is not known here";
    return std::nullopt;
  }
  SmallVector<SmallVector<int64_t, 6>> known;
  auto addShape = [&](uint32_t value) {
    SmallVector<int64_t, 6> &shape = known.emplace_back();
    if (auto type = dyn_cast<RankedTensorType>(sizes.type[value]))
      for (int64_t size : type.getShape())
        shape.push_back(
            ShapedType::isDynamic(size) ? ValueSizes::fallbackElements : size);
  };
  for (uint32_t value : view.operands(op))
    addShape(value);
  for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
    addShape(r);
  SmallVector<ArrayRef<int64_t>> shapes(known.begin(), known.end());
  double flops = model.getFlops(shapes);
  if (call.getPacketName() == "aten.convolution_backward")
    flops -= flopsOfBias(view.ops[op], shapes.front());
  constexpr double most = 9e15; // whole numbers of a double
  return static_cast<int64_t>(std::min(std::max(flops, 1.0), most));
}

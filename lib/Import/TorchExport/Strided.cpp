// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `as_strided` counts in the storage of its operand; our ops count in the
// elements of a contiguous one, in row-major order. Exported programs declare
// where a tensor lies, so one can be said as the other:
//
//   dimensions in another order   the operand is permuted into the order in
//                                 which it lies
//   an operand with an offset     the offset asked for counts from there
//
// What sees elements that the operand does not have, or that lie between its
// elements, is an error. Sizes and strides under the hints decide.

#include "GraphReader.h"

#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

/// The dimensions by falling stride, those of one element where they are;
/// nothing if elements do not lie densely.
static std::optional<SmallVector<int64_t>>
denseOrder(const Types::Tensor &tensor) {
  SmallVector<int64_t> order(tensor.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  SmallVector<int64_t> places, sorted;
  for (int64_t dim : order)
    if (tensor.sizes[dim] != 1)
      places.push_back(dim);
  sorted = places;
  llvm::stable_sort(sorted, [&](int64_t a, int64_t b) {
    return tensor.strides[a] > tensor.strides[b];
  });
  int64_t stride = 1;
  for (int64_t dim : llvm::reverse(sorted)) {
    if (tensor.strides[dim] != stride)
      return std::nullopt;
    stride *= tensor.sizes[dim];
  }
  for (auto [place, dim] : llvm::zip_equal(places, sorted))
    order[place] = dim;
  return order;
}

/// The numbers of a list; nothing if one is computed.
static std::optional<SmallVector<int64_t>> numbersOf(const Attribute *list) {
  SmallVector<int64_t> numbers;
  auto entries = list ? dyn_cast<ArrayAttr>(*list) : ArrayAttr();
  if (!entries)
    return std::nullopt;
  for (Attribute entry : entries) {
    auto number = dyn_cast<IntegerAttr>(entry);
    if (!number)
      return std::nullopt;
    numbers.push_back(number.getInt());
  }
  return numbers;
}

/// The last place that sizes and strides name; -1 if they name none.
static int64_t lastPlace(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    if (size == 0)
      return -1;
    last += (size - 1) * stride;
  }
  return last;
}

LogicalResult GraphReader::placeStrided(const Node &node,
                                        const aten::Schema &schema,
                                        const Frame &frame) {
  JsonValue meta = arguments.operandNames().empty()
                       ? JsonValue()
                       : frame.tensorOf(arguments.operandNames().front());
  const Types::Tensor *base = meta ? types.tensor(meta) : nullptr;
  if (!base || !base->isSized || llvm::is_contained(base->sizes, 0))
    return success();
  auto argument = [&](StringRef name) -> Attribute * {
    size_t positional = args.values.size() - args.keywords.size();
    if (auto at = llvm::find(args.keywords, name); at != args.keywords.end())
      return &args.values[positional + (at - args.keywords.begin())];
    int index = schema.find(name);
    return index >= 0 && static_cast<size_t>(index) < positional
               ? &args.values[index]
               : nullptr;
  };
  int64_t start = 0;
  bool isKnown = true;
  if (Attribute *offset = argument("storage_offset");
      offset && !isa<joint::NoneAttr>(*offset)) {
    auto number = dyn_cast<IntegerAttr>(*offset);
    isKnown = number || base->offset == 0;
    start = number ? number.getInt() - base->offset : 0;
    if (number)
      *offset = scope.builder.getI64IntegerAttr(start);
  }
  std::optional<SmallVector<int64_t>> order = denseOrder(*base);
  std::optional<SmallVector<int64_t>> sizes = numbersOf(argument("size")),
                                      strides = numbersOf(argument("stride"));
  bool isInside = !sizes || !strides ||
                  start + lastPlace(*sizes, *strides) <
                      std::accumulate(base->sizes.begin(), base->sizes.end(),
                                      int64_t(1), std::multiplies<int64_t>());
  bool isPermuted = order && !llvm::is_sorted(*order);
  bool isRead = schema.packet == "aten.as_strided" ||
                schema.packet == "aten.as_strided_copy";
  if (!isKnown || !order || start < 0 || !isInside || (isPermuted && !isRead))
    return fields.fail(
        node.json, fx::quoted(schema.packet) + " leaves its operand",
        "it names places of a storage, of which the operand has a part or has "
        "them in another order; take parts with slices, `unfold` or `view`");
  if (!isPermuted)
    return success();
  Value value =
      emit("aten.permute.default", args.operands.front(), {{"dims", *order}},
           nameOf(args.operands.front()) + "_permuted", node.place);
  if (!value)
    return failure();
  noteGradientMode(value.getDefiningOp());
  args.operands.front() = value;
  return success();
}

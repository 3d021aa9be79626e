// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The key of a backward op is metadata of its location: locations go wherever
// an op goes (halves, launches, functions for a device), attributes do not.
//
//   loc(fused<{backward_of = "mm", region = array<i64: 0, 2>,
//              sequence_nr = 7 : i64}>["model.py":3:1])

#include "cutback/Dialect/Joint/BackwardKey.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;

static constexpr llvm::StringLiteral kNumber = "sequence_nr";
static constexpr llvm::StringLiteral kRegion = "region";

std::optional<BackwardKey> BackwardKey::read(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  auto metadata = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                        : DictionaryAttr();
  auto of = metadata ? metadata.getAs<StringAttr>(kBackwardOf) : StringAttr();
  if (!of)
    return std::nullopt;
  BackwardKey key;
  key.of = of.getValue();
  if (auto number = metadata.getAs<IntegerAttr>(kNumber))
    key.number = static_cast<uint64_t>(number.getInt());
  if (auto region = metadata.getAs<DenseI64ArrayAttr>(kRegion))
    key.region = region.asArrayRef();
  if (!fused.getLocations().empty())
    key.forward = fused.getLocations().front();
  return key;
}

std::string BackwardKey::text() const {
  std::string path;
  for (int64_t id : region)
    path += (path.empty() ? " of region [" : ", ") + std::to_string(id);
  return std::to_string(number) + path + (path.empty() ? "" : "]");
}

Location BackwardKey::attach(Location forward) const {
  Builder builder(forward.getContext());
  SmallVector<NamedAttribute, 3> metadata = {
      builder.getNamedAttr(kBackwardOf, builder.getStringAttr(of)),
      builder.getNamedAttr(
          kNumber, builder.getI64IntegerAttr(static_cast<int64_t>(number)))};
  if (!region.empty())
    metadata.push_back(
        builder.getNamedAttr(kRegion, builder.getDenseI64ArrayAttr(region)));
  return FusedLoc::get(forward.getContext(), {forward},
                       builder.getDictionaryAttr(metadata));
}

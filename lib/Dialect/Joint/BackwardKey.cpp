// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what differentiation has written into locations. The metadata of a
// backward op fuses the location of its forward op; where that op is of a
// backward itself (second derivatives), its own metadata lies inside. Passes
// that make one op of several fuse locations without metadata around that.

#include "cutback/Dialect/Joint/BackwardKey.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace cutback;

std::optional<BackwardKey> cutback::findBackwardKey(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return findBackwardKey(name.getChildLoc());
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused)
    return std::nullopt;
  auto key = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata());
  auto of = key ? key.getAs<StringAttr>(kBackwardOf) : StringAttr();
  if (of && !fused.getLocations().empty()) {
    BackwardKey found{of.getValue(), 0, 0, fused.getLocations().front()};
    if (auto number = key.getAs<IntegerAttr>(kSequenceKey))
      found.number = number.getInt();
    if (auto region = key.getAs<IntegerAttr>(kSequenceRegion))
      found.region = region.getInt();
    return found;
  }
  for (Location part : fused.getLocations())
    if (auto found = findBackwardKey(part))
      return found;
  return std::nullopt;
}

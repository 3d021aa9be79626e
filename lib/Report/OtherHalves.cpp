// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What somebody else's partition of the same graph saves, counted as our own
// is, so that the two stand in one table. Frameworks keep value names through
// partitioning: an argument of the backward that is called like a value of the
// joint graph is that value, with its size under our hints and its storage. A
// value that our preparation removed counts by its declared type, as a storage
// of its own; unknown sizes count nothing.

#include "cutback/Report/OtherHalves.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace cutback {

static int64_t staticBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !tensor.getElementType().isIntOrFloat())
    return 0;
  unsigned bits = tensor.getElementTypeBitWidth();
  return tensor.getNumElements() * ((bits + 7) / 8);
}

static bool isSaved(func::FuncOp backward, unsigned arg) {
  auto role = backward.getArgAttrOfType<joint::RoleAttr>(
      arg, joint::JointDialect::kRole);
  if (!role)
    return true;
  return role.getKind() != joint::RoleKind::Tangent &&
         role.getKind() != joint::RoleKind::GradSeed && !role.getBackward();
}

void countOther(const PartitionResult &ours, func::FuncOp backward,
                OtherPartition &other) {
  const GraphView &view = ours.view;
  llvm::StringMap<uint32_t> values;
  for (uint32_t value = 0; value < view.numValues(); ++value)
    values.try_emplace(view.name(value), value);
  // Storages that are there anyway, or that were counted.
  std::vector<uint8_t> seen(view.numValues(), 0);
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    seen[arg] = 1;
  for (uint32_t value : view.forwardResults())
    seen[ours.storage[value]] = 1;
  for (unsigned arg = 0; arg < backward.getNumArguments(); ++arg) {
    if (!isSaved(backward, arg))
      continue;
    Type type = backward.getArgument(arg).getType();
    ++other.saved;
    if (!isa<RankedTensorType>(type))
      continue;
    auto name =
        backward.getArgAttrOfType<StringAttr>(arg, joint::JointDialect::kName);
    auto found = name ? values.find(name.getValue()) : values.end();
    if (found == values.end()) {
      other.plainBytes += staticBytes(type);
      other.savedBytes += staticBytes(type);
      continue;
    }
    uint32_t value = found->second, base = ours.storage[value];
    other.plainBytes += ours.bytes[value];
    if (view.isArg(value))
      other.argumentBytes += ours.bytes[value];
    if (!seen[base])
      other.savedBytes += ours.bytes[base];
    seen[base] = 1;
  }
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two names of one tensor and two tensors of one storage look alike in the
// weights: equal views. torch.export tells them apart by what reads them: names
// of one Parameter have one placeholder that is read, the others nothing reads.
// Where two parameters of one storage are both read, autograd keeps a gradient
// of each, so they are not tied; but an update of one changes the other, which
// the arguments then say.

#include "SharedStorage.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

struct Reader {
  const WeightTensor *tensor;
  bool isRead, isParameter;
};

} // namespace

/// First and last element in the storage.
static std::pair<int64_t, int64_t> rangeOf(const WeightTensor &tensor) {
  int64_t last = tensor.offset;
  for (auto [size, stride] : llvm::zip_equal(tensor.sizes, tensor.strides))
    last += (size - 1) * stride;
  return {tensor.offset, last};
}

static bool overlap(const WeightTensor &a, const WeightTensor &b) {
  if (a.getNumElements() == 0 || b.getNumElements() == 0)
    return false;
  auto [aFirst, aLast] = rangeOf(a);
  auto [bFirst, bLast] = rangeOf(b);
  return aFirst <= bLast && bFirst <= aLast;
}

/// Two gradients, or none of the second.
static bool areApart(const Reader &a, const Reader &b) {
  return (a.isParameter || b.isParameter) && a.isRead && b.isRead;
}

pt2::SharedStorage pt2::findShared(ArrayRef<RoleAttr> roles, Block &block,
                                   const WeightFile *weights) {
  SharedStorage names;
  names.tied.resize(roles.size());
  names.shares.resize(roles.size());
  llvm::DenseMap<unsigned, SmallVector<Reader, 1>> byPayload;
  for (auto [i, role] : llvm::enumerate(roles)) {
    const WeightTensor *tensor = weights && role.getName()
                                     ? weights->find(role.getName().getValue())
                                     : nullptr;
    // Without data, all tensors of a type are in one empty file.
    if (!tensor || !tensor->hasData())
      continue;
    Reader reader = {tensor, !block.getArgument(i).use_empty(),
                     role.getKind() == RoleKind::Param};
    auto &earlier = byPayload[tensor->payload];
    for (const Reader &other : earlier) {
      if (areApart(other, reader)) {
        if (names.shares[i].empty() && overlap(*other.tensor, *tensor))
          names.shares[i] = other.tensor->name;
      } else if (names.tied[i].empty() && other.tensor->isSameView(*tensor)) {
        names.tied[i] = other.tensor->name;
      }
    }
    earlier.push_back(reader);
  }
  return names;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of named tensors over memory that others laid out: files mapped into
// memory, and entries of archives that had to be unpacked.

#include "cutback/Import/Weights.h"

using namespace cutback;

int64_t WeightTensor::getNumElements() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

bool WeightTensor::isSameView(const WeightTensor &other) const {
  return payload == other.payload && elementType == other.elementType &&
         offset == other.offset && sizes == other.sizes &&
         strides == other.strides;
}

const WeightTensor *WeightFile::find(llvm::StringRef name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &tensors[it->second];
}

bool WeightFile::add(WeightTensor tensor) {
  if (!byName.try_emplace(tensor.name, tensors.size()).second)
    return false;
  tensors.push_back(std::move(tensor));
  return true;
}

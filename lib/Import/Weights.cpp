// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of named tensors over memory that others laid out: files mapped into
// memory, and entries of archives. Reading a graph looks at no byte of them; a
// packed entry is unpacked when a step needs it, and only if its tensors use
// it: a few bytes of a file can stand for gigabytes of zeros.

#include "cutback/Import/Weights.h"

using namespace cutback;

std::string WeightStorage::unpack() {
  // Views of a larger storage are usual, a packed storage is not: PyTorch packs
  // nothing.
  constexpr uint64_t kMostUnused = uint64_t(64) << 20;
  if (!unpackAll)
    return "";
  if (declared - std::min(declared, used) > kMostUnused)
    return place + ": a packed storage of " + std::to_string(declared) +
           " bytes, of which tensors use " + std::to_string(used);
  std::string error = unpackAll(unpacked);
  if (!error.empty())
    return place + ": " + error;
  unpackAll = nullptr;
  bytes = {unpacked.data(), unpacked.size()};
  return "";
}

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
  byPayload[tensor.payload].push_back(tensors.size());
  tensors.push_back(std::move(tensor));
  return true;
}

std::vector<std::string> WeightFile::findTied(llvm::StringRef name) const {
  std::vector<std::string> others;
  const WeightTensor *own = find(name);
  if (!own || !own->hasData())
    return others;
  for (size_t i : byPayload.lookup(own->payload))
    if (const WeightTensor &other = tensors[i];
        &other != own && other.hasData() && other.isSameView(*own))
      others.push_back(other.name);
  return others;
}

std::string WeightFile::unpack() {
  for (const WeightTensor &tensor : tensors)
    if (tensor.storage)
      if (std::string error = tensor.storage->unpack(); !error.empty())
        return error;
  return "";
}

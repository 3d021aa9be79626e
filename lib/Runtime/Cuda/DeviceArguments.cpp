// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An argument has memory of the step, behind the arena; tied ones have the
// same. A run copies there what its segments take, and back what they have
// written.
//
// One that is kept is copied once. A training keeps its state so: what goes
// over the bus in a step is a batch and some numbers, however large the model
// is.

#include "cutback/Runtime/Cuda/DeviceArguments.h"

using namespace cutback;
using namespace cutback::cuda;

DeviceArguments::DeviceArguments(const Artifact &artifact, const Driver &driver)
    : artifact(artifact), driver(driver), addresses(artifact.arguments.size()),
      isKept(artifact.arguments.size()) {}

int64_t DeviceArguments::layOut(int64_t at, int64_t alignment) {
  for (size_t i = 0; i < addresses.size(); ++i) {
    bool isTied = rootOf(i) != i;
    addresses[i] = isTied ? addresses[rootOf(i)] : static_cast<Address>(at);
    if (!isTied)
      at += (bytesOf(artifact.arguments[i]) + alignment - 1) / alignment *
            alignment;
  }
  return at;
}

void DeviceArguments::place(Address base) {
  for (Address &address : addresses)
    address += base;
}

std::string DeviceArguments::keep(size_t argument, const char *from,
                                  Handle stream) {
  isKept[rootOf(argument)] = true;
  int64_t bytes = bytesOf(artifact.arguments[argument]);
  if (bytes == 0)
    return "";
  std::string error = driver.explain(
      driver.cuMemcpyHtoDAsync_v2(addresses[argument], from, bytes, stream),
      "cuMemcpyHtoDAsync_v2");
  return error.empty() ? driver.explain(driver.cuStreamSynchronize(stream),
                                        "cuStreamSynchronize")
                       : error;
}

std::string DeviceArguments::read(size_t argument, int64_t from, int64_t bytes,
                                  char *to, Handle stream) const {
  if (bytes == 0)
    return "";
  std::string error =
      driver.explain(driver.cuMemcpyDtoHAsync_v2(to, addresses[argument] + from,
                                                 bytes, stream),
                     "cuMemcpyDtoHAsync_v2");
  return error.empty() ? driver.explain(driver.cuStreamSynchronize(stream),
                                        "cuStreamSynchronize")
                       : error;
}

void DeviceArguments::begin(const std::vector<char *> &memory,
                            std::vector<int> firstTaken) {
  given = memory;
  first = std::move(firstTaken);
}

std::vector<TransferIn> DeviceArguments::copiesFor(int place) const {
  std::vector<TransferIn> copies;
  for (size_t i = 0; i < given.size(); ++i)
    if (first[i] == place && isCopied(i))
      copies.push_back(
          {addresses[i], given[i], bytesOf(artifact.arguments[i])});
  return copies;
}

std::string DeviceArguments::bringBack(bool hasUpdate, Handle stream) const {
  std::string error;
  for (size_t i = 0; i < given.size() && error.empty(); ++i) {
    const ArtifactArgument &argument = artifact.arguments[i];
    bool isChanged = argument.isWritten || (hasUpdate && argument.isUpdated);
    if (isChanged && isCopied(i))
      error =
          driver.explain(driver.cuMemcpyDtoHAsync_v2(given[i], addresses[i],
                                                     bytesOf(argument), stream),
                         "cuMemcpyDtoHAsync_v2");
  }
  return error;
}

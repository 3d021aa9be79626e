// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a caller with memory of this machine an argument has memory of the step,
// behind the arena; tied ones have the same. A run copies there what its
// segments take, and back what they have written. One that is kept is copied
// once: a training keeps its state so, and what goes over the bus in a step is
// a batch and some numbers, however large the model is.
//
// Of a caller with memory of the device, parameters, buffers and optimizer
// state are taken where they are: they would be there twice, and do not move. A
// recording has their addresses, and recording costs milliseconds; so batches,
// which lie elsewhere in each step, are copied to memory of the step, at the
// speed of the device.

#include "cutback/Runtime/Cuda/DeviceArguments.h"

#include "cutback/Runtime/Cuda/CheckedCalls.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::cuda;

/// Whether an argument is the same memory in each step.
static bool isState(const ArtifactArgument &argument) {
  for (const char *kind : {"param.", "buffer.", "const."})
    if (argument.name.rfind(kind, 0) == 0)
      return true;
  return argument.isUpdated;
}

DeviceArguments::DeviceArguments(const Artifact &artifact, const Driver &driver,
                                 bool areThere)
    : artifact(artifact), driver(driver), areThere(areThere),
      isTaken(artifact.arguments.size()), addresses(artifact.arguments.size()),
      isKept(artifact.arguments.size()), used(artifact.segments.size()) {
  for (size_t i = 0; i < isTaken.size(); ++i)
    isTaken[i] = areThere && isState(artifact.arguments[rootOf(i)]);
  for (size_t i = 0; i < used.size(); ++i) {
    for (const ArtifactLaunch &launch : artifact.segments[i].launches)
      for (const ArtifactOperand &operand : launch.operands)
        if (operand.memory.kind == ArtifactMemory::Argument &&
            isTaken[operand.memory.at])
          used[i].push_back(operand.memory.at);
    std::sort(used[i].begin(), used[i].end());
    used[i].erase(std::unique(used[i].begin(), used[i].end()), used[i].end());
  }
}

int64_t DeviceArguments::layOut(int64_t at, int64_t alignment) {
  for (size_t i = 0; i < addresses.size(); ++i) {
    bool isTied = rootOf(i) != i;
    addresses[i] = isTied ? addresses[rootOf(i)] : static_cast<Address>(at);
    if (!isTied && !isTaken[i])
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
  std::string error;
  if (bytes == 0)
    return error;
  CheckedCalls calls(driver, error);
  calls.run(driver.cuMemcpyHtoDAsync_v2, addresses[argument], from, bytes,
            stream);
  calls.run(driver.cuStreamSynchronize, stream);
  return error;
}

std::string DeviceArguments::read(size_t argument, int64_t from, int64_t bytes,
                                  char *to, Handle stream) const {
  std::string error;
  if (bytes == 0)
    return error;
  CheckedCalls calls(driver, error);
  calls.run(driver.cuMemcpyDtoHAsync_v2, to, addresses[argument] + from, bytes,
            stream);
  calls.run(driver.cuStreamSynchronize, stream);
  return error;
}

void DeviceArguments::begin(const std::vector<char *> &memory,
                            std::vector<int> firstTaken) {
  given = memory;
  first = std::move(firstTaken);
  for (size_t i = 0; i < given.size(); ++i)
    if (char *own = given[rootOf(i)] ? given[rootOf(i)] : given[i];
        own && isTaken[i])
      addresses[i] = reinterpret_cast<Address>(own);
}

std::vector<Address> DeviceArguments::usedBy(size_t segment) const {
  std::vector<Address> all;
  for (size_t argument : used[segment])
    all.push_back(addresses[argument]);
  return all;
}

std::vector<TransferIn> DeviceArguments::copiesFor(int place) const {
  std::vector<TransferIn> copies;
  for (size_t i = 0; i < given.size(); ++i)
    if (first[i] == place && isCopied(i))
      copies.push_back(
          {addresses[i], given[i], bytesOf(artifact.arguments[i])});
  return copies;
}

std::string DeviceArguments::bringAcross(const std::vector<TransferIn> &copies,
                                         Handle stream) const {
  std::string error;
  CheckedCalls calls(driver, error);
  for (const TransferIn &copy : copies)
    calls.run(driver.cuMemcpyDtoDAsync_v2, copy.to,
              reinterpret_cast<Address>(copy.from), copy.bytes, stream);
  return error;
}

std::string DeviceArguments::bringBack(const std::vector<size_t> &segments,
                                       Handle stream) const {
  std::vector<bool> updated(given.size());
  for (size_t segment : segments)
    for (const ArtifactLaunch &launch : artifact.segments[segment].launches)
      for (const ArtifactOperand &operand : launch.operands)
        if (operand.isWritten &&
            operand.memory.kind == ArtifactMemory::Argument)
          updated[operand.memory.at] = true;
  std::string error;
  CheckedCalls calls(driver, error);
  for (size_t i = 0; i < given.size(); ++i) {
    const ArtifactArgument &argument = artifact.arguments[i];
    bool isChanged = argument.isWritten || (argument.isUpdated && updated[i]);
    if (!isChanged || !isCopied(i))
      continue;
    int64_t bytes = bytesOf(argument);
    if (areThere)
      calls.run(driver.cuMemcpyDtoDAsync_v2,
                reinterpret_cast<Address>(given[i]), addresses[i], bytes,
                stream);
    else
      calls.run(driver.cuMemcpyDtoHAsync_v2, given[i], addresses[i], bytes,
                stream);
  }
  return error;
}

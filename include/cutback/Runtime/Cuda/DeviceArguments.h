// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the arguments of a step lie on a device.
#ifndef CUTBACK_RUNTIME_CUDA_DEVICEARGUMENTS_H
#define CUTBACK_RUNTIME_CUDA_DEVICEARGUMENTS_H

#include "cutback/Runtime/Cuda/Transfers.h"

namespace cutback::cuda {

/// Places of arguments, and what a run copies to them and back. Functions that
/// return a string return an empty one, or which call failed.
class DeviceArguments {
public:
  /// `areThere`: what runs are given are addresses of the device. `artifact`
  /// and `driver` must outlive it.
  DeviceArguments(const Artifact &artifact, const Driver &driver,
                  bool areThere);

  /// Lays out memory of the step from byte `at` of its allocation on, each
  /// argument from a multiple of `alignment` bytes; returns the end.
  int64_t layOut(int64_t at, int64_t alignment);
  /// Where the allocation is.
  void place(Address base);
  Address operator[](size_t argument) const { return addresses[argument]; }

  /// From now on runs neither bring nor fetch the argument, nor one of the same
  /// memory: it is what is at `from`, until a run changes it. Waits.
  std::string keep(size_t argument, const char *from, Handle stream);
  bool keeps(size_t argument) const { return isKept[rootOf(argument)]; }
  /// Copies what it is now, `bytes` from byte `from` on, and waits.
  std::string read(size_t argument, int64_t from, int64_t bytes, char *to,
                   Handle stream) const;

  /// A run: memory of the caller, one an argument, and by argument the place of
  /// the run's first segment that takes it (Transfers::findFirst).
  void begin(const std::vector<char *> &memory, std::vector<int> firstTaken);
  /// Where its elements are behind a run: what no launch takes stays with the
  /// caller.
  Address sourceOf(size_t argument) const {
    return isTaken[argument] || isCopied(argument)
               ? addresses[argument]
               : reinterpret_cast<Address>(given[argument]);
  }
  /// Addresses of the caller that launches of a segment have, in this run.
  std::vector<Address> usedBy(size_t segment) const;
  /// What a segment is the first to take.
  std::vector<TransferIn> copiesFor(int place) const;
  /// Copies on the device. Does not wait.
  std::string bringAcross(const std::vector<TransferIn> &copies,
                          Handle stream) const;
  /// After these segments: what they have written, to the caller. Does not
  /// wait.
  std::string bringBack(const std::vector<size_t> &segments,
                        Handle stream) const;

private:
  size_t rootOf(size_t argument) const {
    int64_t tied = artifact.arguments[argument].tied;
    return tied < 0 ? argument : static_cast<size_t>(tied);
  }
  /// Whether the run copies it.
  bool isCopied(size_t argument) const {
    return given[argument] && first[argument] >= 0 && !keeps(argument) &&
           !isTaken[argument] && bytesOf(artifact.arguments[argument]) > 0;
  }

  const Artifact &artifact;
  const Driver &driver;
  bool areThere;
  std::vector<bool> isTaken;             ///< where the caller has it
  std::vector<Address> addresses;        ///< by argument
  std::vector<bool> isKept;              ///< of tied ones the first
  std::vector<std::vector<size_t>> used; ///< by segment: those taken
  std::vector<char *> given;             ///< of the run
  std::vector<int> first;                ///< of the run
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_DEVICEARGUMENTS_H

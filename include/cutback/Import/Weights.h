// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters, buffers and constants that a file brings along.
#ifndef CUTBACK_IMPORT_WEIGHTS_H
#define CUTBACK_IMPORT_WEIGHTS_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace cutback {

/// One tensor: a view of a storage. Numbers of `sizes`, `strides` and `offset`
/// are elements. It lies inside its storage wherever that has data.
struct WeightTensor {
  std::string name;       ///< "fc1.weight"
  mlir::Type elementType; ///< as a tensor of the graph has it
  llvm::SmallVector<int64_t> sizes, strides;
  int64_t offset = 0;
  /// The whole storage, little-endian. Empty: there is no data, as in a program
  /// that was exported without weights (or the tensor has no elements).
  llvm::ArrayRef<char> storage;
  /// Equal numbers share a storage.
  unsigned payload = 0;
  bool isConstant = false; ///< among the constants, not the weights

  int64_t getNumElements() const;
  bool hasData() const { return !storage.empty(); }
  /// The same elements of the same storage: a tied parameter.
  bool isSameView(const WeightTensor &other) const;
};

/// The tensors of one model. Owns what they refer to, but the memory of a
/// buffer that its reader did not own.
class WeightFile {
public:
  /// The tensor called `name`, or null.
  const WeightTensor *find(llvm::StringRef name) const;
  llvm::ArrayRef<WeightTensor> all() const { return tensors; }

  /// Adds a tensor; false if there is one of this name.
  bool add(WeightTensor tensor);
  /// Keeps memory as long as this object lives.
  void keep(std::shared_ptr<llvm::MemoryBuffer> buffer) {
    buffers.push_back(std::move(buffer));
  }
  void keep(std::unique_ptr<std::string> bytes) {
    unpacked.push_back(std::move(bytes));
  }

  /// The input has a list of weights, and one of constants (empty or not).
  bool listsWeights = false, listsConstants = false;

private:
  std::vector<WeightTensor> tensors;
  llvm::StringMap<size_t> byName;
  std::vector<std::shared_ptr<llvm::MemoryBuffer>> buffers;
  std::vector<std::unique_ptr<std::string>> unpacked;
};

} // namespace cutback

#endif // CUTBACK_IMPORT_WEIGHTS_H

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

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cutback {

/// The bytes of a storage, little-endian: where they lie in a file, or packed
/// there, and then unpacked when a step needs them. Reading a graph never does.
class WeightStorage {
public:
  /// Unpacks into `content`; returns what is wrong, or an empty string.
  using UnpackFn = std::function<std::string(std::string &content)>;

  explicit WeightStorage(llvm::ArrayRef<char> content)
      : bytes(content), declared(content.size()) {}
  /// Packed: `unpack` gives `size` bytes. `place` is for messages.
  WeightStorage(std::string place, uint64_t size, UnpackFn unpack)
      : declared(size), place(std::move(place)), unpackAll(std::move(unpack)) {}

  /// Bytes, packed or not.
  uint64_t size() const { return declared; }
  /// Empty while it is packed.
  llvm::ArrayRef<char> content() const { return bytes; }
  /// A tensor reaches up to byte `end`.
  void noteUse(uint64_t end) { used = std::max(used, end); }
  /// Makes sure that there is a content. A packed storage that is far larger
  /// than what its tensors use is refused. Returns what is wrong and where, or
  /// an empty string.
  std::string unpack();

private:
  llvm::ArrayRef<char> bytes;
  uint64_t declared, used = 0;
  std::string place, unpacked;
  UnpackFn unpackAll; ///< null if there is nothing to unpack
};

/// One tensor: a view of a storage. Numbers of `sizes`, `strides` and `offset`
/// are elements. It lies inside its storage wherever that has data.
struct WeightTensor {
  std::string name;       ///< "fc1.weight"
  mlir::Type elementType; ///< as a tensor of the graph has it
  llvm::SmallVector<int64_t> sizes, strides;
  int64_t offset = 0;
  /// The whole storage. Null: there is no data, as in a program that was
  /// exported without weights (or the tensor has no elements).
  std::shared_ptr<WeightStorage> storage;
  /// Equal numbers share a storage.
  unsigned payload = 0;
  bool isConstant = false; ///< among the constants, not the weights

  int64_t getNumElements() const;
  bool hasData() const { return storage != nullptr; }
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
  /// Other names of the tensor called `name`, which is tied; none if there is
  /// no such tensor, or no data, as all are in one empty file then.
  std::vector<std::string> findTied(llvm::StringRef name) const;

  /// Adds a tensor; false if there is one of this name.
  bool add(WeightTensor tensor);
  /// Unpacks what is packed. Returns what is wrong and where, or an empty
  /// string.
  std::string unpack();
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
  llvm::DenseMap<unsigned, llvm::SmallVector<size_t, 1>> byPayload;
  std::vector<std::shared_ptr<llvm::MemoryBuffer>> buffers;
  std::vector<std::unique_ptr<std::string>> unpacked;
};

} // namespace cutback

#endif // CUTBACK_IMPORT_WEIGHTS_H

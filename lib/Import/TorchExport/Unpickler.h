// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The little of pickle that a file of tensors needs.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_UNPICKLER_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_UNPICKLER_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace cutback::pt2 {

/// Where and why a pickle is refused.
struct PickleError {
  size_t offset = 0;
  std::string message;
};

/// A view of a storage, as `_rebuild_tensor_v2` describes it.
struct PickledTensor {
  llvm::StringRef storageType; ///< "FloatStorage"
  llvm::StringRef storageKey;  ///< file of the storage
  int64_t offset = 0;
  llvm::SmallVector<int64_t> sizes, strides;
};

/// A machine for the opcodes that torch.save writes for a dictionary of
/// tensors. It makes tuples, lists, dictionaries and descriptions of tensors;
/// it calls nothing and knows no class. Names that are not listed are refused
/// when they are read. Time and memory are linear in the length of the text.
class Unpickler {
public:
  explicit Unpickler(llvm::StringRef text) : text(text) {}

  /// Reads the whole text. Nothing on success.
  std::optional<PickleError> run();

  /// The tensors of the dictionary that was read, by name, in its order.
  /// Entries of other kinds are left out.
  std::vector<std::pair<llvm::StringRef, PickledTensor>> tensors;

private:
  enum class Kind : uint8_t {
    None,
    Number,
    Text,
    List, ///< and tuples
    Dict, ///< keys and values in turn
    Name, ///< of something in Python: "torch._utils._rebuild_tensor_v2"
    Storage,
    Tensor,
    Mark
  };
  struct Node {
    Kind kind = Kind::None;
    int64_t number = 0; ///< of a tensor or storage, its place in a table
    llvm::StringRef text;
    std::vector<uint32_t> items;
  };
  using Error = std::optional<PickleError>;

  Error fail(std::string message) const {
    return PickleError{at, std::move(message)};
  }
  Error step(unsigned char opcode, bool &stops);
  Error stepContainer(unsigned char opcode);
  Error stepNumber(unsigned char opcode);
  Error stepMemo(unsigned char opcode);
  Error readName();
  Error reduce();
  Error rebuildTensor(uint32_t argsId);
  Error persistent();
  Error store(uint64_t slot);
  Error recall(uint64_t slot);
  Error addItems(Kind kind, size_t first);
  Error finish();

  /// `bytes` bytes of the text; false if there are not as many.
  bool take(size_t bytes, llvm::StringRef &result);
  bool number(unsigned bytes, uint64_t &result);
  uint32_t push(Node node);
  bool pop(uint32_t &id);
  /// The place behind the last mark, which is taken off.
  bool popMark(size_t &first);
  bool integers(uint32_t id, llvm::SmallVectorImpl<int64_t> &result) const;

  llvm::StringRef text;
  size_t at = 0;
  std::vector<Node> nodes;
  std::vector<uint32_t> stack;
  llvm::DenseMap<uint64_t, uint32_t> memo;
  std::vector<PickledTensor> table;
};

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_UNPICKLER_H

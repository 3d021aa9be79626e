// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors in safetensors files: a length, a JSON header with names, types,
// sizes and places, then the bytes.
#ifndef CUTBACK_INTERPRETER_TENSORFILE_H
#define CUTBACK_INTERPRETER_TENSORFILE_H

#include "cutback/Interpreter/Tensor.h"

#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cutback::interpreter {

/// A file of named tensors, mapped: a tensor is a read-only view of the file
/// and keeps it alive.
class TensorFile {
public:
  /// Opens the safetensors file `path`. Returns an empty string, or what is
  /// wrong with it: "PATH: …" without the next step.
  static std::string open(const std::string &path, TensorFile &file);
  /// The same for bytes in memory, called `path` in messages.
  static std::string read(const std::shared_ptr<llvm::MemoryBuffer> &buffer,
                          const std::string &path, TensorFile &file);

  const Tensor *find(llvm::StringRef name) const;
  /// By name.
  const std::map<std::string, Tensor, std::less<>> &tensors() const {
    return byName;
  }

private:
  std::map<std::string, Tensor, std::less<>> byName;
};

using NamedTensor = std::pair<std::string, Tensor>;

/// The bytes of a safetensors file with these tensors, which have distinct
/// names. Equal lists give equal bytes.
std::string encodeTensors(llvm::ArrayRef<NamedTensor> tensors);

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_TENSORFILE_H

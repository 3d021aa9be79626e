// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of safetensors files by name, and such a file of tensors.
#ifndef CUTBACK_RUNTIME_TENSORFILES_H
#define CUTBACK_RUNTIME_TENSORFILES_H

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/MappedFile.h"
#include "cutback/Support/TensorHeader.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cutback {

/// The safetensors word of a type: "F32" of "f32".
std::string fileTypeOf(std::string_view dtype);
/// The type of such a word; empty for one that no type has.
std::string typeOfFileType(std::string_view word);

class TensorFiles {
public:
  /// A tensor of a file: elements in row-major order.
  struct Tensor {
    TensorEntry entry;
    const char *bytes;
  };
  /// What is wrong with the bytes of a file, or empty.
  using Check = std::function<std::string(std::string_view)>;

  TensorFiles() = default;
  TensorFiles(const TensorFiles &) = delete;
  TensorFiles &operator=(const TensorFiles &) = delete;

  /// Maps a file, for as long as this lives: memory of the process alone, which
  /// may be written. A name of an earlier file stays that file's. Returns an
  /// empty string, or "PATH: ...".
  std::string add(const std::string &path, const Check &check = nullptr);

  /// Null if there is none.
  const Tensor *find(std::string_view name) const;
  /// In the order of their names.
  const std::map<std::string, Tensor, std::less<>> &all() const {
    return byName;
  }

private:
  std::map<std::string, Tensor, std::less<>> byName;
  std::vector<MappedFile> mapped;
};

/// The bytes of a safetensors file with these tensors. Sorts them by the size
/// of an element, so that all data is aligned.
std::string encodeTensorFile(
    std::vector<std::pair<ArtifactTensor, std::string_view>> &tensors);

} // namespace cutback

#endif // CUTBACK_RUNTIME_TENSORFILES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of a safetensors file: which tensors it has, and where.
#ifndef CUTBACK_SUPPORT_TENSORHEADER_H
#define CUTBACK_SUPPORT_TENSORHEADER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cutback {

/// A tensor of a file. `dtype` is the format's word ("F32"); its bytes are
/// `begin` to `begin + bytes` of the file, elements in row-major order.
struct TensorEntry {
  std::string name, dtype;
  std::vector<int64_t> sizes;
  uint64_t begin = 0, bytes = 0;
};

/// Bytes of an element of type "F32"; 0 for a word that the format has not.
uint64_t bytesOfTensorType(std::string_view dtype);

/// Reads the header of `file`, all of whose bytes are given. Returns an empty
/// string, or what is wrong with it. What is listed lies within the file, has
/// as many bytes as its sizes need, and a name of its own. Linear in the
/// header.
std::string readTensorHeader(std::string_view file,
                             std::vector<TensorEntry> &tensors);

/// What a file with `tensors` begins with; their bytes follow in that order.
/// Sets `begin` and `bytes` of each. For aligned data, list wide types first.
std::string writeTensorHeader(std::vector<TensorEntry> &tensors);

} // namespace cutback

#endif // CUTBACK_SUPPORT_TENSORHEADER_H

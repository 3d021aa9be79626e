// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches of a flat file of token ids: text as the usual tools write it, one
// unsigned integer a token, without a header.
#ifndef CUTBACK_RUNTIME_TOKENS_H
#define CUTBACK_RUNTIME_TOKENS_H

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/MappedFile.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cutback {

/// An input of integers that takes tokens: rows along its last dimension.
struct TokenInput : ArtifactTensor {
  int64_t ahead = 0; ///< its row begins so many tokens further on
};

/// Windows of a file, one after the other without a gap: a row of a batch is a
/// window, a batch the next windows, from the first again after the last.
class TokenBatches {
public:
  enum class Width { U16 = 2, U32 = 4 };

  /// Whether an input of this type takes tokens: i64 and i32.
  static bool isTokenType(std::string_view dtype);

  /// Maps `path`. Inputs must have equal sizes. Returns an empty string, or
  /// what is wrong.
  std::string open(const std::string &path, Width width, bool isShuffled,
                   std::vector<TokenInput> inputs);

  int64_t numWindows() const { return windows; }
  /// That all windows fill without one twice; at least one.
  int64_t numBatches() const { return windows / rows; }
  const std::vector<TokenInput> &inputs() const { return taken; }
  /// Null for a name that takes no tokens.
  const TokenInput *find(std::string_view name) const;
  /// The bytes of the file.
  std::string_view bytes() const { return file.bytes(); }

  /// The elements of `input`, one of inputs(), in batch number `batch`, from 0
  /// on, to `to`, which holds bytesOf() of it. Shuffled: each pass over the
  /// file has an order of its own, which depends on `seed` and its number
  /// alone.
  void read(const TokenInput &input, int64_t batch, int64_t seed, char *to);

private:
  int64_t tokenAt(int64_t number) const;
  int64_t windowAt(int64_t number, int64_t seed);

  MappedFile file;
  Width width = Width::U16;
  bool shuffled = false;
  std::vector<TokenInput> taken;
  int64_t length = 0, rows = 0, windows = 0;
  /// The order of the pass that was asked for last.
  std::vector<int64_t> order;
  std::pair<int64_t, int64_t> orderOf = {-1, 0}; ///< pass and seed
};

} // namespace cutback

#endif // CUTBACK_RUNTIME_TOKENS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows of a token file as batches. Everything is a function of file, seed
// and number of the batch, so that a training that goes on sees the batches of
// one that was never interrupted. A pass is shuffled by Fisher and Yates with
// numbers of our own making: those of the standard library's distributions
// differ between libraries.
//
// The file is mapped; an order takes eight bytes a window.

#include "cutback/Runtime/Tokens.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace cutback;

/// "tensor<2x3xi64>"
static std::string textOf(const ArtifactTensor &tensor) {
  std::string text = "tensor<";
  for (int64_t size : tensor.sizes)
    text += std::to_string(size) + "x";
  return text + tensor.dtype + ">";
}

bool TokenBatches::isTokenType(std::string_view dtype) {
  return dtype == "i64" || dtype == "i32";
}

/// A number of SplitMix64, whose sequence begins at `state`.
static uint64_t nextNumber(uint64_t &state) {
  uint64_t value = state += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

std::string TokenBatches::open(const std::string &path, Width width,
                               bool isShuffled,
                               std::vector<TokenInput> inputs) {
  this->width = width;
  shuffled = isShuffled;
  taken = std::move(inputs);
  if (std::string what = file.open(path); !what.empty())
    return "cannot read '" + path + "': " + what;
  auto bytes = static_cast<int64_t>(file.bytes().size());
  auto item = static_cast<int64_t>(width);
  if (bytes % item != 0)
    return "'" + path + "' has " + std::to_string(bytes) +
           " bytes, which is no number of tokens of " + std::to_string(item) +
           " bytes";
  const TokenInput &first = taken.front();
  int64_t most = 0;
  for (const TokenInput &input : taken) {
    if (input.sizes.empty() || input.sizes != first.sizes)
      return "'" + input.name + "' is " + textOf(input) +
             (input.sizes.empty()
                  ? ", which has no dimension of tokens"
                  : ", and '" + first.name + "' " + textOf(first) +
                        ": inputs of tokens have equal sizes");
    most = std::max(most, input.ahead);
  }
  length = first.sizes.back();
  rows = 1;
  for (size_t dim = 0; dim + 1 < first.sizes.size(); ++dim)
    rows *= first.sizes[dim];
  if (length < 1 || rows < 1)
    return "'" + first.name + "' is " + textOf(first) +
           ": no tokens fit into it";
  windows = std::max<int64_t>(0, (bytes / item - most) / length);
  if (windows < rows)
    return "'" + path + "' has " + std::to_string(bytes / item) +
           " tokens: too few for a batch of " + std::to_string(rows) +
           " rows of " + std::to_string(length) +
           (most ? " and " + std::to_string(most) + " after them" : "");
  return "";
}

int64_t TokenBatches::tokenAt(int64_t number) const {
  const auto *at =
      reinterpret_cast<const unsigned char *>(file.bytes().data()) +
      number * static_cast<int64_t>(width);
  int64_t token = 0; // the least byte is first
  for (int64_t i = static_cast<int64_t>(width) - 1; i >= 0; --i)
    token = token * 256 + at[i];
  return token;
}

int64_t TokenBatches::windowAt(int64_t number, int64_t seed) {
  int64_t pass = number / windows, place = number % windows;
  if (!shuffled)
    return place;
  if (orderOf != std::pair(pass, seed)) {
    orderOf = {pass, seed};
    order.resize(windows);
    std::iota(order.begin(), order.end(), 0);
    auto state = static_cast<uint64_t>(seed);
    state = nextNumber(state) + static_cast<uint64_t>(pass);
    for (int64_t i = windows - 1; i > 0; --i)
      std::swap(order[i],
                order[nextNumber(state) % static_cast<uint64_t>(i + 1)]);
  }
  return order[place];
}

const TokenInput *TokenBatches::find(std::string_view name) const {
  for (const TokenInput &input : taken)
    if (input.name == name)
      return &input;
  return nullptr;
}

void TokenBatches::read(const TokenInput &input, int64_t batch, int64_t seed,
                        char *to) {
  bool isWide = input.dtype == "i64";
  for (int64_t row = 0; row < rows; ++row) {
    int64_t begin = windowAt(batch * rows + row, seed) * length + input.ahead;
    for (int64_t i = 0; i < length; ++i) {
      int64_t token = tokenAt(begin + i);
      auto narrow = static_cast<int32_t>(token);
      if (isWide)
        std::memcpy(to, &token, sizeof token);
      else
        std::memcpy(to, &narrow, sizeof narrow);
      to += isWide ? sizeof token : sizeof narrow;
    }
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows of a token file as batches. Everything is a function of file, seed
// and number of the batch, so that a training that goes on sees the batches of
// one that was never interrupted. A pass is shuffled by Fisher and Yates with
// numbers of our own making: those of the standard library's distributions
// differ between libraries.
//
// The file is mapped; an order takes eight bytes a window.

#include "cutback/Training/Tokens.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

#include <numeric>

using namespace cutback;
using namespace cutback::interpreter;

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
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return "cannot read '" + path + "': " + buffer.getError().message();
  file = std::move(*buffer);
  auto bytes = static_cast<int64_t>(file->getBufferSize());
  auto item = static_cast<int64_t>(width);
  if (bytes % item != 0)
    return "'" + path + "' has " + std::to_string(bytes) +
           " bytes, which is no number of tokens of " + std::to_string(item) +
           " bytes";
  const TokenInput &first = taken.front();
  int64_t most = 0;
  for (const TokenInput &input : taken) {
    if (input.sizes.empty() || input.sizes != first.sizes)
      return "'" + input.name + "' is " + textOf(input.type, input.sizes) +
             (input.sizes.empty() ? ", which has no dimension of tokens"
                                  : ", and '" + first.name + "' " +
                                        textOf(first.type, first.sizes) +
                                        ": inputs of tokens have equal sizes");
    most = std::max(most, input.ahead);
  }
  length = first.sizes.back();
  rows = 1;
  for (int64_t size : llvm::ArrayRef(first.sizes).drop_back())
    rows *= size;
  if (length < 1 || rows < 1)
    return "'" + first.name + "' is " + textOf(first.type, first.sizes) +
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
  const char *at =
      file->getBufferStart() + number * static_cast<int64_t>(width);
  return width == Width::U16 ? llvm::support::endian::read16le(at)
                             : llvm::support::endian::read32le(at);
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

std::optional<Tensor> TokenBatches::find(llvm::StringRef name, int64_t batch,
                                         int64_t seed) {
  auto input = llvm::find_if(
      taken, [&](const TokenInput &one) { return one.name == name; });
  if (input == taken.end())
    return std::nullopt;
  Tensor tensor = Tensor::zeros(input->type, input->sizes);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t begin = windowAt(batch * rows + row, seed) * length + input->ahead;
    for (int64_t i = 0; i < length; ++i)
      tensor.setInt(row * length + i, tokenAt(begin + i));
  }
  return tensor;
}

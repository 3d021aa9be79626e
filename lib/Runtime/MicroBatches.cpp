// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shares of micro-batches in the loss of their step.
//
// The loss of a micro-batch is a mean over its rows, or over its valid tokens.
// The mean over all micro-batches weighs the first kind equally; the second by
// tokens, since the mean of means is none of all tokens where counts differ.
// Shares are quotients in double precision: times a loss seed in a smaller type
// they round once, to what PyTorch has for `loss / N` and `loss * (count /
// total)`.

#include "cutback/Runtime/MicroBatches.h"

#include "cutback/Support/CommandLine.h"

#include <cstring>
#include <numeric>

using namespace cutback;

std::optional<ValidTokens> ValidTokens::parse(std::string_view text) {
  ValidTokens made;
  std::string_view place = text.substr(0, text.find(':'));
  bool isWrong = false;
  auto read = [&](std::string_view number, int64_t &into) {
    auto found = parseInteger(number);
    isWrong |= !found;
    into = found.value_or(0);
  };
  if (place.size() < text.size())
    read(text.substr(place.size() + 1), made.ignored);
  made.input = place.substr(0, place.find('+'));
  if (made.input.size() < place.size())
    read(place.substr(made.input.size() + 1), made.first);
  isWrong |= made.input.empty() || made.first < 0;
  return isWrong ? std::nullopt : std::optional(made);
}

template <typename T>
static int64_t countOf(const ValidTokens &valid, const char *elements,
                       int64_t count, int64_t length) {
  int64_t found = 0;
  for (int64_t e = 0; e < count; ++e) {
    T value;
    std::memcpy(&value, elements + e * sizeof value, sizeof value);
    found += e % length >= valid.first &&
             static_cast<int64_t>(value) != valid.ignored;
  }
  return found;
}

bool ValidTokens::isCountable(std::string_view dtype) {
  return dtype == "i64" || dtype == "i32" || dtype == "i16" || dtype == "i8" ||
         dtype == "ui8" || dtype == "i1";
}

int64_t ValidTokens::count(const ArtifactTensor &labels,
                           const char *elements) const {
  int64_t size = bytesOfType(labels.dtype);
  int64_t all = size > 0 ? bytesOf(labels) / size : 0;
  int64_t length = labels.sizes.empty() ? 1 : labels.sizes.back();
  switch (size) {
  case 8:
    return countOf<int64_t>(*this, elements, all, length);
  case 4:
    return countOf<int32_t>(*this, elements, all, length);
  case 2:
    return countOf<int16_t>(*this, elements, all, length);
  default:
    return labels.dtype == "i8"
               ? countOf<int8_t>(*this, elements, all, length)
               : countOf<uint8_t>(*this, elements, all, length);
  }
}

std::vector<double> cutback::equalShares(int64_t count) {
  return std::vector<double>(count, 1 / static_cast<double>(count));
}

std::vector<double> cutback::sharesOf(const std::vector<int64_t> &counts) {
  auto total = static_cast<double>(
      std::accumulate(counts.begin(), counts.end(), int64_t(0)));
  std::vector<double> shares;
  for (int64_t count : counts)
    shares.push_back(count ? static_cast<double>(count) / total : 0);
  return shares;
}

std::string cutback::findShares(const ValidTokens &valid,
                                const std::vector<int64_t> &counts,
                                std::vector<double> &shares) {
  shares = sharesOf(counts);
  for (int64_t count : counts)
    if (count != 0)
      return "";
  return "no element of '" + valid.input + "' counts: all are " +
         std::to_string(valid.ignored);
}

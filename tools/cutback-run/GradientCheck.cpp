// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients are results of a step, whose types its manifest has; of values in
// between it has bytes alone. So this program says which gradient is wrong, and
// where; which op made it says `cutback run --anomaly`, which has the ops. An
// element is not finite if its exponent is all ones, and a NaN if its mantissa
// is not zero then.

#include "GradientCheck.h"

#include "cutback/Runtime/StepFolder.h"

#include <cstring>

using namespace cutback;

namespace {

/// A floating-point type: its bytes, and the bits of exponent and mantissa.
struct Format {
  const char *name;
  size_t bytes;
  uint64_t exponent, mantissa;
};
constexpr Format kFormats[] = {
    {"f64", 8, 0x7FF0000000000000, 0x000FFFFFFFFFFFFF},
    {"f32", 4, 0x7F800000, 0x007FFFFF},
    {"bf16", 2, 0x7F80, 0x007F},
    {"f16", 2, 0x7C00, 0x03FF}};

std::string indexText(const ArtifactTensor &tensor, int64_t number) {
  std::string text;
  for (size_t i = tensor.sizes.size(); i-- > 0;) {
    text = std::to_string(number % tensor.sizes[i]) +
           (text.empty() ? "" : ", ") + text;
    number /= tensor.sizes[i];
  }
  return "[" + text + "]";
}

/// What is wrong with elements of `format`, in row-major order.
std::string describeWrong(const ArtifactTensor &tensor, const Format &format,
                          const std::string &bytes) {
  int64_t count = static_cast<int64_t>(bytes.size() / format.bytes);
  int64_t first = -1, wrong = 0;
  bool isNan = false;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * format.bytes, format.bytes);
    if ((bits & format.exponent) != format.exponent)
      continue;
    if (wrong++ == 0) {
      first = i;
      isNan = (bits & format.mantissa) != 0;
    }
  }
  if (wrong == 0)
    return "";
  return "'" + tensor.name +
         "' is not finite: " + (isNan ? "NaN" : "infinite") + " at " +
         indexText(tensor, first) + ", " + std::to_string(wrong) + " of " +
         std::to_string(count) + " elements";
}

} // namespace

std::string cutback::findWrongGradient(const Artifact &artifact,
                                       Executor &executor,
                                       const std::vector<char *> &arguments) {
  for (const ArtifactResult &result : artifact.results) {
    if (result.name.compare(0, 5, "grad.") != 0)
      continue;
    for (const Format &format : kFormats) {
      if (result.dtype != format.name)
        continue;
      std::string bytes(static_cast<size_t>(bytesOf(result)), '\0');
      std::string error = readResult(result, executor, arguments, bytes.data());
      if (error.empty())
        error = describeWrong(result, format, bytes);
      if (!error.empty())
        return error;
    }
  }
  return "";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients are results of a step, whose types its manifest has; of values in
// between it has bytes alone. So this program says which gradient is wrong, and
// where; which op made it says `cutback run --anomaly`, which has the ops. A
// copy of each gradient is read once, from memory of this machine: on a device
// it lies elsewhere.

#include "GradientCheck.h"

#include "cutback/Runtime/Elements.h"
#include "cutback/Runtime/StepFolder.h"
#include "cutback/Support/Text.h"

#include <cmath>

using namespace cutback;

namespace {

/// What is wrong with elements, in row-major order.
std::string describeWrong(const ArtifactTensor &tensor,
                          const Elements &elements) {
  int64_t first = -1, wrong = 0;
  for (int64_t i = 0; i < elements.count(); ++i)
    if (!std::isfinite(elements[i]) && wrong++ == 0)
      first = i;
  if (wrong == 0)
    return "";
  return "'" + tensor.name + "' is not finite: " +
         (std::isnan(elements[first]) ? "NaN" : "infinite") + " at " +
         formatIndex(tensor.sizes.data(), tensor.sizes.size(), first) + ", " +
         std::to_string(wrong) + " of " + std::to_string(elements.count()) +
         " elements";
}

} // namespace

std::string cutback::findWrongGradient(const Artifact &artifact,
                                       Executor &executor,
                                       const std::vector<char *> &arguments) {
  for (const ArtifactResult &result : artifact.results) {
    if (result.name.compare(0, 5, "grad.") != 0 ||
        !Elements::isKnown(result.dtype))
      continue;
    std::string bytes(static_cast<size_t>(bytesOf(result)), '\0');
    std::string error = readResult(result, executor, arguments, bytes.data());
    if (error.empty())
      error = describeWrong(
          result, Elements(bytes.data(), bytesOf(result), result.dtype));
    if (!error.empty())
      return error;
  }
  return "";
}

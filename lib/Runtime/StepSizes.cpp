// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code is for sizes that are known: which threads share a row, how wide
// an access may be and what lies where all follow from them. A step whose sizes
// are symbols has one machine code for each set of sizes that was asked for:
// that of the manifest, and others in folders beside it, named by their sizes.
//
// A size that is a symbol alone binds it; what is an expression of symbols is
// compared when the tensor is taken.

#include "cutback/Runtime/StepSizes.h"

#include "cutback/Runtime/StepFolder.h"

#include <unistd.h>

using namespace cutback;

/// The number of a symbol, -1 for other text.
static int64_t findSymbol(const Artifact &artifact, const std::string &name) {
  for (size_t i = 0; i < artifact.symbols.size(); ++i)
    if (artifact.symbols[i].name == name)
      return static_cast<int64_t>(i);
  return -1;
}

bool cutback::checkSizes(const Artifact &artifact,
                         const std::vector<int64_t> &values, StepError &error) {
  for (size_t i = 0; i < values.size(); ++i) {
    const ArtifactSymbol &symbol = artifact.symbols[i];
    if (values[i] >= symbol.min && values[i] <= symbol.max)
      continue;
    if (symbol.min == symbol.max) {
      error.what = "size " + symbol.name + " is " + std::to_string(values[i]) +
                   ", and the step is for " + std::to_string(symbol.min) +
                   " alone";
      error.next = "compile the model again with --sym=" + symbol.name + "=" +
                   std::to_string(values[i]);
      return false;
    }
    error.what = "size " + symbol.name + " is " + std::to_string(values[i]) +
                 ", outside of its range from " + std::to_string(symbol.min);
    if (symbol.max != INT64_MAX)
      error.what += " to " + std::to_string(symbol.max);
    error.next = "the model was exported for that range; give inputs inside, "
                 "or export it again";
    return false;
  }
  return true;
}

bool cutback::bindSizes(const Artifact &artifact, const FindSizes &sizesOf,
                        std::vector<int64_t> &values, StepError &error) {
  std::vector<std::string> boundBy(artifact.symbols.size());
  values.clear();
  for (const ArtifactSymbol &symbol : artifact.symbols)
    values.push_back(symbol.value);
  for (const ArtifactArgument &argument : artifact.arguments) {
    if (argument.declared.empty())
      continue;
    auto sizes = sizesOf(argument.name);
    // Of another rank: refused when it is taken.
    if (!sizes || sizes->size() != argument.declared.size())
      continue;
    for (size_t axis = 0; axis < sizes->size(); ++axis) {
      int64_t symbol = findSymbol(artifact, argument.declared[axis]);
      if (symbol < 0)
        continue;
      int64_t size = (*sizes)[axis];
      if (!boundBy[symbol].empty() && values[symbol] != size) {
        error.what = "size " + std::to_string(axis) + " of tensor '" +
                     argument.name + "' is " + std::to_string(size) + ", but " +
                     argument.declared[axis] + " is " +
                     std::to_string(values[symbol]) + " by '" +
                     boundBy[symbol] + "'";
        error.next = "give tensors whose sizes agree";
        return false;
      }
      values[symbol] = size;
      boundBy[symbol] = argument.name;
    }
  }
  return checkSizes(artifact, values, error);
}

std::string cutback::sizesText(const Artifact &artifact,
                               const std::vector<int64_t> &values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? "," : "") + artifact.symbols[i].name + "=" +
            std::to_string(values[i]);
  return text;
}

std::string cutback::sizedFolder(const std::string &folder,
                                 const Artifact &artifact,
                                 const std::vector<int64_t> &values) {
  return folder + "/" + kSizesFolder + "/" + sizesText(artifact, values);
}

bool cutback::findSized(std::string &folder, Artifact &artifact,
                        const std::vector<int64_t> &values, StepError &error) {
  bool isHere = true;
  for (size_t i = 0; i < values.size(); ++i)
    isHere &= artifact.symbols[i].value == values[i];
  if (isHere)
    return true;
  std::string path = sizedFolder(folder, artifact, values);
  Artifact sized;
  if (::access((path + "/" + kManifestFile).c_str(), F_OK) == 0) {
    if (!readStepFolder(path, sized, error))
      return false;
    if (sized.of == artifact.checksum) {
      folder = path;
      artifact = std::move(sized);
      return true;
    }
  }
  error.what =
      "'" + folder + "' has no machine code for " + sizesText(artifact, values);
  error.next = "where a compiler is, this adds it: cutback compile " + folder;
  for (size_t i = 0; i < values.size(); ++i)
    error.next +=
        " --sym=" + artifact.symbols[i].name + "=" + std::to_string(values[i]);
  return false;
}

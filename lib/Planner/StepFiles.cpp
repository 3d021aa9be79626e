// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of a step from weights and files, and results against a file.
//
// Weights win over the file of inputs for parameters, buffers and constants: a
// file of expected values holds buffers as they are after the step. Views of
// weights are read only and keep the file mapped.
//
// A gradient that is zero but for rounding is noise of the size of what was
// added up, in our step and in the expected one alike. Where it comes from
// 16-bit floats, it is therefore compared at the scale of one rounding of the
// largest gradient at least.

#include "cutback/Planner/StepFiles.h"

#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// A read-only view of a weight; nothing where it has no data or a type that
/// the interpreter does not know.
static std::optional<Tensor> tensorOf(const WeightTensor &weight,
                                      std::shared_ptr<WeightFile> owner) {
  std::optional<DType> type = dtypeOf(weight.elementType);
  ArrayRef<char> content =
      weight.hasData() ? weight.storage->content() : ArrayRef<char>();
  if (!type || (content.empty() && weight.getNumElements() != 0))
    return std::nullopt;
  Tensor tensor;
  tensor.type = *type;
  tensor.sizes.assign(weight.sizes.begin(), weight.sizes.end());
  tensor.strides.assign(weight.strides.begin(), weight.strides.end());
  tensor.offset = weight.offset;
  tensor.storage = std::make_shared<Storage>();
  tensor.storage->data = const_cast<char *>(content.data());
  tensor.storage->bytes = static_cast<int64_t>(content.size());
  tensor.storage->writable = false;
  tensor.storage->owner = std::move(owner);
  return tensor;
}

std::optional<Tensor> StepFiles::find(StringRef name) const {
  StringRef plain = name;
  if (plain.consume_front("param.") || plain.consume_front("buffer.") ||
      plain.consume_front("const.")) {
    if (const Tensor *tensor = weightTensors.find(name))
      return *tensor;
    if (const WeightTensor *weight = weights ? weights->find(plain) : nullptr)
      return tensorOf(*weight, weights);
  }
  if (const Tensor *tensor = inputs.find(name))
    return *tensor;
  return std::nullopt;
}

std::vector<std::string> StepFiles::findStray(const StepNames &names) const {
  llvm::StringSet<> known;
  for (const auto *list : {&names.arguments, &names.results})
    for (const std::string &name : *list)
      known.insert(name);
  auto isOfModel = [](StringRef name) {
    return llvm::any_of(
        ArrayRef<StringRef>{"param.", "buffer.", "const.", "grad."},
        [&](StringRef prefix) { return name.starts_with(prefix); });
  };
  std::vector<std::string> stray;
  for (const auto &[name, tensor] : inputs.tensors())
    if (!known.contains(name) && !isOfModel(name))
      stray.push_back(name);
  return stray;
}

static const NamedTensor *findByName(ArrayRef<NamedTensor> list,
                                     StringRef name) {
  for (const NamedTensor &entry : list)
    if (entry.first == name)
      return &entry;
  return nullptr;
}

/// "grad." of a gradient, "buffer." of a buffer, nothing of what belongs to no
/// tensor of the model.
static StringRef kindOf(StringRef result) {
  for (StringRef kind : {"grad.", "buffer."})
    if (result.starts_with(kind))
      return kind;
  return "";
}

void cutback::addTiedResults(std::vector<NamedTensor> &results,
                             llvm::StringMap<double> &rounding,
                             const WeightFile *weights) {
  if (!weights)
    return;
  llvm::StringSet<> given;
  for (const auto &[name, tensor] : results)
    given.insert(name);
  for (size_t i = 0, count = results.size(); i < count; ++i) {
    NamedTensor result = results[i];
    StringRef kind = kindOf(result.first);
    if (kind.empty())
      continue;
    for (const std::string &other :
         weights->findTied(StringRef(result.first).substr(kind.size()))) {
      std::string name = kind.str() + other;
      if (!given.insert(name).second)
        continue;
      if (double step = rounding.lookup(result.first))
        rounding[name] = step;
      results.emplace_back(name, result.second);
    }
  }
}

static bool isArgumentName(StringRef name) {
  return llvm::any_of(
      ArrayRef<StringRef>{"input.", "param.", "const.", "tangent."},
      [&](StringRef prefix) { return name.starts_with(prefix); });
}

/// Allows what the expected values themselves are apart from exact ones, times
/// four.
static void allowOwnError(Difference &difference, const Tensor &expected,
                          const Tolerance &tolerance) {
  const Tensor *exact =
      tolerance.exact ? tolerance.exact->find(difference.name) : nullptr;
  if (!exact || isIntegral(expected.type))
    return;
  Difference own = compareTensors(difference.name, expected, *exact, tolerance);
  if (!own.problem.empty())
    difference.problem = "in --check " + own.problem + " as --exact has";
  else if (std::isfinite(own.largest))
    difference.allowed =
        std::max(difference.allowed, tolerance.atol + 4 * own.largest);
}

/// Noise around zero: see above. `steps` belongs to `list`.
static void allowNoise(std::vector<Difference> &list, ArrayRef<double> steps,
                       double atol) {
  double largest = 0;
  auto isGradient = [](const Difference &difference) {
    return StringRef(difference.name).starts_with("grad.");
  };
  for (const Difference &difference : list)
    if (isGradient(difference))
      largest = std::max(largest, difference.scale);
  for (auto [difference, step] : llvm::zip(list, steps))
    if (isGradient(difference) && difference.problem.empty())
      difference.allowed =
          std::max(difference.allowed, atol + difference.rtol * step * largest);
}

std::vector<Difference> cutback::compareResults(ArrayRef<NamedTensor> results,
                                                const TensorFile &expected,
                                                const Tolerance &tolerance) {
  std::vector<Difference> list;
  SmallVector<double> steps;
  for (const auto &[name, tensor] : expected.tensors()) {
    if (isArgumentName(name))
      continue;
    if (const NamedTensor *actual = findByName(results, name)) {
      steps.push_back(tolerance.rounding.lookup(actual->first));
      list.push_back(compareTensors(name, actual->second, tensor, tolerance,
                                    /*half=*/steps.back() > 0));
      allowOwnError(list.back(), tensor, tolerance);
      continue;
    }
    Difference missing;
    missing.name = name;
    missing.problem = "is no result of the step";
    list.push_back(missing);
    steps.push_back(0);
  }
  allowNoise(list, steps, tolerance.atol);
  return list;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loss, outputs, gradients and written buffers of real models against
// PyTorch's: from the forward program (differentiated here), from PyTorch's
// joint program, and from its joint text, under every strategy, which must
// agree with each other to the bit.
//
// The models are those of test/corpus that have expected values; with
// CUTBACK_GOLDEN=FOLDER all of FOLDER/small too. CUTBACK_TABLE=1 prints model x
// source x worst difference over tolerance.
//
// Tolerance of a float32 tensor: 1e-7 + max(4 x PyTorch's own error against
// float64, 2e-6) x its largest magnitude; bf16 models 2e-2.

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Planner/ReferenceStep.h"
#include "cutback/Planner/Runnable.h"
#include "cutback/Planner/StepFiles.h"
#include "cutback/Planner/TrainingGraph.h"
#include "cutback/Support/Json.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

struct Case {
  std::string folder, source;
  std::string name() const {
    return llvm::sys::path::filename(folder).str() + " " + source;
  }
};
void PrintTo(const Case &which, std::ostream *os) { *os << which.name(); }

std::string join(const std::string &folder, const std::string &file) {
  return folder + "/" + file;
}

void addCases(const std::string &root, std::vector<Case> &cases) {
  std::vector<std::string> folders;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(root, code), end;
       it != end && !code; it.increment(code))
    if (llvm::sys::fs::exists(join(it->path(), "expected.safetensors")))
      folders.push_back(it->path());
  llvm::sort(folders);
  for (const std::string &folder : folders)
    for (const char *source : {"model.pt2", "joint.pt2", "joint.txt"})
      if (llvm::sys::fs::exists(join(folder, source)))
        cases.push_back({folder, source});
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  addCases(CUTBACK_SOURCE_DIR "/test/corpus", cases);
  if (const char *golden = std::getenv("CUTBACK_GOLDEN"))
    addCases(std::string(golden) + "/small", cases);
  else
    printf("CUTBACK_GOLDEN is not set: only models of test/corpus\n");
  return cases;
}

/// rtol by name from meta.json: four times PyTorch's own error.
std::map<std::string, double> readErrors(const std::string &folder) {
  std::map<std::string, double> rtol;
  auto buffer = llvm::MemoryBuffer::getFile(join(folder, "meta.json"));
  JsonDocument document;
  if (!buffer ||
      JsonDocument::parse(std::string_view((*buffer)->getBufferStart(),
                                           (*buffer)->getBufferSize()),
                          document))
    return rtol;
  JsonValue key;
  for (JsonValue child : document.root().find("error_vs_float64").children()) {
    if (!key) {
      key = child;
      continue;
    }
    double error = child.find("rel").asDouble().value_or(0);
    rtol[key.decoded()] = std::max(4 * error, 2e-6);
    key = JsonValue();
  }
  return rtol;
}

struct Setting {
  const char *name;
  bool whole;
  Strategy strategy;
  CostModel costModel;
};
constexpr Setting kSettings[] = {
    {"whole", true, Strategy::MinCut, CostModel::Roofline},
    {"min-cut roofline", false, Strategy::MinCut, CostModel::Roofline},
    {"min-cut pytorch", false, Strategy::MinCut, CostModel::PyTorch},
    {"eager", false, Strategy::Eager, CostModel::Roofline},
    {"precompute", false, Strategy::Precompute, CostModel::Roofline},
    {"recompute-all", false, Strategy::RecomputeAll, CostModel::Roofline},
};

class GoldenGradients : public testing::TestWithParam<Case> {
protected:
  GoldenGradients() {
    registerTrainingGraph(context);
    context.disableMultithreading();
  }
  std::string path(const char *file) { return join(GetParam().folder, file); }
  void openFiles();
  void compare(const std::vector<NamedTensor> &results);
  std::optional<std::vector<NamedTensor>> runOnce(const Setting &setting);

  MLIRContext context;
  StepFiles files;
  TensorFile expected;
  Tolerance tolerance;
  std::map<std::string, double> errors;
  bool isOfCoreOps = false; ///< of the graph that ran last
};

void GoldenGradients::openFiles() {
  std::string error = TensorFile::open(path("expected.safetensors"), expected);
  ASSERT_EQ(error, "");
  files.inputs = expected;
  auto model = readInput(path("model.pt2"), context);
  ASSERT_TRUE(succeeded(model));
  files.weights = model->weights;
  errors = readErrors(GetParam().folder);
  // Autocast: everything that went through bf16.
  bool isHalf = StringRef(GetParam().folder).contains("bf16");
  tolerance.rtol = isHalf ? 2e-2 : 2e-6;
  tolerance.byName = [this, isHalf](StringRef name) -> std::optional<double> {
    if (isHalf)
      return 2e-2;
    auto found = errors.find(name.str());
    if (found == errors.end())
      return std::nullopt;
    return found->second;
  };
}

void GoldenGradients::compare(const std::vector<NamedTensor> &results) {
  double worst = 0;
  std::string worstName;
  for (const Difference &difference :
       compareResults(results, expected, tolerance)) {
    EXPECT_TRUE(difference.isRight())
        << GetParam().name() << ": " << difference.name << " "
        << difference.problem << " differs by " << difference.largest
        << ", allowed " << difference.allowed << ", scale " << difference.scale;
    if (difference.badness() > worst) {
      worst = difference.badness();
      worstName = difference.name;
    }
  }
  if (std::getenv("CUTBACK_TABLE"))
    printf("| %s | %s | %.3f | %s |\n",
           llvm::sys::path::filename(GetParam().folder).str().c_str(),
           GetParam().source.c_str(), worst, worstName.c_str());
}

std::optional<std::vector<NamedTensor>>
GoldenGradients::runOnce(const Setting &setting) {
  auto imported = readInput(path(GetParam().source.c_str()), context);
  if (failed(imported) || !imported->graph ||
      failed(makeTrainingGraph(imported->graph)) ||
      failed(verify(*imported->module)))
    return std::nullopt;
  isOfCoreOps = !makeCoreGraph(GraphView::build(imported->graph));
  ReferenceOptions options;
  options.whole = setting.whole;
  options.partition.strategy = setting.strategy;
  options.partition.costModel = setting.costModel;
  options.partition.figures = false;
  options.checkMemory = true;
  auto result = runReferenceStep(
      imported->graph, [&](StringRef name) { return files.find(name); },
      options);
  if (failed(result))
    return std::nullopt;
  addTiedResults(result->tensors, result->rounding, files.weights.get());
  return result->tensors;
}

TEST_P(GoldenGradients, AreThoseOfPyTorchUnderEveryStrategy) {
  openFiles();
  if (HasFatalFailure())
    return;
  std::vector<NamedTensor> first;
  bool isOfWhole = false;
  for (const Setting &setting : kSettings) {
    auto results = runOnce(setting);
    ASSERT_TRUE(results) << setting.name;
    // Composite ops, which a whole run has kernels for, are planned in parts.
    if (first.empty() || (isOfWhole && !isOfCoreOps)) {
      first = *results;
      isOfWhole = setting.whole;
      compare(first);
      continue;
    }
    ASSERT_EQ(first.size(), results->size());
    for (auto [a, b] : llvm::zip(first, *results)) {
      EXPECT_EQ(a.first, b.first);
      EXPECT_TRUE(equalBits(a.second, b.second))
          << setting.name << ": " << a.first;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenGradients,
                         testing::ValuesIn(allCases()));

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Real models as stages of a pipeline: the first stage (inputs without
// gradients, or with them where they are floating-point numbers), the last
// half, and a middle part. Input phase, then weight phase, give the gradients
// of the unsplit backward to the bit, by both rules.
//
// The models are those of test/corpus that have a program; with
// CUTBACK_GOLDEN=FOLDER all of FOLDER/small too.

#include "CutStage.h"
#include "RandomProgram.h"
#include "RunPhases.h"

#include "cutback/Autograd/Differentiate.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Planner/Runnable.h"
#include "cutback/Planner/ThreeWay.h"
#include "cutback/Planner/TrainingGraph.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;
using namespace cutback::test;

namespace {

struct Part {
  const char *name;
  double begin, end; ///< of the ops; 0: the whole program
  bool marksInputs;
};
constexpr Part kParts[] = {{"first", 0, 1, false},
                           {"whole, inputs with gradients", 0, 1, true},
                           {"last", 0.5, 1, false},
                           {"middle", 0.35, 0.75, false}};

void addModels(const std::string &root, std::vector<std::string> &folders) {
  std::vector<std::string> found;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(root, code), end;
       it != end && !code; it.increment(code))
    if (llvm::sys::fs::exists(it->path() + "/model.pt2"))
      found.push_back(it->path());
  llvm::sort(found);
  folders.insert(folders.end(), found.begin(), found.end());
}

std::vector<std::string> allModels() {
  std::vector<std::string> folders;
  addModels(CUTBACK_SOURCE_DIR "/test/corpus", folders);
  if (const char *golden = std::getenv("CUTBACK_GOLDEN"))
    addModels(std::string(golden) + "/small", folders);
  else
    printf("CUTBACK_GOLDEN is not set: only models of test/corpus\n");
  return folders;
}

class ThreeWayModels : public testing::TestWithParam<std::string> {
protected:
  ThreeWayModels() {
    registerTrainingGraph(context);
    context.disableMultithreading();
  }
  /// Null where the model has no such part.
  OwningOpRef<ModuleOp> read(const Part &part);
  void check(ModuleOp original, const Part &part, ThreeWayRule rule);
  std::vector<RuntimeValue> arguments(joint::GraphOp graph);

  MLIRContext context;
};

/// Random, but inputs of the model as its file has them: some are offsets.
std::vector<RuntimeValue> ThreeWayModels::arguments(joint::GraphOp graph) {
  StepNames names = nameStep(graph);
  auto values = randomArguments(graph, names, 5, 1);
  EXPECT_TRUE(succeeded(values));
  if (failed(values))
    return {};
  TensorFile file;
  if (!TensorFile::open(GetParam() + "/expected.safetensors", file).empty())
    return *values;
  for (auto [value, name] : llvm::zip_equal(*values, names.arguments)) {
    auto *tensor = std::get_if<Tensor>(&value);
    const Tensor *stored =
        StringRef(name).starts_with("input.") ? file.find(name) : nullptr;
    if (tensor && stored && stored->sizes == tensor->sizes)
      value = *stored;
  }
  return *values;
}

joint::GraphOp graphOf(ModuleOp module) {
  return *module.getOps<joint::GraphOp>().begin();
}

void markInputs(joint::GraphOp graph) {
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    auto type = dyn_cast<ShapedType>(graph.getArgumentTypes()[arg]);
    joint::RoleKind kind = graph.getRole(arg).getKind();
    bool takesGradient =
        kind == joint::RoleKind::Param || kind == joint::RoleKind::Input;
    if (takesGradient && type && isa<FloatType>(type.getElementType()))
      graph.setArgAttr(arg, kRequiresGrad, UnitAttr::get(graph.getContext()));
  }
}

OwningOpRef<ModuleOp> ThreeWayModels::read(const Part &part) {
  auto imported = readInput(GetParam() + "/model.pt2", context);
  if (failed(imported) || !imported->graph)
    return {};
  if (part.marksInputs)
    markInputs(imported->graph);
  if (part.begin > 0 && !cutStage(imported->graph, part.begin, part.end))
    return {};
  if (failed(makeTrainingGraph(imported->graph)))
    return {};
  simplifyToCoreOps(imported->graph);
  EXPECT_TRUE(succeeded(makeRunnable(imported->graph)));
  EXPECT_TRUE(succeeded(verify(*imported->module)));
  return std::move(imported->module);
}

void ThreeWayModels::check(ModuleOp original, const Part &part,
                           ThreeWayRule rule) {
  OwningOpRef<ModuleOp> module(original.clone());
  joint::GraphOp graph = graphOf(*module);
  ThreeWayOptions options;
  options.rule = rule;
  auto made = partitionThreeWay(graph, options);
  ASSERT_TRUE(succeeded(made)) << part.name;
  if (rule == ThreeWayRule::Cuts)
    EXPECT_LE(made->figures.gap(), 0.01) << part.name;
  EXPECT_LE(made->figures.bound, made->figures.cost) << part.name;
  const PhaseFunctions &functions = made->functions;
  if (functions.inputGradientOf.empty())
    EXPECT_EQ(made->figures.inputOps, 0u) << part.name;
  std::vector<RuntimeValue> given = arguments(graph);
  auto expected = run(graph, given);
  ASSERT_TRUE(succeeded(expected)) << part.name;
  given = arguments(graph);
  auto actual = runPhases(graph, functions, given);
  ASSERT_TRUE(succeeded(actual)) << part.name;
  ASSERT_EQ(expected->size(), actual->size());
  for (size_t i = 0; i < expected->size(); ++i)
    EXPECT_TRUE(equalBits((*expected)[i], (*actual)[i]))
        << part.name << ", result " << i;
  if (std::getenv("CUTBACK_TABLE"))
    printf("| %s | %s | %zu input gradients | %lld | %lld | %.4f |\n",
           llvm::sys::path::filename(GetParam()).str().c_str(), part.name,
           functions.inputGradientOf.size(),
           (long long)made->figures.toInputBytes,
           (long long)made->figures.toWeightBytes, made->figures.gap());
}

TEST_P(ThreeWayModels, PhasesAreTheUnsplitBackwardToTheBit) {
  unsigned parts = 0;
  for (const Part &part : kParts) {
    OwningOpRef<ModuleOp> module = read(part);
    if (!module)
      continue;
    ++parts;
    for (ThreeWayRule rule : {ThreeWayRule::Closure, ThreeWayRule::Cuts})
      check(*module, part, rule);
  }
  EXPECT_GE(parts, 2u);
}

/// Prices at which the cuts hand over as few bytes to the input phase as the
/// closure does at its price, found by bench-three-way.
struct StageCase {
  const char *model;
  double closurePrice, toInput, toWeight, critical;
};

TEST(ThreeWayStages, TheWeightPhaseIsHandedLessInNoMoreTime) {
  const char *golden = std::getenv("CUTBACK_GOLDEN");
  if (!golden)
    GTEST_SKIP() << "CUTBACK_GOLDEN is not set: no models of real size";
  constexpr StageCase kStages[] = {{"gpt2_124m", 0, 0.1, 0.25, 0.5},
                                   {"gpt2_124m", 1, 1, 0, 0},
                                   {"llama3_8b", 1, 1.5, 1.5, 1}};
  MLIRContext context;
  registerTrainingGraph(context);
  for (const StageCase &stage : kStages) {
    auto imported = readInput(
        std::string(golden) + "/plan/" + stage.model + "/model.pt2", context);
    ASSERT_TRUE(succeeded(imported)) << stage.model;
    ASSERT_TRUE(cutStage(imported->graph, 0.4, 0.65)) << stage.model;
    ASSERT_TRUE(succeeded(makeTrainingGraph(imported->graph)));
    auto figuresOf = [&](const ThreeWayOptions &options) {
      OwningOpRef<ModuleOp> copy(imported->module->clone());
      auto made = partitionThreeWay(graphOf(*copy), options);
      EXPECT_TRUE(succeeded(made)) << stage.model;
      return succeeded(made) ? made->figures : ThreeWayFigures();
    };
    ThreeWayOptions options;
    options.rule = ThreeWayRule::Closure;
    options.toInputPrice = options.toWeightPrice = stage.closurePrice;
    ThreeWayFigures closure = figuresOf(options);
    options.rule = ThreeWayRule::Cuts;
    options.toInputPrice = stage.toInput;
    options.toWeightPrice = stage.toWeight;
    options.criticalPrice = stage.critical;
    ThreeWayFigures cuts = figuresOf(options);
    EXPECT_LE(cuts.gap(), 0.01) << stage.model;
    EXPECT_LE(cuts.toInputBytes, closure.toInputBytes * 1.005) << stage.model;
    EXPECT_LE(cuts.toWeightBytes, closure.toWeightBytes * 0.7) << stage.model;
    EXPECT_LE(cuts.againInInputPs + cuts.againInWeightPs,
              (closure.againInInputPs + closure.againInWeightPs) * 1.005)
        << stage.model;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ThreeWayModels, testing::ValuesIn(allModels()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           return std::to_string(info.index) + "_" +
                                  llvm::sys::path::filename(info.param).str();
                         });

} // namespace

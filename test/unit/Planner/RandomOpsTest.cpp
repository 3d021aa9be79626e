// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every random op, in place ones too, in a step, in a checkpoint region, and in
// a region of a region: whatever is saved or recomputed, the gradients have the
// same bits; the same seed repeats them, another does not.

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Planner/ReferenceStep.h"
#include "cutback/Planner/TrainingGraph.h"
#include "cutback/Transforms/CleanTags.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// %c is a copy of a parameter times a half; what is drawn is %d.
struct Draw {
  const char *name;
  const char *text;
};
#define EACH " : (tensor<8x6xf32>) -> tensor<8x6xf32>"
constexpr Draw kDraws[] = {
    {"rand", "%d = aten.rand([8, 6]) : () -> tensor<8x6xf32>"},
    {"randn", "%d = aten.randn([8, 6]) : () -> tensor<8x6xf32>"},
    {"rand_like", "%d = aten.rand_like(%c)" EACH},
    {"randn_like", "%d = aten.randn_like(%c)" EACH},
    {"randint", "%d = aten.randint(5, [8, 6], dtype = f32) : () -> "
                "tensor<8x6xf32>"},
    {"randint_low", "%d = aten.randint.low(-2, 5, [8, 6], dtype = f32) : () -> "
                    "tensor<8x6xf32>"},
    {"randint_like", "%d = aten.randint_like(%c, 5)" EACH},
    {"randperm", "%e = aten.randperm(48, dtype = f32) : () -> tensor<48xf32>\n"
                 "%d = aten.view(%e, [8, 6]) : (tensor<48xf32>) -> "
                 "tensor<8x6xf32>"},
    {"bernoulli", "%s = aten.sigmoid(%c)" EACH "\n"
                  "%d = aten.bernoulli(%s)" EACH},
    {"bernoulli_p", "%d = aten.bernoulli.p(%c, 0.4)" EACH},
    {"bernoulli_", "%d = aten.bernoulli_.float(%c, 0.4)" EACH},
    {"bernoulli_Tensor_",
     "%s = aten.sigmoid(%w)" EACH "\n"
     "%d = aten.bernoulli_.Tensor(%c, %s) : (tensor<8x6xf32>, "
     "tensor<8x6xf32>) -> tensor<8x6xf32>"},
    {"dropout", "%d = aten.dropout(%c, 0.3, true)" EACH},
    {"feature_dropout", "%d = aten.feature_dropout(%c, 0.3, true)" EACH},
    {"alpha_dropout", "%d = aten.alpha_dropout(%c, 0.3, true)" EACH},
    {"dropout_", "%d = aten.dropout_(%c, 0.3, true)" EACH},
    {"normal_", "%d = aten.normal_(%c, 1.0, 2.0)" EACH},
    {"normal_Tensor_float", "%d = aten.normal.Tensor_float(%c, 2.0)" EACH},
    {"normal_float_Tensor", "%s = aten.sigmoid(%w)" EACH "\n"
                            "%d = aten.normal.float_Tensor(0.5, %s)" EACH},
    {"normal_float_float", "%d = aten.normal.float_float(0.5, 2.0, [8, 6]) : "
                           "() -> tensor<8x6xf32>"},
    {"uniform_", "%d = aten.uniform_(%c, -1.0, 2.0)" EACH},
    {"exponential_", "%d = aten.exponential_(%c, 1.5)" EACH},
    {"geometric_", "%d = aten.geometric_(%c, 0.4)" EACH},
    {"cauchy_", "%d = aten.cauchy_(%c, 0.1, 0.2)" EACH},
    {"log_normal_", "%d = aten.log_normal_(%c, 0.1, 0.2)" EACH},
    {"random_", "%d = aten.random_(%c)" EACH},
    {"random_from_", "%d = aten.random_.from(%c, -3, 9)" EACH},
    {"random_to_", "%d = aten.random_.to(%c, 9)" EACH},
    {"poisson", "%s = aten.exp(%c)" EACH "\n%d = aten.poisson(%s)" EACH},
    {"binomial",
     "%s = aten.sigmoid(%c)" EACH "\n%k = aten.full_like(%c, 9)" EACH "\n"
     "%d = aten.binomial(%k, %s) : (tensor<8x6xf32>, tensor<8x6xf32>) -> "
     "tensor<8x6xf32>"},
    {"multinomial",
     "%s = aten.exp(%c)" EACH "\n%m = aten.multinomial(%s, 6) : "
     "(tensor<8x6xf32>) -> tensor<8x6xi64>\n"
     "%d = aten._to_copy(%m, dtype = f32) : (tensor<8x6xi64>) -> "
     "tensor<8x6xf32>"},
    {"multinomial_replacement",
     "%s = aten.exp(%c)" EACH "\n%m = aten.multinomial(%s, 6, true) : "
     "(tensor<8x6xf32>) -> tensor<8x6xi64>\n"
     "%d = aten._to_copy(%m, dtype = f32) : (tensor<8x6xi64>) -> "
     "tensor<8x6xf32>"},
    {"rrelu", "%d = aten.rrelu(%c, 0.1, 0.4, true)" EACH},
    {"rrelu_with_noise",
     "%z = aten.zeros_like(%c)" EACH "\n%d, %n = "
     "aten.rrelu_with_noise_functional(%c, %z, 0.1, 0.4, true) : "
     "(tensor<8x6xf32>, tensor<8x6xf32>) -> (tensor<8x6xf32>, "
     "tensor<8x6xf32>)"},
    {"standard_gamma",
     "%s = aten.exp(%c)" EACH "\n%d = aten._standard_gamma(%s)" EACH},
};

struct Setting {
  const char *name;
  Strategy strategy;
  std::optional<double> bytePrice;
};
constexpr Setting kSettings[] = {
    {"eager", Strategy::Eager, std::nullopt},
    {"precompute", Strategy::Precompute, std::nullopt},
    {"min-cut", Strategy::MinCut, std::nullopt},
    {"recompute-all", Strategy::RecomputeAll, std::nullopt},
    {"time alone", Strategy::MinCut, 0},
    {"1 ps a byte", Strategy::MinCut, 1},
    {"100 ps a byte", Strategy::MinCut, 100},
    {"10 ns a byte", Strategy::MinCut, 1e4},
    {"1 ms a byte", Strategy::MinCut, 1e9},
};

/// How many regions there are around the draw.
enum Regions { None, One, Nested };

class RandomOps : public testing::TestWithParam<Draw> {
protected:
  RandomOps() {
    registerTrainingGraph(context);
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect>();
  }
  std::string program(Regions regions) const;
  std::vector<NamedTensor> run(const Setting &setting, Regions regions,
                               uint64_t seed);
  MLIRContext context;
};

/// `body`, in a region that gives `value` as `result`.
std::string region(const std::string &result, const std::string &body,
                   const std::string &value) {
  return result + " = joint.checkpoint {\n" + body + "joint.yield " + value +
         " : tensor<8x6xf32>\n} : tensor<8x6xf32>\n";
}

std::string RandomOps::program(Regions regions) const {
  std::string draw = R"(
    %c = aten.mul.Scalar(%w, 0.5) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    )" + std::string(GetParam().text) +
                     R"(
    %b = aten.mul.Scalar(%d, 0.1) : (tensor<8x6xf32>) -> tensor<8x6xf32>
)",
              use = R"(
    %0 = aten.mm(%w, %v) : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
    %1 = aten.mul.Tensor(%0, %drawn) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %2 = aten.sin(%1) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %3 = aten.mul.Tensor(%2, %drawn) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
)";
  std::string body =
      regions == Nested ? region("%drawn", draw, "%b") + use : draw + use;
  for (size_t at;
       regions != Nested && (at = body.find("%drawn")) < body.size();)
    body.replace(at, 6, "%b");
  if (regions != None)
    body = region("%y", body, "%3");
  return R"(joint.graph @g(%w: tensor<8x6xf32> {joint.role = #joint.role<param "w">}, %v: tensor<6x6xf32> {joint.role = #joint.role<param "v">}) -> (tensor<f32>) gradients () {
  )" + body +
         "%4 = aten.sum(" + (regions == None ? "%3" : "%y") +
         ") : (tensor<8x6xf32>) -> tensor<f32>\n"
         "joint.output %4 : tensor<f32>\n}";
}

std::vector<NamedTensor> RandomOps::run(const Setting &setting, Regions regions,
                                        uint64_t seed) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(program(regions), &context);
  if (!module)
    return {};
  auto graph = *module->getOps<joint::GraphOp>().begin();
  // Tags, as exported programs have them: so ops in place may be in a region.
  flattenCheckpoints(graph);
  if (failed(makeTrainingGraph(graph)))
    return {};
  ReferenceOptions options;
  options.partition.strategy = setting.strategy;
  if (setting.bytePrice)
    options.partition.bytePrice = *setting.bytePrice;
  options.partition.figures = false;
  options.checkMemory = true;
  options.seed = seed;
  auto find = [](StringRef name) -> std::optional<Tensor> {
    bool isW = name == "param.w";
    Tensor tensor =
        Tensor::zeros(DType::F32, {int64_t(isW ? 8 : 6), int64_t(6)});
    for (int64_t i = 0; i < tensor.numel(); ++i)
      tensor.set(i, std::sin(double(i * (isW ? 3 : 7)) + 0.5));
    return tensor;
  };
  auto result = runReferenceStep(graph, find, options);
  return succeeded(result) ? result->tensors : std::vector<NamedTensor>();
}

bool sameBits(const std::vector<NamedTensor> &a,
              const std::vector<NamedTensor> &b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           auto &[x, y] = pair;
           return x.first == y.first && equalBits(x.second, y.second);
         });
}

TEST_P(RandomOps, HaveTheSameGradientsUnderEveryPlan) {
  std::vector<NamedTensor> first = run(kSettings[0], None, 3);
  ASSERT_EQ(first.size(), 3u);
  for (Regions regions : {None, One, Nested})
    for (const Setting &setting : kSettings) {
      EXPECT_TRUE(sameBits(run(setting, regions, 3), first))
          << setting.name << ", " << regions << " regions";
      EXPECT_FALSE(sameBits(run(setting, regions, 4), first))
          << setting.name << ", " << regions << " regions";
    }
}

INSTANTIATE_TEST_SUITE_P(Ops, RandomOps, testing::ValuesIn(kDraws),
                         [](const auto &info) { return info.param.name; });

} // namespace

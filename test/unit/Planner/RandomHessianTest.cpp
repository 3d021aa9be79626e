// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hessian-vector products of random programs against central differences of
// their gradients, in float64. A program is a chain of blocks, each of which
// makes a [4, 6] tensor of earlier ones: pointwise functions, products, norms,
// softmax, convolutions, pooling, attention, gathers, views, losses.
//
// With step 1e-5 along the vector the difference is off by some 1e-10 of the
// third derivative and 1e-11 of the gradient; 1e-6 of the largest product is
// allowed. A point may be so near to a kink (a maximum, a sort) that the step
// crosses it: a second point decides, and few may need one.
// CUTBACK_RANDOM_GRAPHS sets how many programs (200), CUTBACK_RANDOM_SEED the
// first seed (1). A failure prints its seed.

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Planner/TrainingGraph.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <random>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::interpreter;

namespace {

constexpr double kStep = 1e-5;
constexpr unsigned kParams = 3;

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Builds @g: three parameters of [4, 6], a scalar loss.
class Program {
public:
  Program(uint64_t seed, MLIRContext &context)
      : random(seed), builder(&context) {}
  OwningOpRef<ModuleOp> build();

private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(random() % n); }
  Value any() { return pool[pool.size() - 1 - pick(unsigned(pool.size()))]; }
  Value recent() {
    return pool[pool.size() - 1 - pick(std::min(3u, unsigned(pool.size())))];
  }
  Value un(const char *name, Value x) {
    return call->call("aten." + std::string(name) + ".default", {x});
  }
  Value bin(const char *name, Value x, const Arg &y) {
    return call->call("aten." + std::string(name), {x, y});
  }
  Value back(Value x) { return call->call("aten.view.default", {x, {4, 6}}); }

  Value pointwise();
  Value activation();
  Value binary();
  Value product();
  Value reduction();
  Value norm();
  Value softmax();
  Value image();
  Value attention();
  Value gather();
  Value move();
  Value scan();
  Value loss();

  std::mt19937_64 random;
  OpBuilder builder;
  std::unique_ptr<CallBuilder> call;
  std::vector<Value> pool;
};

Value Program::pointwise() {
  static const char *kNames[] = {"sin", "cos",  "tanh",  "sigmoid", "atan",
                                 "erf", "sinh", "asinh", "expm1"};
  unsigned n = pick(std::size(kNames) + 5);
  Value x = recent();
  if (n < std::size(kNames))
    return un(kNames[n], bin("mul.Scalar", x, 0.7));
  Value positive = bin("add.Scalar", bin("mul.Tensor", x, x), 0.8);
  switch (n - std::size(kNames)) {
  case 0:
    return un("rsqrt", positive);
  case 1:
    return un("log", positive);
  case 2:
    return bin("pow.Tensor_Scalar", positive, 1.3);
  case 3:
    return un("reciprocal", positive);
  default:
    return bin("pow.Tensor_Tensor", positive, any());
  }
}

Value Program::activation() {
  Value x = recent();
  switch (pick(9)) {
  case 0:
    return un("silu", x);
  case 1:
    return call->call("aten.gelu.default", {x},
                      {{"approximate", pick(2) ? "tanh" : "none"}});
  case 2:
    return un("mish", x);
  case 3:
    return call->call("aten.softplus.default", {x, 1.5, 20});
  case 4:
    return call->call("aten.elu.default", {x, 0.8});
  case 5:
    return call->call("aten.leaky_relu.default", {x, 0.2});
  case 6:
    return un("hardswish", bin("mul.Scalar", x, 2.0));
  case 7:
    return un("log_sigmoid", x);
  default: {
    Value wide = call->call("aten.cat.default", {{Arg(x), Arg(any())}, 1});
    return call->call("aten.glu.default", {wide, 1});
  }
  }
}

Value Program::binary() {
  Value x = recent(), y = any();
  switch (pick(6)) {
  case 0:
    return bin("mul.Tensor", x, y);
  case 1:
    return bin("add.Tensor", x, y);
  case 2:
    return bin("sub.Tensor", x, y);
  case 3:
    return bin("div.Tensor", x,
               bin("add.Scalar", bin("mul.Tensor", y, y), 1.0));
  case 4:
    return call->call("aten.where.self",
                      {bin("gt.Scalar", pool[pick(kParams)], 0.1), x, y});
  default:
    return call->call("aten.addcmul.default", {x, y, any()});
  }
}

Value Program::product() {
  Value x = recent(), y = any();
  Value t = call->call("aten.t.default", {y});
  Value square = call->call("aten.mm.default", {x, t}); // [4, 4]
  if (pick(2))
    return call->call("aten.mm.default", {square, any()});
  return call->call("aten.linear.default",
                    {x, call->call("aten.mm.default", {t, any()}),
                     call->call("aten.select.int", {any(), 0, 1})});
}

Value Program::reduction() {
  Value x = recent();
  int64_t dim = pick(2);
  Value column;
  switch (pick(6)) {
  case 0:
    column = call->call("aten.mean.dim", {x, {dim}, true});
    break;
  case 1:
    column = call->call("aten.logsumexp.default", {x, {dim}, true});
    break;
  case 2:
    column = call->call("aten.linalg_vector_norm.default", {x, 2, {dim}, true});
    break;
  case 3:
    column = call->call("aten.var.correction", {x, {dim}},
                        {{"correction", 1}, {"keepdim", true}});
    break;
  case 4:
    column = call->call("aten.amax.default", {x, {dim}, true});
    break;
  default:
    column = call->call("aten.prod.dim_int", {x, dim, true});
  }
  return bin(pick(2) ? "mul.Tensor" : "sub.Tensor", any(), column);
}

Value Program::norm() {
  Value x = recent();
  Value row = call->call("aten.select.int", {any(), 0, 0});
  switch (pick(4)) {
  case 0:
    return call->call("aten.layer_norm.default", {x, {6}, row, row, 1e-3});
  case 1: {
    Value image = call->call("aten.view.default", {x, {2, 6, 2}});
    return back(
        call->call("aten.group_norm.default", {image, 3, row, row, 1e-3}));
  }
  case 2:
    return call->call("aten.rms_norm.default", {x, {6}, row, 1e-3});
  default:
    return call->call("aten.batch_norm.default",
                      {x, row, row, Arg(), Arg(), true, 0.1, 1e-3, false});
  }
}

Value Program::softmax() {
  return call->call(pick(2) ? "aten.softmax.int" : "aten.log_softmax.int",
                    {recent(), int64_t(pick(2))});
}

Value Program::image() {
  Value x = call->call("aten.view.default", {recent(), {1, 2, 3, 4}});
  switch (pick(4)) {
  case 0: {
    Value weight = call->call("aten.view.default", {any(), {2, 2, 2, 3}});
    Value padded =
        call->call("aten.constant_pad_nd.default", {x, {1, 1, 1, 0}, 0.0});
    return back(call->call("aten.conv2d.default", {padded, weight}));
  }
  case 1: {
    Value small = call->call("aten.avg_pool2d.default", {x, {1, 2}, {1, 2}});
    return back(call->call("aten.upsample_nearest2d.default",
                           {small, {3, 4}, Arg(), Arg()}));
  }
  case 2: {
    Value small = call->callMany("aten.max_pool2d_with_indices.default",
                                 {x, {1, 2}, {1, 2}})[0];
    return back(call->call("aten.upsample_bilinear2d.default",
                           {small, {3, 4}, true, Arg(), Arg()}));
  }
  default:
    return back(call->call(
        "aten.slice.Tensor",
        {call->call("aten.reflection_pad2d.default", {x, {1, 1, 0, 0}}), 3, 1,
         5}));
  }
}

Value Program::attention() {
  auto heads = [&](Value x) {
    return call->call("aten.view.default", {x, {1, 2, 4, 3}});
  };
  return back(call->call(
      "aten.scaled_dot_product_attention.default",
      {heads(recent()), heads(any()), heads(any()), Arg(), 0.0, pick(2) == 0}));
}

Value Program::gather() {
  Value x = recent();
  Value places =
      call->call("aten.arange.default", {4}, {{"dtype", builder.getI64Type()}});
  Value rows = call->call("aten.remainder.Scalar", {places, 3});
  switch (pick(3)) {
  case 0:
    return call->call("aten.index_select.default", {x, 0, rows});
  case 1:
    return call->call("aten.embedding.default", {x, rows});
  default:
    return call->call("aten.index_add.default", {any(), 0, rows, x});
  }
}

Value Program::move() {
  Value x = recent();
  switch (pick(4)) {
  case 0:
    return back(call->call("aten.permute.default", {x, {1, 0}}));
  case 1:
    return call->call("aten.cat.default",
                      {{Arg(call->call("aten.slice.Tensor", {x, 1, 0, 2})),
                        Arg(call->call("aten.slice.Tensor", {any(), 1, 2}))},
                       1});
  case 2:
    return call->call("aten.flip.default", {x, {0, 1}});
  default:
    return call->call("aten.roll.default", {x, {1}, {1}});
  }
}

Value Program::scan() {
  Value x = recent();
  switch (pick(3)) {
  case 0:
    return call->call("aten.cumsum.default", {x, 1});
  case 1:
    return call->call("aten.cumprod.default",
                      {bin("add.Scalar", bin("mul.Scalar", x, 0.3), 1.0), 1});
  default:
    return call->callMany("aten.sort.default", {x, 1})[0];
  }
}

Value Program::loss() {
  Value x = recent(), y = any();
  switch (pick(5)) {
  case 0:
    return call->call("aten.mse_loss.default", {x, y});
  case 1:
    return call->call("aten.huber_loss.default", {x, y, 1, 0.7});
  case 2: {
    Value classes = call->call("aten.arange.default", {4},
                               {{"dtype", builder.getI64Type()}});
    return call->call("aten.cross_entropy_loss.default", {x, classes});
  }
  case 3:
    return call->call("aten.binary_cross_entropy.default",
                      {un("sigmoid", x), un("sigmoid", y)});
  default:
    return un("sum", bin("mul.Tensor", x, y));
  }
}

OwningOpRef<ModuleOp> Program::build() {
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module(ModuleOp::create(loc));
  builder.setInsertionPointToEnd(module->getBody());
  Type type = RankedTensorType::get({4, 6}, builder.getF64Type());
  SmallVector<Type> types(kParams, type);
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < kParams; ++i)
    attributes.push_back(cast<DictionaryAttr>(
        parseAttribute("{joint.name = \"w" + std::to_string(i) +
                           "\", joint.role = #joint.role<param \"w" +
                           std::to_string(i) + "\">}",
                       builder.getContext())));
  Type scalar = RankedTensorType::get({}, builder.getF64Type());
  auto graph = joint::GraphOp::create(builder, loc, "g",
                                      builder.getFunctionType(types, {scalar}),
                                      1, attributes);
  if (graph.getBody().empty())
    graph.getBody().emplaceBlock();
  Block &block = graph.getBlock();
  while (block.getNumArguments() < kParams)
    block.addArgument(type, loc);
  llvm::append_range(pool, block.getArguments());
  builder.setInsertionPointToEnd(&block);
  ValueNamer namer(graph);
  call = std::make_unique<CallBuilder>(builder, loc, &namer);
  static constexpr Value (Program::*kBlocks[])() = {
      &Program::pointwise, &Program::activation, &Program::binary,
      &Program::binary,    &Program::product,    &Program::reduction,
      &Program::norm,      &Program::softmax,    &Program::image,
      &Program::attention, &Program::gather,     &Program::move,
      &Program::scan};
  for (unsigned i = 0, n = 4 + pick(6); i < n; ++i) {
    Value made = (this->*kBlocks[pick(std::size(kBlocks))])();
    // Bounded, so that no derivative gets large.
    pool.push_back(un("tanh", bin("mul.Scalar", made, 0.8)));
  }
  Value result = loss();
  if (call->failed())
    return {};
  joint::OutputOp::create(builder, loc, ValueRange{result},
                          builder.getDenseI32ArrayAttr({}));
  return module;
}

class RandomHessian : public testing::Test {
protected:
  RandomHessian() {
    registerTrainingGraph(context);
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect>();
  }
  /// The gradients of parameters, flat, after the graph's first results.
  std::vector<double> gradients(joint::GraphOp graph,
                                const std::vector<std::vector<double>> &w,
                                const std::vector<std::vector<double>> &v);
  double worstAt(joint::GraphOp first, joint::GraphOp second,
                 const std::vector<unsigned> &reached, std::mt19937_64 &random);
  void check(uint64_t seed);
  MLIRContext context;
  uint64_t zeros = 0, kinks = 0;
};

Tensor tensorOf(const std::vector<double> &values) {
  Tensor tensor = Tensor::zeros(DType::F64, {4, 6});
  for (size_t i = 0; i < values.size(); ++i)
    tensor.set(int64_t(i), values[i]);
  return tensor;
}

std::vector<double>
RandomHessian::gradients(joint::GraphOp graph,
                         const std::vector<std::vector<double>> &w,
                         const std::vector<std::vector<double>> &v) {
  std::vector<RuntimeValue> arguments;
  size_t param = 0, tangent = 0;
  for (unsigned i = 0; i < graph.getNumArguments(); ++i) {
    joint::RoleKind kind = graph.getRole(i).getKind();
    Tensor one = Tensor::zeros(DType::F64, {});
    one.set(0, 1);
    arguments.emplace_back(kind == joint::RoleKind::Param ? tensorOf(w[param++])
                           : kind == joint::RoleKind::Tangent
                               ? tensorOf(v[tangent++])
                               : one);
  }
  auto results = run(graph, arguments);
  std::vector<double> flat(size_t(kParams) * 24, 0);
  if (failed(results)) {
    ADD_FAILURE() << "does not run";
    return flat;
  }
  joint::OutputOp output = graph.getOutput();
  for (auto [i, of] : llvm::enumerate(output.getGradientOf())) {
    Tensor tensor =
        std::get<Tensor>((*results)[output.getNumForwardResults() + i])
            .contiguous();
    for (int64_t e = 0; e < 24; ++e)
      flat[size_t(of) * 24 + size_t(e)] = tensor.getDouble(e);
  }
  return flat;
}

void RandomHessian::check(uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  OwningOpRef<ModuleOp> module = Program(seed, context).build();
  ASSERT_TRUE(module);
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  SCOPED_TRACE(text);
  OwningOpRef<ModuleOp> again(module->clone());
  auto first = *module->getOps<joint::GraphOp>().begin();
  auto second = *again->getOps<joint::GraphOp>().begin();
  ASSERT_TRUE(succeeded(makeTrainingGraph(first)));
  TrainingGraphOptions options;
  std::vector<unsigned> reached;
  for (int32_t of : first.getOutput().getGradientOf()) {
    options.second.of.push_back("grad.w" + std::to_string(of));
    reached.push_back(unsigned(of));
  }
  std::string error;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error = diagnostic.str();
      return success();
    });
    if (failed(makeTrainingGraph(second, options))) {
      // Linear in the parameters: there is no second derivative.
      ASSERT_TRUE(StringRef(error).starts_with("no result of 'g' that is "))
          << error;
      ++zeros;
      return;
    }
  }
  ASSERT_TRUE(succeeded(verify(*again)));
  std::mt19937_64 random(seed);
  double worst = worstAt(first, second, reached, random);
  if (worst > 1e-6) {
    ++kinks;
    worst = worstAt(first, second, reached, random);
  }
  ASSERT_LE(worst, 1e-6);
}

/// At a random point and along a random vector: the largest difference, over
/// the largest product or one.
double RandomHessian::worstAt(joint::GraphOp first, joint::GraphOp second,
                              const std::vector<unsigned> &reached,
                              std::mt19937_64 &random) {
  std::uniform_real_distribution<double> draw(-1.2, 1.2);
  std::vector<std::vector<double>> w(kParams), v(kParams);
  for (unsigned i = 0; i < kParams; ++i)
    for (unsigned e = 0; e < 24; ++e) {
      w[i].push_back(draw(random));
      v[i].push_back(draw(random));
    }
  std::vector<std::vector<double>> vectors;
  for (unsigned i : reached)
    vectors.push_back(v[i]);
  std::vector<double> product = gradients(second, w, vectors);
  auto at = [&](double step) {
    std::vector<std::vector<double>> moved = w;
    for (unsigned i : reached)
      for (unsigned e = 0; e < 24; ++e)
        moved[i][e] += step * v[i][e];
    return gradients(first, moved, {});
  };
  std::vector<double> above = at(kStep), below = at(-kStep);
  double scale = 1, worst = 0;
  for (auto [i, value] : llvm::enumerate(product)) {
    scale = std::max(scale, std::abs(value));
    double difference = (above[i] - below[i]) / (2 * kStep) - value;
    // Not a number is worse than any.
    if (!(std::abs(difference) <= worst))
      worst = std::abs(difference);
  }
  return std::isfinite(worst) ? worst / scale : 1e300;
}

TEST_F(RandomHessian, ProductsAreDifferencesOfGradients) {
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 200);
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  for (uint64_t seed = first; seed < first + count && !HasFatalFailure();
       ++seed)
    check(seed);
  EXPECT_LT(kinks * 100, count + 200) << "too many points are at a kink";
  EXPECT_LT(zeros * 20, count + 20) << "too many programs are linear";
}

} // namespace

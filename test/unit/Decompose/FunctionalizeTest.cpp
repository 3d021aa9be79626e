// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functionalized programs give what the programs give: in-place ops
// through every kind of view (InPlaceTest.cpp has all of them), and random
// programs of both. The reference is StorageReference.h.

#include "ViewProgram.h"

#include "cutback/Dialect/Aten/Aten.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::test;

namespace {

using Make = Value (*)(CallBuilder &, Value);
struct Named {
  const char *name;
  Make make;
};

/// Another tensor of the sizes of `v`.
Value like(CallBuilder &b, Value v) {
  return b.call("aten.mul.Tensor", {v, 0.75});
}

template <int which> Value withTensor(CallBuilder &b, Value v) {
  static const char *const names[] = {
      "aten.add_.Tensor",   "aten.sub_.Tensor",    "aten.mul_.Tensor",
      "aten.div_.Tensor",   "aten.copy_.default",  "aten.pow_.Scalar",
      "aten.fmod_.Tensor",  "aten.atan2_.default", "aten.remainder_.Tensor",
      "aten.hypot_.default"};
  return b.call(names[which], {v, which == 5 ? Arg(2.0) : Arg(like(b, v))});
}

template <int which> Value ofOne(CallBuilder &b, Value v) {
  static const char *const names[] = {
      "aten.neg_.default",    "aten.exp_.default",
      "aten.relu_.default",   "aten.sigmoid_.default",
      "aten.tanh_.default",   "aten.abs_.default",
      "aten.sqrt_.default",   "aten.zero_.default",
      "aten.floor_.default",  "aten.silu_.default",
      "aten.square_.default", "aten.reciprocal_.default"};
  return b.call(names[which], {v});
}

template <int which> Value withNumber(CallBuilder &b, Value v) {
  static const char *const names[] = {
      "aten.add_.Scalar", "aten.mul_.Scalar",        "aten.fill_.Scalar",
      "aten.eq_.Scalar",  "aten.clamp_min_.default", "aten.div_.Scalar"};
  return b.call(names[which], {v, 1.5});
}

const Named inPlace[] = {
    {"add_", withTensor<0>},
    {"sub_", withTensor<1>},
    {"mul_", withTensor<2>},
    {"div_", withTensor<3>},
    {"copy_", withTensor<4>},
    {"pow_", withTensor<5>},
    {"fmod_", withTensor<6>},
    {"atan2_", withTensor<7>},
    {"remainder_", withTensor<8>},
    {"hypot_", withTensor<9>},
    {"neg_", ofOne<0>},
    {"exp_", ofOne<1>},
    {"relu_", ofOne<2>},
    {"sigmoid_", ofOne<3>},
    {"tanh_", ofOne<4>},
    {"abs_", ofOne<5>},
    {"sqrt_", ofOne<6>},
    {"zero_", ofOne<7>},
    {"floor_", ofOne<8>},
    {"silu_", ofOne<9>},
    {"square_", ofOne<10>},
    {"reciprocal_", ofOne<11>},
    {"add_ number", withNumber<0>},
    {"mul_ number", withNumber<1>},
    {"fill_", withNumber<2>},
    {"eq_", withNumber<3>},
    {"clamp_min_", withNumber<4>},
    {"div_ number", withNumber<5>},
    {"addcmul_",
     [](CallBuilder &b, Value v) {
       return b.call("aten.addcmul_.default", {v, like(b, v), like(b, v)});
     }},
    {"masked_fill_",
     [](CallBuilder &b, Value v) {
       return b.call("aten.masked_fill_.Scalar",
                     {v, b.call("aten.gt.Scalar", {v, 2.0}), 7.0});
     }},
    {"cumsum_", [](CallBuilder &b,
                   Value v) { return b.call("aten.cumsum_.default", {v, 0}); }},
};

class FunctionalizeTest : public testing::Test {
protected:
  FunctionalizeTest() {
    context.loadDialect<AtenDialect, joint::JointDialect>();
    context.disableMultithreading();
  }
  MLIRContext context;
};

TEST_F(FunctionalizeTest, EveryOpThroughEveryView) {
  for (const NamedView &view : allViews())
    for (const Named &op : inPlace) {
      // The reference holds floats only.
      if (StringRef(op.name) == "masked_fill_")
        continue;
      SCOPED_TRACE(std::string(op.name) + " through " + view.name);
      ViewProgram program(context);
      Value base = program.argument({4, 6});
      Value sibling = program.b.call("aten.select.int", {base, 0, 1});
      Value shown = view.make(program.b, base);
      Value written = op.make(program.b, shown);
      Value sum = program.b.call("aten.mul.Tensor", {sibling, 2.0});
      program.check({base, shown, written, sibling, sum});
      if (HasFailure())
        return;
    }
}

TEST_F(FunctionalizeTest, RandomProgramsOfViewsAndWrites) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    ViewProgram program(context);
    std::vector<Value> values = {program.argument({4, 6}),
                                 program.argument({3, 4})};
    for (int i = 0; i < 14; ++i) {
      Value value = values[below(values.size())];
      auto type = cast<RankedTensorType>(value.getType());
      bool small =
          type.getRank() == 0 || type.getRank() > 4 ||
          llvm::any_of(type.getShape(), [](int64_t size) { return size < 4; });
      switch (below(3)) {
      case 0:
        value =
            small ? like(program.b, value)
                  : allViews()[below(allViews().size())].make(program.b, value);
        break;
      case 1: {
        const Named &op = inPlace[below(std::size(inPlace))];
        bool skip = StringRef(op.name) == "masked_fill_" ||
                    (type.getRank() == 0 && StringRef(op.name) == "cumsum_");
        value = skip ? like(program.b, value) : op.make(program.b, value);
        break;
      }
      default:
        value = like(program.b, value);
      }
      values.push_back(value);
    }
    program.check(values);
    if (HasFailure())
      return;
  }
}

/// In-place ops whose functional form has another name, or none of its own.
const char *const otherForms[] = {"aten.pow_.Tensor",
                                  "aten.float_power_.Scalar",
                                  "aten.float_power_.Tensor",
                                  "aten.pow_.Scalar",
                                  "aten.polygamma_.default",
                                  "aten.bernoulli_.float",
                                  "aten.normal_.default",
                                  "aten.floor_divide_.Tensor",
                                  "aten.floor_divide_.Scalar",
                                  "aten.transpose_.default",
                                  "aten.ldexp_.default",
                                  "aten.__iand__.Tensor",
                                  "aten.__iand__.Scalar",
                                  "aten.__ior__.Tensor",
                                  "aten.__ior__.Scalar",
                                  "aten.__ixor__.Tensor",
                                  "aten.__ixor__.Scalar",
                                  "aten.fill_diagonal_.default",
                                  "aten.requires_grad_.default",
                                  "aten.resize_as_.default"};

TEST_F(FunctionalizeTest, EveryInPlaceOpHasAFunctionalForm) {
  const SchemaTable &table = SchemaTable::get(&context);
  unsigned count = 0;
  for (const Schema *schema : table.all()) {
    std::string name = (schema->packet + "." + schema->overload).str();
    if (schema->params.empty() || !schema->params.front().isWritten ||
        llvm::is_contained(otherForms, name))
      continue;
    ++count;
    name.erase(name.rfind("_."), 1);
    const Schema *functional = table.lookup(name);
    ASSERT_TRUE(functional) << name;
    EXPECT_EQ(functional->params.front().kind, ParamKind::Tensor) << name;
  }
  EXPECT_GT(count, 150u);
}

TEST_F(FunctionalizeTest, AGraphWithoutWritesStays) {
  ViewProgram program(context);
  Value x = program.argument({4, 6});
  program.check({program.b.call("aten.relu.default", {x})});
}

} // namespace

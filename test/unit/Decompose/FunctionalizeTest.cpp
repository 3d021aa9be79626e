// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functionalized programs give what the programs give: every in-place op
// through every kind of view, and random programs of both. The reference is
// StorageReference.h.

#include "StorageReference.h"

#include "cutback/Decompose/Functionalize.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Interpreter/Interpreter.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::test;
using interpreter::DType;
using interpreter::Tensor;

namespace {

/// A graph being written, of f64 buffers and what is computed from them.
class Program {
public:
  explicit Program(MLIRContext &context)
      : b(builder, UnknownLoc::get(&context)), builder(&context),
        module(ModuleOp::create(UnknownLoc::get(&context))) {
    builder.setInsertionPointToEnd(module->getBody());
    graph = joint::GraphOp::create(builder, b.getLoc(), "g",
                                   builder.getFunctionType({}, {}), 0,
                                   ArrayRef<DictionaryAttr>());
    if (graph.getBody().empty())
      graph.getBody().emplaceBlock();
    builder.setInsertionPointToEnd(&graph.getBlock());
  }

  Value argument(ArrayRef<int64_t> sizes) {
    MLIRContext *context = builder.getContext();
    unsigned number = graph.getNumArguments();
    NamedAttrList attrs;
    attrs.set("joint.role", parseAttribute("#joint.role<buffer>", context));
    attrs.set("joint.name",
              builder.getStringAttr("a" + std::to_string(number)));
    (void)graph.insertArgument(
        number, RankedTensorType::get(sizes, builder.getF64Type()),
        attrs.getDictionary(context), b.getLoc());
    Tensor tensor = Tensor::zeros(DType::F64, sizes);
    for (int64_t i = 0; i < tensor.numel(); ++i)
      tensor.set(i, std::sin(1.3 * static_cast<double>(i) + number) + 2.0);
    arguments.push_back(tensor);
    return graph.getArgument(number);
  }

  /// Runs the program as it is and as a program of values.
  void check(ArrayRef<Value> outputs) {
    ASSERT_FALSE(b.failed());
    SmallVector<Type> types;
    for (Value value : outputs)
      types.push_back(value.getType());
    joint::OutputOp::create(builder, b.getLoc(), outputs,
                            builder.getDenseI32ArrayAttr({}));
    graph.setFunctionType(
        builder.getFunctionType(graph.getArgumentTypes(), types));
    graph.setNumForwardResults(static_cast<int64_t>(types.size()));
    ASSERT_TRUE(succeeded(verify(*module)));
    std::vector<Tensor> before;
    std::vector<interpreter::RuntimeValue> values;
    for (const Tensor &argument : arguments) {
      for (auto *list : {&before, &after}) {
        list->push_back(Tensor::zeros(DType::F64, argument.sizes));
        interpreter::copyElements(argument, list->back());
      }
      values.emplace_back(after.back());
    }
    auto expected = StorageReference(graph).run(before);
    ASSERT_TRUE(succeeded(functionalize(graph)));
    ASSERT_TRUE(succeeded(verify(*module)));
    graph.walk([](CallOp op) { EXPECT_FALSE(op.hasOrderedEffects()); });
    auto results = interpreter::run(graph, values);
    ASSERT_TRUE(succeeded(results));
    for (auto [result, wanted] : llvm::zip(*results, expected))
      expectEqual(std::get<Tensor>(result).doubles(), wanted);
    for (auto [argument, wanted] : llvm::zip(after, before))
      expectEqual(argument.doubles(), wanted.doubles());
    if (testing::Test::HasFailure())
      graph.print(llvm::outs());
  }

  static void expectEqual(const std::vector<double> &a,
                          const std::vector<double> &wanted) {
    ASSERT_EQ(a.size(), wanted.size());
    for (size_t i = 0; i < a.size(); ++i)
      if (!(std::isnan(a[i]) && std::isnan(wanted[i])))
        EXPECT_EQ(a[i], wanted[i]) << "element " << i;
  }

  CallBuilder b;

private:
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  joint::GraphOp graph;
  std::vector<Tensor> arguments, after;
};

using Make = Value (*)(CallBuilder &, Value);
struct Named {
  const char *name;
  Make make;
};

/// Views of [4, 6] tensors, and of any rank from 1 on where `anyRank` says so.
const Named views[] = {
    {"itself", [](CallBuilder &, Value v) { return v; }},
    {"view", [](CallBuilder &b,
                Value v) { return b.call("aten.view.default", {v, {-1}}); }},
    {"select", [](CallBuilder &b,
                  Value v) { return b.call("aten.select.int", {v, -1, -2}); }},
    {"slice",
     [](CallBuilder &b, Value v) {
       return b.call("aten.slice.Tensor", {v, 0, 1, 9223372036854775807, 2});
     }},
    {"narrow",
     [](CallBuilder &b, Value v) {
       return b.call("aten.narrow.default", {v, 0, -3, 2});
     }},
    {"transpose",
     [](CallBuilder &b, Value v) {
       return b.call("aten.transpose.int", {v, 0, -1});
     }},
    {"t",
     [](CallBuilder &b, Value v) {
       return rankOf(v) > 2 ? v : b.call("aten.t.default", {v});
     }},
    {"permute",
     [](CallBuilder &b, Value v) {
       SmallVector<int64_t> order;
       for (int64_t i = 0; i < rankOf(v); ++i)
         order.push_back((i + 1) % rankOf(v));
       return b.call("aten.permute.default", {v, order});
     }},
    {"movedim", [](CallBuilder &b,
                   Value v) { return b.call("aten.movedim.int", {v, 0, -1}); }},
    {"unsqueeze",
     [](CallBuilder &b, Value v) {
       return b.call("aten.unsqueeze.default", {v, 1});
     }},
    {"squeeze",
     [](CallBuilder &b, Value v) {
       return b.call("aten.squeeze.dim",
                     {b.call("aten.unsqueeze.default", {v, 0}), 0});
     }},
    {"squeeze all",
     [](CallBuilder &b, Value v) {
       return b.call("aten.squeeze.default", {v});
     }},
    {"diagonal",
     [](CallBuilder &b, Value v) {
       return rankOf(v) < 2 ? v : b.call("aten.diagonal.default", {v, 1, 0, 1});
     }},
    {"expand",
     [](CallBuilder &b, Value v) {
       std::vector<Arg> sizes = b.sizes(v).getList().vec();
       sizes.insert(sizes.begin(), Arg(int64_t(1)));
       return b.call("aten.expand.default", {v, sizes});
     }},
    {"as_strided",
     [](CallBuilder &b, Value v) {
       return isa<BlockArgument>(v) && rankOf(v) == 2
                  ? b.call("aten.as_strided.default", {v, {3, 2}, {6, 2}, 1})
                  : v;
     }},
    {"split",
     [](CallBuilder &b, Value v) {
       return b.callMany("aten.split.Tensor", {v, 2}).back();
     }},
    {"chunk",
     [](CallBuilder &b, Value v) {
       return b.callMany("aten.chunk.default", {v, 2, -1}).back();
     }},
    {"unbind",
     [](CallBuilder &b, Value v) {
       return b.callMany("aten.unbind.int", {v, 0}).back();
     }},
    {"split_with_sizes",
     [](CallBuilder &b, Value v) {
       return b.callMany("aten.split_with_sizes.default",
                         {v, {2, shapeOf(v)[0] - 2}})[1];
     }},
    {"detach", [](CallBuilder &b,
                  Value v) { return b.call("aten.detach.default", {v}); }},
    {"alias",
     [](CallBuilder &b, Value v) { return b.call("aten.alias.default", {v}); }},
    {"unflatten",
     [](CallBuilder &b, Value v) {
       return b.call("aten.unflatten.int", {v, 0, {1, -1}});
     }},
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
  for (const Named &view : views)
    for (const Named &op : inPlace) {
      // The reference holds floats only.
      if (StringRef(op.name) == "masked_fill_")
        continue;
      SCOPED_TRACE(std::string(op.name) + " through " + view.name);
      Program program(context);
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
    Program program(context);
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
        value = small ? like(program.b, value)
                      : views[below(std::size(views))].make(program.b, value);
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
const char *const otherForms[] = {
    "aten.pow_.Tensor",           "aten.float_power_.Scalar",
    "aten.float_power_.Tensor",   "aten.pow_.Scalar",
    "aten.bernoulli_.float",      "aten.normal_.default",
    "aten.floor_divide_.Tensor",  "aten.floor_divide_.Scalar",
    "aten.transpose_.default",    "aten.__iand__.Tensor",
    "aten.__iand__.Scalar",       "aten.__ior__.Tensor",
    "aten.__ior__.Scalar",        "aten.__ixor__.Tensor",
    "aten.__ixor__.Scalar",       "aten.fill_diagonal_.default",
    "aten.requires_grad_.default"};

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
  Program program(context);
  Value x = program.argument({4, 6});
  program.check({program.b.call("aten.relu.default", {x})});
}

} // namespace

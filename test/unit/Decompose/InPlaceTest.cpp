// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every in-place op of the schema table, through every kind of view, gives what
// its functional form gives, written to the places that the view shows. Calls
// are made from the schema: a tensor gets another one of the same sizes, a
// number gets a number. Ops that want other shapes, indices or masks have a
// call of their own below; the view kinds (`t_`, `squeeze_`) and those that
// write nothing are read through their results.

#include "ViewProgram.h"

#include "cutback/Dialect/Aten/Aten.h"

#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::test;
using interpreter::DType;

namespace {

using Call = Value (*)(CallBuilder &b, StringRef name, Value v);

Value like(CallBuilder &b, Value v) {
  return b.call("aten.roll.default", {v, {1}, {0}});
}
Value isLarge(CallBuilder &b, Value v) {
  return b.call("aten.gt.Scalar", {v, 0.5});
}
Value filled(CallBuilder &b, ArrayRef<int64_t> sizes, double value) {
  return b.call("aten.full.default", {sizes, value},
                {{"dtype", b.getBuilder().getF64Type()}});
}
/// 0, 1, …, of i64.
Value numbers(CallBuilder &b, int64_t count) {
  return b.call("aten.arange.default", {count},
                {{"dtype", b.getBuilder().getI64Type()}});
}
/// Zeros of the sizes of `v`, of i64: an index along dimension 0.
Value zeroIndex(CallBuilder &b, Value v) {
  return b.call("aten.zeros_like.default", {v},
                {{"dtype", b.getBuilder().getI64Type()}});
}
bool isMatrix(Value v) { return rankOf(v) == 2; }
int64_t sizeOf(Value v, unsigned dim) { return shapeOf(v)[dim]; }

/// The first entries of dimension 0, as many as it has, backwards.
Value backwards(CallBuilder &b, Value v) {
  return b.call("aten.flip.default", {numbers(b, sizeOf(v, 0)), {0}});
}

Value addmm(CallBuilder &b, StringRef name, Value v) {
  if (!isMatrix(v))
    return {};
  return b.call(name, {v, filled(b, {sizeOf(v, 0), 2}, 0.5),
                       filled(b, {2, sizeOf(v, 1)}, 1.5)});
}
Value addmv(CallBuilder &b, StringRef name, Value v) {
  if (rankOf(v) != 1)
    return {};
  return b.call(name, {v, filled(b, {sizeOf(v, 0), 2}, 0.5),
                       filled(b, ArrayRef<int64_t>{2}, 1.5)});
}
Value addr(CallBuilder &b, StringRef name, Value v) {
  if (!isMatrix(v))
    return {};
  return b.call(name, {v, filled(b, ArrayRef<int64_t>{sizeOf(v, 0)}, 0.5),
                       filled(b, ArrayRef<int64_t>{sizeOf(v, 1)}, 1.5)});
}
Value addbmm(CallBuilder &b, StringRef name, Value v) {
  if (!isMatrix(v))
    return {};
  return b.call(name, {v, filled(b, {3, sizeOf(v, 0), 2}, 0.5),
                       filled(b, {3, 2, sizeOf(v, 1)}, 1.5)});
}
Value baddbmm(CallBuilder &b, StringRef name, Value v) {
  if (rankOf(v) != 3)
    return {};
  return b.call(name, {v, filled(b, {sizeOf(v, 0), sizeOf(v, 1), 2}, 0.5),
                       filled(b, {sizeOf(v, 0), 2, sizeOf(v, 2)}, 1.5)});
}
Value fillDiagonal(CallBuilder &b, StringRef name, Value v) {
  return isMatrix(v) ? b.call(name, {v, 9.0}) : Value();
}
Value renorm(CallBuilder &b, StringRef name, Value v) {
  return isMatrix(v) ? b.call(name, {v, numbers(b, 2), 0.5, 2.0}) : Value();
}
Value alongRows(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, 0, backwards(b, v), like(b, v)});
}
Value indexFill(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, 0, numbers(b, 1), 7.0});
}
Value indexFillTensor(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, 0, numbers(b, 1), filled(b, {}, 7.0)});
}
Value indexReduce(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, 0, backwards(b, v), like(b, v), "amax"});
}
Value indexPut(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, {backwards(b, v)}, like(b, v)});
}
Value maskedFill(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, isLarge(b, v), 7.0});
}
Value maskedFillTensor(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, isLarge(b, v), filled(b, {}, 7.0)});
}
Value maskedScatter(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, isLarge(b, v), like(b, v)});
}
Value put(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, numbers(b, 2), filled(b, ArrayRef<int64_t>{2}, 7.0)});
}
Value scatter(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, 0, zeroIndex(b, v), like(b, v)});
}
Value scatterReduce(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, 0, zeroIndex(b, v), like(b, v)},
                {{"reduce", name.contains("two") ? "sum" : "add"}});
}
Value scatterNumber(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, 0, zeroIndex(b, v), 7.0});
}
Value scatterNumberReduce(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, 0, zeroIndex(b, v), 7.0}, {{"reduce", "multiply"}});
}
Value fillTensor(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, filled(b, {}, 7.0)});
}
Value roundTo(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v}, {{"decimals", 1}});
}
Value divideMode(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, name.contains("Tensor") ? Arg(like(b, v)) : Arg(0.3)},
                {{"rounding_mode", "floor"}});
}
Value fromBelow(CallBuilder &b, StringRef name, Value v) {
  return b.call(name,
                {v, name.contains("Tensor") ? Arg(like(b, v)) : Arg(0.4)});
}
Value dropChannels(CallBuilder &b, StringRef name, Value v) {
  return rankOf(v) >= 2 ? b.call(name, {v, 0.3, true}) : Value();
}
Value trigamma(CallBuilder &b, StringRef name, Value v) {
  return b.call(name, {v, 1});
}
Value onMatrix(CallBuilder &b, StringRef name, Value v) {
  return rankOf(v) >= 2 ? b.call(name, {v, 1}) : Value();
}

const std::map<std::string, Call> ownCalls = {
    {"aten.addmm_.default", addmm},
    {"aten.addmv_.default", addmv},
    {"aten.addr_.default", addr},
    {"aten.addbmm_.default", addbmm},
    {"aten.baddbmm_.default", baddbmm},
    {"aten.clamp_.default", fromBelow},
    {"aten.clamp_.Tensor", fromBelow},
    {"aten.clip_.default", fromBelow},
    {"aten.clip_.Tensor", fromBelow},
    {"aten.div_.Scalar_mode", divideMode},
    {"aten.div_.Tensor_mode", divideMode},
    {"aten.divide_.Scalar_mode", divideMode},
    {"aten.divide_.Tensor_mode", divideMode},
    {"aten.embedding_renorm_.default", renorm},
    {"aten.feature_dropout_.default", dropChannels},
    {"aten.fill_.Tensor", fillTensor},
    {"aten.fill_diagonal_.default", fillDiagonal},
    {"aten.index_add_.default", alongRows},
    {"aten.index_copy_.default", alongRows},
    {"aten.index_fill_.int_Scalar", indexFill},
    {"aten.index_fill_.int_Tensor", indexFillTensor},
    {"aten.index_put_.default", indexPut},
    {"aten.index_reduce_.default", indexReduce},
    {"aten.masked_fill_.Scalar", maskedFill},
    {"aten.masked_fill_.Tensor", maskedFillTensor},
    {"aten.masked_scatter_.default", maskedScatter},
    {"aten.polygamma_.default", trigamma},
    {"aten.put_.default", put},
    {"aten.round_.decimals", roundTo},
    {"aten.scatter_.reduce", scatterReduce},
    {"aten.scatter_.src", scatter},
    {"aten.scatter_.value", scatterNumber},
    {"aten.scatter_.value_reduce", scatterNumberReduce},
    {"aten.scatter_add_.default", scatter},
    {"aten.scatter_reduce_.two", scatterReduce},
    {"aten.tril_.default", onMatrix},
    {"aten.triu_.default", onMatrix},
};

/// A call made from the schema.
Value callOf(CallBuilder &b, const Schema &schema, StringRef name, Value v) {
  auto own = ownCalls.find(name.str());
  if (own != ownCalls.end())
    return own->second(b, name, v);
  SmallVector<NamedArg> args;
  for (const SchemaParam &param : schema.params) {
    if (param.isWritten)
      args.push_back({param.name, Arg(v)});
    else if (param.kind == ParamKind::Tensor)
      args.push_back({param.name, Arg(like(b, v))});
    else if (param.kind == ParamKind::Scalar && !param.defaultValue)
      args.push_back({param.name, Arg(int64_t(2))});
    else if (param.kind == ParamKind::Int && !param.defaultValue)
      args.push_back({param.name, Arg(int64_t(param.name == "to" ? 5 : 0))});
    else if (param.kind == ParamKind::Float && !param.defaultValue)
      args.push_back({param.name, Arg(0.3)});
    else if (param.kind == ParamKind::Bool && !param.defaultValue)
      args.push_back({param.name, Arg(true)});
  }
  return b.call(name, {}, args);
}

std::string nameOf(const Schema &schema) {
  return (schema.packet + "." + schema.overload).str();
}

/// Ops on whole numbers.
bool wantsIntegers(StringRef packet) {
  return packet.contains("bitwise") || packet.contains("__i") ||
         packet == "aten.gcd_" || packet == "aten.lcm_";
}

/// Those that only show `self` otherwise, or do nothing with its values.
bool writesNothing(StringRef packet) {
  static const llvm::StringSet<> packets = {
      "aten.squeeze_",    "aten.unsqueeze_", "aten.t_",
      "aten.transpose_",  "aten.swapaxes_",  "aten.swapdims_",
      "aten.as_strided_", "aten.detach_",    "aten.requires_grad_",
      "aten.resize_",     "aten.resize_as_"};
  return packets.contains(packet);
}

/// Ops that the interpreter has no kernel for; rules take them apart.
bool cannotRun(StringRef packet) {
  return packet == "aten.mvlgamma_" || packet == "aten.renorm_" ||
         packet == "aten.rrelu_" || packet == "aten.alpha_dropout_" ||
         packet == "aten.feature_alpha_dropout_";
}

class InPlaceTest : public testing::Test {
protected:
  InPlaceTest() {
    context.loadDialect<AtenDialect, joint::JointDialect>();
    context.disableMultithreading();
  }

  /// The op through one view; what else sees the buffer sees the new values.
  /// False if the op has no call on such a view.
  bool checkThrough(const Schema &schema, const NamedView &view) {
    std::string name = nameOf(schema);
    SCOPED_TRACE(name + " through " + view.name);
    ViewProgram program(context);
    DType type = wantsIntegers(schema.packet) ? DType::I64 : DType::F64;
    // Most functions of a number are defined below 1.
    Value base = program.argument({4, 6}, type, 0.3);
    Value sibling = program.b.call("aten.select.int", {base, 0, 1});
    Value shown = view.make(program.b, base);
    Value written = callOf(program.b, schema, name, shown);
    if (!written)
      return false;
    Value sum = program.b.call("aten.mul.Tensor", {sibling, 2});
    program.check({base, shown, written, sibling, sum});
    return true;
  }

  MLIRContext context;
};

TEST_F(InPlaceTest, EveryOpThroughEveryView) {
  unsigned ops = 0;
  for (const Schema *schema : SchemaTable::get(&context).all()) {
    if (schema->params.empty() || !schema->params.front().isWritten ||
        writesNothing(schema->packet) || cannotRun(schema->packet))
      continue;
    ++ops;
    unsigned through = 0;
    for (const NamedView &view : allViews()) {
      through += checkThrough(*schema, view);
      if (HasFailure())
        break;
    }
    EXPECT_GE(through, 2u) << nameOf(*schema);
  }
  EXPECT_GT(ops, 200u);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program is written once and run twice: by the reference, which knows
// places in storages, and as values after functionalization. Elements are
// compared bit for bit, NaN with NaN.

#include "ViewProgram.h"

#include "StorageReference.h"

#include "cutback/Decompose/Functionalize.h"
#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Interpreter/Interpreter.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::test;
using interpreter::DType;
using interpreter::Tensor;

ViewProgram::ViewProgram(MLIRContext &context)
    : builder(&context), b(builder, UnknownLoc::get(&context)),
      module(ModuleOp::create(UnknownLoc::get(&context))) {
  builder.setInsertionPointToEnd(module->getBody());
  graph = joint::GraphOp::create(builder, b.getLoc(), "g",
                                 builder.getFunctionType({}, {}), 0,
                                 ArrayRef<DictionaryAttr>());
  if (graph.getBody().empty())
    graph.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&graph.getBlock());
}

Value ViewProgram::argument(ArrayRef<int64_t> sizes, DType type, double scale) {
  MLIRContext *context = builder.getContext();
  unsigned number = graph.getNumArguments();
  NamedAttrList attrs;
  attrs.set("joint.role", parseAttribute("#joint.role<buffer>", context));
  attrs.set("joint.name", builder.getStringAttr("a" + std::to_string(number)));
  (void)graph.insertArgument(
      number, RankedTensorType::get(sizes, typeOf(type, context)),
      attrs.getDictionary(context), b.getLoc());
  Tensor tensor = Tensor::zeros(type, sizes);
  for (int64_t i = 0; i < tensor.numel(); ++i)
    if (interpreter::isFloating(type))
      tensor.set(i, (std::sin(1.3 * static_cast<double>(i) + number) + 2.0) *
                        scale);
    else
      tensor.setInt(i, 1 + (i * 7 + number) % 11);
  arguments.push_back(tensor);
  return graph.getArgument(number);
}

static void expectEqual(const std::vector<double> &a,
                        const std::vector<double> &wanted) {
  ASSERT_EQ(a.size(), wanted.size());
  for (size_t i = 0; i < a.size(); ++i)
    if (!(std::isnan(a[i]) && std::isnan(wanted[i])))
      EXPECT_EQ(a[i], wanted[i]) << "element " << i;
}

void ViewProgram::check(ArrayRef<Value> outputs) {
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
      list->push_back(Tensor::zeros(argument.type, argument.sizes));
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

static const NamedView views[] = {
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

ArrayRef<NamedView> cutback::test::allViews() { return views; }

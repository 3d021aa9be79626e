// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The core: order, views, writes, release, checks, and what it says of graphs
// that cannot run.

#include "RunHarness.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/CallArgs.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

using Doubles = std::vector<double>;

class InterpreterTest : public RunTest {
protected:
  Doubles doubles(const std::vector<RuntimeValue> &results, size_t i = 0) {
    if (i >= results.size()) {
      ADD_FAILURE() << message;
      return {};
    }
    return std::get<Tensor>(results[i]).doubles();
  }
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, OpsRunInOrder) {
  EXPECT_EQ(runToDoubles("%x: tensor<2xf32>", R"(-> tensor<2xf32> {
    %0 = aten.mul.Tensor(%x, 2.0) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = aten.add.Tensor(%0, %x, alpha = 10) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  })",
                         {floats({2}, {1, 3})}),
            (Doubles{12, 36}));
}

TEST_F(InterpreterTest, EachOpIsRoundedToItsOwnType) {
  // 2049 is no f16, and no later op may know that it was meant.
  EXPECT_EQ(runToDoubles("%x: tensor<1xf16>", R"(-> tensor<1xf16> {
    %0 = aten.add.Tensor(%x, 1.0) : (tensor<1xf16>) -> tensor<1xf16>
    %1 = aten.sub.Tensor(%0, %x) : (tensor<1xf16>, tensor<1xf16>) -> tensor<1xf16>
    return %1 : tensor<1xf16>
  })",
                         {tensorOf(DType::F16, {1}, {2048})}),
            Doubles{0});
}

TEST_F(InterpreterTest, SizesAreNumbersOfTheRun) {
  std::string body = R"(-> (tensor<?xf32>, index) {
    %n = aten.sym_size.int(%x, 0) : (tensor<?x2xf32>) -> index
    %m = aten.sym.mul(%n, 2) : (index) -> index
    %0 = aten.view(%x, [%m]) : (tensor<?x2xf32>, index) -> tensor<?xf32>
    %1 = aten.mul.Tensor(%0, %n) : (tensor<?xf32>, index) -> tensor<?xf32>
    return %1, %m : tensor<?xf32>, index
  })";
  for (int64_t n : {1, 3}) {
    auto results = run("%x: tensor<?x2xf32>", body, {counting({n, 2})});
    ASSERT_EQ(results.size(), 2u) << message;
    EXPECT_EQ(std::get<Tensor>(results[0]).sizes[0], 2 * n);
    EXPECT_EQ(std::get<Tensor>(results[0]).getDouble(1), n);
    EXPECT_EQ(std::get<int64_t>(results[1]), 2 * n);
  }
}

TEST_F(InterpreterTest, PythonArithmeticOnSizes) {
  struct Case {
    const char *op, *type;
    double expected;
  };
  const Case cases[] = {
      {"aten.sym.floordiv(%a, %b)", "index", -4},
      {"aten.sym.mod(%a, %b)", "index", -1},
      {"aten.sym.pow(%b, 3)", "index", -8},
      {"aten.sym.truediv(%a, %b)", "f64", -3.5},
      {"aten.sym.sub(%a, %b)", "index", 9},
      {"aten.sym.add(%a, 0.5)", "f64", 7.5},
      {"aten.sym.max(%a, %b)", "index", 7},
      {"aten.sym.min(%a, %b)", "index", -2},
      {"aten.sym.neg(%a)", "index", -7},
      {"aten.sym.abs(%b)", "index", 2},
      {"aten.sym.ge(%a, 7)", "i1", 1},
      {"aten.sym.lt(%a, %b)", "i1", 0},
      {"aten.sym.eq(%a, %b)", "i1", 0},
      {"aten.sym.ne(%a, %b)", "i1", 1},
      {"aten.sym.le(%b, %b)", "i1", 1},
      {"aten.sym.gt(%b, %b)", "i1", 0},
      {"aten.sym.float(%a)", "f64", 7},
      {"aten.sym.sqrt(49)", "f64", 7},
      {"aten.sym.floor(2.5)", "index", 2},
      {"aten.sym.ceil(2.5)", "index", 3},
      {"aten.sym.trunc(-2.5)", "index", -2},
      {"aten.sym.round(2.5)", "index", 2},
      {"aten.sym.int(-2.5)", "index", -2},
      {"aten.sym.pos(%a)", "index", 7},
      {"aten.sym.sum([%a, %b, 4])", "index", 9},
      {"aten.sym.ite(true, %a, %b)", "index", 7},
      {"aten.sym.and_(true, false)", "i1", 0},
      {"aten.sym.or_(true, false)", "i1", 1},
      {"aten.sym.not(true)", "i1", 0},
  };
  for (const Case &c : cases) {
    std::string op = c.op, types;
    for (size_t at = 0; (at = op.find('%', at)) != std::string::npos; ++at)
      types += types.empty() ? "index" : ", index";
    auto results =
        run("%a: index, %b: index",
            std::string("-> ") + c.type + " {\n%r = " + op + " : (" + types +
                ") -> " + c.type + "\nreturn %r : " + c.type + "\n}",
            {int64_t(7), int64_t(-2)});
    ASSERT_EQ(results.size(), 1u) << op << message;
    double value = 0;
    if (const auto *integer = std::get_if<int64_t>(&results[0]))
      value = static_cast<double>(*integer);
    else if (const auto *real = std::get_if<double>(&results[0]))
      value = *real;
    else
      value = std::get<bool>(results[0]);
    EXPECT_EQ(value, c.expected) << op;
  }
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, ViewsShareTheirStorageAndMoveNothing) {
  std::vector<RuntimeValue> seen;
  InterpreterOptions options;
  OpCallback observer([&](Operation *, ArrayRef<RuntimeValue> results) {
    seen.push_back(results[0]);
  });
  options.observers = {&observer};
  Tensor x = counting({2, 6});
  run("%x: tensor<2x6xf32>", R"(-> tensor<3x4xf32> {
    %0 = aten.view(%x, [3, 4]) : (tensor<2x6xf32>) -> tensor<3x4xf32>
    %1 = aten.t(%0) : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %2 = aten.slice.Tensor(%1, 0, 1, 4, 2) : (tensor<4x3xf32>) -> tensor<2x3xf32>
    %3 = aten.view(%2, [6]) : (tensor<2x3xf32>) -> tensor<6xf32>
    return %0 : tensor<3x4xf32>
  })",
      {x}, options);
  ASSERT_EQ(seen.size(), 4u) << message;
  auto tensor = [&](int i) { return std::get<Tensor>(seen[i]); };
  for (int i : {0, 1, 2})
    EXPECT_EQ(tensor(i).storage, x.storage);
  EXPECT_EQ(tensor(1).strides[0], 1);
  EXPECT_EQ(tensor(1).strides[1], 4);
  EXPECT_EQ(tensor(2).offset, 1);
  EXPECT_EQ(tensor(2).strides[0], 2);
  // Strides do not allow the last one.
  EXPECT_NE(tensor(3).storage, x.storage);
  EXPECT_TRUE(tensor(3).isContiguous());
  EXPECT_EQ(tensor(3).doubles(), (Doubles{1, 5, 9, 3, 7, 11}));
}

TEST_F(InterpreterTest, CopiesOfViewsGoToTheMemoryOfTheirValue) {
  struct Places : Memory {
    Tensor allocate(Value value, DType type, ArrayRef<int64_t> sizes) override {
      asked.push_back(joint::getValueName(value).str());
      Tensor place = Tensor::zeros(type, sizes);
      // What was there before must not be seen.
      for (int64_t i = 0; i < place.numel(); ++i)
        place.set(i, -7);
      return place;
    }
    void finished(Operation *) override { ++ops; }
    std::vector<std::string> asked;
    int ops = 0;
  } places;
  InterpreterOptions options;
  options.memory = &places;
  auto results =
      run("%x: tensor<2x3xf32>", R"(-> (tensor<6xf32>, tensor<2xf32>) {
    %t = aten.t(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %v = aten.reshape(%t, [6]) : (tensor<3x2xf32>) -> tensor<6xf32>
    %e = aten.eye.m(1, 2) : () -> tensor<1x2xf32>
    %s = aten.squeeze(%e) : (tensor<1x2xf32>) -> tensor<2xf32>
    return %v, %s : tensor<6xf32>, tensor<2xf32>
  })",
          {counting({2, 3})}, options);
  EXPECT_EQ(places.asked, (std::vector<std::string>{"v", "e"}));
  EXPECT_EQ(places.ops, 4);
  EXPECT_EQ(doubles(results), (Doubles{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(doubles(results, 1), (Doubles{1, 0}));
}

TEST_F(InterpreterTest, APlaceMayBeThatOfAnOperandOfAPointwiseOp) {
  struct InPlace : Memory {
    Tensor allocate(Value, DType, ArrayRef<int64_t>) override { return place; }
    Tensor place = floats({3}, {1, 2, 3});
  } memory;
  InterpreterOptions options;
  options.memory = &memory;
  auto results = run("%x: tensor<3xf32>", R"(-> tensor<3xf32> {
    %0 = aten.exp2(%x) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = aten.add.Tensor(%0, %0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %2 = aten.clone(%1) : (tensor<3xf32>) -> tensor<3xf32>
    return %2 : tensor<3xf32>
  })",
                     {memory.place}, options);
  EXPECT_EQ(doubles(results), (Doubles{4, 8, 16}));
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, LaterReadsOfAWrittenArgumentSeeTheNewValue) {
  Tensor buffer = floats({2}, {1, 2});
  auto results = run("%b: tensor<2xf32>",
                     R"(-> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
    %old = aten.mul.Tensor(%b, 10.0) : (tensor<2xf32>) -> tensor<2xf32>
    %w = joint.write %b, %old : tensor<2xf32>, tensor<2xf32>
    %new = aten.add.Tensor(%b, 1.0) : (tensor<2xf32>) -> tensor<2xf32>
    return %old, %new, %w : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  })",
                     {buffer});
  EXPECT_EQ(doubles(results, 0), (Doubles{10, 20}));
  EXPECT_EQ(doubles(results, 1), (Doubles{11, 21}));
  EXPECT_EQ(doubles(results, 2), (Doubles{10, 20}));
  EXPECT_EQ(buffer.doubles(), (Doubles{10, 20}));
}

TEST_F(InterpreterTest, AViewOfAnArgumentKeepsItsValueWhenThatIsWritten) {
  auto results = run(
      "%b: tensor<2x2xf32>",
      R"(-> (tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
    %t = aten.t(%b) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %s = aten.select.int(%t, 0, 1) : (tensor<2x2xf32>) -> tensor<2xf32>
    %w = joint.write %b, %t : tensor<2x2xf32>, tensor<2x2xf32>
    %u = aten.t(%b) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = aten.add.Tensor(%b, 1.0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %v = joint.write %b, %2 : tensor<2x2xf32>, tensor<2x2xf32>
    return %t, %s, %w, %u : tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  })",
      {floats({2, 2}, {1, 2, 3, 4})});
  EXPECT_EQ(doubles(results, 0), (Doubles{1, 3, 2, 4}));
  EXPECT_EQ(doubles(results, 1), (Doubles{2, 4}));
  EXPECT_EQ(doubles(results, 2), (Doubles{1, 3, 2, 4}));
  EXPECT_EQ(doubles(results, 3), (Doubles{1, 2, 3, 4}));
}

TEST_F(InterpreterTest, OnlyViewsThatAreReadBehindAWriteAreCopied) {
  Operation *function =
      parse(R"(func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>)
      -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
    %unread = aten.t(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %exp = aten.exp(%unread) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %before = aten.t(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %chain = aten.t(%before) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %other = aten.t(%b) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %passed = joint.barrier %a : tensor<2x2xf32>
    %yielded = joint.checkpoint attributes {} {
      %inside = aten.t(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
      joint.yield %inside : tensor<2x2xf32>
    } : tensor<2x2xf32>
    %w = joint.write %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
    %after = aten.t(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %chain, %other, %passed, %yielded, %after : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  })");
  ASSERT_TRUE(function);
  auto namesOf = [](const llvm::SetVector<Value> &values) {
    std::vector<std::string> names;
    for (Value value : values)
      names.push_back(joint::getValueName(value).str());
    return names;
  };
  // %before is read in front of the write alone, by a view that is a copy. The
  // barrier has no name.
  EXPECT_EQ(namesOf(findForcedCopies(function)),
            (std::vector<std::string>{"chain", "", "inside"}));
  // With readers that run behind all writes, wherever they stand.
  EXPECT_EQ(
      namesOf(findForcedCopies(function, [](Operation *) { return true; })),
      (std::vector<std::string>{"unread", "before", "", "inside"}));
}

TEST_F(InterpreterTest, WritesConvertAndMayGoThroughStrides) {
  Tensor buffer = Tensor::zeros(DType::I64, {3, 2});
  std::swap(buffer.sizes[0], buffer.sizes[1]);
  std::swap(buffer.strides[0], buffer.strides[1]);
  run("%b: tensor<2x3xi64>, %x: tensor<2x3xf32>", R"({
    %w = joint.write %b, %x : tensor<2x3xi64>, tensor<2x3xf32>
    return
  })",
      {buffer, counting({2, 3})});
  EXPECT_EQ(message, "");
  EXPECT_EQ(buffer.doubles(), (Doubles{0, 1, 2, 3, 4, 5}));
}

TEST_F(InterpreterTest, AReadOnlyArgumentIsNotWritten) {
  Tensor buffer = floats({1}, {1});
  buffer.storage->writable = false;
  run("%b: tensor<1xf32>", R"({
    %0 = aten.neg(%b) : (tensor<1xf32>) -> tensor<1xf32>
    %w = joint.write %b, %0 : tensor<1xf32>, tensor<1xf32>
    return
  })",
      {buffer});
  expectMessage("cannot be written: its storage is read only");
  expectMessage("note: hand over a copy of it");
  EXPECT_EQ(buffer.getDouble(0), 1);
}

TEST_F(InterpreterTest, AWriteOfAnotherShapeIsAnError) {
  run("%b: tensor<?xf32>, %x: tensor<?xf32>", R"({
    %w = joint.write %b, %x : tensor<?xf32>, tensor<?xf32>
    return
  })",
      {counting({2}), counting({3})});
  expectMessage("a tensor<3xf32> is written into argument '");
  expectMessage("', a tensor<2xf32>");
}

//===----------------------------------------------------------------------===//
// Release
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, ValuesAreReleasedAfterTheirLastUse) {
  std::vector<std::weak_ptr<Storage>> storages;
  std::vector<size_t> alive;
  InterpreterOptions options;
  OpCallback observer([&](Operation *, ArrayRef<RuntimeValue> results) {
    storages.push_back(std::get<Tensor>(results[0]).storage);
    alive.push_back(llvm::count_if(
        storages, [](const auto &storage) { return !storage.expired(); }));
  });
  options.observers = {&observer};
  std::string body = "-> tensor<8xf32> {\n%v0 = aten.neg(%x) : (tensor<8xf32>) "
                     "-> tensor<8xf32>\n";
  for (int i = 1; i < 20; ++i)
    body += "%v" + std::to_string(i) + " = aten.neg(%v" +
            std::to_string(i - 1) + ") : (tensor<8xf32>) -> tensor<8xf32>\n" +
            "%d" + std::to_string(i) +
            " = aten.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>\n";
  run("%x: tensor<8xf32>", body + "return %v19 : tensor<8xf32>\n}",
      {counting({8})}, options);
  EXPECT_EQ(message, "");
  EXPECT_LE(*llvm::max_element(alive), 3u);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, RegionsAndBarriersHandValuesThrough) {
  EXPECT_EQ(runToDoubles("%x: tensor<2xf32>", R"(-> tensor<2xf32> {
    %0 = aten.neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = joint.checkpoint attributes {} {
      %2 = aten.mul.Tensor(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %3 = aten.neg(%2) : (tensor<2xf32>) -> tensor<2xf32>
      joint.yield %3 : tensor<2xf32>
    } : tensor<2xf32>
    %4 = joint.barrier %1 : tensor<2xf32>
    return %4 : tensor<2xf32>
  })",
                         {floats({2}, {2, 3})}),
            (Doubles{4, 9}));
}

TEST_F(InterpreterTest, AssertsStopTheRun) {
  std::string body = R"({
    joint.assert %c, "x must be positive" : tensor<i1>
    return
  })";
  run("%c: tensor<i1>", body, {tensorOf(DType::Bool, {}, {1})});
  EXPECT_EQ(message, "");
  run("%c: tensor<i1>", body, {tensorOf(DType::Bool, {}, {0})});
  expectMessage("check failed: x must be positive");
  run("%c: i1", R"({
    joint.assert %c, "n is odd" : i1
    return
  })",
      {false});
  expectMessage("check failed: n is odd");
  expectMessage("the program checks this itself ('aten._assert_scalar' or "
                "'assert'); give it inputs like those that it was exported "
                "with");
}

TEST_F(InterpreterTest, UnknownOpsAreNamedWithTheNextStep) {
  run("%x: tensor<2xf32>", R"({
    %0 = joint.opaque "mylib.fancy.default"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return
  })",
      {counting({2})});
  expectMessage("'mylib.fancy.default' cannot be executed: what it does is not "
                "known");
  expectMessage("note: it comes from the graph as it was read; replace it by "
                "ops of PyTorch, or decompose it, before the export");
}

TEST_F(InterpreterTest, CollectivesAreNamed) {
  run("%x: tensor<2xf32>", R"({
    %0 = aten.c10d.all_reduce(%x, "sum", "0") : (tensor<2xf32>) -> tensor<2xf32>
    return
  })",
      {counting({2})});
  expectMessage("'_c10d_functional.all_reduce.default' is for a group of "
                "processes, and this is one");
  expectMessage("note: plan the step here (cutback report, cutback compile "
                "--to=partition), and run it in its group by "
                "torch.compile(backend=\"cutback\"), or cut in stages (cutback "
                "split) by cutback-run --group");
}

TEST_F(InterpreterTest, OpsWithoutAKernelAreNamed) {
  run("%x: tensor<2xf32>", R"({
    %0 = aten.prims.inductor_force_stride_order(%x, [1]) : (tensor<2xf32>) -> tensor<2xf32>
    return
  })",
      {counting({2})});
  expectMessage("there is no kernel for "
                "'prims.inductor_force_stride_order.default'");
  expectMessage("note: write it in terms of other ops before it is run");
  run("%x: f32", R"({
    %0 = arith.negf %x : f32
    return
  })",
      {1.0});
  expectMessage("'arith.negf' cannot be executed");
}

TEST_F(InterpreterTest, ArgumentsMustFitTheSignature) {
  std::string body = "{\n  return\n}";
  run("%x: tensor<2xf32>", body, {});
  expectMessage("needs 1 arguments, 0 are given");
  run("%x: tensor<2xf32> {joint.name = \"x\"}", body, {counting({3})});
  expectMessage("must be a 'tensor<2xf32>', not a 'tensor<3xf32>'");
  run("%x: tensor<2xf32>", body, {tensorOf(DType::F64, {2}, {1, 2})});
  expectMessage("not a 'tensor<2xf64>'");
  run("%x: index", body, {2.0});
  expectMessage("must be a 'index', not a 'f64'");
  run("%x: tensor<?xf32>, %n: index, %p: f64, %c: i1, %o: none", body,
      {counting({3}), int64_t(1), 2.0, true, RuntimeValue()});
  EXPECT_EQ(message, "");
}

TEST_F(InterpreterTest, AFunctionWithoutABodyIsNotRun) {
  runText("func.func private @f(tensor<2xf32>)", {counting({2})});
  expectMessage("has no body of one block to be executed");
}

TEST_F(InterpreterTest, SizesThatDoNotFitAreFoundWhereTheyMatter) {
  std::string two = "%x: tensor<?xf32>, %y: tensor<?xf32>";
  std::vector<RuntimeValue> values = {counting({2}), counting({3})};
  run(two, R"({
    %0 = aten.add.Tensor(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    return
  })",
      values);
  expectMessage("aten.add.Tensor: its operands have sizes that do not "
                "broadcast");
  run(two, R"({
    %0 = aten.view(%x, [3, -1]) : (tensor<?xf32>) -> tensor<3x?xf32>
    return
  })",
      values);
  expectMessage("'aten.view.default' does not fit the sizes that its operands "
                "have");
  run(two + ", %i: index", R"({
    %0 = aten.select.int(%x, 0, %i) : (tensor<?xf32>, index) -> tensor<f32>
    return
  })",
      {counting({2}), counting({3}), int64_t(2)});
  expectMessage("'aten.select.int' reaches beyond its operand");
  run(two, R"({
    %0 = aten.clone(%x) : (tensor<?xf32>) -> tensor<?xf32>
    %1 = aten.cat([%0, %y]) : (tensor<?xf32>, tensor<?xf32>) -> tensor<4xf32>
    return
  })",
      values);
  expectMessage("result 0 of 'aten.cat.default' is a tensor<5xf32>, which its "
                "type does not allow");
  expectMessage("note: the operands have other sizes than the graph was made "
                "for");
}

//===----------------------------------------------------------------------===//
// Halves
//===----------------------------------------------------------------------===//

constexpr const char *kHalves = R"(
joint.graph @g(%w: tensor<2xf32> {joint.name = "w", joint.role = #joint.role<param "w">},
               %b: tensor<2xf32> {joint.name = "b", joint.role = #joint.role<buffer "b">},
               %t: tensor<2xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>})
    -> (tensor<2xf32>, tensor<1x2xf32>) gradients (tensor<2xf32>) {
  %y = aten.mul.Tensor(%w, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %v = aten.unsqueeze(%b, 0) : (tensor<2xf32>) -> tensor<1x2xf32>
  %g = aten.mul.Tensor(%t, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %u = joint.write %b, %g {side = #joint.side<backward>} : tensor<2xf32>, tensor<2xf32>
  joint.output %y, %v gradients(%g of 0) : tensor<2xf32>, tensor<1x2xf32>, tensor<2xf32>
}
func.func @g_forward(%w: tensor<2xf32> {joint.name = "w"},
                     %b: tensor<2xf32> {joint.name = "b"})
    -> (tensor<2xf32>, tensor<1x2xf32>, tensor<2xf32>) {
  %y = aten.mul.Tensor(%w, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %v = aten.unsqueeze(%b, 0) : (tensor<2xf32>) -> tensor<1x2xf32>
  return %y, %v, %b : tensor<2xf32>, tensor<1x2xf32>, tensor<2xf32>
}
func.func @g_backward(%b: tensor<2xf32> {joint.name = "b"},
                      %t: tensor<2xf32> {joint.name = "TANGENT"}) -> tensor<2xf32> {
  %g = aten.mul.Tensor(%t, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %u = joint.write %b, %g {side = #joint.side<backward>} : tensor<2xf32>, tensor<2xf32>
  return %g : tensor<2xf32>
}
joint.partition @g_partition of @g forward @g_forward backward @g_backward saved ["b"]
    {num_saved_sizes = 0, num_forward_results = 2, gradient_of = array<i32: 0>}
)";

class HalvesTest : public InterpreterTest {
protected:
  FailureOr<std::vector<RuntimeValue>>
  runHalves(StringRef tangent, ArrayRef<RuntimeValue> arguments) {
    std::string text = kHalves;
    text.replace(text.find("TANGENT"), 7, tangent.str());
    parse(text);
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str() + "\n";
      return success();
    });
    return runPartition(*module->getOps<joint::PartitionOp>().begin(),
                        *module->getOps<joint::GraphOp>().begin(), arguments);
  }
};

TEST_F(HalvesTest, GiveWhatTheJointGraphGives) {
  Tensor w = floats({2}, {2, 3}), t = floats({2}, {1, -1});
  Tensor b = floats({2}, {5, 7}), again = floats({2}, {5, 7});
  auto halves = runHalves("t", {w, b, t});
  ASSERT_TRUE(succeeded(halves)) << message;
  auto joint = runOn(&module->getBody()->front(), {w, again, t});
  ASSERT_EQ(joint.size(), 3u) << message;
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(equalBits((*halves)[i], joint[i])) << i;
  // The view of the buffer that the forward gave is what it was then.
  EXPECT_EQ(doubles(*halves, 1), (Doubles{5, 7}));
  EXPECT_EQ(b.doubles(), (Doubles{5, -7}));
  EXPECT_EQ(again.doubles(), b.doubles());
}

TEST_F(HalvesTest, ArgumentsAreThoseOfTheGraph) {
  EXPECT_TRUE(failed(runHalves("t", {floats({2}, {1, 2})})));
  expectMessage("needs 3 arguments, 1 are given");
  EXPECT_TRUE(failed(
      runHalves("other", {counting({2}), counting({2}), counting({2})})));
  expectMessage("argument 1 is none of the graph's");
}

} // namespace

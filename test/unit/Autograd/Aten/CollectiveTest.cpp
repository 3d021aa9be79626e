// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of collectives in a group of ranks that this process plays: each
// rank has a graph and tensors of its own; the graphs are run op by op, side by
// side, and a collective is evaluated for all ranks at once, from its
// definition. The gradient of the sum over ranks of tangent times result is
// compared with central differences of that sum, in float64.

#include "VjpCheck.h"

#include "cutback/Autograd/Differentiate.h"
#include "cutback/Dialect/Aten/CallReader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;
using namespace cutback::interpreter;

namespace {

using Values = std::vector<RuntimeValue>;

class Group {
public:
  /// One `joint.graph` a rank; they have the same ops, in the same order.
  explicit Group(const std::vector<std::string> &texts) {
    vjpContext().loadDialect<func::FuncDialect>();
    for (const std::string &text : texts) {
      modules.push_back(parseSourceString<ModuleOp>(text, &vjpContext()));
      graphs.push_back(*modules.back()->getOps<joint::GraphOp>().begin());
    }
  }

  void differentiateAll() {
    for (joint::GraphOp graph : graphs) {
      ASSERT_TRUE(succeeded(differentiate(graph)));
      ASSERT_TRUE(succeeded(verify(graph)));
    }
  }

  /// Results of all ranks, for one list of arguments a rank.
  std::vector<Values> run(const std::vector<Values> &arguments) {
    std::vector<DenseMap<Value, RuntimeValue>> known(size());
    for (size_t rank = 0; rank < size(); ++rank)
      for (auto [i, value] : llvm::enumerate(arguments[rank]))
        known[rank][graphs[rank].getBody().getArgument(i)] = value;
    std::vector<Block::iterator> at;
    for (joint::GraphOp graph : graphs)
      at.push_back(graph.getBlock().begin());
    for (; !isa<joint::OutputOp>(*at[0]); advance(at))
      step(at, known);
    std::vector<Values> results(size());
    for (size_t rank = 0; rank < size(); ++rank)
      for (Value value : at[rank]->getOperands())
        results[rank].push_back(known[rank][value]);
    return results;
  }

  size_t size() const { return graphs.size(); }
  std::vector<joint::GraphOp> graphs;

private:
  static void advance(std::vector<Block::iterator> &at) {
    for (Block::iterator &one : at)
      ++one;
  }

  void step(ArrayRef<Block::iterator> at,
            std::vector<DenseMap<Value, RuntimeValue>> &known) {
    std::vector<Values> operands(size());
    for (size_t rank = 0; rank < size(); ++rank) {
      ASSERT_EQ(at[rank]->getName(), at[0]->getName());
      for (Value operand : at[rank]->getOperands())
        operands[rank].push_back(known[rank][operand]);
    }
    StringRef name = at[0]->getName().getStringRef();
    if (name.starts_with("aten.c10d.")) {
      std::vector<Tensor> inputs;
      for (Values &values : operands)
        inputs.push_back(std::get<Tensor>(values[0]).contiguous());
      for (size_t rank = 0; rank < size(); ++rank)
        known[rank][at[rank]->getResult(0)] =
            collective(name.drop_front(10), at, rank, inputs);
      return;
    }
    for (size_t rank = 0; rank < size(); ++rank) {
      Values results = runOp(&*at[rank], operands[rank]);
      for (auto [result, value] : llvm::zip(at[rank]->getResults(), results))
        known[rank][result] = value;
    }
  }

  /// One op, as a function of its operands.
  Values runOp(Operation *op, const Values &operands) {
    OwningOpRef<func::FuncOp> &function = functions[op];
    if (!function) {
      OpBuilder builder(op->getContext());
      function = func::FuncOp::create(
          op->getLoc(), "op",
          builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
      Block *body = function->addEntryBlock();
      IRMapping mapping;
      for (auto [operand, argument] :
           llvm::zip(op->getOperands(), body->getArguments()))
        mapping.map(operand, argument);
      builder.setInsertionPointToEnd(body);
      Operation *copy =
          Operation::create(op->getLoc(), op->getName(), op->getResultTypes(),
                            ValueRange(body->getArguments()), op->getAttrs(),
                            op->getPropertiesStorage(), {}, 0);
      builder.insert(copy);
      func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
    }
    auto results = interpreter::run(function->getOperation(), operands);
    EXPECT_TRUE(succeeded(results));
    return succeeded(results) ? *results : Values(op->getNumResults());
  }

  static std::vector<int64_t> splits(Operation *op, StringRef param,
                                     int64_t rows, size_t ranks) {
    aten::CallReader reader{aten::CallOp(op)};
    std::vector<int64_t> sizes;
    for (const aten::Arg &size : reader.list(param.str().c_str()))
      sizes.push_back(*size.getInt());
    if (sizes.empty())
      sizes.assign(ranks, rows / static_cast<int64_t>(ranks));
    return sizes;
  }

  /// What `rank` gets.
  Tensor collective(StringRef name, ArrayRef<Block::iterator> at, size_t rank,
                    ArrayRef<Tensor> inputs) {
    const Tensor &own = inputs[rank];
    int64_t row = own.rank() ? own.numel() / own.sizes[0] : 1;
    std::vector<double> all;
    auto append = [&](const Tensor &from, int64_t first, int64_t rows) {
      std::vector<double> values = from.doubles();
      all.insert(all.end(), values.begin() + first * row,
                 values.begin() + (first + rows) * row);
    };
    auto n = static_cast<int64_t>(size());
    if (name == "wait_tensor")
      return own;
    if (name == "broadcast") {
      aten::CallReader reader{aten::CallOp(&*at[rank])};
      all = inputs[*reader.integer("src")].doubles();
    }
    if (name == "all_gather_into_tensor")
      for (const Tensor &input : inputs)
        append(input, 0, input.sizes[0]);
    if (name == "all_reduce" || name == "reduce_scatter_tensor") {
      aten::CallReader reader{aten::CallOp(&*at[rank])};
      double part = reader.string("reduce_op").lower() == "avg" ? 1.0 / n : 1.0;
      std::vector<double> sum(own.numel(), 0);
      for (const Tensor &input : inputs)
        for (auto [i, value] : llvm::enumerate(input.doubles()))
          sum[i] += part * value;
      bool isWhole = name == "all_reduce";
      int64_t count = isWhole ? own.numel() : own.numel() / n;
      auto first = sum.begin() + (isWhole ? 0 : rank * count);
      all.assign(first, first + count);
    }
    if (name == "all_to_all_single")
      for (size_t from = 0; from < size(); ++from) {
        std::vector<int64_t> sent = splits(&*at[from], "input_split_sizes",
                                           inputs[from].sizes[0], size());
        int64_t before = 0;
        for (size_t to = 0; to < rank; ++to)
          before += sent[to];
        append(inputs[from], before, sent[rank]);
      }
    SmallVector<int64_t> sizes(own.sizes.begin(), own.sizes.end());
    if (!sizes.empty())
      sizes[0] = static_cast<int64_t>(all.size()) / row;
    Tensor result = Tensor::zeros(DType::F64, sizes);
    result.assign(all);
    return result;
  }

  std::vector<OwningOpRef<ModuleOp>> modules;
  std::map<Operation *, OwningOpRef<func::FuncOp>> functions;
};

std::string typeText(ArrayRef<int64_t> sizes) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + "f64>";
}

/// A graph of one parameter: ops on %x of type `from` that give %y of type
/// `to`.
std::string graphOf(const std::string &ops, const std::string &from,
                    const std::string &to) {
  return "joint.graph @g(%x: " + from +
         " {joint.role = #joint.role<param \"x\">}) -> (" + to +
         ") gradients () {\n" + ops + "\n joint.output %y : " + to + "\n}";
}

Tensor random(Type type, std::mt19937 &engine) {
  auto shaped = cast<RankedTensorType>(type);
  Tensor tensor = Tensor::zeros(DType::F64, shaped.getShape());
  for (int64_t i = 0; i < tensor.numel(); ++i)
    tensor.set(i, static_cast<double>(engine() % 4001) / 1000 - 2);
  return tensor;
}

/// Compares gradients of all ranks with differences.
void checkGroup(const std::vector<std::string> &texts) {
  Group forward(texts), joint(texts);
  ASSERT_NO_FATAL_FAILURE(joint.differentiateAll());
  std::mt19937 engine(5);
  std::vector<Values> inputs(forward.size()), all(forward.size());
  std::vector<std::vector<double>> tangents(forward.size());
  for (size_t rank = 0; rank < forward.size(); ++rank) {
    joint::GraphOp graph = joint.graphs[rank];
    Tensor x = random(graph.getArgumentTypes()[0], engine);
    Tensor tangent = random(graph.getArgumentTypes()[1], engine);
    inputs[rank] = {x};
    all[rank] = {x, tangent};
    tangents[rank] = tangent.doubles();
  }
  auto objective = [&] {
    double sum = 0;
    std::vector<Values> results = forward.run(inputs);
    for (size_t rank = 0; rank < results.size(); ++rank)
      for (auto [i, value] :
           llvm::enumerate(std::get<Tensor>(results[rank][0]).doubles()))
        sum += tangents[rank][i] * value;
    return sum;
  };
  std::vector<Values> results = joint.run(all);
  for (size_t rank = 0; rank < results.size(); ++rank) {
    const Tensor &x = std::get<Tensor>(inputs[rank][0]);
    std::vector<double> gradient = std::get<Tensor>(results[rank][1]).doubles();
    ASSERT_EQ(gradient.size(), static_cast<size_t>(x.numel()));
    for (int64_t i = 0; i < x.numel(); ++i) {
      constexpr double step = 1e-5;
      double value = x.getDouble(i);
      x.set(i, value + step);
      double up = objective();
      x.set(i, value - step);
      double down = objective();
      x.set(i, value);
      EXPECT_NEAR(gradient[i], (up - down) / (2 * step),
                  1e-6 * std::max(1.0, std::abs(gradient[i])))
          << "rank " << rank << ", element " << i;
    }
  }
}

std::vector<std::string> same(size_t ranks, const std::string &text) {
  return std::vector<std::string>(ranks, text);
}

/// sin in front and a square behind, so that gradients depend on the values
/// that the collective has moved.
std::string around(const std::string &call, const std::string &from,
                   const std::string &to) {
  return graphOf("%s = aten.sin(%x) : (" + from + ") -> " + from +
                     "\n%c = aten.c10d." + call + " : (" + from + ") -> " + to +
                     "\n%w = aten.c10d.wait_tensor(%c) : (" + to + ") -> " +
                     to + "\n%y = aten.mul.Tensor(%w, %w) : (" + to + ", " +
                     to + ") -> " + to,
                 from, to);
}

} // namespace

TEST(CollectiveVjp, AnAllReduceIsItsOwn) {
  for (const char *kind : {"sum", "avg", "AVG"})
    checkGroup(
        same(3, around(std::string("all_reduce(%s, \"") + kind + "\", \"0\")",
                       typeText({2, 2}), typeText({2, 2}))));
  checkGroup(same(
      2, around("all_reduce(%s, \"sum\", \"0\")", typeText({}), typeText({}))));
}

TEST(CollectiveVjp, AGatherIsAScatterOfSums) {
  checkGroup(same(3, around("all_gather_into_tensor(%s, 3, \"0\")",
                            typeText({2, 2}), typeText({6, 2}))));
}

TEST(CollectiveVjp, AScatterOfSumsIsAGather) {
  for (const char *kind : {"sum", "avg"})
    checkGroup(same(3, around(std::string("reduce_scatter_tensor(%s, \"") +
                                  kind + "\", 3, \"0\")",
                              typeText({6, 2}), typeText({2, 2}))));
}

TEST(CollectiveVjp, AnExchangeGoesBack) {
  checkGroup(same(2, around("all_to_all_single(%s, [], [], \"0\")",
                            typeText({4, 2}), typeText({4, 2}))));
  checkGroup(same(2, around("all_to_all_single(%s, [2, 2], [2, 2], \"0\")",
                            typeText({4, 2}), typeText({4, 2}))));
}

TEST(CollectiveVjp, AnExchangeOfUnequalPartsGoesBackInParts) {
  checkGroup({around("all_to_all_single(%s, [1, 3], [1, 2], \"0\")",
                     typeText({3, 2}), typeText({4, 2})),
              around("all_to_all_single(%s, [2, 1], [3, 1], \"0\")",
                     typeText({4, 2}), typeText({3, 2}))});
}

/// `attributes` of the graph: " attributes {...}".
static std::string withAttributes(std::string text,
                                  const std::string &attributes) {
  size_t at = text.find("gradients ()") + 12;
  return text.insert(at, attributes);
}

TEST(CollectiveVjp, ABroadcastGivesItsSourceTheSum) {
  std::string three = " attributes {joint.group_sizes = {\"0\" = 3 : i64}}";
  for (const char *source : {"0", "2"})
    for (const std::vector<int64_t> &sizes :
         {std::vector<int64_t>{2, 2}, std::vector<int64_t>()})
      checkGroup(
          same(3, withAttributes(around(std::string("broadcast(%s, ") + source +
                                            ", \"0\")",
                                        typeText(sizes), typeText(sizes)),
                                 three)));
  // Another collective of the group says how large it is.
  std::string small = typeText({2, 2}), large = typeText({4, 2});
  checkGroup(same(
      2, graphOf("%s = aten.sin(%x) : (" + small + ") -> " + small +
                     "\n%c = aten.c10d.broadcast(%s, 1, \"0\") : (" + small +
                     ") -> " + small + "\n%w = aten.c10d.wait_tensor(%c) : (" +
                     small + ") -> " + small +
                     "\n%m = aten.mul.Tensor(%w, %x) : (" + small + ", " +
                     small + ") -> " + small +
                     "\n%g = aten.c10d.all_gather_into_tensor(%m, 2, \"0\") : "
                     "(" +
                     small + ") -> " + large +
                     "\n%y = aten.c10d.wait_tensor(%g) : (" + large + ") -> " +
                     large,
                 small, large)));
}

TEST(CollectiveVjp, ABroadcastNeedsASizeAndASource) {
  auto failure = [](const std::string &attributes) {
    Group group({withAttributes(
        around("broadcast(%s, 3, \"pair\")", typeText({2}), typeText({2})),
        attributes)});
    std::string text;
    ScopedDiagnosticHandler handler(&vjpContext(), [&](Diagnostic &diagnostic) {
      text += diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(differentiate(group.graphs[0])));
    return text;
  };
  EXPECT_NE(failure("").find(
                "no rule for the gradient of a broadcast in group 'pair', "
                "whose size no op says: give it (--group-size=pair=N, or "
                "joint.group_sizes of the graph)"),
            std::string::npos);
  EXPECT_NE(failure(" attributes {joint.group_sizes = {pair = 2 : i64}}")
                .find("a broadcast from rank 3 of a group of 2"),
            std::string::npos);
}

/// Collectives one behind the other, and beside each other.
TEST(CollectiveVjp, RandomProgramsOfAGroup) {
  for (unsigned seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 engine(seed);
    size_t ranks = 2 + engine() % 3;
    std::string n = std::to_string(ranks), ops;
    auto rows = static_cast<int64_t>(ranks);
    std::string small = typeText({rows, 2}), large = typeText({rows * rows, 2});
    std::vector<std::string> values = {"%x"};
    auto call = [&](const std::string &text, const std::string &from,
                    const std::string &to) {
      std::string result = "%v" + std::to_string(ops.size());
      ops += result + " = aten." + text + " : " + from + " -> " + to + "\n";
      return result;
    };
    for (unsigned i = 0; i < 6; ++i) {
      std::string at = values[engine() % values.size()];
      std::string of = "(" + small + ")", moved;
      switch (engine() % 5) {
      case 0:
        moved = call("c10d.all_reduce(" + at + ", \"avg\", \"0\")", of, small);
        break;
      case 1:
        moved = call("c10d.all_to_all_single(" + at + ", [], [], \"0\")", of,
                     small);
        break;
      case 2:
        moved =
            call("c10d.all_gather_into_tensor(" + at + ", " + n + ", \"0\")",
                 of, large);
        moved =
            call("c10d.wait_tensor(" + moved + ")", "(" + large + ")", large);
        moved = call("sin(" + moved + ")", "(" + large + ")", large);
        moved = call("c10d.reduce_scatter_tensor(" + moved + ", \"sum\", " + n +
                         ", \"0\")",
                     "(" + large + ")", small);
        break;
      case 3:
        values.push_back(call("sin(" + at + ")", of, small));
        continue;
      case 4:
        values.push_back(call("mul.Tensor(" + at + ", " + values.back() + ")",
                              "(" + small + ", " + small + ")", small));
        continue;
      }
      values.push_back(call("c10d.wait_tensor(" + moved + ")", of, small));
    }
    std::string sum = "%x";
    for (const std::string &value : values)
      sum = call("add.Tensor(" + sum + ", " + value + ")",
                 "(" + small + ", " + small + ")", small);
    ops += "%y = aten.sin(" + sum + ") : (" + small + ") -> " + small + "\n";
    checkGroup(same(ranks, graphOf(ops, small, small)));
    if (testing::Test::HasFailure())
      return;
  }
}

TEST(CollectiveVjp, OtherReductionsAreRefused) {
  for (const char *call :
       {"all_reduce(%s, \"max\", \"0\")",
        "reduce_scatter_tensor(%s, \"Product\", 1, \"0\")"}) {
    Group group({around(call, typeText({2}), typeText({2}))});
    std::string text;
    ScopedDiagnosticHandler handler(&vjpContext(), [&](Diagnostic &diagnostic) {
      text += diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(differentiate(group.graphs[0])));
    EXPECT_NE(text.find("no rule for the gradient of the reduction '"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("' of a group; there are rules for 'sum' and 'avg'"),
              std::string::npos)
        << text;
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dead code elimination and CSE against naive references: erase one dead op
// and begin again; compare each op with all earlier ones.

#include "RandomGraph.h"

#include "cutback/Transforms/CommonSubexpressions.h"
#include "cutback/Transforms/DeadCode.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

class SimplifyTest : public ::testing::Test {
protected:
  SimplifyTest() { loadDialects(context); }

  /// Runs `body` in a graph of two inputs and a buffer.
  OwningOpRef<ModuleOp> graph(const std::string &body,
                              const std::string &results) {
    auto count = llvm::count(results, '%');
    std::string types;
    for (int i = 0; i < count; ++i)
      types += (i ? ", " : "") + std::string("tensor<4xf32>");
    OwningOpRef<ModuleOp> module = parse(
        context,
        "joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>}, "
        "%y: tensor<4xf32> {joint.role = #joint.role<input>}, %b: "
        "tensor<4xf32> {joint.role = #joint.role<buffer>}) -> (" +
            types + ") gradients () {\n" + body + "\njoint.output " + results +
            " : " + types + "\n}\n");
    EXPECT_TRUE(module);
    return module;
  }

  uint64_t countMerged(const std::string &body, const std::string &results) {
    OwningOpRef<ModuleOp> module = graph(body, results);
    uint64_t merged = eliminateCommonSubexpressions(graphOf(*module));
    EXPECT_TRUE(succeeded(verify(*module)));
    return merged;
  }

  MLIRContext context;
};

uint64_t naiveDeadCode(Block &block) {
  for (Operation &op : block) {
    auto model = dyn_cast<RematerializableOpInterface>(&op);
    bool stays =
        op.hasTrait<OpTrait::IsTerminator>() || !op.use_empty() ||
        (model ? model.hasOrderedEffects() : !wouldOpBeTriviallyDead(&op));
    if (stays)
      continue;
    op.erase();
    return 1 + naiveDeadCode(block);
  }
  return 0;
}

Value naiveBase(Value value) {
  auto model = value.getDefiningOp<RematerializableOpInterface>();
  if (!model)
    return value;
  int64_t operand =
      model.getAliasedOperand(cast<OpResult>(value).getResultNumber());
  return operand < 0 ? value : naiveBase(model->getOperand(operand));
}

bool naiveReturns(Block &block, Operation *op) {
  for (Value returned : block.getTerminator()->getOperands())
    for (Value result : op->getResults())
      if (naiveBase(returned) == result)
        return true;
  return false;
}

/// One of the arguments behind the operands of `b` is written between both.
bool naiveWritesBetween(Operation *a, Operation *b) {
  for (Operation *op = a; op != b; op = op->getNextNode())
    if (auto write = dyn_cast<WriteOp>(op))
      for (Value operand : b->getOperands())
        if (naiveBase(operand) == write.getDestination())
          return true;
  return false;
}

bool naiveSame(Operation *a, Operation *b) {
  auto call = [](Operation *op) {
    auto framework = dyn_cast<FrameworkCallOpInterface>(op);
    return framework ? framework.getCallArgs() : ArrayAttr();
  };
  auto model = dyn_cast<RematerializableOpInterface>(a);
  return a->getName() == b->getName() && model && model.isRecomputable() &&
         !model.isRandom() && a->getNumRegions() == 0 && call(a) == call(b) &&
         llvm::equal(a->getOperands(), b->getOperands()) &&
         llvm::equal(a->getResultTypes(), b->getResultTypes()) &&
         a->getDiscardableAttrDictionary() == b->getDiscardableAttrDictionary();
}

uint64_t naiveMerge(Block &block) {
  uint64_t merged = 0;
  for (Operation *b = &block.front(); b;) {
    Operation *next = b->getNextNode();
    for (Operation *a = &block.front(); a != b; a = a->getNextNode()) {
      if (!naiveSame(a, b) || naiveWritesBetween(a, b) ||
          (naiveReturns(block, a) && naiveReturns(block, b)))
        continue;
      b->replaceAllUsesWith(a);
      b->erase();
      ++merged;
      break;
    }
    b = next;
  }
  return merged;
}

TEST_F(SimplifyTest, ErasesWhatTheNaiveReferenceErases) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    std::string text = randomGraphText(seed);
    OwningOpRef<ModuleOp> fast = parse(context, text);
    ASSERT_TRUE(fast) << text;
    OwningOpRef<ModuleOp> naive = fast->clone();
    DeadCode found = eliminateDeadCode(graphOf(*fast));
    EXPECT_EQ(found.erased, naiveDeadCode(graphOf(*naive).getBlock()));
    EXPECT_EQ(found.kept, graphOf(*fast).getBlock().getOperations().size());
    EXPECT_EQ(print(*fast), print(*naive)) << "seed " << seed;
  }
}

TEST_F(SimplifyTest, MergesWhatTheNaiveReferenceMerges) {
  uint64_t total = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomGraphOptions options;
    options.percentDuplicate = 5 + seed % 40;
    std::string text = randomGraphText(seed, options);
    OwningOpRef<ModuleOp> fast = parse(context, text);
    OwningOpRef<ModuleOp> naive = fast->clone();
    uint64_t merged = eliminateCommonSubexpressions(graphOf(*fast));
    EXPECT_EQ(merged, naiveMerge(graphOf(*naive).getBlock()));
    EXPECT_EQ(print(*fast), print(*naive)) << "seed " << seed << "\n" << text;
    EXPECT_TRUE(succeeded(verify(*fast)));
    total += merged;
  }
  EXPECT_GT(total, 1000u);
}

TEST_F(SimplifyTest, ASecondRunFindsNothing) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    OwningOpRef<ModuleOp> module = parse(context, randomGraphText(seed));
    eliminateCommonSubexpressions(graphOf(*module));
    eliminateDeadCode(graphOf(*module));
    EXPECT_EQ(eliminateCommonSubexpressions(graphOf(*module)), 0u);
    EXPECT_EQ(eliminateDeadCode(graphOf(*module)).erased, 0u);
  }
}

const char *const kUnary = " : (tensor<4xf32>) -> tensor<4xf32>";
const char *const kBinary =
    " : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";

std::string twice(const std::string &call, const std::string &attribute = "") {
  return "%a = " + call + kUnary + "\n%c = " + call + kUnary + "\n" +
         attribute + "%r = aten.mul.Tensor(%a, %c)" + kBinary;
}

TEST_F(SimplifyTest, MergesEqualCalls) {
  EXPECT_EQ(countMerged(twice("aten.sin(%x)"), "%r"), 1u);
  EXPECT_EQ(countMerged(twice("aten.mul.Tensor(%x, 2.0)"), "%r"), 1u);
}

TEST_F(SimplifyTest, KeepsDifferentAttributesApart) {
  EXPECT_EQ(countMerged(std::string("%a = aten.mul.Tensor(%x, 2.0)") + kUnary +
                            "\n%c = aten.mul.Tensor(%x, 2)" + kUnary +
                            "\n%r = aten.mul.Tensor(%a, %c)" + kBinary,
                        "%r"),
            0u);
}

TEST_F(SimplifyTest, NeverMergesRandomDraws) {
  EXPECT_EQ(countMerged(twice("aten.bernoulli(%x)"), "%r"), 0u);
}

TEST_F(SimplifyTest, NeverMergesUnknownOps) {
  EXPECT_EQ(countMerged(twice("joint.opaque \"my.op\"(%x)"), "%r"), 0u);
}

TEST_F(SimplifyTest, NeverMergesDifferentPolicies) {
  std::string other = std::string("%a = aten.sin(%x) {joint.policy = "
                                  "#joint.policy<must_save>}") +
                      kUnary + "\n%c = aten.sin(%x)" + kUnary +
                      "\n%r = aten.mul.Tensor(%a, %c)" + kBinary;
  EXPECT_EQ(countMerged(other, "%r"), 0u);
}

TEST_F(SimplifyTest, NeverMergesTwoReturnedStorages) {
  EXPECT_EQ(countMerged(twice("aten.sin(%x)"), "%a, %c"), 0u);
  EXPECT_EQ(countMerged(twice("aten.sin(%x)"), "%a, %r"), 1u);
}

TEST_F(SimplifyTest, NeverMergesOverAWriteOfAnArgument) {
  std::string write =
      "%w = joint.write %b, %x : tensor<4xf32>, tensor<4xf32>\n";
  auto around = [&](const std::string &call) {
    return "%a = " + call + kUnary + "\n" + write + "%c = " + call + kUnary +
           "\n%r = aten.mul.Tensor(%a, %c)" + kBinary;
  };
  EXPECT_EQ(countMerged(around("aten.sin(%b)"), "%r"), 0u);
  EXPECT_EQ(countMerged(around("aten.sin(%x)"), "%r"), 1u);
}

TEST_F(SimplifyTest, NeverMergesReadersOfAViewOverAWrite) {
  std::string body = std::string("%v = aten.alias(%b)") + kUnary +
                     "\n%a = aten.sin(%v)" + kUnary +
                     "\n%w = joint.write %b, %x : tensor<4xf32>, "
                     "tensor<4xf32>\n%c = aten.sin(%v)" +
                     kUnary + "\n%r = aten.mul.Tensor(%a, %c)" + kBinary;
  EXPECT_EQ(countMerged(body, "%r"), 0u);
}

TEST_F(SimplifyTest, ErasesDeadDrawsAndKeepsEffects) {
  OwningOpRef<ModuleOp> module =
      graph(std::string("%a = aten.bernoulli(%x)") + kUnary +
                "\n%w = joint.write %b, %x : tensor<4xf32>, tensor<4xf32>\n"
                "%s = joint.opaque \"my.op\"(%x) {effects}" +
                kUnary + "\n%d = joint.opaque \"my.op\"(%x)" + kUnary,
            "%x");
  EXPECT_EQ(eliminateDeadCode(graphOf(*module)).erased, 2u);
}

TEST_F(SimplifyTest, TagsOfWhatIsKeptAreSeen) {
  auto isAnnotated = [&](const std::string &dead, const std::string &kept) {
    OwningOpRef<ModuleOp> module =
        graph("%dead = aten.sin(%x) " + dead + kUnary +
                  "\n%kept = aten.cos(%x) " + kept + kUnary,
              "%kept");
    return eliminateDeadCode(graphOf(*module)).annotated;
  };
  std::string tag = "{joint.policy = #joint.policy<must_save>}";
  EXPECT_FALSE(isAnnotated("", ""));
  EXPECT_FALSE(isAnnotated(tag, ""));
  EXPECT_TRUE(isAnnotated("", tag));
}

TEST_F(SimplifyTest, OtherDialectsGoByTheirEffects) {
  OwningOpRef<ModuleOp> module = parse(context, R"mlir(
    func.func private @effect()
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %a = math.sin %x : tensor<4xf32>
      %b = math.sin %x : tensor<4xf32>
      %dead = math.cos %x : tensor<4xf32>
      func.call @effect() : () -> ()
      %r = arith.addf %a, %b fastmath<fast> : tensor<4xf32>
      %s = arith.addf %a, %b : tensor<4xf32>
      %t = arith.mulf %r, %s : tensor<4xf32>
      return %t : tensor<4xf32>
    })mlir");
  auto function = module->lookupSymbol<func::FuncOp>("f");
  EXPECT_EQ(eliminateCommonSubexpressions(function.front()), 1u);
  EXPECT_EQ(eliminateDeadCode(function.front()).erased, 1u);
}

TEST_F(SimplifyTest, LongChainsOfViewsAreCheap) {
  std::string body;
  for (int chain = 0; chain < 2; ++chain)
    for (int i = 0; i < 4000; ++i)
      body += "%v" + std::to_string(chain) + "_" + std::to_string(i) +
              " = aten.alias(%" +
              (i ? "v" + std::to_string(chain) + "_" + std::to_string(i - 1)
                 : std::string("s")) +
              ")" + kUnary + "\n";
  EXPECT_EQ(countMerged(std::string("%s = aten.sin(%x)") + kUnary + "\n" + body,
                        "%v0_3999, %x"),
            4000u);
}

} // namespace

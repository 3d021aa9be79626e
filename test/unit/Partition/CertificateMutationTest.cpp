// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random partitions, changed in one place. An oracle runs the joint graph and
// both halves on symbols (a value is the hash of how it was made), with
// arguments as memory; the certificate must say what the oracle says.

#include "../Transforms/RandomGraph.h"

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Analysis/GraphView.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Partition/Certificate.h"
#include "cutback/Partition/Halves.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/xxhash.h"

#include "gtest/gtest.h"

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

//===----------------------------------------------------------------------===//
// The oracle
//===----------------------------------------------------------------------===//

/// Runs blocks on symbols.
struct Machine {
  std::vector<std::string> trace;   ///< effects, in order
  std::map<std::string, int> draws; ///< how often each draw ran
  std::vector<std::string> drawn;   ///< draws, in order

  using Values = llvm::DenseMap<Value, std::string>;

  std::string shorten(const std::string &text) {
    return std::to_string(llvm::xxh3_64bits(text));
  }

  static std::string baseName(Operation *op) {
    StringRef name =
        op->getNumResults() ? getValueName(op->getResult(0)) : StringRef();
    name.consume_back("_recompute");
    return name.str();
  }

  void run(Operation &op, Values &values) {
    std::string text = op.getName().getStringRef().str();
    if (auto call = dyn_cast<FrameworkCallOpInterface>(&op))
      text += print(call.getCallArgs());
    if (auto attr = op.getDiscardableAttr("test.changed"))
      text += "!";
    for (Value operand : op.getOperands())
      text += "," + values[operand];
    auto model = cast<RematerializableOpInterface>(&op);
    if (model.isRandom()) {
      text += "#" + baseName(&op);
      ++draws[text];
      drawn.push_back(text);
    }
    if (auto write = dyn_cast<WriteOp>(&op)) {
      trace.push_back(getValueName(write.getDestination()).str() + "=" + text);
      values[write.getDestination()] = shorten(text);
    }
    for (OpResult result : op.getResults())
      values[result] =
          shorten(text + "@" + std::to_string(result.getResultNumber()));
  }

  static std::string print(ArrayAttr attr) {
    std::string text;
    llvm::raw_string_ostream os(text);
    attr.print(os);
    return text;
  }

  std::vector<std::string> run(Block &block, Values values) {
    for (Operation &op : block.without_terminator())
      run(op, values);
    std::vector<std::string> results;
    for (Value value : block.getTerminator()->getOperands())
      results.push_back(values[value]);
    return results;
  }
};

/// Both traces are parts of the joint graph's, in its order, and all of it.
bool coverTrace(const std::vector<std::string> &joint,
                const std::vector<std::string> &forward,
                const std::vector<std::string> &backward) {
  if (forward.size() + backward.size() != joint.size())
    return false;
  std::vector<uint8_t> taken(joint.size(), 0);
  for (const auto *half : {&forward, &backward}) {
    size_t at = 0;
    for (const std::string &effect : *half) {
      while (at < joint.size() && (taken[at] || joint[at] != effect))
        ++at;
      if (at == joint.size())
        return false;
      taken[at] = 1;
    }
  }
  return true;
}

/// Draws of the joint graph come in its order in a half.
bool keepOrder(const std::vector<std::string> &joint,
               const std::vector<std::string> &half) {
  ptrdiff_t last = -1;
  for (const std::string &draw : half) {
    ptrdiff_t at = llvm::find(joint, draw) - joint.begin();
    if (at == static_cast<ptrdiff_t>(joint.size()))
      continue;
    if (at <= last)
      return false;
    last = at;
  }
  return true;
}

bool oracle(GraphOp graph, const Partition &partition) {
  auto start = [](Block &block) {
    Machine::Values values;
    for (BlockArgument arg : block.getArguments())
      values[arg] = getValueName(arg).str();
    return values;
  };
  Machine joint;
  Block &jointBlock = graph.getBlock();
  std::vector<std::string> expected = joint.run(jointBlock, start(jointBlock));

  Machine forward, backward;
  auto fw = partition.forward;
  auto bw = partition.backward;
  std::vector<std::string> returned =
      forward.run(fw.front(), start(fw.front()));
  unsigned numResults = graph.getNumForwardResults();
  Machine::Values values = start(bw.front());
  for (unsigned i = numResults; i < returned.size(); ++i)
    values[bw.getArgument(i - numResults)] = returned[i];
  std::vector<std::string> gradients = backward.run(bw.front(), values);

  for (unsigned i = 0; i < numResults; ++i)
    if (returned[i] != expected[i])
      return false;
  for (unsigned i = 0; i < gradients.size(); ++i)
    if (gradients[i] != expected[numResults + i])
      return false;
  for (auto &[draw, count] : backward.draws)
    if (count + forward.draws[draw] > 1 && joint.draws.count(draw))
      return false;
  for (auto &[draw, count] : forward.draws)
    if (count > 1 && joint.draws.count(draw))
      return false;
  for (const Machine *half : {&forward, &backward})
    if (!keepOrder(joint.drawn, half->drawn))
      return false;
  return coverTrace(joint.trace, forward.trace, backward.trace);
}

//===----------------------------------------------------------------------===//
// Mutations
//===----------------------------------------------------------------------===//

class Mutator {
public:
  Mutator(std::mt19937_64 &random, Block &block)
      : random(random), block(block) {
    for (Operation &op : block.without_terminator())
      ops.push_back(&op);
  }

  /// One change; false if the place does not allow it.
  bool run() {
    if (ops.empty())
      return false;
    Operation *op = ops[random() % ops.size()];
    switch (random() % 8) {
    case 0:
      return otherOperand(op);
    case 1:
      return swapOperands(op);
    case 2:
      op->setDiscardableAttr("test.changed", UnitAttr::get(op->getContext()));
      return true;
    case 3:
      return swapOperands(block.getTerminator());
    case 4:
      return moveDown(op);
    case 5:
      return dropWrite();
    case 6:
      return duplicate(op);
    default:
      return shortcut(op);
    }
  }

private:
  bool otherOperand(Operation *op) {
    std::vector<Value> values(block.getArguments().begin(),
                              block.getArguments().end());
    for (Operation *other = &block.front(); other != op;
         other = other->getNextNode())
      values.insert(values.end(), other->result_begin(), other->result_end());
    unsigned operand = random() % op->getNumOperands();
    if (isa<WriteOp>(op) && operand == 0)
      return false;
    op->setOperand(operand, values[random() % values.size()]);
    return true;
  }

  bool swapOperands(Operation *op) {
    if (op->getNumOperands() < 2 || isa<WriteOp>(op))
      return false;
    unsigned i = random() % op->getNumOperands();
    unsigned j = random() % op->getNumOperands();
    Value left = op->getOperand(i);
    op->setOperand(i, op->getOperand(j));
    op->setOperand(j, left);
    return true;
  }

  /// Behind its next op, if that does not use it.
  bool moveDown(Operation *op) {
    Operation *next = op->getNextNode();
    if (next == block.getTerminator() ||
        llvm::is_contained(op->getUsers(), next))
      return false;
    op->moveAfter(next);
    return true;
  }

  bool dropWrite() {
    for (Operation *op : ops)
      if (auto write = dyn_cast<WriteOp>(op)) {
        write.getResult().replaceAllUsesWith(write.getDestination());
        write->erase();
        return true;
      }
    return false;
  }

  bool duplicate(Operation *op) {
    if (op->use_empty())
      return false;
    Operation *copy = op->clone();
    block.getOperations().insertAfter(op->getIterator(), copy);
    std::vector<OpOperand *> uses;
    for (OpOperand &use : op->getResult(0).getUses())
      uses.push_back(&use);
    uses[random() % uses.size()]->set(copy->getResult(0));
    return true;
  }

  bool shortcut(Operation *op) {
    if (isa<WriteOp>(op) || op->getNumOperands() == 0)
      return false;
    op->replaceAllUsesWith(ValueRange(op->getOperand(0)));
    return true;
  }

  std::mt19937_64 &random;
  Block &block;
  std::vector<Operation *> ops;
};

class CertificateMutationTest : public ::testing::Test {
protected:
  CertificateMutationTest() { loadDialects(context); }

  /// A partition of the only graph, or null functions if the plan is refused.
  Partition partition(ModuleOp module, std::mt19937_64 &random) {
    GraphView view = GraphView::build(graphOf(module));
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    FailureOr<GraphSets> sets = GraphSets::compute(view);
    EXPECT_TRUE(succeeded(sets));
    Plan plan;
    plan.saved.assign(view.numValues(), 0);
    unsigned percent = random() % 70;
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
      plan.saved[value] = random() % 100 < percent ||
                          !view.traits[view.definer[value]].recomputable;
    FailureOr<Halves> halves = splitGraph(view, *sets, plan);
    return succeeded(halves) ? emitHalves(view, *halves) : Partition();
  }

  MLIRContext context;
};

TEST_F(CertificateMutationTest, AcceptsPartitionsOfRandomGraphs) {
  unsigned checked = 0, recomputed = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    OwningOpRef<ModuleOp> module = parse(context, randomGraphText(seed));
    ASSERT_TRUE(module);
    Partition halves = partition(*module, random);
    if (!halves.forward)
      continue;
    ++checked;
    CertificateStats stats;
    EXPECT_TRUE(succeeded(verifyHalves(graphOf(*module), halves.forward,
                                       halves.backward, halves.link, &stats)))
        << "seed " << seed << "\n"
        << print(*module);
    EXPECT_TRUE(oracle(graphOf(*module), halves));
    recomputed += stats.recomputedOps;
  }
  EXPECT_GT(checked, 150u);
  EXPECT_GT(recomputed, 1000u);
}

TEST_F(CertificateMutationTest, SaysWhatTheOracleSays) {
  unsigned accepted = 0, refused = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    OwningOpRef<ModuleOp> original = parse(context, randomGraphText(seed));
    if (!partition(*original, random).forward)
      continue;
    for (int trial = 0; trial < 10; ++trial) {
      OwningOpRef<ModuleOp> module = original->clone();
      Partition halves;
      halves.link = *module->getOps<joint::PartitionOp>().begin();
      halves.forward = module->lookupSymbol<func::FuncOp>("g_forward");
      halves.backward = module->lookupSymbol<func::FuncOp>("g_backward");
      func::FuncOp half = random() % 2 ? halves.forward : halves.backward;
      if (!Mutator(random, half.front()).run())
        continue;
      ASSERT_TRUE(succeeded(verify(*module)));
      bool expected = oracle(graphOf(*module), halves);
      std::string message;
      ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
        message += diagnostic.str() + "\n";
      });
      bool verdict = succeeded(verifyHalves(graphOf(*module), halves.forward,
                                            halves.backward, halves.link));
      EXPECT_EQ(verdict, expected)
          << "seed " << seed << " trial " << trial << "\n"
          << message << print(*module);
      EXPECT_EQ(verdict, message.empty());
      ++(expected ? accepted : refused);
    }
  }
  EXPECT_GT(accepted, 150u);
  EXPECT_GT(refused, 600u);
}

} // namespace

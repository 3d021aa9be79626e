// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's rules on real graphs: the same network arc by arc, the same cut,
// the same saved values, bytes and recomputed ops as PyTorch itself. The
// graphs are those of test/corpus; with CUTBACK_GOLDEN=FOLDER, where FOLDER
// holds the unpacked reference data, all of those too.

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Import/Import.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Planner/TrainingGraph.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace cutback;

namespace {

struct Case {
  std::string name, text, reference, network;
};

void PrintTo(const Case &which, std::ostream *os) { *os << which.name; }

std::string join(const std::string &folder, const std::string &file) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, file);
  return path.str().str();
}

std::vector<std::string> entries(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(folder, code), end;
       it != end && !code; it.increment(code))
    names.push_back(llvm::sys::path::filename(it->path()).str());
  llvm::sort(names);
  return names;
}

/// "timm.hrnet_w18_cuda.3.0" in the corpus, "gpt2" in small, plan or bench.
std::string findText(const std::string &root, const std::string &name) {
  for (const char *part : {"small", "plan", "bench"}) {
    std::string path =
        join(root, std::string(part) + "/" + name + "/joint.txt");
    if (llvm::sys::fs::exists(path))
      return path;
  }
  auto [suite, rest] = llvm::StringRef(name).split('.');
  auto [model, numbers] = rest.split('.');
  auto [first, second] = numbers.split('.');
  auto [base, device] = model.rsplit('_');
  return join(root,
              ("corpus/sub/" + suite + "/" + base + "_training_" + device +
               "/__compiled_fn_" + first + " Joint graph " + second + ".py")
                  .str());
}

std::vector<Case> collectCases() {
  std::vector<Case> cases;
  std::string corpus = std::string(CUTBACK_SOURCE_DIR) + "/test/corpus";
  for (const std::string &name : entries(corpus)) {
    std::string folder = join(corpus, name);
    if (llvm::sys::fs::exists(join(folder, "network.json")))
      cases.push_back({name, join(folder, "joint.txt"),
                       join(folder, "reference.json"),
                       join(folder, "network.json")});
  }
  const char *golden = std::getenv("CUTBACK_GOLDEN");
  if (!golden) {
    llvm::outs() << "CUTBACK_GOLDEN is not set: only test/corpus is checked\n";
    return cases;
  }
  std::string folder = join(golden, "partition");
  for (const std::string &file : entries(folder)) {
    llvm::StringRef name = file;
    if (!name.consume_back(".json") || name.ends_with(".net"))
      continue;
    cases.push_back({"golden." + name.str(), findText(golden, name.str()),
                     join(folder, file),
                     join(folder, name.str() + ".net.json")});
  }
  return cases;
}

llvm::json::Value readJson(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return nullptr;
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse((*buffer)->getBuffer());
  if (!value) {
    llvm::consumeError(value.takeError());
    return nullptr;
  }
  return std::move(*value);
}

/// Arcs as text, vertices by name, so that two networks can be compared
/// however they number their nodes.
std::multiset<std::string> arcsOf(const llvm::json::Object &network) {
  std::multiset<std::string> arcs;
  const llvm::json::Array *names = network.getArray("names");
  const llvm::json::Array *list = network.getArray("arcs");
  if (!names || !list)
    return arcs;
  auto vertex = [&](int64_t v) -> std::string {
    if (v < 2)
      return v ? "sink" : "source";
    return ((*names)[(v - 2) / 2].getAsString().value_or("?") +
            (v % 2 ? "_out" : "_in"))
        .str();
  };
  for (const llvm::json::Value &value : *list) {
    const llvm::json::Array &arc = *value.getAsArray();
    arcs.insert(vertex(*arc[0].getAsInteger()) + " -> " +
                vertex(*arc[1].getAsInteger()) + " " +
                std::to_string(*arc[2].getAsInteger()));
  }
  return arcs;
}

template <typename T>
std::string firstDifferences(const T &ours, const T &theirs) {
  std::vector<std::string> onlyOurs, onlyTheirs;
  std::set_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                      std::back_inserter(onlyOurs));
  std::set_difference(theirs.begin(), theirs.end(), ours.begin(), ours.end(),
                      std::back_inserter(onlyTheirs));
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(5, onlyOurs.size()); ++i)
    text += "\n  only ours:   " + onlyOurs[i];
  for (size_t i = 0; i < std::min<size_t>(5, onlyTheirs.size()); ++i)
    text += "\n  only theirs: " + onlyTheirs[i];
  return std::to_string(onlyOurs.size()) + " only ours, " +
         std::to_string(onlyTheirs.size()) + " only theirs" + text;
}

std::multiset<std::string> strings(const llvm::json::Array *array) {
  std::multiset<std::string> set;
  if (array)
    for (const llvm::json::Value &value : *array)
      set.insert(value.getAsString().value_or("").str());
  return set;
}

class Golden : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    reference = readJson(GetParam().reference);
    networks = readJson(GetParam().network);
    ASSERT_TRUE(reference.getAsObject()) << GetParam().reference;
    ASSERT_TRUE(networks.getAsObject()) << GetParam().network;
  }

  void check(const char *ruleName, Rules rules, bool isFree);
  PartitionOptions options(Rules rules, bool isFree, const std::string &dump);

  llvm::json::Value reference = nullptr, networks = nullptr;
};

PartitionOptions Golden::options(Rules rules, bool isFree,
                                 const std::string &dump) {
  PartitionOptions options;
  options.costModel = CostModel::PyTorch;
  options.rules = rules;
  options.dumpNetwork = dump;
  options.freeParameters.kind =
      isFree ? FreeParameters::List : FreeParameters::None;
  if (const auto *list = reference.getAsObject()->getArray("static"))
    for (const llvm::json::Value &index : *list)
      options.freeParameters.indices.push_back(*index.getAsInteger());
  if (const auto *symbols = reference.getAsObject()->getObject("symbols"))
    for (const auto &entry : *symbols)
      options.symbols[entry.first] = *entry.second.getAsInteger();
  return options;
}

void Golden::check(const char *ruleName, Rules rules, bool isFree) {
  const llvm::json::Object *expected =
      reference.getAsObject()->getObject("rules")->getObject(ruleName);
  if (!expected)
    GTEST_SKIP() << "PyTorch recorded no partition by " << ruleName;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  FailureOr<ImportedModule> imported = readInput(GetParam().text, context);
  ASSERT_TRUE(succeeded(imported)) << GetParam().text;
  ASSERT_TRUE(imported->graph);
  llvm::SmallString<128> dump;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("network", "json", dump));
  PartitionOptions plan = options(rules, isFree, dump.str().str());
  // PyTorch names the recomputed ops of the graph that it decided on.
  plan.decompose = false;
  PhaseSeconds seconds;
  FailureOr<PreparedGraph> prepared =
      preparePartition(imported->graph, plan, seconds);
  ASSERT_TRUE(succeeded(prepared));
  FailureOr<std::unique_ptr<PartitionResult>> result =
      partitionGraph(imported->graph, plan, std::move(*prepared));
  ASSERT_TRUE(succeeded(result));

  const llvm::json::Object *theirs =
      networks.getAsObject()->getObject("networks")->getObject(ruleName);
  llvm::json::Value ours = readJson(dump.str().str());
  llvm::sys::fs::remove(dump);
  ASSERT_TRUE(theirs && ours.getAsObject());
  std::multiset<std::string> ourArcs = arcsOf(*ours.getAsObject());
  std::multiset<std::string> theirArcs = arcsOf(*theirs);
  EXPECT_TRUE(ourArcs == theirArcs) << firstDifferences(ourArcs, theirArcs);

  EXPECT_EQ((*result)->cutValue, *expected->getInteger("cut_value"));
  std::multiset<std::string> tensors, sizes;
  for (const SavedValue &saved : (*result)->saved)
    (saved.kind == SavedValue::Size ? sizes : tensors).insert(saved.name);
  std::multiset<std::string> saved = strings(expected->getArray("saved"));
  EXPECT_TRUE(tensors == saved) << firstDifferences(tensors, saved);
  EXPECT_EQ(sizes, strings(expected->getArray("saved_sizes")));
  EXPECT_EQ((*result)->savedPlainBytes, *expected->getInteger("plain_bytes"));
  EXPECT_EQ((*result)->savedStorageBytes,
            *expected->getInteger("storage_bytes"));
  EXPECT_EQ((*result)->argumentBytes, *expected->getInteger("primal_bytes"));
  std::multiset<std::string> recomputed((*result)->recomputed.begin(),
                                        (*result)->recomputed.end());
  std::multiset<std::string> names =
      strings(expected->getArray("recomputed_names"));
  // A replayed random call becomes two calls in each half, whose new names
  // PyTorch lists where they stand in both.
  EXPECT_EQ(static_cast<int64_t>((*result)->replayedRandom.size()),
            expected->getInteger("rng_states").value_or(0));
  if (!(*result)->replayedRandom.empty()) {
    std::set<std::string> known((*result)->recomputed.begin(),
                                (*result)->recomputed.end());
    for (auto it = names.begin(); it != names.end();)
      it = known.count(*it) ? std::next(it) : names.erase(it);
  }
  EXPECT_TRUE(recomputed == names) << firstDifferences(recomputed, names);
  EXPECT_TRUE((*result)->verified);
}

/// What follows the decision is of core ops, with the same values saved.
TEST_P(Golden, torch213InCoreOps) {
  const llvm::json::Object *expected =
      reference.getAsObject()->getObject("rules")->getObject("torch-2.13");
  if (!expected)
    GTEST_SKIP() << "PyTorch recorded no partition by torch-2.13";
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerTrainingGraph(context);
  FailureOr<ImportedModule> imported = readInput(GetParam().text, context);
  ASSERT_TRUE(succeeded(imported) && imported->graph);
  PartitionOptions plan = options(Rules::Torch2_13, false, "");
  PhaseSeconds seconds;
  FailureOr<PreparedGraph> prepared =
      preparePartition(imported->graph, plan, seconds);
  ASSERT_TRUE(succeeded(prepared));
  FailureOr<std::unique_ptr<PartitionResult>> result =
      partitionGraph(imported->graph, plan, std::move(*prepared));
  ASSERT_TRUE(succeeded(result));
  std::multiset<std::string> tensors, sizes;
  for (const SavedValue &saved : (*result)->saved)
    (saved.kind == SavedValue::Size ? sizes : tensors).insert(saved.name);
  std::multiset<std::string> saved = strings(expected->getArray("saved"));
  EXPECT_TRUE(tensors == saved) << firstDifferences(tensors, saved);
  EXPECT_EQ(sizes, strings(expected->getArray("saved_sizes")));
  EXPECT_EQ((*result)->savedPlainBytes, *expected->getInteger("plain_bytes"));
  EXPECT_EQ((*result)->cutValue, *expected->getInteger("cut_value"));
  EXPECT_TRUE((*result)->verified);
  if (!(*result)->given)
    GTEST_SKIP() << "all ops are core ops";
}

/// Within an activation budget PyTorch saves the same values.
TEST_P(Golden, torch213Budgets) {
  const llvm::json::Object *budgets =
      reference.getAsObject()->getObject("budgets");
  if (!budgets)
    GTEST_SKIP() << "PyTorch recorded no budgets";
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerTrainingGraph(context);
  FailureOr<ImportedModule> imported = readInput(GetParam().text, context);
  ASSERT_TRUE(succeeded(imported) && imported->graph);
  // Recorded without what the backward is given for its writes alone.
  std::set<std::string> written;
  imported->graph->walk([&](joint::WriteOp write) {
    written.insert(joint::getValueName(write->getOperand(0)).str());
  });
  PartitionOptions plan = options(Rules::Torch2_13, true, "");
  PhaseSeconds seconds;
  ASSERT_TRUE(succeeded(preparePartition(imported->graph, plan, seconds)));
  plan.emit = plan.decompose = false;
  for (const auto &[fraction, value] : *budgets) {
    const llvm::json::Object *expected = value.getAsObject();
    plan.activationBudget = TorchBudget{std::stod(fraction.str())};
    FailureOr<std::unique_ptr<PartitionResult>> result =
        partitionGraph(imported->graph, plan);
    ASSERT_TRUE(succeeded(result)) << fraction.str();
    std::multiset<std::string> tensors, sizes;
    for (const SavedValue &saved : (*result)->saved)
      if (!written.count(saved.name))
        (saved.kind == SavedValue::Size ? sizes : tensors).insert(saved.name);
    std::multiset<std::string> saved = strings(expected->getArray("saved"));
    EXPECT_TRUE(tensors == saved)
        << fraction.str() << ": " << firstDifferences(tensors, saved);
    EXPECT_EQ(sizes, strings(expected->getArray("saved_sizes")));
    const llvm::json::Object *knapsack = expected->getObject("knapsack");
    const BudgetDecision &budget = *(*result)->budget;
    EXPECT_EQ(knapsack != nullptr, budget.answer == BudgetAnswer::Knapsack);
    if (!knapsack)
      continue;
    EXPECT_EQ(int64_t(budget.candidates), *knapsack->getInteger("items"));
    EXPECT_EQ(int64_t(budget.released.size()),
              *knapsack->getInteger("allowed_recompute"));
  }
}

TEST_P(Golden, torch23) { check("torch-2.3", Rules::Torch2_3, false); }
TEST_P(Golden, torch213) { check("torch-2.13", Rules::Torch2_13, false); }
TEST_P(Golden, torch213Static) {
  check("torch-2.13-static", Rules::Torch2_13, true);
}

INSTANTIATE_TEST_SUITE_P(Graphs, Golden, testing::ValuesIn(collectCases()),
                         [](const testing::TestParamInfo<Case> &info) {
                           std::string name = info.param.name;
                           for (char &c : name)
                             if (!llvm::isAlnum(c))
                               c = '_';
                           return name;
                         });

} // namespace

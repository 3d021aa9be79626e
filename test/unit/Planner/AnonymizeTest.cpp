// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An anonymous graph is planned as the graph is, under every strategy and cost
// model: the same cut, the same values saved by their numbers, the same bytes.
// And nothing of the names in the graph is in its text.

#include "cutback/Transforms/Anonymize.h"
#include "cutback/Analysis/Names.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Import/Import.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Planner/TrainingGraph.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace cutback;

namespace {

std::vector<std::string> inputs() {
  std::vector<std::string> paths;
  std::error_code code;
  std::string corpus = std::string(CUTBACK_SOURCE_DIR) + "/test/corpus";
  for (llvm::sys::fs::directory_iterator it(corpus, code), end;
       it != end && !code; it.increment(code))
    for (const char *file : {"/joint.txt", "/model.pt2"})
      if (llvm::sys::fs::exists(it->path() + file))
        paths.push_back(it->path() + file);
  llvm::sort(paths);
  return paths;
}

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo());
  return text;
}

/// What a plan is, without a name in it.
struct Outcome {
  int64_t cutValue = 0, savedBytes = 0, peak = 0, pricedPs = 0;
  uint64_t ops = 0, recomputed = 0, vertices = 0, arcs = 0;
  std::vector<std::pair<uint32_t, int64_t>> saved;
  std::string reasons;
};

bool operator==(const Outcome &a, const Outcome &b) {
  return a.cutValue == b.cutValue && a.savedBytes == b.savedBytes &&
         a.peak == b.peak && a.pricedPs == b.pricedPs && a.ops == b.ops &&
         a.recomputed == b.recomputed && a.vertices == b.vertices &&
         a.arcs == b.arcs && a.saved == b.saved && a.reasons == b.reasons;
}

FailureOr<Outcome> planOf(MLIRContext &context, const std::string &text,
                          const PartitionOptions &options) {
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return failure();
  joint::GraphOp graph = *module->getOps<joint::GraphOp>().begin();
  PhaseSeconds seconds;
  if (failed(makeTrainingGraph(graph)))
    return failure();
  auto prepared = preparePartition(graph, options, seconds);
  if (failed(prepared))
    return failure();
  auto result = partitionGraph(graph, options, std::move(*prepared));
  if (failed(result))
    return failure();
  const PartitionResult &plan = **result;
  Outcome out{plan.cutValue,
              plan.savedBytes,
              plan.peak.bytes,
              plan.pricedPs,
              plan.ops,
              plan.recomputed.size(),
              plan.networkVertices,
              plan.networkArcs,
              {},
              ""};
  for (const SavedValue &value : plan.saved) {
    out.saved.emplace_back(value.value, value.bytes);
    // Reasons may name values.
    out.reasons += value.reason.substr(0, value.reason.find('%')) + "\n";
  }
  return out;
}

/// Names that could tell the model, longer than what is in any graph.
std::set<std::string> tellingNames(ModuleOp module) {
  std::set<std::string> names;
  auto add = [&](StringRef path) {
    SmallVector<StringRef> parts;
    path.split(parts, '.');
    for (StringRef part : parts)
      if (part.size() > 4)
        names.insert(part.str());
  };
  for (joint::GraphOp graph : module.getOps<joint::GraphOp>())
    for (unsigned i = 0; i < graph.getArgumentTypes().size(); ++i) {
      if (graph.getArgName(i).size() > 4)
        names.insert(graph.getArgName(i).str());
      if (StringAttr name = graph.getRole(i).getName())
        add(name.getValue());
    }
  module->walk([&](Operation *op) {
    if (std::optional<SourcePlace> place = findSourcePlace(op->getLoc())) {
      names.insert(llvm::sys::path::filename(place->file).str());
      names.insert(llvm::sys::path::parent_path(place->file).str());
    }
    if (auto check = dyn_cast<joint::AssertOp>(op))
      names.insert(check.getMessage().str());
  });
  // Words of the dialects.
  for (const char *word : {"", "model", "tangents", "forward", "embedding"})
    names.erase(word);
  return names;
}

/// `name` stands in `text`, and not in a longer word: "embed" in "embedding".
bool holds(const std::string &text, const std::string &name) {
  auto inWord = [&](size_t at) {
    return at < text.size() && (llvm::isAlnum(text[at]) || text[at] == '_');
  };
  for (size_t at = text.find(name); at != std::string::npos;
       at = text.find(name, at + 1))
    if (!inWord(at - 1) && !inWord(at + name.size()))
      return true;
  return false;
}

struct Anonymous {
  std::string before, after;
  std::set<std::string> telling;
};

Anonymous anonymous(MLIRContext &context, const std::string &path) {
  registerTrainingGraph(context);
  Anonymous out;
  FailureOr<ImportedModule> module = readInput(path, context);
  if (failed(module))
    return out;
  out.before = textOf(*module->module);
  out.telling = tellingNames(*module->module);
  anonymize(*module->module);
  EXPECT_TRUE(succeeded(verify(*module->module)));
  out.after = textOf(*module->module);
  return out;
}

class Anonymize : public testing::TestWithParam<std::string> {};

TEST_P(Anonymize, PlansAsBefore) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Anonymous graph = anonymous(context, GetParam());
  ASSERT_FALSE(graph.after.empty());
  std::vector<PartitionOptions> ways(7);
  ways[1].strategy = Strategy::Eager;
  ways[2].strategy = Strategy::Precompute;
  ways[3].strategy = Strategy::RecomputeAll;
  ways[4].costModel = ways[5].costModel = CostModel::PyTorch;
  ways[5].rules = Rules::Torch2_3;
  ways[6].bytePrice = 0.6;
  for (PartitionOptions &way : ways) {
    way.verify = way.emit = false;
    FailureOr<Outcome> before = planOf(context, graph.before, way);
    FailureOr<Outcome> after = planOf(context, graph.after, way);
    ASSERT_TRUE(succeeded(before) && succeeded(after)) << (&way - &ways[0]);
    EXPECT_TRUE(*before == *after) << (&way - &ways[0]);
    EXPECT_FALSE(before->saved.empty());
  }
}

TEST_P(Anonymize, TellsNothing) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Anonymous graph = anonymous(context, GetParam());
  EXPECT_FALSE(graph.telling.empty());
  for (const std::string &name : graph.telling)
    EXPECT_FALSE(holds(graph.after, name)) << name;
  MLIRContext again(MLIRContext::Threading::DISABLED);
  EXPECT_EQ(anonymous(again, GetParam()).after, graph.after);
}

std::string nameOf(const testing::TestParamInfo<std::string> &info) {
  StringRef path = info.param;
  StringRef model =
      llvm::sys::path::filename(llvm::sys::path::parent_path(path));
  return (model + (path.ends_with(".pt2") ? "_pt2" : "")).str();
}

INSTANTIATE_TEST_SUITE_P(Corpus, Anonymize, testing::ValuesIn(inputs()),
                         nameOf);

} // namespace

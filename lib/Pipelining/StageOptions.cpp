// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names on a command line are those of the model: a policy belongs to the stage
// that computes the value, a checkpoint region to each stage with a part of the
// module. A module that a cut goes through is a region in each of its stages.
//
// Whether a name is one of the model is known when all stages were asked.

#include "cutback/Pipelining/StageOptions.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Transforms/ChooseRegions.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// Names of all results of `graph`.
static llvm::StringSet<> namesIn(GraphOp graph) {
  llvm::StringSet<> names;
  graph->walk([&](Operation *op) {
    for (Value result : op->getResults())
      names.insert(getValueName(result));
  });
  return names;
}

static LogicalResult failUnused(GraphOp graph, StringRef what, StringRef name) {
  auto diagnostic = graph.emitError("no stage has ")
                    << what << " '" << name << "'";
  diagnostic.attachNote() << "`cutback import` prints the names of the model";
  return diagnostic;
}

FailureOr<std::vector<PartitionOptions>>
cutback::distributeOptions(const CutProgram &program,
                           const PartitionOptions &options) {
  std::vector<PartitionOptions> all(program.stages.size(), options);
  llvm::StringSet<> usedPolicies, usedModules;
  for (size_t i = 0; i < all.size(); ++i) {
    GraphOp stage = program.stages[i];
    llvm::StringSet<> names = namesIn(stage);
    all[i].policies.clear();
    for (const auto &policy : options.policies)
      if (names.contains(policy.getKey().split('#').first)) {
        all[i].policies[policy.getKey()] = policy.getValue();
        usedPolicies.insert(policy.getKey());
      }
    all[i].checkpoint.clear();
    for (const std::string &pattern : options.checkpoint) {
      FailureOr<bool> fits = fitsModule(stage, pattern);
      if (failed(fits))
        return failure();
      if (!*fits)
        continue;
      all[i].checkpoint.push_back(pattern);
      usedModules.insert(pattern);
    }
    if (all[i].checkpoint.empty())
      all[i].checkpointPolicies.clear();
  }
  for (const auto &policy : options.policies)
    if (!usedPolicies.contains(policy.getKey()))
      return failUnused(program.stages[0], "a value", policy.getKey());
  for (const std::string &pattern : options.checkpoint)
    if (!usedModules.contains(pattern))
      return failUnused(program.stages[0], "a module", pattern);
  return all;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stored plans for the C interface, by the code of the command line: a folder
// is proved when it is read, and what it holds is what is shown. Each plan that
// is asked of it is made again of the recorded choice, on a copy of the graph,
// which is what proving it was; so plans live as long as their owners say.

#include "Stored.h"

#include "cutback/Planner/PlanOptions.h"
#include "cutback/Planner/PlanRecord.h"
#include "cutback/Report/StoredHalves.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::capi;

bool cutback::capi::requireGraph(CutbackContext &context,
                                 const FailureOr<ImportedModule> &imported) {
  if (failed(imported) || imported->graph)
    return succeeded(imported);
  context.report(CUTBACK_ERROR, "there is no joint graph in the input");
  context.report(CUTBACK_NOTE, "give a joint graph, or a forward program "
                               "that torch.export wrote");
  return false;
}

namespace {

/// Reads the files of a folder for a context.
class FolderClient : public StoredHalvesClient {
public:
  explicit FolderClient(CutbackContext &context)
      : StoredHalvesClient(context.mlir), owner(context) {}

  FailureOr<ImportedModule> readJoint(const std::string &path,
                                      const ImportOptions &options) override {
    FailureOr<ImportedModule> joint = read(path, options);
    if (requireGraph(owner, joint))
      return joint;
    return failure();
  }
  void error(const std::string &message) override {
    owner.report(CUTBACK_ERROR, message.c_str());
  }
  void note(const std::string &message) override {
    owner.report(CUTBACK_NOTE, message.c_str());
  }

private:
  CutbackContext &owner;
};

} // namespace

CutbackStatus cutback::capi::readStored(CutbackContext &context,
                                        const char *path, size_t numOptions,
                                        const char *const *options,
                                        CutbackGraph **graph) {
  auto line = parseOptions(context, inputOptions(), numOptions, options);
  if (!line)
    return CUTBACK_WRONG_USAGE;
  FolderClient client(context);
  StoredHalves stored;
  int code = refusePlanOptions(client, *line);
  if (code == Done)
    code = stored.load(client, {path}, importOptionsOf(*line));
  if (code == Done)
    code = stored.verify(client);
  if (code == Done)
    *graph = new CutbackGraph{context, std::move(stored.joint), 0, true};
  return static_cast<CutbackStatus>(code);
}

CutbackStatus cutback::capi::takeStored(CutbackGraph &graph,
                                        const CommandLine &line,
                                        CutbackPlan **made) {
  FolderClient client(graph.context);
  if (refusePlanOptions(client, line) != Done)
    return CUTBACK_WRONG_USAGE;
  if (line.has("remarks"))
    enablePlanRemarks(graph.context.mlir);
  auto plan = std::make_unique<CutbackPlan>(graph);
  auto result = planAsRecorded(plan->graph);
  if (failed(result))
    return CUTBACK_NO_PLAN;
  plan->result = std::move(*result);
  plan->extras = collectExtras(*plan->result);
  plan->isStored = true;
  *made = plan.release();
  return CUTBACK_DONE;
}

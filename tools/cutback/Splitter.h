// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model on its way to the folder of its stages.
#ifndef CUTBACK_TOOLS_CUTBACK_SPLITTER_H
#define CUTBACK_TOOLS_CUTBACK_SPLITTER_H

#include "SplitProgram.h"
#include "StepSources.h"

#include "cutback/Pipelining/BatchSizes.h"
#include "cutback/Pipelining/FitStages.h"
#include "cutback/Pipelining/PlanStage.h"
#include "cutback/Pipelining/StageOptions.h"
#include "cutback/Pipelining/UpdatePhases.h"
#include "cutback/Runtime/Pipeline/PipelineCosts.h"

#include <map>
#include <optional>

namespace cutback {

/// What a saved byte is worth at each level of recomputation, as a multiple of
/// the graph's own price.
inline constexpr double kLevels[] = {1, 1.25, 1.5, 1.75, 2,  2.5, 3,
                                     4, 6,    8,   16,   64, 1e4};

/// How a schedule runs the backward of a stage.
enum class Backwards { Whole, Apart, Either };

class Splitter {
public:
  Splitter(Session &session, ImportedModule &imported,
           const SplitRequest &request, SplitProgram &program)
      : session(session), imported(imported), request(request),
        program(program) {}

  int run();

private:
  int fixAllSizes(mlir::OwningOpRef<mlir::ModuleOp> &copy);
  int cutAt(joint::GraphOp graph, llvm::ArrayRef<unsigned> begins,
            CutProgram &made);
  int cut();
  int chooseLoss();
  int checkSplitDims() const;
  int setDevices(CutProgram &cut);
  int planStages();
  StagePlanRequest requestAt(unsigned stage, unsigned level) const;
  const PlannedStage *planAt(unsigned stage, unsigned level);
  std::vector<unsigned> findFront(unsigned stage, Backwards backwards);
  const pipeline::StageCosts *costsAt(unsigned stage, unsigned level);
  int fit();
  int fitTo(const pipeline::Schedule &schedule, std::string &why);
  std::optional<FittedStages> fitPrices(const pipeline::Schedule &schedule,
                                        StageLevels search, bool isApart,
                                        std::string &why);
  int addUpdate(unsigned number, PlannedStage &planned);
  int addUndecayed(unsigned number);
  int addStage(unsigned number);
  int addSmaller(unsigned number, const PlannedStage &larger);
  int emitPhases(PlannedStage &planned, const std::string &folder);
  int compilePhase(const PartitionResult &plan, joint::GraphOp graph,
                   const std::string &folder, PipelinePhase &entry);
  int addWeights(PipelineStage &stage);
  int addGraph(const std::string &folder, std::string text);
  void addFile(const std::string &name, std::string data) {
    program.files.emplace_back(name, std::move(data));
  }

  Session &session;
  ImportedModule &imported;
  const SplitRequest &request;
  SplitProgram &program;
  CutProgram stages;
  std::optional<CutProgram> smaller;       ///< of the smaller micro-batches
  TrainingGraphOptions gradients;          ///< of each stage
  std::vector<PartitionOptions> optionsOf; ///< by stage
  std::vector<Optimizer> optimizers;       ///< by stage
  StageFacts facts;
  /// By stage and level; nothing where there is no plan.
  std::map<std::pair<unsigned, unsigned>, std::optional<PlannedStage>> plans;
  std::map<std::pair<unsigned, unsigned>, pipeline::StageCosts> costs;
  std::vector<unsigned> levels; ///< by stage
  std::optional<FittedStages> fitted;
  StepFiles sources;
};

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_SPLITTER_H

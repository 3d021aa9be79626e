// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank's way through a step or a training: PipelineRun.cpp, RankTrain.cpp.
#ifndef CUTBACK_LIB_RUNTIME_PIPELINE_RANKRUN_H
#define CUTBACK_LIB_RUNTIME_PIPELINE_RANKRUN_H

#include "cutback/Runtime/Pipeline/Agreement.h"
#include "cutback/Runtime/Pipeline/GroupCollectives.h"
#include "cutback/Runtime/Pipeline/GroupTransport.h"
#include "cutback/Runtime/Pipeline/PipelineRun.h"
#include "cutback/Runtime/Pipeline/TrainRows.h"
#include "cutback/Runtime/TensorFiles.h"

namespace cutback::pipeline {

/// A training that can go on.
struct TrainedPoint {
  int64_t steps = 0, seed = 0;
  std::optional<LossScale> scale;

  /// Steps that have changed parameters.
  int64_t updates() const { return steps - (scale ? scale->skipped : 0); }
};

/// What is said of a step.
struct TrainLine {
  double loss = 0, rate = 0, norm = 0, seconds = 0;
};

class RankRun {
public:
  RankRun(const PipelineRunOptions &options, Transport &transport)
      : options(options), transport(transport), timeout(options.timeoutSeconds),
        waiter(transport, timeout) {}

  int run();

private:
  int runStep();
  std::string runSteps();
  int train();
  int checkTraining(StepError &error);
  int runTraining();
  int endAt(int64_t step, const std::string &error);
  std::string trainStep(StepNumbers next, TrainLine &line);
  void addTraining(Fields &fields) const;
  std::string reduceNorms(const GradientNorms &own, double &norm,
                          double &greatest);
  std::string shareLoss(double &loss);
  int restore(TrainedPoint &point, StepError &error);
  int save(const TrainedPoint &point);
  int checkValidTokens(StepError &error);
  std::vector<int64_t> countInBatch(const PipelineInput &labels,
                                    int64_t step) const;
  std::string findShares(int64_t step, StepNumbers &next);
  std::string evaluate();
  int openTraining(StepError &error);
  int prepare(StepError &error);
  int openRank(StepError &error);
  int openGroups(StepError &error);
  int takeShare(StepError &error);
  void openPeers();
  bool openCollectives(PhaseRunner &phase, const std::string &folder,
                       StepError &error) const;
  std::string pathOf(const std::string &path, int member) const;
  std::string pathOf(const std::string &path) const {
    return pathOf(path, member());
  }
  std::string mergeFiles(const std::vector<std::string> &files, int member,
                         std::string &merged) const;
  int member() const { return grid.memberOf(transport.rank()); }
  /// Whether it says what others have, too.
  bool hasResults() const { return replica() == 0 && member() == 0; }
  int replica() const { return grid.replicaOf(transport.rank()); }
  /// Of this rank in the schedule.
  int row() const { return grid.rowOf(transport.rank()); }
  int addWeights(StepError &error);
  std::unique_ptr<PhaseRunner> openPhaseOf(const PipelinePhase &phase,
                                           StepError &error) const;
  int64_t findFirstSmaller() const;
  Fields fields() const;
  Fields fieldsOfMember() const;
  int stop(const std::string &why, bool isOwn);
  std::string report() const;
  std::string describeRank() const;
  bool isMeasured() const {
    return options.repeat > 1 || !options.times.empty();
  }
  std::string describeMakespan() const;
  const MeasuredStep &chosen() const { return steps[chosenStep]; }
  int finish();
  bool isFirst() const { return transport.rank() == 0; }
  std::string describeLoss() const;
  double lossOf(size_t microBatch) const;
  double meanLoss() const;
  /// Of all replicas, and the number of this one's first among them.
  int64_t microBatchesOfStep() const {
    return int64_t(grid.replicas) * schedule.microBatches;
  }
  int64_t firstMicroBatch() const {
    return int64_t(replica()) * schedule.microBatches;
  }

  const PipelineRunOptions &options;
  Transport &transport;
  std::chrono::duration<double> timeout;
  Waiter waiter;
  RankGrid grid;
  /// The ranks that run this one's pipeline; those with its stages in other
  /// replicas; those that run its row.
  std::unique_ptr<Transport> group, replicas, members;
  Pipeline pipeline;
  Schedule schedule, scheduleOfAll; ///< of a pipeline; a row of each rank
  TensorFiles inputs, heldInputs, weights;
  FindTensor findInput, findWeight;
  /// Of one of several replicas: its part of a step's inputs, by name.
  std::map<std::string, GivenTensor> share;
  std::map<std::string, std::string> shareBytes;
  std::unique_ptr<TrainRows> rows, held; ///< of a training
  TrainedPoint point;
  bool isClipped = false;
  std::vector<MeasuredStep> steps;
  std::vector<double> makespans; ///< of all ranks, by step
  size_t chosenStep = 0;
  double lastGreatest = 0;             ///< magnitude of a gradient
  std::unique_ptr<BlockMemory> memory; ///< of stages on a GPU
  int64_t updates = 0; ///< of parameters, whether or not they changed
  std::unique_ptr<Peers> peers;
  std::unique_ptr<Waiter> replicaWaiter, memberWaiter;
  std::unique_ptr<GroupCollectives> collectives; ///< null: no group
  std::unique_ptr<Rank> rank;
};

} // namespace cutback::pipeline

#endif // CUTBACK_LIB_RUNTIME_PIPELINE_RANKRUN_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank's way through a step:
//
//   1. pipeline.json, the schedule, files of tensors, phases: what goes wrong
//      is kept
//   2. all ranks agree, or one says why not
//   3. the row, as often as was asked for
//   4. results go to rank 0, which writes them and prints
//
// A rank that fails in 3 ends all (Peers.h). Exit codes are those of `cutback`;
// all ranks have the same.

#include "RankRun.h"

#include "cutback/Runtime/Elements.h"
#include "cutback/Runtime/Pipeline/Agreement.h"
#include "cutback/Runtime/Pipeline/BatchSplit.h"
#include "cutback/Runtime/Pipeline/Collectives.h"
#include "cutback/Runtime/Pipeline/GpuMemory.h"
#include "cutback/Runtime/Pipeline/MpiTransport.h"
#include "cutback/Runtime/Pipeline/NcclWire.h"
#include "cutback/Runtime/Pipeline/PipelineCosts.h"
#include "cutback/Runtime/Pipeline/ThreadTransport.h"
#include "cutback/Schedule/Check.h"
#include "cutback/Schedule/Csv.h"
#include "cutback/Schedule/Generate.h"
#include "cutback/Schedule/Lower.h"
#include "cutback/Support/Checksum.h"
#include "cutback/Support/ExitCode.h"
#include "cutback/Support/SafeFile.h"
#include "cutback/Support/Text.h"

#include <cstdio>
#include <cstring>
#include <new>
#include <thread>
#include <unistd.h>

using namespace cutback;
using namespace cutback::pipeline;

bool pipeline::isPipelineFolder(const std::string &folder) {
  return ::access((folder + "/" + kPipelineFile).c_str(), F_OK) == 0;
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

static std::optional<Schedule> readSchedule(const std::string &path,
                                            ScheduleError &error) {
  MappedFile file;
  if (std::string what = file.open(path); !what.empty()) {
    error = {"'" + path + "' cannot be read: " + what,
             "--schedule takes a name, or a .csv file"};
    return std::nullopt;
  }
  return readCsv(file.bytes(), path, error);
}

static std::optional<Schedule> findSchedule(const PipelineRunOptions &options,
                                            int stages, int ranks,
                                            ScheduleError &error) {
  const std::string &name = options.schedule;
  if (name.size() > 4 && name.substr(name.size() - 4) == ".csv") {
    auto read = readSchedule(name, error);
    if (read && options.isForwardOnly)
      read = forwardOnly(*read);
    return read;
  }
  if (stages % ranks != 0) {
    error = {formatCount(stages, "stage") + " on " +
                 formatCount(ranks, "rank") + ": " + name +
                 " gives each rank as many",
             "take a number of ranks that divides the stages, or a .csv file"};
    return std::nullopt;
  }
  Shape shape;
  shape.ranks = ranks;
  shape.stagesPerRank = stages / ranks;
  shape.microBatches = options.microBatches;
  shape.isForwardOnly = options.isForwardOnly;
  return generate(name, shape, error);
}

std::optional<Schedule>
pipeline::makeSchedule(const PipelineRunOptions &options,
                       const Pipeline &pipeline, int ranks, StepError &error) {
  auto stages = static_cast<int>(pipeline.stages.size());
  ScheduleError wrong;
  auto made = findSchedule(options, stages, ranks, wrong);
  if (made && (made->ranks != ranks || made->stages != stages ||
               made->microBatches != options.microBatches)) {
    wrong = {
        "the schedule is for " + formatCount(made->ranks, "rank") + ", " +
            formatCount(made->stages, "stage") + " and " +
            formatCount(made->microBatches, "micro-batch", "micro-batches") +
            "; there are " + std::to_string(ranks) + ", " +
            std::to_string(stages) + " and " +
            std::to_string(options.microBatches),
        "give a schedule for this pipeline"};
    made = std::nullopt;
  }
  if (made) {
    Schedule compute = computeOnly(*made);
    bool hasTransfers = false;
    for (const Row &row : made->rows)
      for (const auto &action : row)
        hasTransfers |= action && !isCompute(action->kind);
    auto fault = checkActions(*made, costsOf(pipeline).crossings,
                              hasTransfers ? ListForm::WithTransfers
                                           : ListForm::Compute);
    if (!fault)
      fault = checkPhases(*made, pipeline);
    if (!fault)
      return hasTransfers ? compute : *made;
    wrong = *fault;
  }
  error = {wrong.message, wrong.note};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Before the step
//===----------------------------------------------------------------------===//

static FindTensor finderOf(const TensorFiles &files) {
  return [&files](const std::string &name) -> std::optional<GivenTensor> {
    const TensorFiles::Tensor *found = files.find(name);
    if (!found)
      return std::nullopt;
    GivenTensor given;
    given.name = name;
    given.dtype = typeOfFileType(found->entry.dtype);
    given.sizes = found->entry.sizes;
    given.bytes = found->bytes;
    return given;
  };
}

/// The file of --weights, or those beside the stages of this rank.
int RankRun::addWeights(StepError &error) {
  error.next = "--weights takes a safetensors file";
  if (!options.weights.empty()) {
    error.what = weights.add(pathOf(options.weights));
    return error.what.empty() ? Done : WrongInput;
  }
  for (int stage : schedule.stagesOf(row())) {
    std::string path =
        options.folder + "/" + pipeline.stages[stage].name + "/" + kWeightsFile;
    const std::string &checksum = pipeline.stages[stage].weights;
    auto check = [&](std::string_view bytes) {
      return std::string(checksumOf(bytes) == checksum
                             ? ""
                             : "is of another split than its pipeline.json");
    };
    if (!checksum.empty())
      error = {weights.add(path, check),
               "copy all of the folder that `cutback split` wrote, or give "
               "--weights"};
    if (!error.what.empty())
      return WrongInput;
  }
  return Done;
}

std::unique_ptr<PhaseRunner> RankRun::openPhaseOf(const PipelinePhase &phase,
                                                  StepError &error) const {
  std::string folder = options.folder + "/" + phase.folder;
  PhasePlace place = {transport.localRank(), memory.get(), &updates};
  auto opened = options.openFolder
                    ? options.openFolder(folder, phase, error)
                    : openPhase(folder, phase.checksum, place, error);
  return opened && openCollectives(*opened, folder, error) ? std::move(opened)
                                                           : nullptr;
}

/// The number of the first micro-batch with a row less than those before it, by
/// the rows of --inputs, which all ranks have alike: as many as there are where
/// all have the larger size. What does not fit is found by checkInputs().
int64_t RankRun::findFirstSmaller() const {
  for (size_t stage = 0; stage < pipeline.smaller.size(); ++stage)
    for (size_t i = 0; i < pipeline.smaller[stage].inputs.size(); ++i) {
      const PipelineInput &larger = pipeline.stages[stage].inputs[i],
                          &smaller = pipeline.smaller[stage].inputs[i];
      const TensorFiles::Tensor *given = inputs.find(larger.name);
      if (larger.sizes == smaller.sizes || !given)
        continue;
      // A training's inputs have a row a step.
      int64_t dim = larger.splitDim, at = dim + (options.train ? 1 : 0);
      if (at < static_cast<int64_t>(given->entry.sizes.size()))
        return countLarger(given->entry.sizes[at], schedule.microBatches,
                           larger.sizes[dim], smaller.sizes[dim])
            .value_or(schedule.microBatches);
    }
  return schedule.microBatches;
}

/// The phases of this rank. Exit code.
int RankRun::openRank(StepError &error) {
  RankOptions rankOptions;
  rankOptions.threads = options.threads;
  rankOptions.isTraining = options.train.has_value();
  rankOptions.replicas = replicaWaiter.get();
  rankOptions.firstSmaller = findFirstSmaller();
  rankOptions.openSmaller = [this](int stage, PipelineStage::PhaseKind kind,
                                   StepError &why) {
    return openPhaseOf(pipeline.smaller[stage].phases[kind], why);
  };
  if (pipeline.target == "cuda" && !options.openFolder) {
    memory = GpuMemory::open(transport.localRank(), error);
    if (!error.what.empty())
      return NoPlan;
    rankOptions.memory = memory.get();
  }
  rankOptions.mayEvaluate =
      options.valid || (options.train && options.train->batches.evalEvery);
  if (rankOptions.mayEvaluate && transport.isOrdered()) {
    error = {std::string(options.valid ? "--valid-tokens" : "--eval-every") +
                 " leaves micro-batches out, and messages of " +
                 transport.name() + " have the order of a whole schedule",
             "leave it out, or --transport"};
    return WrongUsage;
  }
  rank = std::make_unique<Rank>(pipeline, schedule, *peers, rankOptions);
  auto openPhase = [this](int stage, PipelineStage::PhaseKind kind,
                          StepError &why) {
    return openPhaseOf(pipeline.stages[stage].phases[kind], why);
  };
  return rank->open(openPhase, findWeight, error) ? Done : NoPlan;
}

int RankRun::prepare(StepError &error) {
  if (int code = openGroups(error))
    return code;
  if (!readPipelineFolder(options.folder, pipeline, error))
    return WrongInput;
  if (grid.replicas > 1 && !pipeline.smaller.empty()) {
    error = {"--replicas: '" + options.folder +
                 "' is for two sizes of a micro-batch",
             "split the model for a --batch that the micro-batches of all "
             "replicas divide"};
    return WrongInput;
  }
  auto made = makeSchedule(options, pipeline, grid.rows, error);
  if (!made)
    return WrongInput;
  schedule = std::move(*made);
  if (pipeline.target == "reference" && !options.openFolder) {
    error = {"'" + options.folder + "' is for the interpreter",
             "run it with cutback run, or split the model with --target=cpu"};
    return WrongInput;
  }
  if (!options.inputs.empty()) {
    error = {inputs.add(pathOf(options.inputs)),
             "--inputs takes a safetensors file"};
    if (!error.what.empty())
      return WrongInput;
  }
  if (int code = addWeights(error))
    return code;
  findInput = finderOf(inputs);
  findWeight = finderOf(weights);
  openPeers();
  if (int code = openRank(error))
    return code;
  if (int code = options.train ? openTraining(error) : takeShare(error))
    return code;
  if (int code = checkValidTokens(error))
    return code;
  return rank->checkInputs(findInput, error) ? Done : WrongInput;
}

/// What all ranks must have alike.
Fields RankRun::fields() const {
  std::string rows;
  for (const Row &row : schedule.rows) {
    for (const auto &action : row)
      rows += (action ? format(*action) : "") + ",";
    rows += "\n";
  }
  Fields all = {
      {"pipeline.json", pipeline.checksum},
      {"--replicas", std::to_string(options.replicas)},
      {"--group", options.group + "=" + std::to_string(options.groupSize)},
      {"schedule", checksumOf(rows)},
      {"number of micro-batches", std::to_string(schedule.microBatches)},
      {"--seed", std::to_string(options.seed)},
      {"--repeat", std::to_string(options.repeat)}};
  // Rank 0 writes what all ranks send, so all send or none does.
  for (auto [name, path] : {std::pair("--outputs", &options.outputs),
                            {"--trace", &options.trace},
                            {"--times", &options.times}})
    all.emplace_back(name, path->empty() ? "" : "given");
  if (options.valid)
    all.emplace_back("--valid-tokens",
                     options.valid->input + "+" +
                         std::to_string(options.valid->first) + ":" +
                         std::to_string(options.valid->ignored));
  if (options.train)
    addTraining(all);
  return all;
}

/// What they have alike but for ranks that run a row together.
Fields RankRun::fieldsOfMember() const {
  Fields all = {{"--inputs", sampleOf(inputs)}};
  if (held)
    all.emplace_back("--eval-inputs", sampleOf(heldInputs));
  // Beside stages each rank reads its own alone.
  if (!options.weights.empty())
    all.emplace_back("--weights", sampleOf(weights));
  return all;
}

//===----------------------------------------------------------------------===//
// After the step
//===----------------------------------------------------------------------===//

double RankRun::lossOf(size_t microBatch) const {
  const std::string &bytes = rank->losses()[microBatch];
  Elements elements(const_cast<char *>(bytes.data()),
                    static_cast<int64_t>(bytes.size()),
                    rank->lossTensor().dtype);
  return elements.count() ? elements[0] : 0;
}

double RankRun::meanLoss() const {
  double sum = 0;
  for (size_t k = 0; k < rank->losses().size(); ++k)
    if (double share = rank->shareOf(static_cast<int64_t>(k)); share != 0)
      sum += share * lossOf(k);
  return sum;
}

/// A line for the user.
std::string RankRun::describeRank() const {
  std::string text = "rank " + std::to_string(transport.rank()) + ": ";
  if (options.replicas > 1)
    text += "replica " + std::to_string(replica()) + ", ";
  if (options.groupSize > 1)
    text += "rank " + std::to_string(member()) + " of its group, ";
  text += "stages";
  for (int stage : schedule.stagesOf(row()))
    text += " " + std::to_string(stage);
  text += ", arena " + formatBytes(rank->arenaBytes()) + ", slots " +
          formatBytes(rank->peakSlotBytes()) + ", sums " +
          formatBytes(rank->sumBytes());
  if (isMeasured())
    text += ", computes " + formatPicoseconds(computedIn(chosen()) * 1e12) +
            ", waits " + formatPicoseconds(waitedIn(chosen()) * 1e12);
  return text;
}

std::string RankRun::describeMakespan() const {
  char time[64];
  std::snprintf(time, sizeof time, "makespan %.3f ms",
                makespans[chosenStep] * 1e3);
  std::string text = time;
  return steps.size() < 2
             ? text
             : text + ", the median of " +
                   formatCount(static_cast<int64_t>(steps.size()) - 1, "step") +
                   " after a first one";
}

/// On the rank that has it: the loss, and that of each micro-batch.
std::string RankRun::describeLoss() const {
  if (rank->losses().empty() || !hasResults() ||
      !Elements::isKnown(rank->lossTensor().dtype))
    return "";
  constexpr size_t most = 16;
  char number[48];
  std::snprintf(number, sizeof number, "loss %.9g", meanLoss());
  std::string text = number;
  for (size_t k = 0; k < rank->losses().size() && k < most; ++k) {
    std::snprintf(number, sizeof number, "%s%.9g", k ? " " : ", micro-batches ",
                  lossOf(k));
    text += number;
  }
  return text + (rank->losses().size() > most ? " ..." : "");
}

/// The results of this rank as a file of tensors; those of all replicas are the
/// first one's.
std::string RankRun::report() const {
  std::vector<std::pair<ArtifactTensor, std::string_view>> tensors;
  if (replica() != 0)
    return encodeTensorFile(tensors);
  for (const RankTensor &one : rank->results())
    tensors.emplace_back(one, std::string_view(one.bytes, bytesOf(one)));
  std::string bytes;
  if (!rank->losses().empty()) {
    const ArtifactTensor &loss = rank->lossTensor();
    bytes.resize(bytesOf(loss));
    if (Elements::isKnown(loss.dtype) && !bytes.empty()) {
      Elements(bytes.data(), bytesOf(loss), loss.dtype).set(0, meanLoss());
      tensors.emplace_back(loss, bytes);
    }
  }
  return encodeTensorFile(tensors);
}

/// Results to rank 0, which writes and prints. Exit code.
int RankRun::finish() {
  std::vector<std::string> files, losses, lines, traces, times;
  std::string wrong = gather(waiter, 0, describeLoss(), losses);
  if (wrong.empty())
    wrong = gather(waiter, 0, describeRank(), lines);
  if (wrong.empty() && !options.outputs.empty())
    wrong = rank->gatherOutputs();
  if (wrong.empty() && !options.outputs.empty())
    wrong = gather(waiter, 0, report(), files);
  if (wrong.empty() && !options.trace.empty())
    wrong =
        gather(waiter, 0, traceEventsOf(replica(), transport.rank(), chosen()),
               traces);
  if (wrong.empty() && !options.times.empty())
    wrong = gather(waiter, 0, hasResults() ? timesOf(chosen()) : "", times);
  StepError error = {wrong, "see what the other ranks say"};
  int code = wrong.empty() ? Done : NoPlan;
  auto write = [&](const std::string &path, const std::string &bytes,
                   const char *option) {
    if (code == Done && !(wrong = writeFileSafely(path, bytes)).empty()) {
      code = WrongInput;
      error = {wrong, std::string(option) + " takes a place to write to"};
    }
  };
  if (code == Done && isFirst()) {
    for (const auto *all : {&losses, &lines})
      for (const std::string &line : *all)
        if (!line.empty())
          options.print(line);
    if (isMeasured())
      options.print(describeMakespan());
    std::string merged, events;
    for (int one = 0; one < grid.width && !options.outputs.empty(); ++one) {
      if (!(wrong = mergeFiles(files, one, merged)).empty()) {
        code = NoPlan;
        error = {wrong, "a rank sent its results damaged: run it again"};
      }
      write(pathOf(options.outputs, one), merged, "--outputs");
    }
    for (const std::string &one : traces)
      events += (events.empty() || one.empty() ? "" : ",\n") + one;
    if (!options.trace.empty())
      write(options.trace, "{\"traceEvents\": [\n" + events + "\n]}\n",
            "--trace");
    if (!options.times.empty())
      write(options.times, mergeTimes(times), "--times");
  }
  Verdict verdict = agree(waiter, code, error, {});
  if (verdict.code && isFirst())
    options.complain(verdict.why.what, verdict.why.next);
  return verdict.code;
}

int RankRun::stop(const std::string &why, bool isOwn) {
  // A phase may have waited, too.
  isOwn &= !collectives || !collectives->hasFailed();
  Peers::End end = peers->stop(why, isOwn);
  if (!end.text.empty()) {
    options.complain(end.text, "all ranks have ended: a longer --timeout waits "
                               "longer, of ranks that compute");
  } else {
    // Who speaks ends all.
    std::this_thread::sleep_for(
        std::min(std::chrono::duration<double>(1), timeout / 4));
  }
  transport.abort(NoPlan);
  return NoPlan;
}

int RankRun::run() { return options.train ? train() : runStep(); }

/// All ranks begin a step together, since each counts from its own start.
std::string RankRun::runSteps() {
  std::string error;
  std::unique_ptr<Waiter> ofAll = peers->over(transport);
  while (error.empty() && static_cast<int>(steps.size()) < options.repeat) {
    error = barrier(*ofAll);
    if (error.empty())
      error = rank->step(findInput);
    if (!error.empty())
      break;
    double makespan = makespanOf(steps.emplace_back(rank->actions()));
    error = allReduce(*ofAll, Reduction::Max, "f64",
                      reinterpret_cast<char *>(&makespan), sizeof makespan);
    makespans.push_back(makespan);
  }
  chosenStep = chooseStep(makespans);
  return error;
}

int RankRun::runStep() {
  StepError error;
  int code = prepare(error);
  Verdict verdict = agree(waiter, code, error, code ? Fields() : fields(),
                          code ? Fields() : fieldsOfMember(), grid.width);
  if (verdict.code) {
    if (isFirst())
      options.complain(verdict.why.what, verdict.why.next);
    return verdict.code;
  }
  StepNumbers next;
  next.seed = options.seed;
  std::string wrong = findShares(0, next);
  if (!wrong.empty()) {
    if (isFirst())
      options.complain(wrong, "give a batch with labels");
    return WrongInput;
  }
  rank->setNumbers(next);
  wrong = runSteps();
  bool isOwn = rank->isOwnError();
  if (wrong.empty())
    wrong = peers->finish();
  if (!wrong.empty())
    return stop(wrong, isOwn);
  return finish();
}

/// The transport of messages between stages, if it is another one than `base`.
/// All ranks call it. Exit code.
static int openWire(const PipelineRunOptions &options, Transport &base,
                    std::unique_ptr<Transport> &made) {
  if (!options.usesNccl)
    return Done;
  Waiter waiter(base, std::chrono::duration<double>(options.timeoutSeconds));
  Verdict verdict;
  std::unique_ptr<Wire> wire = openNccl(waiter, verdict);
  if (wire)
    made = std::make_unique<OrderedTransport>(base, std::move(wire));
  else if (base.rank() == 0)
    options.complain(verdict.why.what, verdict.why.next);
  return verdict.code;
}

static int runRank(const PipelineRunOptions &options, Transport &transport) {
  try {
    std::unique_ptr<Transport> other;
    if (int code = openWire(options, transport, other))
      return code;
    return RankRun(options, other ? *other : transport).run();
  } catch (const std::bad_alloc &) {
    options.complain("rank " + std::to_string(transport.rank()) +
                         " is out of memory",
                     "take more ranks, or a schedule with fewer micro-batches "
                     "in flight");
    transport.abort(WrongInput);
    return WrongInput;
  }
}

int pipeline::runPipeline(const PipelineRunOptions &options) {
  if (options.ranks > 0) {
    int all = options.ranks * options.replicas * options.groupSize;
    ThreadRanks ranks(all);
    std::vector<int> codes(all);
    ranks.run([&](Transport &transport) {
      codes[transport.rank()] = runRank(options, transport);
    });
    return *std::max_element(codes.begin(), codes.end());
  }
  std::string name = options.mpi.empty() ? mpiOfEnvironment() : options.mpi;
  if (name.empty()) {
    options.complain("there is no mpirun around this process",
                     "start it with mpirun -n N, or give --ranks=N for ranks "
                     "that are threads of one process");
    return WrongUsage;
  }
  std::string error, next;
  std::unique_ptr<Transport> transport = openMpi(name, error, next);
  if (!transport) {
    options.complain(error, next);
    return NoPlan;
  }
  return runRank(options, *transport);
}

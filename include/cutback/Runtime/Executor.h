// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs a compiled step: the host, or a GPU.
#ifndef CUTBACK_RUNTIME_EXECUTOR_H
#define CUTBACK_RUNTIME_EXECUTOR_H

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/HookTable.h"

namespace cutback {

/// Why a step does not run, and what to do next.
struct StepError {
  std::string what, next;
};

struct StepOptions {
  /// On the host: give each operand of a launch a heap block of its own, so
  /// that a sanitizer sees its ends, and check that kernels change only what
  /// they write. On a device: fill the arena with NaN before each run.
  bool checkMemory = false;
  /// On a device: issue each launch by itself, in a range of its name for a
  /// profiler, instead of a graph of all. Slower where launches are short.
  bool singleLaunches = false;
  /// Arguments of run(), and what is read to, are memory of the device, which
  /// the caller has, at multiples of 16 bytes.
  bool onDevice = false;
  /// On which device, by its number among those that the driver shows; counted
  /// from the first one again where there are fewer.
  int device = 0;
  /// With `onDevice`: the caller gives memory for the arena, too (setArena),
  /// before the first run.
  bool givesArena = false;
};

/// Who has a group of processes, for the collectives of a step.
class CollectiveRunner {
public:
  virtual ~CollectiveRunner();
  /// `bytes` of both operands, which may share memory. An empty string, or what
  /// went wrong.
  virtual std::string run(const ArtifactCollective &what, const char *from,
                          int64_t fromBytes, char *to, int64_t toBytes) = 0;
};

class Executor {
public:
  virtual ~Executor();

  /// How many threads of this machine run a launch, with that of the caller;
  /// at least 1. Results have the same bits whatever they are. Without this:
  /// one a processor that the process may use. Nothing where launches run
  /// elsewhere.
  virtual void setThreads(unsigned) {}

  /// Memory of the caller for the arena, of the kind that arguments are (of a
  /// device where StepOptions::givesArena), as large as the artifact says, at a
  /// multiple of 256 bytes, from now on and as long as the executor lives.
  /// Steps that share one run one at a time, and what one left there is gone
  /// when another has run. Without this it has its own.
  virtual void setArena(char *) {}

  /// From now on the hook points of the step have the functions of `table`,
  /// which must outlive the executor; null: they have none.
  void setHooks(HookTable *table) { hooks = table; }

  /// From now on `runner`, which must outlive the executor, runs collectives;
  /// null: they are an error.
  void setCollectives(CollectiveRunner *runner) { collectives = runner; }

  /// From now on run() writes the seconds of each of its launches, or of each
  /// of its segments, in their order, to a list; null: no longer. False
  /// where a segment takes what its launches take.
  enum class Measured { Launches, Segments };
  virtual bool measure(std::vector<double> *, Measured) { return false; }
  /// Bytes a second that a copy reads and writes in the memory of a device; 0
  /// where launches run in memory of this machine, or with `error` set.
  virtual double measureCopies(std::string &) { return 0; }
  /// Name of the device; empty where launches run on this machine.
  virtual std::string deviceName() const { return ""; }

  /// What a user may want to know of how launches are run; empty if nothing.
  virtual std::vector<std::string> notes() const { return {}; }

  /// Runs segments, by their numbers, of the artifact that it was opened for.
  /// What a run with the first one made is there for later runs without it.
  /// `arguments`: memory of this machine, or the device where options say so,
  /// one an argument, with its elements in their order; written ones change.
  /// Null for one that no segment of the run takes, and for one that is kept
  /// elsewhere. Returns an empty string, or what went wrong and where.
  virtual std::string run(const std::vector<size_t> &segments,
                          const std::vector<char *> &arguments) = 0;

  /// Keeps an argument where launches run: it is what is at `from` now, and
  /// later runs neither bring it nor fetch it. A second call puts it anew. On
  /// this machine it stays what run() is given. Returns an empty string, or
  /// what went wrong.
  virtual std::string keep(size_t, const char *) { return ""; }
  /// After a run: `bytes` of an argument from byte `from` on, to memory of the
  /// kind that arguments are. `given`: what run() was given for it, where it is
  /// unless it is kept elsewhere. Returns an empty string, or what went wrong.
  virtual std::string readArgument(size_t argument, int64_t from, int64_t bytes,
                                   const char *given, char *to);

  /// Where arguments are on the device: from now on a run, and what is read
  /// behind it, comes behind what was issued to this CUstream, and what will be
  /// comes behind both; null is the legacy default stream. Without a stream who
  /// calls run() has waited for his work, and reads wait. A stream lives until
  /// another one is set. Returns an empty string, or what went wrong.
  virtual std::string setStream(void *stream);

  /// Begins a run that goes launch by launch: the arena, which holds all
  /// results while it goes on; null, with `error` set, where launches are not
  /// run one by one or there is no memory.
  virtual char *beginLaunches(std::string &error);
  /// Runs one launch of it. Launches come in their order.
  virtual std::string runLaunch(size_t segment, size_t launch,
                                const std::vector<char *> &arguments);

  /// After a run: `bytes` of the arena from `at` on, to memory of the kind that
  /// arguments are.
  /// Returns an empty string, or what went wrong.
  virtual std::string read(int64_t at, int64_t bytes, char *to) = 0;

protected:
  HookTable *hooks = nullptr;
  CollectiveRunner *collectives = nullptr;
};

/// The hook points of a step, in the order in which they run.
std::vector<HookPoint> hookPointsOf(const Artifact &artifact);

/// For as long as a run takes: functions that are added wait for the next.
class HookedRun {
public:
  explicit HookedRun(HookTable *table)
      : table(table && table->beginRun() ? table : nullptr),
        problem(table && !this->table
                    ? "a function of a hook runs the step that it is called by"
                    : "") {}
  ~HookedRun() {
    if (table)
      table->endRun();
  }
  HookedRun(const HookedRun &) = delete;
  HookedRun &operator=(const HookedRun &) = delete;

  /// Why there can be no run, or empty.
  const std::string &error() const { return problem; }

private:
  HookTable *table;
  std::string problem;
};

/// "KERNEL (OP, PLACE)": of which launch an error speaks.
std::string describeLaunch(const Artifact &artifact,
                           const ArtifactLaunch &launch);

/// What a kernel leaves where it checks something (cutback_math.cuh): zeros if
/// nothing is wrong.
struct KernelMark {
  int kind = 0, unused = 0;
  int64_t index = 0, size = 0; ///< of a wrong index, if they are known
};

/// What it says.
std::string describeMark(const KernelMark &mark);

} // namespace cutback

#endif // CUTBACK_RUNTIME_EXECUTOR_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface of compiled steps.
//
// A step that failed to open is an object all the same: it holds the message.
// Memory that runs out is a std::bad_alloc in here and a status outside; a step
// has no state that one could leave half changed, because nothing is allocated
// between launches.
//
// A call that comes while another one works, from a second thread or from a
// hook, is refused, and touches nothing of the step: not its message either, so
// what it has to say is a constant text that the thread remembers. Calls that
// a hook is allowed to make (hooks, messages, descriptions) are not of these.
//
// A segment runs when what it reads is there: a backward after a forward, once;
// an update after a backward, or after what accumulates its gradients, once. A
// run that fails leaves nothing.

#include "cutback/Runtime/StepFolder.h"

#include "cutback-c/Step.h"

#include <atomic>
#include <cstring>
#include <new>

#include <unistd.h>

using namespace cutback;

struct CutbackStep {
  Artifact artifact;
  CutbackMemory memory = CUTBACK_MEMORY_HOST;
  HookTable hooks;
  std::unique_ptr<Executor> executor;
  std::string message;
  /// Of the last run, for results that are arguments.
  std::vector<char *> arguments;
  std::vector<char *> kept; ///< memory by argument; null for one that is not
  std::string last; ///< segment that ran last, "" where nothing of it is left
  std::atomic<bool> works = false; ///< a call that no other may join
  pid_t process = getpid();        ///< whose threads run launches
};

/// The step whose call was refused last on this thread, and why.
static thread_local const CutbackStep *refusedStep = nullptr;
static thread_local const char *refusedWhy = nullptr;

static CutbackStatus fail(CutbackStep &step, CutbackStatus status,
                          std::string message) {
  step.message = std::move(message);
  return status;
}

static CutbackStatus refuse(const CutbackStep *step, const char *why) {
  refusedStep = step;
  refusedWhy = why;
  return CUTBACK_WRONG_USAGE;
}

template <typename Fn>
static CutbackStatus guarded(CutbackStep &step, Fn body) {
  refusedStep = nullptr;
  refusedWhy = nullptr;
  step.message.clear();
  try {
    return body();
  } catch (const std::bad_alloc &) {
    // No memory for a long text either.
    return fail(step, CUTBACK_WRONG_INPUT, "out of memory");
  } catch (const std::exception &error) {
    return fail(step, CUTBACK_DEFECT, error.what());
  }
}

/// For calls that run the step or read its memory: one at a time.
template <typename Fn> static CutbackStatus alone(CutbackStep *step, Fn body) {
  if (!step)
    return refuse(step, "the step is NULL");
  if (step->process != getpid())
    return refuse(step, "the step was opened by another process, whose threads "
                        "this one does not have; open its folder again");
  bool works = false;
  if (!step->works.compare_exchange_strong(works, true))
    return refuse(step, "the step works already, on another thread or in the "
                        "run whose hook this is; open its folder again for a "
                        "second one");
  CutbackStatus status = guarded(*step, body);
  step->works = false;
  return status;
}

int cutbackStepApiVersion(void) { return CUTBACK_STEP_API_VERSION; }

CutbackStatus cutbackStepOpen(const char *folder, CutbackStep **step) {
  return cutbackStepOpenFor(folder, CUTBACK_MEMORY_HOST, step);
}

CutbackStatus cutbackStepOpenFor(const char *folder, CutbackMemory memory,
                                 CutbackStep **step) {
  if (!step)
    return refuse(nullptr, "there is no place for the step: it is NULL");
  *step = new (std::nothrow) CutbackStep;
  if (!*step)
    return refuse(nullptr, "out of memory");
  CutbackStep &own = **step;
  // C callers give any number, which the type in C++ does not hold.
  unsigned kind = 0;
  static_assert(sizeof kind == sizeof memory);
  std::memcpy(&kind, &memory, sizeof kind);
  return guarded(own, [&] {
    if (!folder)
      return fail(own, CUTBACK_WRONG_USAGE, "the folder is NULL");
    if (kind != CUTBACK_MEMORY_HOST && kind != CUTBACK_MEMORY_DEVICE)
      return fail(own, CUTBACK_WRONG_USAGE,
                  "there is no memory of kind " + std::to_string(kind) +
                      "; there are CUTBACK_MEMORY_HOST and "
                      "CUTBACK_MEMORY_DEVICE");
    StepError error;
    StepOptions options;
    own.memory = kind ? CUTBACK_MEMORY_DEVICE : CUTBACK_MEMORY_HOST;
    options.onDevice = own.memory == CUTBACK_MEMORY_DEVICE;
    if (readStepFolder(folder, own.artifact, error))
      own.executor = openStep(folder, options, own.artifact, error);
    if (own.executor) {
      own.kept.resize(own.artifact.arguments.size());
      own.hooks = HookTable(hookPointsOf(own.artifact));
      own.executor->setHooks(&own.hooks);
      return CUTBACK_DONE;
    }
    own.artifact = Artifact();
    return fail(own, CUTBACK_NO_PLAN, error.what + "; " + error.next);
  });
}

CutbackStatus cutbackStepSetStream(CutbackStep *step, void *stream) {
  return alone(step, [&] {
    if (!step->executor)
      return fail(*step, CUTBACK_WRONG_USAGE, "the step is not open");
    std::string what = step->executor->setStream(stream);
    return what.empty() ? CUTBACK_DONE
                        : fail(*step,
                               step->memory == CUTBACK_MEMORY_DEVICE
                                   ? CUTBACK_NO_PLAN
                                   : CUTBACK_WRONG_USAGE,
                               std::move(what));
  });
}

void cutbackStepDestroy(CutbackStep *step) { delete step; }

const char *cutbackStepMessage(const CutbackStep *step) {
  if (refusedWhy && refusedStep == step)
    return refusedWhy;
  return step ? step->message.c_str() : "the step is NULL";
}

size_t cutbackStepArenaBytes(const CutbackStep *step) {
  return step ? static_cast<size_t>(step->artifact.arenaBytes) : 0;
}

static CutbackTensor describe(const ArtifactTensor &tensor) {
  CutbackTensor described = {};
  described.name = tensor.name.c_str();
  described.dtype = tensor.dtype.c_str();
  described.rank = tensor.sizes.size();
  described.sizes = tensor.sizes.data();
  described.bytes = static_cast<size_t>(bytesOf(tensor));
  return described;
}

size_t cutbackStepNumArguments(const CutbackStep *step) {
  return step ? step->artifact.arguments.size() : 0;
}

CutbackTensor cutbackStepArgument(const CutbackStep *step, size_t number) {
  if (!step || number >= step->artifact.arguments.size())
    return {};
  const ArtifactArgument &argument = step->artifact.arguments[number];
  CutbackTensor described = describe(argument);
  described.written = argument.isWritten || argument.isUpdated;
  described.required = argument.fill == ArtifactArgument::Required;
  static constexpr char fills[] = {0, '0', '1', 's'};
  described.fill = fills[argument.fill];
  return described;
}

size_t cutbackStepNumResults(const CutbackStep *step) {
  return step ? step->artifact.results.size() : 0;
}

CutbackTensor cutbackStepResult(const CutbackStep *step, size_t number) {
  if (!step || number >= step->artifact.results.size())
    return {};
  return describe(step->artifact.results[number]);
}

void cutbackStepSetThreads(CutbackStep *step, unsigned count) {
  if (step && step->executor)
    step->executor->setThreads(count ? count : 1);
}

size_t cutbackStepNumSegments(const CutbackStep *step) {
  return step ? step->artifact.segments.size() : 0;
}

const char *cutbackStepSegment(const CutbackStep *step, size_t number) {
  return step && number < step->artifact.segments.size()
             ? step->artifact.segments[number].name.c_str()
             : "";
}

static std::string nameArgument(const CutbackStep &step, size_t number) {
  return "argument " + std::to_string(number) + " ('" +
         step.artifact.arguments[number].name + "')";
}

/// Kernels may read sixteen bytes at a time.
static bool isAligned(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory) % 16 == 0;
}

static CutbackStatus failAligned(CutbackStep &step, size_t number) {
  return fail(step, CUTBACK_WRONG_USAGE,
              nameArgument(step, number) + " is not aligned to 16 bytes");
}

/// What has to have run before a segment; "" if nothing has to.
static std::string before(const CutbackStep &step, size_t segment) {
  const auto &segments = step.artifact.segments;
  bool isLater = segments[segment].name == "backward" ||
                 isOptimizerSegment(segments[segment].name);
  return isLater && segment > 0 ? segments[segment - 1].name : "";
}

/// Whether what the segments read is there, by their order.
static CutbackStatus checkOrder(CutbackStep &step,
                                const std::vector<size_t> &segments) {
  std::string last = step.last;
  for (size_t segment : segments) {
    std::string needed = before(step, segment);
    const std::string &name = step.artifact.segments[segment].name;
    if (!needed.empty() && last != needed)
      return fail(step, CUTBACK_WRONG_USAGE,
                  "'" + name + "' reads what '" + needed +
                      "' left, and that is gone or was never there: run '" +
                      needed + "' before each '" + name + "'");
    last = name;
  }
  return CUTBACK_DONE;
}

static CutbackStatus run(CutbackStep &step, const std::vector<size_t> &segments,
                         void *const *arguments) {
  if (!step.executor)
    return fail(step, CUTBACK_WRONG_USAGE, "the step is not open");
  const auto &declared = step.artifact.arguments;
  if (!arguments && !declared.empty())
    return fail(step, CUTBACK_WRONG_USAGE,
                "the list of arguments is NULL; the step has " +
                    std::to_string(declared.size()));
  if (CutbackStatus status = checkOrder(step, segments))
    return status;
  step.arguments.clear();
  for (size_t i = 0; i < declared.size(); ++i) {
    auto *bytes =
        step.kept[i] ? step.kept[i] : static_cast<char *>(arguments[i]);
    if (!isAligned(bytes))
      return failAligned(step, i);
    bool isTaken = declared[i].segment.empty();
    for (size_t segment : segments)
      isTaken |= step.artifact.mayTake(step.artifact.segments[segment].name,
                                       declared[i]);
    if (!bytes && isTaken && bytesOf(declared[i]) > 0)
      return fail(step, CUTBACK_WRONG_USAGE,
                  nameArgument(step, i) + " is NULL");
    step.arguments.push_back(bytes);
  }
  step.last.clear();
  std::string what = step.executor->run(segments, step.arguments);
  if (!what.empty())
    return fail(step, CUTBACK_NO_PLAN, std::move(what));
  if (!segments.empty())
    step.last = step.artifact.segments[segments.back()].name;
  return CUTBACK_DONE;
}

CutbackStatus cutbackStepRun(CutbackStep *step, void *const *arguments) {
  return alone(step, [&] {
    return run(*step, step->artifact.stepSegments(), arguments);
  });
}

CutbackStatus cutbackStepRunSegment(CutbackStep *step, size_t segment,
                                    void *const *arguments) {
  return alone(step, [&] {
    return segment < step->artifact.segments.size()
               ? run(*step, {segment}, arguments)
               : fail(*step, CUTBACK_WRONG_USAGE, "there is no such segment");
  });
}

CutbackStatus cutbackStepKeep(CutbackStep *step, size_t argument,
                              void *memory) {
  return alone(step, [&] {
    if (argument >= step->kept.size())
      return fail(*step, CUTBACK_WRONG_USAGE, "there is no such argument");
    if (step->memory == CUTBACK_MEMORY_DEVICE)
      return fail(*step, CUTBACK_WRONG_USAGE,
                  "arguments of the step are on the device, so there is "
                  "nothing to keep");
    if (!memory)
      return fail(*step, CUTBACK_WRONG_USAGE,
                  nameArgument(*step, argument) + " is NULL");
    if (!isAligned(memory))
      return failAligned(*step, argument);
    auto *bytes = static_cast<char *>(memory);
    std::string what = step->executor->keep(argument, bytes);
    if (!what.empty())
      return fail(*step, CUTBACK_NO_PLAN, std::move(what));
    step->kept[argument] = bytes;
    return CUTBACK_DONE;
  });
}

CutbackStatus cutbackStepFetch(CutbackStep *step, size_t argument) {
  return alone(step, [&] {
    char *bytes = argument < step->kept.size() ? step->kept[argument] : nullptr;
    if (!bytes)
      return fail(*step, CUTBACK_WRONG_USAGE,
                  "the step does not keep the argument");
    std::string what = step->executor->readArgument(
        argument, 0, bytesOf(step->artifact.arguments[argument]), bytes, bytes);
    return what.empty() ? CUTBACK_DONE
                        : fail(*step, CUTBACK_NO_PLAN, std::move(what));
  });
}

static CutbackStatus read(CutbackStep &step, size_t number, char *to,
                          bool asItLies) {
  if (number >= step.artifact.results.size())
    return fail(step, CUTBACK_WRONG_USAGE, "there is no such result");
  if (step.arguments.size() != step.artifact.arguments.size())
    return fail(step, CUTBACK_WRONG_USAGE, "the step has not run");
  const ArtifactResult &result = step.artifact.results[number];
  if (!to && bytesOf(result) > 0)
    return fail(step, CUTBACK_WRONG_USAGE,
                "the memory for result " + std::to_string(number) + " ('" +
                    result.name + "') is NULL");
  bool isOnDevice = step.memory == CUTBACK_MEMORY_DEVICE;
  if (isOnDevice && !asItLies && lyingBytes(result) && !isDense(result))
    return fail(step, CUTBACK_WRONG_USAGE,
                "result " + std::to_string(number) + " ('" + result.name +
                    "') does not lie in row-major order on the device; "
                    "cutbackStepReadLying takes it as it lies");
  std::string what =
      isOnDevice || asItLies
          ? readLying(result, *step.executor, step.arguments, to)
          : readResult(result, *step.executor, step.arguments, to);
  return what.empty() ? CUTBACK_DONE
                      : fail(step, CUTBACK_NO_PLAN, std::move(what));
}

CutbackStatus cutbackStepRead(CutbackStep *step, size_t result, void *to) {
  return alone(step, [&] {
    return read(*step, result, static_cast<char *>(to), /*asItLies=*/false);
  });
}

CutbackLayout cutbackStepLayout(const CutbackStep *step, size_t result) {
  if (!step || result >= step->artifact.results.size())
    return {};
  const ArtifactResult &one = step->artifact.results[result];
  return {one.strides.data(), static_cast<size_t>(lyingBytes(one))};
}

CutbackStatus cutbackStepReadLying(CutbackStep *step, size_t result, void *to) {
  return alone(step, [&] {
    return read(*step, result, static_cast<char *>(to), /*asItLies=*/true);
  });
}

static const ArtifactHook *findHook(const CutbackStep &step, size_t number) {
  for (const ArtifactSegment &segment : step.artifact.segments) {
    if (number < segment.hooks.size())
      return &segment.hooks[number];
    number -= segment.hooks.size();
  }
  return nullptr;
}

size_t cutbackStepNumHookPoints(const CutbackStep *step) {
  return step ? step->hooks.points().size() : 0;
}

CutbackHookPoint cutbackStepHookPoint(const CutbackStep *step, size_t number) {
  const ArtifactHook *hook = step ? findHook(*step, number) : nullptr;
  if (!hook)
    return {};
  return {describe(*hook), nameOf(hook->kind), hook->replaces};
}

CutbackStatus cutbackStepAddHook(CutbackStep *step, size_t point,
                                 CutbackHook function, void *userData,
                                 uint64_t *key) {
  if (!step)
    return refuse(step, "the step is NULL");
  return guarded(*step, [&] {
    if (point >= step->hooks.points().size())
      return fail(*step, CUTBACK_WRONG_USAGE, "there is no such hook point");
    if (!function)
      return fail(*step, CUTBACK_WRONG_USAGE, "the hook's function is NULL");
    uint64_t added = step->hooks.add(point, {function, userData});
    if (key)
      *key = added;
    return CUTBACK_DONE;
  });
}

CutbackStatus cutbackStepDeleteHook(CutbackStep *step, uint64_t key) {
  if (!step)
    return refuse(step, "the step is NULL");
  return guarded(*step, [&] {
    return step->hooks.remove(key) ? CUTBACK_DONE
                                   : fail(*step, CUTBACK_WRONG_USAGE,
                                          "there is no hook of this key");
  });
}

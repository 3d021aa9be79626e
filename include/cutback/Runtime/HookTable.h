// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions at the hook points of a step: added, deleted, run.
#ifndef CUTBACK_RUNTIME_HOOKTABLE_H
#define CUTBACK_RUNTIME_HOOKTABLE_H

#include "cutback-c/Hook.h"

#include "cutback/Support/HookKind.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cutback {

/// A place of a step at which functions run (`joint.hook`).
struct HookPoint {
  std::string name; ///< of what the gradient is of
  HookKind kind = HookKind::TensorPre;
  int64_t key = 0;       ///< tells the points of a step apart
  bool replaces = false; ///< functions may change the gradient
};

/// "fc1.weight (tensor_pre)"
std::string describeHook(const HookPoint &point);

/// The gradient at a point.
struct HookBuffer {
  void *data = nullptr;
  int64_t bytes = 0;
  const char *type = "";
  const std::vector<int64_t> *sizes = nullptr;
  void *stream = nullptr; ///< of a device
  /// Copies the gradient from a device to memory of this machine, or back;
  /// empty if `data` is such memory. An empty string, or what went wrong.
  std::function<std::string(char *host, bool back)> copy = nullptr;
};

/// A function with what it is given.
struct HookFunction {
  CutbackHook call = nullptr;
  void *userData = nullptr;
  /// In place of `call`: returns as that does, may say why it stops the step,
  /// and gets memory of this machine.
  std::function<int64_t(const HookPoint &, const HookBuffer &, std::string &)>
      own = nullptr;
  std::shared_ptr<void> owner = nullptr; ///< lives as long
};

class HookTable {
public:
  HookTable() = default;
  explicit HookTable(std::vector<HookPoint> points);

  const std::vector<HookPoint> &points() const { return all; }

  /// Adds a function behind those that are at the point with number `point`,
  /// and returns the key by which it is deleted; never 0. While a step runs
  /// this, as a deletion, takes effect at the next one.
  uint64_t add(size_t point, HookFunction function);
  /// False if there is no function of this key.
  bool remove(uint64_t key);

  /// Around a run of a step. False, and then there is nothing to end, if a
  /// function of a hook has begun it: the step that called it is at work. A
  /// run that a function left (longjmp) is over.
  bool beginRun();
  void endRun();

  /// Whether a point has a function.
  bool hasFunctions(int64_t key) const;
  /// Runs the functions of the point with `key`, in the order in which they
  /// were added. An empty string, or what went wrong.
  std::string run(int64_t key, const HookBuffer &buffer) const;

private:
  struct Entry {
    uint64_t key;
    HookFunction function;
    bool isRemoved = false;
  };
  /// In a frame of run(), for as long as it is there.
  struct Frame {
    uint64_t mark;
  };
  bool isInFunction() const;
  const std::vector<Entry> *entriesOf(int64_t key) const;

  std::vector<HookPoint> all;
  std::vector<std::vector<Entry>> entries, waiting; ///< by point
  uint64_t nextKey = 1;
  bool isRunning = false;
  /// While functions are called: the frame of run(), and the mark in it.
  mutable const volatile Frame *frame = nullptr;
  mutable uint64_t mark = 0;
  mutable std::thread::id caller;
};

/// What to call the hook whose function this thread runs, for who reports its
/// end; null if it runs none. For signal handlers.
const char *hookAtWork();

} // namespace cutback

#endif // CUTBACK_RUNTIME_HOOKTABLE_H

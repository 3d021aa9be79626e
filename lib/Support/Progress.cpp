// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a long command is doing, on standard error. A thread sleeps for one
// second; if the command has not ended by then, it prints the step under way,
// and from then on every step is printed as it begins. Commands shorter than a
// second, which are nearly all, print nothing.

#include "cutback/Support/Progress.h"

#include "cutback/Support/SafeFile.h"

#include <chrono>
#include <unistd.h>

namespace cutback {

Progress::Progress(std::string prefix, bool wanted)
    : prefix(std::move(prefix)) {
  if (wanted || ::isatty(STDERR_FILENO))
    thread = std::thread([this] { run(); });
}

Progress::~Progress() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  wake.notify_one();
  thread.join();
}

/// Called with the lock held.
void Progress::print() {
  if (printed)
    return;
  writeAll(STDERR_FILENO, prefix + ": " + current + "\n");
  printed = true;
}

void Progress::step(std::string what) {
  if (!thread.joinable())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  current = std::move(what);
  printed = false;
  if (late)
    print();
}

void Progress::run() {
  std::unique_lock<std::mutex> lock(mutex);
  if (wake.wait_for(lock, std::chrono::seconds(1), [this] { return done; }))
    return;
  late = true;
  print();
}

} // namespace cutback

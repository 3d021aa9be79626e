// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a long command is doing, on standard error.
#ifndef CUTBACK_SUPPORT_PROGRESS_H
#define CUTBACK_SUPPORT_PROGRESS_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace cutback {

/// Prints `PREFIX: STEP` once a step has begun that makes the command last
/// longer than a second, and each later step. Silent if not enabled: then it
/// starts no thread either.
class Progress {
public:
  /// Enabled if `wanted`, or if standard error is a terminal.
  Progress(std::string prefix, bool wanted);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// A step begins.
  void step(std::string what);

private:
  void run();
  void print();

  std::string prefix, current;
  bool printed = true, late = false, done = false;
  std::mutex mutex;
  std::condition_variable wake;
  std::thread thread;
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_PROGRESS_H

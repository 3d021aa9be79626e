// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that do the parts of one launch after the other.
#ifndef CUTBACK_RUNTIME_THREADPOOL_H
#define CUTBACK_RUNTIME_THREADPOOL_H

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cutback {

/// Processors that this process may use, at least 1.
unsigned usableProcessors();

class ThreadPool {
public:
  /// With the caller's, so many threads; fewer if the system gives no more.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned size() const { return workers.size() + 1; }

  /// Calls `body` with each number below size(), each in a thread of its own
  /// and 0 in the caller's, and waits for all. Not from several threads at a
  /// time; `body` throws nothing.
  void run(const std::function<void(unsigned)> &body);

private:
  bool start(unsigned number);
  void work(unsigned number);
  bool waitForNext(uint64_t done);

  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake;
  const std::function<void(unsigned)> *body = nullptr;
  std::atomic<uint64_t> round{0};      ///< of run()
  std::atomic<unsigned> unfinished{0}; ///< workers of this round
  std::atomic<bool> isEnded{false};
};

} // namespace cutback

#endif // CUTBACK_RUNTIME_THREADPOOL_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of a step follow each other within microseconds, which is less than
// it takes to wake a thread: a worker looks for the next round for a while
// before it sleeps, and the caller looks for the end of the last one. Both give
// their processor away while they look, as there may be fewer processors than
// threads.

#include "cutback/Runtime/ThreadPool.h"

#include <algorithm>
#include <system_error>

#if defined(__linux__)
#include <sched.h>
#endif

using namespace cutback;

/// Looks before a worker sleeps: some tens of microseconds.
static constexpr int kLooks = 200;

unsigned cutback::usableProcessors() {
#if defined(__linux__)
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

/// More threads than these have nothing to run on.
static unsigned mostThreads() { return std::max(256u, 4 * usableProcessors()); }

ThreadPool::ThreadPool(unsigned threads) {
  threads = std::min(threads, mostThreads());
  for (unsigned number = 1; number < threads && start(number); ++number)
    ;
}

/// False where the system has no more threads: those that there are do it.
bool ThreadPool::start(unsigned number) {
  try {
    workers.emplace_back([this, number] { work(number); });
    return true;
  } catch (const std::system_error &) {
    return false;
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isEnded = true;
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::run(const std::function<void(unsigned)> &part) {
  if (!workers.empty()) {
    std::lock_guard<std::mutex> lock(mutex);
    body = &part;
    unfinished.store(workers.size(), std::memory_order_relaxed);
    round.fetch_add(1, std::memory_order_release);
  }
  wake.notify_all();
  part(0);
  while (unfinished.load(std::memory_order_acquire) != 0)
    std::this_thread::yield();
}

/// False at the end of the pool.
bool ThreadPool::waitForNext(uint64_t done) {
  auto isNext = [&] {
    return isEnded || round.load(std::memory_order_acquire) != done;
  };
  for (int look = 0; look < kLooks && !isNext(); ++look)
    std::this_thread::yield();
  if (!isNext()) {
    std::unique_lock<std::mutex> lock(mutex);
    wake.wait(lock, isNext);
  }
  return !isEnded;
}

void ThreadPool::work(unsigned number) {
  // Every round waits for all workers: none is ahead of one that is missed.
  for (uint64_t done = 0; waitForNext(done); ++done) {
    (*body)(number);
    unfinished.fetch_sub(1, std::memory_order_release);
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every part of every round is run once, and its writes are there behind it.

#include "cutback/Runtime/ThreadPool.h"

#include "gtest/gtest.h"

#include <chrono>

using namespace cutback;

TEST(ThreadPool, RunsEachPartOnceARound) {
  for (unsigned threads : {1u, 2u, 5u, 3 * usableProcessors()}) {
    ThreadPool pool(threads);
    ASSERT_EQ(pool.size(), threads);
    std::vector<uint64_t> runs(threads, 0); // none of them is atomic
    // More threads than processors: each round waits for the scheduler.
    uint64_t rounds = threads > usableProcessors() ? 300 : 3000;
    for (uint64_t round = 1; round <= rounds; ++round) {
      pool.run([&](unsigned part) { ++runs[part]; });
      for (uint64_t count : runs)
        ASSERT_EQ(count, round);
    }
  }
}

TEST(ThreadPool, WakesSleepers) {
  ThreadPool pool(3);
  std::atomic<unsigned> sum{0};
  for (int round = 0; round < 5; ++round) {
    pool.run([&](unsigned part) { sum += part; });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(sum, 15u);
}

TEST(ThreadPool, ThePartOfTheCallerRunsInItsThread) {
  ThreadPool pool(4);
  std::vector<std::thread::id> ids(4);
  pool.run([&](unsigned part) { ids[part] = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  for (unsigned part = 1; part < 4; ++part)
    EXPECT_NE(ids[part], ids[0]);
}

TEST(ThreadPool, EndsWithoutARound) {
  for (int i = 0; i < 50; ++i)
    ThreadPool pool(4);
  EXPECT_GE(usableProcessors(), 1u);
}

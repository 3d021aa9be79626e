// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a layout costs and how near it comes to the lower bound, on generated
// steps: layers whose forward saves some buffers and whose backward frees them
// in the opposite order, gradients that stay, temporaries in between.
//
//   bench-memory-plan [--quick]
//
// --quick: up to 10,000 intervals; else up to a million. A time is processor
// time of one run.

#include "../Usage.h"

#include "cutback/MemoryPlan/ArenaLayout.h"

#include <cstdio>
#include <ctime>
#include <random>

using namespace cutback;

namespace {

/// Processor time of this thread: others on the machine do not count.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * time.tv_nsec;
}

/// A step of `count` buffers: of 20 of a layer 2 are saved, 2 are gradients.
std::vector<ArenaInterval> makeStep(uint32_t count) {
  std::mt19937_64 random(count);
  uint32_t last = 2 * count;
  std::vector<ArenaInterval> intervals;
  auto size = [&] {
    return static_cast<int64_t>(64 + random() % (1 << (6 + random() % 12)));
  };
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t begin = i, kind = random() % 20;
    if (kind < 2)
      intervals.push_back({begin, last - begin, size(), -1});
    else if (kind < 4)
      intervals.push_back({last - begin, last + 1, size(), -1});
    else if (kind < 12)
      intervals.push_back(
          {begin, begin + 1 + uint32_t(random() % 12), size(), -1});
    else
      intervals.push_back({last - begin,
                           last - begin + 1 + uint32_t(random() % 12), size(),
                           -1});
  }
  return intervals;
}

void measure(uint32_t count) {
  std::vector<ArenaInterval> intervals = makeStep(count);
  double start = now();
  ArenaLayout layout = layoutArena(intervals);
  double taken = now() - start;
  start = now();
  bool isRight = !verifyArena(intervals, layout, ArenaOptions().alignment);
  double checked = now() - start;
  std::printf("%9u %8.4f %10.3f %10.3f %12llu %8u %s\n", count, layout.ratio(),
              taken, checked, static_cast<unsigned long long>(layout.work),
              layout.iterations, isRight ? "" : "WRONG");
}

} // namespace

int main(int argc, char **argv) {
  static constexpr char usage[] =
      "bench-memory-plan [--quick]\n"
      "times of layouts of generated steps; --quick: up to 10,000 intervals";
  if (std::optional<int> code = bench::checkUsage(argc, argv, usage))
    return *code;
  bool isQuick = bench::isGiven(argc, argv, "--quick");
  std::printf("%9s %8s %10s %10s %12s %8s\n", "intervals", "ratio", "layout s",
              "verify s", "looks", "searched");
  for (uint32_t count : {100u, 1'000u, 10'000u, 100'000u, 1'000'000u})
    if (!isQuick || count <= 10'000)
      measure(count);
  return 0;
}

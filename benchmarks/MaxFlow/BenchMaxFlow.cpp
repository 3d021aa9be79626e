// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a minimum cut costs, by stage and by algorithm, on generated networks:
// as of joint graphs, ladders that the backward taps at the end only, and
// layers with arcs of finite capacity between them.
//
//   bench-maxflow [--quick | --full] [--floor]
//
// --quick: up to 10,000 ops. --full: a million ops of the hard ones too.
// --floor: exit with 1 if Auto takes more than twice the better of Boost's two
// (BK, which Auto starts with, and boost PR) on a network of up to 10,000 ops.
//
// A time is processor time, the median of 5 after a warm-up, or a single one
// where that takes more than a second, in nanoseconds a vertex of the network
// as given (an op has two). All algorithms start from the contracted network.
// Answers are compared and proved.

#include "../Usage.h"

#include "SampleNetworks.h"

#include "cutback/Partition/MaxFlow/AutoMaxFlow.h"
#include "cutback/Partition/MaxFlow/BoostMaxFlow.h"
#include "cutback/Partition/MaxFlow/Contraction.h"
#include "cutback/Partition/MaxFlow/FlowCheck.h"
#include "cutback/Support/Heap.h"

#include <cstdio>
#include <ctime>

using namespace cutback;
using namespace cutback::samples;

namespace {

/// Processor time of this thread: others on the machine do not count.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * time.tv_nsec;
}

/// Median seconds of 5 runs of `work` after one to warm up, each after
/// `prepare`; of the warm-up alone if it takes longer than a second.
template <typename Prepare, typename Work>
double measure(Prepare prepare, Work work) {
  std::vector<double> seconds;
  for (int run = 0; run < 6; ++run) {
    prepare();
    double start = now();
    work();
    double taken = now() - start;
    if (run == 0 && taken > 1)
      return taken;
    if (run > 0)
      seconds.push_back(taken);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

class Bench {
public:
  /// Unless `withSlow`, Boykov-Kolmogorov is left out: a deep ladder of a
  /// million ops takes it most of an hour.
  Bench(const char *name, uint32_t ops, FlowNetwork &&given, bool withSlow);
  void print() const;

  /// Auto's time over that of the better of Boost's two.
  double ratio() const {
    double best = boostPushRelabel;
    if (boykovKolmogorov > 0)
      best = std::min(best, boykovKolmogorov);
    return automatic / best;
  }
  bool isWrong() const { return wrong; }

private:
  void fail(const std::string &why) {
    std::fprintf(stderr, "error: %s\n", why.c_str());
    wrong = true;
  }
  template <typename Solve> double measureOwn(Solve solve) {
    double seconds =
        measure([&] { graph = contracted; }, [&] { solve(graph); });
    if (graph.flow != cut.value)
      fail("the algorithms disagree about the flow");
    return seconds;
  }
  void measureStages();
  void measureAlgorithms(bool withSlow);

  const char *name;
  uint32_t ops;
  FlowNetwork network;
  Contraction contraction;
  ResidualGraph contracted, graph;
  MinCut cut;
  bool switched = false, wrong = false;
  // Seconds; 0 = not run.
  double finish = 0, contract = 0, lift = 0, check = 0, total = 0;
  double automatic = 0, boykovKolmogorov = 0, pushRelabel = 0;
  double boostPushRelabel = 0;
};

} // namespace

void Bench::measureStages() {
  auto nothing = [] {};
  finish = measure(nothing, [&] {
    if (FlowError error = network.finish())
      fail(*error);
  });
  contract = measure(nothing, [&] {
    if (!contraction.contract(network, contracted))
      fail("the network is unbounded");
  });
  MaxFlowSolver solver;
  total = measure(nothing, [&] { (void)solver.solve(network, cut); });
  switched = solver.stats().switched;
  check = measure(nothing, [&] {
    if (FlowError error = checkFlow(network, cut))
      fail(*error);
  });
  AutoMaxFlow algorithm;
  automatic = measureOwn([&](ResidualGraph &g) { algorithm.run(g); });
  std::vector<uint8_t> sides;
  std::vector<uint32_t> queue;
  lift = measure(nothing, [&] {
    algorithm.markSinkSide(graph, sides, queue);
    contraction.lift(network, graph, sides, cut);
  });
}

void Bench::measureAlgorithms(bool withSlow) {
  PushRelabel own;
  pushRelabel = measureOwn([&](ResidualGraph &g) { own.run(g); });
  boostPushRelabel =
      measureOwn([&](ResidualGraph &g) { BoostPushRelabel().run(g); });
  if (!withSlow)
    return;
  BoostBoykovKolmogorov trees;
  boykovKolmogorov = measureOwn([&](ResidualGraph &g) { trees.run(g); });
}

Bench::Bench(const char *name, uint32_t ops, FlowNetwork &&given, bool withSlow)
    : name(name), ops(ops), network(std::move(given)) {
  measureStages();
  measureAlgorithms(withSlow);
}

void Bench::print() const {
  auto perVertex = [&](double seconds) {
    return seconds / network.numVertices() * 1e9;
  };
  std::printf("%-10s %8u | %6.1f %6.1f %6.1f %6.1f %7.1f | %8.1f%s %8.1f "
              "%8.1f %8.1f | %5.2f | %9.3f\n",
              name, ops, perVertex(finish), perVertex(contract),
              perVertex(lift), perVertex(check), perVertex(total),
              perVertex(automatic), switched ? "*" : " ",
              perVertex(boykovKolmogorov), perVertex(pushRelabel),
              perVertex(boostPushRelabel), ratio(), (finish + total) * 1e3);
  std::fflush(stdout);
}

int main(int argc, char **argv) {
  static constexpr char usage[] =
      "bench-maxflow [--quick | --full] [--floor]\n"
      "times of minimum cuts by stage and algorithm on generated networks; "
      "--floor fails if\nauto takes more than twice the better of Boost's "
      "on a small one";
  if (std::optional<int> code = bench::checkUsage(argc, argv, usage))
    return *code;
  // As the programs do for a graph of this size.
  prepareHeap(uint64_t(1) << 30);
  bool quick = bench::isGiven(argc, argv, "--quick"),
       full = bench::isGiven(argc, argv, "--full"),
       floor = bench::isGiven(argc, argv, "--floor");
  std::printf("ns a vertex; * = went over to push-relabel; 0.0 = not run\n"
              "%-10s %8s | %6s %6s %6s %6s %7s | %8s  %8s %8s %8s | %5s "
              "| %9s\n",
              "network", "ops", "finish", "contr.", "lift", "check", "solve",
              "auto", "BK", "PR", "boost PR", "ratio", "ms in all");
  bool failed = false;
  auto run = [&](const char *name, uint32_t ops, FlowNetwork &&network,
                 bool withSlow) {
    Bench bench(name, ops, std::move(network), withSlow);
    bench.print();
    failed |= bench.isWrong();
    if (floor && ops <= 10000 && bench.ratio() > 2) {
      std::fprintf(stderr,
                   "error: auto takes %.2f times the better of Boost's "
                   "on %s of %u ops\n",
                   bench.ratio(), name, ops);
      failed = true;
    }
  };
  for (uint32_t ops : {1000U, 10000U, 100000U, 1000000U})
    if (!quick || ops <= 10000)
      run("joint", ops, makeJointLike(ops, 1), true);
  static const struct {
    const char *name;
    uint32_t width;
  } ladders[] = {{"ladder8", 8}, {"ladder32", 32}, {"ladder128", 128}};
  for (const auto &ladder : ladders)
    for (uint32_t ops : {1000U, 10000U, 100000U, 1000000U})
      if (ops <= (quick ? 10000U : full ? 1000000U : 100000U))
        run(ladder.name, ops, makeLadder(ops, ladder.width, 1), ops < 1000000);
  // As many vertices as an op each has above: two.
  for (uint32_t side : {45U, 141U, 447U, 1414U})
    if (side <= (quick ? 141U : full ? 1414U : 447U))
      run("layers", side * side / 2, makeLayered(side, side, 3, 1),
          side < 1414);
  // What no known network of a model looks like: many ways from layer to layer.
  for (uint32_t side : {316U, 1000U})
    if (full)
      run("layers8", side * side / 2, makeLayered(side, side, 8, 1), false);
  return failed;
}

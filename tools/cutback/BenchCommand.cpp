// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of a compiled step, of its segments and of its kernels.
//
// Runs follow each other behind one that nobody measures; shown is the fastest.
// A kernel moves what its operands have, read or written. What a machine can
// move is measured beside it: all threads copy memory that no cache holds.

#include "Commands.h"

#include "ArtifactRun.h"
#include "StepSources.h"

#include "cutback/Runtime/ThreadPool.h"
#include "cutback/Support/Text.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <numeric>

using namespace mlir;

namespace cutback {

CommandSpec benchSpec() {
  CommandSpec spec;
  spec.name = "bench";
  spec.arguments = "DIR";
  spec.summary =
      "Measure a compiled step: its segments, and kernel by kernel.\n\n"
      "DIR is of `compile --target=cpu` or `--target=cuda-host`. What no file "
      "gives is\nmade up: small numbers, and zeros for integers. GB/s count "
      "what a kernel reads\nand writes; beside it, its share of what copying "
      "memory reaches.";
  spec.options = {
      {"runs", OptionSpec::Integer, "N",
       "of which the fastest is shown; default 5", false, 1},
      {"top", OptionSpec::Integer, "N", "kernels that are listed; default 20",
       false, 1},
      {"threads", OptionSpec::Integer, "N",
       "of this machine; default: one a processor", false, 1},
      {"inputs", OptionSpec::Text, "F", "safetensors file with the arguments"},
      {"weights", OptionSpec::Text, "F",
       "parameters and buffers: a .pt2 or safetensors file;\n"
       "without it, those that DIR holds"},
      {"seed", OptionSpec::Integer, "N", "of random ops; default 0"},
  };
  spec.examples = {
      "bench out",
      "bench out --threads=1 --weights=model.pt2 --inputs=batch.safetensors",
  };
  return spec;
}

namespace {

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Bytes a second that are read and written when `threads` copy memory that no
/// cache holds.
double measureCopies(unsigned threads) {
  constexpr size_t bytes = size_t(64) << 20;
  std::vector<char> from(bytes, 1), to(bytes);
  ThreadPool pool(threads);
  double least = 0;
  for (int run = 0; run < 5; ++run) {
    auto begin = std::chrono::steady_clock::now();
    pool.run([&](unsigned part) {
      size_t first = bytes / pool.size() * part;
      size_t end =
          part + 1 == pool.size() ? bytes : first + bytes / pool.size();
      std::memcpy(to.data() + first, from.data() + first, end - first);
    });
    double took = secondsSince(begin);
    least = run == 0 ? took : std::min(least, took);
  }
  return 2.0 * bytes / least;
}

/// Launches of one kernel.
struct KernelTime {
  std::string name;
  size_t launches = 0;
  double seconds = 0;
  int64_t bytes = 0;
};

std::string timeText(double seconds) {
  return formatPicoseconds(seconds * 1e12);
}

class Bench {
public:
  Bench(const Artifact &artifact, std::vector<double> seconds)
      : artifact(artifact), seconds(std::move(seconds)),
        total(
            std::accumulate(this->seconds.begin(), this->seconds.end(), 0.0)) {}

  /// A line a segment.
  std::string segmentsText() const {
    TextTable table({TextTable::Left, TextTable::Right, TextTable::Left});
    size_t first = 0;
    for (size_t number : artifact.stepSegments()) {
      const ArtifactSegment &segment = artifact.segments[number];
      size_t count = segment.launches.size();
      auto begin = seconds.begin() + first;
      table.add({segment.name,
                 timeText(std::accumulate(begin, begin + count, 0.0)),
                 formatCount(count, "launch", "launches")});
      first += count;
    }
    table.add({"step", timeText(total), ""});
    table.add({"arena", formatBytes(artifact.arenaBytes), ""});
    return table.str(0);
  }

  std::string kernelsText(size_t top, double copyRate) const {
    std::vector<KernelTime> kernels = sumUp();
    TextTable table({TextTable::Left, TextTable::Right, TextTable::Right,
                     TextTable::Right, TextTable::Right, TextTable::Right});
    table.add({"kernel", "launches", "time", "share", "GB/s", "of a copy"});
    for (size_t i = 0; i < std::min(top, kernels.size()); ++i)
      table.add(rowOf(kernels[i], copyRate));
    if (kernels.size() > top) {
      KernelTime rest;
      rest.name = "… " + std::to_string(kernels.size() - top) + " more";
      for (size_t i = top; i < kernels.size(); ++i) {
        rest.launches += kernels[i].launches;
        rest.seconds += kernels[i].seconds;
        rest.bytes += kernels[i].bytes;
      }
      table.add(rowOf(rest, copyRate));
    }
    table.fit(kScreenWidth, {{0, 16}});
    return table.str(0);
  }

private:
  /// The slowest first.
  std::vector<KernelTime> sumUp() const {
    std::map<int64_t, KernelTime> byKernel;
    auto took = seconds.begin();
    for (size_t number : artifact.stepSegments())
      for (const ArtifactLaunch &launch : artifact.segments[number].launches) {
        KernelTime &kernel = byKernel[launch.kernel];
        kernel.name = artifact.kernels[launch.kernel].name;
        ++kernel.launches;
        kernel.seconds += *took++;
        kernel.bytes += bytesOf(launch);
      }
    std::vector<KernelTime> kernels;
    for (auto &[number, kernel] : byKernel)
      kernels.push_back(std::move(kernel));
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const KernelTime &a, const KernelTime &b) {
                       return a.seconds > b.seconds;
                     });
    return kernels;
  }

  std::vector<std::string> rowOf(const KernelTime &kernel,
                                 double copyRate) const {
    double rate = kernel.seconds > 0
                      ? static_cast<double>(kernel.bytes) / kernel.seconds
                      : 0;
    return {kernel.name,
            std::to_string(kernel.launches),
            timeText(kernel.seconds),
            formatFixed(total > 0 ? 100 * kernel.seconds / total : 0, 1) + " %",
            formatFixed(rate / 1e9, 2),
            formatFixed(rate / copyRate, 2)};
  }

  const Artifact &artifact;
  std::vector<double> seconds; ///< by launch of the step
  double total;
};

} // namespace

/// The launches of the fastest of `runs`. Exit code.
static int measureRuns(Session &session, BoundArtifact &bound, int64_t runs,
                       std::vector<double> &fastest) {
  std::vector<double> seconds;
  if (!bound.executor->measure(&seconds)) {
    session.error("the kernels of a step for '" + bound.artifact.target +
                  "' are not measured one by one");
    session.note("compile the model with --target=cpu");
    return WrongUsage;
  }
  double least = 0;
  for (int64_t run = 0; run <= runs; ++run) {
    session.progress.step(run == 0 ? "first run"
                                   : "run " + std::to_string(run));
    std::string error =
        bound.executor->run(bound.artifact.stepSegments(), bound.arguments);
    if (!error.empty()) {
      session.error(error);
      session.note("nothing was measured");
      return NoPlan;
    }
    double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    if (run == 0 || (run > 1 && total >= least))
      continue;
    least = total;
    fastest = seconds;
  }
  bound.executor->measure(nullptr);
  return Done;
}

int runBench(const CommandLine &line) {
  Session session("bench", line);
  const std::string &folder = line.arguments[0];
  if (!isArtifact(folder)) {
    session.error("'" + folder + "' is no compiled step");
    session.note("cutback compile MODEL -o DIR --target=cpu makes one");
    return WrongUsage;
  }
  StepFiles sources;
  if (int code = openSources(session, sources))
    return code;
  if (int code = unpackWeights(session, sources))
    return code;
  session.progress.step("opening");
  BoundArtifact bound;
  if (int code = openArtifact(session, folder, sources, nullptr, bound,
                              MissingArguments::AreMadeUp))
    return code;
  int64_t runs = line.integer("runs").value_or(5);
  std::vector<double> fastest;
  if (int code = measureRuns(session, bound, runs, fastest))
    return code;
  bool isOneThread = bound.artifact.target != kCpuTarget;
  unsigned threads =
      isOneThread ? 1
                  : static_cast<unsigned>(
                        line.integer("threads").value_or(usableProcessors()));
  session.progress.step("copying");
  double copyRate = measureCopies(threads);
  Bench bench(bound.artifact, std::move(fastest));
  std::string text =
      folder + ", " + bound.artifact.target + ", " +
      formatCount(threads, "thread") + ", the fastest of " +
      formatCount(runs, "run") + "\n\n" + bench.segmentsText() + "copying " +
      formatFixed(copyRate / 1e9, 1) + " GB/s\n\n" +
      bench.kernelsText(line.integer("top").value_or(20), copyRate);
  return session.write(std::nullopt, text);
}

} // namespace cutback

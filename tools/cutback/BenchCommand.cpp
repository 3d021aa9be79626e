// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of a compiled step, of its segments and of its kernels.
//
// Runs follow each other behind one that nobody measures; shown is the fastest.
// A kernel moves what its operands have, read or written; products,
// convolutions and attention have FLOPs besides. What a machine can do is
// measured beside it: all threads copy memory that no cache holds, and multiply
// two matrices by the functions that the step's products have.
//
// A profile is a description of this machine by these rates, for plans
// (Analysis/Device.h), with the times of the kernels beside them.

#include "Commands.h"

#include "ArtifactRun.h"
#include "StepSources.h"

#include "cutback/Runtime/ThreadPool.h"
#include "cutback/Support/Json.h"
#include "cutback/Support/Text.h"
#include "cutback/Target/CPU/ProductRate.h"

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
      "DIR is of `compile --target=cpu`, `cuda` or `cuda-host`. What no file "
      "gives is made\nup: small numbers, and zeros for integers. GB/s count "
      "what a kernel reads and\nwrites; beside it, its share of what copying "
      "memory reaches. GFLOP/s are of\nproducts, convolutions and attention; "
      "beside it, on this machine, their share of a\nlarge product.";
  spec.options = {
      {"runs", OptionSpec::Integer, "N",
       "of which the fastest is shown; default 5", false, 1},
      {"top", OptionSpec::Integer, "N", "kernels that are listed; default 20",
       false, 1},
      {"threads", OptionSpec::Integer, "N",
       "of this machine; default: one a processor", false, 1},
      {"profile-out", OptionSpec::Text, "F.json",
       "write the rates that were measured, for plans\n"
       "(--device=F.json), and the times of the kernels"},
      {"inputs", OptionSpec::Text, "F", "safetensors file with the arguments"},
      {"weights", OptionSpec::Text, "F",
       "parameters and buffers: a .pt2 or safetensors file;\n"
       "without it, those that DIR holds"},
      {"seed", OptionSpec::Integer, "N", "of random ops; default 0", false, 0,
       "", INT64_MAX},
      hookOption(),
  };
  spec.examples = {
      "bench out",
      "bench out --profile-out=here.json",
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
  int64_t bytes = 0, flops = 0;

  void add(const KernelTime &other) {
    launches += other.launches;
    seconds += other.seconds;
    bytes += other.bytes;
    flops += other.flops;
  }
};

/// Seconds of a step.
struct StepTimes {
  std::vector<double> launches;
  std::vector<double> segments; ///< empty: those of their launches

  /// Of a segment whose launches are `count` from `first` on.
  double ofSegment(size_t number, size_t first, size_t count) const {
    auto begin = launches.begin() + first;
    return segments.empty() ? std::accumulate(begin, begin + count, 0.0)
                            : segments[number];
  }
};

double sumOf(const std::vector<double> &seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

/// What this machine, or the device, does in a second; 0: not measured.
struct MachineRates {
  unsigned threads = 1;
  double bytes = 0, flops = 0;
};

std::string timeText(double seconds) {
  return formatPicoseconds(seconds * 1e12);
}

class Bench {
public:
  Bench(const Artifact &artifact, StepTimes times)
      : artifact(artifact), times(std::move(times)),
        total(sumOf(this->times.launches)) {}

  /// A line a segment.
  std::string segmentsText() const {
    TextTable table({TextTable::Left, TextTable::Right, TextTable::Left});
    size_t first = 0, at = 0;
    double step = 0;
    for (size_t number : artifact.stepSegments()) {
      const ArtifactSegment &segment = artifact.segments[number];
      size_t count = segment.launches.size();
      double took = times.ofSegment(at++, first, count);
      table.add({segment.name, timeText(took),
                 formatCount(count, "launch", "launches")});
      first += count;
      step += took;
    }
    table.add({"step", timeText(step), ""});
    table.add({"arena", formatBytes(artifact.arenaBytes), ""});
    return table.str(0);
  }

  std::string kernelsText(size_t top, const MachineRates &rates) const {
    std::vector<KernelTime> kernels = sumUp();
    TextTable table({TextTable::Left, TextTable::Right, TextTable::Right,
                     TextTable::Right, TextTable::Right, TextTable::Right,
                     TextTable::Right, TextTable::Right});
    table.add({"kernel", "runs", "time", "share", "GB/s", "of copy", "GFLOP/s",
               "of product"});
    for (size_t i = 0; i < std::min(top, kernels.size()); ++i)
      table.add(rowOf(kernels[i], rates));
    if (kernels.size() > top) {
      KernelTime rest;
      rest.name = "… " + std::to_string(kernels.size() - top) + " more";
      for (size_t i = top; i < kernels.size(); ++i)
        rest.add(kernels[i]);
      table.add(rowOf(rest, rates));
    }
    table.fit(kScreenWidth, {{0, 16}});
    return table.str(0);
  }

  /// What plans read is in front.
  std::string profileText(const std::string &name,
                          const MachineRates &rates) const {
    std::string rate = "{\"f32\": " + std::to_string(rates.flops / 1e12) + "}";
    std::string text =
        "{\"name\": " + quoteJson(name) +
        ",\n \"bandwidth_gb_s\": " + std::to_string(rates.bytes / 1e9) +
        ", \"launch_us\": " + std::to_string(shortestLaunch() * 1e6) +
        ",\n \"matrix_tflop_s\": " + rate + ", \"vector_tflop_s\": " + rate +
        ",\n \"threads\": " + std::to_string(rates.threads) +
        ", \"step_us\": " + std::to_string(total * 1e6) + ",\n \"kernels\": [";
    const char *comma = "\n  ";
    for (const KernelTime &kernel : sumUp()) {
      text += comma + ("{\"name\": " + quoteJson(kernel.name)) +
              ", \"launches\": " + std::to_string(kernel.launches) +
              ", \"us\": " + std::to_string(kernel.seconds * 1e6) +
              ", \"bytes\": " + std::to_string(kernel.bytes) +
              ", \"flop\": " + std::to_string(kernel.flops) + "}";
      comma = ",\n  ";
    }
    return text + "]}\n";
  }

private:
  /// What a launch costs that moves next to nothing.
  double shortestLaunch() const {
    auto least = std::min_element(times.launches.begin(), times.launches.end());
    return least == times.launches.end() ? 0 : *least;
  }

  /// The slowest first.
  std::vector<KernelTime> sumUp() const {
    std::map<int64_t, KernelTime> byKernel;
    auto took = times.launches.begin();
    for (size_t number : artifact.stepSegments())
      for (const ArtifactLaunch &launch : artifact.segments[number].launches) {
        KernelTime &kernel = byKernel[launch.kernel];
        kernel.name = artifact.kernels[launch.kernel].name;
        kernel.add({"", 1, *took++, bytesOf(launch), launch.flops});
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
                                 const MachineRates &rates) const {
    auto rateOf = [&](int64_t count) {
      return kernel.seconds > 0 ? static_cast<double>(count) / kernel.seconds
                                : 0;
    };
    double bytes = rateOf(kernel.bytes), flops = rateOf(kernel.flops);
    return {kernel.name,
            std::to_string(kernel.launches),
            timeText(kernel.seconds),
            formatFixed(total > 0 ? 100 * kernel.seconds / total : 0, 1) + " %",
            formatFixed(bytes / 1e9, 2),
            formatFixed(bytes / rates.bytes, 2),
            flops > 0 ? formatFixed(flops / 1e9, 1) : "",
            flops > 0 && rates.flops > 0 ? formatFixed(flops / rates.flops, 2)
                                         : ""};
  }

  const Artifact &artifact;
  StepTimes times;
  double total; ///< of all launches
};

} // namespace

/// The seconds of the fastest of `runs`, behind one that nobody measures; empty
/// where `what` is not measured. Exit code.
static int measureRuns(Session &session, BoundArtifact &bound, int64_t runs,
                       Executor::Measured what, std::vector<double> &fastest) {
  std::vector<double> seconds;
  if (!bound.executor->measure(&seconds, what))
    return Done;
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
    if (run == 1 || (run > 1 && sumOf(seconds) < sumOf(fastest)))
      fastest = seconds;
  }
  bound.executor->measure(nullptr, what);
  return Done;
}

/// Of the device, or of this machine. An emulated device has one thread, and no
/// product of its own. Exit code.
static int measureMachine(Session &session, const BoundArtifact &bound,
                          MachineRates &rates) {
  bool isNative = bound.artifact.target == kCpuTarget;
  if (isNative)
    rates.threads = static_cast<unsigned>(
        session.line.integer("threads").value_or(usableProcessors()));
  session.progress.step("copying");
  std::string error;
  rates.bytes = bound.executor->measureCopies(error);
  if (!error.empty()) {
    session.error("the device does not copy: " + error);
    return NoPlan;
  }
  if (rates.bytes == 0)
    rates.bytes = measureCopies(rates.threads);
  if (!isNative)
    return Done;
  session.progress.step("multiplying");
  rates.flops = measureProductRate(rates.threads, error);
  if (rates.flops > 0)
    return Done;
  session.error("no product is measured: " + error);
  return NoPlan;
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
  bool isNative = bound.artifact.target == kCpuTarget;
  std::optional<std::string_view> profile = line.get("profile-out");
  if (profile && !isNative) {
    session.error("a profile is of this machine, and the step is for '" +
                  bound.artifact.target + "'");
    session.note("compile the model with --target=cpu");
    return WrongUsage;
  }
  int64_t runs = line.integer("runs").value_or(5);
  StepTimes times;
  if (int code = measureRuns(session, bound, runs, Executor::Measured::Launches,
                             times.launches))
    return code;
  if (int code = measureRuns(session, bound, runs, Executor::Measured::Segments,
                             times.segments))
    return code;
  MachineRates rates;
  if (int code = measureMachine(session, bound, rates))
    return code;
  Bench bench(bound.artifact, std::move(times));
  std::string device = bound.executor->deviceName();
  std::string text =
      folder + ", " + bound.artifact.target + ", " +
      (device.empty() ? formatCount(rates.threads, "thread") : device) +
      ", the fastest of " + formatCount(runs, "run") + "\n\n" +
      bench.segmentsText() + "copying " + formatFixed(rates.bytes / 1e9, 1) +
      " GB/s\n";
  if (isNative)
    text += "product " + formatFixed(rates.flops / 1e9, 1) + " GFLOP/s\n";
  text += "\n" + bench.kernelsText(line.integer("top").value_or(20), rates);
  if (profile)
    if (int code = session.write(
            profile, bench.profileText(std::string(*profile), rates)))
      return code;
  return session.write(std::nullopt, text);
}

} // namespace cutback

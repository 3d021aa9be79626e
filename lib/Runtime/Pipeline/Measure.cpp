// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank waits for the messages of an action before it computes, so the time of
// an action has no waits in it, and is what a simulation takes for it: copies
// out of the inputs, sums of gradients and sends belong to it. Copying a
// message to where it is received belongs to the wait, as it does to a link.
//
// A simulation has one time for a kind of action in a stage: the mean over
// micro-batches, whose sum is the time that the rank was busy.

#include "cutback/Runtime/Pipeline/Measure.h"

#include "cutback/Support/Json.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <sstream>

using namespace cutback;
using namespace cutback::pipeline;

double pipeline::makespanOf(const MeasuredStep &step) {
  return step.empty() ? 0 : step.back().end;
}

double pipeline::computedIn(const MeasuredStep &step) {
  double seconds = 0;
  for (const MeasuredAction &one : step)
    seconds += one.end - one.begin;
  return seconds;
}

double pipeline::waitedIn(const MeasuredStep &step) {
  double seconds = 0;
  for (const MeasuredAction &one : step)
    for (const MeasuredWait &wait : one.waits)
      seconds += wait.end - wait.begin;
  return seconds;
}

std::string pipeline::traceEventsOf(int replica, int rank,
                                    const MeasuredStep &step) {
  std::string track = "\"pid\": " + std::to_string(replica) +
                      ", \"tid\": " + std::to_string(rank);
  std::string text = R"({"name": "thread_name", "ph": "M", )" + track +
                     R"(, "args": {"name": "rank )" + std::to_string(rank) +
                     "\"}}";
  auto add = [&](const std::string &name, const char *category, double begin,
                 double end) {
    char times[96];
    std::snprintf(times, sizeof times, "\"ts\": %.3f, \"dur\": %.3f",
                  begin * 1e6, (end - begin) * 1e6);
    text += ",\n{\"name\": " + quoteJson(name) + ", \"cat\": \"" + category +
            R"(", "ph": "X", )" + track + ", " + times + "}";
  };
  for (const MeasuredAction &one : step) {
    for (const MeasuredWait &wait : one.waits)
      add("wait for " + wait.what, "wait", wait.begin, wait.end);
    add(format(one.action), "compute", one.begin, one.end);
  }
  return text;
}

std::string pipeline::timesOf(const MeasuredStep &step) {
  struct Sum {
    double seconds = 0;
    int count = 0;
  };
  // I and W before B, which they are otherwise taken for.
  const std::vector<ActionKind> order = {
      ActionKind::Forward, ActionKind::InputGradients,
      ActionKind::WeightGradients, ActionKind::Backward};
  std::map<int, std::map<ActionKind, Sum>> stages;
  for (const MeasuredAction &one : step) {
    Sum &sum = stages[one.action.stage][one.action.kind];
    sum.seconds += one.end - one.begin;
    ++sum.count;
  }
  std::string text;
  for (auto &[stage, sums] : stages) {
    std::string line;
    for (ActionKind kind : order) {
      if (sums[kind].count == 0)
        continue;
      char time[48];
      std::snprintf(time, sizeof time, "=%.3f",
                    sums[kind].seconds * 1e6 / sums[kind].count);
      line += (line.empty() ? std::to_string(stage) + ":" : ",") +
              std::string(spelling(kind)) + time;
    }
    text += line + "\n";
  }
  return text;
}

std::string pipeline::mergeTimes(const std::vector<std::string> &ofRanks) {
  std::map<long, std::string> lines;
  for (const std::string &text : ofRanks) {
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);)
      lines[std::strtol(line.c_str(), nullptr, 10)] = line;
  }
  std::string text;
  for (const auto &[stage, line] : lines)
    text += line + "\n";
  return text;
}

size_t pipeline::chooseStep(const std::vector<double> &makespans) {
  if (makespans.size() < 2)
    return 0;
  std::vector<size_t> order(makespans.size() - 1);
  std::iota(order.begin(), order.end(), 1);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return makespans[a] < makespans[b];
  });
  return order[(order.size() - 1) / 2];
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All figures are those of the plan's launches: what is shown can be added up
// again from plan.json.
//
// Bytes are those that go through memory; at least as many must, because a
// kernel reads and writes each tensor that crosses its border once.

#include "cutback/Report/KernelReport.h"

#include "cutback/Analysis/Device.h"
#include "cutback/Support/Text.h"
#include "cutback/Training/InsideUpdate.h"

using namespace llvm;

namespace cutback {

namespace {

struct Figures {
  uint64_t launches = 0, calls = 0;
  int64_t nested = 0;     ///< launches in graphs of calls
  uint64_t uncounted = 0; ///< calls whose loops have no known length
  int64_t movedBytes = 0, borderBytes = 0;
  double ps = 0;

  explicit Figures(const ListedSegment &segment) {
    for (const ListedLaunch &launch : segment.launches) {
      ++launches;
      calls += launch.schedule == KernelSchedule::Call;
      movedBytes += launch.movedBytes;
      borderBytes += launch.borderBytes;
      ps += launch.ps;
      if (!launch.inside)
        continue;
      uncounted += !launch.inside->isCounted;
      for (const NestedLaunch &one : launch.inside->launches)
        nested += one.times;
    }
  }
  Figures() = default;

  Figures &operator+=(const Figures &other) {
    launches += other.launches;
    calls += other.calls;
    nested += other.nested;
    uncounted += other.uncounted;
    movedBytes += other.movedBytes;
    borderBytes += other.borderBytes;
    ps += other.ps;
    return *this;
  }
};

} // namespace

/// Those of the step, without an update.
static std::vector<ListedSegment> segmentsOf(const PartitionResult &result) {
  std::vector<ListedSegment> segments;
  for (const PlannedSegment &segment : result.kernelPlan->segments)
    segments.push_back(listLaunches(segment.name, segment.kernels,
                                    *result.kernelProblem, result.view));
  return segments;
}

static std::string textOf(const Figures &figures, StringRef device) {
  std::string text = formatCount(figures.launches, "launch", "launches") +
                     ": " + formatCount(figures.launches - figures.calls) +
                     " of generated kernels, " +
                     formatCount(figures.calls, "call") +
                     " of products and other single ops";
  if (figures.nested)
    text += ", in whose graphs " +
            formatCount(figures.nested, "launch runs", "launches run");
  text += "; " + formatBytes(figures.movedBytes) + " moved, at least " +
          formatBytes(figures.borderBytes) + "; " +
          formatPicoseconds(figures.ps) + " by the model of " +
          Device::displayName(device);
  if (figures.uncounted)
    text += "; " + formatCount(figures.uncounted, "loop", "loops") +
            " of unknown length " +
            (figures.uncounted == 1 ? "counts" : "count") + " once";
  return text;
}

std::string kernelsText(const PartitionResult &result) {
  if (!result.kernelPlan)
    return "";
  Figures figures;
  for (const ListedSegment &segment : segmentsOf(result))
    figures += Figures(segment);
  return textOf(figures, result.options.device);
}

std::string whyUpdateAfter(const PartitionResult &result) {
  std::string error;
  std::optional<Optimizer> optimizer =
      readOptimizer(result.update->options, error);
  if (!optimizer || optimizer->place == Optimizer::After ||
      result.update->segments.empty())
    return "";
  joint::GraphOp graph = result.view.graph;
  auto parameters = findParameters(graph, *optimizer);
  return failed(parameters) ? ""
                            : whyUpdateAfter(graph, *optimizer, *parameters);
}

std::vector<std::pair<std::string, std::string>>
updateTexts(const PartitionResult &result) {
  std::vector<std::pair<std::string, std::string>> texts;
  if (!result.update)
    return texts;
  const PlannedUpdate &update = *result.update;
  if (update.segments.empty())
    texts.emplace_back("update", "inside of the backward, whose launches it is "
                                 "of: each parameter as soon as its gradient "
                                 "is there, whose memory is free then");
  for (const ListedSegment &segment : update.segments)
    texts.emplace_back(segment.name,
                       textOf(Figures(segment), result.options.device));
  if (std::string why = whyUpdateAfter(result); !why.empty())
    texts.back().second += "; after the backward, as " + why;
  return texts;
}

static void writeFigures(json::OStream &json, const Figures &figures) {
  json.attribute("launches", figures.launches);
  json.attribute("calls", figures.calls);
  json.attribute("nested_launches", figures.nested);
  json.attribute("uncounted_loops", figures.uncounted);
  json.attribute("moved_bytes", figures.movedBytes);
  json.attribute("border_bytes", figures.borderBytes);
}

static void writeLaunch(json::OStream &json, const ListedLaunch &launch) {
  json.attribute("schedule", spell(launch.schedule));
  json.attributeArray("ops", [&] {
    for (const std::string &op : launch.ops)
      json.value(json::fixUTF8(op));
  });
  json.attribute("border_bytes", launch.borderBytes);
  json.attribute("moved_bytes", launch.movedBytes);
  json.attribute("flops_ps", launch.flopsPs);
  json.attribute("ps", launch.ps);
  if (!launch.inside)
    return;
  json.attribute("is_counted", launch.inside->isCounted);
  json.attributeArray("nested", [&] {
    for (const NestedLaunch &one : launch.inside->launches)
      json.object([&] {
        json.attribute("graph", int64_t(one.graph));
        json.attribute("times", one.times);
        writeLaunch(json, one);
      });
  });
}

static void writeSegment(json::OStream &json, const ListedSegment &segment) {
  json.object([&] {
    json.attribute("name", segment.name);
    json.attributeArray("launches", [&] {
      for (const ListedLaunch &launch : segment.launches)
        json.object([&] { writeLaunch(json, launch); });
    });
  });
}

void writeKernels(json::OStream &json, const PartitionResult &result) {
  Device device;
  std::string error;
  if (!result.kernelPlan || !Device::load(result.options.device, device, error))
    return;
  std::vector<std::pair<std::string, Figures>> bySegment;
  Figures all;
  for (const ListedSegment &segment : segmentsOf(result)) {
    bySegment.emplace_back(segment.name, Figures(segment));
    all += bySegment.back().second;
  }
  if (result.update)
    for (const ListedSegment &segment : result.update->segments)
      bySegment.emplace_back(segment.name, Figures(segment));
  json.attributeObject("kernels", [&] {
    writeFigures(json, all);
    json.attribute("bytes_per_ps", device.bandwidth);
    json.attribute("launch_ps", device.launchPs);
    json.attributeArray("segments", [&] {
      for (auto &[name, figures] : bySegment)
        json.object([&, &name = name, &figures = figures] {
          json.attribute("name", name);
          writeFigures(json, figures);
          json.attribute("ps", figures.ps);
        });
    });
  });
}

void writeSegments(json::OStream &json, const PartitionResult &result) {
  if (!result.kernelPlan)
    return;
  json.attributeArray("segments", [&] {
    for (const ListedSegment &segment : segmentsOf(result))
      writeSegment(json, segment);
    if (result.update)
      for (const ListedSegment &segment : result.update->segments)
        writeSegment(json, segment);
  });
}

} // namespace cutback

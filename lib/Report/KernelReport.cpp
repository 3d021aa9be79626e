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

using namespace llvm;

namespace cutback {

namespace {

struct Figures {
  uint64_t launches = 0, calls = 0;
  int64_t movedBytes = 0, borderBytes = 0;

  void add(const SegmentKernels &segment) {
    for (const Kernel &kernel : segment.kernels) {
      ++launches;
      calls += kernel.schedule == KernelSchedule::Call;
      movedBytes += kernel.movedBytes;
      borderBytes += kernel.borderBytes;
    }
  }
};

} // namespace

static Figures figuresOf(const KernelPlan &plan) {
  Figures figures;
  figures.add(plan.forward);
  figures.add(plan.backward);
  return figures;
}

std::string kernelsText(const PartitionResult &result) {
  if (!result.kernelPlan)
    return "";
  Figures figures = figuresOf(*result.kernelPlan);
  return formatCount(figures.launches, "launch", "launches") + ": " +
         formatCount(figures.launches - figures.calls) +
         " of generated kernels, " + formatCount(figures.calls, "call") +
         " of products and other single ops; " +
         formatBytes(figures.movedBytes) + " moved, at least " +
         formatBytes(figures.borderBytes) + "; " +
         formatPicoseconds(result.kernelPlan->ps()) + " by the model of " +
         Device::displayName(result.options.device);
}

static void writeHalf(json::OStream &json, StringRef name,
                      const SegmentKernels &segment, const GraphView &view) {
  json.attributeArray(name, [&] {
    for (const Kernel &kernel : segment.kernels)
      json.object([&] {
        json.attribute("schedule", spell(kernel.schedule));
        json.attributeArray("ops", [&] {
          for (uint32_t op : kernel.ops)
            if (view.numResults(op))
              json.value(json::fixUTF8(view.name(view.resultBegin[op])));
        });
        json.attribute("border_bytes", kernel.borderBytes);
        json.attribute("moved_bytes", kernel.movedBytes);
        json.attribute("flops_ps", kernel.flopsPs);
        json.attribute("ps", kernel.ps);
      });
  });
}

void writeKernels(json::OStream &json, const PartitionResult &result) {
  Device device;
  std::string error;
  if (!result.kernelPlan || !Device::load(result.options.device, device, error))
    return;
  const KernelPlan &plan = *result.kernelPlan;
  Figures figures = figuresOf(plan);
  json.attributeObject("kernels", [&] {
    json.attribute("launches", figures.launches);
    json.attribute("calls", figures.calls);
    json.attribute("moved_bytes", figures.movedBytes);
    json.attribute("border_bytes", figures.borderBytes);
    json.attribute("bytes_per_ps", device.bandwidth);
    json.attribute("launch_ps", device.launchPs);
    json.attribute("forward_ps", plan.forwardPs());
    json.attribute("backward_ps", plan.backwardPs());
  });
}

void writeLaunches(json::OStream &json, const PartitionResult &result) {
  if (!result.kernelPlan)
    return;
  json.attributeObject("launches", [&] {
    writeHalf(json, "forward", result.kernelPlan->forward, result.view);
    writeHalf(json, "backward", result.kernelPlan->backward, result.view);
  });
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The step of a plan in the Trace Event Format, one event a line, by time.
//
//   1. A launch is a complete event ("X") on the track of its half. It starts
//      where the one before it ends: the model runs one kernel at a time, and
//      views take nothing.
//   2. Memory is counted op by op, and a kernel runs several ops at once. So
//      the counters ("C") in front of a launch have the op with most live bytes
//      of those that ran since the launch before it, and the peak is one of
//      them. Behind the last launch stands what is live at the end.
//   3. An instant event ("i") marks the peak.
//
// Times are the launches' summed up and then rounded to whole nanoseconds,
// which is what viewers keep: neighbours never overlap, and no error adds up.

#include "cutback/Report/TraceExport.h"

#include "TraceEvents.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Report/StepTimeline.h"

#include <cmath>

using namespace mlir;
using llvm::StringRef;

namespace cutback {

namespace {

class TraceWriter : TraceEvents {
public:
  TraceWriter(const PartitionResult &result, const ReportExtras &extras,
              StringRef title)
      : result(result), view(result.view), title(title),
        keys(result.view.graph), timeline(StepTimeline::of(result)),
        live(timeline.liveBytes()) {
    if (extras.modules)
      modules = valueModules(view);
    isCopy.assign(view.numOps(), 0);
    for (uint32_t op : result.halves.recomputed)
      isCopy[op] = 1;
    for (uint32_t step = 1; step < timeline.numOps; ++step)
      if (bytesAt(step) > bytesAt(peak))
        peak = step;
  }

  std::string run(const Device &device) {
    const KernelPlan &kernels = *result.kernelPlan;
    writeHeader(device);
    nameTracks(title);
    writeHalf(Track::Forward, kernels.forward().kernels,
              result.halves.forwardOps, 0);
    writeHalf(Track::Backward, kernels.backward().kernels,
              result.halves.backwardOps, timeline.forwardOps);
    if (timeline.numOps)
      writeMemory(std::min(step, timeline.numOps - 1), timeline.numOps);
    return end();
  }

private:
  int64_t now() const { return std::llround(ps / 1000); }

  void writeHeader(const Device &device) {
    begin([&](llvm::json::OStream &json) {
      attribute(json, "graph", result.graph);
      json.attribute("strategy", cutback::spell(result.choice.strategy));
      json.attribute("cost_model", cutback::spell(result.choice.costModel));
      json.attribute("byte_price_ps", result.bytePricePs);
      attribute(json, "device", device.name);
      json.attribute("times", "a model of fused kernels, not a measurement");
      json.attribute("memory", result.memory ? "planned" : "op-by-op");
      json.attribute("peak_bytes", result.peak.bytes);
      json.attribute("lower_bound", result.peak.lowerBound);
      json.attribute("saved_bytes", result.savedBytes);
      json.attribute("kernels", int64_t(result.kernels));
      json.attribute("priced_ps", result.pricedPs);
    });
  }

  //===--------------------------------------------------------------------===//
  // Launches
  //===--------------------------------------------------------------------===//

  /// The kernels of a half, with what is live in front of each. `ops` are those
  /// of the half, of which the first is the step `first`.
  void writeHalf(Track track, const std::vector<Kernel> &kernels,
                 const std::vector<uint32_t> &ops, uint32_t first) {
    std::vector<uint32_t> place(view.numOps(), 0);
    for (size_t i = 0; i < ops.size(); ++i)
      place[ops[i]] = first + i;
    for (const Kernel &kernel : kernels) {
      uint32_t end = place[kernel.ops.back()] + 1;
      writeMemory(step, end);
      step = end;
      writeLaunch(track, kernel);
    }
  }

  void writeLaunch(Track track, const Kernel &kernel) {
    int64_t begin = now();
    uint32_t copies = 0;
    // A product says more of its kernel than what is done with it.
    uint32_t main = kernel.ops.back();
    for (uint32_t op : kernel.ops) {
      copies += track == Track::Backward && isCopy[op];
      if (view.traits[op].computeIntensive)
        main = op;
    }
    std::string name = shortOpName(view.ops[main]);
    if (kernel.ops.size() > 1)
      name += " +" + std::to_string(kernel.ops.size() - 1);
    ps += kernel.ps;
    complete(name, track, begin, now(), copies != 0,
             [&](llvm::json::OStream &json) {
               describe(json, kernel, main);
               json.attribute("recomputed_ops", copies);
             });
  }

  /// What a kernel runs: its main value, its place in the model, its ops.
  void describe(llvm::json::OStream &json, const Kernel &kernel,
                uint32_t main) {
    if (view.numResults(main)) {
      uint32_t value = view.resultBegin[main];
      attribute(json, "value", "%" + view.name(value));
      attribute(json, "type", typeText(view.types[value]));
      json.attribute("bytes", result.bytes[value]);
      if (!modules.empty())
        attribute(json, "module", modules[value]);
    }
    attribute(json, "source", wholePlaceText(view.ops[main]->getLoc()));
    json.attribute("model_ps", std::llround(kernel.ps));
    SmallVector<Operation *> ops;
    for (uint32_t op : kernel.ops)
      ops.push_back(view.ops[op]);
    keys.write(json, ops);
  }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  int64_t bytesAt(uint32_t at) const {
    int64_t sum = 0;
    for (int64_t bytes : live[at])
      sum += bytes;
    return sum;
  }

  /// Counters now: of the step from `begin` to `end` with most live bytes.
  void writeMemory(uint32_t begin, uint32_t end) {
    uint32_t most = begin;
    for (uint32_t at = begin; at < end; ++at)
      if (bytesAt(at) > bytesAt(most))
        most = at;
    event("arena bytes in use", "C", Track::Memory, now(),
          [&](llvm::json::OStream &json) {
            json.attributeObject(
                "args", [&] { json.attribute("bytes", bytesAt(most)); });
          });
    event("bytes by use", "C", Track::Memory, now(),
          [&](llvm::json::OStream &json) {
            json.attributeObject("args", [&] {
              for (unsigned kind = 0; kind < kLiveKinds; ++kind)
                json.attribute(cutback::spell(static_cast<LiveKind>(kind)),
                               live[most][kind]);
            });
          });
    // The last counters repeat those of the last launch, if that ends the step.
    if (begin <= peak && peak < end && !isPeakMarked)
      markPeak();
  }

  void markPeak() {
    isPeakMarked = true;
    event("peak", "i", peak < timeline.forwardOps ? Forward : Backward, now(),
          [&](llvm::json::OStream &json) {
            json.attribute("s", "p");
            json.attributeObject("args", [&] {
              json.attribute("bytes", bytesAt(peak));
              attribute(json, "value", "%" + view.name(timeline.valueOf[peak]));
            });
          });
  }

  const PartitionResult &result;
  const GraphView &view;
  StringRef title;
  StepKeys keys;
  StepTimeline timeline;
  std::vector<std::array<int64_t, kLiveKinds>> live; ///< by step and kind
  std::vector<std::string> modules;                  ///< by value, or empty
  std::vector<uint8_t> isCopy;                       ///< by op
  uint32_t peak = 0;                                 ///< a step
  uint32_t step = 0; ///< the first that has not run yet
  double ps = 0;     ///< since the step began
  bool isPeakMarked = false;
};

} // namespace

std::optional<std::string> traceJson(const PartitionResult &result,
                                     const ReportExtras &extras,
                                     StringRef title, std::string &error) {
  Device device;
  if (!Device::load(result.options.device, device, error))
    return std::nullopt;
  return TraceWriter(result, extras, title).run(device);
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a step needs on its device: its arguments, which lie outside of the
// arena, the arena, and the state of the optimizer where one is planned.
// Workspaces of libraries and what an allocator leaves unused are not known and
// not counted, so a step that fits narrowly may not fit after all; one that
// does not fit here never does.
//
// The advice goes from what no plan changes to what another plan may change:
// arguments alone, arguments with gradients, a plan for the least peak.

#include "cutback/Report/DeviceFit.h"

#include "cutback/Analysis/Device.h"
#include "cutback/Autograd/Differentiate.h"
#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Support/Text.h"
#include "cutback/Training/Update.h"

#include <algorithm>

using namespace mlir;

namespace cutback {

/// Bytes of the distinct storages of `values` that `seen` does not hold yet.
static int64_t addStorages(const PartitionResult &result,
                           llvm::ArrayRef<uint32_t> values,
                           std::vector<uint8_t> &seen) {
  int64_t bytes = 0;
  for (uint32_t value : values) {
    uint32_t storage = result.storage[value];
    if (!seen[storage])
      bytes += result.bytes[storage];
    seen[storage] = 1;
  }
  return bytes;
}

std::string shortDeviceName(llvm::StringRef device) {
  std::string name = Device::displayName(device);
  return name.substr(name.rfind('/') + 1);
}

/// A tensor of a state, and a sum of gradients, is as large as its parameter;
/// parameters that are tied share theirs.
static int64_t stateBytesOf(const PartitionResult &result,
                            const Optimizer &optimizer) {
  const GraphView &view = result.view;
  joint::GraphOp graph = view.graph;
  FailureOr<std::vector<unsigned>> tied = findTied(graph);
  std::vector<uint8_t> seen(view.numArgs, 0);
  int64_t bytes = 0;
  for (int32_t argument : graph.getOutput().getGradientOf()) {
    if (argument < 0 ||
        graph.getRole(argument).getKind() != joint::RoleKind::Param)
      continue;
    unsigned first = succeeded(tied) ? (*tied)[argument] : argument;
    bytes += seen[first] ? 0 : result.bytes[first];
    seen[first] = 1;
  }
  return bytes * static_cast<int64_t>(optimizer.stateNames().size() +
                                      optimizer.accumulates);
}

/// Splits the arguments into those that a step has without an optimizer, and
/// the states of one whose update is in the backward.
static void splitArguments(joint::GraphOp graph,
                           std::vector<uint32_t> &arguments,
                           std::vector<uint32_t> &states) {
  bool isInside = joint::hasInsideUpdate(graph);
  for (uint32_t arg = 0, n = graph.getNumArguments(); arg < n; ++arg) {
    auto attr = graph.getArgAttrOfType<StringAttr>(arg, interpreter::kFileName);
    llvm::StringRef name = isInside && attr ? attr.getValue() : "";
    if (!name.starts_with(joint::kOptimizerPrefix))
      arguments.push_back(arg);
    else if (name != kLearningRate && name != kStepNumber)
      states.push_back(arg);
  }
}

DeviceFit fitDevice(const PartitionResult &result) {
  const GraphView &view = result.view;
  DeviceFit fit;
  Device device;
  std::string error;
  if (Device::load(result.options.device, device, error))
    fit.memoryBytes = device.memoryBytes;
  fit.device = Device::displayName(result.options.device);
  fit.peakBytes = result.peak.bytes;
  fit.isLeastPeak = result.options.minimize == Minimize::Peak;
  if (result.update)
    if (std::optional<Optimizer> optimizer =
            readOptimizer(result.update->options, error)) {
      fit.hasOptimizer = true;
      fit.stateBytes = stateBytesOf(result, *optimizer);
    }
  std::vector<uint8_t> seen(view.numValues(), 0);
  std::vector<uint32_t> arguments, states;
  splitArguments(view.graph, arguments, states);
  fit.stateBytes += addStorages(result, states, seen);
  fit.residentBytes = addStorages(result, arguments, seen);
  fit.floorBytes = addStorages(result, view.forwardResults(), seen);
  fit.floorBytes += addStorages(result, view.gradients(), seen);
  return fit;
}

/// Memory of devices is told in GiB.
static std::string gibibytes(int64_t bytes) {
  constexpr int64_t gib = int64_t(1) << 30;
  return bytes < gib ? formatBytes(bytes)
                     : formatFixed(double(bytes) / double(gib), 1) + " GiB";
}

std::string fitText(const DeviceFit &fit, int64_t leastPeak) {
  if (fit.memoryBytes == 0)
    return "";
  std::string device =
      shortDeviceName(fit.device) + " (" + gibibytes(fit.memoryBytes) + ")";
  std::string needs =
      gibibytes(fit.neededBytes()) + ": parameters and inputs " +
      gibibytes(fit.residentBytes) +
      (fit.hasOptimizer ? ", the optimizer's state " + gibibytes(fit.stateBytes)
                        : "") +
      ", the step " + gibibytes(fit.peakBytes);
  if (fit.fits())
    return "fits on " + device + ": needs " + needs +
           (fit.hasOptimizer ? ""
                             : "; without the optimizer's state (give "
                               "--optimizer)");
  std::string out = "does not fit on " + device + ": needs " + needs + "; ";
  if (fit.residentBytes > fit.memoryBytes)
    return out + "parameters and inputs alone do not fit: shard the model, or "
                 "give another --device";
  int64_t outside = fit.residentBytes + fit.stateBytes;
  if (outside > fit.memoryBytes)
    return out + "parameters, inputs and the optimizer's state alone do not "
                 "fit: shard the model, or give another --device";
  if (outside + fit.floorBytes > fit.memoryBytes)
    return out + "parameters, inputs and gradients alone do not fit, whatever "
                 "is saved: shard the model, or give another --device";
  if (leastPeak <= fit.memoryBytes - outside)
    return out + "another strategy of the table fits; --minimize=peak or a "
                 "--byte-price may fit and take less time";
  if (!fit.isLeastPeak)
    return out + "try --minimize=peak, else a smaller batch or another "
                 "--device";
  return out + "this is the least peak that was found: take a smaller batch, "
               "or another --device";
}

} // namespace cutback

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a step fits into the memory of its device, and what of it no plan
// changes.
#ifndef CUTBACK_REPORT_DEVICEFIT_H
#define CUTBACK_REPORT_DEVICEFIT_H

#include "cutback/Planner/PartitionPipeline.h"

#include <string>

namespace cutback {

/// All in bytes.
struct DeviceFit {
  std::string device;
  int64_t memoryBytes = 0; ///< of the device; 0 where it is not known
  /// Arguments: parameters, buffers, inputs; there during the whole step.
  int64_t residentBytes = 0;
  /// What the optimizer keeps between steps, where one is planned.
  int64_t stateBytes = 0;
  bool hasOptimizer = false;
  /// Forward results and gradients: at the end of the step they are there at
  /// once, whatever was saved, so no plan has a smaller peak.
  int64_t floorBytes = 0;
  int64_t peakBytes = 0;
  bool isLeastPeak = false; ///< the plan is what `--minimize=peak` gives

  int64_t neededBytes() const { return residentBytes + stateBytes + peakBytes; }
  bool fits() const { return memoryBytes == 0 || neededBytes() <= memoryBytes; }
  /// Within a hundredth, the peak is what no plan changes.
  bool isAtFloor() const {
    return floorBytes > 0 && peakBytes - floorBytes <= floorBytes / 100;
  }
};

/// How reports call a device: a name, or the file name of a description.
std::string shortDeviceName(llvm::StringRef device);

/// Of the plan on the device of its options.
DeviceFit fitDevice(const PartitionResult &result);

/// "fits", or that it does not and what to do next; empty where the memory of
/// the device is not known. `leastPeak` is the smallest peak among the plans
/// that a report compares.
std::string fitText(const DeviceFit &fit, int64_t leastPeak);

} // namespace cutback

#endif // CUTBACK_REPORT_DEVICEFIT_H

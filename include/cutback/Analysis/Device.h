// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the roofline cost model knows of a device: data, never a probe.
#ifndef CUTBACK_ANALYSIS_DEVICE_H
#define CUTBACK_ANALYSIS_DEVICE_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace cutback {

/// Peak rates of a device. All times derived from it are picoseconds.
struct Device {
  std::string name;
  double bandwidth = 0; ///< bytes a picosecond
  double launchPs = 0;  ///< of one kernel
  double l2Bytes = 0;
  int64_t memoryBytes = 0; ///< of all its memory; 0 where it is not known
  /// FLOPs a picosecond, by element type; narrower types fall back to f32.
  struct Rates {
    double f64 = 0, f32 = 0, f16 = 0, bf16 = 0, f8 = 0;
    double of(mlir::Type element) const;
  };
  Rates matrix, vector;

  /// A built-in device by name, or a description with the fields of
  /// lib/Analysis/Devices/devices.json: a .json file, or the object itself. On
  /// failure `error` says what is wrong and which names there are.
  static bool load(llvm::StringRef text, Device &device, std::string &error);

  /// Replaces the name of a .json file by the object in it, in one line, with
  /// the name of the file as its `name`. Other texts stay as they are.
  static bool embed(std::string &text, std::string &error);

  /// How a report calls the device of `text`, which `load` takes.
  static std::string displayName(llvm::StringRef text);
};

} // namespace cutback

#endif // CUTBACK_ANALYSIS_DEVICE_H

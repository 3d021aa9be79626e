// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads device descriptions. The built-in ones are devices.json, which the
// build turns into a string; a user's file has one such object. Rates are
// vendors' published peaks without sparsity, f32 matrix rates those of TF32;
// memory is what the name on the box says. The cpu has no memory size: it is
// that of whoever's machine it is.
//
// Units are chosen so that all times come out in picoseconds: 1 TFLOP/s is one
// FLOP a picosecond, 1 GB/s a thousandth of a byte. A rate that a description
// lacks is that of f32. Nothing is ever measured on the machine at hand.

#include "cutback/Analysis/Device.h"

#include "cutback/Support/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace cutback;

static const char *const kDevices =
#include "Devices.inc"
    ;

double Device::Rates::of(mlir::Type element) const {
  if (auto complex = llvm::dyn_cast<mlir::ComplexType>(element))
    return of(complex.getElementType());
  double rate = 0;
  if (element.isF64())
    rate = f64;
  else if (element.isF16())
    rate = f16;
  else if (element.isBF16())
    rate = bf16;
  else if (element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 8 &&
           llvm::isa<mlir::FloatType>(element))
    rate = f8;
  return rate > 0 ? rate : f32;
}

/// GFLOP/s, GB/s and TFLOP/s to units a picosecond.
static bool readRates(const llvm::json::Object *object, Device::Rates &rates) {
  if (!object)
    return false;
  auto get = [&](llvm::StringRef key) {
    return object->getNumber(key).value_or(0); // 1 TFLOP/s = 1 FLOP/ps
  };
  rates = {get("f64"), get("f32"), get("f16"), get("bf16"), get("f8")};
  return rates.f32 > 0;
}

static bool readDevice(const llvm::json::Object &object, Device &device,
                       std::string &error) {
  std::optional<double> bandwidth = object.getNumber("bandwidth_gb_s");
  std::optional<double> launch = object.getNumber("launch_us");
  if (!bandwidth || *bandwidth <= 0) {
    error = "device needs a positive 'bandwidth_gb_s'";
    return false;
  }
  if (!readRates(object.getObject("matrix_tflop_s"), device.matrix) ||
      !readRates(object.getObject("vector_tflop_s"), device.vector)) {
    error = "device needs 'matrix_tflop_s' and 'vector_tflop_s', each with a "
            "positive 'f32'";
    return false;
  }
  device.bandwidth = *bandwidth * 1e-3;
  device.launchPs = std::max(0.0, launch.value_or(0)) * 1e6;
  std::optional<double> memory = object.getNumber("memory_gib");
  if (memory && !(*memory > 0 && *memory < 1e6)) {
    error = "device has a 'memory_gib' that is no size of memory; leave it out "
            "where it is not known";
    return false;
  }
  if (memory)
    device.memoryBytes = static_cast<int64_t>(*memory * 1073741824.0);
  device.l2Bytes = object.getNumber("l2_mib").value_or(0) * 1048576;
  return true;
}

/// The built-in devices by name; parsed once in a process.
static const llvm::json::Object &builtinDevices() {
  static const llvm::json::Value devices =
      llvm::cantFail(llvm::json::parse(kDevices));
  return *devices.getAsObject();
}

static bool loadFile(llvm::StringRef path, Device &device, std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    error = llvm::formatv("cannot read device file '{0}': {1}", path,
                          buffer.getError().message());
    return false;
  }
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse(withoutByteOrderMark((*buffer)->getBuffer()));
  if (!json) {
    error = llvm::formatv("device file '{0}' is not JSON: {1}", path,
                          llvm::toString(json.takeError()));
    return false;
  }
  const llvm::json::Object *object = json->getAsObject();
  if (!object) {
    error = llvm::formatv("device file '{0}' holds no object", path);
    return false;
  }
  return readDevice(*object, device, error);
}

bool Device::load(llvm::StringRef nameOrPath, Device &device,
                  std::string &error) {
  device.name = nameOrPath.str();
  if (nameOrPath.ends_with(".json"))
    return loadFile(nameOrPath, device, error);
  const llvm::json::Object &devices = builtinDevices();
  if (const llvm::json::Object *object = devices.getObject(nameOrPath))
    return readDevice(*object, device, error);
  std::vector<std::string> names;
  for (const auto &entry : devices)
    names.push_back(entry.first.str());
  llvm::sort(names);
  error = llvm::formatv("unknown device '{0}'; there are {1}, or give a "
                        ".json file",
                        nameOrPath, llvm::join(names, ", "));
  return false;
}

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
//
// A stored plan must not depend on a file somewhere else, so a file's content
// can be taken into the option itself, in one line with the file's name.

#include "cutback/Analysis/Device.h"

#include "cutback/Support/Json.h"
#include "cutback/Support/SafeFile.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>

using namespace cutback;
using llvm::ArrayRef, llvm::StringRef;

/// Rates beyond these bounds are no device's, and their times no numbers.
static constexpr double kLeast = 1e-9, kMost = 1e12;

static StringRef toRef(std::string_view text) {
  return {text.data(), text.size()};
}

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

/// A number that times can be made of: what is missing is 0, what is none is
/// NaN.
static double readNumber(JsonValue value) {
  if (!value)
    return 0;
  std::optional<double> number = value.asDouble();
  return value.isNumber() && number && std::abs(*number) <= kMost
             ? *number
             : std::numeric_limits<double>::quiet_NaN();
}

/// The entry of `value` that is none of a device's, or nothing.
static std::string readRates(JsonValue value, Device::Rates &rates) {
  std::pair<const char *, double &> fields[] = {{"f64", rates.f64},
                                                {"f32", rates.f32},
                                                {"f16", rates.f16},
                                                {"bf16", rates.bf16},
                                                {"f8", rates.f8}};
  for (auto [name, rate] : fields) {
    rate = readNumber(value.find(name)); // 1 TFLOP/s = 1 FLOP/ps
    if (!(rate >= 0) || (rate > 0 && rate < kLeast))
      return name;
  }
  return rates.f32 > 0 ? "" : "f32";
}

/// GFLOP/s, GB/s and TFLOP/s to units a picosecond.
static bool readDevice(JsonValue object, Device &device, std::string &error) {
  double bandwidth = readNumber(object.find("bandwidth_gb_s"));
  if (!(bandwidth >= kLeast)) {
    error = "device needs a positive 'bandwidth_gb_s'";
    return false;
  }
  if (!object.find("matrix_tflop_s").isObject() ||
      !object.find("vector_tflop_s").isObject()) {
    error = "device needs 'matrix_tflop_s' and 'vector_tflop_s', each with a "
            "positive 'f32'";
    return false;
  }
  for (auto [name, rates] : {std::pair{"matrix_tflop_s", &device.matrix},
                             std::pair{"vector_tflop_s", &device.vector}})
    if (std::string wrong = readRates(object.find(name), *rates);
        !wrong.empty()) {
      error =
          llvm::formatv("device needs a positive '{0}' in '{1}'", wrong, name);
      return false;
    }
  double launch = readNumber(object.find("launch_us"));
  double l2 = readNumber(object.find("l2_mib"));
  if (std::isnan(launch) || std::isnan(l2)) {
    error = "device needs numbers for 'launch_us' and 'l2_mib'";
    return false;
  }
  double memory = readNumber(object.find("memory_gib"));
  if (object.find("memory_gib") && !(memory > 0 && memory < 1e6)) {
    error = "device has a 'memory_gib' that is no size of memory; leave it out "
            "where it is not known";
    return false;
  }
  device.memoryBytes = static_cast<int64_t>(memory * 1073741824.0);
  device.bandwidth = bandwidth * 1e-3;
  device.launchPs = std::max(0.0, launch) * 1e6;
  device.l2Bytes = std::max(0.0, l2) * 1048576;
  return true;
}

/// The built-in devices by name; parsed once in a process.
static JsonValue builtinDevices() {
  static const JsonDocument devices = [] {
    JsonDocument document;
    (void)JsonDocument::parse(kDevices, document);
    return document;
  }();
  return devices.root();
}

/// Parses a description; `error` begins with `what` if it is none.
static bool parseDescription(StringRef text, JsonDocument &document,
                             const std::string &what, std::string &error) {
  if (std::optional<JsonError> wrong =
          JsonDocument::parse({text.data(), text.size()}, document)) {
    error = llvm::formatv("{0} is not JSON: at byte {1}: {2}", what,
                          wrong->offset, wrong->message);
    return false;
  }
  if (!document.root().isObject()) {
    error = what + " holds no object";
    return false;
  }
  return true;
}

/// The file at `path`, with what is wrong in `error`.
static std::unique_ptr<llvm::MemoryBuffer> readFile(StringRef path,
                                                    std::string &error) {
  if (isDevice(path.str())) {
    error = llvm::formatv("device file '{0}' is no file", path);
    return nullptr;
  }
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (buffer)
    return std::move(*buffer);
  error = llvm::formatv("cannot read device file '{0}': {1}", path,
                        buffer.getError().message());
  return nullptr;
}

static std::string nameFile(StringRef path) {
  return ("device file '" + path + "'").str();
}

static bool isDescription(StringRef text) { return text.starts_with("{"); }

static bool loadDescription(StringRef text, Device &device,
                            std::string &error) {
  JsonDocument document;
  if (!parseDescription(text, document, "the description of the device", error))
    return false;
  device.name = document.root().find("name").decoded();
  return readDevice(document.root(), device, error);
}

static bool loadFile(StringRef path, Device &device, std::string &error) {
  std::unique_ptr<llvm::MemoryBuffer> buffer = readFile(path, error);
  JsonDocument document;
  return buffer &&
         parseDescription(buffer->getBuffer(), document, nameFile(path),
                          error) &&
         readDevice(document.root(), device, error);
}

bool Device::load(StringRef text, Device &device, std::string &error) {
  if (isDescription(text))
    return loadDescription(text, device, error);
  device.name = text.str();
  if (text.ends_with(".json"))
    return loadFile(text, device, error);
  JsonValue devices = builtinDevices();
  if (JsonValue found = devices.find({text.data(), text.size()}))
    return readDevice(found, device, error);
  std::vector<std::string> names;
  bool isName = true;
  for (JsonValue entry : devices.children()) {
    if (isName)
      names.push_back(entry.decoded());
    isName = !isName;
  }
  llvm::sort(names);
  error = llvm::formatv("unknown device '{0}'; there are {1}, or give a "
                        ".json file",
                        text, llvm::join(names, ", "));
  return false;
}

std::string Device::displayName(StringRef text) {
  Device device;
  std::string error;
  return isDescription(text) && loadDescription(text, device, error)
             ? device.name
             : text.str();
}

bool Device::embed(std::string &text, std::string &error) {
  if (!StringRef(text).ends_with(".json"))
    return true;
  std::unique_ptr<llvm::MemoryBuffer> buffer = readFile(text, error);
  JsonDocument document;
  if (!buffer ||
      !parseDescription(buffer->getBuffer(), document, nameFile(text), error))
    return false;
  std::string out;
  llvm::raw_string_ostream os(out);
  llvm::json::OStream json(os);
  auto copyNumbers = [&](JsonValue from, ArrayRef<const char *> names) {
    for (const char *name : names)
      if (JsonValue value = from.find(name); value.isNumber())
        json.attributeBegin(name), json.rawValue(toRef(value.raw())),
            json.attributeEnd();
  };
  json.object([&] {
    json.attribute("name", llvm::json::fixUTF8(text));
    copyNumbers(document.root(),
                {"bandwidth_gb_s", "launch_us", "l2_mib", "memory_gib"});
    for (const char *rates : {"matrix_tflop_s", "vector_tflop_s"})
      json.attributeObject(rates, [&] {
        copyNumbers(document.root().find(rates),
                    {"f64", "f32", "f16", "bf16", "f8"});
      });
  });
  Device device;
  if (!readDevice(document.root(), device, error))
    return false;
  text = std::move(out);
  return true;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How reports call ops, places and types: short, and as a person who wrote the
// model would. An op is called as in the framework, without namespace and
// overload; a place by the last component of its file, since training code
// rarely has two files of one name and full paths push everything else off the
// screen. Pages and traces have room for whole paths; IR keeps the full forms.

#include "cutback/Analysis/Names.h"

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cutback {

static void findPlace(Location location, SourcePlace &place) {
  if (auto line = dyn_cast<FileLineColLoc>(location)) {
    if (place.line == 0) {
      place.file = line.getFilename().getValue();
      place.line = line.getLine();
    }
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    if (place.function.empty())
      place.function = name.getName().getValue();
    findPlace(name.getChildLoc(), place);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    findPlace(call.getCallee(), place);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      findPlace(part, place);
  }
}

std::optional<SourcePlace> findSourcePlace(Location location) {
  SourcePlace place;
  findPlace(location, place);
  if (place.line == 0)
    return std::nullopt;
  return place;
}

static std::string lineText(const SourcePlace &place, StringRef file) {
  if (file.starts_with("<module ")) // a module of PyTorch's own has no lines
    return file.str();
  return file.str() + ":" + std::to_string(place.line);
}

static std::string withFunction(std::string text, const SourcePlace &place) {
  if (!text.empty() && !place.function.empty())
    text += " in " + place.function.str();
  return text;
}

std::string lineText(Location location) {
  std::optional<SourcePlace> place = findSourcePlace(location);
  if (!place)
    return "";
  StringRef last = place->file.rsplit('/').second;
  return lineText(*place, last.empty() ? place->file : last);
}

std::string placeText(Location location) {
  std::optional<SourcePlace> place = findSourcePlace(location);
  return place ? withFunction(lineText(location), *place) : "";
}

std::string wholePlaceText(Location location) {
  std::optional<SourcePlace> place = findSourcePlace(location);
  return place ? withFunction(lineText(*place, place->file), *place) : "";
}

std::string shortOpName(Operation *op) {
  if (auto opaque = dyn_cast<joint::OpaqueOp>(op))
    return opaque.getCallee().str();
  if (auto call = dyn_cast<joint::FrameworkCallOpInterface>(op)) {
    StringRef packet = call.getPacketName();
    return packet.rsplit('.').second.empty() ? packet.str()
                                             : packet.rsplit('.').second.str();
  }
  return op->getName().stripDialect().str();
}

std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    os << type;
    return text;
  }
  os << tensor.getElementType() << "[";
  llvm::interleave(
      tensor.getShape(),
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          os << "?";
        else
          os << size;
      },
      [&] { os << "x"; });
  os << "]";
  return text;
}

} // namespace cutback

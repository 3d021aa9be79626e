// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Safetensors: eight bytes with the length of the header (little-endian), the
// header, the data. The header is a JSON object; each member but
// `__metadata__` is a tensor: {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [begin, end]}, counted from the end of the header. The data
// has no gaps: readers refuse them.
//
// Nothing in the file is trusted: lengths, offsets and sizes are checked
// against the file before an entry refers to them.

#include "cutback/Support/TensorHeader.h"

#include "cutback/Support/Json.h"

#include <algorithm>
#include <cstring>
#include <set>

using namespace cutback;

uint64_t cutback::bytesOfTensorType(std::string_view dtype) {
  static constexpr std::pair<const char *, uint64_t> kTypes[] = {
      {"F64", 8},     {"F32", 4}, {"F16", 2},  {"BF16", 2}, {"F8_E4M3", 1},
      {"F8_E5M2", 1}, {"I64", 8}, {"I32", 4},  {"I16", 2},  {"I8", 1},
      {"U64", 8},     {"U32", 4}, {"U16", 2},  {"U8", 1},   {"BOOL", 1},
      {"C32", 4},     {"C64", 8}, {"C128", 16}};
  for (auto [name, bytes] : kTypes)
    if (dtype == name)
      return bytes;
  return 0;
}

static uint64_t readLength(std::string_view bytes) {
  uint64_t length = 0;
  for (unsigned i = 0; i < 8; ++i)
    length |= uint64_t(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return length;
}

/// Sizes of `shape` and the bytes that they take; false if they are no sizes
/// or more than `limit` bytes.
static bool readShape(JsonValue shape, uint64_t itemBytes, uint64_t limit,
                      TensorEntry &tensor) {
  if (!shape.isArray())
    return false;
  uint64_t bytes = itemBytes;
  bool isEmpty = false;
  for (JsonValue entry : shape.children()) {
    std::optional<int64_t> size = entry.asInt();
    if (!size || *size < 0)
      return false;
    tensor.sizes.push_back(*size);
    isEmpty |= *size == 0;
    auto factor = static_cast<uint64_t>(std::max<int64_t>(*size, 1));
    bytes = bytes > limit / factor ? limit + 1 : bytes * factor;
  }
  tensor.bytes = isEmpty ? 0 : bytes;
  return tensor.bytes <= limit;
}

/// Reads one member of the header; returns what is wrong with it.
static std::string readEntry(JsonValue entry, uint64_t dataBegin,
                             uint64_t dataBytes, TensorEntry &tensor) {
  tensor.dtype = entry.find("dtype").raw();
  uint64_t itemBytes = bytesOfTensorType(tensor.dtype);
  if (!itemBytes)
    return "has the unknown dtype '" + tensor.dtype + "'";
  if (!readShape(entry.find("shape"), itemBytes, dataBytes, tensor))
    return "has no shape that fits the file";
  std::vector<int64_t> places;
  JsonValue offsets = entry.find("data_offsets");
  for (JsonValue place : offsets.children())
    places.push_back(place.asInt().value_or(-1));
  if (places.size() != 2 || places[0] < 0 || places[1] < places[0] ||
      static_cast<uint64_t>(places[1]) > dataBytes)
    return "lies outside of the file";
  auto given = static_cast<uint64_t>(places[1] - places[0]);
  if (given != tensor.bytes)
    return "has " + std::to_string(given) +
           " bytes of data where its shape needs " +
           std::to_string(tensor.bytes);
  tensor.begin = dataBegin + static_cast<uint64_t>(places[0]);
  return "";
}

/// Tensors lie one behind the other, from the begin of the data to its end.
static std::string checkPlaces(const std::vector<TensorEntry> &tensors,
                               uint64_t begin, uint64_t end) {
  std::vector<const TensorEntry *> order;
  for (const TensorEntry &tensor : tensors)
    order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const auto *a, const auto *b) {
    return std::pair(a->begin, a->bytes) < std::pair(b->begin, b->bytes);
  });
  for (const TensorEntry *tensor : order) {
    if (tensor->begin < begin)
      return "tensor '" + tensor->name + "' overlaps another one";
    if (tensor->begin > begin)
      return "tensor '" + tensor->name + "' begins " +
             std::to_string(tensor->begin - begin) +
             " bytes behind the end of the one before it";
    begin += tensor->bytes;
  }
  return begin == end ? ""
                      : "there are " + std::to_string(end - begin) +
                            " bytes behind the last tensor";
}

std::string cutback::readTensorHeader(std::string_view file,
                                      std::vector<TensorEntry> &tensors) {
  if (file.size() < 8)
    return "no safetensors file: it is shorter than a header";
  uint64_t length = readLength(file);
  if (length > file.size() - 8)
    return "no safetensors file: its header would have " +
           std::to_string(length) + " bytes";
  JsonDocument header;
  if (auto error = JsonDocument::parse(file.substr(8, length), header))
    return "the header is no JSON at byte " +
           std::to_string(8 + error->offset) + ": " + error->message;
  if (!header.root().isObject())
    return "the header is no JSON object";

  std::set<std::string> names;
  JsonValue key;
  for (JsonValue child : header.root().children()) {
    if (!key) {
      key = child;
      continue;
    }
    TensorEntry tensor;
    tensor.name = key.decoded();
    key = JsonValue();
    if (tensor.name == "__metadata__")
      continue;
    std::string what =
        readEntry(child, 8 + length, file.size() - 8 - length, tensor);
    if (what.empty() && !names.insert(tensor.name).second)
      what = "occurs twice";
    if (!what.empty())
      return "tensor '" + tensor.name + "' " + what;
    tensors.push_back(std::move(tensor));
  }
  return checkPlaces(tensors, 8 + length, file.size());
}

std::string cutback::writeTensorHeader(std::vector<TensorEntry> &tensors) {
  std::string text = "{";
  uint64_t place = 0;
  for (TensorEntry &tensor : tensors) {
    tensor.bytes = bytesOfTensorType(tensor.dtype);
    std::string shape;
    for (int64_t size : tensor.sizes) {
      tensor.bytes *= static_cast<uint64_t>(size);
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    }
    tensor.begin = place;
    place += tensor.bytes;
    text += (text.size() > 1 ? "," : "") + quoteJson(tensor.name) +
            R"(:{"dtype":")" + tensor.dtype + R"(","shape":[)" + shape +
            R"(],"data_offsets":[)" + std::to_string(tensor.begin) + "," +
            std::to_string(place) + "]}";
  }
  text += "}";
  // So that data whose types are no wider than 16 bytes is aligned.
  text.append((16 - text.size() % 16) % 16 + 8, ' ');
  std::string length(8, '\0');
  for (unsigned i = 0; i < 8; ++i)
    length[i] = static_cast<char>(text.size() >> (8 * i) & 0xFF);
  for (TensorEntry &tensor : tensors)
    tensor.begin += 8 + text.size();
  return length + text;
}

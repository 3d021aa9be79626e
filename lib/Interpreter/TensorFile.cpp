// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Safetensors: eight bytes with the length of the header (little-endian), the
// header, the data. The header is a JSON object; each member but
// `__metadata__` is a tensor: {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [begin, end]}, counted from the end of the header. The data
// has no gaps: readers refuse them.
//
// Nothing in the file is trusted: lengths, offsets and sizes are checked
// against the file before a tensor refers to them.

#include "cutback/Interpreter/TensorFile.h"

#include "cutback/Support/Json.h"
#include "cutback/Support/SafeFile.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cutback;
using namespace cutback::interpreter;

static constexpr std::pair<const char *, DType> kTypes[] = {
    {"F64", DType::F64},          {"F32", DType::F32},
    {"F16", DType::F16},          {"BF16", DType::BF16},
    {"F8_E4M3", DType::F8E4M3FN}, {"F8_E5M2", DType::F8E5M2},
    {"I64", DType::I64},          {"I32", DType::I32},
    {"I16", DType::I16},          {"I8", DType::I8},
    {"U64", DType::U64},          {"U32", DType::U32},
    {"U16", DType::U16},          {"U8", DType::U8},
    {"BOOL", DType::Bool},        {"C32", DType::C32},
    {"C64", DType::C64},          {"C128", DType::C128},
};

static std::optional<DType> typeOfName(std::string_view name) {
  for (auto [text, type] : kTypes)
    if (name == text)
      return type;
  return std::nullopt;
}

static const char *nameOfType(DType type) {
  for (auto [text, listed] : kTypes)
    if (type == listed)
      return text;
  return "";
}

/// Sizes of `shape` and the bytes that they take; false if they are no sizes
/// or more than `limit` bytes.
static bool readShape(JsonValue shape, DType type, uint64_t limit,
                      SmallVectorImpl<int64_t> &sizes, uint64_t &bytes) {
  if (!shape.isArray())
    return false;
  bytes = static_cast<uint64_t>(itemSize(type));
  bool isEmpty = false;
  for (JsonValue entry : shape.children()) {
    std::optional<int64_t> size = entry.asInt();
    if (!size || *size < 0)
      return false;
    sizes.push_back(*size);
    isEmpty |= *size == 0;
    uint64_t factor = static_cast<uint64_t>(std::max<int64_t>(*size, 1));
    bytes = bytes > limit / factor ? limit + 1 : bytes * factor;
  }
  if (isEmpty)
    bytes = 0;
  return bytes <= limit;
}

/// Reads one member of the header; returns what is wrong with it.
static std::string readTensor(JsonValue entry,
                              const std::shared_ptr<Storage> &storage,
                              uint64_t dataBegin, Tensor &tensor) {
  uint64_t dataBytes = static_cast<uint64_t>(storage->bytes) - dataBegin;
  std::string_view typeName = entry.find("dtype").raw();
  std::optional<DType> type = typeOfName(typeName);
  if (!type)
    return "has the unknown dtype '" + std::string(typeName) + "'";
  SmallVector<int64_t> sizes;
  uint64_t bytes = 0;
  if (!readShape(entry.find("shape"), *type, dataBytes, sizes, bytes))
    return "has no shape that fits the file";
  SmallVector<int64_t, 2> places;
  JsonValue offsets = entry.find("data_offsets");
  for (JsonValue place : offsets.children())
    places.push_back(place.asInt().value_or(-1));
  if (places.size() != 2 || places[0] < 0 || places[1] < places[0] ||
      static_cast<uint64_t>(places[1]) > dataBytes)
    return "lies outside of the file";
  if (static_cast<uint64_t>(places[1] - places[0]) != bytes)
    return "has " + std::to_string(places[1] - places[0]) +
           " bytes of data where its shape needs " + std::to_string(bytes);
  tensor = Tensor::on(storage, static_cast<int64_t>(dataBegin) + places[0],
                      *type, sizes);
  return "";
}

std::string TensorFile::read(const std::shared_ptr<MemoryBuffer> &buffer,
                             const std::string &path, TensorFile &file) {
  auto fail = [&](const std::string &what) { return path + ": " + what; };
  StringRef bytes = buffer->getBuffer();
  if (bytes.size() < 8)
    return fail("no safetensors file: it is shorter than a header");
  uint64_t length = support::endian::read64le(bytes.data());
  if (length > bytes.size() - 8)
    return fail("no safetensors file: its header would have " +
                std::to_string(length) + " bytes");
  JsonDocument header;
  std::string_view text(bytes.data() + 8, length);
  if (std::optional<JsonError> error = JsonDocument::parse(text, header))
    return fail("the header is no JSON at byte " +
                std::to_string(8 + error->offset) + ": " + error->message);
  if (!header.root().isObject())
    return fail("the header is no JSON object");

  auto storage = std::make_shared<Storage>();
  storage->data = const_cast<char *>(bytes.data());
  storage->bytes = static_cast<int64_t>(bytes.size());
  storage->writable = false;
  storage->owner = buffer;
  file.byName.clear();
  JsonValue key;
  for (JsonValue child : header.root().children()) {
    if (!key) {
      key = child;
      continue;
    }
    std::string name = key.decoded();
    key = JsonValue();
    if (name == "__metadata__")
      continue;
    Tensor tensor;
    std::string what = readTensor(child, storage, 8 + length, tensor);
    if (!what.empty())
      return fail("tensor '" + name + "' " + what);
    if (!file.byName.emplace(name, std::move(tensor)).second)
      return fail("tensor '" + name + "' occurs twice");
  }
  return "";
}

std::string TensorFile::open(const std::string &path, TensorFile &file) {
  if (isDevice(path))
    return path + ": this is a device, not a file";
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return path + ": " + buffer.getError().message();
  return read(std::shared_ptr<MemoryBuffer>(std::move(*buffer)), path, file);
}

const Tensor *TensorFile::find(StringRef name) const {
  auto found = byName.find(std::string_view(name.data(), name.size()));
  return found == byName.end() ? nullptr : &found->second;
}

static void writeHeader(raw_ostream &out, ArrayRef<const NamedTensor *> list) {
  json::OStream writer(out);
  int64_t place = 0;
  writer.objectBegin();
  for (const NamedTensor *entry : list) {
    const Tensor &tensor = entry->second;
    int64_t end = place + tensor.numel() * itemSize(tensor.type);
    writer.attributeObject(entry->first, [&] {
      writer.attribute("dtype", nameOfType(tensor.type));
      writer.attributeArray("shape", [&] {
        for (int64_t size : tensor.sizes)
          writer.value(size);
      });
      writer.attributeArray("data_offsets", [&] {
        writer.value(place);
        writer.value(end);
      });
    });
    place = end;
  }
  writer.objectEnd();
}

std::string interpreter::encodeTensors(ArrayRef<NamedTensor> tensors) {
  // Large items first: so each tensor's data is aligned to its items.
  SmallVector<const NamedTensor *> list;
  for (const NamedTensor &entry : tensors)
    list.push_back(&entry);
  llvm::stable_sort(list, [](const NamedTensor *a, const NamedTensor *b) {
    return itemSize(a->second.type) > itemSize(b->second.type);
  });
  std::string header;
  raw_string_ostream out(header);
  writeHeader(out, list);
  header.append(alignTo(header.size(), 16) - header.size() + 8, ' ');

  std::string file(8, '\0');
  support::endian::write64le(file.data(), header.size());
  file += header;
  for (const NamedTensor *entry : list) {
    Tensor dense = entry->second.contiguous();
    file.append(dense.data(), dense.numel() * itemSize(dense.type));
  }
  return file;
}

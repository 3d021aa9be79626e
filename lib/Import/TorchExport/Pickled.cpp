// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch.save writes a zip archive: `X/data.pkl` says what there is, and each
// storage is a file `X/data/KEY`. torch.export used it for weights up to torch
// 2.8. The pickle is read by a machine that knows tensors and nothing else
// (Unpickler.h); storages are used where they lie.

#include "Pickled.h"

#include "Fields.h"
#include "Unpickler.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

namespace {
constexpr char kSaveAgain[] =
    "only tensors are read, never other objects; save the program again with "
    "plain tensors, or with torch 2.9 or later, which stores them raw";
} // namespace

/// "FloatStorage" → "f32"; empty if it is none.
static StringRef elementOf(StringRef storageType) {
  return llvm::StringSwitch<StringRef>(storageType)
      .Case("FloatStorage", "f32")
      .Case("DoubleStorage", "f64")
      .Case("HalfStorage", "f16")
      .Case("BFloat16Storage", "bf16")
      .Case("LongStorage", "i64")
      .Case("IntStorage", "i32")
      .Case("ShortStorage", "i16")
      .Case("CharStorage", "i8")
      .Case("ByteStorage", "u8")
      .Case("BoolStorage", "b8")
      .Case("ComplexFloatStorage", "c64")
      .Case("ComplexDoubleStorage", "c128")
      .Default("");
}

namespace {

class PickledReader {
public:
  PickledReader(Archive &inner, bool isConstant, WeightFile &file)
      : inner(inner), isConstant(isConstant), file(file), types(inner.context) {
  }

  LogicalResult read();

private:
  LogicalResult add(const ZipEntry &pickle, StringRef name,
                    const PickledTensor &from);

  Archive &inner;
  bool isConstant;
  WeightFile &file;
  fx::TypeTable types;
  std::string root;
  llvm::StringMap<unsigned> numbers;                    ///< payloads by key
  std::vector<std::shared_ptr<WeightStorage>> storages; ///< by payload
};

} // namespace

LogicalResult PickledReader::read() {
  const ZipEntry *pickle = nullptr;
  for (const ZipEntry &entry : inner.entries()) {
    StringRef path = ref(entry.name);
    bool isPickle = path == "data.pkl" ||
                    (path.ends_with("/data.pkl") && path.count('/') == 1);
    if (isPickle && !pickle) {
      pickle = &entry;
      root = path.drop_back(strlen("data.pkl")).str();
    }
  }
  if (!pickle)
    return inner.fail("there is no data.pkl in this archive of torch.save",
                      kDamaged);
  if (const ZipEntry *order = inner.find(root + "byteorder")) {
    FailureOr<StringRef> text = inner.content(*order, false);
    if (failed(text))
      return failure();
    if (text->trim() != "little")
      return inner.fail(*order, "these tensors are not little-endian",
                        "save the program on a little-endian machine");
  }
  FailureOr<StringRef> text = inner.content(*pickle, true);
  if (failed(text))
    return failure();
  Unpickler unpickler(*text);
  if (std::optional<PickleError> error = unpickler.run())
    return inner.fail(*pickle,
                      Twine(error->message) + " (at byte " +
                          Twine(error->offset) + ")",
                      kSaveAgain);
  for (const auto &[name, tensor] : unpickler.tensors)
    if (failed(add(*pickle, name, tensor)))
      return failure();
  return success();
}

LogicalResult PickledReader::add(const ZipEntry &pickle, StringRef name,
                                 const PickledTensor &from) {
  WeightTensor tensor;
  tensor.name = name.str();
  tensor.elementType = types.elementType(elementOf(from.storageType));
  if (!tensor.elementType)
    return inner.fail(pickle,
                      "tensor " + fx::quoted(name) + " has a storage " +
                          fx::quoted(from.storageType) + " of unknown elements",
                      kSaveAgain);
  tensor.sizes = from.sizes;
  tensor.strides = from.strides;
  tensor.offset = from.offset;
  tensor.isConstant = isConstant;
  std::string path = root + "data/" + from.storageKey.str();
  const ZipEntry *entry = inner.find(path);
  if (!entry)
    return inner.fail(pickle,
                      "tensor " + fx::quoted(name) + " is in " +
                          fx::quoted(path) +
                          ", which the archive does not have",
                      kDamaged);
  auto [it, isNew] = numbers.try_emplace(from.storageKey, numbers.size());
  tensor.payload = it->second * 2 + isConstant;
  if (isNew)
    storages.push_back(inner.storage(*entry));
  tensor.storage = storages[it->second];
  if (std::string why = checkInside(tensor); !why.empty())
    return inner.fail(pickle, "tensor " + fx::quoted(name) + " " + why,
                      kDamaged);
  if (!file.add(std::move(tensor)))
    return inner.fail(pickle, "tensor " + fx::quoted(name) + " is stored twice",
                      kDamaged);
  return success();
}

LogicalResult pt2::readPickled(Archive &archive, const ZipEntry &entry,
                               bool isConstant, WeightFile &file) {
  FailureOr<StringRef> bytes = archive.content(entry, false);
  if (failed(bytes))
    return failure();
  Archive inner(archive.context, archive.nameOf(entry));
  if (!bytes->starts_with("PK"))
    return archive.fail(entry, "this is not an archive of torch.save",
                        kSaveAgain);
  LogicalResult result = failure();
  if (succeeded(inner.open(*bytes)))
    result = PickledReader(inner, isConstant, file).read();
  for (std::unique_ptr<std::string> &unpacked : inner.unpacked)
    archive.unpacked.push_back(std::move(unpacked));
  return result;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Since torch 2.9 tensors lie raw in the archive, with a directory in JSON:
//
//   data/weights/NAME_weights_config.json      {"config": {FQN: payload}}
//   data/constants/NAME_constants_config.json  the same
//   payload := {path_name, is_param, use_pickle, tensor_meta}
//
// A file holds a whole storage; each name is a view of it by sizes, strides
// and offset, and several names may share one file. A file of no bytes is a
// program that was exported without data. Nothing is copied or unpacked: a
// tensor refers to the mapped file, and that it lies inside of it is checked
// here.

#include "Payloads.h"

#include "Pickled.h"
#include "Types.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

unsigned pt2::storedBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * storedBytes(complex.getElementType());
  if (type.isInteger(1))
    return 1;
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() / 8 : 0;
}

std::string pt2::checkInside(const WeightTensor &tensor) {
  if (!tensor.storage)
    return "";
  uint64_t bytes = tensor.storage->size();
  if (tensor.sizes.size() != tensor.strides.size())
    return "has " + std::to_string(tensor.sizes.size()) + " sizes and " +
           std::to_string(tensor.strides.size()) + " strides";
  int64_t last = tensor.offset;
  bool overflows = tensor.offset < 0;
  for (auto [size, stride] : llvm::zip(tensor.sizes, tensor.strides)) {
    if (size == 0)
      return "";
    int64_t reach = 0;
    overflows |= size < 0 || stride < 0 ||
                 __builtin_mul_overflow(size - 1, stride, &reach) ||
                 __builtin_add_overflow(last, reach, &last);
  }
  unsigned width = storedBytes(tensor.elementType);
  if (width == 0)
    return "has elements that are no bytes";
  if (overflows || static_cast<uint64_t>(last) >= bytes / width)
    return "does not lie inside of its storage of " + std::to_string(bytes) +
           " bytes";
  tensor.storage->noteUse((static_cast<uint64_t>(last) + 1) * width);
  return "";
}

namespace {

class ConfigReader {
public:
  ConfigReader(Archive &archive, const Package &package, WeightFile &file)
      : archive(archive), package(package), file(file), types(archive.context) {
  }

  /// Reads the directory in `entry`, of files in the folder `folder`.
  LogicalResult read(const ZipEntry &entry, StringRef folder, bool isConstant);

private:
  LogicalResult readTensor(Fields &fields, StringRef fqn, JsonValue payload);
  LogicalResult readMeta(Fields &fields, JsonValue meta, WeightTensor &tensor);

  Archive &archive;
  const Package &package;
  WeightFile &file;
  fx::TypeTable types;
  std::string folder;
  bool isConstant = false;
  llvm::StringMap<unsigned> numbers;                    ///< payloads by path
  std::vector<std::shared_ptr<WeightStorage>> storages; ///< by payload
};

} // namespace

LogicalResult ConfigReader::readMeta(Fields &fields, JsonValue meta,
                                     WeightTensor &tensor) {
  tensor.elementType =
      types.elementType(Types::elementName(meta.find("dtype")));
  if (!tensor.elementType)
    return fields.fail(meta, "this is not an element type that is known",
                       kNewer);
  auto number = [&](JsonValue value, int64_t &result) -> LogicalResult {
    FailureOr<Fields::Variant> variant = fields.variant(value);
    if (failed(variant))
      return failure();
    std::optional<int64_t> found = variant->value.asInt();
    if (variant->kind != "as_int" || !found)
      return fields.fail(value, "a stored tensor has a size that is no number",
                         kDamaged);
    result = *found;
    return success();
  };
  for (auto [key, list] : {std::pair("sizes", &tensor.sizes),
                           std::pair("strides", &tensor.strides)}) {
    FailureOr<JsonValue> array = fields.list(meta, key);
    if (failed(array))
      return failure();
    for (JsonValue entry : array->children())
      if (failed(number(entry, list->emplace_back())))
        return failure();
  }
  JsonValue offset = meta.find("storage_offset");
  return offset ? number(offset, tensor.offset) : success();
}

LogicalResult ConfigReader::readTensor(Fields &fields, StringRef fqn,
                                       JsonValue payload) {
  FailureOr<StringRef> path = fields.text(payload, "path_name");
  if (failed(path))
    return failure();
  JsonValue meta = payload.find("tensor_meta");
  if (payload.find("use_pickle").kind() == JsonKind::True)
    return fields.fail(payload,
                       "tensor " + fx::quoted(fqn) + " is a tensor subclass",
                       "its class is not known; convert it to a plain tensor "
                       "before the export");
  if (!meta.isObject())
    return success(); // a custom object; an error where it is used
  WeightTensor tensor;
  tensor.name = fqn.str();
  tensor.isConstant = isConstant;
  if (failed(readMeta(fields, meta, tensor)))
    return failure();
  const ZipEntry *entry = archive.find(folder + *path);
  if (!entry)
    return fields.fail(payload,
                       "tensor " + fx::quoted(fqn) + " is in " +
                           fx::quoted(folder + path->str()) +
                           ", which the archive does not have",
                       kDamaged);
  auto [it, isNew] = numbers.try_emplace(*path, storages.size());
  if (isNew)
    storages.push_back(archive.storage(*entry));
  tensor.payload = it->second * 2 + isConstant;
  tensor.storage = storages[it->second];
  if (std::string why = checkInside(tensor); !why.empty())
    return fields.fail(payload, "tensor " + fx::quoted(fqn) + " " + why,
                       kDamaged);
  if (!file.add(std::move(tensor)))
    return fields.fail(
        payload, "tensor " + fx::quoted(fqn) + " is stored twice", kDamaged);
  return success();
}

LogicalResult ConfigReader::read(const ZipEntry &entry, StringRef inFolder,
                                 bool constant) {
  folder = (package.root + inFolder).str();
  isConstant = constant;
  numbers.clear();
  storages.clear();
  FailureOr<StringRef> text = archive.content(entry, true);
  if (failed(text))
    return failure();
  std::string name = archive.nameOf(entry);
  Fields fields(archive.context, fx::SourceText(name, *text, *text));
  JsonDocument document;
  if (failed(fields.parse(document)))
    return failure();
  FailureOr<JsonValue> config =
      fields.get(document.root(), "config", JsonKind::Object);
  if (failed(config))
    return failure();
  auto range = config->children();
  for (auto it = range.begin(); it != range.end(); ++it) {
    StringRef fqn = fields.text(*it);
    ++it;
    if (failed(readTensor(fields, fqn, *it)))
      return failure();
  }
  return success();
}

/// The first of `paths` below the root that the archive has.
static const ZipEntry *findFirst(const Archive &archive, const Package &package,
                                 ArrayRef<std::string> paths) {
  for (const std::string &path : paths)
    if (const ZipEntry *entry = archive.find(package.root + path))
      return entry;
  return nullptr;
}

FailureOr<std::shared_ptr<WeightFile>>
pt2::readPayloads(Archive &archive, const Package &package, StringRef model) {
  auto file = std::make_shared<WeightFile>();
  std::string name = model.str();
  struct Source {
    StringRef folder;
    std::vector<std::string> configs, pickles;
    bool isConstant;
  };
  const Source sources[] = {
      {"data/weights/",
       {"data/weights/" + name + "_weights_config.json",
        "data/weights/" + name + "_model_param_config.json"},
       {"data/weights/" + name + ".pt", "serialized_state_dict.pt",
        "serialized_state_dict.json"},
       false},
      {"data/constants/",
       {"data/constants/" + name + "_constants_config.json",
        "data/constants/" + name + "_model_constants_config.json"},
       {"data/constants/" + name + ".pt", "serialized_constants.pt",
        "serialized_constants.json"},
       true}};
  for (const Source &source : sources) {
    bool &listed =
        source.isConstant ? file->listsConstants : file->listsWeights;
    if (const ZipEntry *config = findFirst(archive, package, source.configs)) {
      listed = true;
      ConfigReader reader(archive, package, *file);
      if (failed(reader.read(*config, source.folder, source.isConstant)))
        return failure();
    } else if (const ZipEntry *pickle =
                   findFirst(archive, package, source.pickles)) {
      listed = true;
      if (failed(readPickled(archive, *pickle, source.isConstant, *file)))
        return failure();
    }
  }
  for (std::unique_ptr<std::string> &bytes : archive.unpacked)
    file->keep(std::move(bytes));
  archive.unpacked.clear();
  if (!file->listsWeights && !file->listsConstants)
    return std::shared_ptr<WeightFile>();
  return file;
}

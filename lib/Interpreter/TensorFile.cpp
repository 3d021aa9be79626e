// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors on the bytes of a file, whose header Support reads and checks: names,
// sizes and places are known to fit the file before a tensor refers to it. The
// file is mapped; all its tensors share one storage, which keeps the mapping.
// What is written is made in memory first, so that a file is written whole or
// not at all.

#include "cutback/Interpreter/TensorFile.h"

#include "cutback/Support/SafeFile.h"
#include "cutback/Support/TensorHeader.h"

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

std::string TensorFile::read(const std::shared_ptr<MemoryBuffer> &buffer,
                             const std::string &path, TensorFile &file) {
  auto fail = [&](const std::string &what) { return path + ": " + what; };
  StringRef bytes = buffer->getBuffer();
  std::vector<TensorEntry> entries;
  if (std::string what = readTensorHeader(bytes, entries); !what.empty())
    return fail(what);

  auto storage = std::make_shared<Storage>();
  storage->data = const_cast<char *>(bytes.data());
  storage->bytes = static_cast<int64_t>(bytes.size());
  storage->writable = false;
  storage->owner = buffer;
  file.byName.clear();
  for (const TensorEntry &entry : entries)
    file.byName.emplace(entry.name,
                        Tensor::on(storage, static_cast<int64_t>(entry.begin),
                                   *typeOfName(entry.dtype), entry.sizes));
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

std::string interpreter::encodeTensors(ArrayRef<NamedTensor> tensors) {
  // Large items first: so each tensor's data is aligned to its items.
  SmallVector<const NamedTensor *> list;
  for (const NamedTensor &entry : tensors)
    list.push_back(&entry);
  llvm::stable_sort(list, [](const NamedTensor *a, const NamedTensor *b) {
    return itemSize(a->second.type) > itemSize(b->second.type);
  });
  std::vector<TensorEntry> entries;
  for (const NamedTensor *entry : list) {
    TensorEntry &added = entries.emplace_back();
    added.name = entry->first;
    added.dtype = nameOfType(entry->second.type);
    added.sizes.assign(entry->second.sizes.begin(), entry->second.sizes.end());
  }
  std::string file = writeTensorHeader(entries);
  for (const NamedTensor *entry : list) {
    Tensor dense = entry->second.contiguous();
    file.append(dense.data(), dense.numel() * itemSize(dense.type));
  }
  return file;
}

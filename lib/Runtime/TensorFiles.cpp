// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are mapped, privately: who changes a tensor changes memory alone, and
// pages without a reader are never loaded. A file is written from memory,
// after one header, and only the header is looked at when it is read: a name
// costs a look-up.

#include "cutback/Runtime/TensorFiles.h"

#include <algorithm>

using namespace cutback;

std::string cutback::fileTypeOf(std::string_view dtype) {
  if (dtype == "i1")
    return "BOOL";
  if (dtype.substr(0, 8) == "complex<") // bits of both parts
    return "C" + std::to_string(8 * bytesOfType(dtype));
  std::string word(dtype);
  if (dtype.substr(0, 2) == "ui") // "ui8" is "U8"
    word = "u" + word.substr(2);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return word;
}

std::string cutback::typeOfFileType(std::string_view word) {
  for (const char *dtype : {"f64", "f32", "f16", "bf16", "i64", "i32", "i16",
                            "i8", "ui8", "i1", "complex<f32>", "complex<f64>"})
    if (fileTypeOf(dtype) == word)
      return dtype;
  return "";
}

std::string TensorFiles::add(const std::string &path, const Check &check) {
  MappedFile &file = mapped.emplace_back();
  std::string what = file.open(path);
  std::vector<TensorEntry> entries;
  std::string_view text = file.bytes();
  if (what.empty() && check)
    what = check(text);
  if (what.empty())
    what = readTensorHeader(text, entries);
  if (!what.empty())
    return path + ": " + what;
  for (TensorEntry &entry : entries) {
    const char *at = text.data() + entry.begin;
    std::string name = entry.name;
    byName.try_emplace(std::move(name), Tensor{std::move(entry), at});
  }
  return "";
}

const TensorFiles::Tensor *TensorFiles::find(std::string_view name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &found->second;
}

std::string cutback::encodeTensorFile(
    std::vector<std::pair<ArtifactTensor, std::string_view>> &tensors) {
  std::stable_sort(tensors.begin(), tensors.end(), [](auto &a, auto &b) {
    return bytesOfType(a.first.dtype) > bytesOfType(b.first.dtype);
  });
  std::vector<TensorEntry> entries;
  for (const auto &[tensor, bytes] : tensors) {
    TensorEntry &entry = entries.emplace_back();
    entry.name = tensor.name;
    entry.dtype = fileTypeOf(tensor.dtype);
    entry.sizes = tensor.sizes;
  }
  std::string file = writeTensorHeader(entries);
  for (const auto &[tensor, bytes] : tensors)
    file += bytes;
  return file;
}

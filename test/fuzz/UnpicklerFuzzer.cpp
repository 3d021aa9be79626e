// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pickles: whatever the bytes, reading ends with a message at an offset inside
// them, or with tensors that are described by what stands in them: names and
// keys point into the text, and no list is longer than a tensor has dimensions.

#include "../../lib/Import/TorchExport/Unpickler.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace cutback::pt2;

static bool isInside(llvm::StringRef part, llvm::StringRef text) {
  return part.empty() ||
         (part.begin() >= text.begin() && part.end() <= text.end());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  Unpickler reader(text);
  if (auto error = reader.run()) {
    if (error->offset > size || error->message.empty())
      std::abort();
    return 0;
  }
  for (const auto &[name, tensor] : reader.tensors)
    if (!isInside(name, text) || !isInside(tensor.storageType, text) ||
        !isInside(tensor.storageKey, text) || tensor.sizes.size() > 64 ||
        tensor.strides.size() > 64)
      std::abort();
  return 0;
}

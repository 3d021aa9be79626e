// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Archives: whatever the bytes, reading ends with entries or a message.

#include "cutback/Support/Zip.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  cutback::ZipArchive archive;
  if (auto error = cutback::ZipArchive::read(bytes, archive)) {
    if (error->message.empty() || error->next.empty())
      std::abort();
    return 0;
  }
  for (const cutback::ZipEntry &entry : archive.entries()) {
    if (entry.size > (1u << 24))
      continue;
    std::string buffer;
    std::string_view content;
    auto error = archive.content(entry, /*checked=*/true, buffer, content);
    if (!error && content.size() != entry.size)
      std::abort();
  }
  return 0;
}

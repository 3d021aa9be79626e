// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON: a text that parses can be walked, and every accessor answers.

#include "cutback/Support/Json.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace cutback;

static size_t visit(JsonValue value, unsigned depth) {
  size_t count = 1;
  (void)value.asInt();
  (void)value.asDouble();
  if (value.isString())
    (void)value.decoded();
  if (depth > 600)
    std::abort(); // the parser limits nesting
  for (JsonValue child : value.children())
    count += visit(child, depth + 1);
  return count;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  JsonDocument document;
  if (auto error = JsonDocument::parse(text, document)) {
    if (error->offset > size || error->message.empty())
      std::abort();
    return 0;
  }
  (void)visit(document.root(), 0);
  (void)document.root().find("key");
  return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of the text of a manifest.
#ifndef CUTBACK_LIB_RUNTIME_MEMBERTEXT_H
#define CUTBACK_LIB_RUNTIME_MEMBERTEXT_H

#include "cutback/Runtime/Artifact.h"
#include "cutback/Support/Json.h"

#include <cstdio>
#include <string>

namespace cutback {

/// JSON text with one entry of a list a line.
class MemberText {
public:
  template <typename List> static std::string numbers(const List &list) {
    std::string out = "[";
    for (int64_t number : list)
      out += (out.size() == 1 ? "" : ", ") + std::to_string(number);
    return out + "]";
  }
  static std::string real(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }
  static std::string tensor(const ArtifactTensor &tensor) {
    return "\"name\": " + quoteJson(tensor.name) +
           ", \"dtype\": " + quoteJson(tensor.dtype) +
           ", \"sizes\": " + numbers(tensor.sizes);
  }
  template <typename List, typename Fn>
  static std::string list(const List &list, Fn text) {
    std::string out = "[";
    for (const auto &entry : list)
      out += (&entry == &list.front() ? "\n    " : ",\n    ") + text(entry);
    return out + (list.empty() ? "]" : "\n  ]");
  }
};

} // namespace cutback

#endif // CUTBACK_LIB_RUNTIME_MEMBERTEXT_H

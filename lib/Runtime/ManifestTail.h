// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a manifest ends.
#ifndef CUTBACK_LIB_RUNTIME_MANIFESTTAIL_H
#define CUTBACK_LIB_RUNTIME_MANIFESTTAIL_H

#include "cutback/Support/Checksum.h"

namespace cutback {

/// What follows `text`, all of a manifest but its end: the checksum of it.
inline std::string manifestTail(std::string_view text) {
  return ",\n  \"checksum\": \"" + checksumOf(text) + "\"\n}\n";
}

/// Whether `text` ends with the tail of what is before it.
inline bool hasManifestTail(std::string_view text) {
  size_t length = manifestTail("").size();
  return text.size() >= length &&
         text.substr(text.size() - length) ==
             manifestTail(text.substr(0, text.size() - length));
}

} // namespace cutback

#endif // CUTBACK_LIB_RUNTIME_MANIFESTTAIL_H

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

} // namespace cutback

#endif // CUTBACK_LIB_RUNTIME_MANIFESTTAIL_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A checksum of bytes: against damage, not against attacks.
#ifndef CUTBACK_SUPPORT_CHECKSUM_H
#define CUTBACK_SUPPORT_CHECKSUM_H

#include <cstdint>
#include <string>
#include <string_view>

namespace cutback {

/// XXH64 with seed 0. Linear, several GB/s.
uint64_t hashBytes(std::string_view bytes);

/// The same as 16 hexadecimal digits.
std::string checksumOf(std::string_view bytes);

} // namespace cutback

#endif // CUTBACK_SUPPORT_CHECKSUM_H

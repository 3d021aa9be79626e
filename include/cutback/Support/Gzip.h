// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes packed as a gzip file.
#ifndef CUTBACK_SUPPORT_GZIP_H
#define CUTBACK_SUPPORT_GZIP_H

#include <string>
#include <string_view>

namespace cutback {

/// `bytes` as a gzip file without name and time: equal bytes give equal files.
std::string gzip(std::string_view bytes);

} // namespace cutback

#endif // CUTBACK_SUPPORT_GZIP_H

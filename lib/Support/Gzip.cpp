// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs bytes for a reader that unpacks gzip by itself, such as a viewer of
// traces.
//
// zlib writes the gzip format itself, with a header that names no file and no
// time, when it is asked for 16 more window bits than it has. It counts in 32
// bits, so what is longer goes in and out by pieces.

#include "cutback/Support/Gzip.h"

#include <algorithm>
#include <zlib.h>

namespace cutback {

std::string gzip(std::string_view bytes) {
  constexpr int kGzip = 16, kMemory = 9;
  constexpr size_t kStep = size_t(1) << 18;
  z_stream stream{};
  // Fails on wrong arguments, and for want of memory, as any allocation.
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                   MAX_WBITS + kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    return "";
  std::string out, buffer(kStep, '\0');
  int status = Z_OK;
  for (size_t taken = 0; status == Z_OK;) {
    if (stream.avail_in == 0) {
      stream.avail_in =
          static_cast<uInt>(std::min(kStep, bytes.size() - taken));
      stream.next_in =
          reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data() + taken));
      taken += stream.avail_in;
    }
    stream.avail_out = static_cast<uInt>(buffer.size());
    stream.next_out = reinterpret_cast<Bytef *>(buffer.data());
    status = deflate(&stream, taken == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    out.append(buffer, 0, buffer.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

} // namespace cutback

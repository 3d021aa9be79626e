// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Zip archives in memory, read by their central directory.
#ifndef CUTBACK_SUPPORT_ZIP_H
#define CUTBACK_SUPPORT_ZIP_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cutback {

/// Where in the archive, what is wrong, and what to do.
struct ZipError {
  uint64_t offset = 0;
  std::string message, next;
};

struct ZipEntry {
  std::string_view name;
  /// The bytes in the archive; the content itself if it is stored.
  std::string_view data;
  uint64_t size = 0; ///< of the content
  uint32_t crc = 0;
  bool isDeflated = false;
};

/// The directory of an archive. Entries refer to the archive's memory.
class ZipArchive {
public:
  /// Reads the directory of `file`. Only the central directory is trusted;
  /// what it says is checked against the file: every entry's bytes are there,
  /// no two overlap, no name occurs twice or leaves the archive. Limits: a
  /// million entries; content of a compressed entry 4 GiB. O(n log n).
  static std::optional<ZipError> read(std::string_view file,
                                      ZipArchive &archive);

  const std::vector<ZipEntry> &entries() const { return list; }
  const ZipEntry *find(std::string_view name) const;

  /// The content of `entry`: in place if it is stored, else inflated into
  /// `buffer`, which grows as the content comes and never beyond the announced
  /// size. `checked` compares its checksum.
  std::optional<ZipError> content(const ZipEntry &entry, bool checked,
                                  std::string &buffer,
                                  std::string_view &result) const;

private:
  friend class ZipReader;
  std::string_view file;
  std::vector<ZipEntry> list;
  std::unordered_map<std::string_view, size_t> byName;
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_ZIP_H

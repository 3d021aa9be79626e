// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes zip archives for tests, the way PyTorch does: stored entries, their
// data aligned to 64 bytes, sizes in the central directory alone.
#ifndef CUTBACK_TEST_UNIT_SUPPORT_ZIPWRITER_H
#define CUTBACK_TEST_UNIT_SUPPORT_ZIPWRITER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include <zlib.h>

namespace cutback::test {

class ZipWriter {
public:
  struct Entry {
    std::string name, data;
    uint32_t method = 0, flags = 0x0808, crc = 0;
    uint64_t size = 0, compressed = 0, header = 0;
    std::string localName; ///< if another one stands in front of the bytes
  };

  /// What the directory says may be changed between `add` and `str`.
  Entry &add(std::string_view name, std::string_view data,
             bool deflated = false) {
    Entry entry;
    entry.name = entry.localName = name;
    entry.size = data.size();
    entry.crc = static_cast<uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef *>(data.data()), data.size()));
    entry.data = data;
    if (deflated) {
      entry.method = 8;
      entry.data = deflate(data);
    }
    entry.compressed = entry.data.size();
    entries.push_back(entry);
    return entries.back();
  }

  std::string str() {
    std::string out;
    for (Entry &entry : entries)
      writeLocal(out, entry);
    uint64_t directory = out.size();
    for (const Entry &entry : entries)
      writeCentral(out, entry);
    uint64_t size = out.size() - directory;
    if (zip64)
      writeEnd64(out, directory, size);
    out += "PK\5\6";
    number(out, 0, 4);
    number(out, zip64 ? 0xffff : count(), 2);
    number(out, zip64 ? 0xffff : count(), 2);
    number(out, zip64 ? 0xffffffff : size, 4);
    number(out, zip64 ? 0xffffffff : directory, 4);
    number(out, comment.size(), 2);
    return out + comment;
  }

  std::vector<Entry> entries;
  bool zip64 = false;
  std::string comment;
  uint64_t extraCount = 0; ///< entries that are said to be there and are not

private:
  static void number(std::string &out, uint64_t value, unsigned bytes) {
    // Fields may be wider than the number.
    for (unsigned i = 0; i < bytes; ++i)
      out += i < 8 ? static_cast<char>(value >> (8 * i)) : '\0';
  }
  uint64_t count() const { return entries.size() + extraCount; }

  static std::string deflate(std::string_view data) {
    std::string out(compressBound(data.size()) + 16, '\0');
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef *>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    ::deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }

  static void writeLocal(std::string &out, Entry &entry) {
    entry.header = out.size();
    size_t padding = 64 - (out.size() + 30 + entry.localName.size() + 4) % 64;
    out += "PK\3\4";
    number(out, 20, 2);
    number(out, entry.flags, 2);
    number(out, entry.method, 2);
    number(out, 0, 16); // time, checksum, sizes: only the directory has them
    number(out, entry.localName.size(), 2);
    number(out, padding + 4, 2);
    out += entry.localName + "FB";
    number(out, padding, 2);
    out += std::string(padding, 'Z') + entry.data;
  }

  void writeCentral(std::string &out, const Entry &entry) const {
    out += "PK\1\2";
    number(out, 20, 2);
    number(out, 20, 2);
    number(out, entry.flags, 2);
    number(out, entry.method, 2);
    number(out, 0, 4);
    number(out, entry.crc, 4);
    number(out, zip64 ? 0xffffffff : entry.compressed, 4);
    number(out, zip64 ? 0xffffffff : entry.size, 4);
    number(out, entry.name.size(), 2);
    number(out, zip64 ? 28 : 0, 2);
    number(out, 0, 10);
    number(out, zip64 ? 0xffffffff : entry.header, 4);
    out += entry.name;
    if (!zip64)
      return;
    number(out, 1, 2);
    number(out, 24, 2);
    number(out, entry.size, 8);
    number(out, entry.compressed, 8);
    number(out, entry.header, 8);
  }

  void writeEnd64(std::string &out, uint64_t directory, uint64_t size) const {
    uint64_t at = out.size();
    out += "PK\6\6";
    number(out, 44, 8);
    number(out, 0, 12);
    number(out, count(), 8);
    number(out, count(), 8);
    number(out, size, 8);
    number(out, directory, 8);
    out += "PK\6\7";
    number(out, 0, 4);
    number(out, at, 8);
    number(out, 1, 4);
  }
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_SUPPORT_ZIPWRITER_H

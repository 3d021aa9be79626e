// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A zip reader for files that nobody vouches for.
//
//   1. The end record is searched from the end of the file; behind it may be a
//      comment of its own length and nothing else. Where its numbers do not
//      fit, a locator in front of it leads to the 64-bit record.
//   2. The central directory gives name, sizes, method and place of each entry.
//      Local headers are only skipped: PyTorch leaves sizes out of them.
//   3. Nothing is believed: places are compared with the file's length, entries
//      with each other (those that overlap make a small file stand for a huge
//      one), names with each other and with paths that leave the archive.
//
// Stored content is used where it lies. Compressed content is inflated when it
// is asked for, into exactly the announced size: what gives less or more is
// refused, and memory is taken as the content comes.

#include "cutback/Support/Zip.h"

#include <algorithm>
#include <cstring>
#include <zlib.h>

using namespace cutback;

namespace {
constexpr uint64_t kMaxEntries = 1 << 20;
constexpr uint64_t kMaxInflated = uint64_t(1) << 32;
/// The most that deflate can do is 1,032 to one.
constexpr uint64_t kMaxRatio = 1100;
constexpr size_t kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56,
                 kCentralSize = 46, kLocalSize = 30;
constexpr char kAgain[] = "copy or export the file again";
constexpr char kNotOurs[] =
    "unpack it and pack it again with a plain zip program";

uint64_t load(const char *at, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = bytes; i-- > 0;)
    value = (value << 8) | static_cast<unsigned char>(at[i]);
  return value;
}

std::string quoted(std::string_view name) {
  std::string text = "'";
  for (char c : name.substr(0, 80))
    text += c < 0x20 || c == 0x7f ? '?' : c;
  return text + (name.size() > 80 ? "...'" : "'");
}

/// A path below the archive's root, as every honest writer makes them.
bool isSafeName(std::string_view name) {
  if (name.empty() || name.front() == '/' ||
      name.find('\\') != std::string_view::npos ||
      (name.size() > 1 && name[1] == ':'))
    return false;
  for (char c : name)
    if (static_cast<unsigned char>(c) < 0x20)
      return false;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..")
      return false;
    begin = end + 1;
  }
  return true;
}
} // namespace

namespace cutback {

class ZipReader {
public:
  ZipReader(std::string_view file, ZipArchive &archive)
      : file(file), archive(archive) {}

  std::optional<ZipError> run();

private:
  std::optional<ZipError> fail(uint64_t offset, std::string message,
                               const char *next = kAgain) const {
    return ZipError{offset, std::move(message), next};
  }
  uint64_t number(uint64_t offset, unsigned bytes) const {
    return load(file.data() + offset, bytes);
  }
  bool fits(uint64_t offset, uint64_t size) const {
    return offset <= file.size() && size <= file.size() - offset;
  }
  std::optional<ZipError> findEnd();
  std::optional<ZipError> readEnd64();
  std::optional<ZipError> readEntry(uint64_t &at);
  std::optional<ZipError> readZip64(std::string_view extra, uint64_t offset);
  std::optional<ZipError> locate();
  std::optional<ZipError> checkOverlap();

  struct Raw {
    std::string_view name;
    uint64_t compressed, size, header, at;
    uint32_t crc, method, flags;
    uint64_t data = 0;
  };

  std::string_view file;
  ZipArchive &archive;
  uint64_t end = 0, count = 0, directory = 0, directorySize = 0;
  Raw raw{};
  std::vector<std::pair<uint64_t, uint64_t>> ranges; ///< header, end of data
};

} // namespace cutback

std::optional<ZipError> ZipReader::findEnd() {
  if (file.size() < kEndSize)
    return fail(file.size(), "the archive is cut off: it has no directory");
  size_t first = file.size() - std::min<size_t>(file.size(), kEndSize + 0xffff);
  for (size_t at = file.size() - kEndSize + 1; at-- > first;)
    if (std::memcmp(file.data() + at, "PK\5\6", 4) == 0 &&
        number(at + 20, 2) == file.size() - at - kEndSize) {
      end = at;
      count = number(at + 10, 2);
      directorySize = number(at + 12, 4);
      directory = number(at + 16, 4);
      if (number(at + 4, 2) != number(at + 6, 2) || number(at + 8, 2) != count)
        return fail(at, "the archive is split over several files", kNotOurs);
      return std::nullopt;
    }
  return fail(file.size(), "the archive is cut off: it has no directory");
}

std::optional<ZipError> ZipReader::readEnd64() {
  if (count != 0xffff && directorySize != 0xffffffff && directory != 0xffffffff)
    return std::nullopt;
  if (end < kLocatorSize ||
      std::memcmp(file.data() + end - kLocatorSize, "PK\6\7", 4) != 0)
    return std::nullopt; // the numbers may be what they say
  uint64_t at = number(end - kLocatorSize + 8, 8);
  if (!fits(at, kEnd64Size) || std::memcmp(file.data() + at, "PK\6\6", 4) != 0)
    return fail(end - kLocatorSize,
                "the archive's 64-bit directory record is not where it is "
                "said to be");
  end = at;
  count = number(at + 32, 8);
  directorySize = number(at + 40, 8);
  directory = number(at + 48, 8);
  return std::nullopt;
}

/// Replaces the sizes that do not fit 32 bits by those of the extra field.
std::optional<ZipError> ZipReader::readZip64(std::string_view extra,
                                             uint64_t offset) {
  while (extra.size() >= 4) {
    uint64_t id = load(extra.begin(), 2), size = load(extra.begin() + 2, 2);
    extra.remove_prefix(4);
    if (size > extra.size())
      break;
    std::string_view field = extra.substr(0, size);
    extra.remove_prefix(size);
    if (id != 1)
      continue;
    for (uint64_t *value : {&raw.size, &raw.compressed, &raw.header}) {
      if (*value != 0xffffffff)
        continue;
      if (field.size() < 8)
        return fail(offset, "entry " + quoted(raw.name) +
                                " lacks a size of its 64-bit record");
      *value = load(field.begin(), 8);
      field.remove_prefix(8);
    }
    break;
  }
  return std::nullopt;
}

std::optional<ZipError> ZipReader::readEntry(uint64_t &at) {
  if (!fits(at, kCentralSize) || at + kCentralSize > end ||
      std::memcmp(file.data() + at, "PK\1\2", 4) != 0)
    return fail(at, "the archive's directory ends after " +
                        std::to_string(archive.list.size()) + " of " +
                        std::to_string(count) + " entries");
  uint64_t nameSize = number(at + 28, 2), extraSize = number(at + 30, 2),
           commentSize = number(at + 32, 2);
  uint64_t size = kCentralSize + nameSize + extraSize + commentSize;
  if (!fits(at, size) || at + size > end)
    return fail(at, "an entry of the archive's directory is cut off");
  raw = Raw();
  raw.at = at;
  raw.flags = number(at + 8, 2);
  raw.method = number(at + 10, 2);
  raw.crc = number(at + 16, 4);
  raw.compressed = number(at + 20, 4);
  raw.size = number(at + 24, 4);
  raw.header = number(at + 42, 4);
  raw.name = file.substr(at + kCentralSize, nameSize);
  if (auto error =
          readZip64(file.substr(at + kCentralSize + nameSize, extraSize), at))
    return error;
  at += size;
  return locate();
}

/// Finds the entry's bytes and adds it.
std::optional<ZipError> ZipReader::locate() {
  std::string name = quoted(raw.name);
  if (!isSafeName(raw.name))
    return fail(raw.at, "entry " + name + " has a name outside the archive",
                "do not use this file: no exporter writes such a name");
  if (raw.flags & 1)
    return fail(raw.at, "entry " + name + " is encrypted", kNotOurs);
  if (raw.method != 0 && raw.method != 8)
    return fail(raw.at,
                "entry " + name + " is packed by method " +
                    std::to_string(raw.method) + ", which is not read",
                kNotOurs);
  if (!fits(raw.header, kLocalSize) ||
      std::memcmp(file.data() + raw.header, "PK\3\4", 4) != 0)
    return fail(raw.at, "entry " + name + " is not where the directory says");
  uint64_t nameSize = number(raw.header + 26, 2);
  raw.data = raw.header + kLocalSize + nameSize + number(raw.header + 28, 2);
  if (!fits(raw.data, raw.compressed) || raw.data + raw.compressed > directory)
    return fail(raw.at, "entry " + name + " of " +
                            std::to_string(raw.compressed) +
                            " bytes goes beyond the archive's data");
  if (file.substr(raw.header + kLocalSize, nameSize) != raw.name)
    return fail(raw.header, "entry " + name +
                                " has another name in front of "
                                "its bytes");
  if (raw.method == 0 && raw.size != raw.compressed)
    return fail(raw.at, "entry " + name + " is stored and has two sizes, " +
                            std::to_string(raw.compressed) + " and " +
                            std::to_string(raw.size));
  if (raw.method == 8 &&
      (raw.size > kMaxInflated || raw.size / kMaxRatio > raw.compressed))
    return fail(raw.at,
                "entry " + name + " unpacks from " +
                    std::to_string(raw.compressed) + " to " +
                    std::to_string(raw.size) + " bytes",
                "do not use this file: no model compresses like this");
  if (!archive.byName.try_emplace(raw.name, archive.list.size()).second)
    return fail(raw.at, "entry " + name + " occurs twice",
                "do not use this file: no exporter writes a name twice");
  archive.list.push_back({raw.name, file.substr(raw.data, raw.compressed),
                          raw.size, raw.crc, raw.method == 8});
  ranges.emplace_back(raw.header, raw.data + raw.compressed);
  return std::nullopt;
}

std::optional<ZipError> ZipReader::checkOverlap() {
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return fail(ranges[i].first, "two entries share bytes",
                  "do not use this file: no exporter writes such an archive");
  return std::nullopt;
}

std::optional<ZipError> ZipReader::run() {
  if (auto error = findEnd())
    return error;
  if (auto error = readEnd64())
    return error;
  if (directory > end || directorySize > end - directory)
    return fail(end, "the archive's directory is not where it is said to be");
  if (count > kMaxEntries || count > directorySize / kCentralSize)
    return fail(end, "the archive says to have " + std::to_string(count) +
                         " entries, which its directory cannot hold");
  archive.list.reserve(count);
  archive.byName.reserve(count);
  uint64_t at = directory;
  for (uint64_t i = 0; i < count; ++i)
    if (auto error = readEntry(at))
      return error;
  return checkOverlap();
}

std::optional<ZipError> ZipArchive::read(std::string_view file,
                                         ZipArchive &archive) {
  archive.file = file;
  archive.list.clear();
  archive.byName.clear();
  return ZipReader(file, archive).run();
}

const ZipEntry *ZipArchive::find(std::string_view name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &list[it->second];
}

/// Inflates `data` into `out`; false unless it gives `size` bytes.
static bool inflateAll(std::string_view data, uint64_t size, std::string &out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(data.data()));
  size_t done = 0, taken = 0;
  int status = Z_OK;
  // zlib counts in 32 bits.
  constexpr size_t kStep = size_t(1) << 30;
  while (status == Z_OK) {
    if (done == out.size() && done < size)
      out.resize(std::min<uint64_t>(size, std::max(2 * done, 8 * data.size())));
    uInt in = static_cast<uInt>(std::min(kStep, data.size() - taken));
    uInt room = static_cast<uInt>(std::min(kStep, out.size() - done));
    stream.avail_in = in;
    stream.avail_out = room;
    stream.next_out = reinterpret_cast<Bytef *>(out.data() + done);
    status = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    done += room - stream.avail_out;
    if (status == Z_OK && in == stream.avail_in && room == stream.avail_out)
      break;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && done == size && taken == data.size();
}

std::optional<ZipError> ZipArchive::content(const ZipEntry &entry, bool checked,
                                            std::string &buffer,
                                            std::string_view &result) const {
  auto fail = [&](std::string message) {
    return ZipError{static_cast<uint64_t>(entry.data.data() - file.data()),
                    std::move(message), kAgain};
  };
  result = entry.data;
  if (entry.isDeflated) {
    buffer.clear();
    if (!inflateAll(entry.data, entry.size, buffer))
      return fail("entry " + quoted(entry.name) + " does not unpack to its " +
                  std::to_string(entry.size) + " bytes");
    result = buffer;
  }
  if (checked && crc32_z(0, reinterpret_cast<const Bytef *>(result.data()),
                         result.size()) != entry.crc)
    return fail("entry " + quoted(entry.name) + " does not have its checksum");
  return std::nullopt;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers, tables and near misses, as people read them.
#ifndef CUTBACK_SUPPORT_TEXT_H
#define CUTBACK_SUPPORT_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cutback {

/// 2587 → "2,587".
std::string formatCount(int64_t count);

/// `count` and its noun: "1 value", "2,587 values".
std::string formatCount(int64_t count, std::string_view noun);

/// The same with a plural of its own: "1 vertex", "2,587 vertices".
std::string formatCount(int64_t count, std::string_view one,
                        std::string_view many);

/// A value with `digits` digits behind the point and thousands separators:
/// (2256.04, 1) → "2,256.0".
std::string formatFixed(double value, int digits);

/// Bytes in the largest unit that leaves one digit before the point, up to
/// MiB: "12 B", "3.5 KiB", "252.0 MiB", "8,192.0 MiB". Larger than 100 GiB:
/// "131.0 GiB".
std::string formatBytes(int64_t bytes);

/// The unit for a whole column of byte counts, chosen by its largest entry.
struct ByteUnit {
  const char *name; ///< "MiB"
  int64_t bytes;    ///< 1 << 20
  std::string format(int64_t count) const;
};
ByteUnit byteUnitFor(int64_t largest);

/// A duration in picoseconds: "850 ps", "1.20 ns", "3.40 us", "1.02 ms",
/// "2.00 s".
std::string formatPicoseconds(double picoseconds);

/// The index of an element, by its number in row-major order, in a tensor of
/// `rank` sizes: "[3, 5]".
std::string formatIndex(const int64_t *sizes, size_t rank, int64_t number);

/// Text for XML; what that cannot hold becomes "?".
std::string escapeXml(std::string_view text);

/// Columns of text, padded to a common width. Widths count code points.
class TextTable {
public:
  enum Align { Left, Right };
  explicit TextTable(std::vector<Align> columns)
      : columns(std::move(columns)) {}
  /// Adds a row; missing cells are empty, cells beyond the columns are
  /// appended to the last one.
  void add(std::vector<std::string> cells);
  /// Cuts cells until rows behind no indent fit into `width` columns of the
  /// screen: those of the first named column, down to its least width, then
  /// those of the next.
  struct Least {
    size_t column, width;
  };
  void fit(size_t width, const std::vector<Least> &columns);
  /// Rows of `indent` spaces and cells two spaces apart, without spaces at
  /// the end of a line.
  std::string str(unsigned indent = 2) const;

private:
  std::vector<size_t> widths() const;

  std::vector<Align> columns;
  std::vector<std::vector<std::string>> rows;
};

/// How wide a screen is taken to be, in columns.
inline constexpr size_t kScreenWidth = 80;

/// `text` broken at spaces into lines of `kScreenWidth` columns, each ended.
/// The first begins with `title`, padded to `indent`, and the others with as
/// many spaces. A unit stays on the line of its number; a word that is too long
/// for a line has one of its own.
std::string wrapText(std::string_view title, std::string_view text,
                     size_t indent);

/// A line that may be too long: `wrapText` with its first word as the title.
std::string wrapLine(std::string_view line);

/// Code points of UTF-8 text.
size_t displayWidth(std::string_view text);

/// `text` cut to `width` code points, "…" at its end where it was cut.
std::string shorten(std::string_view text, size_t width);

/// `text` behind the byte order mark that some editors put in front of UTF-8.
std::string_view withoutByteOrderMark(std::string_view text);

/// Number of insertions, deletions, replacements and swaps of neighbours
/// between two strings, or `limit + 1` if there are more than `limit`.
unsigned editDistance(std::string_view a, std::string_view b, unsigned limit);

/// At most `count` of `candidates` that `name` may have meant, nearest first;
/// none that differs in more than a third of the name. Names that start with
/// `name` count as near.
std::vector<std::string>
nearestNames(std::string_view name,
             const std::vector<std::string_view> &candidates, size_t count);

} // namespace cutback

#endif // CUTBACK_SUPPORT_TEXT_H

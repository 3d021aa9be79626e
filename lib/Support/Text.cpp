// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formatting for reports and messages. Everything returns strings that do not
// depend on the locale, so that outputs are equal on all machines.
//
// Near misses are found by the Damerau-Levenshtein distance with a limit: rows
// whose best entry is over the limit end the search early, so that looking
// through some ten thousand value names stays in the low milliseconds.

#include "cutback/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace cutback {

/// Puts commas between groups of three of the digits at the start of `text`.
static std::string separated(const std::string &text) {
  size_t begin = !text.empty() && text[0] == '-' ? 1 : 0;
  size_t end = begin;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9')
    ++end;
  std::string out = text.substr(0, begin);
  for (size_t i = begin; i < end; ++i) {
    if (i != begin && (end - i) % 3 == 0)
      out += ',';
    out += text[i];
  }
  return out + text.substr(end);
}

std::string formatCount(int64_t count) {
  return separated(std::to_string(count));
}

std::string formatCount(int64_t count, std::string_view noun) {
  std::string out = formatCount(count) + " " + std::string(noun);
  return count == 1 ? out : out + "s";
}

std::string formatCount(int64_t count, std::string_view one,
                        std::string_view many) {
  return formatCount(count) + " " + std::string(count == 1 ? one : many);
}

std::string formatFixed(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return separated(buffer);
}

std::string ByteUnit::format(int64_t count) const {
  if (bytes == 1)
    return formatCount(count);
  return formatFixed(double(count) / double(bytes), 1);
}

ByteUnit byteUnitFor(int64_t largest) {
  largest = std::max(largest, -largest);
  if (largest < 1024)
    return {"B", 1};
  if (largest < 1024 * 1024)
    return {"KiB", 1024};
  if (largest < int64_t(100) << 30)
    return {"MiB", 1 << 20};
  return {"GiB", 1 << 30};
}

std::string formatBytes(int64_t bytes) {
  ByteUnit unit = byteUnitFor(bytes);
  return unit.format(bytes) + " " + unit.name;
}

std::string formatPicoseconds(double picoseconds) {
  double size = std::fabs(picoseconds);
  if (size < 0.5)
    return "0 s";
  if (size < 1e3)
    return formatFixed(picoseconds, 0) + " ps";
  if (size < 1e6)
    return formatFixed(picoseconds / 1e3, 2) + " ns";
  if (size < 1e9)
    return formatFixed(picoseconds / 1e6, 2) + " us";
  if (size < 1e12)
    return formatFixed(picoseconds / 1e9, 2) + " ms";
  return formatFixed(picoseconds / 1e12, 2) + " s";
}

static bool startsCodePoint(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

size_t displayWidth(std::string_view text) {
  return std::count_if(text.begin(), text.end(), startsCodePoint);
}

std::string shorten(std::string_view text, size_t width) {
  if (displayWidth(text) <= width)
    return std::string(text);
  size_t kept = 0, points = 0;
  for (; kept < text.size(); ++kept)
    if (startsCodePoint(text[kept]) && points++ + 1 >= width)
      break;
  return std::string(text.substr(0, kept)) + "…";
}

std::string_view withoutByteOrderMark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.substr(0, mark.size()) == mark)
    text.remove_prefix(mark.size());
  return text;
}

void TextTable::add(std::vector<std::string> cells) {
  while (cells.size() > columns.size()) {
    cells[columns.size() - 1] += "  " + cells[columns.size()];
    cells.erase(cells.begin() + columns.size());
  }
  cells.resize(columns.size());
  rows.push_back(std::move(cells));
}

std::vector<size_t> TextTable::widths() const {
  std::vector<size_t> widths(columns.size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], displayWidth(row[i]));
  return widths;
}

void TextTable::fit(size_t width, const std::vector<Least> &columns) {
  std::vector<size_t> wide = widths();
  size_t total = 0;
  for (size_t column : wide)
    total += column + 2;
  size_t over = total > width + 2 ? total - width - 2 : 0;
  for (const Least &least : columns) {
    size_t before = wide[least.column];
    if (over == 0 || before <= least.width)
      continue;
    size_t cut = std::min(over, before - least.width);
    over -= cut;
    wide[least.column] -= cut;
    for (std::vector<std::string> &row : rows)
      row[least.column] = shorten(row[least.column], before - cut);
  }
}

std::string TextTable::str(unsigned indent) const {
  std::vector<size_t> widths = this->widths();
  std::string out;
  for (const auto &row : rows) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < row.size(); ++i) {
      std::string pad(widths[i] - displayWidth(row[i]), ' ');
      line += columns[i] == Left ? row[i] + pad : pad + row[i];
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

/// A unit stays on the line of its number.
static bool isUnit(std::string_view word) {
  word = word.substr(0, word.find_first_of(",;:)"));
  for (std::string_view unit :
       {"B", "KiB", "MiB", "GiB", "ps", "ns", "us", "ms", "s", "%"})
    if (word == unit)
      return true;
  return false;
}

std::string wrapText(std::string_view title, std::string_view text,
                     size_t indent) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(' ', begin), text.size());
    std::string word(text.substr(begin, end - begin));
    if (!words.empty() && isUnit(word))
      words.back() += " " + word;
    else if (!word.empty())
      words.push_back(std::move(word));
    begin = end + 1;
  }
  std::string out(title);
  if (displayWidth(out) < indent)
    out.append(indent - displayWidth(out), ' ');
  else if (!out.empty())
    out += " ";
  size_t column = displayWidth(out), start = column;
  for (const std::string &word : words) {
    size_t length = displayWidth(word);
    if (column > start && column + 1 + length > kScreenWidth) {
      out += "\n" + std::string(indent, ' ');
      column = start = indent;
    }
    out += (column > start ? " " : "") + word;
    column += length + (column > start);
  }
  return out + "\n";
}

std::string wrapLine(std::string_view line) {
  size_t end = std::min(line.find(' '), line.size());
  return wrapText(line.substr(0, end), line.substr(end),
                  std::min<size_t>(end + 1, 6));
}

unsigned editDistance(std::string_view a, std::string_view b, unsigned limit) {
  size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap > limit)
    return limit + 1;
  std::vector<unsigned> before(b.size() + 1), row(b.size() + 1), next;
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next.assign(b.size() + 1, i);
    unsigned best = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      unsigned replace = row[j - 1] + (a[i - 1] != b[j - 1]);
      next[j] = std::min({replace, row[j] + 1, next[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
      best = std::min(best, next[j]);
    }
    if (best > limit)
      return limit + 1;
    before.swap(row);
    row.swap(next);
  }
  return std::min(row[b.size()], limit + 1);
}

std::string formatIndex(const int64_t *sizes, size_t rank, int64_t number) {
  std::string text;
  for (size_t dim = rank; dim-- > 0; number /= sizes[dim])
    text =
        std::to_string(number % sizes[dim]) + (text.empty() ? "" : ", ") + text;
  return "[" + text + "]";
}

std::vector<std::string>
nearestNames(std::string_view name,
             const std::vector<std::string_view> &candidates, size_t count) {
  unsigned limit = std::max<size_t>(2, name.size() / 3);
  std::vector<std::pair<unsigned, size_t>> near;
  for (size_t i = 0; i < candidates.size(); ++i) {
    unsigned distance = editDistance(name, candidates[i], limit);
    bool prefix =
        name.size() >= 3 && candidates[i].substr(0, name.size()) == name;
    if (prefix)
      distance = std::min(distance, limit);
    if (distance <= limit && (2 * distance < name.size() || prefix))
      near.emplace_back(distance, i);
  }
  std::stable_sort(near.begin(), near.end());
  std::vector<std::string> out;
  for (size_t i = 0; i < near.size() && out.size() < count; ++i)
    out.emplace_back(candidates[near[i].second]);
  return out;
}

std::string escapeXml(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? '?' : c;
  }
  return out;
}

} // namespace cutback

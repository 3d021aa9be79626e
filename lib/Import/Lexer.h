// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cursor over FX text. It builds no tokens: the readers know what can come
// next, and ask for that. Everything it hands out lies in the text.
#ifndef CUTBACK_LIB_IMPORT_LEXER_H
#define CUTBACK_LIB_IMPORT_LEXER_H

#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

namespace cutback::fx {

namespace chars {
enum : uint8_t {
  kSpace = 1,   ///< blank within a line
  kNewline = 2, ///< ends a line
  kStart = 4,   ///< begins an identifier
  kWord = 8,    ///< continues one
  kDigit = 16,
  kList = 32, ///< in a list of plain numbers
};

constexpr std::array<uint8_t, 256> makeTable() {
  std::array<uint8_t, 256> table{};
  for (char c : {' ', '\t', '\r', '\f', '\v'})
    table[static_cast<uint8_t>(c)] |= kSpace;
  table['\n'] |= kNewline;
  for (int c = 'a'; c <= 'z'; ++c)
    table[c] |= kStart | kWord;
  for (int c = 'A'; c <= 'Z'; ++c)
    table[c] |= kStart | kWord;
  table['_'] |= kStart | kWord;
  for (int c = '0'; c <= '9'; ++c)
    table[c] |= kDigit | kWord | kList;
  for (char c : {' ', ',', '-', '.'})
    table[static_cast<uint8_t>(c)] |= kList;
  return table;
}
inline constexpr std::array<uint8_t, 256> kTable = makeTable();

inline bool is(char c, uint8_t classes) {
  return kTable[static_cast<uint8_t>(c)] & classes;
}
} // namespace chars

class Lexer {
public:
  explicit Lexer(llvm::StringRef text) : at(text.begin()), last(text.end()) {}

  const char *position() const { return at; }
  void moveTo(const char *position) { at = position; }
  bool atEnd() const { return at == last; }
  char peek() const { return at == last ? '\0' : *at; }
  char peekAfter() const { return last - at < 2 ? '\0' : at[1]; }
  llvm::StringRef rest() const { return llvm::StringRef(at, last - at); }

  /// Blanks of this line.
  void skipSpace() {
    while (at != last && chars::is(*at, chars::kSpace))
      ++at;
  }
  /// Blanks and ends of lines.
  void skipBlank() {
    while (at != last && chars::is(*at, chars::kSpace | chars::kNewline))
      ++at;
  }
  /// Blanks, ends of lines and comments. The last comment behind something on
  /// its own line goes to `trailing`, without its `#`, if one is given.
  void skipToToken(llvm::StringRef *trailing = nullptr);

  bool eat(char c) {
    skipSpace();
    if (at == last || *at != c)
      return false;
    ++at;
    return true;
  }
  bool eat(llvm::StringRef word) {
    skipSpace();
    if (!rest().starts_with(word))
      return false;
    at += word.size();
    return true;
  }

  /// An identifier, empty if there is none.
  llvm::StringRef identifier() {
    skipSpace();
    const char *begin = at;
    if (at == last || !chars::is(*at, chars::kStart))
      return {};
    while (at != last && chars::is(*at, chars::kWord))
      ++at;
    return llvm::StringRef(begin, at - begin);
  }
  /// Identifiers joined by points, empty if there is none.
  llvm::StringRef path() {
    skipSpace();
    const char *begin = at;
    if (at == last || !chars::is(*at, chars::kStart))
      return {};
    while (at != last && (chars::is(*at, chars::kWord) || *at == '.'))
      ++at;
    return llvm::StringRef(begin, at - begin);
  }
  /// A number as it is written, with its sign; empty if there is none.
  llvm::StringRef number();
  /// What stands between quotes, escapes as written; nothing if the line ends
  /// before the string does, or no string begins here.
  std::optional<llvm::StringRef> string();
  /// Up to the end of the line.
  llvm::StringRef restOfLine() {
    const char *begin = at;
    const void *end = at == last ? nullptr : std::memchr(at, '\n', last - at);
    at = end ? static_cast<const char *>(end) : last;
    return llvm::StringRef(begin, at - begin);
  }

private:
  const char *at, *last;
};

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_LEXER_H

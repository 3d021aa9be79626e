// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the lexer that are not on the path of every statement: comments
// within lists, numbers, strings.
//
// All of them look at each character once, so that no text, however mutilated,
// costs more than its length: an open string ends at the end of its line.

#include "Lexer.h"

using namespace cutback::fx;
using llvm::StringRef;

void Lexer::skipToToken(StringRef *trailing) {
  bool sameLine = true;
  while (at != last) {
    if (*at == '\n') {
      sameLine = false;
      ++at;
    } else if (chars::is(*at, chars::kSpace)) {
      ++at;
    } else if (*at == '#') {
      StringRef comment = restOfLine().drop_front().trim();
      if (sameLine && trailing)
        *trailing = comment;
    } else {
      return;
    }
  }
}

StringRef Lexer::number() {
  skipSpace();
  const char *begin = at;
  const char *p = at;
  if (p != last && (*p == '-' || *p == '+'))
    ++p;
  StringRef tail(p, last - p);
  if (tail.starts_with("inf") || tail.starts_with("nan")) {
    p += 3;
  } else {
    if (p == last || !(chars::is(*p, chars::kDigit) || *p == '.'))
      return {};
    while (p != last) {
      bool isSign = (*p == '-' || *p == '+') && (p[-1] == 'e' || p[-1] == 'E');
      if (!isSign && !chars::is(*p, chars::kWord) && *p != '.')
        break;
      ++p;
    }
  }
  at = p;
  return StringRef(begin, at - begin);
}

std::optional<StringRef> Lexer::string() {
  skipSpace();
  if (at == last || (*at != '"' && *at != '\''))
    return std::nullopt;
  char quote = *at;
  const char *begin = at + 1;
  for (const char *p = begin; p != last && *p != '\n'; ++p) {
    if (*p == '\\' && p + 1 != last) {
      ++p;
    } else if (*p == quote) {
      at = p + 1;
      return StringRef(begin, p - begin);
    }
  }
  return std::nullopt;
}

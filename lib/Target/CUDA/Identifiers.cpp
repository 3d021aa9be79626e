// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the graph as identifiers of CUDA C++. What is no letter, digit or
// underscore becomes one; a word of the language, and a name that the text of
// kernels has for itself, gets one behind it; of two that are then alike the
// second gets a number. So a reader finds a value under its name, and two
// compilations of one graph write the same.

#include "Identifiers.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace cutback;

/// Names that a parameter must not have.
static bool isReserved(StringRef name) {
  static const llvm::StringSet<> words = {
      "and", "asm", "auto", "bool", "break", "case", "char", "class", "const",
      "delete", "do", "double", "else", "enum", "float", "for", "goto", "if",
      "inline", "int", "long", "namespace", "new", "not", "operator", "or",
      "private", "public", "register", "return", "short", "signed", "sizeof",
      "static", "struct", "switch", "template", "this", "try", "typename",
      "union", "unsigned", "using", "virtual", "void", "volatile", "while",
      "xor",
      // of the kernels' own text
      "at", "block", "column", "e", "element", "k", "lane", "row", "problem",
      "isInside", "divide", "checked", "bf16", "f16", "power", "load4", "load2",
      "store4", "store2", "all4", "all2", "all1", "fold4", "asNew", "exp",
      "log", "pow", "sqrt", "tan", "fmax", "fmin", "floor"};
  return words.contains(name);
}

std::string cuda::identifier(StringRef name, llvm::StringSet<> &used) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text[0]))
    text = "x" + text;
  if (isReserved(text))
    text += "_";
  std::string unique = text;
  for (unsigned i = 2; !used.insert(unique).second; ++i)
    unique = text + "_" + std::to_string(i);
  return unique;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Since the end of 2024 torch.export writes a size as the Python text that
// makes it (sympy's srepr):
//
//   node := HEAD "(" [argument {"," argument}] ")"
//   argument := node | INT | FLOAT | 'text' | NAME "=" word
//
// It is read by descent and printed with Python's operators, each with its
// binding strength, so that brackets stand where they are needed. Heads
// without an operator stay calls. Nesting is limited.

#include "SymbolText.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace cutback;
using llvm::StringRef;

namespace {

enum Strength { kCondition, kSum, kProduct, kUnary, kPower, kAtom };

/// A printed expression, and how strong its outermost operator binds.
struct Printed {
  std::string text;
  Strength strength = kAtom;

  std::string in(Strength context) const {
    return strength < context ? "(" + text + ")" : text;
  }
};

class Reader {
public:
  explicit Reader(StringRef text) : rest(text) {}

  std::optional<std::string> run() {
    std::optional<Printed> value = node();
    if (!value || !rest.trim().empty())
      return std::nullopt;
    return value->text;
  }

private:
  using Result = std::optional<Printed>;
  using List = llvm::SmallVector<Printed, 4>;

  bool eat(char c) {
    rest = rest.ltrim();
    return rest.consume_front(StringRef(&c, 1));
  }
  StringRef word() {
    rest = rest.ltrim();
    StringRef found = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(found.size());
    return found;
  }
  Result node();
  Result atom(StringRef head);
  bool arguments(List &list);
  static Result print(StringRef head, const List &list);
  static Result infix(const List &list, StringRef op, Strength strength);

  StringRef rest;
  unsigned depth = 0;
};

} // namespace

bool Reader::arguments(List &list) {
  while (!eat(')')) {
    rest = rest.ltrim();
    // `positive=True` says nothing of the value.
    size_t end = rest.find_first_of("=,()'");
    if (end != StringRef::npos && rest[end] == '=') {
      rest = rest.drop_front(end + 1);
      if (word().empty())
        return false;
    } else {
      std::optional<Printed> value = node();
      if (!value)
        return false;
      list.push_back(std::move(*value));
    }
    if (!eat(',') && !rest.ltrim().starts_with(")"))
      return false;
  }
  return true;
}

std::optional<Printed> Reader::node() {
  constexpr unsigned kMaxDepth = 64;
  if (depth > kMaxDepth)
    return std::nullopt;
  if (eat('\'')) {
    StringRef name = rest.take_until([](char c) { return c == '\''; });
    rest = rest.drop_front(name.size());
    if (name.empty() || !eat('\''))
      return std::nullopt;
    return Printed{name.str(), kAtom};
  }
  bool isNegative = eat('-');
  StringRef head = word();
  if (head.empty())
    return std::nullopt;
  if (isNegative || llvm::isDigit(head.front()) || !eat('('))
    return Printed{(isNegative ? "-" : "") + head.str(),
                   isNegative ? kUnary : kAtom};
  List list;
  ++depth;
  bool isGood = arguments(list);
  --depth;
  return isGood ? print(head, list) : std::nullopt;
}

std::optional<Printed> Reader::infix(const List &list, StringRef op,
                                     Strength strength) {
  Printed result{"", strength};
  bool isFirst = true;
  for (const Printed &part : list) {
    // A product or quotient is not associative to the right.
    std::string text = part.in(isFirst ? strength : Strength(strength + 1));
    if (!isFirst)
      result.text += op;
    result.text += text;
    isFirst = false;
  }
  return result;
}

std::optional<Printed> Reader::print(StringRef head, const List &list) {
  bool isLeaf = head == "Symbol" || head == "Integer" || head == "Float";
  if (isLeaf)
    return list.empty() ? Result() : Result(list.front());
  if (head == "Add" && !list.empty()) {
    // PyTorch prints the constant last.
    List sorted;
    for (const Printed &part : list)
      if (part.text.find_first_not_of("-0123456789") != std::string::npos)
        sorted.push_back(part);
    for (const Printed &part : list)
      if (part.text.find_first_not_of("-0123456789") == std::string::npos)
        sorted.push_back(part);
    Printed sum{"", kSum};
    for (const Printed &part : sorted) {
      StringRef text = part.text;
      bool isNegative = !sum.text.empty() && text.consume_front("-");
      if (!sum.text.empty())
        sum.text += isNegative ? " - " : " + ";
      sum.text += text;
    }
    return sum;
  }
  if (head == "Mul" && !list.empty())
    return infix(list, "*", kProduct);
  struct Operator {
    StringRef head, text;
    Strength strength;
  };
  static constexpr Operator kOperators[] = {
      {"Rational", "/", kProduct},
      {"Pow", "**", kPower},
      {"PowByNatural", "**", kPower},
      {"FloorDiv", "//", kProduct},
      {"Eq", "==", kCondition},
      {"Equality", "==", kCondition},
      {"Ne", "!=", kCondition},
      {"Unequality", "!=", kCondition},
      {"StrictLessThan", "<", kCondition},
      {"LessThan", "<=", kCondition},
      {"StrictGreaterThan", ">", kCondition},
      {"GreaterThan", ">=", kCondition}};
  for (const Operator &entry : kOperators) {
    if (entry.head != head || list.size() != 2)
      continue;
    if (entry.strength != kCondition)
      // Both sides of ** and // are bracketed unless they are atoms.
      return Printed{list[0].in(kAtom) + entry.text.str() + list[1].in(kAtom),
                     entry.strength};
    return Printed{list[0].in(kSum) + " " + entry.text.str() + " " +
                       list[1].in(kSum),
                   kCondition};
  }
  Printed call{head.str() + "(", kAtom};
  for (const Printed &part : list)
    call.text += (&part == list.begin() ? "" : ", ") + part.text;
  call.text += ")";
  return call;
}

std::optional<std::string> pt2::plainSizeText(StringRef text) {
  bool isConstructor = text.contains("Symbol(") || text.contains("Integer(");
  if (!isConstructor)
    return text.str();
  return Reader(text).run();
}

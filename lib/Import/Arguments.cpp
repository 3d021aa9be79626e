// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments as FX prints them:
//
//   value := name | number | string | None | True | False
//          | "[" values "]" | "(" values ")" | "{" string ": " value, … "}"
//          | "slice(" values ")" | "device(type='cuda', index=0)"
//          | "torch.float32" | "torch.ops.aten.mm.default"
//
// Names become operands; their place in the list is `#joint.operand`. A list
// of plain numbers (a shape, a permutation) is found by its text, without
// looking at its elements: shapes make up most of the text. An operator given
// as a value becomes its name. Nesting is limited, time is linear.

#include "Arguments.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

namespace {
/// Calls nest three levels (lists of index tuples); everything that walks a
/// skeleton later is recursive.
constexpr unsigned kMaxDepth = 16;
} // namespace

LogicalResult ArgumentReader::read(CallArguments &args,
                                   const DeclaredType *type) {
  args.clear();
  current = &args;
  constantType = type;
  lexer.skipToToken();
  while (!lexer.eat(')')) {
    const char *begin = lexer.position();
    StringRef keyword = lexer.identifier();
    lexer.skipSpace();
    if (!keyword.empty() && lexer.peek() == '=' && lexer.peekAfter() != '=') {
      lexer.eat('=');
      args.keywords.push_back(keyword);
    } else {
      if (!args.keywords.empty())
        return scope.fail(begin,
                          "a positional argument follows keyword " +
                              quoted(args.keywords.back()),
                          "dump the graph again");
      lexer.moveTo(begin);
    }
    args.positions.push_back(lexer.position());
    FailureOr<Attribute> attr = value(0);
    if (failed(attr))
      return failure();
    args.values.push_back(*attr);
    lexer.skipToToken();
    if (lexer.eat(','))
      lexer.skipToToken();
    else if (lexer.peek() != ')')
      return scope.fail(lexer.position(),
                        "expected ',' or ')' in an argument "
                        "list",
                        kCut);
  }
  return success();
}

LogicalResult ArgumentReader::readValue(CallArguments &args,
                                        const DeclaredType *type) {
  current = &args;
  constantType = type;
  lexer.skipSpace();
  args.positions.push_back(lexer.position());
  FailureOr<Attribute> attr = value(0);
  if (failed(attr))
    return failure();
  args.values.push_back(*attr);
  return success();
}

const char *ArgumentReader::plainListEnd() const {
  StringRef rest = lexer.rest();
  for (size_t i = 1; i < rest.size(); ++i)
    if (!chars::is(rest[i], chars::kList))
      return rest[i] == ']' ? rest.begin() + i : nullptr;
  return nullptr;
}

FailureOr<Attribute> ArgumentReader::value(unsigned depth) {
  lexer.skipSpace();
  char c = lexer.peek();
  if (chars::is(c, chars::kStart))
    return word(depth);
  if (chars::is(c, chars::kDigit) || c == '-' || c == '.')
    return number();
  if (size_t length = complexLength()) {
    StringRef text = lexer.rest().take_front(length);
    lexer.moveTo(text.end());
    return complexNumber(text);
  }
  switch (c) {
  case '[':
  case '(':
    return list(c == '[' ? ']' : ')', depth);
  case '{':
    return dictionary(depth);
  case '"':
  case '\'':
    if (std::optional<StringRef> text = lexer.string())
      return literals.string(*text);
    return scope.fail(lexer.position(), "this string does not end", kCut);
  default:
    return scope.fail(lexer.position(), "expected an argument", kCut);
  }
}

FailureOr<Attribute> ArgumentReader::number() {
  StringRef text = lexer.number();
  if (text.ends_with("j") && literals.number(text.drop_back()))
    return complexNumber(text);
  Attribute attr = text.empty() ? Attribute() : literals.number(text);
  if (attr)
    return attr;
  return scope.fail(text.empty() ? lexer.position() : text.begin(),
                    "number " + quoted(text) +
                        " does not read, or does not "
                        "fit 64 bits",
                    kCut);
}

/// The characters of `(1+2j)`, as Python writes a complex number with two
/// parts; 0 where there is none.
size_t ArgumentReader::complexLength() const {
  StringRef rest = lexer.rest();
  // Asked of every argument, and nearly none begins so.
  if (!rest.starts_with("("))
    return 0;
  size_t last = rest.find_first_not_of("0123456789.+-einfa", 1);
  bool isComplex = last != StringRef::npos && last > 1 &&
                   rest.substr(last).starts_with("j)");
  return isComplex ? last + 2 : 0;
}

/// No op of dialect aten has such an argument: the call stays opaque.
Attribute ArgumentReader::complexNumber(StringRef text) {
  current->hasComplex = true;
  return literals.string(text);
}

FailureOr<Attribute> ArgumentReader::word(unsigned depth) {
  StringRef name = lexer.path();
  if (name.contains('.')) {
    if (name.starts_with("torch.ops."))
      return literals.string(name.drop_front(strlen("torch.ops.")));
    if (Attribute constant = literals.torchConstant(name))
      return constant;
    return scope.fail(name.begin(),
                      quoted(name) + " is not an argument that "
                                     "a graph can have",
                      "known are dtypes, layouts, memory formats and "
                      "operators of torch.ops");
  }
  if (lexer.peek() == '(')
    return callLike(name, depth);
  switch (name.front()) {
  case 'N':
    if (name == "None")
      return literals.none();
    break;
  case 'T':
    if (name == "True")
      return literals.boolean(true);
    break;
  case 'F':
    if (name == "False")
      return literals.boolean(false);
    break;
  case 'i':
  case 'n':
    if (name == "inf" || name == "nan")
      return literals.number(name);
    break;
  default:
    break;
  }
  return use(name);
}

FailureOr<Attribute> ArgumentReader::callLike(StringRef name, unsigned depth) {
  lexer.eat('(');
  if (name == "device")
    return device();
  if (name == "slice") {
    SmallVector<Attribute> bounds = {literals.string("slice")};
    if (failed(elements(')', depth, bounds)))
      return failure();
    return Attribute(ArrayAttr::get(scope.context, bounds));
  }
  return scope.fail(name.begin(),
                    quoted(name) + " is not an argument that a "
                                   "graph can have",
                    "known calls in arguments are slice() and device()");
}

FailureOr<Attribute> ArgumentReader::use(StringRef name) {
  Binding *binding = scope.find(name);
  if (!binding)
    return scope.failUndefined(name);
  if (binding->kind == Binding::Constant && constantType)
    scope.addConstant(name, *binding, *constantType);
  switch (binding->kind) {
  case Binding::Value:
    break;
  case Binding::Constant:
    return scope.fail(name.begin(),
                      "the type of constant " + quoted(name) + " is not known",
                      "older texts do not say it; it is known where the first "
                      "use is lift_fresh_copy, clone or detach");
  case Binding::Literal:
    return scope.literals[binding->tuple];
  case Binding::Module:
    // A graph that a higher-order op runs.
    return Attribute(FlatSymbolRefAttr::get(scope.context, name));
  default:
    return scope.fail(name.begin(), quoted(name) + " is not one value",
                      "a call with several results is used through "
                      "NAME[INDEX]");
  }
  // A gradient that was not asked for is None to whoever gets it.
  if (isa<NoneType>(binding->value.getType()))
    return literals.none();
  current->operands.push_back(binding->value);
  current->isBackward |= binding->isBackward;
  return literals.operand();
}

FailureOr<Attribute> ArgumentReader::list(char close, unsigned depth) {
  StringRef key;
  if (close == ']' && lexer.peek() == '[') {
    if (const char *end = plainListEnd()) {
      key = StringRef(lexer.position(), end + 1 - lexer.position());
      if (Attribute known = literals.list(key)) {
        lexer.moveTo(end + 1);
        return known;
      }
    }
  }
  if (!lexer.eat('['))
    lexer.eat('(');
  SmallVector<Attribute> attrs;
  if (failed(elements(close, depth, attrs)))
    return failure();
  Attribute attr = ArrayAttr::get(scope.context, attrs);
  if (!key.empty())
    literals.list(key) = attr;
  return attr;
}

LogicalResult ArgumentReader::elements(char close, unsigned depth,
                                       SmallVectorImpl<Attribute> &attrs) {
  if (depth >= kMaxDepth)
    return scope.fail(lexer.position(),
                      "lists nest deeper than " + Twine(kMaxDepth) + " levels",
                      kNoSuchArgument);
  lexer.skipToToken();
  while (!lexer.eat(close)) {
    FailureOr<Attribute> attr = value(depth + 1);
    if (failed(attr))
      return failure();
    attrs.push_back(*attr);
    lexer.skipToToken();
    if (lexer.eat(','))
      lexer.skipToToken();
    else if (lexer.peek() != close)
      return scope.fail(lexer.position(),
                        "expected ',' or '" + Twine(close) + "' in a list",
                        kCut);
  }
  return success();
}

FailureOr<Attribute> ArgumentReader::dictionary(unsigned depth) {
  lexer.eat('{');
  if (depth >= kMaxDepth)
    return scope.fail(lexer.position(),
                      "dictionaries nest deeper than " + Twine(kMaxDepth) +
                          " levels",
                      kNoSuchArgument);
  SmallVector<Attribute> entries;
  lexer.skipToToken();
  while (!lexer.eat('}')) {
    FailureOr<Attribute> key = value(depth + 1);
    if (failed(key))
      return failure();
    if (!lexer.eat(':'))
      return scope.fail(lexer.position(), "expected ':' in a dictionary", kCut);
    FailureOr<Attribute> entry = value(depth + 1);
    if (failed(entry))
      return failure();
    entries.push_back(ArrayAttr::get(scope.context, {*key, *entry}));
    lexer.skipToToken();
    if (lexer.eat(','))
      lexer.skipToToken();
    else if (lexer.peek() != '}')
      return scope.fail(lexer.position(), "expected ',' or '}' in a dictionary",
                        kCut);
  }
  return Attribute(ArrayAttr::get(scope.context, entries));
}

/// `device(type='cuda', index=0)`, from behind the `(`.
FailureOr<Attribute> ArgumentReader::device() {
  StringRef type, index;
  const char *begin = lexer.position();
  while (true) {
    StringRef keyword = lexer.identifier();
    lexer.eat('=');
    if (keyword == "type")
      type = lexer.string().value_or("");
    else if (keyword == "index")
      index = lexer.number();
    else
      break;
    if (!lexer.eat(','))
      break;
  }
  if (type.empty() || !lexer.eat(')'))
    return scope.fail(begin, "this device does not read",
                      "expected device(type='cuda', index=0)");
  return literals.device(type, index);
}

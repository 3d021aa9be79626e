// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header and the statements of a graph, in the forms that PyTorch has
// printed since 2023:
//
//   graph := … "def forward(" parameters "):" statement* return
//   statement := NAME ":" TYPE [";" | comment]              an input
//              | NAME {"," NAME} "," "=" …flatten…          the inputs' order
//              | NAME [":" TYPE] "=" call | expression [";  " frees]
//              | NAME [":" TYPE] "=" NAME "[" INT "]"       one of several
//              | NAME [":" TYPE] "=" "self." PATH           a constant
//              | comment
//
// Inputs are parameters of the function with a type, or are declared in its
// first lines when the function takes groups (`primals`, `tangents`). Each
// statement is turned into an op as it is read; nothing is kept of the text
// but references. What follows the return statement is the text of nested
// graphs (FxNested.cpp).

#include "FxReader.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

FxReader::FxReader(const SourceText &source, MLIRContext *context,
                   ImportCounts &counts)
    : scope(context, source), calls(scope, counts), lexer(source.text()),
      reader(lexer, scope),
      comments(context, source.locate(context, source.text().begin())),
      nested(source.text()) {
  place.location = source.locate(context, source.text().begin());
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

LogicalResult FxReader::readParameters() {
  size_t header = lexer.rest().find("def forward(");
  if (header == StringRef::npos)
    return failCut(lexer.position(), "there is no 'def forward(' in this text");
  lexer.moveTo(lexer.position() + header + strlen("def forward("));
  lexer.skipToToken();
  SmallVector<std::pair<size_t, StringRef>> untyped;
  while (!lexer.eat(')')) {
    Argument argument;
    const char *at = lexer.position();
    argument.name = lexer.identifier();
    if (argument.name.empty())
      return failCut(at, "expected a parameter or ')'");
    if (lexer.eat(':')) {
      std::optional<StringRef> type = lexer.string();
      if (!type)
        return failCut(lexer.position(), "expected a type in quotes");
      if (!(argument.type = scope.readType(*type)))
        return failure();
    }
    lexer.skipToToken(&argument.descriptor);
    if (lexer.eat(','))
      lexer.skipToToken(&argument.descriptor);
    else if (lexer.peek() != ')')
      return failCut(lexer.position(),
                     "expected ',' or ')' behind a parameter");
    if (argument.type && failed(scope.addArgument(argument)))
      return failure();
    if (!argument.type && argument.name != "self")
      untyped.emplace_back(scope.arguments.size() + untyped.size(),
                           argument.name);
  }
  lexer.restOfLine();
  return defineUntyped(untyped);
}

/// Parameters without a type are groups of inputs, which are declared later;
/// but Python objects where others have a type.
LogicalResult
FxReader::defineUntyped(ArrayRef<std::pair<size_t, StringRef>> parameters) {
  bool areObjects = !scope.arguments.empty();
  for (auto [place, name] : parameters) {
    Binding group;
    group.kind = Binding::Group;
    if (failed(areObjects ? scope.insertObject(place, name)
                          : scope.define(name, group)))
      return failure();
  }
  hasGroups = !areObjects && !parameters.empty();
  return success();
}

LogicalResult FxReader::readDeclaration(const CallStatement &statement) {
  if (!hasGroups)
    return failCut(statement.name.begin(),
                   quoted(statement.name) + " has a type and no value");
  Argument argument;
  argument.name = statement.name;
  argument.type = statement.declared;
  lexer.skipSpace();
  if (lexer.peek() == '#')
    argument.descriptor = lexer.restOfLine().drop_front().trim();
  else
    lexer.eat(';');
  return scope.addArgument(argument);
}

/// Is the input that stands at `place` of the text a Python object (state of
/// the backward, a device mesh)? It has no declaration, and two blanks where
/// others have a comma.
bool FxReader::isObject(size_t place, StringRef name) {
  bool isDeclared =
      place < scope.arguments.size() && scope.arguments[place].name == name;
  return !isDeclared && !scope.find(name) && name.end()[0] == ' ' &&
         name.end()[1] == ' ';
}

LogicalResult FxReader::readFlatten(StringRef first) {
  size_t count = 0;
  // The comma behind `name` is read already; the last name has one too.
  for (StringRef name = first; !name.empty(); name = lexer.identifier()) {
    if (isObject(count, name) && failed(scope.insertObject(count, name)))
      return failure();
    if (count >= scope.arguments.size() || scope.arguments[count].name != name)
      return scope.fail(name.begin(),
                        quoted(name) + " is not input number " + Twine(count) +
                            " that was declared",
                        "each input is declared once, in order, before this "
                        "line");
    if (count++ != 0 && !lexer.eat(','))
      break;
  }
  if (count != scope.arguments.size() || !lexer.eat('='))
    return failCut(lexer.position(), "expected the " +
                                         Twine(scope.arguments.size()) +
                                         " inputs that were declared, and '='");
  lexer.restOfLine();
  return success();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

LogicalResult FxReader::read() {
  if (failed(readParameters()) || failed(readBody()))
    return failure();
  calls.nameTuples();
  return success();
}

static constexpr const char *kFollowedTags =
    "MUST_SAVE, PREFER_SAVE, MUST_RECOMPUTE and PREFER_RECOMPUTE are; "
    "MUST_SAVE keeps a value on the device";

/// The statements and the results.
LogicalResult FxReader::readBody() {
  while (true) {
    lexer.skipBlank();
    if (lexer.atEnd())
      return failCut(lexer.position(),
                     "the text ends before the graph's return statement");
    if (lexer.peek() == '#') {
      const char *at = lexer.position();
      if (const Place *next = comments.read(lexer.restOfLine().drop_front()))
        place = *next;
      if (!place.unknownTag.empty())
        return scope.fail(at,
                          "the tag " + quoted(place.unknownTag) +
                              " of a checkpoint region is not followed here",
                          kFollowedTags);
      continue;
    }
    StringRef name = lexer.identifier();
    if (name == "return")
      break;
    if (failed(readStatement(name)))
      return failure();
  }
  return readReturn();
}

LogicalResult FxReader::readStatement(StringRef name) {
  if (name.empty())
    return failCut(lexer.position(), "expected a statement");
  CallStatement statement;
  statement.name = name;
  if (lexer.eat(':')) {
    std::optional<StringRef> type = lexer.string();
    if (!type)
      return failCut(lexer.position(), "expected a type in quotes");
    statement.typeAt = type->begin();
    statement.declared = scope.readType(*type);
    if (!statement.declared)
      return failure();
    if (!lexer.eat('='))
      return readDeclaration(statement);
  } else if (lexer.eat(',')) {
    return readFlatten(name);
  } else if (!lexer.eat('=')) {
    return failCut(lexer.position(),
                   "expected ':', ',' or '=' behind " + quoted(name));
  }
  if (failed(readAssignment(statement)))
    return failure();
  return endStatement();
}

LogicalResult FxReader::endStatement() {
  lexer.skipSpace();
  char c = lexer.peek();
  if (c == '\n') // the usual case when a value is used later
    return success();
  if (c == ';' || c == '#') {
    lexer.restOfLine();
    return success();
  }
  if (lexer.atEnd())
    return success();
  return failCut(lexer.position(), "expected the end of the statement");
}

LogicalResult FxReader::readAssignment(CallStatement &statement) {
  lexer.skipSpace();
  statement.at = lexer.position();
  if (!chars::is(lexer.peek(), chars::kStart))
    return readExpression(statement);
  StringRef path = lexer.path();
  if (lexer.peek() == '(')
    return readCall(statement, path);
  if (lexer.peek() == '[')
    return readElement(statement, path);
  if (path.starts_with("self."))
    return readAttribute(statement, path);
  lexer.moveTo(statement.at);
  return readExpression(statement);
}

LogicalResult FxReader::readCall(CallStatement &statement, StringRef path) {
  lexer.eat('(');
  if (path.starts_with("self."))
    return scope.fail(path.begin(),
                      quoted(path) + " is a nested graph, which is not read",
                      kNestedGraphs);
  const CallTarget &target = calls.target(path);
  // Arguments of a callee that is refused anyway may have any form.
  if (target.kind == CallTarget::Foreign || target.kind == CallTarget::InPlace)
    return calls.build(target, args, statement, place);
  if (failed(
          reader.read(args, target.keepsType ? statement.declared : nullptr)))
    return failure();
  if (target.kind == CallTarget::Graph)
    return inlineCall(target, statement);
  if (target.name.starts_with("higher_order."))
    return nestedCall(target, statement);
  return calls.build(target, args, statement, place);
}

LogicalResult FxReader::readElement(const CallStatement &statement,
                                    StringRef tuple) {
  lexer.eat('[');
  StringRef index = lexer.number();
  if (index.empty() || !lexer.eat(']'))
    return scope.fail(statement.at,
                      "expected the number of an element of " + quoted(tuple),
                      "an ATen graph takes elements of calls with several "
                      "results only; dump aot_joint_graph instead of the "
                      "Dynamo graph");
  return calls.bindElement(statement, tuple, index);
}

LogicalResult FxReader::readAttribute(const CallStatement &statement,
                                      StringRef path) {
  StringRef name = path.drop_front(strlen("self."));
  Binding binding;
  if (statement.declared) {
    scope.addConstant(statement.name, binding, *statement.declared);
  } else {
    bool isConstant = name.starts_with("_tensor_constant") ||
                      name.starts_with("_param_constant") ||
                      name.starts_with("_frozen_param") ||
                      name.starts_with("lifted_tensor");
    binding.kind = isConstant ? Binding::Constant : Binding::Module;
    if (!isConstant) {
      binding.tuple = scope.modules.size();
      scope.modules.push_back(name);
    }
  }
  return scope.define(statement.name, binding);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// The Python operator at the front of `text`, and the function it stands for.
static std::pair<StringRef, StringRef> binaryOperator(StringRef text) {
  static constexpr std::pair<StringRef, StringRef> kOperators[] = {
      {"//", "operator.floordiv"}, {"**", "operator.pow"},
      {"==", "operator.eq"},       {"!=", "operator.ne"},
      {"<=", "operator.le"},       {">=", "operator.ge"},
      {"<<", "operator.lshift"},   {">>", "operator.rshift"},
      {"+", "operator.add"},       {"-", "operator.sub"},
      {"*", "operator.mul"},       {"/", "operator.truediv"},
      {"%", "operator.mod"},       {"<", "operator.lt"},
      {">", "operator.gt"},        {"&", "operator.and_"},
      {"|", "operator.or_"},       {"^", "operator.xor"},
      {"@", "operator.matmul"}};
  for (auto entry : kOperators)
    if (text.starts_with(entry.first))
      return entry;
  return {};
}

LogicalResult FxReader::finishExpression(CallStatement &statement,
                                         StringRef target) {
  return calls.build(calls.target(target), args, statement, place);
}

LogicalResult FxReader::readExpression(CallStatement &statement) {
  args.clear();
  char c = lexer.peek(), next = lexer.peekAfter();
  bool isNumber = chars::is(next, chars::kDigit) || next == '.' ||
                  lexer.rest().drop_front().starts_with("inf");
  StringRef unary = c == '-' && !isNumber   ? "operator.neg"
                    : c == '+' && !isNumber ? "operator.pos"
                    : c == '~'              ? "operator.invert"
                                            : "";
  if (!unary.empty()) {
    lexer.moveTo(lexer.position() + 1);
    if (failed(reader.readValue(args, nullptr)))
      return failure();
    return finishExpression(statement, unary);
  }
  if (lexer.eat("not ")) {
    if (failed(reader.readValue(args, nullptr)))
      return failure();
    return finishExpression(statement, "torch.sym_not");
  }
  if (failed(reader.readValue(args, nullptr)))
    return failure();
  lexer.skipSpace();
  auto [sign, target] = binaryOperator(lexer.rest());
  if (sign.empty())
    return scope.fail(statement.at, "expected a call or an operation on sizes",
                      kBeforeAot);
  lexer.moveTo(lexer.position() + sign.size());
  if (failed(reader.readValue(args, nullptr)))
    return failure();
  return finishExpression(statement, target);
}

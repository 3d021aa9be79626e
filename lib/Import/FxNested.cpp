// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of nested graphs. A region that the user marked
// (torch.compiler.nested_compile_region), or that a wrapper ran, is a graph of
// its own in the text:
//
//   repeated_subgraph0 = self.repeated_subgraph0
//   call = torch.ops.higher_order.invoke_subgraph(repeated_subgraph0, 'id', x)
//   getitem: "f32[4]" = call[0]
//
// It is read in place of each call: the names of its inputs stand for what the
// call hands over, and the values it computes are called "call.NAME", or as the
// element of the call that they are taken out as. So one
// text becomes ops as often as it is called, and each of them can be saved or
// recomputed on its own. Graphs that choose or repeat at run time (cond, scan)
// are not of this kind (FxRegions.cpp).
//
// Reading is recursive, and calls multiply: depth and text read are limited.

#include "FxReader.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

namespace {
constexpr unsigned kMaxNesting = 32;
/// Text read in nested graphs, at most: a model of a hundred equal layers is
/// written as one, calls among nested graphs may ask for exponentially much.
size_t maxNestedText(size_t text) { return (size_t(1) << 24) + 256 * text; }
} // namespace

Binding FxReader::literal(Attribute value) {
  Binding binding;
  binding.kind = Binding::Literal;
  binding.tuple = scope.literals.size();
  scope.literals.push_back(value);
  return binding;
}

/// What a call hands to its graph: its arguments behind the graph.
FailureOr<std::vector<Binding>>
FxReader::calledWith(const CallTarget &target, const CallArguments &call) {
  std::vector<Binding> operands;
  // invoke_subgraph has an identifier there; keywords are the wrapper's own.
  size_t first = target.name.ends_with("invoke_subgraph") ? 2 : 1;
  size_t end = call.values.size() - call.keywords.size();
  for (size_t i = first; i < end; ++i) {
    if (!isa<joint::OperandAttr>(call.values[i])) {
      operands.push_back(literal(call.values[i]));
      continue;
    }
    // The list of operands does not tell which of them a tangent reaches.
    Lexer at(StringRef(call.positions[i],
                       scope.source.text().end() - call.positions[i]));
    operands.push_back(*scope.find(at.identifier()));
  }
  for (size_t i = end; i < call.values.size(); ++i)
    if (isa<joint::OperandAttr>(call.values[i]))
      return scope.fail(call.positions[i],
                        quoted(target.name) + " hands a value to its graph by "
                                              "name",
                        "hand it over by position and dump the graph again");
  return operands;
}

/// Fails where nested graphs have become too deep, or too much text to read.
LogicalResult FxReader::checkNesting(StringRef text, const char *at) {
  if (scope.nesting >= kMaxNesting)
    return scope.fail(
        at, "graphs nest deeper than " + Twine(kMaxNesting) + " levels", kCut);
  numNestedBytes += text.size();
  if (numNestedBytes > maxNestedText(scope.source.text().size()))
    return scope.fail(at,
                      "nested graphs call each other so often that the whole "
                      "is " +
                          Twine(numNestedBytes) + " bytes of text and more",
                      "mark one level of repeated regions only");
  return success();
}

LogicalResult FxReader::failLiteralResult(StringRef graph,
                                          const Output &output) {
  StringRef name = graph.ltrim();
  name.consume_front("class ");
  name = name.take_until([](char c) { return c == '('; });
  return scope.fail(output.text.begin(),
                    "nested graph " + quoted(name) + " gives the number " +
                        quoted(output.text),
                    "only values are read from nested graphs; dump the "
                    "graph again without them");
}

LogicalResult FxReader::inlineCall(const CallTarget &target,
                                   const CallStatement &statement) {
  auto name = args.values.empty()
                  ? FlatSymbolRefAttr()
                  : dyn_cast<FlatSymbolRefAttr>(args.values.front());
  Binding *module = name ? scope.find(name.getValue()) : nullptr;
  if (!module || module->kind != Binding::Module)
    return scope.fail(statement.at,
                      quoted(target.name) + " is not called with a graph",
                      kCut);
  StringRef path = scope.modules[module->tuple];
  std::optional<StringRef> text = nested.find(path, statement.at);
  if (!text)
    return scope.fail(statement.at,
                      "nested graph " + quoted(path) + " is not in the text",
                      kCut);
  if (failed(checkNesting(*text, statement.at)))
    return failure();
  FailureOr<std::vector<Binding>> operands = calledWith(target, args);
  if (failed(operands))
    return failure();
  Names inner(scope.valueName(statement.name));
  inner.prefix = scope.save(inner.prefix + ".");
  std::swap(scope.names, inner);
  std::vector<Output> outer = std::exchange(outputs, {});
  LogicalResult result = readGraph(*text, *operands);
  std::swap(scope.names, inner);
  std::swap(outputs, outer);
  if (failed(result))
    return failure();
  std::vector<Binding> results;
  for (const Output &output : outer) {
    if (output.kind == Output::Literal)
      return failLiteralResult(*text, output);
    Binding binding = output.kind == Output::None
                          ? literal(joint::NoneAttr::get(scope.context))
                          : Binding();
    binding.value = output.value;
    binding.isBackward = output.isBackward;
    results.push_back(binding);
  }
  if (statement.declared && results.size() == 1)
    return calls.bindAs(statement, results.front(), path);
  Binding binding;
  binding.kind = Binding::Results;
  binding.tuple = scope.results.size();
  scope.results.push_back(std::move(results));
  return scope.define(statement.name, binding);
}

/// Reads the nested graph `text`, and comes back to the call.
LogicalResult FxReader::readGraph(StringRef text, ArrayRef<Binding> operands) {
  const char *caller = lexer.position();
  Place callerPlace = place;
  GetItems callerItems = calls.exchangeText(GetItems(text));
  lexer.moveTo(text.begin());
  ++scope.nesting;
  LogicalResult result = failure();
  if (succeeded(readNestedParameters(operands)))
    result = readBody();
  --scope.nesting;
  lexer.moveTo(caller);
  place = callerPlace;
  calls.exchangeText(std::move(callerItems));
  return result;
}

/// The header of a nested graph, whose inputs are `operands`.
LogicalResult FxReader::readNestedParameters(ArrayRef<Binding> operands) {
  const char *begin = lexer.position();
  size_t header = lexer.rest().find("def forward(");
  if (header == StringRef::npos)
    return failCut(begin, "there is no 'def forward(' in this nested graph");
  lexer.moveTo(begin + header + strlen("def forward("));
  lexer.skipToToken();
  size_t count = 0;
  while (!lexer.eat(')')) {
    CallStatement input;
    input.at = lexer.position();
    input.name = lexer.identifier();
    if (input.name.empty())
      return failCut(input.at, "expected a parameter or ')'");
    if (lexer.eat(':')) {
      std::optional<StringRef> type = lexer.string();
      if (!type)
        return failCut(lexer.position(), "expected a type in quotes");
      input.typeAt = type->begin();
      if (!(input.declared = scope.readType(*type)))
        return failure();
    }
    lexer.skipToToken();
    if (lexer.eat(','))
      lexer.skipToToken();
    else if (lexer.peek() != ')')
      return failCut(lexer.position(),
                     "expected ',' or ')' behind a parameter");
    if (input.name == "self")
      continue;
    if (count < operands.size()) {
      Binding operand = operands[count];
      if (operand.kind == Binding::Value && !operand.value) {
        // Into a region: an argument of it.
        if (!input.declared)
          return failCut(input.at, "an input of a nested graph has no type");
        operand.value =
            scope.block().addArgument(input.declared->type, place.location);
      }
      if (failed(calls.bindAs(input, operand, "its caller")))
        return failure();
    }
    ++count;
  }
  if (count != operands.size())
    return failCut(begin, "a nested graph of " + Twine(count) +
                              " inputs is called with " +
                              Twine(operands.size()));
  lexer.restOfLine();
  return success();
}

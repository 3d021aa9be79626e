// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The return statement of a graph:
//
//   return pytree.tree_unflatten([a, b, None], self._out_spec)
//   return (a, b,)      return [a, b]      return a
//
// one item a line with a descriptor behind it, or all in one. Lists in lists
// are flattened, as PyTorch does. The text has ended well if the outermost
// bracket is closed.

#include "FxReader.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

namespace {
constexpr unsigned kMaxOutputDepth = 16;
} // namespace

LogicalResult FxReader::readReturn() {
  lexer.skipSpace();
  const char *begin = lexer.position();
  if (lexer.path().ends_with("tree_unflatten"))
    lexer.eat('(');
  else
    lexer.moveTo(begin);
  lexer.skipSpace();
  char c = lexer.peek();
  if (c == '[' || c == '(')
    return readOutputs(0);
  return readOutput();
}

/// A bracketed list of outputs.
LogicalResult FxReader::readOutputs(unsigned depth) {
  char close = lexer.peek() == '[' ? ']' : ')';
  const char *begin = lexer.position();
  if (depth >= kMaxOutputDepth)
    return scope.fail(
        begin, "results nest deeper than " + Twine(kMaxOutputDepth) + " levels",
        "return a flat list of results");
  lexer.moveTo(begin + 1);
  lexer.skipToToken();
  while (!lexer.eat(close)) {
    size_t count = outputs.size();
    char c = lexer.peek();
    if (failed(c == '[' || c == '(' ? readOutputs(depth + 1) : readOutput()))
      return failure();
    StringRef descriptor;
    lexer.skipToToken(&descriptor);
    if (lexer.eat(','))
      lexer.skipToToken(&descriptor);
    else if (lexer.peek() != close)
      return failCut(lexer.position(), "expected ',' or '" + Twine(close) +
                                           "' in the graph's results");
    if (outputs.size() == count + 1)
      outputs.back().descriptor = descriptor;
  }
  return success();
}

/// One output: a name, None, or a number.
LogicalResult FxReader::readOutput() {
  Output output;
  const char *begin = lexer.position();
  output.text = lexer.identifier();
  if (output.text == "None" || output.text == "True" ||
      output.text == "False") {
    output.kind = output.text == "None" ? Output::None : Output::Literal;
    outputs.push_back(output);
    return success();
  }
  if (output.text.empty()) {
    output.text = lexer.number();
    output.kind = Output::Literal;
    if (output.text.empty())
      return failCut(begin, "expected a result of the graph");
    outputs.push_back(output);
    return success();
  }
  Binding *binding = scope.find(output.text);
  if (!binding)
    return scope.failUndefined(output.text);
  if (binding->kind == Binding::Nothing) {
    outputs.push_back(output);
    return success();
  }
  if (binding->kind == Binding::Literal) {
    bool isNone = isa<joint::NoneAttr>(scope.literals[binding->tuple]);
    output.kind = isNone ? Output::None : Output::Literal;
    outputs.push_back(output);
    return success();
  }
  if (binding->kind != Binding::Value)
    return failCut(begin, "result " + quoted(output.text) +
                              " is not one value of known type");
  output.value = binding->value;
  output.isBackward = binding->isBackward;
  output.kind =
      isa<NoneType>(output.value.getType()) ? Output::None : Output::Value;
  outputs.push_back(output);
  return success();
}

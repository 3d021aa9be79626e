// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that run their graphs more or less often than once (cond, while_loop,
// scan) or inside of a kernel (flex_attention). Each graph of the text
//
//   true_graph_0 = self.true_graph_0
//   cond = torch.ops.higher_order.cond(gt, true_graph_0, false_graph_0, (x,))
//
// becomes a region of one `joint.nested`, whose values are called
// "true_graph_0.NAME" wherever the graph is called from.
//
// A call stays opaque, and a digest of its graphs' texts stands behind their
// names, if it is of another kind, if a graph is not in the text, writes in
// place, or has a constant of its own: ops with other graphs are other ops, to
// a proof as well.

#include "FxReader.h"

#include "cutback/Dialect/Joint/Nested.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

/// The first eight bytes of a digest of what a graph computes: its lines
/// without indentation and comments.
static std::string digestOf(StringRef text) {
  llvm::SHA256 hash;
  while (!text.empty()) {
    StringRef line = takeLine(text).trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    hash.update(line);
    hash.update("\n");
  }
  std::array<uint8_t, 32> digest = hash.final();
  return llvm::toHex(ArrayRef<uint8_t>(digest).take_front(8),
                     /*LowerCase=*/true);
}

std::optional<StringRef> FxReader::graphText(StringRef name) {
  Binding *module = scope.find(name);
  if (!module || module->kind != Binding::Module)
    return std::nullopt;
  return nested.find(scope.modules[module->tuple], lexer.position());
}

/// `value` with "NAME DIGEST" for each graph that the text has, and "NAME" for
/// others.
Attribute FxReader::markGraphs(Attribute value) {
  if (auto list = dyn_cast<ArrayAttr>(value)) {
    SmallVector<FlatSymbolRefAttr> graphs;
    joint::collectGraphs(list, graphs);
    if (graphs.empty())
      return value;
    SmallVector<Attribute> entries;
    for (Attribute entry : list)
      entries.push_back(markGraphs(entry));
    return scope.builder.getArrayAttr(entries);
  }
  auto graph = dyn_cast<FlatSymbolRefAttr>(value);
  if (!graph)
    return value;
  std::optional<StringRef> text = graphText(graph.getValue());
  return scope.builder.getStringAttr(
      graph.getValue() + (text ? " " + digestOf(*text) : std::string()));
}

/// Whether a graph can be a region. `text` has the graphs that are nested in
/// it, too.
bool FxReader::isPlainGraph(StringRef text) {
  for (StringRef rest = text; !rest.empty();) {
    StringRef line = takeLine(rest).trim();
    if (line.starts_with("#"))
      continue;
    if (line.contains("_.")) // "aten.copy_.default"
      return false;
    size_t attribute = line.find("= self.");
    if (attribute == StringRef::npos)
      continue;
    StringRef name = line.drop_front(attribute + strlen("= self."));
    name = name.take_while([](char c) { return chars::is(c, chars::kWord); });
    if (!nested.find(name, line.begin()))
      return false;
  }
  return true;
}

/// The texts of the graphs that a call runs, if they can be regions.
std::optional<SmallVector<FxReader::NamedText>>
FxReader::graphTexts(joint::NestedKind kind, ArrayAttr values) {
  SmallVector<FlatSymbolRefAttr> graphs;
  joint::collectGraphs(values, graphs);
  if (graphs.size() != joint::numGraphsOf(kind))
    return std::nullopt;
  SmallVector<NamedText> texts;
  for (auto [i, graph] : llvm::enumerate(graphs)) {
    std::optional<StringRef> text = graphText(graph.getValue());
    if (!text || !isPlainGraph(*text) || !joint::graphInputs(kind, values, i))
      return std::nullopt;
    texts.push_back({graph.getValue(), *text});
  }
  return texts;
}

/// Ends the region that was read with what its graph gives.
LogicalResult FxReader::endRegion(StringRef text) {
  SmallVector<Value> values;
  SmallVector<bool> places;
  for (const Output &output : outputs) {
    if (output.kind == Output::Literal)
      return failLiteralResult(text, output);
    places.push_back(output.kind == Output::Value);
    if (places.back())
      values.push_back(output.value);
  }
  joint::ReturnOp::create(scope.builder, place.location, values,
                          values.size() == places.size()
                              ? DenseBoolArrayAttr()
                              : scope.builder.getDenseBoolArrayAttr(places));
  return success();
}

/// Reads the graph `name` of text `text` into a region whose arguments are
/// `inputs` but for literals.
LogicalResult FxReader::readRegion(StringRef name, StringRef text,
                                   ArrayRef<joint::GraphInput> inputs,
                                   Region &region) {
  if (failed(checkNesting(text, lexer.position())))
    return failure();
  std::vector<Binding> operands;
  for (const joint::GraphInput &input : inputs)
    operands.push_back(input.literal ? literal(input.literal) : Binding());
  OpBuilder::InsertionGuard guard(scope.builder);
  Block *outerBlock = std::exchange(scope.nestedBlock, &region.emplaceBlock());
  scope.builder.setInsertionPointToStart(scope.nestedBlock);
  Names inner(scope.save(name + "."));
  std::swap(scope.names, inner);
  std::vector<Output> outer = std::exchange(outputs, {});
  LogicalResult result = readGraph(text, operands);
  if (succeeded(result))
    result = endRegion(text);
  std::swap(scope.names, inner);
  std::swap(outputs, outer);
  scope.nestedBlock = outerBlock;
  return result;
}

LogicalResult FxReader::nestedCall(const CallTarget &target,
                                   const CallStatement &statement) {
  // Reading a graph reads calls.
  CallArguments call = std::exchange(args, {});
  ArrayAttr values = scope.builder.getArrayAttr(call.values);
  std::optional<joint::NestedKind> kind = joint::nestedKindOf(target.name);
  std::optional<SmallVector<NamedText>> texts =
      kind ? graphTexts(*kind, values) : std::nullopt;
  if (!texts) {
    for (Attribute &value : call.values)
      value = markGraphs(value);
    return calls.build(target, call, statement, place);
  }
  std::vector<std::unique_ptr<Region>> graphs;
  for (auto [i, graph] : llvm::enumerate(*texts)) {
    graphs.push_back(std::make_unique<Region>());
    if (failed(readRegion(graph.name, graph.text,
                          *joint::graphInputs(*kind, values, i),
                          *graphs.back())))
      return failure();
  }
  return calls.buildNested(target, *kind, call, statement, graphs, place);
}

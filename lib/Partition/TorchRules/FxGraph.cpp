// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the FX view.
//
// A node is appended to the flat arrays piece by piece, between begin() and
// end(), so that a builder walks each call once and allocates nothing per
// node. Operands are made distinct with a stamp per node, literals are
// interned together with what Python would hash them to (CSE looks a call up
// by that hash, see Simplify.cpp), and users are counted into place at the
// end.
//
// Complexity: linear in nodes and arguments, expected.
#include "cutback/Partition/TorchRules/FxGraph.h"

#include <cmath>
#include <cstring>
#include <utility>

using namespace cutback;

void FxGraph::appendName(std::string_view name) {
  nameChars.append(name);
  nameBegin.push_back(static_cast<uint32_t>(nameChars.size()));
}

void FxGraph::reserveLike(const FxGraph &other) {
  size_t n = other.size();
  nodes.reserve(n);
  targets.reserve(n);
  binds.reserve(n);
  origin.reserve(n);
  nameBegin.reserve(n + 1);
  nameChars.reserve(other.nameChars.size());
  const FxRows *from[] = {&other.inputs, &other.directArgs, &other.clonedArgs,
                          &other.symbols, &other.tokens};
  FxRows *to[] = {&inputs, &directArgs, &clonedArgs, &symbols, &tokens};
  for (unsigned i = 0; i < 5; ++i) {
    to[i]->begin.reserve(n + 1);
    to[i]->items.reserve(from[i]->items.size());
  }
}

void FxGraph::computeUsers() {
  size_t n = nodes.size();
  users.begin.assign(n + 1, 0);
  for (uint32_t operand : inputs.items)
    ++users.begin[operand + 1];
  for (size_t i = 0; i < n; ++i)
    users.begin[i + 1] += users.begin[i];
  users.items.resize(inputs.items.size());
  std::vector<uint32_t> next(users.begin.begin(), users.begin.end() - 1);
  for (FxNodeId user = 0; user < n; ++user)
    for (FxNodeId operand : inputs[user])
      users.items[next[operand]++] = user;
}

void FxGraphBuilder::reserve(size_t nodes, size_t edges) {
  graph.nodes.reserve(nodes);
  graph.targets.reserve(nodes);
  graph.binds.reserve(nodes);
  lastSeen.reserve(nodes);
  for (FxRows *rows : {&graph.inputs, &graph.directArgs, &graph.tokens,
                       &graph.symbols, &graph.clonedArgs})
    rows->begin.reserve(nodes + 1);
  for (FxRows *rows : {&graph.inputs, &graph.directArgs, &graph.tokens})
    rows->items.reserve(edges);
}

uint32_t FxGraphBuilder::Names::intern(std::string_view text) {
  auto known = ids.find(text);
  if (known != ids.end())
    return known->second;
  auto id = static_cast<uint32_t>(texts.size());
  texts.emplace_back(text);
  ids.emplace(texts.back(), id);
  return id;
}

uint32_t FxGraphBuilder::packet(std::string_view name) {
  uint32_t id = packets.intern(name);
  if (id == graph.packets.size())
    graph.packets.emplace_back(name);
  return id;
}

int32_t FxGraphBuilder::symbol(std::string_view name) {
  uint32_t id = symbols.intern(name);
  if (id == graph.symbolNames.size())
    graph.symbolNames.emplace_back(name);
  return static_cast<int32_t>(id);
}

int32_t FxGraphBuilder::storage(int64_t bytes) {
  graph.storageBytes.push_back(bytes);
  return static_cast<int32_t>(graph.storageBytes.size() - 1);
}

void FxGraphBuilder::begin(std::string_view name, const FxNode &node) {
  graph.appendName(name);
  current = node;
  currentTarget = 0;
  currentBinds = -1;
  depth = 0;
  inKeyword = false;
}

void FxGraphBuilder::target(std::string_view name) {
  // 0 is for nodes without a target.
  currentTarget = 1 + targets.intern(name);
}

void FxGraphBuilder::argNode(FxNodeId n) {
  auto self = static_cast<FxNodeId>(graph.nodes.size());
  graph.tokens.items.push_back(fxtoken::node | n);
  if (depth == 0 && !inKeyword)
    graph.directArgs.items.push_back(n);
  // The stamp is this node's number plus one; 0 means never.
  if (lastSeen[n] == self + 1)
    return;
  lastSeen[n] = self + 1;
  graph.inputs.items.push_back(n);
}

void FxGraphBuilder::argClonedNode(FxNodeId n) {
  argNode(n);
  graph.clonedArgs.items.push_back(n);
}

void FxGraphBuilder::literal(char kind, uint64_t bits, uint64_t hash) {
  unsigned table = kind == 'i' ? 0 : kind == 'f' ? 1 : kind == 'b' ? 2 : 3;
  auto fresh = static_cast<uint32_t>(graph.literalHash.size());
  uint32_t id = literalIds[table].try_emplace(bits, fresh).first->second;
  if (id == fresh)
    graph.literalHash.push_back(hash ^ (uint64_t(table) << 62));
  graph.tokens.items.push_back(fxtoken::literal | id);
}

void FxGraphBuilder::argInt(int64_t value) {
  // Python hashes integers modulo 2^61 - 1 with their sign, and -1 as -2.
  constexpr int64_t modulus = (int64_t(1) << 61) - 1;
  int64_t hash = value % modulus;
  if (hash == -1)
    hash = -2;
  literal('i', static_cast<uint64_t>(value),
          static_cast<uint64_t>(hash) & (~uint64_t(0) >> 2));
}

void FxGraphBuilder::argFloat(double value) {
  if (value == 0)
    value = 0; // -0.0 equals 0.0.
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  // No NaN is equal to any other: each gets bits that nothing else has.
  if (std::isnan(value))
    bits = ~uint64_t(0) - graph.literalHash.size();
  literal('f', bits, bits & (~uint64_t(0) >> 2));
}

void FxGraphBuilder::argBool(bool value) { literal('b', value, value); }

void FxGraphBuilder::argText(std::string_view text) {
  // The top bit tells texts from what the caller interned.
  argOpaque(texts.intern(text) | uint64_t(1) << 63);
}

void FxGraphBuilder::argOpaque(uint64_t identity) {
  literal('o', identity, graph.literalHash.size());
}

void FxGraphBuilder::structure(uint32_t what) {
  graph.tokens.items.push_back(fxtoken::structure | what);
}

void FxGraphBuilder::argListBegin() {
  ++depth;
  structure(0);
}

void FxGraphBuilder::argListEnd() {
  if (depth)
    --depth;
  structure(1);
}

void FxGraphBuilder::keyword(std::string_view name) {
  inKeyword = true;
  structure(2 + texts.intern(name));
}

void FxGraphBuilder::freeSymbol(int32_t symbol) {
  graph.symbols.items.push_back(static_cast<uint32_t>(symbol));
}

void FxGraphBuilder::bindSymbol(int32_t symbol) { currentBinds = symbol; }

FxNodeId FxGraphBuilder::end() {
  auto id = static_cast<FxNodeId>(graph.nodes.size());
  graph.nodes.push_back(current);
  graph.targets.push_back(currentTarget);
  graph.binds.push_back(currentBinds);
  for (FxRows *rows : {&graph.inputs, &graph.directArgs, &graph.tokens,
                       &graph.symbols, &graph.clonedArgs})
    rows->close();
  graph.origin.push_back(id);
  lastSeen.push_back(0);
  return id;
}

FxGraph FxGraphBuilder::finish(std::vector<FxNodeId> outputs,
                               uint32_t numForwardOutputs) {
  FxNode node;
  node.kind = FxKind::Output;
  node.value = FxValue::None;
  begin("output", node);
  argListBegin();
  for (FxNodeId n : outputs)
    if (n != noFxNode)
      argNode(n);
  argListEnd();
  end();
  graph.outputs = std::move(outputs);
  graph.numForwardOutputs = numForwardOutputs;
  graph.computeUsers();
  return std::move(graph);
}

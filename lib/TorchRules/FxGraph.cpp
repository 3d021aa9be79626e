// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the FX view.
//
// A node is appended to the flat arrays piece by piece, between begin() and
// end(), so that a builder walks each call once and allocates nothing per
// node. Operands are made distinct with a stamp per node. What a call's
// arguments are besides nodes is interned as a skeleton, together with what
// Python would hash it to (CSE looks a call up by that hash, see Simplify.cpp);
// who knows a call's skeleton from an earlier one gives its number. Users are
// counted into place at the end.
//
// Complexity: linear in nodes and arguments, expected.
#include "cutback/TorchRules/FxGraph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

using namespace cutback;

void FxGraph::appendName(std::string_view name) {
  nameChars.append(name);
  nameBegin.push_back(static_cast<uint32_t>(nameChars.size()));
}

FxRow<uint32_t> FxSparseRows::operator[](uint32_t row) const {
  auto it = std::lower_bound(rows.begin(), rows.end(), row);
  if (it == rows.end() || *it != row)
    return {nullptr, nullptr};
  size_t i = it - rows.begin();
  uint32_t end = i + 1 < begin.size() ? begin[i + 1] : items.size();
  return {items.data() + begin[i], items.data() + end};
}

void FxSparseRows::append(uint32_t row, uint32_t item) {
  if (rows.empty() || rows.back() != row) {
    rows.push_back(row);
    begin.push_back(static_cast<uint32_t>(items.size()));
  }
  items.push_back(item);
}

void FxGraph::keepNames(const std::vector<uint8_t> &keep) {
  std::string chars = std::move(nameChars);
  std::vector<uint32_t> begin = std::move(nameBegin);
  nameChars.clear();
  nameBegin.assign(1, 0);
  for (FxNodeId n = 0; n < keep.size(); ++n)
    if (keep[n])
      appendName(
          std::string_view(chars).substr(begin[n], begin[n + 1] - begin[n]));
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
  graph.skeleton.reserve(nodes);
  lastSeen.reserve(nodes);
  for (FxRows *rows : {&graph.inputs, &graph.args}) {
    rows->begin.reserve(nodes + 1);
    rows->items.reserve(edges);
  }
}

uint32_t FxGraphBuilder::Names::intern(std::string_view text) {
  uint64_t hash = std::hash<std::string_view>()(text);
  uint32_t known =
      index.find(hash, [&](uint32_t i) { return texts[i] == text; });
  if (known != FlatIndex::kNone)
    return known;
  auto id = static_cast<uint32_t>(texts.size());
  texts.emplace_back(text);
  index.insert(hash, id);
  return id;
}

uint32_t FxGraphBuilder::packet(std::string_view name) {
  return packets.intern(name);
}

int32_t FxGraphBuilder::symbol(std::string_view name) {
  return static_cast<int32_t>(symbols.intern(name));
}

int32_t FxGraphBuilder::storage(int64_t bytes) {
  graph.storageBytes.push_back(bytes);
  return static_cast<int32_t>(graph.storageBytes.size() - 1);
}

void FxGraphBuilder::begin(std::string_view name, const FxNode &node) {
  graph.appendName(name);
  begin(node);
}

uint32_t FxGraphBuilder::internTarget(std::string_view name) {
  // 0 is for nodes without a target.
  return 1 + targets.intern(name);
}

void FxGraphBuilder::argClonedNode(FxNodeId n) {
  argNode(n);
  graph.clonedArgs.append(static_cast<uint32_t>(graph.nodes.size()), n);
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

void FxGraphBuilder::literal(char kind, uint64_t bits, uint64_t hash) {
  uint64_t key = mix(static_cast<uint64_t>(kind), bits);
  uint32_t id = literalsByHash.find(key, [&](uint32_t i) {
    return literals[i].kind == kind && literals[i].bits == bits;
  });
  if (id == FlatIndex::kNone) {
    id = static_cast<uint32_t>(literals.size());
    literals.push_back({kind, bits});
    literalsByHash.insert(key, id);
    uint64_t table = kind == 'i' ? 0 : kind == 'f' ? 1 : kind == 'b' ? 2 : 3;
    graph.literalHash.push_back(hash ^ (table << 62));
  }
  currentTokens.push_back(fxtoken::literal | id);
}

/// Python hashes numbers modulo this prime, with their sign, and -1 as -2.
static constexpr int64_t hashModulus = (int64_t(1) << 61) - 1;

static uint64_t signedHash(int64_t hash) {
  return static_cast<uint64_t>(hash == -1 ? -2 : hash) & (~uint64_t(0) >> 2);
}

void FxGraphBuilder::argInt(int64_t value) {
  literal('i', static_cast<uint64_t>(value), signedHash(value % hashModulus));
}

/// Of a finite number: mantissa * 2^exponent, modulo the prime. Multiplying by
/// a power of two turns the 61 bits around.
static int64_t hashOfFloat(double value) {
  constexpr int bits = 61;
  int exponent;
  double fraction = std::frexp(std::abs(value), &exponent);
  // 53 bits make the fraction a whole number.
  auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53));
  int turn = ((exponent - 53) % bits + bits) % bits;
  uint64_t hash = ((mantissa << turn) & uint64_t(hashModulus)) |
                  (turn ? mantissa >> (bits - turn) : 0);
  return std::signbit(value) ? -static_cast<int64_t>(hash)
                             : static_cast<int64_t>(hash);
}

void FxGraphBuilder::argFloat(double value) {
  if (value == 0)
    value = 0; // -0.0 equals 0.0.
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (std::isfinite(value))
    return literal('f', bits, signedHash(hashOfFloat(value)));
  if (std::isinf(value))
    return literal('f', bits, signedHash(value > 0 ? 314159 : -314159));
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
  currentTokens.push_back(fxtoken::structure | what);
}

void FxGraphBuilder::argListBegin() { structure(0); }

void FxGraphBuilder::argListEnd() { structure(1); }

void FxGraphBuilder::keyword(std::string_view name) {
  structure(2 + texts.intern(name));
}

void FxGraphBuilder::freeSymbol(int32_t symbol) {
  graph.symbols.append(static_cast<uint32_t>(graph.nodes.size()),
                       static_cast<uint32_t>(symbol));
}

void FxGraphBuilder::bindSymbol(int32_t symbol) {
  bindings.push_back({static_cast<FxNodeId>(graph.nodes.size()), symbol});
}

//===----------------------------------------------------------------------===//
// Skeletons
//===----------------------------------------------------------------------===//

static bool isStructure(uint32_t token) {
  return (token & fxtoken::kindMask) == fxtoken::structure;
}

/// What a token is to Python's hash(): nodes are alike, literals are what they
/// hash to.
static uint64_t alikeToken(const FxGraph &graph, uint32_t token) {
  return token == fxtoken::node ? ~uint64_t(0)
                                : graph.literalHash[token & ~fxtoken::kindMask];
}

/// Brackets and keywords do not take part in Python's hash().
static bool areAlike(const FxGraph &graph, FxRow<uint32_t> left,
                     FxRow<uint32_t> right) {
  const uint32_t *l = left.begin(), *r = right.begin();
  while (true) {
    l = std::find_if_not(l, left.end(), isStructure);
    r = std::find_if_not(r, right.end(), isStructure);
    if (l == left.end() || r == right.end())
      return l == left.end() && r == right.end();
    bool isNode = *l == fxtoken::node;
    if (isNode != (*r == fxtoken::node) ||
        (!isNode && alikeToken(graph, *l) != alikeToken(graph, *r)))
      return false;
    ++l;
    ++r;
  }
}

uint32_t FxGraphBuilder::classOfAlike(uint32_t skeleton) {
  FxRow<uint32_t> tokens = graph.skeletonTokens[skeleton];
  uint64_t hash = 0;
  for (uint32_t token : tokens)
    if (!isStructure(token))
      hash = mix(hash, alikeToken(graph, token));
  uint32_t known = alikeByHash.find(hash, [&](uint32_t i) {
    return areAlike(graph, graph.skeletonTokens[i], tokens);
  });
  if (known != FlatIndex::kNone)
    return known;
  alikeByHash.insert(hash, skeleton);
  return skeleton;
}

/// The number of `currentTokens`.
uint32_t FxGraphBuilder::internSkeleton() {
  uint64_t hash = 0;
  for (uint32_t token : currentTokens)
    hash = mix(hash, token);
  uint32_t same = skeletonsByHash.find(hash, [&](uint32_t i) {
    FxRow<uint32_t> known = graph.skeletonTokens[i];
    return std::equal(known.begin(), known.end(), currentTokens.begin(),
                      currentTokens.end());
  });
  if (same != FlatIndex::kNone)
    return same;
  auto number = static_cast<uint32_t>(graph.skeletons.size());
  skeletonsByHash.insert(hash, number);
  FxRows &tokens = graph.skeletonTokens;
  tokens.items.insert(tokens.items.end(), currentTokens.begin(),
                      currentTokens.end());
  tokens.close();
  FxSkeleton added;
  added.alike = classOfAlike(number);
  // A node behind a bracket or a keyword may not be direct.
  bool behind = false;
  for (uint32_t token : currentTokens) {
    behind |= isStructure(token);
    added.isFlat &= !(behind && token == fxtoken::node);
  }
  graph.skeletons.push_back(added);
  return number;
}

void FxGraphBuilder::listDirectArgs(FxNodeId n) {
  unsigned depth = 0;
  bool inKeyword = false;
  const FxNodeId *next = graph.args[n].begin();
  for (uint32_t token : graph.skeletonTokens[graph.skeleton[n]]) {
    if (token == fxtoken::open)
      ++depth;
    else if (token == fxtoken::close)
      depth -= depth > 0;
    else if (isStructure(token))
      inKeyword = true;
    if (token != fxtoken::node)
      continue;
    if (!depth && !inKeyword)
      graph.someDirectArgs.append(n, *next);
    ++next;
  }
}

FxNodeId FxGraphBuilder::end() { return end(internSkeleton()); }

FxGraph FxGraphBuilder::finish(std::vector<FxNodeId> outputs,
                               uint32_t numForwardOutputs) {
  FxNode node;
  node.kind = FxKind::Output;
  node.value = FxValue::None;
  if (graph.hasNames())
    graph.appendName("output");
  begin(node);
  argListBegin();
  for (FxNodeId n : outputs)
    if (n != noFxNode)
      argNode(n);
  argListEnd();
  end();
  graph.binds.assign(graph.size(), -1);
  for (auto [n, symbol] : bindings)
    graph.binds[n] = symbol;
  graph.origin.resize(graph.size());
  std::iota(graph.origin.begin(), graph.origin.end(), 0);
  graph.packets = std::move(packets.texts);
  graph.symbolNames = std::move(symbols.texts);
  graph.outputs = std::move(outputs);
  graph.numForwardOutputs = numForwardOutputs;
  graph.computeUsers();
  return std::move(graph);
}

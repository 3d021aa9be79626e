// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pickle is a program for a stack machine, and a full one can call anything.
// torch.save needs little of it for a dictionary of tensors:
//
//   numbers, texts, None, booleans; tuples, lists, dictionaries; a memo
//   GLOBAL    a name, one of `torch._utils._rebuild_tensor_v2`,
//             `torch._utils._rebuild_parameter`, `collections.OrderedDict`,
//             and the storage types `torch.*Storage`
//   BINPERSID ('storage', type, key, device, elements): a file beside this one
//   REDUCE    one of the three functions on a tuple
//   BUILD     attributes of an OrderedDict, which nobody needs
//
// Everything else is refused by its name or number. Values are made once and
// shared by their number, so nothing can grow beyond the length of the text.

#include "Unpickler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace cutback;
using namespace cutback::pt2;
using llvm::StringRef;

namespace {
constexpr StringRef kRebuildTensor = "torch._utils._rebuild_tensor_v2";
constexpr StringRef kRebuildParameter = "torch._utils._rebuild_parameter";
constexpr StringRef kOrderedDict = "collections.OrderedDict";

constexpr char kCut[] = "the pickle is cut off";
constexpr char kBroken[] = "the pickle takes a value that is not there";

bool isStorageType(StringRef name) {
  return name.consume_front("torch.") && name.ends_with("Storage") &&
         !name.contains('.');
}
} // namespace

bool Unpickler::take(size_t bytes, StringRef &result) {
  if (bytes > text.size() - at)
    return false;
  result = text.substr(at, bytes);
  at += bytes;
  return true;
}

bool Unpickler::number(unsigned bytes, uint64_t &result) {
  StringRef raw;
  if (!take(bytes, raw))
    return false;
  result = 0;
  for (size_t i = raw.size(); i-- > 0;)
    result = (result << 8) | static_cast<unsigned char>(raw[i]);
  return true;
}

uint32_t Unpickler::push(Node node) {
  nodes.push_back(std::move(node));
  stack.push_back(static_cast<uint32_t>(nodes.size() - 1));
  return stack.back();
}

bool Unpickler::pop(uint32_t &id) {
  if (stack.empty() || nodes[stack.back()].kind == Kind::Mark)
    return false;
  id = stack.back();
  stack.pop_back();
  return true;
}

bool Unpickler::popMark(size_t &first) {
  for (size_t i = stack.size(); i-- > 0;)
    if (nodes[stack[i]].kind == Kind::Mark) {
      stack.erase(stack.begin() + static_cast<ptrdiff_t>(i));
      first = i;
      return true;
    }
  return false;
}

Unpickler::Error Unpickler::store(uint64_t slot) {
  if (stack.empty())
    return fail(kBroken);
  memo[slot] = stack.back();
  return std::nullopt;
}

Unpickler::Error Unpickler::recall(uint64_t slot) {
  auto it = memo.find(slot);
  if (it == memo.end())
    return fail(kBroken);
  stack.push_back(it->second);
  return std::nullopt;
}

/// GLOBAL: two lines, module and name.
Unpickler::Error Unpickler::readName() {
  size_t middle = text.find('\n', at);
  size_t end = middle == StringRef::npos ? middle : text.find('\n', middle + 1);
  if (end == StringRef::npos)
    return fail(kCut);
  std::string name =
      (text.slice(at, middle) + "." + text.slice(middle + 1, end)).str();
  Node node{Kind::Name, 0, text.slice(at, end), {}};
  at = end + 1;
  if (name != kRebuildTensor && name != kRebuildParameter &&
      name != kOrderedDict && !isStorageType(name))
    return fail("the pickle asks for '" + name.substr(0, 80) +
                "', which tensors do not need");
  push(std::move(node));
  return std::nullopt;
}

bool Unpickler::integers(uint32_t id,
                         llvm::SmallVectorImpl<int64_t> &result) const {
  // PyTorch has no tensors of more dimensions; and a memo may offer one long
  // list again and again.
  constexpr size_t kMaxRank = 64;
  if (nodes[id].kind != Kind::List || nodes[id].items.size() > kMaxRank)
    return false;
  for (uint32_t item : nodes[id].items) {
    if (nodes[item].kind != Kind::Number)
      return false;
    result.push_back(nodes[item].number);
  }
  return true;
}

/// (storage, offset, sizes, strides, requires_grad, hooks[, metadata])
Unpickler::Error Unpickler::rebuildTensor(uint32_t argsId) {
  const Node &args = nodes[argsId];
  auto wrong = [&] {
    return fail("the pickle makes a tensor of something else than a storage, "
                "an offset, sizes and strides");
  };
  if (args.items.size() < 4)
    return wrong();
  const Node &storage = nodes[args.items[0]];
  const Node &offset = nodes[args.items[1]];
  if (storage.kind != Kind::Storage || offset.kind != Kind::Number)
    return wrong();
  PickledTensor tensor = table[static_cast<size_t>(storage.number)];
  tensor.offset = offset.number;
  if (!integers(args.items[2], tensor.sizes) ||
      !integers(args.items[3], tensor.strides))
    return wrong();
  table.push_back(std::move(tensor));
  push({Kind::Tensor, static_cast<int64_t>(table.size() - 1), {}, {}});
  return std::nullopt;
}

Unpickler::Error Unpickler::reduce() {
  uint32_t argsId = 0, calleeId = 0;
  if (!pop(argsId) || !pop(calleeId) || nodes[argsId].kind != Kind::List)
    return fail(kBroken);
  std::string callee = nodes[calleeId].text.str();
  std::replace(callee.begin(), callee.end(), '\n', '.');
  if (nodes[calleeId].kind != Kind::Name || isStorageType(callee))
    return fail("the pickle calls what is no function");
  if (callee == kOrderedDict) {
    push({Kind::Dict, 0, {}, {}});
    return std::nullopt;
  }
  if (callee == kRebuildTensor)
    return rebuildTensor(argsId);
  const std::vector<uint32_t> &args = nodes[argsId].items;
  if (args.empty() || nodes[args[0]].kind != Kind::Tensor)
    return fail("the pickle makes a parameter of something else than a tensor");
  stack.push_back(args[0]);
  return std::nullopt;
}

/// A storage: ('storage', type, key, device, elements).
Unpickler::Error Unpickler::persistent() {
  uint32_t id = 0;
  if (!pop(id))
    return fail(kBroken);
  const Node &tuple = nodes[id];
  auto entry = [&](size_t i, Kind kind) -> const Node * {
    if (tuple.kind != Kind::List || i >= tuple.items.size())
      return nullptr;
    const Node &node = nodes[tuple.items[i]];
    return node.kind == kind ? &node : nullptr;
  };
  const Node *what = entry(0, Kind::Text), *type = entry(1, Kind::Name),
             *key = entry(2, Kind::Text);
  if (!what || what->text != "storage" || !type || !key)
    return fail("the pickle refers to something else than a storage");
  PickledTensor storage;
  storage.storageType = type->text.rsplit('\n').second;
  storage.storageKey = key->text;
  table.push_back(std::move(storage));
  push({Kind::Storage, static_cast<int64_t>(table.size() - 1), {}, {}});
  return std::nullopt;
}

/// Moves what stands from `first` on into the list or dictionary below it.
Unpickler::Error Unpickler::addItems(Kind kind, size_t first) {
  if (first == 0 || first > stack.size() ||
      nodes[stack[first - 1]].kind != kind)
    return fail(kBroken);
  if (kind == Kind::Dict && (stack.size() - first) % 2 != 0)
    return fail(kBroken);
  Node &target = nodes[stack[first - 1]];
  target.items.insert(target.items.end(),
                      stack.begin() + static_cast<ptrdiff_t>(first),
                      stack.end());
  stack.resize(first);
  return std::nullopt;
}

Unpickler::Error Unpickler::stepContainer(unsigned char opcode) {
  size_t first = stack.size();
  switch (opcode) {
  case ')': // EMPTY_TUPLE
  case ']': // EMPTY_LIST
  case '}': // EMPTY_DICT
    push({opcode == '}' ? Kind::Dict : Kind::List, 0, {}, {}});
    return std::nullopt;
  case 0x85: // TUPLE1 to TUPLE3
  case 0x86:
  case 0x87:
  case 't': { // TUPLE
    size_t count = opcode - 0x84u;
    if (opcode == 't' ? !popMark(first) : count > stack.size())
      return fail(kBroken);
    if (opcode != 't')
      first = stack.size() - count;
    Node tuple{Kind::List, 0, {}, {}};
    tuple.items.assign(stack.begin() + static_cast<ptrdiff_t>(first),
                       stack.end());
    for (uint32_t item : tuple.items)
      if (nodes[item].kind == Kind::Mark)
        return fail(kBroken);
    stack.resize(first);
    push(std::move(tuple));
    return std::nullopt;
  }
  case 's': // SETITEM
    return first < 2 ? fail(kBroken) : addItems(Kind::Dict, first - 2);
  case 'a': // APPEND
    return first < 1 ? fail(kBroken) : addItems(Kind::List, first - 1);
  default: // SETITEMS, APPENDS
    return popMark(first)
               ? addItems(opcode == 'u' ? Kind::Dict : Kind::List, first)
               : fail(kBroken);
  }
}

Unpickler::Error Unpickler::stepNumber(unsigned char opcode) {
  uint64_t value = 0;
  unsigned bytes = opcode == 'K' ? 1 : opcode == 'M' ? 2 : 4;
  if (opcode == 0x8a) { // LONG1
    uint64_t length = 0;
    if (!number(1, length))
      return fail(kCut);
    if (length > 8)
      return fail("the pickle has a number of more than 64 bits");
    bytes = static_cast<unsigned>(length);
  }
  if (!number(bytes, value))
    return fail(kCut);
  if (opcode == 'J')
    value = static_cast<uint64_t>(static_cast<int32_t>(value));
  bool isSigned = opcode == 0x8a && bytes > 0 && bytes < 8;
  if (isSigned && (value >> (8 * bytes - 1) & 1))
    value |= ~uint64_t(0) << (8 * bytes);
  push({Kind::Number, static_cast<int64_t>(value), {}, {}});
  return std::nullopt;
}

Unpickler::Error Unpickler::stepMemo(unsigned char opcode) {
  uint64_t slot = memo.size(); // MEMOIZE
  bool isWide = opcode == 'r' || opcode == 'j';
  if (opcode != 0x94 && !number(isWide ? 4 : 1, slot))
    return fail(kCut);
  return opcode == 'h' || opcode == 'j' ? recall(slot) : store(slot);
}

// One case an opcode. NOLINTNEXTLINE(readability-function-size)
Unpickler::Error Unpickler::step(unsigned char opcode, bool &stops) {
  uint64_t size = 0;
  StringRef raw;
  uint32_t id = 0;
  switch (opcode) {
  case 0x80: // PROTO
    if (!number(1, size))
      return fail(kCut);
    return size > 4 ? fail("the pickle is of protocol " + std::to_string(size) +
                           ", and 4 is the last known")
                    : std::nullopt;
  case 0x95: // FRAME
    return take(8, raw) ? std::nullopt : fail(kCut);
  case 'K':  // BININT1
  case 'M':  // BININT2
  case 'J':  // BININT
  case 0x8a: // LONG1
    return stepNumber(opcode);
  case 0x88: // NEWTRUE
  case 0x89: // NEWFALSE
    push({Kind::Number, opcode == 0x88, {}, {}});
    return std::nullopt;
  case 'G': // BINFLOAT
    if (!take(8, raw))
      return fail(kCut);
    push({});
    return std::nullopt;
  case 'N': // NONE
    push({});
    return std::nullopt;
  case 'X':  // BINUNICODE
  case 0x8c: // SHORT_BINUNICODE
    if (!number(opcode == 'X' ? 4 : 1, size) || !take(size, raw))
      return fail(kCut);
    push({Kind::Text, 0, raw, {}});
    return std::nullopt;
  case '(': // MARK
    push({Kind::Mark, 0, {}, {}});
    return std::nullopt;
  case 'q':  // BINPUT
  case 'r':  // LONG_BINPUT
  case 0x94: // MEMOIZE
  case 'h':  // BINGET
  case 'j':  // LONG_BINGET
    return stepMemo(opcode);
  case 'c': // GLOBAL
    return readName();
  case 'R': // REDUCE
    return reduce();
  case 'Q': // BINPERSID
    return persistent();
  case 'b': // BUILD
    return pop(id) && !stack.empty() && nodes[stack.back()].kind == Kind::Dict
               ? std::nullopt
               : fail("the pickle sets attributes of something else than an "
                      "OrderedDict");
  case '.': // STOP
    stops = true;
    return std::nullopt;
  default:
    if (StringRef(")]}tsuae\x85\x86\x87").contains(static_cast<char>(opcode)))
      return stepContainer(opcode);
    --at;
    return fail("the pickle has opcode 0x" + llvm::utohexstr(opcode) +
                ", which tensors do not need");
  }
}

Unpickler::Error Unpickler::finish() {
  if (stack.size() != 1 || nodes[stack[0]].kind != Kind::Dict)
    return fail("the pickle is not a dictionary of tensors");
  const std::vector<uint32_t> &items = nodes[stack[0]].items;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    const Node &key = nodes[items[i]], &value = nodes[items[i + 1]];
    if (key.kind == Kind::Text && value.kind == Kind::Tensor)
      tensors.emplace_back(key.text, table[static_cast<size_t>(value.number)]);
  }
  return std::nullopt;
}

Unpickler::Error Unpickler::run() {
  bool stops = false;
  while (!stops) {
    if (at == text.size())
      return fail(kCut);
    auto opcode = static_cast<unsigned char>(text[at++]);
    if (Error error = step(opcode, stops))
      return error;
  }
  return finish();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A JSON reader for large machine-written documents of which all is needed,
// in another order than it is written.
//
// The text is read once, front to back, into a table of values in document
// order. A value knows its place in the text and the value behind it, so a
// look-up walks over members without entering them. Strings are found eight
// bytes at a time and stay in the text. Brackets are matched with an explicit
// stack: depth costs memory, not stack.
//
// Why not a library: a position for every error, Python's bare NaN and
// Infinity, values addressed by their text (equal texts are interned by their
// readers), and no padding behind the text, which is mapped from a file.

#include "cutback/Support/Json.h"

#include "cutback/Support/Text.h"

#include <cstdlib>
#include <cstring>
#include <limits>

using namespace cutback;

namespace {
constexpr size_t kMaxDepth = 512;
constexpr uint64_t kOnes = 0x0101010101010101ull;
constexpr uint64_t kHighs = 0x8080808080808080ull;

/// Non-zero if a byte of `word` is zero.
uint64_t zeroBytes(uint64_t word) { return (word - kOnes) & ~word & kHighs; }
/// Non-zero if a byte of `word` is `byte`.
uint64_t hasByte(uint64_t word, unsigned char byte) {
  return zeroBytes(word ^ (kOnes * byte));
}
/// Non-zero if a byte of `word` is less than 0x20.
uint64_t hasControl(uint64_t word) {
  return (word - kOnes * 0x20) & ~word & kHighs;
}
} // namespace

const char *cutback::describe(JsonKind kind) {
  switch (kind) {
  case JsonKind::Missing:
    return "nothing";
  case JsonKind::Null:
    return "null";
  case JsonKind::False:
  case JsonKind::True:
    return "a boolean";
  case JsonKind::Number:
    return "a number";
  case JsonKind::String:
    return "a string";
  case JsonKind::Array:
    return "an array";
  case JsonKind::Object:
    return "an object";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

JsonKind JsonValue::kind() const {
  return document ? document->nodes[index].kind : JsonKind::Missing;
}

std::string_view JsonValue::raw() const {
  if (!document)
    return {};
  const auto &node = document->nodes[index];
  return document->text.substr(node.begin, node.end - node.begin);
}

bool JsonValue::hasEscapes() const {
  return document && document->nodes[index].hasEscapes;
}

std::optional<int64_t> JsonValue::asInt() const {
  if (kind() != JsonKind::Number)
    return std::nullopt;
  std::string_view digits = raw();
  bool isNegative = digits.front() == '-';
  if (isNegative)
    digits.remove_prefix(1);
  // Negative all the way, as there is one more of those.
  int64_t value = 0;
  for (char c : digits) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10, &value) ||
        __builtin_sub_overflow(value, c - '0', &value))
      return std::nullopt;
  }
  if (isNegative)
    return value;
  if (value == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  return -value;
}

std::optional<double> JsonValue::asDouble() const {
  if (kind() != JsonKind::Number && kind() != JsonKind::String)
    return std::nullopt;
  std::string_view text = raw();
  std::string_view word = text;
  bool isNegative = !word.empty() && word.front() == '-';
  if (isNegative)
    word.remove_prefix(1);
  double value = 0;
  if (word == "Infinity")
    value = std::numeric_limits<double>::infinity();
  else if (word == "NaN")
    value = std::numeric_limits<double>::quiet_NaN();
  else if (kind() == JsonKind::Number)
    value = std::strtod(std::string(word).c_str(), nullptr);
  else
    return std::nullopt;
  return isNegative ? -value : value;
}

static void appendUtf8(std::string &out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

static int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// The four hex digits at `i`; the parser has checked that they are there.
static uint32_t hexCode(std::string_view text, size_t i) {
  uint32_t code = 0;
  for (size_t k = i; k < i + 4; ++k)
    code = code * 16 + static_cast<uint32_t>(hexDigit(text[k]));
  return code;
}

std::string JsonValue::decoded() const {
  std::string_view text = raw();
  if (!hasEscapes())
    return std::string(text);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    char c = text[++i];
    if (c != 'u') {
      static constexpr char kFrom[] = "bfnrt", kTo[] = "\b\f\n\r\t";
      const char *found = std::strchr(kFrom, c);
      out += found ? kTo[found - kFrom] : c;
      continue;
    }
    uint32_t code = hexCode(text, i + 1);
    i += 4;
    if (code >= 0xD800 && code < 0xDC00 && text.substr(i + 1, 2) == "\\u") {
      uint32_t low = hexCode(text, i + 3);
      if (low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        i += 6;
      }
    }
    appendUtf8(out, code);
  }
  return out;
}

JsonValue::Iterator &JsonValue::Iterator::operator++() {
  index = document->nodes[index].next;
  return *this;
}

JsonValue::Range JsonValue::children() const {
  if (kind() != JsonKind::Array && kind() != JsonKind::Object)
    return {{nullptr, 0}, {nullptr, 0}};
  return {{document, index + 1}, {document, document->nodes[index].next}};
}

size_t JsonValue::size() const {
  size_t count = 0;
  for (auto it : children())
    count += it.document != nullptr;
  return kind() == JsonKind::Object ? count / 2 : count;
}

JsonValue JsonValue::find(std::string_view key) const {
  if (kind() != JsonKind::Object)
    return {};
  Range range = children();
  for (Iterator it = range.begin(); it != range.end(); ++it) {
    bool isFound = (*it).raw() == key;
    ++it;
    if (isFound)
      return *it;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

namespace cutback {

class JsonParser {
public:
  JsonParser(std::string_view text, JsonDocument &document)
      : begin(text.data()), at(begin), end(begin + text.size()),
        nodes(document.nodes) {
    // What PyTorch writes has a value in 15 bytes or more.
    nodes.reserve(text.size() / 12 + 16);
  }

  std::optional<JsonError> run();

private:
  using Node = JsonDocument::Node;

  std::optional<JsonError> fail(const char *message) const {
    return JsonError{static_cast<size_t>(at - begin), message};
  }
  void skipSpace() {
    while (at != end &&
           (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
      ++at;
  }
  void add(const char *from, const char *to, JsonKind kind,
           bool hasEscapes = false) {
    nodes.push_back(
        {static_cast<uint32_t>(from - begin), static_cast<uint32_t>(to - begin),
         static_cast<uint32_t>(nodes.size() + 1), kind, hasEscapes});
  }
  std::optional<JsonError> value();
  std::optional<JsonError> string();
  std::optional<JsonError> escape();
  std::optional<JsonError> number();
  std::optional<JsonError> word();
  std::optional<JsonError> key();
  void open(JsonKind kind) {
    stack.push_back(static_cast<uint32_t>(nodes.size()));
    add(at, at, kind);
    ++at;
  }
  void close() {
    Node &node = nodes[stack.back()];
    node.end = static_cast<uint32_t>(++at - begin);
    node.next = static_cast<uint32_t>(nodes.size());
    stack.pop_back();
  }
  bool inObject() const { return nodes[stack.back()].kind == JsonKind::Object; }
  std::optional<JsonError> afterValue();

  const char *begin, *at, *end;
  std::vector<Node> &nodes;
  std::vector<uint32_t> stack;
  bool wantsValue = true;
};

} // namespace cutback

std::optional<JsonError> JsonParser::escape() {
  ++at; // the backslash
  if (at == end)
    return fail("the text ends inside a string");
  if (*at != 'u') {
    if (!std::strchr("\"\\/bfnrt", *at) || *at == '\0')
      return fail("a string has an unknown escape");
    ++at;
    return std::nullopt;
  }
  ++at;
  for (int i = 0; i < 4; ++i, ++at)
    if (at == end || hexDigit(*at) < 0)
      return fail("a string has an unknown escape");
  return std::nullopt;
}

std::optional<JsonError> JsonParser::string() {
  const char *from = ++at;
  bool hasEscapes = false;
  while (true) {
    uint64_t found = 0;
    while (end - at >= 8) {
      uint64_t word = 0;
      std::memcpy(&word, at, 8);
      found = hasByte(word, '"') | hasByte(word, '\\') | hasControl(word);
      if (found)
        break;
      at += 8;
    }
    // The first byte of a word is its lowest; marks above the first true one
    // may be wrong.
    if (found)
      at += __builtin_ctzll(found) / 8;
    else
      while (at != end && *at != '"' && *at != '\\' &&
             static_cast<unsigned char>(*at) >= 0x20)
        ++at;
    if (at == end)
      return fail("the text ends inside a string");
    if (*at == '"')
      break;
    if (*at != '\\')
      return fail("a string has a control character");
    hasEscapes = true;
    if (auto error = escape())
      return error;
  }
  add(from, at, JsonKind::String, hasEscapes);
  ++at;
  return std::nullopt;
}

std::optional<JsonError> JsonParser::number() {
  const char *from = at;
  auto digits = [&] {
    const char *first = at;
    while (at != end && *at >= '0' && *at <= '9')
      ++at;
    return at != first;
  };
  if (*at == '-')
    ++at;
  if (at != end && *at == 'I') {
    if (std::string_view(at, end - at).substr(0, 8) != "Infinity")
      return fail("this is not a number");
    at += 8;
    add(from, at, JsonKind::Number);
    return std::nullopt;
  }
  bool isGood = digits();
  if (isGood && at != end && *at == '.') {
    ++at;
    isGood = digits();
  }
  if (isGood && at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '+' || *at == '-'))
      ++at;
    isGood = digits();
  }
  if (!isGood)
    return fail("this is not a number");
  add(from, at, JsonKind::Number);
  return std::nullopt;
}

std::optional<JsonError> JsonParser::word() {
  static constexpr std::pair<std::string_view, JsonKind> kWords[] = {
      {"null", JsonKind::Null},
      {"false", JsonKind::False},
      {"true", JsonKind::True},
      {"NaN", JsonKind::Number},
      {"Infinity", JsonKind::Number}};
  std::string_view rest(at, end - at);
  for (auto [text, kind] : kWords)
    if (rest.substr(0, text.size()) == text) {
      add(at, at + text.size(), kind);
      at += text.size();
      return std::nullopt;
    }
  return fail("expected a value");
}

std::optional<JsonError> JsonParser::key() {
  skipSpace();
  if (at == end)
    return fail("the text ends inside an object");
  if (*at != '"')
    return fail("expected the name of a member in quotes");
  if (auto error = string())
    return error;
  skipSpace();
  if (at == end || *at != ':')
    return fail("expected ':' behind the name of a member");
  ++at;
  return std::nullopt;
}

/// Reads one value; of an array or object, its opening bracket.
std::optional<JsonError> JsonParser::value() {
  skipSpace();
  if (at == end)
    return fail("the text ends where a value should be");
  wantsValue = false;
  switch (*at) {
  case '"':
    return string();
  case '{':
  case '[': {
    if (stack.size() >= kMaxDepth)
      return fail("values nest deeper than 512 levels");
    bool isObject = *at == '{';
    open(isObject ? JsonKind::Object : JsonKind::Array);
    skipSpace();
    if (at != end && *at == (isObject ? '}' : ']')) {
      close();
      return std::nullopt;
    }
    wantsValue = true;
    return isObject ? key() : std::nullopt;
  }
  default:
    if (*at == '-' || (*at >= '0' && *at <= '9'))
      return number();
    return word();
  }
}

/// Reads what stands between one value and the next.
std::optional<JsonError> JsonParser::afterValue() {
  skipSpace();
  bool isObject = inObject();
  if (at == end)
    return fail(isObject ? "the text ends inside an object"
                         : "the text ends inside an array");
  if (*at == (isObject ? '}' : ']')) {
    close();
    return std::nullopt;
  }
  if (*at != ',')
    return fail(isObject ? "expected ',' or '}' in an object"
                         : "expected ',' or ']' in an array");
  ++at;
  wantsValue = true;
  return isObject ? key() : std::nullopt;
}

std::optional<JsonError> JsonParser::run() {
  while (wantsValue || !stack.empty())
    if (auto error = wantsValue ? value() : afterValue())
      return error;
  skipSpace();
  if (at != end)
    return fail("the text goes on behind its value");
  return std::nullopt;
}

std::optional<JsonError> JsonDocument::parse(std::string_view text,
                                             JsonDocument &document) {
  size_t whole = text.size();
  document.nodes.clear();
  if (whole >= std::numeric_limits<uint32_t>::max())
    return JsonError{0, "the text is longer than 4 GiB"};
  text = withoutByteOrderMark(text);
  document.text = text;
  std::optional<JsonError> error = JsonParser(text, document).run();
  if (error) {
    document.nodes.clear();
    error->offset += whole - text.size();
  }
  return error;
}

std::string cutback::quoteJson(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
      continue;
    }
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", c);
    out += code;
  }
  return out + "\"";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON documents, read in place.
#ifndef CUTBACK_SUPPORT_JSON_H
#define CUTBACK_SUPPORT_JSON_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cutback {

class JsonDocument;

enum class JsonKind : uint8_t {
  Missing, ///< what a look-up gives that found nothing
  Null,
  False,
  True,
  Number,
  String,
  Array,
  Object
};
/// "null", "a number", "an object": for messages.
const char *describe(JsonKind kind);

/// One value of a document, which must outlive it. Accessors of a kind that
/// the value has not give nothing: an empty list, a missing value.
class JsonValue {
public:
  JsonValue() = default;
  JsonValue(const JsonDocument *document, uint32_t index)
      : document(document), index(index) {}

  JsonKind kind() const;
  explicit operator bool() const { return document != nullptr; }
  bool isNull() const { return kind() == JsonKind::Null; }
  bool isNumber() const { return kind() == JsonKind::Number; }
  bool isString() const { return kind() == JsonKind::String; }
  bool isArray() const { return kind() == JsonKind::Array; }
  bool isObject() const { return kind() == JsonKind::Object; }
  bool isBool() const {
    return kind() == JsonKind::True || kind() == JsonKind::False;
  }

  /// The text of the value as it stands in the document; of a string, what is
  /// between the quotes.
  std::string_view raw() const;
  /// A string with an escape in it: its raw text is not its value.
  bool hasEscapes() const;
  /// The value of a string.
  std::string decoded() const;
  std::optional<int64_t> asInt() const;
  /// Of a number; also of NaN and ±Infinity, bare or as a string.
  std::optional<double> asDouble() const;

  /// The member `key` of an object.
  JsonValue find(std::string_view key) const;
  /// The entries of an array, or keys and values of an object in turn.
  class Iterator {
  public:
    Iterator(const JsonDocument *document, uint32_t index)
        : document(document), index(index) {}
    JsonValue operator*() const { return {document, index}; }
    Iterator &operator++();
    bool operator!=(const Iterator &other) const {
      return index != other.index;
    }

  private:
    const JsonDocument *document;
    uint32_t index;
  };
  struct Range {
    Iterator first, last;
    Iterator begin() const { return first; }
    Iterator end() const { return last; }
  };
  Range children() const;
  /// Entries of an array, members of an object. Walks over them.
  size_t size() const;

private:
  friend class JsonDocument;
  const JsonDocument *document = nullptr;
  uint32_t index = 0;
};

/// Where and why a text is no JSON.
struct JsonError {
  size_t offset = 0;
  std::string message;
};

/// A parsed text: 16 bytes a value, strings stay where they are. The text must
/// outlive the document.
class JsonDocument {
public:
  /// Reads `text`, which must be one value. Accepts what Python writes beyond
  /// the standard: NaN, Infinity, -Infinity. Nesting is limited to 512 levels,
  /// the text to 4 GiB. Linear, without recursion.
  static std::optional<JsonError> parse(std::string_view text,
                                        JsonDocument &document);

  JsonValue root() const { return {this, 0}; }

private:
  friend class JsonValue;
  friend class JsonParser;
  struct Node {
    uint32_t begin, end; ///< in the text; of a string without its quotes
    uint32_t next;       ///< the node behind this one and what it holds
    JsonKind kind;
    bool hasEscapes;
  };
  std::string_view text;
  std::vector<Node> nodes;
};

/// `text` as a JSON string, with its quotes.
std::string quoteJson(std::string_view text);

} // namespace cutback

#endif // CUTBACK_SUPPORT_JSON_H

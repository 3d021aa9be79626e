// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As much JSON as the reference networks need: objects, arrays, strings without
// escapes that matter here, numbers, true, false and null. For files of our
// own; what it cannot read ends the reading.
#ifndef CUTBACK_TEST_UNIT_PARTITION_MAXFLOW_JSONREADER_H
#define CUTBACK_TEST_UNIT_PARTITION_MAXFLOW_JSONREADER_H

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace cutback::samples {

struct Json {
  std::map<std::string, Json> members;
  std::vector<Json> elements;
  std::string string;
  double number = 0;

  const Json &operator[](const std::string &key) const {
    static const Json none;
    auto it = members.find(key);
    return it == members.end() ? none : it->second;
  }
  bool has(const std::string &key) const { return members.count(key) != 0; }
  /// Exact: capacities stay below 2^53.
  int64_t integer() const { return static_cast<int64_t>(number); }
};

class JsonReader {
public:
  static Json readFile(const std::string &path) {
    std::ifstream in(path);
    JsonReader reader;
    reader.text.assign(std::istreambuf_iterator<char>(in), {});
    return reader.readValue();
  }

private:
  char peek() {
    while (at < text.size() && std::isspace(static_cast<uint8_t>(text[at])))
      ++at;
    return at < text.size() ? text[at] : '\0';
  }
  /// Steps over `c` if it is next.
  bool skip(char c) { return peek() == c && ++at; }

  std::string readString() {
    std::string result;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      at += text[at] == '\\';
      result += text[at];
    }
    ++at;
    return result;
  }

  Json readValue() {
    Json value;
    if (skip('{')) {
      while (!skip('}') && peek() == '"') {
        std::string key = readString();
        skip(':');
        value.members[key] = readValue();
        skip(',');
      }
    } else if (skip('[')) {
      while (!skip(']') && peek() != '\0') {
        value.elements.push_back(readValue());
        skip(',');
      }
    } else if (peek() == '"') {
      value.string = readString();
    } else {
      size_t end = text.find_first_of(",]} \n", at);
      std::string word = text.substr(at, end - at);
      value.number = word == "true" ? 1 : std::strtod(word.c_str(), nullptr);
      at = end == std::string::npos ? text.size() : end;
    }
    return value;
  }

  std::string text;
  size_t at = 0;
};

} // namespace cutback::samples

#endif // CUTBACK_TEST_UNIT_PARTITION_MAXFLOW_JSONREADER_H

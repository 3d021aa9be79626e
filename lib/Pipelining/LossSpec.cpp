// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A spec with brackets is read from left to right: its values, whatever they
// are nested in, belong to the outputs one after the other. Keys of
// dictionaries say nothing more, for a program's outputs have none.
//
// The errors are those of PyTorch's specs: no dynamic value, another structure,
// another length, no loss in it, a value that is no truth value.

#include "cutback/Pipelining/LossSpec.h"

#include <vector>

using namespace cutback;
using llvm::StringRef;

namespace {

class SpecReader {
public:
  explicit SpecReader(StringRef text) : rest(text) {}

  /// The truth values, in their order; false with `error` set.
  bool read(std::vector<bool> &values, std::string &error) {
    bool isRead = readValue(values) && rest.trim().empty();
    if (!isRead)
      error = "'" + rest.trim().take_front(20).str() +
              "' is no truth value, tuple, list or dictionary of them";
    return isRead;
  }

private:
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  bool readValue(std::vector<bool> &values) {
    for (auto [word, value] : {std::pair("True", true), {"False", false}})
      if (take(word)) {
        values.push_back(value);
        return true;
      }
    for (auto [open, close] : {std::pair("(", ")"), {"[", "]"}, {"{", "}"}})
      if (take(open))
        return readList(open, close, values);
    return false;
  }

  bool readKey() {
    rest = rest.ltrim();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return false;
    size_t end = rest.find(rest[0], 1);
    if (end == StringRef::npos)
      return false;
    rest = rest.drop_front(end + 1);
    return take(":");
  }

  bool readList(StringRef open, StringRef close, std::vector<bool> &values) {
    while (!take(close)) {
      if ((open == "{" && !readKey()) || !readValue(values))
        return false;
      if (!take(",") && !rest.ltrim().starts_with(close))
        return false;
    }
    return true;
  }

  StringRef rest;
};

} // namespace

std::optional<unsigned> cutback::findLoss(StringRef spec,
                                          llvm::ArrayRef<std::string> outputs,
                                          std::string &error) {
  unsigned number = 0;
  if (!spec.getAsInteger(10, number)) {
    if (number < outputs.size())
      return number;
    error = "there is no output " + std::to_string(number);
    return std::nullopt;
  }
  for (unsigned i = 0; i < outputs.size(); ++i)
    if (outputs[i] == spec)
      return i;
  if (spec.empty() || !StringRef("([{TF").contains(spec[0])) {
    error = "no output is called '" + spec.str() + "'";
    return std::nullopt;
  }
  std::vector<bool> values;
  if (!SpecReader(spec).read(values, error))
    return std::nullopt;
  if (values.size() != outputs.size()) {
    error = "it has " + std::to_string(values.size()) + " values for " +
            std::to_string(outputs.size()) + " outputs";
    return std::nullopt;
  }
  for (unsigned i = 0; i < values.size(); ++i)
    if (values[i])
      return i;
  error = "no value is True, so no output is the loss";
  return std::nullopt;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trace log is a sequence of records, one a line:
//
//   V1121 06:13:49.082000 1 torch/…/graph_compile.py:1797] {"aot_joint_graph":
//   {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": …}
//
// The lines behind it that begin with a tab are its payload: here the text of
// a graph, which stays where it is. Other records say what the inputs are:
// `describe_tensor` and `describe_source` (the Python expression that a tensor
// was found at), `create_symbol` (hint and range of a size), and Dynamo's own
// graph, whose parameters are the inputs in order. So input N of the AOT graph
// is parameter N of Dynamo's graph; its name is the source's expression with
// all punctuation turned into '_', which gives the source back where only one
// fits, and the role follows.
//
// JSON is scanned where it lies: a record's fields are handed out as text, and
// what is not asked for is skipped without building anything. Linear.

#include "TraceLog.h"

#include "Lexer.h"
#include "SourceNames.h"

#include "llvm/ADT/StringSwitch.h"

using namespace cutback;
using namespace cutback::fx;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {

/// The fields of one JSON object, in order; values as they are written.
class Fields {
public:
  explicit Fields(StringRef object) : rest(object.trim()) {
    if (!rest.consume_front("{"))
      rest = {};
  }
  bool next(StringRef &key, StringRef &value) {
    rest = rest.ltrim(" ,");
    if (!takeString(key))
      return false;
    rest = rest.ltrim();
    if (!rest.consume_front(":"))
      return false;
    rest = rest.ltrim();
    return takeValue(value);
  }

private:
  bool takeString(StringRef &text) {
    if (!rest.starts_with("\""))
      return false;
    for (size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == '\\')
        ++i;
      else if (rest[i] == '"') {
        text = rest.slice(1, i);
        rest = rest.drop_front(i + 1);
        return true;
      }
    }
    return false;
  }
  bool takeValue(StringRef &value) {
    StringRef text;
    if (rest.starts_with("\"")) {
      if (!takeString(text))
        return false;
      value = text;
      return true;
    }
    unsigned depth = 0;
    const char *begin = rest.begin();
    while (!rest.empty()) {
      char c = rest.front();
      if (depth == 0 && (c == ',' || c == '}'))
        break;
      if (c == '"') {
        if (!takeString(text))
          return false;
        continue;
      }
      if (c == '{' || c == '[')
        ++depth;
      else if (c == '}' || c == ']')
        --depth;
      rest = rest.drop_front();
    }
    value = StringRef(begin, rest.begin() - begin).trim();
    return true;
  }

  StringRef rest;
};

/// A JSON string without its escapes, as far as paths and names have any.
std::string unescape(StringRef raw) {
  std::string text;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\\' && i + 1 < raw.size())
      ++i;
    text += raw[i];
  }
  return text;
}

} // namespace

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

static std::optional<GraphKind> graphKindOf(StringRef record) {
  return llvm::StringSwitch<std::optional<GraphKind>>(record)
      .Case("aot_joint_graph", GraphKind::Joint)
      .Case("aot_forward_graph", GraphKind::Forward)
      .Case("aot_backward_graph", GraphKind::Backward)
      .Case("aot_inference_graph", GraphKind::Inference)
      .Default(std::nullopt);
}

/// A bound of "[2, int_oo]"; nothing if it is infinite.
static std::optional<int64_t> bound(StringRef text) {
  int64_t value = 0;
  if (text.trim(" []").getAsInteger(10, value))
    return std::nullopt;
  return value;
}

namespace {

class LogReader {
public:
  explicit LogReader(const SourceText &source) : source(source) {}

  TraceLog run() {
    StringRef rest = source.text();
    while (!rest.empty()) {
      StringRef line = takeLine(rest);
      ++lineNumber;
      size_t json = line.find("] {");
      if (!hasLogPrefix(line) || json == StringRef::npos)
        continue;
      record(line.drop_front(json + 2), takePayload(rest));
    }
    return std::move(log);
  }

private:
  /// The lines behind the record that begin with a tab.
  StringRef takePayload(StringRef &rest) {
    // An empty rest does not point into the text.
    auto position = [&] {
      return rest.empty() ? source.text().end() : rest.begin();
    };
    const char *begin = position();
    firstPayloadLine = lineNumber + 1;
    while (rest.starts_with("\t")) {
      rest = rest.split('\n').second;
      ++lineNumber;
    }
    return StringRef(begin, position() - begin);
  }

  void record(StringRef json, StringRef payload) {
    StringRef key, value, kind, content, compiled;
    std::string frame, id, attempt;
    for (Fields fields(json); fields.next(key, value);) {
      bool isKind = graphKindOf(key) || key == "describe_tensor" ||
                    key == "describe_source" || key == "create_symbol" ||
                    key == "create_unbacked_symbol" ||
                    key == "dynamo_output_graph";
      if (isKind) {
        kind = key;
        content = value;
      } else if (key == "compiled_autograd_id" && value != "null") {
        compiled = value;
      } else if (key == "frame_id") {
        frame = value.str();
      } else if (key == "frame_compile_id") {
        id = value.str();
      } else if (key == "attempt" && value != "0") {
        attempt = "_" + value.str();
      }
    }
    if (kind.empty())
      return;
    std::string compileId = frame + "/" + id + attempt;
    if (!compiled.empty())
      compileId = "!" + compiled.str() + "/" + compileId;
    if (std::optional<GraphKind> graph = graphKindOf(kind))
      addGraph(*graph, kind, compileId, payload);
    else
      note(log.records[compileId], kind, content, payload);
  }

  void addGraph(GraphKind kind, StringRef name, const std::string &compileId,
                StringRef payload) {
    GraphInfo info;
    info.kind = kind;
    info.compileId = compileId;
    info.name = (name + " " + compileId).str();
    info.line = firstPayloadLine;
    info.bytes = payload.size();
    log.graphs.push_back({info, source.slice(payload), compileId});
  }

  void note(CompileRecords &records, StringRef kind, StringRef content,
            StringRef payload) {
    if (kind == "dynamo_output_graph")
      records.dynamoGraph = payload;
    else if (kind.starts_with("create_"))
      noteSymbol(records, content);
    else
      noteTensor(records, content);
  }

  void noteSymbol(CompileRecords &records, StringRef content) {
    StringRef key, value, name;
    SymbolHint hint;
    for (Fields fields(content); fields.next(key, value);) {
      if (key == "symbol") {
        name = value;
      } else if (key == "val") {
        hint.value = bound(value);
      } else if (key == "vr") {
        auto [low, high] = value.split(',');
        hint.min = bound(low);
        hint.max = bound(high);
      }
    }
    if (!name.empty())
      records.symbols[name] = hint;
  }

  void noteTensor(CompileRecords &records, StringRef content) {
    StringRef key, value, id, describer;
    std::string from;
    bool isParameter = false;
    for (Fields fields(content); fields.next(key, value);) {
      if (key == "id")
        id = value;
      else if (key == "describer_id")
        describer = value;
      else if (key == "source")
        from = unescape(value);
      else if (key == "is_parameter")
        isParameter = value == "true";
    }
    auto [it, isNew] = records.tensorIndex.try_emplace(
        (describer + ":" + id).str(), records.tensors.size());
    if (isNew)
      records.tensors.emplace_back();
    CompileRecords::Tensor &tensor = records.tensors[it->second];
    tensor.isParameter |= isParameter;
    if (!from.empty())
      tensor.source = from;
  }

  const SourceText &source;
  TraceLog log;
  unsigned lineNumber = 0, firstPayloadLine = 0;
};

} // namespace

bool cutback::fx::isTraceLog(StringRef text) {
  // Other lines may come first: other programs write to the same stream.
  while (!text.empty())
    if (StringRef line = takeLine(text);
        hasLogPrefix(line) && line.contains("] {\""))
      return true;
  return false;
}

TraceLog cutback::fx::readTraceLog(const SourceText &source) {
  return LogReader(source).run();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

namespace {
struct Parameter {
  StringRef name, type;
};
} // namespace

/// The parameters of a graph's `forward`, with their annotations.
static std::vector<Parameter> parametersOf(StringRef text) {
  std::vector<Parameter> parameters;
  size_t header = text.find("def forward(");
  if (header == StringRef::npos)
    return parameters;
  Lexer lexer(text.drop_front(header + strlen("def forward(")));
  while (true) {
    lexer.skipToToken();
    Parameter parameter{lexer.identifier(), {}};
    if (parameter.name.empty())
      break;
    if (lexer.eat(':'))
      parameter.type = lexer.string().value_or("");
    if (parameter.name != "self")
      parameters.push_back(parameter);
    lexer.skipToToken();
    if (!lexer.eat(','))
      break;
  }
  return parameters;
}

GraphHints TraceLog::hintsFor(const FoundGraph &graph) const {
  GraphHints hints;
  auto it = records.find(graph.frame);
  if (it == records.end())
    return hints;
  const CompileRecords &known = it->second;
  hints.symbols = known.symbols;
  constexpr unsigned kAmbiguous = ~0u;
  llvm::StringMap<unsigned> byName;
  for (auto [i, tensor] : llvm::enumerate(known.tensors)) {
    auto [entry, isNew] = byName.try_emplace(placeholderName(tensor.source), i);
    if (!isNew && known.tensors[entry->second].source != tensor.source)
      entry->second = kAmbiguous;
  }
  for (const Parameter &parameter : parametersOf(known.dynamoGraph)) {
    InputSource input;
    input.type = parameter.type;
    auto entry = byName.find(parameter.name);
    if (entry != byName.end() && entry->second != kAmbiguous) {
      const CompileRecords::Tensor &tensor = known.tensors[entry->second];
      SourceName name = parseSourceName(tensor.source);
      input.kind = tensor.isParameter ? joint::RoleKind::Param : name.kind;
      input.name = name.name;
    }
    hints.inputs.push_back(input);
  }
  return hints;
}

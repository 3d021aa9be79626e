// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds graphs in plain text. A graph begins with a class line or, in older
// dumps, with its `def forward(`:
//
//    ===== Joint graph 0 =====
//    /path/_lazy_graph_module.py class joint_helper(torch.nn.Module):
//       def forward(self, primals, tangents):
//
// Classes that are indented further are nested graphs and belong to the one
// around them. A title above says what the graph is and its number.
//
// TORCH_LOGS puts "V0814 12:34:56.789000 1 file.py:12] [0/0] [__aot_graphs] "
// in front of every line, and colours into the types. Such text is copied
// once without them; where each line began is kept for messages. Two linear
// passes.

#include "TextGraphs.h"

#include "FxText.h"

#include "llvm/ADT/StringExtras.h"

using namespace cutback;
using namespace cutback::fx;
using llvm::StringRef;

bool cutback::fx::hasLogPrefix(StringRef line) {
  // Of most lines of a graph the second character is a space.
  if (line.size() < 12 || !llvm::isDigit(line[1]) ||
      !StringRef("VDIWEC").contains(line.front()))
    return false;
  for (char c : line.slice(1, 5))
    if (!llvm::isDigit(c))
      return false;
  return line[5] == ' ' && llvm::isDigit(line[6]) && line[8] == ':';
}

/// The line behind its logging prefix.
static StringRef withoutPrefix(StringRef line) {
  StringRef rest = line;
  if (rest.starts_with("[rank"))
    if (size_t end = rest.find("]:"); end != StringRef::npos && end < 16)
      rest = rest.drop_front(end + 2);
  if (!hasLogPrefix(rest))
    return line;
  size_t end = rest.find("] ");
  if (end == StringRef::npos)
    return rest.take_back(0);
  rest = rest.drop_front(end + 2);
  while (rest.starts_with("[")) {
    end = rest.find(']');
    if (end == StringRef::npos)
      break;
    rest = rest.drop_front(end + 1);
    rest.consume_front(" ");
  }
  return rest;
}

/// Appends `line` without terminal escape sequences.
static void appendPlain(StringRef line, std::string &text) {
  while (!line.empty()) {
    size_t escape = line.find('\x1b');
    text += line.take_front(escape);
    line = line.drop_front(std::min(escape, line.size()));
    if (line.empty())
      return;
    line = line.drop_front();
    if (!line.consume_front("["))
      continue;
    line = line.drop_while(
        [](char c) { return llvm::isDigit(c) || c == ';' || c == '?'; });
    line = line.drop_front(line.empty() ? 0 : 1);
  }
}

std::shared_ptr<const StrippedLog> cutback::fx::stripLog(StringRef text) {
  bool hasPrefixes = text.contains('\x1b');
  for (StringRef rest = text; !rest.empty() && !hasPrefixes;) {
    StringRef line = takeLine(rest);
    hasPrefixes = withoutPrefix(line).size() != line.size();
  }
  if (!hasPrefixes)
    return nullptr;
  auto log = std::make_shared<StrippedLog>();
  log->text.reserve(text.size());
  unsigned number = 0;
  for (StringRef rest = text; !rest.empty();) {
    StringRef line = takeLine(rest);
    StringRef plain = withoutPrefix(line);
    log->lines.push_back(
        {++number, static_cast<unsigned>(plain.begin() - line.begin()) + 1});
    appendPlain(plain, log->text);
    log->text += '\n';
  }
  log->lines.push_back({number + 1, 1});
  return log;
}

namespace {

/// What a line means for the search.
enum class LineKind { Other, Title, Class, Def };

struct Line {
  LineKind kind = LineKind::Other;
  StringRef title; ///< "Joint graph 0"
};

Line classify(StringRef line) {
  StringRef trimmed = line.drop_while(llvm::isSpace);
  size_t indent = line.size() - trimmed.size();
  if (trimmed.starts_with("====="))
    return {LineKind::Title, trimmed.trim("= \r")};
  // Graphs nested in another are indented by four.
  if (indent > 2)
    return {};
  size_t at = trimmed.find("class ");
  if (at != StringRef::npos && (at == 0 || trimmed[at - 1] == ' ') &&
      trimmed.contains("(torch.nn.Module):"))
    return {LineKind::Class, {}};
  if (trimmed.starts_with("def forward("))
    return {LineKind::Def, {}};
  return {};
}

/// What a title says: "Joint graph 0" is joint, number 0.
std::optional<GraphKind> kindOfTitle(StringRef title) {
  if (title.starts_with("Joint graph"))
    return GraphKind::Joint;
  if (title.starts_with("Forward graph"))
    return GraphKind::Forward;
  if (title.starts_with("Backward graph"))
    return GraphKind::Backward;
  return std::nullopt;
}

class Search {
public:
  explicit Search(const SourceText &source) : source(source) {}

  std::vector<FoundGraph> run() {
    for (StringRef rest = source.text(); !rest.empty();) {
      StringRef line = takeLine(rest);
      step(classify(line), line.begin());
    }
    close(source.text().end());
    return std::move(graphs);
  }

private:
  void step(Line line, const char *at) {
    switch (line.kind) {
    case LineKind::Other:
      break;
    case LineKind::Title:
      close(at);
      title = line.title;
      break;
    case LineKind::Class:
      close(at);
      begin = at;
      break;
    case LineKind::Def:
      // The `def` of the class above is indented; this one has no class.
      if (begin && hasDef)
        close(at);
      if (!begin)
        begin = at;
      hasDef = true;
      break;
    }
  }

  /// Ends the graph that is open.
  void close(const char *end) {
    if (begin)
      add(StringRef(begin, end - begin));
    begin = nullptr;
    hasDef = false;
  }

  void add(StringRef text) {
    GraphInfo info;
    std::optional<GraphKind> kind = kindOfTitle(title);
    info.kind = kind ? *kind : sniffGraphKind(text);
    info.name = stringifyGraphKind(info.kind).str();
    if (kind) {
      info.compileId = title.rsplit(' ').second.str();
      info.name += " " + info.compileId;
    }
    info.line = source.lineAndColumn(text.begin(), cursor).first;
    info.bytes = text.size();
    graphs.push_back({info, source.slice(text), info.compileId});
    title = {};
  }

  const SourceText &source;
  std::vector<FoundGraph> graphs;
  StringRef title;
  SourceText::Cursor cursor;
  const char *begin = nullptr;
  bool hasDef = false;
};

} // namespace

std::vector<FoundGraph> cutback::fx::findTextGraphs(const SourceText &source) {
  return Search(source).run();
}

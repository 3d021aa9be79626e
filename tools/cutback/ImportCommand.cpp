// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback import`: reads a graph and prints it as `joint` IR, or lists the
// graphs that an input holds. Nothing is optimized on the way: what is printed
// is what was read, with its names. Locations are left out of the text unless
// they are asked for: they are most of its length. An anonymous graph has them
// always: which ops share a line is what reports find the modules by.

#include "Session.h"

#include "cutback/Support/Text.h"
#include "cutback/Transforms/Anonymize.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cutback {

CommandSpec importSpec() {
  CommandSpec spec;
  spec.name = "import";
  spec.arguments = "IN";
  spec.summary = "Read a graph and print it as `joint` IR.";
  spec.options = {
      {"o", OptionSpec::Text, "OUT.mlir", "write to a file"},
      {"list", OptionSpec::Flag, "",
       "list the graphs of the input instead: number,\n"
       "kind, name, line, size of the text"},
      {"locations", OptionSpec::Flag, "",
       "print the source lines of the model too"},
      {"anonymize", OptionSpec::Flag, "",
       "leave out names, places, texts and constants: a\n"
       "graph for a bug report, with the same plan"},
  };
  for (const OptionSpec &option : inputOptions())
    spec.options.push_back(option);
  spec.examples = {
      "import joint.txt -o joint.mlir",
      "import trace.log --list",
      "import trace.log --graph=\"aot_joint_graph 0/0\"",
      "import joint.txt --forward-outputs=2 | less",
      "import model.pt2 --model=model -o model.mlir",
      "import joint.txt --anonymize -o report-me.mlir",
  };
  return spec;
}

static int list(Session &session, const std::string &path) {
  auto buffer = openInput(path, session.context);
  if (failed(buffer))
    return WrongInput;
  auto graphs = listGraphs(**buffer, session.context);
  if (failed(graphs))
    return WrongInput;
  using T = TextTable;
  T table({T::Right, T::Left, T::Left, T::Right, T::Right});
  table.add({"N", "kind", "name", "line", "bytes"});
  for (size_t i = 0; i < graphs->size(); ++i) {
    const GraphInfo &info = (*graphs)[i];
    table.add({std::to_string(i), stringifyGraphKind(info.kind).str(),
               info.name, std::to_string(info.line), formatCount(info.bytes)});
  }
  return session.write(session.line.get("o"), table.str(0));
}

int runImport(const CommandLine &line) {
  Session session("import", line);
  for (const char *name : {"anonymize", "locations", "graph", "model",
                           "forward-outputs", "strict"})
    if (line.has("list") && line.has(name)) {
      session.error("--" + std::string(name) +
                    " needs a graph: leave --list out");
      return WrongUsage;
    }
  if (line.has("list"))
    return list(session, line.arguments[0]);
  double seconds = 0;
  FailureOr<ImportedModule> imported =
      session.load(line.arguments[0], importOptionsOf(line), seconds);
  if (failed(imported))
    return WrongInput;
  session.progress.step("printing");
  if (line.has("anonymize"))
    anonymize(*imported->module);
  OpPrintingFlags flags;
  if (line.has("locations") || line.has("anonymize"))
    flags.enableDebugInfo();
  std::string text;
  llvm::raw_string_ostream os(text);
  imported->module->print(os, flags);
  os << "\n";
  return session.write(line.get("o"), text);
}

} // namespace cutback

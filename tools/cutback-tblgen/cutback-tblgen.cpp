// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the tables of dialect `aten` that mlir-tblgen does not know of, from
// the same ODS files:
//
//   -gen-aten-rules --field=vjp     the rules that ops name in that field,
//                                   and which op has which
//   -gen-aten-pairs --field=means   ops and the op that each names there
//   -gen-aten-ops                   an op's class, name and OpInfo
//   -gen-aten-op-names              a constant an op: op::add_Tensor
//   -gen-aten-parameters            the names of all parameters
//
// All but the constants are lists of macro calls; who includes them says what a
// row becomes. A rule is declared where the list becomes declarations, and used
// where it becomes a table, so a rule that nobody wrote does not link, and one
// that no op names does not compile.

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Main.h"
#include "llvm/TableGen/Record.h"
#include "llvm/TableGen/TableGenBackend.h"

#include <map>
#include <set>

using namespace llvm;

// LLVM's way to declare options and emitters.
// NOLINTBEGIN(bugprone-throwing-static-initialization)
static cl::opt<std::string>
    field("field", cl::desc("field of class Aten_Op that names rules or ops"));
// NOLINTEND(bugprone-throwing-static-initialization)

static constexpr char kBaseClass[] = "Aten_Op";

static void writeHeader(raw_ostream &os) {
  os << "// Made from AtenOps.td by cutback-tblgen.\n";
}

/// The rows of a list, under `macro`, which is undefined afterwards.
static void writeList(raw_ostream &os, StringRef macro,
                      const std::vector<std::string> &rows) {
  os << "#ifdef " << macro << "\n";
  for (const std::string &row : rows)
    os << macro << "(" << row << ")\n";
  os << "#undef " << macro << "\n#endif\n";
}

static std::string quoted(StringRef text) { return ("\"" + text + "\"").str(); }

static void writeRules(const RecordKeeper &records, raw_ostream &os) {
  std::set<std::string> names;
  std::vector<std::string> ofOps;
  for (const Record *op : records.getAllDerivedDefinitions(kBaseClass)) {
    StringRef rule = op->getValueAsString(field);
    if (rule.empty())
      continue;
    names.insert(rule.str());
    ofOps.push_back(
        (quoted(op->getValueAsString("torchName")) + ", " + rule).str());
  }
  writeHeader(os);
  writeList(os, "ATEN_RULE", {names.begin(), names.end()});
  writeList(os, "ATEN_RULE_OF", ofOps);
}

static void writePairs(const RecordKeeper &records, raw_ostream &os) {
  std::vector<std::string> rows;
  for (const Record *op : records.getAllDerivedDefinitions(kBaseClass))
    if (StringRef other = op->getValueAsString(field); !other.empty())
      rows.push_back(quoted(op->getValueAsString("torchName")) + ", " +
                     quoted(other));
  writeHeader(os);
  writeList(os, "ATEN_PAIR", rows);
}

/// Class, name, and the members of OpInfo in their order. mlir-tblgen's own
/// classes of 1,364 ops are 16 MB of text, for the same three things.
static void writeOps(const RecordKeeper &records, raw_ostream &os) {
  std::vector<std::string> rows;
  for (const Record *op : records.getAllDerivedDefinitions(kBaseClass)) {
    std::string row;
    raw_string_ostream text(row);
    text << op->getName().split('_').second << ", "
         << quoted("aten." + op->getValueAsString("opName").str()) << ", "
         << quoted(op->getValueAsString("torchName")) << ", \"";
    text.write_escaped(op->getValueAsString("signature")) << '"';
    for (StringRef rule : {"infer", "loops", "element", "flops"})
      text << ", " << op->getValueAsString(rule);
    text << ", " << op->getValueAsInt("weight") << ", "
         << op->getValueAsString("fusion") << ", 0";
    for (StringRef flag : op->getValueAsListOfStrings("flags"))
      text << " | " << flag;
    text << ", " << op->getValueAsInt("noGradient") << ", "
         << quoted(op->getValueAsString("otherReleases"));
    rows.push_back(row);
  }
  writeHeader(os);
  writeList(os, "ATEN_OP", rows);
}

/// "aten.add.Tensor" is add_Tensor, "aten.mm.default" mm, "prims.iota.default"
/// prims_iota, "operator.add" operator_add.
static std::string identifierOf(StringRef torchName) {
  torchName.consume_front("aten.");
  torchName.consume_back(".default");
  std::string name = torchName.str();
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

static void writeOpNames(const RecordKeeper &records, raw_ostream &os) {
  std::map<std::string, StringRef> names;
  for (const Record *op : records.getAllDerivedDefinitions(kBaseClass)) {
    StringRef torchName = op->getValueAsString("torchName");
    std::string name = identifierOf(torchName);
    // Two underscores are reserved for the implementation of C++.
    if (StringRef(name).contains("__"))
      continue;
    if (!names.emplace(name, torchName).second)
      PrintFatalError(op->getLoc(), "two ops are called op::" + name);
  }
  writeHeader(os);
  os << "namespace cutback::aten::op {\n";
  for (const auto &[name, torchName] : names)
    os << "inline constexpr char " << name << "[] = " << quoted(torchName)
       << ";\n";
  os << "} // namespace cutback::aten::op\n";
}

/// Adds the names in a schema: what stands before `=`, `,` or the end of an
/// entry between the outer parentheses.
static void addParameters(StringRef schema, std::set<std::string> &names) {
  int depth = 0;
  std::string entry;
  auto finish = [&] {
    StringRef name = StringRef(entry).split('=').first.rsplit(' ').second;
    if (!name.empty())
      names.insert(name.str());
    entry.clear();
  };
  for (char c : schema) {
    if (c == ')' || c == ']')
      --depth;
    if (depth == 0 && c == ')')
      return finish();
    if (depth == 1 && c == ',')
      finish();
    else if (depth > 0)
      entry += c;
    if (c == '(' || c == '[')
      ++depth;
  }
}

static void writeParameters(const RecordKeeper &records, raw_ostream &os) {
  std::set<std::string> names;
  for (const Record *op : records.getAllDerivedDefinitions(kBaseClass))
    addParameters(op->getValueAsString("signature"), names);
  std::vector<std::string> rows;
  for (const std::string &name : names)
    rows.push_back(quoted(name));
  writeHeader(os);
  writeList(os, "ATEN_PARAMETER", rows);
}

// NOLINTBEGIN(bugprone-throwing-static-initialization)
static TableGen::Emitter::Opt rules("gen-aten-rules", writeRules,
                                    "rules of ops, by --field");
static TableGen::Emitter::Opt pairs("gen-aten-pairs", writePairs,
                                    "ops and others, by --field");
static TableGen::Emitter::Opt ops("gen-aten-ops", writeOps,
                                  "class, name and data of each op");
static TableGen::Emitter::Opt opNames("gen-aten-op-names", writeOpNames,
                                      "a constant an op");
static TableGen::Emitter::Opt parameters("gen-aten-parameters", writeParameters,
                                         "names of parameters");
// NOLINTEND(bugprone-throwing-static-initialization)

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv);
  MultiFileTableGenMainFn byOption = nullptr;
  return TableGenMain(argv[0], byOption);
}

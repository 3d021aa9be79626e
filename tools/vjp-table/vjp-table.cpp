// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the gradient of each op reads of the forward, found by asking: each call
// of the files given (test/unit/Interpreter/Kernels/*.calls: lines such as
// `aten.mm(%0, %1) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>`;
// others are skipped) becomes a graph, is differentiated for one operand at a
// time, and what the backward's ops take from the call is noted. Then all its
// gradients are differentiated again; and of a call with several results each
// result alone. Prints a table in Markdown, sorted by op; ops whose gradient
// failed come last, then results that pass no gradient on. Part of
// tools/dev/docs.

#include "cutback/Autograd/AtenVjps.h"
#include "cutback/Autograd/SecondDerivatives.h"
#include "cutback/Decompose/Composites.h"
#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Aten/Rules.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <set>

using namespace mlir;
using namespace cutback;

namespace {

/// By name of the operand: what its gradient reads. Absent: it has none.
struct Row {
  std::map<std::string, std::set<std::string>> reads;
  std::string error;
  /// By name of the operand that the rule is silent about.
  std::map<std::string, std::string> refused;
  bool hasSecond = false; ///< of one of its calls
  std::string secondError;
  /// By result that gives no operand a gradient: the error; empty for none.
  std::map<unsigned, std::string> dead;
};

/// The operand whose gradient is asked for, if it is not each.
constexpr unsigned kEach = ~0u;

/// A call's text, with its types.
struct Call {
  StringRef text;
  SmallVector<StringRef> operands, results;
};

} // namespace

/// Splits "tensor<2xf32>, none" at the commas between types.
static SmallVector<StringRef> splitTypes(StringRef text) {
  SmallVector<StringRef> types;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '<')
      ++depth;
    if (i < text.size() && text[i] == '>')
      --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0))
      continue;
    if (StringRef type = text.slice(begin, i).trim(); !type.empty())
      types.push_back(type);
    begin = i + 1;
  }
  return types;
}

static std::optional<Call> readCall(StringRef line) {
  auto [body, types] = line.rsplit(" : (");
  auto [operands, results] = types.split(") -> ");
  if (!line.contains("(%") || types.empty() || results.empty())
    return std::nullopt;
  if (results.consume_front("("))
    results.consume_back(")");
  return Call{line, splitTypes(operands), splitTypes(results)};
}

static bool isFloating(StringRef type) {
  return type.contains("f32") || type.contains("f64") || type.contains("f16");
}

/// Operands come through a copy: an argument that only lends its shape would
/// not be told from one that is read.
static std::string graphOf(const Call &call, unsigned asked) {
  std::string head, copies, names;
  for (auto [i, type] : llvm::enumerate(call.operands)) {
    std::string n = std::to_string(i), t = type.str();
    head += (i ? ", " : "") + ("%a" + n) + ": " + t +
            " {joint.role = #joint.role<input>" +
            (i == asked || (asked == kEach && isFloating(type))
                 ? ", joint.requires_grad}"
                 : "}");
    copies +=
        "  %" + n + " = aten.clone(%a" + n + ") : (" + t + ") -> " + t + "\n";
  }
  for (unsigned i = 0; i < call.results.size(); ++i)
    names += (i ? ", %r#" : "%r#") + std::to_string(i);
  std::string results = llvm::join(call.results, ", ");
  return "joint.graph @g(" + head + ") -> (" + results + ") gradients () {\n" +
         copies + "  %r:" + std::to_string(call.results.size()) + " = " +
         call.text.str() + "\n  joint.output " + names + " : " + results +
         "\n}\n";
}

static std::string nameOf(aten::CallOp op, unsigned operand) {
  return aten::CallReader(op).parameterOf(operand).str();
}

static std::string nameOfResult(OpResult result) {
  if (result.getOwner()->getNumResults() == 1)
    return "result";
  return "result " + std::to_string(result.getResultNumber());
}

/// What the ops behind the call take from it.
static void noteReads(Operation *op, std::set<std::string> &reads) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    for (Operation *user : operand.getUsers())
      if (op->isBeforeInBlock(user) && !isa<joint::OutputOp>(user))
        reads.insert(nameOf(cast<aten::CallOp>(op), i));
  for (OpResult result : op->getResults())
    for (Operation *user : result.getUsers())
      if (!isa<joint::OutputOp>(user))
        reads.insert(nameOfResult(result));
}

/// The error says that the gradient is none.
static bool dependsOnNothing(StringRef error) {
  return error.starts_with("no result of 'g' that is ");
}

static void ask(MLIRContext &context, const Call &call, unsigned operand,
                std::map<std::string, Row> &table) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(graphOf(call, operand), &context);
  if (!module)
    return;
  auto graph = *module->getOps<joint::GraphOp>().begin();
  Operation *op = graph.getBlock().getTerminator()->getPrevNode();
  auto known = dyn_cast<aten::CallOp>(op);
  if (!known || !known.canHaveGradient(operand))
    return;
  Row &row = table[known.getInfo().torchName];
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error = error.empty() ? diagnostic.str() : error;
    return success();
  });
  DifferentiateOptions options;
  for (auto [i, type] : llvm::enumerate(call.results))
    if (isFloating(type))
      options.lossOutputs.push_back(i);
  if (failed(differentiate(graph, options))) {
    row.error = error;
    if (!dependsOnNothing(error))
      row.refused[nameOf(known, operand)] = error;
  } else if (!graph.getOutput().getGradientOf().empty())
    noteReads(op, row.reads[nameOf(known, operand)]);
}

/// What each result alone gives the operands. One of which something depends
/// gives a gradient, or an error that names it.
static void askResults(MLIRContext &context, const Call &call,
                       std::map<std::string, Row> &table) {
  for (unsigned i = 0; i < call.results.size() && call.results.size() > 1;
       ++i) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(graphOf(call, kEach), &context);
    if (!module || !isFloating(call.results[i]))
      continue;
    auto graph = *module->getOps<joint::GraphOp>().begin();
    auto known =
        dyn_cast<aten::CallOp>(graph.getBlock().getTerminator()->getPrevNode());
    if (!known || !aten::getVjpRule(known->getName()))
      continue;
    std::string error;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error = error.empty() ? diagnostic.str() : error;
      return success();
    });
    DifferentiateOptions options;
    options.lossOutputs = {i};
    std::string name = known.getInfo().torchName;
    if (failed(differentiate(graph, options)))
      table[name].dead[i] = dependsOnNothing(error) ? std::string() : error;
  }
}

/// The gradients of all operands, differentiated with all of them.
static void askSecond(MLIRContext &context, const Call &call,
                      std::map<std::string, Row> &table) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(graphOf(call, kEach), &context);
  if (!module)
    return;
  auto graph = *module->getOps<joint::GraphOp>().begin();
  auto known =
      dyn_cast<aten::CallOp>(graph.getBlock().getTerminator()->getPrevNode());
  if (!known)
    return;
  Row &row = table[known.getInfo().torchName];
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error = error.empty() ? diagnostic.str() : error;
    return success();
  });
  DifferentiateOptions first, next;
  for (auto [i, type] : llvm::enumerate(call.results))
    if (isFloating(type))
      first.lossOutputs.push_back(i);
  SecondDerivativeOptions second;
  if (failed(differentiate(graph, first)))
    return;
  for (int32_t of : graph.getOutput().getGradientOf())
    second.of.push_back("grad.a" + std::to_string(of));
  if (second.of.empty())
    return;
  if (succeeded(openGradients(graph, second, next)) &&
      succeeded(decomposeComposites(graph)) &&
      succeeded(differentiate(graph, next)))
    row.hasSecond = true;
  else if (!dependsOnNothing(error))
    row.secondError = error;
}

static StringRef secondOf(const Row &row) {
  if (!row.secondError.empty())
    return row.secondError;
  return row.hasSecond ? "yes" : "0";
}

static void print(const std::map<std::string, Row> &table) {
  llvm::outs()
      << "# What gradients read\n\nThe second derivative is 0 where the "
         "gradients depend on no operand.\n\n"
         "| op | gradient of: reads | second derivative |\n"
         "|---|---|---|\n";
  for (const auto &[op, row] : table) {
    if (row.reads.empty())
      continue;
    llvm::outs() << "| `" << op << "` | ";
    bool isFirst = true;
    for (const auto &[operand, reads] : row.reads) {
      llvm::outs() << (isFirst ? "" : "; ") << operand << ": "
                   << (reads.empty() ? "–" : llvm::join(reads, ", "));
      isFirst = false;
    }
    llvm::outs() << " | " << secondOf(row) << " |\n";
  }
  llvm::outs() << "\n## Without a gradient\n\n";
  for (const auto &[op, row] : table)
    if (row.reads.empty())
      llvm::outs() << "* `" << op << "`"
                   << (row.error.empty() ? "" : ": " + row.error) << "\n";
  llvm::outs() << "\n## Operands without a gradient\n\n";
  for (const auto &[op, row] : table)
    for (const auto &[operand, error] : row.refused)
      if (!row.reads.empty())
        llvm::outs() << "* `" << op << "`, " << operand << ": " << error
                     << "\n";
  llvm::outs() << "\n## Results that pass no gradient on\n\n";
  for (const auto &[op, row] : table)
    for (const auto &[result, error] : row.dead)
      llvm::outs() << "* `" << op << "`, result " << result << ": "
                   << (error.empty() ? "depends on no operand" : error) << "\n";
}

int main(int argc, char **argv) {
  if (argc > 1 && StringRef(argv[1]) == "--help") {
    llvm::outs() << "usage: vjp-table FILE.calls...\n"
                    "what the gradient of each op reads, and whether it has a "
                    "second derivative,\nas a table\n";
    return 0;
  }
  DialectRegistry registry;
  registry.insert<aten::AtenDialect, joint::JointDialect>();
  registerAtenVjps(registry);
  registerAtenDecompositions(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::map<std::string, Row> table;
  for (int i = 1; i < argc; ++i) {
    auto file = llvm::MemoryBuffer::getFile(argv[i]);
    if (!file) {
      llvm::errs() << "vjp-table: error: cannot read '" << argv[i] << "'\n";
      return 2;
    }
    SmallVector<StringRef> lines;
    (*file)->getBuffer().split(lines, '\n');
    for (StringRef line : lines)
      if (std::optional<Call> call = readCall(line)) {
        for (unsigned k = 0; k < call->operands.size(); ++k)
          if (isFloating(call->operands[k]))
            ask(context, *call, k, table);
        askSecond(context, *call, table);
        askResults(context, *call, table);
      }
  }
  print(table);
  return 0;
}
